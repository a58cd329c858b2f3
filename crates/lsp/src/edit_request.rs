//! An edit of files that a server asks for.

use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use serde_json::json;

use crate::message::{self, RawId};
use crate::outbound::Outbound;

/// An edit of files that a server asks for with `workspace/applyEdit`. Dropping it refuses the edit.
pub struct EditRequest {
    label: Option<String>,
    paths: Vec<AbsPath>,
    reply: Option<EditReply>,
}

/// The address to which the answer goes.
struct EditReply {
    id: RawId,
    outbound: Arc<Outbound>,
}

impl EditRequest {
    /// Creates a request that is answered through `outbound`.
    pub(crate) fn new(
        id: RawId,
        label: Option<String>,
        paths: Vec<AbsPath>,
        outbound: Arc<Outbound>,
    ) -> Self {
        Self {
            label,
            paths,
            reply: Some(EditReply { id, outbound }),
        }
    }

    /// Returns the name of the edit, as the server wrote it.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Returns the files that the edit changes, without duplicates.
    pub fn paths(&self) -> &[AbsPath] {
        &self.paths
    }

    /// Refuses the edit and gives the server the reason.
    pub fn refuse(mut self, reason: &str) {
        self.answer(reason);
    }

    fn answer(&mut self, reason: &str) {
        if let Some(EditReply { id, outbound }) = self.reply.take() {
            let result = json!({ "applied": false, "failureReason": reason });
            outbound.send(message::response(&id, &Ok(result)));
        }
    }
}

impl Drop for EditRequest {
    fn drop(&mut self) {
        self.answer("the client does not apply edits of servers");
    }
}

impl fmt::Debug for EditRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditRequest")
            .field("label", &self.label)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}
