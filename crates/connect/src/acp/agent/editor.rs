//! The editor as a client that the engine can call.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol as acp;
use agent_client_protocol::Client;
use agent_client_protocol::v1::{ConnectionTo, schema as v1};

use crate::acp::protocol::{CallUpdate, PermissionChoice, Update};
use crate::acp::v1 as convert;
use crate::error::Error;

/// The editor of a session, to which an `AgentBackend` sends updates and requests. Cheap to clone.
#[derive(Clone)]
pub struct EditorClient {
    pub(in crate::acp) connection: ConnectionTo<Client>,
    pub(super) abilities: EditorAbilities,
    /// Calls already reported to the editor, by session and id: later updates are sent as changes.
    pub(super) reported: Arc<Mutex<HashSet<(String, String)>>>,
}

/// The client capabilities of an editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditorAbilities {
    /// Reads files, with unsaved changes.
    pub reads: bool,
    /// Writes files through the editor.
    pub writes: bool,
    /// Shows notices to the user.
    pub notices: bool,
    /// Shows the progress of compaction.
    pub compaction: bool,
    /// Supports options with boolean values.
    pub truths: bool,
}

impl EditorClient {
    /// Returns the connection, for requests that have no method here.
    pub fn connection(&self) -> &ConnectionTo<Client> {
        &self.connection
    }

    /// Returns the editor's capabilities.
    pub fn abilities(&self) -> EditorAbilities {
        self.abilities
    }

    /// Sends an update to the editor without waiting. Drops an update of a kind that the editor
    /// does not support. The first update of a call is sent as a new call.
    pub fn send_update(&self, session: &str, update: Update) {
        let is_known = match &update {
            Update::Notice { .. } => self.abilities.notices,
            Update::Compaction { .. } => self.abilities.compaction,
            _ => true,
        };
        if !is_known {
            return;
        }
        let is_new = match &update {
            Update::Call(call) => self.is_new(session, &call.id),
            _ => false,
        };
        let update = match update {
            Update::Options(mut options) => {
                self.keep_known(&mut options);
                Update::Options(options)
            }
            other => other,
        };
        let update = convert::update(update, is_new);
        let reported = v1::SessionNotification::new(session.to_owned(), update);
        if let Err(error) = self.connection.send_notification(reported) {
            log::debug!("the editor is gone: {}", error.message);
        }
    }

    /// Requests permission for `call` from the user and waits for one of `choices`. Returns
    /// `PermissionOutcome::Nothing` if the editor cannot ask or is gone.
    pub async fn ask(
        &self,
        session: &str,
        call: CallUpdate,
        choices: Vec<PermissionChoice>,
    ) -> PermissionOutcome {
        let options = choices
            .into_iter()
            .map(convert::permission_option)
            .collect();
        let call = convert::permission_call(call);
        let request = v1::RequestPermissionRequest::new(session.to_owned(), call, options);
        match self.connection.send_request(request).block_task().await {
            Ok(response) => match response.outcome {
                v1::RequestPermissionOutcome::Selected(it) => {
                    PermissionOutcome::Answer(it.option_id.to_string())
                }
                v1::RequestPermissionOutcome::Cancelled => PermissionOutcome::Cancelled,
                _ => PermissionOutcome::Nothing,
            },
            Err(error) => {
                log::debug!("the editor did not answer: {}", error.message);
                PermissionOutcome::Nothing
            }
        }
    }

    /// Reads a file through the editor, including unsaved changes. Returns `None` if the editor
    /// does not support this. The path is absolute.
    pub async fn read(&self, session: &str, path: PathBuf) -> Option<Result<String, Error>> {
        if !self.abilities.reads {
            return None;
        }
        let request = v1::ReadTextFileRequest::new(session.to_owned(), path);
        let read = self.connection.send_request(request).block_task().await;
        Some(read.map(|it| it.content).map_err(failed))
    }

    /// Writes a file through the editor. Returns `None` if the editor does not support this. The
    /// path is absolute.
    pub async fn write(
        &self,
        session: &str,
        path: PathBuf,
        content: String,
    ) -> Option<Result<(), Error>> {
        if !self.abilities.writes {
            return None;
        }
        let request = v1::WriteTextFileRequest::new(session.to_owned(), path, content);
        let written = self.connection.send_request(request).block_task().await;
        Some(written.map(|_| ()).map_err(failed))
    }

    /// Removes options that the editor cannot show.
    pub(super) fn keep_known(&self, options: &mut Vec<crate::acp::protocol::ConfigOption>) {
        use crate::acp::protocol::OptionValue;
        let truths = self.abilities.truths;
        options.retain(|option| truths || !matches!(option.value, OptionValue::Truth(_)));
    }

    /// Records that a call of a session was reported; returns `false` if it already was.
    fn is_new(&self, session: &str, call: &str) -> bool {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.insert((session.to_owned(), call.to_owned()))
    }
}

/// The result of a permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionOutcome {
    /// The id of the chosen answer.
    Answer(String),
    /// The user stopped the turn instead of answering.
    Cancelled,
    /// The editor cannot ask or has disconnected: nothing is allowed.
    Nothing,
}

impl PermissionOutcome {
    /// Returns the id of the chosen answer, if any.
    pub fn answer(&self) -> Option<&str> {
        match self {
            Self::Answer(id) => Some(id),
            Self::Cancelled | Self::Nothing => None,
        }
    }
}

impl std::fmt::Debug for EditorClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EditorClient")
            .field("abilities", &self.abilities)
            .finish_non_exhaustive()
    }
}

fn failed(error: acp::Error) -> Error {
    Error::Disconnected(error.message)
}

/// Converts a refusal to a protocol error.
pub(super) fn refusal(refusal: super::RequestRefusal) -> acp::Error {
    use super::RequestRefusal::{Failed, Invalid, NeedsUser, NotFound};
    let (code, text) = match refusal {
        NotFound(text) => (acp::ErrorCode::RESOURCE_NOT_FOUND, text),
        Invalid(text) => (acp::ErrorCode::INVALID_PARAMS, text),
        NeedsUser(text) => (acp::ErrorCode::AUTH_REQUIRED, text),
        Failed(text) => (acp::ErrorCode::INTERNAL_ERROR, text),
    };
    acp::Error::new(code, text)
}
