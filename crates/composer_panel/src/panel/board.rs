//! The board's side of the panel: what is chosen in it, and what the person's keys want of the engine.

use std::sync::Arc;

use futures::StreamExt as _;
use gpui_kit::{Context, ListAlignment, ListState, Task, Window, px};

use super::{ComposerPanel, PanelEvent, Shows};
use crate::actions::{JumpToReview, NextCount, ShowBoard};
use crate::board::{self, Agent, Board, Dispute, Hunk, Wish};

/// The board as the panel holds it.
pub(super) struct BoardFace {
    pub(super) tell: Arc<dyn Fn(Wish) + Send + Sync>,
    pub(super) board: Arc<Board>,
    /// Which agent is chosen; its hunks alone are shown. All are where it is `None`.
    pub(super) agent: Option<String>,
    /// Which of the rows to be decided is chosen, by its name.
    pub(super) row: Option<String>,
    /// Whether the keys go to the rows, not to the agents.
    pub(super) in_review: bool,
    /// The agent from which what is written next begins another.
    pub(super) forking: Option<String>,
    pub(super) list: ListState,
    _task: Task<()>,
}

/// How many agents a prompt starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Count {
    /// One, in the person's own folder.
    #[default]
    Here,
    /// So many, each in a worktree of its own.
    Apart(usize),
    /// So many at the same task; the best is taken.
    BestOf(usize),
}

impl Count {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Here => Self::Apart(1),
            Self::Apart(count) if count < 4 => Self::Apart(count + 1),
            Self::Apart(_) => Self::BestOf(2),
            Self::BestOf(2) => Self::BestOf(3),
            Self::BestOf(_) => Self::Here,
        }
    }

    /// The same where nobody works in the person's own folder.
    pub(super) fn apart(self) -> Self {
        match self {
            Self::Here => Self::Apart(1),
            other => other,
        }
    }

    pub(super) fn label(self) -> String {
        match self {
            Self::Here => "Here".to_owned(),
            Self::Apart(1) => "1 worktree".to_owned(),
            Self::Apart(count) => format!("{count} worktrees"),
            Self::BestOf(count) => format!("Best of {count}"),
        }
    }
}

/// Something that the person decides about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen<'a> {
    /// A landing's file on which the branch has other lines.
    Dispute(&'a Dispute),
    /// A change.
    Hunk(&'a Hunk),
}

impl Chosen<'_> {
    /// Its name among the rows.
    pub(super) fn id(&self) -> String {
        match self {
            // No hunk is named like this.
            Self::Dispute(dispute) => format!("{}:{}", dispute.agent, dispute.path),
            Self::Hunk(hunk) => hunk.id.clone(),
        }
    }

    pub(super) fn agent(&self) -> &str {
        match self {
            Self::Dispute(dispute) => &dispute.agent,
            Self::Hunk(hunk) => &hunk.agent,
        }
    }
}

impl BoardFace {
    /// What is to be decided, as it is listed: what keeps a landing first.
    pub(super) fn rows(&self) -> Vec<Chosen<'_>> {
        let agent = self.agent.as_deref();
        let of = |it: &&Dispute| agent.is_none_or(|agent| it.agent == agent);
        let disputes = self.board.disputes.iter().filter(of).map(Chosen::Dispute);
        let hunks = self.board.hunks_of(agent).map(Chosen::Hunk);
        disputes.chain(hunks).collect()
    }

    /// How many hunks of those that are listed are accepted.
    pub(super) fn accepted(&self) -> usize {
        let hunks = self.board.hunks_of(self.agent.as_deref());
        hunks
            .filter(|it| it.verdict == board::Verdict::Accepted)
            .count()
    }

    pub(super) fn chosen_agent(&self) -> Option<&Agent> {
        self.board.agent(self.agent.as_deref()?)
    }

    pub(super) fn chosen_row(&self) -> Option<Chosen<'_>> {
        let chosen = self.row.as_deref()?;
        self.rows().into_iter().find(|row| row.id() == chosen)
    }

    /// Takes in how everything stands now. What is chosen stays chosen, as long as it is there.
    fn take(&mut self, board: Arc<Board>) {
        self.board = board;
        if self.chosen_agent().is_none() {
            self.agent = None;
        }
        let forking = self.forking.take();
        self.forking = forking.filter(|agent| self.board.agent(agent).is_some());
        // While nobody goes through them, the first is next.
        if !self.in_review || self.chosen_row().is_none() {
            self.row = self.rows().first().map(Chosen::id);
        }
        let count = self.rows().len();
        let old = self.list.item_count();
        self.list.splice(0..old, count);
        if count == 0 {
            self.in_review = false;
        }
    }

    fn choose_agent(&mut self, agent: Option<String>) {
        self.agent = agent;
        let board = self.board.clone();
        self.take(board);
    }

    /// Goes from one agent to another; before the first are all of them.
    fn step_agent(&mut self, back: bool) {
        let agents = &self.board.agents;
        let at = agents
            .iter()
            .position(|agent| Some(&agent.id) == self.agent.as_ref());
        let next = match (at, back) {
            (None, true) => return,
            (None, false) => 0,
            (Some(0), true) => return self.choose_agent(None),
            (Some(at), true) => at - 1,
            (Some(at), false) => at + 1,
        };
        if let Some(agent) = agents.get(next) {
            let id = agent.id.clone();
            self.choose_agent(Some(id));
        }
    }

    pub(super) fn step_row(&mut self, back: bool) {
        let rows: Vec<String> = self.rows().iter().map(Chosen::id).collect();
        let at = rows.iter().position(|id| Some(id) == self.row.as_ref());
        let next = match (at, back) {
            (None, _) => 0,
            (Some(at), true) => at.saturating_sub(1),
            (Some(at), false) => (at + 1).min(rows.len().saturating_sub(1)),
        };
        if let Some(id) = rows.get(next) {
            self.row = Some(id.clone());
            self.list.scroll_to_reveal_item(next);
        }
    }
}

impl ComposerPanel {
    /// Shows the board, and asks for it where that was not done.
    pub(super) fn show_board(
        &mut self,
        _: &ShowBoard,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.shows == Shows::Board {
            self.shows = Shows::Session;
            self.focus_prompt(window, cx);
            cx.notify();
            return;
        }
        self.shows = Shows::Board;
        self.list_focus.focus(window, cx);
        self.with_board(window, cx, |_, _| {});
        cx.notify();
    }

    /// The same, for commands of the window.
    pub fn open_board(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.shows = Shows::Session;
        self.show_board(&ShowBoard, window, cx);
    }

    /// Does something with the board as soon as it is there.
    pub(super) fn with_board(
        &mut self,
        window: &mut Window,
        cx: &mut Context<Self>,
        then: impl FnOnce(&mut BoardFace, &mut Context<Self>) + 'static,
    ) {
        if let Some(face) = &mut self.board {
            then(face, cx);
            return;
        }
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self._board = Some(cx.spawn_in(window, async move |this, cx| {
            let opened = agents.board(root).await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| {
                match opened {
                    Ok(live) => {
                        this.take_board(live, window, cx);
                        if let Some(face) = &mut this.board {
                            then(face, cx);
                        }
                    }
                    Err(sentence) => this.trouble = Some(sentence),
                }
                cx.notify();
            })
            .ok();
        }));
    }

    fn take_board(&mut self, live: board::Live, window: &mut Window, cx: &mut Context<Self>) {
        let board::Live { tell, mut boards } = live;
        let task = cx.spawn_in(window, async move |this, cx| {
            while let Some(mut board) = boards.next().await {
                // Only how it stands now counts.
                while let Ok(newer) = boards.try_recv() {
                    board = newer;
                }
                let taken = this.update(cx, |this, cx| {
                    if let Some(face) = &mut this.board {
                        face.take(board);
                    }
                    cx.emit(PanelEvent::BoardChanged);
                    cx.notify();
                });
                if taken.is_err() {
                    return;
                }
            }
        });
        self.board = Some(BoardFace {
            tell,
            board: Arc::default(),
            agent: None,
            row: None,
            in_review: false,
            forking: None,
            list: ListState::new(0, ListAlignment::Top, px(400.0)),
            _task: task,
        });
    }

    /// Says something on the board: to the chosen agent while it works, or as the task of new ones.
    pub(super) fn send_to_board(
        &mut self,
        text: String,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(face) = &mut self.board
            && let Some(agent) = face.forking.take()
        {
            (face.tell)(Wish::Fork {
                agent,
                prompt: text,
            });
            return;
        }
        let face = self.board.as_ref().filter(|_| self.shows == Shows::Board);
        let working = face.and_then(|face| Some((face, face.chosen_agent()?)));
        if let Some((face, agent)) = working.filter(|(_, agent)| agent.state.is_live()) {
            (face.tell)(Wish::Steer {
                agent: agent.id.clone(),
                text,
            });
            return;
        }
        self.begin_apart(text, window, cx);
    }

    /// Starts agents in worktrees of their own.
    fn begin_apart(&mut self, text: String, window: &mut Window, cx: &mut Context<Self>) {
        let (agents, is_contest) = match self.count {
            Count::Here => (1, false),
            Count::Apart(count) => (count, false),
            Count::BestOf(count) => (count, true),
        };
        let task = board::Task {
            prompt: text,
            model: self.model().to_owned(),
            mode: self.mode,
            agents,
            is_contest,
        };
        self.shows = Shows::Board;
        self.list_focus.focus(window, cx);
        self.with_board(window, cx, move |face, _| (face.tell)(Wish::Start(task)));
        cx.notify();
    }

    pub(super) fn next_count(&mut self, _: &NextCount, _: &mut Window, cx: &mut Context<Self>) {
        self.count = self.count.next();
        cx.notify();
    }

    pub(super) fn step_board(&mut self, back: bool, cx: &mut Context<Self>) {
        if let Some(face) = &mut self.board {
            match face.in_review {
                true => face.step_row(back),
                false => face.step_agent(back),
            }
            cx.notify();
        }
    }

    pub(super) fn choose_board_agent(&mut self, agent: Option<String>, cx: &mut Context<Self>) {
        if let Some(face) = &mut self.board {
            face.in_review = false;
            face.choose_agent(agent);
            cx.notify();
        }
    }

    pub(super) fn choose_row(&mut self, row: String, cx: &mut Context<Self>) {
        if let Some(face) = &mut self.board {
            face.in_review = true;
            face.row = Some(row);
            cx.notify();
        }
    }

    pub(super) fn jump_to_review(
        &mut self,
        _: &JumpToReview,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(face) = &mut self.board {
            face.in_review = !face.in_review && !face.rows().is_empty();
            cx.notify();
        }
    }

    /// Opens what is chosen: an agent's transcript, or a hunk's file in its worktree.
    pub(super) fn open_on_board(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(face) = &self.board else {
            return;
        };
        match face.in_review {
            true => self.open_hunk(cx),
            false => {
                let agent = face.agent.clone();
                if let Some(id) = agent {
                    self.watch_agent(id, window, cx);
                }
            }
        }
    }

    pub(super) fn open_hunk(&mut self, cx: &mut Context<Self>) {
        let Some(face) = &self.board else {
            return;
        };
        let (agent, path, line) = match face.chosen_row() {
            Some(Chosen::Hunk(hunk)) => (&hunk.agent, &hunk.path, Some(hunk.line)),
            Some(Chosen::Dispute(dispute)) => (&dispute.agent, &dispute.path, None),
            None => return,
        };
        if let Some(root) = face.board.agent(agent).and_then(|it| it.root.clone()) {
            cx.emit(PanelEvent::OpenFile(root.join(path), line));
        }
    }

    fn watch_agent(&mut self, id: String, window: &mut Window, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self._board = Some(cx.spawn_in(window, async move |this, cx| {
            let opened = agents.watch(root, id).await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| {
                match opened {
                    Ok(live) => {
                        this.show(live, window, cx);
                        this.focus_prompt(window, cx);
                    }
                    Err(sentence) => this.trouble = Some(sentence),
                }
                cx.notify();
            })
            .ok();
        }));
    }
}
