//! An open session: its command channel, its mode and model, and the turn that a prompt waits for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use agent::record::{self, Handover, SessionMode};
use agent::session::SessionCommand;
use base::AbsPath;
use connect::acp::agent::{EditorClient, RequestRefusal};
use connect::acp::protocol::{
    ConfigOption, MessageContent, PromptStop, SlashCommand, Update, Voice,
};
use runtime::agent_services::SelectableModel;
use runtime::models::setup::DEMO;
use runtime::sample_project;
use tokio::sync::{mpsc, oneshot};

use crate::options;

/// A session that is open.
pub(crate) struct AcpSession {
    /// The id of the session.
    pub(crate) id: String,
    /// The folder it works below.
    pub(crate) root: AbsPath,
    /// Whether the folder is our copy of the demo model's sample project.
    pub(crate) is_copy: bool,
    /// The slash commands of its prompts.
    pub(crate) slash: Vec<SlashCommand>,
    pub(crate) editor: EditorClient,
    pub(crate) models: Vec<SelectableModel>,
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

/// The event whose arrival ends a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// The end of a turn.
    Turn,
    /// The end of a compaction.
    Compaction,
}

/// The values that a new session is built from.
pub(crate) struct AcpSessionParts {
    pub(crate) id: String,
    pub(crate) root: AbsPath,
    pub(crate) is_copy: bool,
    pub(crate) slash: Vec<SlashCommand>,
    pub(crate) models: Vec<SelectableModel>,
    pub(crate) commands: mpsc::Sender<SessionCommand>,
    pub(crate) model: String,
    pub(crate) mode: SessionMode,
}

impl AcpSession {
    /// Creates the session, without a waiting prompt.
    pub(crate) fn new(made: AcpSessionParts, editor: EditorClient) -> Self {
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
    pub(crate) fn send_update(&self, update: Update) {
        self.editor.send_update(&self.id, update);
    }

    /// Sends a message as the agent, without the model.
    pub(crate) fn send_text(&self, text: &str) {
        self.send_update(agent_message(text));
    }

    /// Sends a command to the session without waiting. The channel holds more commands than a user
    /// can send at once. Refuses if the channel is full or the session has ended.
    pub(crate) fn command(&self, command: SessionCommand) -> Result<(), RequestRefusal> {
        self.commands.try_send(command).map_err(|error| {
            RequestRefusal::Failed(match error {
                mpsc::error::TrySendError::Full(_) => "the session is busy; try again".to_owned(),
                mpsc::error::TrySendError::Closed(_) => {
                    "the session has ended; load it again".to_owned()
                }
            })
        })
    }

    /// Returns the command channel, for answers that arrive later.
    pub(crate) fn commands(&self) -> mpsc::Sender<SessionCommand> {
        self.commands.clone()
    }

    /// Sends a command and returns the channel that delivers the end of the command to a waiting
    /// prompt. Replaces an earlier waiting prompt. The channel closes without a value if the
    /// session ends first.
    pub(crate) fn start_awaited(
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

    /// Returns the event that a prompt waits for, or `None` if no prompt waits.
    pub(crate) fn awaited(&self) -> Option<Awaited> {
        self.now().waiting.as_ref().map(|(what, _)| *what)
    }

    /// Reports the end of a turn or compaction to the prompt that waits for that end. Does nothing
    /// if no prompt waits for it.
    pub(crate) fn finish_awaited(&self, what: Awaited, end: PromptStop) {
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
    pub(crate) fn on_session_end(&self) {
        self.now().waiting = None;
    }

    /// Marks the running turn as being stopped, and asks the session to stop it.
    pub(crate) fn stop(&self) {
        self.now().is_stopping = true;
        if let Err(refusal) = self.command(SessionCommand::Stop) {
            log::warn!("session {}: it was not stopped: {refusal:?}", self.id);
        }
    }

    /// Changes the mode of the session, and tells the editor.
    pub(crate) fn set_mode(&self, mode: SessionMode) -> Result<(), RequestRefusal> {
        self.command(SessionCommand::SetMode(mode))?;
        self.now().mode = mode;
        self.send_update(Update::Mode(options::mode_id(mode).to_owned()));
        self.send_update(Update::Options(self.options()));
        Ok(())
    }

    /// Switches to another model from the next request on. Refuses an unknown model. Does nothing
    /// if `model` is the current model.
    pub(crate) fn set_model(&self, model: String) -> Result<(), RequestRefusal> {
        if model == self.now().model {
            return Ok(());
        }
        self.check_model(&model)?;
        self.command(SessionCommand::Switch {
            model: model.clone(),
            how: Handover::Full,
        })?;
        self.now().model = model;
        Ok(())
    }

    /// Returns the options with their current values.
    pub(crate) fn options(&self) -> Vec<ConfigOption> {
        let now = self.now();
        options::options(&self.models, &now.model, now.mode)
    }

    /// Returns the present mode.
    pub(crate) fn mode(&self) -> record::SessionMode {
        self.now().mode
    }

    /// Returns the present model: `provider/model`, `auto` or `demo`.
    pub(crate) fn model(&self) -> String {
        self.now().model.clone()
    }

    /// Whether a model can work where the session does.
    fn check_model(&self, model: &str) -> Result<(), RequestRefusal> {
        let is_known =
            model == "auto" || model == DEMO || self.models.iter().any(|known| known.id == model);
        let is_demo = model == DEMO;
        if !is_known {
            Err(RequestRefusal::Invalid(format!(
                "there is no model {model}: `burin-agent models` lists the available ones"
            )))
        } else if !is_demo && self.is_copy {
            Err(RequestRefusal::Invalid(format!(
                "this session works on the demo model's sample project in {}; for another model, begin a session \
                 without `--model {DEMO}`",
                self.root
            )))
        } else if is_demo && !self.is_copy && !sample_project::is_sample(&self.root) {
            Err(RequestRefusal::Invalid(format!(
                "the demo model plays a script for its sample project, which {} does not hold; start `burin-agent acp \
                 --model {DEMO}` to see it",
                self.root
            )))
        } else {
            Ok(())
        }
    }

    // A panic while it was held has left nothing half done.
    fn now(&self) -> MutexGuard<'_, AcpSessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a message as the agent.
pub(crate) fn agent_message(text: &str) -> Update {
    Update::Said {
        voice: Voice::Agent,
        id: None,
        piece: MessageContent::Text(text.to_owned()),
    }
}
