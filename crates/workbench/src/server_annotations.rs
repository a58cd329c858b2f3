//! Links, colours and folds of language servers, as annotations of a text.

use std::sync::Arc;

use base::{AbsPath, Span};
use editor::{
    AnnotationAnswer, AnnotationExtent, AnnotationQuery, AnnotationSet, AnnotationSource,
    DocumentModel,
};
use futures::future::join_all;
use gpui_kit::{App, AppContext as _, Task, WeakEntity};
use lsp::{
    ColorValue, DocumentColor, DocumentLink, FoldingKind, FoldingRange, LanguageServer, Request,
};
use text::Snapshot;

use crate::folder::OpenFolder;

/// Asks all language servers of a text for a list about the whole text.
pub(crate) struct ServerAnnotations<A, T> {
    model: WeakEntity<DocumentModel>,
    ask: fn(&LanguageServer, &AbsPath) -> Option<Request<Vec<A>>>,
    annotation: fn(A) -> (Span, T),
}

impl ServerAnnotations<DocumentLink, Arc<DocumentLink>> {
    /// Creates the source of links for a text, whichever servers it has when it is asked.
    pub(crate) fn links(model: WeakEntity<DocumentModel>) -> Self {
        Self {
            model,
            ask: LanguageServer::document_links,
            annotation: |link| (link.span, Arc::new(link)),
        }
    }
}

impl ServerAnnotations<DocumentColor, ColorValue> {
    /// Creates the source of colours for a text, whichever servers it has when it is asked.
    pub(crate) fn colors(model: WeakEntity<DocumentModel>) -> Self {
        Self {
            model,
            ask: LanguageServer::document_colors,
            annotation: |color| (color.span, color.color),
        }
    }
}

impl ServerAnnotations<FoldingRange, Option<FoldingKind>> {
    /// Creates the source of folds for a text, whichever servers it has when it is asked.
    pub(crate) fn folds(model: WeakEntity<DocumentModel>) -> Self {
        Self {
            model,
            ask: LanguageServer::folding_ranges,
            annotation: |fold| (fold.span, fold.kind),
        }
    }
}

impl<A: Send + 'static, T: Clone + Send + Sync + 'static> AnnotationSource<T>
    for ServerAnnotations<A, T>
{
    fn request(
        &self,
        snapshot: &Snapshot,
        _: AnnotationQuery,
        cx: &mut App,
    ) -> Task<Option<AnnotationAnswer<T>>> {
        let revision = snapshot.revision();
        let (ask, annotation) = (self.ask, self.annotation);
        let requests = OpenFolder::after_update(&self.model, revision, cx, move |servers, path| {
            let requests = servers
                .iter()
                .filter_map(|server| ask(&server.connection, path));
            Some(requests.collect::<Vec<_>>())
        });
        cx.background_spawn(async move {
            let answers = join_all(requests.await?).await.into_iter();
            let answers: Vec<Vec<A>> = answers.filter_map(Result::ok).collect();
            let has_answer = !answers.is_empty();
            let items = answers.into_iter().flatten();
            has_answer.then(|| AnnotationAnswer {
                revision,
                set: AnnotationSet::new(items.map(annotation)),
                extent: AnnotationExtent::Whole,
            })
        })
    }
}
