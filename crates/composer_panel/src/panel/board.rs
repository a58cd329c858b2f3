//! The board's side of the panel: what is chosen in it, and what the person's keys want of the engine.

use std::sync::Arc;

use futures::StreamExt as _;
use gpui_kit::{Context, ListAlignment, ListState, Task, Window, px};

use super::{ComposerPanel, Shows};
use crate::actions::{
    AcceptAgent, AcceptHunk, JumpToReview, Land, NextCount, PauseAgent, RejectHunk, RemoveAgent,
    ShowBoard, StopAgent, UndoLanding, UndoVerdict,
};
use crate::board::{self, Agent, AgentState, Board, Hunk, Verdict, Wish};

/// The board as the panel holds it.
pub(super) struct BoardFace {
    pub(super) tell: Arc<dyn Fn(Wish) + Send + Sync>,
    pub(super) board: Arc<Board>,
    /// Which agent is chosen; its hunks alone are shown. All are where it is `None`.
    pub(super) agent: Option<String>,
    /// Which hunk is chosen, by its name.
    pub(super) hunk: Option<String>,
    /// Whether the keys go to the hunks, not to the agents.
    pub(super) in_review: bool,
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

impl BoardFace {
    /// The hunks that are shown.
    pub(super) fn hunks(&self) -> Vec<&Hunk> {
        self.board.hunks_of(self.agent.as_deref()).collect()
    }

    pub(super) fn chosen_agent(&self) -> Option<&Agent> {
        self.board.agent(self.agent.as_deref()?)
    }

    fn chosen_hunk(&self) -> Option<&Hunk> {
        let chosen = self.hunk.as_deref()?;
        self.hunks().into_iter().find(|hunk| hunk.id == chosen)
    }

    /// Takes in how everything stands now. What is chosen stays chosen, as long as it is there.
    fn take(&mut self, board: Arc<Board>) {
        self.board = board;
        if self.chosen_agent().is_none() {
            self.agent = None;
        }
        // While nobody goes through them, the first is next.
        if !self.in_review || self.chosen_hunk().is_none() {
            self.hunk = self.hunks().first().map(|hunk| hunk.id.clone());
        }
        let count = self.hunks().len();
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

    fn step_hunk(&mut self, back: bool) {
        let hunks = self.hunks();
        let at = hunks
            .iter()
            .position(|hunk| Some(&hunk.id) == self.hunk.as_ref());
        let next = match (at, back) {
            (None, _) => 0,
            (Some(at), true) => at.saturating_sub(1),
            (Some(at), false) => (at + 1).min(hunks.len().saturating_sub(1)),
        };
        if let Some(hunk) = hunks.get(next) {
            self.hunk = Some(hunk.id.clone());
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
            hunk: None,
            in_review: false,
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
                true => face.step_hunk(back),
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

    pub(super) fn choose_hunk(&mut self, hunk: String, cx: &mut Context<Self>) {
        if let Some(face) = &mut self.board {
            face.in_review = true;
            face.hunk = Some(hunk);
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
            face.in_review = !face.in_review && !face.hunks().is_empty();
            cx.notify();
        }
    }

    fn wish(&mut self, wish: impl FnOnce(&mut BoardFace) -> Option<Wish>, cx: &mut Context<Self>) {
        if let Some(face) = &mut self.board
            && let Some(wish) = wish(face)
        {
            (face.tell)(wish);
            cx.notify();
        }
    }

    pub(super) fn judge(&mut self, hunk: Option<String>, verdict: Verdict, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                let hunk = hunk.or_else(|| face.hunk.clone())?;
                let now = face.hunks().into_iter().find(|it| it.id == hunk)?.verdict;
                face.hunk = Some(hunk.clone());
                face.in_review = true;
                // Said again, it is taken back.
                let verdict = match now == verdict {
                    true => Verdict::Open,
                    false => verdict,
                };
                if verdict != Verdict::Open {
                    face.step_hunk(false);
                }
                Some(Wish::Judge { hunk, verdict })
            },
            cx,
        );
    }

    pub(super) fn accept_hunk(&mut self, _: &AcceptHunk, _: &mut Window, cx: &mut Context<Self>) {
        self.judge(None, Verdict::Accepted, cx);
    }

    pub(super) fn reject_hunk(&mut self, _: &RejectHunk, _: &mut Window, cx: &mut Context<Self>) {
        self.judge(None, Verdict::Rejected, cx);
    }

    pub(super) fn accept_agent(&mut self, _: &AcceptAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                let of_hunk = face.chosen_hunk().map(|hunk| hunk.agent.clone());
                Some(Wish::AcceptAll(face.agent.clone().or(of_hunk)?))
            },
            cx,
        );
    }

    pub(super) fn undo_verdict(&mut self, _: &UndoVerdict, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(|_| Some(Wish::UndoVerdict), cx);
    }

    pub(super) fn land(&mut self, _: &Land, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                (face.board.accepted() > 0).then(|| Wish::Land(Vec::from_iter(face.agent.clone())))
            },
            cx,
        );
    }

    pub(super) fn undo_landing(&mut self, _: &UndoLanding, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                let landing = face.board.landing.as_ref()?;
                landing.can_undo.then_some(Wish::UndoLanding)
            },
            cx,
        );
    }

    pub(super) fn pause_agent(&mut self, _: &PauseAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                let agent = face.chosen_agent()?;
                let is_paused = match agent.state {
                    AgentState::Paused => false,
                    state if state.is_live() => true,
                    _ => return None,
                };
                Some(Wish::Pause {
                    agent: agent.id.clone(),
                    is_paused,
                })
            },
            cx,
        );
    }

    pub(super) fn stop_agent(&mut self, _: &StopAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                let agent = face.chosen_agent()?;
                let is_there = agent.state.is_live() || agent.state == AgentState::Paused;
                is_there.then(|| Wish::Stop(agent.id.clone()))
            },
            cx,
        );
    }

    pub(super) fn remove_agent(&mut self, _: &RemoveAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                let agent = face.chosen_agent()?;
                (!agent.state.is_live()).then(|| Wish::Remove(agent.id.clone()))
            },
            cx,
        );
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
        let Some(hunk) = face.chosen_hunk() else {
            return;
        };
        let root = face.board.agent(&hunk.agent).and_then(|it| it.root.clone());
        if let Some(root) = root {
            let line = Some(hunk.line);
            cx.emit(super::PanelEvent::OpenFile(root.join(&hunk.path), line));
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
