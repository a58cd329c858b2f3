//! A scripted source of annotations.

use std::cell::RefCell;

use base::{Revision, Span};
use gpui_kit::{App, Task};
use text::Snapshot;

use crate::model::{
    AnnotationAnswer, AnnotationExtent, AnnotationQuery, AnnotationSet, AnnotationSource,
};

/// A source whose requests wait until the test answers them.
pub(super) struct ScriptedAnnotations<T: Clone>(RefCell<Vec<ScriptedRequest<T>>>);

struct ScriptedRequest<T: Clone> {
    query: AnnotationQuery,
    revision: Revision,
    sender: async_channel::Sender<Option<AnnotationAnswer<T>>>,
}

impl<T: Clone> Default for ScriptedAnnotations<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Clone + 'static> AnnotationSource<T> for ScriptedAnnotations<T> {
    fn request(
        &self,
        snapshot: &Snapshot,
        query: AnnotationQuery,
        cx: &mut App,
    ) -> Task<Option<AnnotationAnswer<T>>> {
        let (sender, receiver) = async_channel::bounded(1);
        self.0.borrow_mut().push(ScriptedRequest {
            query,
            revision: snapshot.revision(),
            sender,
        });
        cx.spawn(async move |_| receiver.recv().await.ok().flatten())
    }
}

impl<T: Clone> ScriptedAnnotations<T> {
    /// Returns the number of requests that wait.
    pub(super) fn waiting(&self) -> usize {
        self.0.borrow().len()
    }

    /// Answers the latest request and returns its query.
    pub(super) fn answer(
        &self,
        annotations: impl IntoIterator<Item = (Span, T)>,
        extent: AnnotationExtent,
    ) -> AnnotationQuery {
        let request = self.0.borrow_mut().pop().expect("a request");
        let answer = AnnotationAnswer {
            revision: request.revision,
            set: AnnotationSet::new(annotations),
            extent,
        };
        let sent = request.sender.try_send(Some(answer));
        assert!(sent.is_ok(), "the request is not cancelled");
        request.query
    }

    /// Answers the latest request as a server that is not ready.
    pub(super) fn refuse(&self) {
        let request = self.0.borrow_mut().pop().expect("a request");
        assert!(
            request.sender.try_send(None).is_ok(),
            "the request is not cancelled"
        );
    }
}
