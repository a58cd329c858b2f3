//! The hover card: diagnostics and hover texts of language servers for the text under the pointer or at the caret.
//!
//! Invariant: an edit or a move of the caret closes the card.
//! Start at `show`; `pointer_moved` opens and closes it for the mouse.

mod card;

use std::rc::Rc;
use std::time::Duration;

use base::{Bias, ByteOffset, LineFeeds, Revision, Span, printable};
use gpui_kit::component::text::TextViewState;
use gpui_kit::{AppContext as _, Context, Entity, Task, Window};
use text::Snapshot;

use super::Editor;
use crate::code_blocks;
use crate::frame::HitArea;
use crate::model::PlacedDiagnostic;

pub(crate) use card::render_card;

/// Time for which the pointer rests before a card opens.
const REST: Duration = Duration::from_millis(350);
/// Time after which a card closes once the pointer has left its text, so that the pointer can reach the card.
const GRACE: Duration = Duration::from_millis(250);
/// Maximum length of one text of a card, in bytes.
const MAX_TEXT: usize = 1 << 16;

/// A source of hover texts, such as a language server.
pub trait HoverSource {
    /// Returns the hover texts for an offset; empty if there are none.
    fn hover(
        &self,
        snapshot: &Snapshot,
        at: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<HoverText>>;
}

/// A hover text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoverText {
    /// The text, as its source wrote it.
    pub text: String,
    /// Whether it is Markdown.
    pub is_markdown: bool,
    /// The part of the document that it is about.
    pub span: Option<Span>,
}

/// The hover card of a view, with the timer and the request that open or close it.
#[derive(Default)]
pub(crate) struct HoverState {
    source: Option<Rc<dyn HoverSource>>,
    card: Option<HoverCard>,
    /// The offset under the pointer for which the timer will open a card.
    target: Option<ByteOffset>,
    is_over_card: bool,
    timer: Option<Task<()>>,
    request: Option<Task<()>>,
}

/// An open card.
pub(crate) struct HoverCard {
    /// The text at which the card is shown.
    span: Span,
    revision: Revision,
    diagnostics: Vec<PlacedDiagnostic>,
    texts: Vec<Entity<TextViewState>>,
    origin: HoverOrigin,
}

/// The cause of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HoverOrigin {
    Pointer,
    Keyboard,
}

/// Sets the source of hover texts.
pub(super) fn set_source(editor: &mut Editor, source: Option<Rc<dyn HoverSource>>) {
    editor.hover.source = source;
}

/// Returns the messages of the diagnostics on the open card.
#[cfg(test)]
pub(crate) fn shown_messages(editor: &Editor) -> Vec<String> {
    let card = editor.hover.card.as_ref();
    let shown = card.into_iter().flat_map(|card| &card.diagnostics);
    shown.map(|it| it.diagnostic.message.clone()).collect()
}

/// Returns whether a card is open.
pub(super) fn is_open(editor: &Editor) -> bool {
    editor.hover.card.is_some()
}

/// Handler of an action: shows the card for the caret.
pub(crate) fn show_hover(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let head = editor.selections.primary().head;
    show(editor, head, HoverOrigin::Keyboard, cx);
}

/// Handler of an action: closes the card.
pub(crate) fn close_hover(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    close(editor, cx);
}

/// Shows the diagnostics at an offset.
pub(crate) fn show_diagnostics(
    editor: &mut Editor,
    at: ByteOffset,
    _: &mut Window,
    cx: &mut Context<Editor>,
) {
    close(editor, cx);
    open_card(editor, at, HoverOrigin::Keyboard, cx);
}

/// Shows a card with a plain text at the newest caret.
pub fn show_card(editor: &mut Editor, text: String, cx: &mut Context<Editor>) {
    close(editor, cx);
    editor.sync(cx);
    let head = editor.selections.primary().head;
    let text = HoverText {
        text: as_markdown(&text),
        is_markdown: true,
        span: None,
    };
    add_texts(editor, head, vec![text], HoverOrigin::Keyboard, cx);
}

/// Returns Markdown that shows a plain text with its lines, without any marks.
fn as_markdown(text: &str) -> String {
    let mut markdown = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let content = line.trim_start();
        let blanks = line.chars().count() - content.chars().count();
        markdown.extend(std::iter::repeat_n('\u{a0}', blanks));
        for char in content.chars() {
            if char.is_ascii_punctuation() {
                markdown.push('\\');
            }
            markdown.push(char);
        }
        let is_followed = lines.peek().is_some_and(|next| !next.trim().is_empty());
        if is_followed && !content.is_empty() {
            // A hard line break.
            markdown.push('\\');
        }
        markdown.push('\n');
    }
    markdown
}

/// Closes the hover card and cancels a pending one.
pub(crate) fn close(editor: &mut Editor, cx: &mut Context<Editor>) {
    let hover = &mut editor.hover;
    (hover.target, hover.timer, hover.request) = (None, None, None);
    hover.is_over_card = false;
    if hover.card.take().is_some() {
        cx.notify();
    }
}

/// Closes the card when something else gets the focus, unless the user clicks into the card.
pub(super) fn focus_lost(editor: &mut Editor, cx: &mut Context<Editor>) {
    if !editor.hover.is_over_card {
        close(editor, cx);
    }
}

/// Closes a card whose diagnostics may be outdated; the next rest of the pointer opens it again.
pub(crate) fn diagnostics_changed(editor: &mut Editor) {
    if editor
        .hover
        .card
        .as_ref()
        .is_some_and(|card| !card.diagnostics.is_empty())
    {
        editor.hover.card = None;
    }
}

/// Opens or closes the card after a move of the pointer. `is_over` is whether it is over the view.
pub(crate) fn pointer_moved(editor: &mut Editor, is_over: bool, cx: &mut Context<Editor>) {
    if editor.mouse.drag.is_some() {
        close(editor, cx);
        return;
    }
    let at = is_over.then(|| offset_under_pointer(editor)).flatten();
    let card = editor.hover.card.as_ref();
    let is_on_card = card.is_some_and(|card| at.is_some_and(|at| touches(card.span, at)));
    if is_on_card || at == editor.hover.target && at.is_some() {
        return;
    }
    editor.hover.target = at;
    editor.hover.timer = match (at, card) {
        (_, Some(card)) if card.origin == HoverOrigin::Pointer => {
            Some(after(GRACE, leave_card, cx))
        }
        (Some(_), None) => Some(after(REST, open_at_target, cx)),
        _ => None,
    };
}

/// Calls `action` after a time.
fn after(
    time: Duration,
    action: fn(&mut Editor, &mut Context<Editor>),
    cx: &Context<Editor>,
) -> Task<()> {
    cx.spawn(async move |editor, cx| {
        cx.background_executor().timer(time).await;
        // The view may have been closed.
        editor.update(cx, action).ok();
    })
}

fn leave_card(editor: &mut Editor, cx: &mut Context<Editor>) {
    if editor.hover.is_over_card {
        return;
    }
    let target = editor.hover.target;
    close(editor, cx);
    if target.is_some() {
        editor.hover.target = target;
        editor.hover.timer = Some(after(REST, open_at_target, cx));
    }
}

fn open_at_target(editor: &mut Editor, cx: &mut Context<Editor>) {
    if let Some(at) = editor.hover.target {
        show(editor, at, HoverOrigin::Pointer, cx);
    }
}

/// Returns the offset of the character under the pointer; `None` beside the text.
pub(super) fn offset_under_pointer(editor: &Editor) -> Option<ByteOffset> {
    let position = editor.mouse.position;
    let geometry = editor.geometry.as_ref()?;
    if geometry.area_at(position) != HitArea::Text {
        return None;
    }
    let point = editor.display_point_at(position)?;
    let is_beside =
        point.cell >= editor.display.max_cell(point.row) || point.row > editor.display.last_row();
    (!is_beside).then(|| editor.display.to_buffer(point, Bias::Left))
}

/// Shows the diagnostics at an offset, and the texts of the hover source when they arrive.
fn show(editor: &mut Editor, at: ByteOffset, origin: HoverOrigin, cx: &mut Context<Editor>) {
    close(editor, cx);
    editor.sync(cx);
    open_card(editor, at, origin, cx);
    let Some(source) = editor.hover.source.clone() else {
        return;
    };
    let revision = editor.snapshot.revision();
    let answer = source.hover(&editor.snapshot, at, cx);
    editor.hover.request = Some(cx.spawn(async move |editor, cx| {
        let texts = answer.await;
        // The view may have been closed.
        editor
            .update(cx, |editor, cx| {
                if editor.snapshot.revision() == revision && !texts.is_empty() {
                    add_texts(editor, at, texts, origin, cx);
                }
            })
            .ok();
    }));
}

/// Opens a card with the diagnostics at an offset, if there are some.
fn open_card(editor: &mut Editor, at: ByteOffset, origin: HoverOrigin, cx: &mut Context<Editor>) {
    let mut diagnostics = editor.model.read(cx).diagnostics_in(Span::at(at));
    // Of two that meet at the offset, the one that begins there is meant.
    if diagnostics
        .iter()
        .any(|it| it.span.start <= at && at < it.span.end)
    {
        diagnostics.retain(|it| at < it.span.end || it.span.is_empty());
    }
    diagnostics.sort_by_key(|it| (it.diagnostic.severity, it.span.len()));
    let Some(span) = diagnostics.iter().map(|it| it.span).min_by_key(Span::len) else {
        return;
    };
    editor.hover.card = Some(HoverCard {
        span,
        revision: editor.snapshot.revision(),
        diagnostics,
        texts: Vec::new(),
        origin,
    });
    cx.notify();
}

fn add_texts(
    editor: &mut Editor,
    at: ByteOffset,
    texts: Vec<HoverText>,
    origin: HoverOrigin,
    cx: &mut Context<Editor>,
) {
    let span = texts.iter().find_map(|text| text.span);
    let states = texts
        .into_iter()
        .map(|text| text_view(&text.text, text.is_markdown, cx));
    let states: Vec<_> = states.collect();
    let revision = editor.snapshot.revision();
    let card = editor.hover.card.get_or_insert_with(|| HoverCard {
        span: span.unwrap_or(Span::at(at)),
        revision,
        diagnostics: Vec::new(),
        texts: Vec::new(),
        origin,
    });
    card.texts = states;
    cx.notify();
}

/// Creates the view of a text of a source, which may be Markdown.
pub(super) fn text_view(
    text: &str,
    is_markdown: bool,
    cx: &mut Context<Editor>,
) -> Entity<TextViewState> {
    code_blocks::prepare(cx);
    let printed = printable(cut(text), LineFeeds::Keep).into_owned();
    let markdown = if is_markdown {
        printed
    } else {
        format!("~~~~~~~~text\n{printed}\n~~~~~~~~")
    };
    cx.new(|cx| TextViewState::markdown(&markdown, cx))
}

/// Returns the start of a text, at most `MAX_TEXT` bytes.
fn cut(text: &str) -> &str {
    let end = text.floor_char_boundary(MAX_TEXT);
    &text[..end]
}

fn touches(span: Span, at: ByteOffset) -> bool {
    span.start <= at && at < span.end.max(span.start + 1)
}

#[cfg(test)]
mod tests {
    use super::as_markdown;

    #[test]
    fn a_plain_text_has_its_lines_and_no_marks_in_markdown() {
        assert_eq!(
            as_markdown("one *two*\n\n  # three\nfour\n"),
            "one \\*two\\*\n\n\u{a0}\u{a0}\\# three\\\nfour\n"
        );
        assert_eq!(as_markdown(""), "");
    }
}
