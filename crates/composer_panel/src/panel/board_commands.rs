//! Handles the actions on the board and sends commands to the engine.

use gpui_kit::{Context, Window};

use super::board::{BoardPane, ReviewRow};
use super::{ComposerPanel, PanelEvent};
use crate::actions::{
    AcceptAgent, AcceptHunk, BringHere, CompareAgents, ForkAgent, GiveUpLanding, Land,
    LandWithErrors, PauseAgent, RejectHunk, RemoveAgent, RestoreTurn, SendThere, StopAgent,
    UndoLanding, UndoRestore, UndoVerdict, WriteDispute,
};
use crate::board::{
    Command, Conflict, HandOverTarget, HunkVerdict, JobCommand, JobState, Resolution,
};

impl ComposerPanel {
    /// Sends the command that `command` makes of the open board, and redraws the panel. Does
    /// nothing without a board or if `command` returns `None`.
    fn send_command(
        &mut self,
        command: impl FnOnce(&mut BoardPane) -> Option<Command>,
        cx: &mut Context<Self>,
    ) {
        if let Some(pane) = &mut self.board
            && let Some(command) = command(pane)
        {
            (pane.send)(command);
            cx.notify();
        }
    }

    /// Sends a command for one job, as `send_command` does.
    fn send_job_command(
        &mut self,
        command: impl FnOnce(&mut BoardPane) -> Option<JobCommand>,
        cx: &mut Context<Self>,
    ) {
        self.send_command(|pane| command(pane).map(Command::Job), cx);
    }

    /// Sets the verdict on a row, the selected one by default, and selects the next. Repeating a
    /// verdict on a hunk withdraws it; a conflict is resolved with the agent's or the branch's
    /// version.
    pub(super) fn decide_row(
        &mut self,
        row: Option<String>,
        verdict: HunkVerdict,
        cx: &mut Context<Self>,
    ) {
        self.send_command(
            |pane| {
                pane.row = row.or_else(|| pane.row.take());
                pane.in_review = true;
                match pane.chosen_row()? {
                    ReviewRow::Conflict(conflict) => Some(Command::ResolveConflict {
                        job: conflict.job.clone(),
                        path: conflict.path.clone(),
                        resolution: match verdict {
                            HunkVerdict::Accepted => Resolution::Agent,
                            HunkVerdict::Open | HunkVerdict::Rejected => Resolution::Branch,
                        },
                    }),
                    ReviewRow::Hunk(hunk) => {
                        let id = hunk.id.clone();
                        let verdict = if hunk.verdict == verdict {
                            HunkVerdict::Open
                        } else {
                            verdict
                        };
                        if verdict != HunkVerdict::Open {
                            pane.step_row(false);
                        }
                        Some(Command::Decide { hunk: id, verdict })
                    }
                }
            },
            cx,
        );
    }

    /// Sets the verdict on a hunk by its id, for other views that show the hunk. Repeating the same
    /// verdict withdraws it.
    pub fn decide_hunk(&mut self, hunk: &str, verdict: HunkVerdict, cx: &mut Context<Self>) {
        if self.decide_folder_hunk(hunk, verdict, None, cx) {
            return;
        }
        self.decide_row(Some(hunk.to_owned()), verdict, cx);
    }

    /// Resolves a conflict in a job's landing. The file gets the whole text that the user wrote.
    pub fn resolve_with(&mut self, job: &str, path: &str, text: String, cx: &mut Context<Self>) {
        self.send_command(
            |_| {
                Some(Command::ResolveConflict {
                    job: job.to_owned(),
                    path: path.to_owned(),
                    resolution: Resolution::Text(text),
                })
            },
            cx,
        );
    }

    pub(super) fn accept_hunk(&mut self, _: &AcceptHunk, _: &mut Window, cx: &mut Context<Self>) {
        if !self.decide_selected_change(HunkVerdict::Accepted, cx) {
            self.decide_row(None, HunkVerdict::Accepted, cx);
        }
    }

    pub(super) fn reject_hunk(&mut self, _: &RejectHunk, _: &mut Window, cx: &mut Context<Self>) {
        if !self.decide_selected_change(HunkVerdict::Rejected, cx) {
            self.decide_row(None, HunkVerdict::Rejected, cx);
        }
    }

    /// Lets the user edit the resolution of the selected conflict.
    pub(super) fn write_dispute(
        &mut self,
        _: &WriteDispute,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let pane = self.board.as_ref();
        if let Some(ReviewRow::Conflict(conflict)) = pane.and_then(BoardPane::chosen_row)
            && let Some(draft) = conflict.draft.clone()
        {
            cx.emit(PanelEvent::WriteDispute {
                agent: conflict.job.clone(),
                path: conflict.path.clone(),
                draft,
            });
        }
    }

    pub(super) fn give_up_landing(
        &mut self,
        _: &GiveUpLanding,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.send_command(
            |pane| match pane.chosen_row() {
                Some(ReviewRow::Conflict(conflict)) => {
                    Some(Command::AbandonLanding(conflict.job.clone()))
                }
                _ => {
                    let job = pane.chosen_job()?.id();
                    let is_of = |it: &Conflict| it.job == job;
                    let is_stuck = pane.board.landing_conflicts.iter().any(is_of);
                    is_stuck.then(|| Command::AbandonLanding(job.to_owned()))
                }
            },
            cx,
        );
    }

    pub(super) fn accept_agent(&mut self, _: &AcceptAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |pane| {
                let of_row = pane.chosen_row().map(|row| row.job().to_owned());
                Some(Command::AcceptAll(pane.job.clone().or(of_row)?))
            },
            cx,
        );
    }

    pub(super) fn undo_verdict(&mut self, _: &UndoVerdict, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(|_| Some(Command::UndoVerdict), cx);
    }

    pub(super) fn land(&mut self, _: &Land, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |pane| (pane.accepted() > 0).then(|| Command::Land(Vec::from_iter(pane.job.clone()))),
            cx,
        );
    }

    pub(super) fn land_with_errors(
        &mut self,
        _: &LandWithErrors,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.send_command(
            |pane| {
                let jobs = Vec::from_iter(pane.job.clone());
                (pane.accepted() > 0).then_some(Command::LandWithErrors(jobs))
            },
            cx,
        );
    }

    pub(super) fn undo_landing(&mut self, _: &UndoLanding, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |pane| {
                let landing = pane.board.landing.as_ref()?;
                landing.can_undo.then_some(Command::UndoLanding)
            },
            cx,
        );
    }

    pub(super) fn pause_agent(&mut self, _: &PauseAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.send_job_command(
            |pane| {
                let job = pane.chosen_job()?;
                match job.state() {
                    JobState::Paused => Some(JobCommand::Resume(job.id().to_owned())),
                    state if state.is_live() => Some(JobCommand::Pause(job.id().to_owned())),
                    _ => None,
                }
            },
            cx,
        );
    }

    pub(super) fn stop_agent(&mut self, _: &StopAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.send_job_command(
            |pane| {
                let job = pane.chosen_job()?;
                let is_open = job.state().is_open();
                is_open.then(|| JobCommand::Stop(job.id().to_owned()))
            },
            cx,
        );
    }

    pub(super) fn remove_agent(&mut self, _: &RemoveAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.send_job_command(
            |pane| {
                let job = pane.chosen_job()?;
                let is_idle = !job.state().is_live();
                is_idle.then(|| JobCommand::Release(job.id().to_owned()))
            },
            cx,
        );
    }

    /// Makes the next prompt fork the selected agent.
    pub(super) fn fork_agent(
        &mut self,
        _: &ForkAgent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(pane) = &mut self.board else {
            return;
        };
        let chosen = pane.chosen_job().filter(|job| job.root().is_some());
        if let Some(job) = chosen.map(|job| job.id().to_owned()) {
            pane.fork_from = Some(job);
            self.focus_prompt(window, cx);
            cx.notify();
        }
    }

    /// Cancels the fork that the next prompt would begin. Returns `false` if no fork was prepared.
    pub(super) fn cancel_fork(&mut self, cx: &mut Context<Self>) -> bool {
        let forking = self.board.as_mut().and_then(|pane| pane.fork_from.take());
        cx.notify();
        forking.is_some()
    }

    pub(super) fn bring_here(&mut self, _: &BringHere, _: &mut Window, cx: &mut Context<Self>) {
        self.hand_over(HandOverTarget::User, cx);
    }

    pub(super) fn send_there(&mut self, _: &SendThere, _: &mut Window, cx: &mut Context<Self>) {
        self.hand_over(HandOverTarget::Agent, cx);
    }

    fn hand_over(&mut self, to: HandOverTarget, cx: &mut Context<Self>) {
        self.send_job_command(
            |pane| {
                let job = pane.chosen_job().filter(|job| job.root().is_some())?;
                let job = job.id().to_owned();
                Some(JobCommand::HandOver { job, to })
            },
            cx,
        );
    }

    /// Lets the user choose the turn to restore.
    pub(super) fn restore_turn(&mut self, _: &RestoreTurn, _: &mut Window, cx: &mut Context<Self>) {
        let pane = self.board.as_ref();
        if let Some(job) = pane.and_then(BoardPane::chosen_job)
            && job.status.turns > 0
        {
            cx.emit(PanelEvent::ChooseTurn {
                agent: job.id().to_owned(),
                turns: job.status.turns,
            });
        }
    }

    /// Restores an agent's worktree to the start of a turn, counted from 1; the agent's
    /// conversation stays.
    pub fn restore(&mut self, job: &str, turn: u64, cx: &mut Context<Self>) {
        let job = job.to_owned();
        self.send_command(|_| Some(Command::Restore { job, turn }), cx);
    }

    pub(super) fn undo_restore(
        &mut self,
        action: &UndoRestore,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.undo_folder_action(action, cx) {
            return;
        }
        self.send_command(
            |pane| {
                let notice = pane.board.notice.as_ref()?;
                notice.can_undo.then_some(Command::UndoRestore)
            },
            cx,
        );
    }

    pub(super) fn compare_agents(
        &mut self,
        _: &CompareAgents,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.send_command(
            |pane| (!pane.board.best_of.is_empty()).then_some(Command::Compare),
            cx,
        );
    }
}
