//! The editor, as an engine reaches it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol as acp;
use agent_client_protocol::Client;
use agent_client_protocol::v1::{ConnectionTo, schema as v1};

use crate::acp::v1 as words_v1;
use crate::acp::words::{CallUpdate, LeaveChoice, Update};

/// The editor of a session. Cheap to clone.
#[derive(Clone)]
pub struct Editor {
    pub(super) line: ConnectionTo<Client>,
    pub(super) abilities: EditorAbilities,
    /// Calls that the editor was told of, by session and id: later updates of them are changes.
    pub(super) told: Arc<Mutex<HashSet<(String, String)>>>,
}

/// What an editor can do for an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditorAbilities {
    /// Tell the text of a file, newer than the disk where it is being edited.
    pub reads: bool,
    /// Write a file through itself.
    pub writes: bool,
    /// Show notices.
    pub notices: bool,
    /// Show that a conversation is made shorter.
    pub compaction: bool,
    /// Options that are yes or no.
    pub truths: bool,
}

impl Editor {
    /// What it can do.
    pub fn abilities(&self) -> EditorAbilities {
        self.abilities
    }

    /// Tells of something that is new or different. What the editor does not know is not sent.
    pub fn tell(&self, session: &str, update: Update) {
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
        let update = words_v1::update(update, is_new);
        let told = v1::SessionNotification::new(session.to_owned(), update);
        if let Err(error) = self.line.send_notification(told) {
            log::debug!("the editor is gone: {}", error.message);
        }
    }

    /// Asks the person for leave.
    pub async fn ask(
        &self,
        session: &str,
        call: CallUpdate,
        choices: Vec<LeaveChoice>,
    ) -> PermissionOutcome {
        let options = choices.into_iter().map(words_v1::leave_option).collect();
        let call = words_v1::permission_call(call);
        let request = v1::RequestPermissionRequest::new(session.to_owned(), call, options);
        match self.line.send_request(request).block_task().await {
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

    /// The text of a file as the editor has it; `None` where it does not tell. The error is a sentence.
    pub async fn read(&self, session: &str, path: PathBuf) -> Option<Result<String, String>> {
        if !self.abilities.reads {
            return None;
        }
        let request = v1::ReadTextFileRequest::new(session.to_owned(), path);
        let read = self.line.send_request(request).block_task().await;
        Some(read.map(|it| it.content).map_err(|error| error.message))
    }

    /// Writes a file through the editor; `None` where it does not. The error is a sentence.
    pub async fn write(
        &self,
        session: &str,
        path: PathBuf,
        content: String,
    ) -> Option<Result<(), String>> {
        if !self.abilities.writes {
            return None;
        }
        let request = v1::WriteTextFileRequest::new(session.to_owned(), path, content);
        let written = self.line.send_request(request).block_task().await;
        Some(written.map(|_| ()).map_err(|error| error.message))
    }

    /// Leaves out what the editor cannot show.
    pub(super) fn keep_known(&self, options: &mut Vec<crate::acp::words::ConfigOption>) {
        use crate::acp::words::OptionValue;
        let truths = self.abilities.truths;
        options.retain(|option| truths || !matches!(option.value, OptionValue::Truth(_)));
    }

    fn is_new(&self, session: &str, call: &str) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert((session.to_owned(), call.to_owned()))
    }
}

/// What became of a question for leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionOutcome {
    /// The id of the answer that was chosen.
    Answer(String),
    /// The person stopped the turn instead of answering: the protocol has the editor say so in this way.
    Cancelled,
    /// The editor cannot ask or is gone: nothing is allowed.
    Nothing,
}

impl PermissionOutcome {
    /// The id of the answer, where there is one.
    pub fn answer(&self) -> Option<&str> {
        match self {
            Self::Answer(id) => Some(id),
            Self::Cancelled | Self::Nothing => None,
        }
    }
}

impl std::fmt::Debug for Editor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Editor")
            .field("abilities", &self.abilities)
            .finish_non_exhaustive()
    }
}

/// An error as the protocol tells it.
pub(super) fn refusal(refusal: super::Refusal) -> acp::Error {
    use super::Refusal::{Failed, Invalid, NeedsPerson, NotThere};
    let (code, text) = match refusal {
        NotThere(text) => (acp::ErrorCode::RESOURCE_NOT_FOUND, text),
        Invalid(text) => (acp::ErrorCode::INVALID_PARAMS, text),
        NeedsPerson(text) => (acp::ErrorCode::AUTH_REQUIRED, text),
        Failed(text) => (acp::ErrorCode::INTERNAL_ERROR, text),
    };
    acp::Error::new(code, text)
}
