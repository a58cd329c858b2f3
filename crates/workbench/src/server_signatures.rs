//! Signature help of language servers for the call around the caret.

use base::AbsPath;
use editor::{DocumentModel, SignatureAnswer, SignatureQuery, SignatureSource};
use gpui_kit::{App, AppContext as _, Task, WeakEntity};
use language::DocumentServer;

use crate::folder::OpenFolder;

/// Asks the language servers of a text.
pub(crate) struct ServerSignatures {
    model: WeakEntity<DocumentModel>,
}

impl ServerSignatures {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl SignatureSource for ServerSignatures {
    fn triggers(&self, cx: &App) -> Vec<char> {
        let Some((path, servers)) = connected(&self.model, cx) else {
            return Vec::new();
        };
        let servers = servers.iter();
        servers
            .flat_map(|server| server.connection.signature_triggers(&path))
            .collect()
    }

    fn request(&self, query: SignatureQuery, cx: &mut App) -> Task<SignatureAnswer> {
        let model = self.model.clone();
        // The servers receive the edit that led here when the present update ends.
        cx.spawn(async move |cx| {
            let request = cx.update(|cx| request(&model, &query, cx));
            match request {
                Some(request) => request.await,
                None => SignatureAnswer::Unavailable,
            }
        })
    }
}

/// Returns the connected servers of a text, and the path under which they know it.
fn connected(
    model: &WeakEntity<DocumentModel>,
    cx: &App,
) -> Option<(AbsPath, Vec<DocumentServer>)> {
    let (servers, path) = OpenFolder::servers_of(&model.upgrade()?, cx)?;
    let connected = servers.read(cx).servers_of(&path);
    Some((path, connected))
}

/// Asks the servers of a text; `None` if the text is not that of the query any more. Dropping the task
/// cancels the requests.
fn request(
    model: &WeakEntity<DocumentModel>,
    query: &SignatureQuery,
    cx: &App,
) -> Option<Task<SignatureAnswer>> {
    let text = model.upgrade()?.read(cx).snapshot();
    if text.revision() != query.snapshot.revision() {
        return None;
    }
    let (path, servers) = connected(model, cx)?;
    let requests = servers.into_iter().filter_map(|server| {
        // A character that triggers another server means nothing to this one.
        let triggers = || server.connection.signature_triggers(&path);
        let typed = query.typed.filter(|char| triggers().contains(char));
        server
            .connection
            .signature_help(&path, query.offset, typed, query.is_retrigger)
    });
    let requests: Vec<_> = requests.collect();
    Some(cx.background_spawn(async move {
        let mut answer = SignatureAnswer::Unavailable;
        for request in requests {
            match request.await {
                // The first server that knows the call counts.
                Ok(Some(help)) => return SignatureAnswer::Call(help),
                Ok(None) => answer = SignatureAnswer::NoCall,
                Err(_) => {}
            }
        }
        answer
    }))
}
