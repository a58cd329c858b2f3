//! Annotations of a text by sources such as language servers: semantic tokens, links, colours, code lenses and folds.
//!
//! Invariant: a document stores an annotation once for all of its views, and its span follows every edit. The cost of
//! an edit does not depend on the number of annotations.
//! Invariant: at most one request of a kind is under way. An answer is carried over the edits since its text, or
//! dropped if these are unknown.
//! Start at `DocumentModel::want_annotations`; `kinds` lists the kinds, and `store` has the state of one.

mod kinds;
mod set;
mod store;

use base::{Revision, Span};
use gpui_kit::{App, AppContext as _, Context, EventEmitter, Task};
use syntax::HighlightKind;
use text::Snapshot;

pub use self::kinds::{AnnotationKind, AnnotationSources};
pub use self::set::AnnotationSet;

pub(crate) use self::kinds::AnnotationValue;
pub(super) use self::kinds::DocumentAnnotations;

use self::store::ComparedAnswer;
use super::DocumentModel;

/// A source of annotations of one kind, such as a language server.
pub trait AnnotationSource<T: Clone> {
    /// Requests annotations; `None` if the source cannot answer now. Dropping the task cancels the request.
    fn request(
        &self,
        snapshot: &Snapshot,
        query: AnnotationQuery,
        cx: &mut App,
    ) -> Task<Option<AnnotationAnswer<T>>>;
}

/// The annotations that a view wants.
#[derive(Clone, Copy, Debug)]
pub struct AnnotationQuery {
    /// The part of the text that the view shows, with some rows around it.
    pub window: Span,
    /// Whether the view prefers an early answer about the window; it asks for the whole text afterwards.
    pub prefers_window: bool,
}

/// Annotations of a text or of a part of it.
#[derive(Clone)]
pub struct AnnotationAnswer<T: Clone> {
    /// The revision of the text to which the spans refer.
    pub revision: Revision,
    /// The annotations.
    pub set: AnnotationSet<T>,
    /// The part of the text that the answer covers.
    pub extent: AnnotationExtent,
}

/// The part of a text that an answer covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationExtent {
    /// The whole text.
    Whole,
    /// The window of the query; the whole text can be asked for.
    WindowFirst,
    /// The window of the query; the source answers only about windows.
    WindowOnly,
}

/// The annotations of a kind changed, or views may request them again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnnotationsChanged {
    pub(crate) kind: AnnotationKind,
    /// Whether there are other annotations than before. If not, views have nothing to draw again.
    pub(crate) has_new_set: bool,
}

impl EventEmitter<AnnotationsChanged> for DocumentModel {}

impl DocumentModel {
    /// Sets the sources of annotations.
    pub fn set_annotation_sources(&mut self, sources: AnnotationSources) {
        self.annotations.set_sources(sources);
    }

    fn forget<T: AnnotationValue>(&mut self, cx: &mut Context<Self>) {
        let removed = T::of_mut(&mut self.annotations).clear();
        free(removed, cx);
        cx.emit(AnnotationsChanged {
            kind: T::KIND,
            has_new_set: true,
        });
    }

    fn refresh<T: AnnotationValue>(&mut self, cx: &mut Context<Self>) {
        T::of_mut(&mut self.annotations).mark_stale();
        cx.emit(AnnotationsChanged {
            kind: T::KIND,
            has_new_set: false,
        });
    }

    fn retry<T: AnnotationValue>(&mut self, cx: &mut Context<Self>) {
        if T::of_mut(&mut self.annotations).take_unanswered() {
            cx.emit(AnnotationsChanged {
                kind: T::KIND,
                has_new_set: false,
            });
        }
    }

    /// Requests the annotations of the present text in a window, unless they are known, the source had no answer, or a
    /// request is under way, after whose answer the views ask again.
    pub(crate) fn want_annotations<T: AnnotationValue>(
        &mut self,
        window: Span,
        cx: &mut Context<Self>,
    ) {
        let snapshot = self.snapshot();
        let annotations = T::of(&self.annotations);
        let Some(source) = annotations.source_to_ask(window) else {
            return;
        };
        let query = AnnotationQuery {
            window,
            prefers_window: annotations.prefers_window(),
        };
        let asked = snapshot.revision();
        let answer = source.request(&snapshot, query, cx);
        let request = cx.spawn(async move |this, cx| {
            let mut compared = None;
            if let Some(answer) = answer.await {
                let known = this.read_with(cx, |model, _| {
                    let set = T::of(&model.annotations).set().clone();
                    (model.snapshot(), set)
                });
                let Ok((text, known)) = known else {
                    // The document was closed.
                    return;
                };
                let comparing = cx.background_spawn(async move {
                    ComparedAnswer::new(answer, query.window, &text, &known)
                });
                compared = Some(comparing.await);
            }
            // The document may have been closed.
            this.update(cx, |model, cx| {
                model.take_annotations::<T>(query, asked, compared, cx)
            })
            .ok();
        });
        T::of_mut(&mut self.annotations).set_request(request);
    }

    fn take_annotations<T: AnnotationValue>(
        &mut self,
        query: AnnotationQuery,
        asked: Revision,
        answer: Option<ComparedAnswer<T>>,
        cx: &mut Context<Self>,
    ) {
        let buffer = self.document.buffer();
        let is_outdated = buffer.revision() != asked;
        let annotations = T::of_mut(&mut self.annotations);
        annotations.end_request(answer.is_some() || is_outdated);
        let stored = answer.and_then(|answer| annotations.store(answer, query.window, buffer));
        // After an edit the views ask again, even if the source had no answer about the text before.
        if stored.is_some() || is_outdated {
            cx.emit(AnnotationsChanged {
                kind: T::KIND,
                has_new_set: stored.as_ref().is_some_and(|stored| stored.has_new_set),
            });
        }
        if let Some(stored) = stored {
            free(stored.unused, cx);
        }
    }

    /// Returns the annotations of a kind that touch a span, sorted by their starts.
    pub(crate) fn annotations_in<T: AnnotationValue>(&self, span: Span) -> Vec<(Span, T)> {
        T::of(&self.annotations).set().touching(span)
    }

    /// Returns whether there are annotations of a kind.
    pub(crate) fn has_annotations<T: AnnotationValue>(&self) -> bool {
        !T::of(&self.annotations).set().is_empty()
    }

    /// Returns the semantic tokens; `None` if there are none.
    pub(crate) fn semantic_tokens(&self) -> Option<AnnotationSet<HighlightKind>> {
        let set = HighlightKind::of(&self.annotations).set();
        (!set.is_empty()).then(|| set.clone())
    }

    /// Returns a number that increases whenever an answer changes the annotations, and when they are removed.
    pub(crate) fn annotation_version<T: AnnotationValue>(&self) -> u64 {
        T::of(&self.annotations).version()
    }
}

/// Drops a set; a large one on a background thread, because freeing it takes time.
fn free<T: AnnotationValue>(set: AnnotationSet<T>, cx: &App) {
    if set.may_be_large() {
        cx.background_spawn(async move { drop(set) }).detach();
    }
}
