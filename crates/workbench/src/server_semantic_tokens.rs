//! Semantic tokens of language servers.
//!
//! Invariant: tokens are decoded and mapped to kinds in the background.
//! Start at `ServerSemanticTokens`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use base::AbsPath;
use editor::{
    AnnotationAnswer, AnnotationExtent, AnnotationQuery, AnnotationSet, AnnotationSource,
    DocumentModel,
};
use gpui_kit::{App, AppContext as _, Task, WeakEntity};
use language::DocumentServer;
use lsp::{Request, SemanticTokens};
use syntax::HighlightKind;
use text::Snapshot;

use crate::folder::OpenFolder;

/// Asks the first language server of a text that offers tokens.
pub(crate) struct ServerSemanticTokens {
    model: WeakEntity<DocumentModel>,
    /// The last answer about the whole text, from which the server sends the difference.
    previous: Rc<RefCell<Option<Arc<SemanticTokens>>>>,
}

/// A request and the part of the text that its answer covers.
struct SentRequest {
    request: Request<SemanticTokens>,
    extent: AnnotationExtent,
}

impl ServerSemanticTokens {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self {
            model,
            previous: Rc::default(),
        }
    }
}

impl AnnotationSource<HighlightKind> for ServerSemanticTokens {
    fn request(
        &self,
        snapshot: &Snapshot,
        query: AnnotationQuery,
        cx: &mut App,
    ) -> Task<Option<AnnotationAnswer<HighlightKind>>> {
        let previous = self.previous.clone();
        let basis = previous.clone();
        let revision = snapshot.revision();
        let sent = OpenFolder::after_update(&self.model, revision, cx, move |servers, path| {
            send(servers, path, query, basis.take().as_deref())
        });
        cx.spawn(async move |cx| {
            let SentRequest { request, extent } = sent.await?;
            let answer = cx.background_spawn(async move {
                let tokens = request.await.ok()?;
                let set = AnnotationSet::new(kinds(&tokens));
                Some((Arc::new(tokens), set))
            });
            // After an error the next request is about the whole text again.
            let (tokens, set) = answer.await?;
            let revision = tokens.revision;
            if extent == AnnotationExtent::Whole {
                previous.replace(Some(tokens));
            }
            Some(AnnotationAnswer {
                revision,
                set,
                extent,
            })
        })
    }
}

/// Asks the first server of a text that offers tokens; `None` if there is none.
fn send(
    servers: &[DocumentServer],
    path: &AbsPath,
    query: AnnotationQuery,
    previous: Option<&SemanticTokens>,
) -> Option<SentRequest> {
    servers.iter().find_map(|server| {
        let connection = &server.connection;
        let support = connection.token_support(path)?;
        let extent = match (support.whole, support.range) {
            (true, true) if query.prefers_window => AnnotationExtent::WindowFirst,
            (true, _) => AnnotationExtent::Whole,
            (false, _) => AnnotationExtent::WindowOnly,
        };
        let request = if extent == AnnotationExtent::Whole {
            connection.semantic_tokens(path, previous)
        } else {
            connection.semantic_tokens_in(path, query.window)
        };
        request.map(|request| SentRequest { request, extent })
    })
}

/// Returns the places and the kinds of tokens, without those of unknown types.
fn kinds(tokens: &SemanticTokens) -> Vec<(base::Span, HighlightKind)> {
    let mut known: HashMap<(u32, u32), Option<HighlightKind>> = HashMap::new();
    let tokens_of_kinds = tokens.tokens.iter().filter_map(|token| {
        let key = (token.token_type, token.modifiers);
        let kind = known.entry(key).or_insert_with(|| {
            let modifiers: Vec<&str> = tokens.legend.modifier_names(token).collect();
            HighlightKind::of_token(tokens.legend.type_name(token)?, &modifiers)
        });
        Some((token.span, (*kind)?))
    });
    tokens_of_kinds.collect()
}
