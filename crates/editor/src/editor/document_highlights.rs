//! Document highlights: the occurrences of the symbol at the caret, found by a source such as a
//! language server.
//!
//! Invariant: the caret touches one of the shown occurrences, and no edit has touched any of them.
//! Start at `carets_moved`, which every change of the selections calls.

use std::rc::Rc;

use base::{Bias, ByteOffset, Revision, Span};
use gpui_kit::{AnyWindowHandle, AppContext as _, Context, Task, Window};
use lsp::{Highlight, HighlightKind};
use text::{Change, PlacedMark, Snapshot, SpanMark, SpanSet};

use super::Editor;
use super::caret_rest::when_caret_rests;

/// Maximum number of occurrences that are kept of one answer.
const MAX_OCCURRENCES: usize = 10_000;
/// Maximum number of occurrences that are drawn in one frame.
const MAX_VISIBLE: usize = 1_000;

/// A source of document highlights, such as a language server.
pub trait HighlightSource {
    /// Returns the occurrences of the symbol at an offset, in the text of the snapshot; empty if
    /// there are none. Dropping the task cancels the request.
    fn highlights(
        &self,
        snapshot: &Snapshot,
        at: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<Highlight>>;
}

/// The occurrences of the symbol at the caret of a view, and the request for them.
pub(crate) struct DocumentHighlights {
    source: Option<Rc<dyn HighlightSource>>,
    occurrences: SpanSet<OccurrenceMark>,
    /// Waits until the caret rests, then for the answer.
    request: Option<Task<()>>,
    window: AnyWindowHandle,
}

/// The kind of an occurrence whose span follows the text.
#[derive(Clone, Debug)]
struct OccurrenceMark {
    rank: usize,
    kind: HighlightKind,
}

impl SpanMark for OccurrenceMark {
    type Rank = usize;
    const STAYS_EMPTY: bool = false;

    fn rank(&self) -> usize {
        self.rank
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

impl DocumentHighlights {
    /// Creates the state of a view in `window`, without a source.
    pub(super) fn new(window: &Window) -> Self {
        Self {
            source: None,
            occurrences: SpanSet::new(),
            request: None,
            window: window.window_handle(),
        }
    }

    /// Moves the occurrences with a change, or removes them if it touches one of them.
    pub(super) fn follow(&mut self, change: &Change) {
        let mut splices = change.splices.iter();
        if splices.any(|splice| self.touches(splice.old)) {
            self.occurrences = SpanSet::new();
        } else {
            self.occurrences.map(change);
        }
    }

    /// Removes the occurrences and cancels the request.
    pub(super) fn clear(&mut self) {
        self.request = None;
        if !self.occurrences.is_empty() {
            self.occurrences = SpanSet::new();
        }
    }

    fn touches(&self, span: Span) -> bool {
        !self.occurrences.touching(span).is_empty()
    }
}

/// Sets the source of document highlights.
pub(super) fn set_source(editor: &mut Editor, source: Option<Rc<dyn HighlightSource>>) {
    editor.highlights.clear();
    editor.highlights.source = source;
}

/// Returns the occurrences that touch a span, sorted by their starts.
pub(crate) fn occurrences_in(editor: &Editor, span: Span) -> Vec<(Span, HighlightKind)> {
    if !editor.settings.document_highlights {
        return Vec::new();
    }
    let placed = editor.highlights.occurrences.touching(span).into_iter();
    placed
        .take(MAX_VISIBLE)
        .map(|placed| (placed.span, placed.mark.kind))
        .collect()
}

/// Removes the occurrences if the caret left them, and asks for those of its present symbol when it
/// rests.
pub(super) fn carets_moved(editor: &mut Editor, cx: &mut Context<Editor>) {
    let caret = resting_caret(editor);
    if caret.is_some_and(|caret| editor.highlights.touches(Span::at(caret))) {
        editor.highlights.request = None;
        return;
    }
    editor.highlights.clear();
    let source = editor.highlights.source.clone();
    if let Some(source) = source.filter(|_| caret.is_some()) {
        editor.highlights.request = Some(ask_at_rest(source, editor.highlights.window, cx));
    }
}

/// Returns the offset of the caret; `None` with several carets, a selection or composed text.
fn resting_caret(editor: &Editor) -> Option<ByteOffset> {
    let selection = editor.selections.primary();
    let is_single = editor.selections.len() == 1 && selection.is_empty();
    let is_wanted = editor.settings.document_highlights && editor.marked.is_empty();
    (is_single && is_wanted).then_some(selection.head)
}

fn ask_at_rest(
    source: Rc<dyn HighlightSource>,
    window: AnyWindowHandle,
    cx: &Context<Editor>,
) -> Task<()> {
    cx.spawn(async move |this, cx| {
        let asked = when_caret_rests(&this, window, cx, |editor, cx| {
            let at = editor.selections.primary().head;
            let answer = source.highlights(&editor.snapshot, at, cx);
            (editor.snapshot.revision(), answer)
        });
        let Some((revision, answer)) = asked.await else {
            return;
        };
        let answer = answer.await;
        let placed = cx.background_spawn(async move { placed(answer) }).await;
        // The view may have been closed.
        this.update(cx, |editor, cx| take_answer(editor, revision, placed, cx))
            .ok();
    })
}

/// Places the occurrences of an answer at their spans.
fn placed(mut answer: Vec<Highlight>) -> SpanSet<OccurrenceMark> {
    answer.truncate(MAX_OCCURRENCES);
    answer.sort_by_key(|it| (it.span.start, it.span.end));
    answer.dedup_by_key(|it| it.span);
    let marks = answer.into_iter().enumerate();
    let marks = marks.map(|(rank, it)| PlacedMark {
        span: it.span,
        mark: OccurrenceMark {
            rank,
            kind: it.kind,
        },
    });
    let mut occurrences = SpanSet::new();
    occurrences.insert(marks.collect());
    occurrences
}

/// Shows an answer for the text of `revision`, unless the text or the caret changed where it matters.
fn take_answer(
    editor: &mut Editor,
    revision: Revision,
    occurrences: SpanSet<OccurrenceMark>,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    editor.highlights.clear();
    let buffer = editor.model.read(cx).document().buffer();
    let Some(since) = buffer.changes_since(revision) else {
        return;
    };
    editor.highlights.occurrences = occurrences;
    editor.highlights.follow(&since);
    let caret = editor.selections.primary().head;
    if !editor.highlights.touches(Span::at(caret)) {
        editor.highlights.clear();
    }
    cx.notify();
}
