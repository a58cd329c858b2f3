//! Code lenses: commands of language servers in lines of their own, above the rows to which they belong.
//!
//! Invariant: only lenses in the window around the visible rows have blocks, so that their number does not grow with
//! the text.
//! Start at `show`.

use std::rc::Rc;
use std::sync::Arc;

use base::{Bias, ByteOffset, LineFeeds, Row, Span, printable};
use display::{BlockId, BlockSpec, Placement};
use gpui_kit::{
    AnyElement, App, Context, InteractiveElement as _, IntoElement as _, MouseButton,
    ParentElement as _, Styled as _, WeakEntity, Window, div, px,
};
use lsp::ServerCommand;
use text::Change;
use ui::{ActiveTheme as _, dp};

use super::{Editor, EditorEvent};
use crate::block_view::{BlockPlace, BlockView};
use crate::model::map_window;

/// Height of a line of lenses, in line heights.
const HEIGHT: f32 = 1.0;
/// Maximum number of lines of lenses in the window.
const MAX_LINES: usize = 200;
/// Maximum number of lenses in a line.
const MAX_LENSES: usize = 8;
/// Maximum length of a title, in characters; the rest is cut.
const MAX_CHARS: usize = 80;
/// Maximum number of blanks before a row that indent its lenses.
const MAX_INDENT: usize = 200;

/// Notice about a row without a lens.
const NO_LENS: &str = "No code lens belongs to this line";

/// The lenses that a view shows.
#[derive(Default)]
pub(crate) struct ShownLenses {
    lines: Vec<LensLine>,
    /// Window and number of the document's lenses for which `lines` was computed.
    made_for: Option<(Option<Span>, u64)>,
}

/// The lenses of a row.
struct LensLine {
    block: BlockId,
    /// The start of the first lens.
    at: ByteOffset,
    commands: Vec<Arc<ServerCommand>>,
}

impl ShownLenses {
    /// Moves the lenses with a change.
    pub(super) fn follow(&mut self, change: &Change) {
        for line in &mut self.lines {
            line.at = change.map(line.at, Bias::Right);
        }
        if let Some((Some(window), _)) = &mut self.made_for {
            *window = map_window(change, *window);
        }
    }

    /// Forgets the lenses when the display map is new.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Returns the titles of the lenses in a block.
    #[cfg(test)]
    pub(crate) fn titles_of(&self, block: BlockId) -> Vec<String> {
        let lines = self.lines.iter().filter(|line| line.block == block);
        let commands = lines.flat_map(|line| &line.commands);
        commands.map(|command| command.title.clone()).collect()
    }

    /// Returns the blocks of all lines, in text order.
    #[cfg(test)]
    pub(crate) fn blocks(&self) -> Vec<BlockId> {
        let mut lines: Vec<_> = self
            .lines
            .iter()
            .map(|line| (line.at, line.block))
            .collect();
        lines.sort_by_key(|(at, _)| *at);
        lines.into_iter().map(|(_, block)| block).collect()
    }
}

/// Makes the lines of lenses those of the lenses in `window`; none without a window. Takes constant time unless an
/// answer came or the window moved.
pub(super) fn show(editor: &mut Editor, window: Option<Span>, cx: &mut Context<Editor>) {
    let version = editor
        .model
        .read(cx)
        .annotation_version::<Arc<ServerCommand>>();
    if editor.lenses.made_for == Some((window, version)) {
        return;
    }
    editor.lenses.made_for = Some((window, version));
    let mut wanted = window.map_or_else(Vec::new, |window| lines_in(editor, window, cx));
    let snapshot = &editor.snapshot;
    let row_of = |at: ByteOffset| snapshot.point_at(at).row;
    let mut lines = std::mem::take(&mut editor.lenses.lines);
    let mut gone = Vec::new();
    lines.retain(|line| {
        let same = wanted.iter().position(|(at, commands)| {
            row_of(*at) == row_of(line.at) && *commands == line.commands
        });
        match same {
            Some(ix) => drop(wanted.swap_remove(ix)),
            None => gone.push(line.block),
        }
        same.is_some()
    });
    editor.lenses.lines = lines;
    if !gone.is_empty() || !wanted.is_empty() {
        put_blocks(editor, &gone, wanted, cx);
    }
}

/// Returns the lenses in a window by the rows to which they belong.
fn lines_in(editor: &Editor, window: Span, cx: &App) -> Vec<(ByteOffset, Vec<Arc<ServerCommand>>)> {
    let lenses = editor
        .model
        .read(cx)
        .annotations_in::<Arc<ServerCommand>>(window);
    let row_of = |(span, _): &(Span, Arc<ServerCommand>)| editor.snapshot.point_at(span.start).row;
    let lines = lenses.chunk_by(|a, b| row_of(a) == row_of(b));
    let lines = lines.take(MAX_LINES).map(|line| {
        let commands = line
            .iter()
            .take(MAX_LENSES)
            .map(|(_, command)| command.clone());
        (line[0].0.start, commands.collect())
    });
    lines.collect()
}

fn put_blocks(
    editor: &mut Editor,
    gone: &[BlockId],
    added: Vec<(ByteOffset, Vec<Arc<ServerCommand>>)>,
    cx: &mut Context<Editor>,
) {
    gone.iter().for_each(|id| {
        editor.blocks.remove(id);
    });
    let view = cx.weak_entity();
    let mut made = Vec::with_capacity(added.len());
    for (at, commands) in added {
        let row = editor.snapshot.point_at(at).row;
        made.push((row, indent_of(editor, row), at, commands));
    }
    let ids: Vec<BlockId> = editor.change_map(cx, |map| {
        map.remove_blocks(gone);
        let specs = made.iter().map(|(row, ..)| BlockSpec {
            row: *row,
            placement: Placement::Above,
            height: HEIGHT,
            priority: 1,
        });
        specs.map(|spec| map.insert_block(spec)).collect()
    });
    for (block, (_, indent, at, commands)) in ids.into_iter().zip(made) {
        let (view, shown) = (view.clone(), commands.clone());
        let render = move |place: &BlockPlace, _: &mut Window, cx: &mut App| {
            render_line(place, indent, &shown, &view, cx)
        };
        editor.blocks.insert(block, Rc::new(BlockView::new(render)));
        editor.lenses.lines.push(LensLine {
            block,
            at,
            commands,
        });
    }
}

/// Returns the cells of the blanks at the start of a row.
fn indent_of(editor: &Editor, row: Row) -> u32 {
    let start = editor.snapshot.row_start(row);
    let chars = editor.snapshot.chars_at(start).take(MAX_INDENT);
    let tab = editor.caret_options.tab_width;
    chars
        .take_while(|char| matches!(char, ' ' | '\t'))
        .fold(0, |cells, char| match char {
            '\t' => (cells / tab + 1) * tab,
            _ => cells + 1,
        })
}

fn render_line(
    place: &BlockPlace,
    indent: u32,
    commands: &[Arc<ServerCommand>],
    view: &WeakEntity<Editor>,
    cx: &App,
) -> AnyElement {
    let theme = cx.theme();
    let advance = view.upgrade().and_then(|editor| {
        let geometry = editor.read(cx).geometry.as_ref()?;
        Some(geometry.advance)
    });
    let indent = px(advance.unwrap_or_default() * indent as f32);
    let link = theme.colors.link;
    let lenses = commands.iter().enumerate().map(|(ix, command)| {
        let (view, clicked) = (view.clone(), command.clone());
        div()
            .id(("code-lens", ix))
            .cursor_pointer()
            .hover(move |style| style.text_color(link))
            .child(shown_title(&command.title))
            .occlude()
            .on_mouse_down(MouseButton::Left, move |_, _, cx| {
                cx.stop_propagation();
                let event = EditorEvent::LensClicked(clicked.clone());
                // A closed view has nothing to do.
                view.update(cx, |_, cx| cx.emit(event)).ok();
            })
    });
    div()
        .id(("code-lenses", place.id.0))
        .size_full()
        .flex()
        .items_center()
        .gap(dp(12.0))
        .whitespace_nowrap()
        .overflow_hidden()
        .pl(place.gutter + indent)
        .text_size(dp(12.0))
        .text_color(theme.colors.muted)
        .font_family(theme.fonts.ui_family.clone())
        .children(lenses)
        .into_any_element()
}

/// Returns a title without line breaks, cut to its maximum length.
fn shown_title(title: &str) -> String {
    let title = printable(title, LineFeeds::Escape);
    match title.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}\u{2026}", &title[..end]),
        None => title.into_owned(),
    }
}

/// Handler of an action: runs the first lens of the row of the caret.
pub(crate) fn run_code_lens(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    let row = editor.caret_point(cx).row;
    let snapshot = &editor.snapshot;
    let span = Span::new(snapshot.row_start(row), snapshot.row_end(row));
    let lenses = editor
        .model
        .read(cx)
        .annotations_in::<Arc<ServerCommand>>(span);
    let own = lenses
        .into_iter()
        .find(|(lens, _)| span.start <= lens.start);
    match own.filter(|_| editor.settings.code_lens) {
        Some((_, command)) => cx.emit(EditorEvent::LensClicked(command)),
        None => cx.emit(EditorEvent::Refused(NO_LENS.to_owned())),
    }
}
