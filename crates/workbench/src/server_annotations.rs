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
        let (model, revision) = (self.model.clone(), snapshot.revision());
        let (ask, annotation) = (self.ask, self.annotation);
        // The servers receive the edit that led here when the present update ends.
        cx.spawn(async move |cx| {
            let requests = cx.update(|cx| {
                let model = model.upgrade()?;
                let is_current = model.read(cx).snapshot().revision() == revision;
                let (servers, path) = OpenFolder::servers_of(&model, cx).filter(|_| is_current)?;
                let servers = servers.read(cx).servers_of(&path).into_iter();
                let requests = servers.filter_map(|server| ask(&server.connection, &path));
                Some(requests.collect::<Vec<_>>()).filter(|requests| !requests.is_empty())
            })?;
            let answers = cx.background_spawn(async move {
                let answers = join_all(requests).await.into_iter();
                let answers: Vec<Vec<A>> = answers.filter_map(Result::ok).collect();
                let items = answers.into_iter();
                (items.len() > 0).then(|| AnnotationSet::new(items.flatten().map(annotation)))
            });
            answers.await.map(|set| AnnotationAnswer {
                revision,
                set,
                extent: AnnotationExtent::Whole,
            })
        })
    }
}
