//! Backgrounds behind the text and carets above it: current row, selections, matches, brackets,
//! marks.

use base::{Bias, Span};
use gpui_kit::{Bounds, Context, Hsla, PaintQuad, Pixels, fill, point, px, size};
use lsp::HighlightKind;
use settings::{CurrentLine, CursorStyle, Whitespace};
use text::Selection;
use ui::ActiveTheme as _;

use super::layout;
use super::layout::Decorator;
use super::ranges::{CellRange, bounds_of, boxes, stretches};
use crate::editor::{Editor, bracketing, document_highlights, options, vim_mode};
use crate::mouse::drop;

/// Corner radius of selections, in pixels.
const ROUND: f32 = 3.0;

impl Decorator<'_> {
    /// Lays out all decorations, from bottom to top.
    pub(super) fn lay_out_decorations(&mut self, cx: &mut Context<Editor>) {
        let colors = cx.theme().colors;
        let editor = &self.editor;
        let changed = if editor.review.is_base {
            colors.removed_ground
        } else {
            colors.added_ground
        };
        let other = colors.info.opacity(0.15);
        let reviewed = [
            (&editor.review.grounds, changed),
            (&editor.review.sides[0], changed),
            (&editor.review.sides[1], other),
            (&editor.review.moved, other),
            (&editor.proposal.grounds, colors.removed_ground),
        ];
        for (grounds, color) in reviewed.map(|(grounds, color)| (grounds.clone(), color)) {
            self.add_reviewed(&grounds, color);
        }
        self.add_changed_words(changed);
        self.add_current_row(cx);
        self.add_suggested(cx);
        self.add_rulers(colors.ruler);
        self.add_occurrences(colors.occurrence);
        self.add_document_highlights(cx);
        self.add_tab_stops(colors.occurrence);
        self.add_matches(cx);
        self.add_vim_spans(cx);
        let selections = self.selections_in(self.layout.span);
        let color = layout::selection_color(self.layout.is_focused, cx);
        for selection in selections.iter().filter(|selection| !selection.is_empty()) {
            self.add_span(selection.span(), color, ROUND);
        }
        self.add_brackets(cx);
        self.add_fold_signs(colors.fold);
        self.add_inlay_hints(colors.inlay_hint_ground);
        self.add_colors(colors.border_strong);
        self.add_blanks(&selections, colors.whitespace);
        self.add_diagnostics(cx);
        self.add_link(cx);
        self.add_marked(colors.text);
        self.add_carets(&selections, cx);
    }

    /// Returns the selections that touch a span.
    fn selections_in(&self, span: Span) -> Vec<Selection> {
        let all = self.editor.selections.as_slice();
        let first = all.partition_point(|selection| selection.end() < span.start);
        all[first..]
            .iter()
            .take_while(|selection| selection.start() <= span.end)
            .copied()
            .collect()
    }

    fn add_span(&mut self, span: Span, color: Hsla, radius: f32) {
        let found = stretches(
            span,
            self.layout.span,
            &self.layout.rows,
            &self.editor.display,
        );
        let quads = boxes(
            &found,
            &self.layout.rows,
            &self.layout.geometry,
            color,
            radius,
        );
        self.layout.grounds.extend(quads);
    }

    /// Adds the background behind rows under review, or behind those that a proposal removes.
    fn add_reviewed(&mut self, grounds: &[Span], color: Hsla) {
        for span in grounds
            .iter()
            .filter(|span| span.end > self.layout.span.start && !span.is_empty())
        {
            if span.start >= self.layout.span.end {
                break;
            }
            let first = self.editor.snapshot.point_at(span.start).row;
            let end = self.editor.snapshot.point_at(span.end);
            // A change that ends within a row ends at the end of the text.
            let last = match end.column.0 {
                0 => end.row - 1,
                _ => end.row,
            };
            for visible in self.layout.rows.iter() {
                if (first..=last).contains(&visible.buffer_row) {
                    self.layout
                        .grounds
                        .push(fill(self.layout.geometry.row_bounds(visible.y), color));
                }
            }
        }
    }

    fn add_current_row(&mut self, cx: &Context<Editor>) {
        let (in_gutter, in_text) = match self.editor.settings.current_line {
            CurrentLine::Off => return,
            CurrentLine::Gutter => (true, false),
            CurrentLine::Line => (false, true),
            CurrentLine::All => (true, true),
        };
        let color = cx.theme().colors.current_line;
        let geometry = &self.layout.geometry;
        let head = self.editor.selections.primary().head;
        if !self.editor.selections.primary().is_empty() {
            return;
        }
        let row = self.editor.snapshot.point_at(head).row;
        for visible in self
            .layout
            .rows
            .iter()
            .filter(|visible| visible.buffer_row == row)
        {
            let mut bounds = geometry.row_bounds(visible.y);
            if in_gutter {
                bounds.size.width += bounds.left() - geometry.gutter.left();
                bounds.origin.x = geometry.gutter.left();
                if !in_text {
                    bounds.size.width = geometry.gutter.size.width;
                }
            }
            self.layout.grounds.push(fill(bounds, color));
        }
    }

    fn add_rulers(&mut self, color: Hsla) {
        let geometry = &self.layout.geometry;
        for column in &self.editor.settings.rulers {
            let x = geometry.x_of(*column);
            if geometry.text.left() <= x && x < geometry.text.right() {
                let line = Bounds::new(
                    point(x, geometry.bounds.top()),
                    size(px(1.0), geometry.bounds.size.height),
                );
                self.layout.grounds.push(fill(line, color));
            }
        }
    }

    /// Adds other occurrences of the selected text.
    fn add_occurrences(&mut self, color: Hsla) {
        const LONGEST: usize = 200;
        const MAX_BYTES: usize = 128 * 1024;
        let selected = self.editor.selections.primary().span();
        let is_wanted = self.editor.settings.selection_highlight
            && self.editor.selections.len() == 1
            && (2..=LONGEST).contains(&selected.len())
            && self.layout.span.len() <= MAX_BYTES
            && !self.editor.find.is_open();
        if !is_wanted {
            return;
        }
        let needle = self.editor.snapshot.text(selected);
        if needle.contains('\n') || needle.trim().is_empty() {
            return;
        }
        let text = self.editor.snapshot.text(self.layout.span);
        let found: Vec<Span> = text
            .match_indices(needle.as_ref())
            .map(|(at, _)| {
                Span::from(
                    self.layout.span.start.0 + at..self.layout.span.start.0 + at + needle.len(),
                )
            })
            .filter(|span| *span != selected)
            .collect();
        for span in found {
            self.add_span(span, color, 2.0);
        }
    }

    /// Adds the occurrences of the symbol at the caret.
    fn add_document_highlights(&mut self, cx: &Context<Editor>) {
        let colors = cx.theme().colors;
        for (span, kind) in document_highlights::occurrences_in(self.editor, self.layout.span) {
            let color = match kind {
                HighlightKind::Text | HighlightKind::Read => colors.occurrence,
                HighlightKind::Write => colors.occurrence_write,
            };
            self.add_span(span, color, 2.0);
        }
    }

    /// Adds the tab stops of a snippet that are not being filled in.
    fn add_tab_stops(&mut self, color: Hsla) {
        let shown = self.layout.span;
        let stops: Vec<Span> = self.editor.other_tab_stops().collect();
        for span in stops {
            if span.start <= shown.end && shown.start <= span.end {
                self.add_span(span, color, 2.0);
            }
        }
    }

    fn add_matches(&mut self, cx: &Context<Editor>) {
        let colors = cx.theme().colors;
        let active = self.editor.selections.primary().span();
        for span in self.editor.find.matches_in(self.layout.span).to_vec() {
            let color = if span == active {
                colors.find_match_active
            } else {
                colors.find_match
            };
            self.add_span(span, color, 2.0);
        }
    }

    /// Adds the text that Vim's keys yanked, and the match of the search that is being typed.
    fn add_vim_spans(&mut self, cx: &Context<Editor>) {
        let colors = cx.theme().colors;
        let (yanked, found) = vim_mode::highlights(self.editor);
        for span in yanked {
            self.add_span(span, colors.occurrence_write, ROUND);
        }
        if let Some(span) = found {
            self.add_span(span, colors.find_match_active, 2.0);
        }
    }

    fn add_brackets(&mut self, cx: &mut Context<Editor>) {
        if !self.editor.settings.bracket_match
            || !self.layout.is_focused
            || self.editor.selections.len() > 1
        {
            return;
        }
        let head = self.editor.selections.primary().head;
        // A newer tree may give a better result.
        bracketing::look_for_brackets(self.editor, head, cx);
        let Some(pair) = self
            .editor
            .brackets
            .pair_at(self.editor.snapshot.revision(), head)
        else {
            return;
        };
        let color = cx.theme().colors.bracket_match;
        for span in pair {
            self.add_span(span, color, 2.0);
        }
    }

    fn add_fold_signs(&mut self, color: Hsla) {
        let mut quads = Vec::new();
        for (ix, row) in self.layout.rows.iter().enumerate() {
            for (cell, cells) in &row.shape.folds {
                let stretch = CellRange {
                    ix,
                    from: *cell,
                    to: cell + cells,
                };
                let mut bounds = bounds_of(&stretch, &self.layout.rows, &self.layout.geometry);
                let inset = self.layout.geometry.line_height * 0.15;
                bounds.origin.y += inset;
                bounds.size.height -= inset * 2.0;
                quads.push(fill(bounds, color).corner_radii(px(4.0)));
            }
        }
        self.layout.grounds.append(&mut quads);
    }

    /// Adds the marks of spaces and tabs. The whitespace setting decides which are marked: none,
    /// all, all but single spaces between words (`Boundary`), or the selected ones. `selections`
    /// matters only for the last.
    fn add_blanks(&mut self, selections: &[Selection], color: Hsla) {
        let whitespace = self.editor.whitespace();
        if whitespace == Whitespace::None {
            return;
        }
        let mut selected = Vec::new();
        if whitespace == Whitespace::Selection {
            for selection in selections.iter().filter(|selection| !selection.is_empty()) {
                selected.extend(stretches(
                    selection.span(),
                    self.layout.span,
                    &self.layout.rows,
                    &self.editor.display,
                ));
            }
            if selected.is_empty() {
                return;
            }
        }
        let mut quads = Vec::new();
        for (ix, row) in self.layout.rows.iter().enumerate() {
            for blank in &row.shape.blanks {
                let is_shown = match whitespace {
                    Whitespace::None => false,
                    Whitespace::All => true,
                    Whitespace::Boundary => !blank.is_single,
                    Whitespace::Selection => selected.iter().any(|stretch| {
                        stretch.ix == ix && stretch.from <= blank.cell && blank.cell < stretch.to
                    }),
                };
                if is_shown {
                    let stretch = CellRange {
                        ix,
                        from: blank.cell,
                        to: blank.cell + blank.cells,
                    };
                    let bounds = bounds_of(&stretch, &self.layout.rows, &self.layout.geometry);
                    quads.push(blank_mark(bounds, blank.is_tab, color));
                }
            }
        }
        self.layout.grounds.append(&mut quads);
    }

    /// Adds the underline of composed text.
    fn add_marked(&mut self, color: Hsla) {
        let mut quads = Vec::new();
        for span in &self.editor.marked {
            for stretch in stretches(
                *span,
                self.layout.span,
                &self.layout.rows,
                &self.editor.display,
            ) {
                let bounds = bounds_of(&stretch, &self.layout.rows, &self.layout.geometry);
                let line = Bounds::new(
                    point(bounds.left(), bounds.bottom() - px(3.0)),
                    size(bounds.size.width, px(1.0)),
                );
                quads.push(fill(line, color));
            }
        }
        self.layout.fronts.append(&mut quads);
    }

    fn add_carets(&mut self, selections: &[Selection], cx: &Context<Editor>) {
        if self.layout.is_focused && !self.editor.blink.is_shown {
            return;
        }
        let colors = cx.theme().colors;
        let Some(first) = self.layout.rows.first().map(|row| row.row) else {
            return;
        };
        let dropped = drop::drop_place(self.editor);
        let own_style = self.editor.settings.cursor_style;
        let shapes = vim_mode::caret_shapes(self.editor);
        let own = selections.iter().filter(|_| shapes.is_none());
        let own = own.map(|selection| (selection.head, own_style));
        let of_vim = shapes.iter().flatten();
        let of_vim = of_vim.map(|shape| (shape.offset, shape.style));
        let dropped = dropped.into_iter().map(|offset| (offset, own_style));
        for (head, focused_style) in own.chain(of_vim).chain(dropped) {
            let place = self.editor.display.to_display(head, Bias::Left);
            let Some(ix) = place.row.0.checked_sub(first.0).map(|ix| ix as usize) else {
                continue;
            };
            if ix >= self.layout.rows.len() {
                continue;
            }
            let next = self
                .editor
                .display
                .to_display(self.editor.snapshot.next_grapheme(head), Bias::Left);
            // The box of a caret covers the next character, but not an inlay before it.
            let has_inlay = self.editor.display.to_display(head, Bias::Right) != place;
            let cells = if next.row == place.row && !has_inlay {
                next.cell.saturating_sub(place.cell).max(1)
            } else {
                1
            };
            let stretch = CellRange {
                ix,
                from: place.cell,
                to: place.cell + cells,
            };
            let bounds = bounds_of(&stretch, &self.layout.rows, &self.layout.geometry);
            if !self.layout.is_focused && options::is_field(self.editor) {
                continue;
            }
            let style = if self.layout.is_focused {
                focused_style
            } else {
                CursorStyle::Hollow
            };
            if style == CursorStyle::Block {
                self.layout
                    .inverted
                    .push((ix, place.cell..place.cell + cells, colors.surface));
            }
            let color = if self.layout.is_focused {
                colors.caret
            } else {
                colors.caret.opacity(0.5)
            };
            self.layout.fronts.push(caret(bounds, style, color));
        }
    }
}

fn caret(bounds: Bounds<Pixels>, style: CursorStyle, color: Hsla) -> PaintQuad {
    match style {
        CursorStyle::Bar => fill(
            Bounds::new(bounds.origin, size(px(2.0), bounds.size.height)),
            color,
        ),
        CursorStyle::Block => fill(bounds, color),
        CursorStyle::Underline => {
            let origin = point(bounds.left(), bounds.bottom() - px(2.0));
            fill(Bounds::new(origin, size(bounds.size.width, px(2.0))), color)
        }
        CursorStyle::Hollow => gpui_kit::outline(bounds, color, Default::default()),
    }
}

fn blank_mark(bounds: Bounds<Pixels>, is_tab: bool, color: Hsla) -> PaintQuad {
    let middle = bounds.center();
    if is_tab {
        let inset = px(2.0);
        let origin = point(bounds.left() + inset, middle.y);
        fill(
            Bounds::new(
                origin,
                size((bounds.size.width - inset * 2.0).max(px(1.0)), px(1.0)),
            ),
            color,
        )
    } else {
        let side = px(2.0);
        fill(
            Bounds::new(
                point(middle.x - side / 2.0, middle.y - side / 2.0),
                size(side, side),
            ),
            color,
        )
    }
}
