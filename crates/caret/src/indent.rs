//! Indentation: measures it, creates it, shifts rows by a level, and converts between tabs and
//! spaces.
//!
//! Start at `indent_rows`.

use base::{Bias, ByteOffset, Row, Span};
use text::{EditKind, Selection, Snapshot};

use crate::context::{CaretOptions, CaretPlan, CommandContext};
use crate::draft::{EditDraft, SelectionEdit, replace_each};
use crate::motion::horizontal::{first_non_blank, is_blank};
use crate::row_heads::each_row;
use crate::rows::{row_groups, selected_or_all};

/// Returns the spaces and tabs at the start of a row.
pub(crate) fn leading_blanks(snapshot: &Snapshot, row: Row) -> String {
    let len = snapshot.row_len(row).0 as usize;
    snapshot
        .chars_at(snapshot.row_start(row))
        .take(len)
        .take_while(|char| *char == ' ' || *char == '\t')
        .collect()
}

/// Returns the width of `blanks` in display cells, from the start of a row.
pub(crate) fn cells_of(blanks: &str, tab_width: u32) -> u32 {
    let width = tab_width.max(1);
    blanks.chars().fold(0, |cells, char| match char {
        '\t' => (cells / width + 1) * width,
        _ => cells + 1,
    })
}

/// Returns blanks that fill `cells`, with tabs if the options ask for them.
pub(crate) fn blanks_for(cells: u32, options: &CaretOptions) -> String {
    let width = options.tab_width.max(1);
    if options.hard_tabs {
        "\t".repeat((cells / width) as usize) + &" ".repeat((cells % width) as usize)
    } else {
        " ".repeat(cells as usize)
    }
}

/// Returns the indentation `base` changed by a number of levels and additional columns. Negative
/// levels reduce the indentation, at most to zero.
pub(crate) fn shifted(ctx: &CommandContext, base: &str, levels: i32, columns: u32) -> String {
    let width = ctx.options.tab_width.max(1);
    if levels >= 0 {
        let step = if ctx.options.hard_tabs {
            "\t".to_owned()
        } else {
            " ".repeat(width as usize)
        };
        return base.to_owned() + &step.repeat(levels as usize) + &" ".repeat(columns as usize);
    }
    let cells = cells_of(base, width).saturating_sub(width * levels.unsigned_abs());
    blanks_for(cells, ctx.options) + &" ".repeat(columns as usize)
}

/// Indents the selected rows if a selection covers a whole row. Otherwise inserts a tab at each
/// caret, or spaces up to the next tab stop.
pub(crate) fn tab(ctx: &CommandContext) -> CaretPlan {
    if ctx
        .selections
        .iter()
        .any(|selection| covers_row(ctx, selection))
    {
        return indent_rows(ctx);
    }
    let width = ctx.options.tab_width.max(1);
    replace_each(ctx, EditKind::Typing, |selection| {
        if let Some(swap) = jump_to_indent(ctx, selection) {
            return swap;
        }
        if ctx.options.hard_tabs {
            return SelectionEdit::caret_behind(selection.span(), "\t");
        }
        let cell = buffer_cell(ctx, selection.start());
        let spaces = width - cell % width;
        SelectionEdit::caret_behind(selection.span(), " ".repeat(spaces as usize))
    })
}

/// Returns whether a selection spans several rows or all visible text of its row.
fn covers_row(ctx: &CommandContext, selection: &Selection) -> bool {
    let snapshot = ctx.snapshot;
    let row = snapshot.point_at(selection.start()).row;
    if snapshot.point_at(selection.end()).row != row {
        return true;
    }
    let is_blank = |char: &char| *char == ' ' || *char == '\t';
    let behind = snapshot.chars_at(selection.end()).take_while(is_blank);
    let text_end = selection.end() + behind.count();
    !selection.is_empty()
        && selection.start() <= first_non_blank(snapshot, row)
        && text_end == snapshot.row_end(row)
}

/// Jumps to the expected indentation in one step, on a blank row that should be deeper.
fn jump_to_indent(ctx: &CommandContext, selection: &Selection) -> Option<SelectionEdit> {
    let snapshot = ctx.snapshot;
    let row = snapshot.point_at(selection.head).row;
    let is_asked = ctx.options.smart_indent && selection.is_empty() && row.0 > 0;
    let syntax = ctx.indent_tree().filter(|_| is_asked)?;
    let blanks = leading_blanks(snapshot, row);
    let span = snapshot.row_span(row);
    if blanks.len() < span.len() {
        return None;
    }
    let hint = syntax.indent_for_new_line(snapshot, snapshot.row_end(row - 1));
    let base = leading_blanks(snapshot, hint.base);
    let wanted = shifted(ctx, &base, hint.levels, hint.columns);
    let width = ctx.options.tab_width;
    (cells_of(&wanted, width) > cells_of(&blanks, width))
        .then(|| SelectionEdit::caret_behind(span, wanted))
}

/// The cells before an offset in its row, folds, wraps and inlays apart. Only the last stretch of a
/// very long row is looked at.
fn buffer_cell(ctx: &CommandContext, offset: ByteOffset) -> u32 {
    let row = ctx.snapshot.point_at(offset).row;
    let point = ctx.display.to_display(offset, Bias::Left);
    let (buffer_row, is_first) = ctx.display.buffer_row(point.row);
    if is_first && buffer_row == row {
        return point.cell;
    }
    let start = ctx
        .snapshot
        .clip(ctx.snapshot.row_start(row).max(offset - 4_096), Bias::Left);
    cells_of(
        &ctx.snapshot.text(Span::new(start, offset)),
        ctx.options.tab_width,
    )
}

/// Moves the rows of every selection one step to the right. Blank rows stay as they are, unless
/// there is nothing else.
pub(crate) fn indent_rows(ctx: &CommandContext) -> CaretPlan {
    let width = ctx.options.tab_width.max(1);
    let mut draft = EditDraft::new();
    for group in row_groups(ctx) {
        let mut has_text = false;
        each_row(ctx.snapshot, group, |head| has_text |= !head.is_blank());
        each_row(ctx.snapshot, group, |head| {
            if has_text && head.is_blank() {
                return;
            }
            if ctx.options.hard_tabs {
                draft.push(Span::at(head.start), "\t");
                return;
            }
            // Inserts after the blanks, so that existing tabs and spaces keep their columns.
            let spaces = width - cells_of(head.blanks, width) % width;
            let at = head.start + head.blanks.len();
            draft.push(Span::at(at), " ".repeat(spaces as usize));
        });
    }
    follow(ctx, draft)
}

/// Removes one step of indentation from the rows of every selection. Rows without indentation stay
/// unchanged.
pub(crate) fn outdent_rows(ctx: &CommandContext) -> CaretPlan {
    let width = ctx.options.tab_width.max(1);
    let mut draft = EditDraft::new();
    for group in row_groups(ctx) {
        each_row(ctx.snapshot, group, |head| {
            let cells = cells_of(head.blanks, width);
            let wanted = cells.saturating_sub(1) / width * width;
            if cells == 0 {
                return;
            }
            // Whole characters from the end of the blanks; spaces make up for a tab that was too wide.
            let mut kept = head.blanks;
            while cells_of(kept, width) > wanted {
                kept = &kept[..kept.len() - 1];
            }
            let missing = wanted - cells_of(kept, width);
            let span = Span::new(head.start + kept.len(), head.start + head.blanks.len());
            draft.push(span, " ".repeat(missing as usize));
        });
    }
    follow(ctx, draft)
}

/// Makes selections follow their text; a non-empty selection grows by text inserted at its start.
fn follow(ctx: &CommandContext, draft: EditDraft) -> CaretPlan {
    let selections = draft.map_selections(ctx.selections, Bias::Left, Bias::Right, Bias::Right);
    draft.into_plan(selections, EditKind::Other)
}

/// Converts the indentation of the selected rows to tabs (`hard_tabs`) or spaces. If a single
/// selection lies within one row, converts all rows. Blanks after the indentation stay unchanged.
pub(crate) fn convert(ctx: &CommandContext, hard_tabs: bool) -> CaretPlan {
    let options = CaretOptions {
        hard_tabs,
        ..ctx.options.clone()
    };
    let mut draft = EditDraft::new();
    for group in selected_or_all(ctx) {
        each_row(ctx.snapshot, group, |head| {
            if head.blanks.is_empty() {
                return;
            }
            let converted = blanks_for(cells_of(head.blanks, options.tab_width), &options);
            if head.blanks != converted {
                let end = head.start + head.blanks.len();
                draft.push(Span::new(head.start, end), converted);
            }
        });
    }
    follow(ctx, draft)
}

/// Deletes blanks at the ends of rows in the whole file, in one pass over its pieces.
pub(crate) fn delete_trailing_space(ctx: &CommandContext) -> CaretPlan {
    let mut draft = EditDraft::new();
    let mut at = 0;
    let mut blanks_start: Option<usize> = None;
    let mut return_at: Option<usize> = None;
    for piece in ctx.snapshot.chunks(ctx.snapshot.full_span()) {
        for byte in piece.bytes() {
            if byte != b'\n' && return_at.take().is_some() {
                // A carriage return that ends no row is text.
                blanks_start = None;
            }
            match byte {
                b' ' | b'\t' => {
                    blanks_start.get_or_insert(at);
                }
                b'\r' => return_at = Some(at),
                b'\n' => {
                    if let Some(start) = blanks_start.take() {
                        draft.push(Span::from(start..return_at.unwrap_or(at)), "");
                    }
                    return_at = None;
                }
                _ => blanks_start = None,
            }
            at += 1;
        }
    }
    if let (Some(start), None) = (blanks_start, return_at) {
        draft.push(Span::from(start..at), "");
    }
    let selections = draft.map_selections(ctx.selections, Bias::Left, Bias::Left, Bias::Left);
    draft.into_plan(selections, EditKind::Other)
}

/// Returns the start of a row that holds only a word such as `else` before `head`, and its text one
/// level further out; `None` if the row above is indented deeper than that already.
pub(crate) fn outdented_row(ctx: &CommandContext, head: ByteOffset) -> Option<(Span, String)> {
    let words = ctx.language?.config().dedent_words;
    if words.is_empty() || !ctx.options.smart_indent {
        return None;
    }
    let snapshot = ctx.snapshot;
    let row = snapshot.point_at(head).row;
    let start = snapshot.row_start(row);
    let longest = words.iter().map(|word| word.len()).max().unwrap_or(0);
    let blanks = leading_blanks(snapshot, row);
    let width = head - (start + blanks.len()).min(head);
    if blanks.is_empty() || width == 0 || width > longest {
        return None;
    }
    let word = snapshot.text(Span::new(start + blanks.len(), head));
    if !words.contains(&&*word) {
        return None;
    }
    let before = (0..row.0)
        .rev()
        .map(Row)
        .find(|row| !is_blank(snapshot, *row))?;
    let tab_width = ctx.options.tab_width;
    let cells = |blanks: &str| cells_of(blanks, tab_width);
    if cells(&blanks) < cells(&leading_blanks(snapshot, before)) {
        return None;
    }
    let outdented = shifted(ctx, &blanks, -1, 0);
    Some((Span::new(start, head), outdented + &word))
}
