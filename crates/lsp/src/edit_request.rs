//! An edit of files that a server asks for.

use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use serde_json::{Value, json};

use crate::message::{self, RawId};
use crate::outbound::Outbound;
use crate::workspace_edit::WorkspaceEdit;

/// An edit of files that a server asks for with `workspace/applyEdit`. Dropping it refuses the edit.
pub struct EditRequest {
    edit: WorkspaceEdit,
    /// The files that the edit changes, without duplicates.
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
    pub(crate) fn new(id: RawId, edit: WorkspaceEdit, outbound: Arc<Outbound>) -> Self {
        Self {
            paths: edit.paths(),
            edit,
            reply: Some(EditReply { id, outbound }),
        }
    }

    /// Returns the name of the edit, as the server wrote it.
    pub fn label(&self) -> Option<&str> {
        self.edit.label.as_deref()
    }

    /// Returns the edit, to be applied as a whole or not at all.
    pub fn edit(&self) -> &WorkspaceEdit {
        &self.edit
    }

    /// Returns the files that the edit changes, without duplicates.
    pub fn paths(&self) -> &[AbsPath] {
        &self.paths
    }

    /// Tells the server that the whole edit was applied.
    pub fn accept(mut self) {
        self.answer(json!({ "applied": true }));
    }

    /// Refuses the edit and gives the server the reason.
    pub fn refuse(mut self, reason: &str) {
        self.answer(json!({ "applied": false, "failureReason": reason }));
    }

    fn answer(&mut self, result: Value) {
        if let Some(EditReply { id, outbound }) = self.reply.take() {
            outbound.send(message::response(&id, &Ok(result)));
        }
    }
}

impl Drop for EditRequest {
    fn drop(&mut self) {
        let reason = "the edit was not applied";
        self.answer(json!({ "applied": false, "failureReason": reason }));
    }
}

impl fmt::Debug for EditRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditRequest")
            .field("label", &self.edit.label)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}
