//! Starts of sessions and connections to boards that hold prompts of the user.
//!
//! Invariant: no load, page or folder that the user turns to cancels a start. Its prompts are sent
//! or return to the prompt box.
//! Start at `ComposerPanel::start_session`.

use std::collections::HashMap;
use std::sync::Arc;

use agent::SessionCommand;
use agent::record::SessionMode;
use agent::session::UserPrompt;
use base::AbsPath;
use gpui_kit::{Context, Task, Window};

use super::session_settings::SettingsChoice;
use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::agents::{AgentService, Error, NewSession, SessionConnection};
use crate::board::{BoardConnection, Command, StartAgents};

/// The starts that have not ended yet, by number.
#[derive(Default)]
pub(super) struct PendingStarts {
    /// The mode of the session that the draft begins, until the user chooses another one.
    pub(super) draft_mode: Option<SessionMode>,
    last: u64,
    sessions: HashMap<u64, SessionStart>,
    boards: HashMap<u64, BoardStart>,
    /// The start whose session the panel will show.
    shown: Option<u64>,
    /// The connection to the board of the panel's folder.
    board: Option<u64>,
}

struct SessionStart {
    /// In the order in which the user sent them; never empty.
    prompts: Vec<UserPrompt>,
    /// The settings with which the session was requested, and those chosen since.
    requested: SettingsChoice,
    choice: SettingsChoice,
    _task: Task<()>,
}

struct BoardStart {
    agents: Vec<StartAgents>,
    _task: Task<()>,
}

impl SessionStart {
    /// Returns the texts of the prompts, in the order in which the user sent them.
    fn into_texts(self) -> Vec<String> {
        self.prompts.into_iter().map(|it| it.text).collect()
    }
}

impl PendingStarts {
    fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn shown_mut(&mut self) -> Option<&mut SessionStart> {
        self.sessions.get_mut(&self.shown?)
    }

    /// The first prompt for the session that the panel will show.
    pub(super) fn shown_prompt(&self) -> Option<&str> {
        let start = self.sessions.get(&self.shown?)?;
        start.prompts.first().map(|prompt| prompt.text.as_str())
    }

    /// The settings chosen for the session that the panel will show.
    pub(super) fn shown_choice(&self) -> Option<&SettingsChoice> {
        let start = self.sessions.get(&self.shown?)?;
        Some(&start.choice)
    }

    /// Returns the settings chosen for the session that the panel will show, to change them.
    pub(super) fn shown_choice_mut(&mut self) -> Option<&mut SettingsChoice> {
        self.shown_mut().map(|start| &mut start.choice)
    }

    /// Keeps the started session out of the panel; the session works in the background.
    pub(super) fn hide(&mut self) {
        self.shown = None;
    }

    /// Keeps the session and the board of the previous folder out of the panel.
    pub(super) fn leave_folder(&mut self) {
        self.draft_mode = None;
        self.shown = None;
        self.board = None;
    }
}

impl ComposerPanel {
    /// Returns the engines and the folder for new agents. Without a folder shows the reason.
    pub(super) fn engines_and_root(
        &mut self,
        cx: &mut Context<Self>,
    ) -> Option<(Arc<dyn AgentService>, AbsPath)> {
        let agents = self.agents.clone()?;
        if self.root.is_none() {
            self.error = Some("Open a folder first: an agent needs one to work in.".to_owned());
            cx.notify();
        }
        Some((agents, self.root.clone()?))
    }

    /// Sends a prompt to a new session, or to the one that is just being started.
    pub(super) fn start_session(
        &mut self,
        prompt: UserPrompt,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some((agents, root)) = self.engines_and_root(cx) else {
            return;
        };
        self.error = None;
        self.clear_prompt(window, cx);
        self.page = PanelPage::Session;
        self.loads.opening = None;
        cx.notify();
        if let Some(start) = self.starts.shown_mut() {
            start.prompts.push(prompt);
            return;
        }
        let mut wanted = NewSession {
            root,
            model: self.model().to_owned(),
            mode: self.mode(),
        };
        let requested = SettingsChoice::of(&wanted);
        let number = self.starts.next_number();
        let task = cx.spawn_in(window, async move |this, cx| {
            if wanted.model.is_empty() {
                // The model list has not arrived yet.
                wanted.model = agents.models().await.default;
            }
            let started = agents.start(wanted).await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| {
                this.finish_session_start(number, started, window, cx);
            })
            .ok();
        });
        let start = SessionStart {
            prompts: vec![prompt],
            choice: requested.clone().with_effort(self.effort),
            requested,
            _task: task,
        };
        self.starts.sessions.insert(number, start);
        self.starts.shown = Some(number);
    }

    /// Sends the prompts of a start to its session, or returns them if the session did not start.
    fn finish_session_start(
        &mut self,
        number: u64,
        started: Result<SessionConnection, Error>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(start) = self.starts.sessions.remove(&number) else {
            return;
        };
        let is_shown = self.starts.shown == Some(number);
        match started {
            Ok(connection) => {
                let send = connection.send.clone();
                if is_shown {
                    self.take_draft_along(&connection.id);
                    self.show(connection, window, cx);
                    if let Some(open) = &mut self.open {
                        open.choice = start.choice.clone();
                    }
                } else {
                    for notice in connection.notices {
                        cx.emit(PanelEvent::Problem(notice));
                    }
                }
                for command in start.choice.commands_since(&start.requested) {
                    send(command);
                }
                // Each further prompt joins the turn of the first one.
                let mut prompts = start.prompts.into_iter();
                let first = prompts.next().map(SessionCommand::Prompt);
                first
                    .into_iter()
                    .chain(prompts.map(SessionCommand::Steer))
                    .for_each(|command| send(command));
            }
            Err(error) => {
                if is_shown {
                    self.starts.hide();
                }
                self.error = Some(error.to_string());
                self.return_images(&start.prompts);
                self.return_to_prompt(&start.into_texts(), window, cx);
            }
        }
        cx.notify();
    }

    /// Cancels the start of the session that the panel would show, and returns its prompts. Does
    /// nothing if no session is being started.
    pub(super) fn cancel_session_start(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let shown = self.starts.shown.take();
        if let Some(start) = shown.and_then(|number| self.starts.sessions.remove(&number)) {
            self.return_images(&start.prompts);
            self.return_to_prompt(&start.into_texts(), window, cx);
            cx.notify();
        }
    }

    /// Connects to the board of the folder if necessary, and starts `agents` there.
    pub(super) fn connect_board(
        &mut self,
        agents: Option<StartAgents>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(pane) = &self.board {
            agents
                .into_iter()
                .for_each(|it| (pane.send)(Command::Start(it)));
            return;
        }
        let pending = self.starts.board;
        if let Some(start) = pending.and_then(|number| self.starts.boards.get_mut(&number)) {
            start.agents.extend(agents);
            return;
        }
        let (Some(engines), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        let number = self.starts.next_number();
        let task = cx.spawn_in(window, async move |this, cx| {
            let opened = engines.board(root).await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| {
                this.finish_board_start(number, opened, window, cx);
            })
            .ok();
        });
        let start = BoardStart {
            agents: Vec::from_iter(agents),
            _task: task,
        };
        self.starts.boards.insert(number, start);
        self.starts.board = Some(number);
    }

    /// Starts the agents that waited for the board, or returns their prompts if the board cannot be
    /// opened.
    fn finish_board_start(
        &mut self,
        number: u64,
        opened: Result<BoardConnection, Error>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(start) = self.starts.boards.remove(&number) else {
            return;
        };
        let is_of_folder = self.starts.board.take_if(|it| *it == number).is_some();
        match opened {
            Ok(connection) => {
                let send = connection.send.clone();
                if is_of_folder {
                    self.follow_board(connection, window, cx);
                }
                start
                    .agents
                    .into_iter()
                    .for_each(|agents| send(Command::Start(agents)));
            }
            Err(error) => {
                self.error = Some(error.to_string());
                let prompts: Vec<String> = start.agents.into_iter().map(|it| it.prompt).collect();
                self.return_to_prompt(&prompts, window, cx);
            }
        }
        cx.notify();
    }
}
