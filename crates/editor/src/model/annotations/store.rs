//! The annotations of one kind in a document, with the windows in which they are known and the request for more.

use std::rc::Rc;

use base::Span;
use gpui_kit::Task;
use text::{Buffer, Change, Snapshot};

use super::kinds::AnnotationValue;
use super::{AnnotationAnswer, AnnotationExtent, AnnotationSet, AnnotationSource};
use crate::model::known_windows::{KnownWindow, KnownWindows, map_window};

/// The annotations of one kind.
pub(crate) struct Annotations<T: Clone> {
    source: Option<Rc<dyn AnnotationSource<T>>>,
    set: AnnotationSet<T>,
    version: u64,
    /// The part of the text that the last answer covered; `None` before the first answer.
    extent: Option<AnnotationExtent>,
    windows: KnownWindows,
    request: Option<Task<()>>,
    /// Whether the source could not answer the last request about the present text.
    is_unanswered: bool,
}

/// An answer that was compared with the annotations of a text.
pub(super) struct ComparedAnswer<T: Clone> {
    answer: AnnotationAnswer<T>,
    /// Whether the text of its revision has the same annotations already.
    is_known: bool,
}

/// The result of storing an answer.
pub(super) struct StoredAnswer<T: Clone> {
    /// Whether there are other annotations than before.
    pub(super) has_new_set: bool,
    /// A set that is no longer in use.
    pub(super) unused: AnnotationSet<T>,
}

impl<T: Clone> Default for Annotations<T> {
    fn default() -> Self {
        Self {
            source: None,
            set: AnnotationSet::default(),
            version: 0,
            extent: None,
            windows: KnownWindows::default(),
            request: None,
            is_unanswered: false,
        }
    }
}

impl<T: AnnotationValue> ComparedAnswer<T> {
    /// Compares an answer with the known annotations of `text`. Takes time proportional to their number.
    pub(super) fn new(
        answer: AnnotationAnswer<T>,
        window: Span,
        text: &Snapshot,
        known: &AnnotationSet<T>,
    ) -> Self {
        let span = match answer.extent {
            AnnotationExtent::Whole => text.full_span(),
            AnnotationExtent::WindowFirst | AnnotationExtent::WindowOnly => window,
        };
        let is_known = answer.revision == text.revision() && known.is_equal_in(span, &answer.set);
        Self { answer, is_known }
    }
}

impl<T: AnnotationValue> Annotations<T> {
    pub(super) fn set_source(&mut self, source: Option<Rc<dyn AnnotationSource<T>>>) {
        self.source = source;
    }

    pub(super) fn set(&self) -> &AnnotationSet<T> {
        &self.set
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Moves the annotations with a change.
    pub(super) fn follow(&mut self, change: &Change, after: &Snapshot) {
        self.set.follow(change, after, T::EDGES);
        self.windows.follow(change);
        self.is_unanswered = false;
    }

    /// Returns the source if it has to be asked about a window.
    pub(super) fn source_to_ask(&self, window: Span) -> Option<Rc<dyn AnnotationSource<T>>> {
        let is_waiting = self.request.is_some() || self.is_unanswered;
        let source = self.source.clone();
        source.filter(|_| !is_waiting && !self.windows.knows(window))
    }

    /// Returns whether an answer about a window is preferred to one about the whole text.
    pub(super) fn prefers_window(&self) -> bool {
        matches!(self.extent, None | Some(AnnotationExtent::WindowOnly))
    }

    pub(super) fn set_request(&mut self, request: Task<()>) {
        self.request = Some(request);
    }

    /// Ends the request. Unless it `may_repeat`, none follows until an edit, a retry or a refresh.
    pub(super) fn end_request(&mut self, may_repeat: bool) {
        self.request = None;
        self.is_unanswered = !may_repeat;
    }

    /// Stores an answer about a window or the whole text. `None` if the edits since its text are unknown.
    pub(super) fn store(
        &mut self,
        compared: ComparedAnswer<T>,
        window: Span,
        buffer: &Buffer,
    ) -> Option<StoredAnswer<T>> {
        let ComparedAnswer { answer, is_known } = compared;
        let since = buffer.changes_since(answer.revision)?;
        let is_stale = answer.revision != buffer.revision();
        let (mut set, text) = (answer.set, buffer.snapshot());
        let window = map_window(&since, window);
        set.follow(&since, &text, T::EDGES);
        // Equal annotations are stored, too: the present set may also contain those whose text was deleted.
        match answer.extent {
            AnnotationExtent::Whole => std::mem::swap(&mut self.set, &mut set),
            AnnotationExtent::WindowFirst | AnnotationExtent::WindowOnly => {
                self.set.replace(window, &set);
            }
        }
        let has_new_set = is_stale || !is_known;
        self.version += u64::from(has_new_set);
        self.extent = Some(answer.extent);
        let span = match answer.extent {
            AnnotationExtent::Whole => Some(text.full_span()),
            AnnotationExtent::WindowOnly => Some(window),
            // The whole text follows.
            AnnotationExtent::WindowFirst => None,
        };
        if let Some(span) = span {
            // The annotations of a forgotten window stay until there are others.
            self.windows.add(KnownWindow { span, is_stale });
        }
        Some(StoredAnswer {
            has_new_set,
            unused: set,
        })
    }

    /// Notes that the source has other annotations for the same text.
    pub(super) fn mark_stale(&mut self) {
        self.windows.mark_stale();
        // An answer under way may be about the state before.
        self.request = None;
        self.is_unanswered = false;
    }

    /// Returns whether the source had no answer, and permits another request.
    pub(super) fn take_unanswered(&mut self) -> bool {
        std::mem::take(&mut self.is_unanswered)
    }

    /// Forgets everything but the source, and returns the removed annotations.
    pub(super) fn clear(&mut self) -> AnnotationSet<T> {
        self.version += 1;
        self.extent = None;
        self.windows.clear();
        self.request = None;
        self.is_unanswered = false;
        std::mem::take(&mut self.set)
    }
}
