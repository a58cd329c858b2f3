//! Handles the actions on the board and sends commands to the engine.

use gpui_kit::{Context, Window};

use super::board::{BoardPane, ReviewRow};
use super::{ComposerPanel, PanelEvent};
use crate::actions::{
    AcceptAgent, AcceptHunk, BringHere, CompareAgents, ForkAgent, GiveUpLanding, Land, PauseAgent,
    RejectHunk, RemoveAgent, RestoreTurn, SendThere, StopAgent, UndoLanding, UndoRestore,
    UndoVerdict, WriteDispute,
};
use crate::board::{AgentState, ConflictChoice, HandOverTarget, HunkVerdict, UserCommand};

impl ComposerPanel {
    fn send_command(
        &mut self,
        wish: impl FnOnce(&mut BoardPane) -> Option<UserCommand>,
        cx: &mut Context<Self>,
    ) {
        if let Some(face) = &mut self.board
            && let Some(wish) = wish(face)
        {
            (face.send)(wish);
            cx.notify();
        }
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
            |face| {
                face.row = row.or_else(|| face.row.take());
                face.in_review = true;
                match face.chosen_row()? {
                    ReviewRow::Conflict(dispute) => Some(UserCommand::ResolveConflict {
                        agent: dispute.agent.clone(),
                        path: dispute.path.clone(),
                        choice: match verdict {
                            HunkVerdict::Accepted => ConflictChoice::Agent,
                            HunkVerdict::Open | HunkVerdict::Rejected => ConflictChoice::Branch,
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
                            face.step_row(false);
                        }
                        Some(UserCommand::Decide { hunk: id, verdict })
                    }
                }
            },
            cx,
        );
    }

    /// Sets the verdict on a hunk by its id, for other views that show it.
    pub fn decide_hunk(&mut self, hunk: &str, verdict: HunkVerdict, cx: &mut Context<Self>) {
        self.decide_row(Some(hunk.to_owned()), verdict, cx);
    }

    /// Resolves a conflict with a text that the user wrote.
    pub fn resolve_with(&mut self, agent: &str, path: &str, text: String, cx: &mut Context<Self>) {
        self.send_command(
            |_| {
                Some(UserCommand::ResolveConflict {
                    agent: agent.to_owned(),
                    path: path.to_owned(),
                    choice: ConflictChoice::Text(text),
                })
            },
            cx,
        );
    }

    pub(super) fn accept_hunk(&mut self, _: &AcceptHunk, _: &mut Window, cx: &mut Context<Self>) {
        self.decide_row(None, HunkVerdict::Accepted, cx);
    }

    pub(super) fn reject_hunk(&mut self, _: &RejectHunk, _: &mut Window, cx: &mut Context<Self>) {
        self.decide_row(None, HunkVerdict::Rejected, cx);
    }

    /// Lets the user edit the resolution of the selected conflict.
    pub(super) fn write_dispute(
        &mut self,
        _: &WriteDispute,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let face = self.board.as_ref();
        if let Some(ReviewRow::Conflict(dispute)) = face.and_then(BoardPane::chosen_row)
            && let Some(draft) = dispute.draft.clone()
        {
            cx.emit(PanelEvent::WriteDispute {
                agent: dispute.agent.clone(),
                path: dispute.path.clone(),
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
            |face| match face.chosen_row() {
                Some(ReviewRow::Conflict(dispute)) => {
                    Some(UserCommand::AbandonLanding(dispute.agent.clone()))
                }
                _ => {
                    let agent = face.chosen_agent()?;
                    let is_stuck = |it: &crate::board::LandingConflict| it.agent == agent.id;
                    let is_stuck = face.board.landing_conflicts.iter().any(is_stuck);
                    is_stuck.then(|| UserCommand::AbandonLanding(agent.id.clone()))
                }
            },
            cx,
        );
    }

    pub(super) fn accept_agent(&mut self, _: &AcceptAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |face| {
                let of_row = face.chosen_row().map(|row| row.agent().to_owned());
                Some(UserCommand::AcceptAll(face.agent.clone().or(of_row)?))
            },
            cx,
        );
    }

    pub(super) fn undo_verdict(&mut self, _: &UndoVerdict, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(|_| Some(UserCommand::UndoVerdict), cx);
    }

    pub(super) fn land(&mut self, _: &Land, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |face| {
                (face.accepted() > 0).then(|| UserCommand::Land(Vec::from_iter(face.agent.clone())))
            },
            cx,
        );
    }

    pub(super) fn undo_landing(&mut self, _: &UndoLanding, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |face| {
                let landing = face.board.landing.as_ref()?;
                landing.can_undo.then_some(UserCommand::UndoLanding)
            },
            cx,
        );
    }

    pub(super) fn pause_agent(&mut self, _: &PauseAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |face| {
                let agent = face.chosen_agent()?;
                let is_paused = match agent.state {
                    AgentState::Paused => false,
                    state if state.is_live() => true,
                    _ => return None,
                };
                Some(UserCommand::Pause {
                    agent: agent.id.clone(),
                    is_paused,
                })
            },
            cx,
        );
    }

    pub(super) fn stop_agent(&mut self, _: &StopAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |face| {
                let agent = face.chosen_agent()?;
                let is_there = agent.state.is_live() || agent.state == AgentState::Paused;
                is_there.then(|| UserCommand::Stop(agent.id.clone()))
            },
            cx,
        );
    }

    pub(super) fn remove_agent(&mut self, _: &RemoveAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |face| {
                let agent = face.chosen_agent()?;
                (!agent.state.is_live()).then(|| UserCommand::Remove(agent.id.clone()))
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
        let Some(face) = &mut self.board else {
            return;
        };
        let chosen = face.chosen_agent().filter(|agent| agent.root.is_some());
        if let Some(agent) = chosen.map(|agent| agent.id.clone()) {
            face.fork_from = Some(agent);
            self.focus_prompt(window, cx);
            cx.notify();
        }
    }

    /// Cancels a fork; `false` if none was prepared.
    pub(super) fn cancel_fork(&mut self, cx: &mut Context<Self>) -> bool {
        let forking = self.board.as_mut().and_then(|face| face.fork_from.take());
        cx.notify();
        forking.is_some()
    }

    pub(super) fn bring_here(&mut self, _: &BringHere, _: &mut Window, cx: &mut Context<Self>) {
        self.hand_over(HandOverTarget::Person, cx);
    }

    pub(super) fn send_there(&mut self, _: &SendThere, _: &mut Window, cx: &mut Context<Self>) {
        self.hand_over(HandOverTarget::Agent, cx);
    }

    fn hand_over(&mut self, to: HandOverTarget, cx: &mut Context<Self>) {
        self.send_command(
            |face| {
                let agent = face.chosen_agent().filter(|agent| agent.root.is_some())?;
                let agent = agent.id.clone();
                Some(UserCommand::HandOver { agent, to })
            },
            cx,
        );
    }

    /// Lets the user choose the turn to restore.
    pub(super) fn restore_turn(&mut self, _: &RestoreTurn, _: &mut Window, cx: &mut Context<Self>) {
        let face = self.board.as_ref();
        if let Some(agent) = face.and_then(BoardPane::chosen_agent)
            && agent.turns > 0
        {
            cx.emit(PanelEvent::ChooseTurn {
                agent: agent.id.clone(),
                turns: agent.turns,
            });
        }
    }

    /// Restores an agent's worktree to the start of a turn.
    pub fn restore(&mut self, agent: &str, turn: u64, cx: &mut Context<Self>) {
        let agent = agent.to_owned();
        self.send_command(|_| Some(UserCommand::Restore { agent, turn }), cx);
    }

    pub(super) fn undo_restore(&mut self, _: &UndoRestore, _: &mut Window, cx: &mut Context<Self>) {
        self.send_command(
            |face| {
                let told = face.board.notice.as_ref()?;
                told.can_undo.then_some(UserCommand::UndoRestore)
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
            |face| (!face.board.best_of.is_empty()).then_some(UserCommand::Compare),
            cx,
        );
    }
}
