//! A session that is open: the way to it, and how it stands.

use std::sync::{Mutex, MutexGuard, PoisonError};

use agent::record::{self, Handover, Mode};
use agent::session::Command;
use base::AbsPath;
use connect::acp::agent::{Editor, Refusal};
use connect::acp::words::{ConfigOption, Piece, SlashCommand, TurnEnd, Update, Voice};
use tokio::sync::{mpsc, oneshot};

use super::options;
use crate::models::setup::DEMO;
use crate::workshop::{self, Model};

/// A session that is open.
pub(super) struct Live {
    /// Its name.
    pub(super) id: String,
    /// The folder it works below.
    pub(super) root: AbsPath,
    /// Whether that is our copy of the demo model's sample project.
    pub(super) is_copy: bool,
    /// Commands that its prompts can begin with.
    pub(super) slash: Vec<SlashCommand>,
    pub(super) editor: Editor,
    pub(super) models: Vec<Model>,
    commands: mpsc::Sender<Command>,
    now: Mutex<Now>,
}

/// How it stands.
struct Now {
    model: String,
    mode: Mode,
    /// Who waits for the end of what runs.
    waiting: Option<(Awaited, oneshot::Sender<TurnEnd>)>,
    is_stopping: bool,
}

/// What a prompt waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// The end of a turn.
    Turn,
    /// A shorter conversation.
    Compaction,
}

/// What a session is made of.
pub(super) struct Made {
    pub(super) id: String,
    pub(super) root: AbsPath,
    pub(super) is_copy: bool,
    pub(super) slash: Vec<SlashCommand>,
    pub(super) models: Vec<Model>,
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) model: String,
    pub(super) mode: Mode,
}

impl Live {
    pub(super) fn new(made: Made, editor: Editor) -> Self {
        Self {
            id: made.id,
            root: made.root,
            is_copy: made.is_copy,
            slash: made.slash,
            editor,
            models: made.models,
            commands: made.commands,
            now: Mutex::new(Now {
                model: made.model,
                mode: made.mode,
                waiting: None,
                is_stopping: false,
            }),
        }
    }

    /// Tells the editor.
    pub(super) fn tell(&self, update: Update) {
        self.editor.tell(&self.id, update);
    }

    /// Says something in the agent's name that no model said.
    pub(super) fn say(&self, text: &str) {
        self.tell(said(text));
    }

    /// Tells the session; it takes more than a person can ask for at once.
    pub(super) fn command(&self, command: Command) -> Result<(), Refusal> {
        self.commands.try_send(command).map_err(|error| {
            Refusal::Failed(match error {
                mpsc::error::TrySendError::Full(_) => {
                    "the session takes nothing more at the moment; try again".to_owned()
                }
                mpsc::error::TrySendError::Closed(_) => {
                    "the session has ended; load it again".to_owned()
                }
            })
        })
    }

    /// The way to the session, for answers that come later.
    pub(super) fn commands(&self) -> mpsc::Sender<Command> {
        self.commands.clone()
    }

    /// Begins something of which the end is waited for.
    pub(super) fn begin(
        &self,
        what: Awaited,
        command: Command,
    ) -> Result<oneshot::Receiver<TurnEnd>, Refusal> {
        let (end, ended) = oneshot::channel();
        // Before the command: its end may come at once.
        let mut now = self.now();
        now.waiting = Some((what, end));
        now.is_stopping = false;
        drop(now);
        self.command(command)?;
        Ok(ended)
    }

    /// What is waited for at the moment.
    pub(super) fn awaited(&self) -> Option<Awaited> {
        self.now().waiting.as_ref().map(|(what, _)| *what)
    }

    /// Something has ended; whoever waits for it hears how.
    pub(super) fn ended(&self, what: Awaited, end: TurnEnd) {
        let mut now = self.now();
        let end = match (what, now.is_stopping) {
            (Awaited::Compaction, true) => TurnEnd::Stopped,
            _ => end,
        };
        if let Some((_, waiting)) = now.waiting.take_if(|(awaited, _)| *awaited == what) {
            // An editor that is gone waits no longer.
            waiting.send(end).ok();
        }
    }

    /// The session is over: nobody is answered any more.
    pub(super) fn gone(&self) {
        self.now().waiting = None;
    }

    /// Stops what runs.
    pub(super) fn stop(&self) {
        self.now().is_stopping = true;
        if let Err(refusal) = self.command(Command::Stop) {
            log::warn!("session {}: it was not stopped: {refusal:?}", self.id);
        }
    }

    /// Works in another way from now on.
    pub(super) fn set_mode(&self, mode: Mode) -> Result<(), Refusal> {
        self.command(Command::SetMode(mode))?;
        self.now().mode = mode;
        self.tell(Update::Mode(options::mode_id(mode).to_owned()));
        self.tell(Update::Options(self.options()));
        Ok(())
    }

    /// Lets another model go on.
    pub(super) fn set_model(&self, model: String) -> Result<(), Refusal> {
        if model == self.now().model {
            return Ok(());
        }
        self.fits(&model).map_err(Refusal::Invalid)?;
        self.command(Command::Switch {
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

    pub(super) fn mode(&self) -> record::Mode {
        self.now().mode
    }

    pub(super) fn model(&self) -> String {
        self.now().model.clone()
    }

    /// Whether a model can work where the session does.
    fn fits(&self, model: &str) -> Result<(), String> {
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
            (true, true) if !self.is_copy && !workshop::is_sample(&self.root) => Err(format!(
                "the demo model plays a script for its sample project, which {} does not hold; start `burin-agent acp \
                 --model {DEMO}` to see it",
                self.root
            )),
            _ => Ok(()),
        }
    }

    // A panic while it was held has left nothing half done.
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something said in the agent's name.
pub(super) fn said(text: &str) -> Update {
    Update::Said {
        voice: Voice::Agent,
        id: None,
        piece: Piece::Text(text.to_owned()),
    }
}
