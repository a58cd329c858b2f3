//! A request that shows whether a server has finished its work.

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use gen_lsp_types::{DefinitionParams, DefinitionRequest, Position, TextDocumentPositionParams};

use crate::capabilities::DEFINITION;
use crate::connection::{Connection, PendingRequest};
use crate::session::{ServerSession, identifier};

/// A request whose answer is not used. A server that works on one thing at a time answers it after the
/// work that it began before. Dropping it cancels the request.
pub struct ProbeRequest {
    pending: PendingRequest,
}

impl ProbeRequest {
    /// Asks for the definition at the start of a document; `None` if the document is not open or the
    /// server does not offer it.
    pub(crate) fn send(connection: &Arc<Connection>, path: &AbsPath) -> Option<Self> {
        let pending = connection.with(|session| {
            let params = session.probe(path)?;
            Some(connection.queue_request::<DefinitionRequest>(session, &params))
        })?;
        Some(Self { pending })
    }

    /// Waits for the answer, which may be an error, or for the end of the connection. Returns whether
    /// either came in time.
    pub fn wait(self, timeout: Duration) -> bool {
        self.pending.wait_raw(timeout).is_some()
    }
}

impl ServerSession {
    fn probe(&self, path: &AbsPath) -> Option<DefinitionParams> {
        self.offers(DEFINITION, path).then(|| DefinitionParams {
            text_document_position_params: TextDocumentPositionParams {
                text_document: identifier(path),
                position: Position::default(),
            },
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
        })
    }
}
