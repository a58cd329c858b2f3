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
        let revision = query.snapshot.revision();
        let requests = OpenFolder::after_update(&self.model, revision, cx, move |servers, path| {
            let requests = servers.iter().filter_map(|server| {
                // A character that triggers another server means nothing to this one.
                let triggers = || server.connection.signature_triggers(path);
                let typed = query.typed.filter(|char| triggers().contains(char));
                let connection = &server.connection;
                connection.signature_help(path, query.offset, typed, query.is_retrigger)
            });
            Some(requests.collect::<Vec<_>>())
        });
        cx.background_spawn(async move {
            let mut answer = SignatureAnswer::Unavailable;
            for request in requests.await.unwrap_or_default() {
                match request.await {
                    // The first server that knows the call counts.
                    Ok(Some(help)) => return SignatureAnswer::Call(help),
                    Ok(None) => answer = SignatureAnswer::NoCall,
                    Err(_) => {}
                }
            }
            answer
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
