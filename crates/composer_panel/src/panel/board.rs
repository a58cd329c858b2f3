//! The state of the board page: selection, focus, and the commands for starting agents.

use std::sync::Arc;

use futures::StreamExt as _;
use gpui_kit::{Context, ListAlignment, ListState, Task, Window, px};

use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::actions::{JumpToReview, NextCount, ShowBoard};
use crate::board::{self, Board, BoardHunk, BoardJob, Command, Conflict, Event, JobCommand};

/// The state of the board page.
pub(super) struct BoardPane {
    pub(super) send: Arc<dyn Fn(Command) + Send + Sync>,
    pub(super) board: Arc<Board>,
    /// The selected job, whose hunks alone are listed; `None` lists all.
    pub(super) job: Option<String>,
    /// Id of the selected row of the review list.
    pub(super) row: Option<String>,
    /// Whether the review list has the focus, instead of the agents.
    pub(super) in_review: bool,
    /// The job that the next prompt forks.
    pub(super) fork_from: Option<String>,
    pub(super) list: ListState,
    _task: Task<()>,
}

/// The agents that a prompt starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AgentCount {
    /// One agent in the user's own folder.
    #[default]
    InFolder,
    /// This many agents, each in its own worktree.
    Worktrees(usize),
    /// This many agents at the same task, of which the best is taken.
    BestOf(usize),
}

impl AgentCount {
    /// Returns the choice after this one. The button cycles through the folder itself, one to four
    /// worktrees, best of two, and best of three.
    pub(super) fn next(self) -> Self {
        match self {
            Self::InFolder => Self::Worktrees(1),
            Self::Worktrees(count) if count < 4 => Self::Worktrees(count + 1),
            Self::Worktrees(_) => Self::BestOf(2),
            Self::BestOf(2) => Self::BestOf(3),
            Self::BestOf(_) => Self::InFolder,
        }
    }

    /// The same on the board, where no agent works in the user's folder.
    pub(super) fn in_worktrees(self) -> Self {
        match self {
            Self::InFolder => Self::Worktrees(1),
            other => other,
        }
    }

    /// Returns the label of the choice.
    pub(super) fn label(self) -> String {
        match self {
            Self::InFolder => "Here".to_owned(),
            Self::Worktrees(1) => "1 worktree".to_owned(),
            Self::Worktrees(count) => format!("{count} worktrees"),
            Self::BestOf(count) => format!("Best of {count}"),
        }
    }
}

/// A row of the review list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReviewRow<'a> {
    /// A conflicting file of a landing.
    Conflict(&'a Conflict),
    /// A hunk to accept or reject.
    Hunk(&'a BoardHunk),
}

impl ReviewRow<'_> {
    /// Id of the row.
    pub(super) fn id(&self) -> String {
        match self {
            // No id of a hunk has this form.
            Self::Conflict(conflict) => format!("{}:{}", conflict.job, conflict.path),
            Self::Hunk(hunk) => hunk.id.clone(),
        }
    }

    /// Returns the id of the job of the row.
    pub(super) fn job(&self) -> &str {
        match self {
            Self::Conflict(conflict) => &conflict.job,
            Self::Hunk(hunk) => &hunk.job,
        }
    }
}

impl BoardPane {
    /// The rows of the review list: first the conflicts that block a landing, then the hunks.
    pub(super) fn rows(&self) -> Vec<ReviewRow<'_>> {
        let job = self.job.as_deref();
        let is_of = |it: &&Conflict| job.is_none_or(|job| it.job == job);
        let conflicts = self
            .board
            .landing_conflicts
            .iter()
            .filter(is_of)
            .map(ReviewRow::Conflict);
        let hunks = self.board.hunks_of(job).map(ReviewRow::Hunk);
        conflicts.chain(hunks).collect()
    }

    /// The number of accepted hunks among the listed ones.
    pub(super) fn accepted(&self) -> usize {
        let hunks = self.board.hunks_of(self.job.as_deref());
        hunks
            .filter(|it| it.verdict == board::HunkVerdict::Accepted)
            .count()
    }

    /// Returns the selected job, or `None` if the rows of all jobs are listed.
    pub(super) fn chosen_job(&self) -> Option<&BoardJob> {
        self.board.job(self.job.as_deref()?)
    }

    /// Returns the selected row. Returns `None` if no row is selected, or the selected row is gone.
    pub(super) fn chosen_row(&self) -> Option<ReviewRow<'_>> {
        let chosen = self.row.as_deref()?;
        self.rows().into_iter().find(|row| row.id() == chosen)
    }

    /// Applies a new state of the board. The selection is kept while its target exists.
    fn apply_board(&mut self, board: Arc<Board>) {
        self.board = board;
        if self.chosen_job().is_none() {
            self.job = None;
        }
        let forking = self.fork_from.take();
        self.fork_from = forking.filter(|job| self.board.job(job).is_some());
        // Unless the user is in the list, the first row is selected.
        if !self.in_review || self.chosen_row().is_none() {
            self.row = self.rows().first().map(ReviewRow::id);
        }
        let count = self.rows().len();
        let old = self.list.item_count();
        self.list.splice(0..old, count);
        if count == 0 {
            self.in_review = false;
        }
    }

    fn choose_job(&mut self, job: Option<String>) {
        self.job = job;
        let board = self.board.clone();
        self.apply_board(board);
    }

    /// Selects the next or previous job; the position before the first selects all.
    fn step_job(&mut self, back: bool) {
        let jobs = &self.board.jobs;
        let at = jobs
            .iter()
            .position(|job| Some(job.id()) == self.job.as_deref());
        let next = match (at, back) {
            (None, true) => return,
            (None, false) => 0,
            (Some(0), true) => return self.choose_job(None),
            (Some(at), true) => at - 1,
            (Some(at), false) => at + 1,
        };
        if let Some(job) = jobs.get(next) {
            let id = job.id().to_owned();
            self.choose_job(Some(id));
        }
    }

    /// Selects the next or the previous row, and stops at both ends. Selects the first row if no
    /// row is selected.
    pub(super) fn step_row(&mut self, back: bool) {
        let rows: Vec<String> = self.rows().iter().map(ReviewRow::id).collect();
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

/// The events of a board that arrived since the last frame.
#[derive(Default)]
struct BoardNews {
    /// The latest state.
    board: Option<Arc<Board>>,
    /// The messages that no agent got, in order.
    undelivered: Vec<String>,
}

impl BoardNews {
    fn add(&mut self, event: Event) {
        match event {
            Event::Board(board) => self.board = Some(board),
            Event::Undelivered(prompt) => self.undelivered.push(prompt.text),
            _ => {}
        }
    }
}

impl ComposerPanel {
    /// Shows the board, and connects to it if necessary.
    pub(super) fn show_board(
        &mut self,
        _: &ShowBoard,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.page == PanelPage::Board {
            self.page = PanelPage::Session;
            self.focus_prompt(window, cx);
            cx.notify();
            return;
        }
        self.page = PanelPage::Board;
        self.list_focus.focus(window, cx);
        self.connect_board(None, window, cx);
        cx.notify();
    }

    /// Shows the board, for commands of the window.
    pub fn open_board(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.page = PanelPage::Session;
        self.show_board(&ShowBoard, window, cx);
    }

    /// Shows the states of a board.
    pub(super) fn follow_board(
        &mut self,
        connection: board::BoardConnection,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let board::BoardConnection { send, mut events } = connection;
        let task = cx.spawn_in(window, async move |this, cx| {
            while let Some(event) = events.next().await {
                let mut news = BoardNews::default();
                news.add(event);
                while let Ok(event) = events.try_recv() {
                    news.add(event);
                }
                let applied = this.update_in(cx, |this, window, cx| {
                    this.return_to_prompt(&news.undelivered, window, cx);
                    let Some(board) = news.board else {
                        return;
                    };
                    if let Some(pane) = &mut this.board {
                        let is_empty = board.jobs.is_empty();
                        pane.apply_board(board);
                        // There is nothing to select: the user types a task.
                        if is_empty && this.list_focus.is_focused(window) {
                            this.focus_prompt(window, cx);
                        }
                    }
                    this.follow_commented_hunk(window, cx);
                    cx.emit(PanelEvent::BoardChanged);
                    cx.notify();
                });
                if applied.is_err() {
                    return;
                }
            }
        });
        self.board = Some(BoardPane {
            send,
            board: Arc::default(),
            job: None,
            row: None,
            in_review: false,
            fork_from: None,
            list: ListState::new(0, ListAlignment::Top, px(400.0)),
            _task: task,
        });
    }

    /// Sends a text from the board page: as a fork, to the selected running agent, or as the task
    /// of new agents.
    pub(super) fn send_to_board(
        &mut self,
        text: String,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.error = None;
        if let Some(pane) = &mut self.board
            && let Some(job) = pane.fork_from.take()
        {
            (pane.send)(Command::Job(JobCommand::Fork { job, prompt: text }));
            self.clear_prompt(window, cx);
            return;
        }
        if self.external.is_some() {
            return self.start_in_worktrees(text, window, cx);
        }
        let pane = self
            .board
            .as_ref()
            .filter(|_| self.page == PanelPage::Board);
        let working = pane.and_then(|pane| Some((pane, pane.chosen_job()?)));
        if let Some((pane, job)) = working.filter(|(_, job)| job.state().is_live()) {
            let job = job.id().to_owned();
            (pane.send)(Command::Job(JobCommand::Steer { job, text }));
            self.clear_prompt(window, cx);
            return;
        }
        self.start_in_worktrees(text, window, cx);
    }

    /// Starts agents in worktrees.
    fn start_in_worktrees(&mut self, text: String, window: &mut Window, cx: &mut Context<Self>) {
        if self.engines_and_root(cx).is_none() {
            return;
        }
        self.clear_prompt(window, cx);
        let (agents, is_best_of) = match self.count {
            AgentCount::InFolder => (1, false),
            AgentCount::Worktrees(count) => (count, false),
            AgentCount::BestOf(count) => (count, true),
        };
        let task = board::StartAgents {
            prompt: text,
            model: self.model().to_owned(),
            agent: self.external.take_id(),
            mode: self.mode(),
            agents,
            is_best_of,
        };
        self.page = PanelPage::Board;
        self.list_focus.focus(window, cx);
        self.connect_board(Some(task), window, cx);
        cx.notify();
    }

    pub(super) fn next_count(&mut self, _: &NextCount, _: &mut Window, cx: &mut Context<Self>) {
        self.count = self.count.next();
        cx.notify();
    }

    /// Selects the next or the previous row or job, whichever list has the selection.
    pub(super) fn step_board(&mut self, back: bool, cx: &mut Context<Self>) {
        if let Some(pane) = &mut self.board {
            if pane.in_review {
                pane.step_row(back)
            } else {
                pane.step_job(back)
            }
            cx.notify();
        }
    }

    /// Selects a job and lists only the job's hunks. `None` lists the hunks of all jobs.
    pub(super) fn choose_job(&mut self, job: Option<String>, cx: &mut Context<Self>) {
        if let Some(pane) = &mut self.board {
            pane.in_review = false;
            pane.choose_job(job);
            cx.notify();
        }
    }

    /// Selects a row of the review list.
    pub(super) fn choose_row(&mut self, row: String, cx: &mut Context<Self>) {
        if let Some(pane) = &mut self.board {
            pane.in_review = true;
            pane.row = Some(row);
            cx.notify();
        }
    }

    pub(super) fn jump_to_review(
        &mut self,
        _: &JumpToReview,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(pane) = &mut self.board {
            pane.in_review = !pane.in_review && !pane.rows().is_empty();
            cx.notify();
        }
    }

    /// Opens the selection: the transcript of an agent, or the file of a hunk in its worktree.
    pub(super) fn open_on_board(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(pane) = &self.board else {
            return;
        };
        if pane.in_review {
            self.open_hunk(cx)
        } else {
            let job = pane.job.clone();
            if let Some(id) = job {
                self.watch_job(id, window, cx);
            }
        }
    }

    /// Opens the file of the selected row in the agent's worktree.
    pub(super) fn open_hunk(&mut self, cx: &mut Context<Self>) {
        let Some(pane) = &self.board else {
            return;
        };
        let (job, path, line) = match pane.chosen_row() {
            Some(ReviewRow::Hunk(hunk)) => (&hunk.job, &hunk.path, Some(hunk.line)),
            Some(ReviewRow::Conflict(conflict)) => (&conflict.job, &conflict.path, None),
            None => return,
        };
        if let Some(root) = pane.board.job(job).and_then(BoardJob::root) {
            cx.emit(PanelEvent::OpenFile(root.join(path), line));
        }
    }

    pub(super) fn watch_job(&mut self, id: String, window: &mut Window, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self.loads.opening = Some(cx.spawn_in(window, async move |this, cx| {
            let opened = agents.watch(root, id).await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| {
                match opened {
                    Ok(connection) => {
                        this.page = PanelPage::Session;
                        this.show(connection, window, cx);
                        this.focus_prompt(window, cx);
                    }
                    Err(error) => this.report_session_problem(&error.to_string(), cx),
                }
                cx.notify();
            })
            .ok();
        }));
    }
}
