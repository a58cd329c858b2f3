//! An open session: its command channel, its mode and model, and the turn that a prompt waits for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use agent::record::{self, Handover, SessionMode};
use agent::session::SessionCommand;
use base::AbsPath;
use connect::acp::agent::{EditorClient, RequestRefusal};
use connect::acp::protocol::{
    ConfigOption, MessageContent, PromptStop, SlashCommand, Update, Voice,
};
use tokio::sync::{mpsc, oneshot};

use super::options;
use crate::agent_services::{self, SelectableModel};
use crate::models::setup::DEMO;

/// A session that is open.
pub(super) struct AcpSession {
    /// The id of the session.
    pub(super) id: String,
    /// The folder it works below.
    pub(super) root: AbsPath,
    /// Whether that is our copy of the demo model's sample project.
    pub(super) is_copy: bool,
    /// The slash commands of its prompts.
    pub(super) slash: Vec<SlashCommand>,
    pub(super) editor: EditorClient,
    pub(super) models: Vec<SelectableModel>,
    commands: mpsc::Sender<SessionCommand>,
    state: Mutex<AcpSessionState>,
}

/// The mutable state of an open session.
struct AcpSessionState {
    model: String,
    mode: SessionMode,
    /// The end that a prompt waits for, and the channel that reports it.
    waiting: Option<(Awaited, oneshot::Sender<PromptStop>)>,
    is_stopping: bool,
}

/// The event that ends a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// The end of a turn.
    Turn,
    /// The end of a compaction.
    Compaction,
}

/// The values that a new session is built from.
pub(super) struct AcpSessionParts {
    pub(super) id: String,
    pub(super) root: AbsPath,
    pub(super) is_copy: bool,
    pub(super) slash: Vec<SlashCommand>,
    pub(super) models: Vec<SelectableModel>,
    pub(super) commands: mpsc::Sender<SessionCommand>,
    pub(super) model: String,
    pub(super) mode: SessionMode,
}

impl AcpSession {
    pub(super) fn new(made: AcpSessionParts, editor: EditorClient) -> Self {
        Self {
            id: made.id,
            root: made.root,
            is_copy: made.is_copy,
            slash: made.slash,
            editor,
            models: made.models,
            commands: made.commands,
            state: Mutex::new(AcpSessionState {
                model: made.model,
                mode: made.mode,
                waiting: None,
                is_stopping: false,
            }),
        }
    }

    /// Sends an update for this session to the editor.
    pub(super) fn send_update(&self, update: Update) {
        self.editor.send_update(&self.id, update);
    }

    /// Sends a message as the agent, without the model.
    pub(super) fn send_text(&self, text: &str) {
        self.send_update(agent_message(text));
    }

    /// Sends a command to the session; the channel holds more than a user can send at once.
    pub(super) fn command(&self, command: SessionCommand) -> Result<(), RequestRefusal> {
        self.commands.try_send(command).map_err(|error| {
            RequestRefusal::Failed(match error {
                mpsc::error::TrySendError::Full(_) => {
                    "the session takes nothing more at the moment; try again".to_owned()
                }
                mpsc::error::TrySendError::Closed(_) => {
                    "the session has ended; load it again".to_owned()
                }
            })
        })
    }

    /// Returns the command channel, for answers that arrive later.
    pub(super) fn commands(&self) -> mpsc::Sender<SessionCommand> {
        self.commands.clone()
    }

    /// Sends a command whose end a prompt waits for.
    pub(super) fn start_awaited(
        &self,
        what: Awaited,
        command: SessionCommand,
    ) -> Result<oneshot::Receiver<PromptStop>, RequestRefusal> {
        let (end, ended) = oneshot::channel();
        // Registered before the command is sent, because its end may arrive at once.
        let mut now = self.now();
        now.waiting = Some((what, end));
        now.is_stopping = false;
        drop(now);
        self.command(command)?;
        Ok(ended)
    }

    /// Returns the event that a prompt waits for, if one does.
    pub(super) fn awaited(&self) -> Option<Awaited> {
        self.now().waiting.as_ref().map(|(what, _)| *what)
    }

    /// Reports the end of a turn or compaction to the prompt that waits for it.
    pub(super) fn finish_awaited(&self, what: Awaited, end: PromptStop) {
        let mut now = self.now();
        let end = match (what, now.is_stopping) {
            (Awaited::Compaction, true) => PromptStop::Stopped,
            _ => end,
        };
        if let Some((_, waiting)) = now.waiting.take_if(|(awaited, _)| *awaited == what) {
            // An editor that is gone waits no longer.
            waiting.send(end).ok();
        }
    }

    /// Drops the waiting prompt's channel, because the session has ended.
    pub(super) fn on_session_end(&self) {
        self.now().waiting = None;
    }

    /// Marks the running turn as being stopped.
    pub(super) fn stop(&self) {
        self.now().is_stopping = true;
        if let Err(refusal) = self.command(SessionCommand::Stop) {
            log::warn!("session {}: it was not stopped: {refusal:?}", self.id);
        }
    }

    /// Works in another way from now on.
    pub(super) fn set_mode(&self, mode: SessionMode) -> Result<(), RequestRefusal> {
        self.command(SessionCommand::SetMode(mode))?;
        self.now().mode = mode;
        self.send_update(Update::Mode(options::mode_id(mode).to_owned()));
        self.send_update(Update::Options(self.options()));
        Ok(())
    }

    /// Lets another model go on.
    pub(super) fn set_model(&self, model: String) -> Result<(), RequestRefusal> {
        if model == self.now().model {
            return Ok(());
        }
        self.check_model(&model).map_err(RequestRefusal::Invalid)?;
        self.command(SessionCommand::Switch {
            model: model.clone(),
            how: Handover::Full,
        })?;
        self.now().model = model;
        Ok(())
    }

    /// All that can be chosen, as it is now.
    pub(super) fn options(&self) -> Vec<ConfigOption> {
        let now = self.now();
        options::options(&self.models, &now.model, now.mode)
    }

    pub(super) fn mode(&self) -> record::SessionMode {
        self.now().mode
    }

    pub(super) fn model(&self) -> String {
        self.now().model.clone()
    }

    /// Whether a model can work where the session does.
    fn check_model(&self, model: &str) -> Result<(), String> {
        let is_known =
            model == "auto" || model == DEMO || self.models.iter().any(|known| known.id == model);
        match (is_known, model == DEMO) {
            (false, _) => Err(format!(
                "there is no model {model}: `burin-agent models` names those there are"
            )),
            (true, false) if self.is_copy => Err(format!(
                "this session works on the demo model's sample project in {}; for another model, begin a session \
                 without `--model {DEMO}`",
                self.root
            )),
            (true, true) if !self.is_copy && !agent_services::is_sample(&self.root) => {
                Err(format!(
                    "the demo model plays a script for its sample project, which {} does not hold; start `burin-agent acp \
                 --model {DEMO}` to see it",
                    self.root
                ))
            }
            _ => Ok(()),
        }
    }

    // A panic while it was held has left nothing half done.
    fn now(&self) -> MutexGuard<'_, AcpSessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a message as the agent.
pub(super) fn agent_message(text: &str) -> Update {
    Update::Said {
        voice: Voice::Agent,
        id: None,
        piece: MessageContent::Text(text.to_owned()),
    }
}
