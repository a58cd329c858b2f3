//! Inlay hints of the text: the windows in which they are known, and the requests for more.
//!
//! Invariant: a hint is stored once, however many views show it, and its place follows every edit.
//! Invariant: only hints in known windows are stored, so that their number does not grow with the text; an edit costs
//! the same however many there are.
//! Start at `DocumentModel::want_inlay_hints`.

use std::rc::Rc;

use base::{Bias, Revision, Span};
use gpui_kit::{App, Context, EventEmitter, Task};
use lsp::{InlayHint, InlayHintKind};
use text::{Change, PlacedMark, Snapshot, SpanMark, SpanSet, Splice};

use super::DocumentModel;
use super::known_windows::{KnownWindow, KnownWindows};

/// Maximum number of hints that are kept of one answer.
const MAX_HINTS: usize = 4_000;

/// A source of inlay hints, such as a language server.
pub trait InlayHintSource {
    /// Requests the hints in a span of the text; `None` if the source cannot answer now. Dropping
    /// the task cancels the request.
    fn request(
        &self,
        snapshot: &Snapshot,
        span: Span,
        cx: &mut App,
    ) -> Task<Option<Vec<InlayHint>>>;
}

/// The inlay hints of a document changed, or are to be requested again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlayHintsChanged;

impl EventEmitter<InlayHintsChanged> for DocumentModel {}

/// A hint at its present place.
#[derive(Clone, Debug)]
pub(crate) struct PlacedHint {
    /// Number of the hint, unique in its document.
    pub(crate) id: u64,
    /// The hint; its `at` is the present offset.
    pub(crate) hint: InlayHint,
}

/// The inlay hints of a document.
#[derive(Default)]
pub(super) struct InlayHints {
    source: Option<Rc<dyn InlayHintSource>>,
    hints: SpanSet<HintMark>,
    /// Increases with every answer and whenever hints are removed; a move does not count.
    version: u64,
    next_id: u64,
    windows: KnownWindows,
    requests: Vec<HintRequest>,
    /// Whether the source could not answer a request.
    is_unanswered: bool,
}

struct HintRequest {
    number: u64,
    window: KnownWindow,
    _task: Task<()>,
}

#[derive(Clone, Debug)]
struct HintMark {
    id: u64,
    hint: Rc<InlayHint>,
}

impl SpanMark for HintMark {
    type Rank = u64;
    const STAYS_EMPTY: bool = true;

    fn rank(&self) -> u64 {
        self.id
    }

    fn biases(&self) -> (Bias, Bias) {
        let bias = hint_bias(&self.hint);
        (bias, bias)
    }
}

/// Returns the side of typed text on which a hint stays: the name of a parameter precedes its
/// argument, other hints follow a name.
pub(crate) fn hint_bias(hint: &InlayHint) -> Bias {
    match hint.kind {
        Some(InlayHintKind::Parameter) => Bias::Left,
        Some(InlayHintKind::Type) | None => Bias::Right,
    }
}

impl InlayHints {
    /// Moves the hints with a change, and removes those in deleted text or at a broken row.
    pub(super) fn follow(&mut self, change: &Change, after: &Snapshot) {
        if follow_hints(&mut self.hints, change, after) {
            self.version += 1;
        }
        self.windows.follow(change);
        for request in &mut self.requests {
            request.window.follow(change);
        }
    }

    /// Returns whether the hints in a span are known or requested.
    fn is_answered(&self, span: Span) -> bool {
        let mut requests = self.requests.iter();
        self.windows.knows(span) || requests.any(|request| request.window.knows(span))
    }

    /// Replaces the hints in a span. Equal hints at the same offset keep their numbers.
    fn replace(&mut self, span: Span, hints: Vec<PlacedMark<HintMark>>) {
        let mut before = self.hints.touching(span);
        let mut added = Vec::new();
        for group in hints.chunk_by(|a, b| a.span == b.span) {
            let at = group[0].span;
            let known = before.iter().filter(|placed| placed.span == at);
            let known = known.map(|placed| &placed.mark.hint);
            if known.eq(group.iter().map(|placed| &placed.mark.hint)) {
                before.retain(|placed| placed.span != at);
            } else {
                added.extend_from_slice(group);
            }
        }
        for placed in &mut added {
            self.next_id += 1;
            placed.mark.id = self.next_id;
        }
        self.hints.remove(&before);
        self.hints.insert(added);
        self.version += 1;
    }

    /// Notes that the hints of a window are known, and removes those of a window that is forgotten.
    fn add_window(&mut self, window: KnownWindow) {
        let Some(oldest) = self.windows.add(window) else {
            return;
        };
        let mut gone = self.hints.touching(oldest);
        gone.retain(|placed| !self.windows.covers(placed.span));
        if !gone.is_empty() {
            self.hints.remove(&gone);
            self.version += 1;
        }
    }
}

/// Moves hints with a change. Returns whether some were removed.
fn follow_hints(hints: &mut SpanSet<HintMark>, change: &Change, after: &Snapshot) -> bool {
    if hints.is_empty() {
        return false;
    }
    let mut gone: Vec<PlacedMark<HintMark>> = Vec::new();
    for splice in &change.splices {
        let breaks_row = breaks_row(splice, after);
        let touched = hints.touching(splice.old).into_iter();
        gone.extend(touched.filter(|placed| {
            let at = placed.span.start;
            breaks_row || splice.old.start < at && at < splice.old.end
        }));
    }
    hints.remove(&gone);
    hints.map(change);
    !gone.is_empty()
}

/// Returns whether the new text of a splice contains a line break. A hint beside it would move to
/// another row.
fn breaks_row(splice: &Splice, after: &Snapshot) -> bool {
    !splice.new.is_empty()
        && after.point_at(splice.new.start).row != after.point_at(splice.new.end).row
}

impl DocumentModel {
    /// Sets the source of inlay hints; `None` removes it.
    pub fn set_inlay_hint_source(&mut self, source: Option<Rc<dyn InlayHintSource>>) {
        self.inlay_hints.source = source;
    }

    /// Removes all hints, and requests those again that views show: their source is another one.
    pub fn forget_inlay_hints(&mut self, cx: &mut Context<Self>) {
        let hints = &mut self.inlay_hints;
        hints.hints = SpanSet::new();
        hints.version += 1;
        hints.windows.clear();
        hints.requests.clear();
        self.refresh_inlay_hints(cx);
    }

    /// Requests the hints in a span of the present text, unless they are known or requested.
    pub(crate) fn want_inlay_hints(&mut self, span: Span, cx: &mut Context<Self>) {
        let Some(source) = self.inlay_hints.source.clone() else {
            return;
        };
        if self.inlay_hints.is_answered(span) {
            return;
        }
        let snapshot = self.snapshot();
        let revision = snapshot.revision();
        let hints = &mut self.inlay_hints;
        hints.next_id += 1;
        let number = hints.next_id;
        // The new request replaces those about an older text.
        let is_replaced = |it: &KnownWindow| it.is_stale && it.span.overlaps(span);
        hints.requests.retain(|it| !is_replaced(&it.window));
        let answer = source.request(&snapshot, span, cx);
        let task = cx.spawn(async move |this, cx| {
            let answer = answer.await;
            // The document may have been closed.
            this.update(cx, |model, cx| {
                model.take_inlay_hints(number, revision, answer, cx)
            })
            .ok();
        });
        self.inlay_hints.requests.push(HintRequest {
            number,
            window: KnownWindow::new(span),
            _task: task,
        });
    }

    /// Stores the answer for the text of `revision`, carried over the edits since.
    fn take_inlay_hints(
        &mut self,
        number: u64,
        revision: Revision,
        answer: Option<Vec<InlayHint>>,
        cx: &mut Context<Self>,
    ) {
        let requests = &mut self.inlay_hints.requests;
        let Some(ix) = requests.iter().position(|it| it.number == number) else {
            return;
        };
        let window = requests.swap_remove(ix).window;
        let Some(answer) = answer else {
            self.inlay_hints.is_unanswered = true;
            return;
        };
        // If the edits are unknown, the next rest asks again.
        let Some(since) = self.document.buffer().changes_since(revision) else {
            return;
        };
        let mut placed = SpanSet::new();
        placed.insert(marks(answer));
        follow_hints(&mut placed, &since, &self.snapshot());
        let mut placed = placed.all();
        placed.retain(|placed| window.span.covers(placed.span));
        self.inlay_hints.replace(window.span, placed);
        self.inlay_hints.add_window(window);
        cx.emit(InlayHintsChanged);
    }

    /// Requests the hints again that views show: the source has others for the same text.
    pub fn refresh_inlay_hints(&mut self, cx: &mut Context<Self>) {
        let hints = &mut self.inlay_hints;
        hints.windows.mark_stale();
        for request in &mut hints.requests {
            request.window.is_stale = true;
        }
        hints.is_unanswered = false;
        cx.emit(InlayHintsChanged);
    }

    /// Requests the hints again for which the source had no answer.
    pub fn retry_inlay_hints(&mut self, cx: &mut Context<Self>) {
        if std::mem::take(&mut self.inlay_hints.is_unanswered) {
            cx.emit(InlayHintsChanged);
        }
    }

    /// Returns the hints in a span, sorted by their places.
    pub(crate) fn inlay_hints_in(&self, span: Span) -> Vec<PlacedHint> {
        let placed = self.inlay_hints.hints.touching(span).into_iter();
        placed
            .map(|placed| PlacedHint {
                id: placed.mark.id,
                hint: InlayHint {
                    at: placed.span.start,
                    ..(*placed.mark.hint).clone()
                },
            })
            .collect()
    }

    /// Returns a number that changes with every answer and whenever hints are removed.
    pub(crate) fn inlay_hint_version(&self) -> u64 {
        self.inlay_hints.version
    }
}

/// Places the hints of an answer, sorted by their offsets; they get numbers when they are stored.
fn marks(answer: Vec<InlayHint>) -> Vec<PlacedMark<HintMark>> {
    let hints = answer.into_iter().take(MAX_HINTS).zip(0..);
    let marks = hints.map(|(mut hint, id)| {
        let span = Span::at(hint.at);
        // Stored hints are compared without their places.
        hint.at = Default::default();
        let hint = Rc::new(hint);
        PlacedMark {
            span,
            mark: HintMark { id, hint },
        }
    });
    marks.collect()
}
