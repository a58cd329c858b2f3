//! Linked editing: text typed in one of several linked spans is typed in all of them, such as in the
//! names of an opening and a closing tag.
//!
//! Invariant: the spans belong to the present revision and have equal texts; an edit that was not
//! mirrored drops them.
//! Start at `edit`.

use std::rc::Rc;

use base::{ByteOffset, Revision, Span};
use gpui_kit::{AnyWindowHandle, Context, Task, Window};
use text::{Edit, EditKind, Selection, SelectionSet, Snapshot};

use super::Editor;
use super::caret_rest::when_caret_rests;

/// Maximum length of a linked span, in bytes.
const MAX_SPAN: usize = 200;

/// A source of linked spans, such as a language server.
pub trait LinkedSpanSource {
    /// Returns the spans that change together with the one at an offset, sorted, in the text of the
    /// snapshot; empty if there are none. Dropping the task cancels the request.
    fn linked_spans(
        &self,
        snapshot: &Snapshot,
        at: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<Span>>;
}

/// The linked spans at the caret of a view, and the request for them.
pub(crate) struct LinkedEditing {
    source: Option<Rc<dyn LinkedSpanSource>>,
    /// Disjoint and sorted, with the revision of their text.
    spans: Option<(Revision, Vec<Span>)>,
    /// Waits until the caret rests, then for the answer.
    request: Option<Task<()>>,
    window: AnyWindowHandle,
}

impl LinkedEditing {
    /// Creates the state of a view in `window`, without a source.
    pub(super) fn new(window: &Window) -> Self {
        Self {
            source: None,
            spans: None,
            request: None,
            window: window.window_handle(),
        }
    }

    /// Returns the spans of a revision; empty if they belong to another one.
    fn spans_of(&self, revision: Revision) -> &[Span] {
        match &self.spans {
            Some((known, spans)) if *known == revision => spans,
            _ => &[],
        }
    }
}

/// An edit with its copies in the linked spans.
struct MirroredEdit {
    edits: Vec<Edit>,
    selections: SelectionSet,
    /// The linked spans after the edits.
    spans: Vec<Span>,
}

/// Sets the source of linked spans.
pub(super) fn set_source(editor: &mut Editor, source: Option<Rc<dyn LinkedSpanSource>>) {
    editor.linked.spans = None;
    editor.linked.request = None;
    editor.linked.source = source;
}

/// Asks for the spans at the new position of the caret when it rests.
pub(super) fn carets_moved(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.linked.request = None;
    let head = editor.selections.primary().head;
    let known = editor.linked.spans_of(editor.snapshot.revision());
    let is_known = known
        .iter()
        .any(|span| span.start <= head && head <= span.end);
    let is_wanted = editor.settings.linked_edits && editor.selections.len() == 1;
    if is_known || !is_wanted {
        return;
    }
    editor.linked.spans = None;
    if let Some(source) = editor.linked.source.clone() {
        editor.linked.request = Some(ask_at_rest(source, editor.linked.window, cx));
    }
}

fn ask_at_rest(
    source: Rc<dyn LinkedSpanSource>,
    window: AnyWindowHandle,
    cx: &Context<Editor>,
) -> Task<()> {
    cx.spawn(async move |this, cx| {
        let asked = when_caret_rests(&this, window, cx, |editor, cx| {
            let at = editor.selections.primary().head;
            let answer = source.linked_spans(&editor.snapshot, at, cx);
            (editor.snapshot.revision(), answer)
        });
        let Some((revision, answer)) = asked.await else {
            return;
        };
        let spans = answer.await;
        // The view may have been closed.
        this.update(cx, |editor, _| take_answer(editor, revision, spans))
            .ok();
    })
}

/// Keeps the spans of an answer if they can be edited together.
fn take_answer(editor: &mut Editor, revision: Revision, spans: Vec<Span>) {
    let is_current = revision == editor.snapshot.revision();
    let is_disjoint = spans.windows(2).all(|pair| pair[0].end < pair[1].start);
    let is_linked = is_current && is_disjoint && has_equal_texts(&editor.snapshot, &spans);
    editor.linked.spans = (spans.len() > 1 && is_linked).then_some((revision, spans));
}

fn has_equal_texts(snapshot: &Snapshot, spans: &[Span]) -> bool {
    let Some(first) = spans.first() else {
        return false;
    };
    let is_within = |span: &Span| span.end <= snapshot.len() && span.len() == first.len();
    if first.len() > MAX_SPAN || !spans.iter().all(is_within) {
        return false;
    }
    let text = snapshot.text(*first);
    spans.iter().all(|span| snapshot.text(*span) == text)
}

/// Edits the text as `Editor::edit` does, in all linked spans if the edit is within one of them.
pub(super) fn edit(
    editor: &mut Editor,
    edits: &[Edit],
    selections: SelectionSet,
    kind: EditKind,
    cx: &mut Context<Editor>,
) -> bool {
    let Some(mirrored) = mirrored(editor, edits, &selections) else {
        return editor.edit(edits, selections, kind, cx);
    };
    let MirroredEdit {
        edits,
        selections,
        spans,
    } = mirrored;
    if !editor.edit(&edits, selections, kind, cx) {
        return false;
    }
    let revision = editor.snapshot.revision();
    let is_linked = has_equal_texts(&editor.snapshot, &spans);
    editor.linked.spans = is_linked.then_some((revision, spans));
    editor.linked.request = None;
    true
}

/// Returns an edit with its copies in the other linked spans; `None` if it is not within one of them,
/// or is no part of a name. `selections` are those after the edit.
fn mirrored(editor: &Editor, edits: &[Edit], selections: &SelectionSet) -> Option<MirroredEdit> {
    let spans = editor.linked.spans_of(editor.snapshot.revision());
    let ([edit], 1) = (edits, selections.len()) else {
        return None;
    };
    let own = spans.iter().position(|span| span.covers(edit.span))?;
    if !edit.text.chars().all(is_name_char) || !has_equal_texts(&editor.snapshot, spans) {
        return None;
    }
    let start = spans[own].start;
    let (from, to) = (edit.span.start - start, edit.span.end - start);
    let copies = spans.iter().map(|span| {
        let span = Span::new(span.start + from, span.start + to);
        Edit::new(span, edit.text.as_str())
    });
    // An offset after `count` edits.
    let moved = |offset: ByteOffset, count: usize| {
        let added = offset.0 + edit.text.len() * count;
        ByteOffset(added.saturating_sub(edit.span.len() * count))
    };
    let after = spans.iter().enumerate();
    let after = after.map(|(ix, span)| Span::new(moved(span.start, ix), moved(span.end, ix + 1)));
    Some(MirroredEdit {
        edits: copies.collect(),
        selections: selections
            .transform(|it| Selection::new(moved(it.anchor, own), moved(it.head, own))),
        spans: after.collect(),
    })
}

/// Returns whether a character may be part of the name of a tag.
fn is_name_char(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | ':' | '$')
}
