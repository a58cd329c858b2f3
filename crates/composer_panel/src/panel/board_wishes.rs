//! What the person's keys on the board want of the engine.

use gpui_kit::{Context, Window};

use super::board::{BoardFace, Chosen};
use super::{ComposerPanel, PanelEvent};
use crate::actions::{
    AcceptAgent, AcceptHunk, BringHere, CompareAgents, ForkAgent, GiveUpLanding, Land, PauseAgent,
    RejectHunk, RemoveAgent, RestoreTurn, SendThere, StopAgent, UndoLanding, UndoRestore,
    UndoVerdict, WriteDispute,
};
use crate::board::{AgentState, Settlement, Side, Verdict, Wish};

impl ComposerPanel {
    fn wish(&mut self, wish: impl FnOnce(&mut BoardFace) -> Option<Wish>, cx: &mut Context<Self>) {
        if let Some(face) = &mut self.board
            && let Some(wish) = wish(face)
        {
            (face.tell)(wish);
            cx.notify();
        }
    }

    /// Decides about a row, the chosen one where none is named, and goes on to the next. Said again of a change, it
    /// is taken back; a dispute is settled as the agent has it, or as the branch does.
    pub(super) fn judge(&mut self, row: Option<String>, verdict: Verdict, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                face.row = row.or_else(|| face.row.take());
                face.in_review = true;
                match face.chosen_row()? {
                    Chosen::Dispute(dispute) => Some(Wish::Settle {
                        agent: dispute.agent.clone(),
                        path: dispute.path.clone(),
                        with: match verdict {
                            Verdict::Accepted => Settlement::Agent,
                            Verdict::Open | Verdict::Rejected => Settlement::Branch,
                        },
                    }),
                    Chosen::Hunk(hunk) => {
                        let id = hunk.id.clone();
                        let verdict = match hunk.verdict == verdict {
                            true => Verdict::Open,
                            false => verdict,
                        };
                        if verdict != Verdict::Open {
                            face.step_row(false);
                        }
                        Some(Wish::Judge { hunk: id, verdict })
                    }
                }
            },
            cx,
        );
    }

    /// Decides about a change by its name, for who shows it elsewhere.
    pub fn judge_hunk(&mut self, hunk: &str, verdict: Verdict, cx: &mut Context<Self>) {
        self.judge(Some(hunk.to_owned()), verdict, cx);
    }

    /// Settles a dispute with a text that the person wrote.
    pub fn settle_with(&mut self, agent: &str, path: &str, text: String, cx: &mut Context<Self>) {
        self.wish(
            |_| {
                Some(Wish::Settle {
                    agent: agent.to_owned(),
                    path: path.to_owned(),
                    with: Settlement::Text(text),
                })
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

    /// Has the person write how the chosen dispute is to end.
    pub(super) fn write_dispute(
        &mut self,
        _: &WriteDispute,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let face = self.board.as_ref();
        if let Some(Chosen::Dispute(dispute)) = face.and_then(BoardFace::chosen_row)
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
        self.wish(
            |face| match face.chosen_row() {
                Some(Chosen::Dispute(dispute)) => Some(Wish::GiveUpLanding(dispute.agent.clone())),
                _ => {
                    let agent = face.chosen_agent()?;
                    let is_stuck = |it: &crate::board::Dispute| it.agent == agent.id;
                    let is_stuck = face.board.disputes.iter().any(is_stuck);
                    is_stuck.then(|| Wish::GiveUpLanding(agent.id.clone()))
                }
            },
            cx,
        );
    }

    pub(super) fn accept_agent(&mut self, _: &AcceptAgent, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                let of_row = face.chosen_row().map(|row| row.agent().to_owned());
                Some(Wish::AcceptAll(face.agent.clone().or(of_row)?))
            },
            cx,
        );
    }

    pub(super) fn undo_verdict(&mut self, _: &UndoVerdict, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(|_| Some(Wish::UndoVerdict), cx);
    }

    pub(super) fn land(&mut self, _: &Land, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(
            |face| (face.accepted() > 0).then(|| Wish::Land(Vec::from_iter(face.agent.clone()))),
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

    /// What is written next begins another agent from the chosen one's work.
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
            face.forking = Some(agent);
            self.focus_prompt(window, cx);
            cx.notify();
        }
    }

    /// Nobody is forked after all; `false` where nobody was to be.
    pub(super) fn drop_fork(&mut self, cx: &mut Context<Self>) -> bool {
        let forking = self.board.as_mut().and_then(|face| face.forking.take());
        cx.notify();
        forking.is_some()
    }

    pub(super) fn bring_here(&mut self, _: &BringHere, _: &mut Window, cx: &mut Context<Self>) {
        self.hand_over(Side::Person, cx);
    }

    pub(super) fn send_there(&mut self, _: &SendThere, _: &mut Window, cx: &mut Context<Self>) {
        self.hand_over(Side::Agent, cx);
    }

    fn hand_over(&mut self, to: Side, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                let agent = face.chosen_agent().filter(|agent| agent.root.is_some())?;
                let agent = agent.id.clone();
                Some(Wish::HandOver { agent, to })
            },
            cx,
        );
    }

    /// Has the person choose the turn to go back to.
    pub(super) fn restore_turn(&mut self, _: &RestoreTurn, _: &mut Window, cx: &mut Context<Self>) {
        let face = self.board.as_ref();
        if let Some(agent) = face.and_then(BoardFace::chosen_agent)
            && agent.turns > 0
        {
            cx.emit(PanelEvent::ChooseTurn {
                agent: agent.id.clone(),
                turns: agent.turns,
            });
        }
    }

    /// An agent's worktree becomes what a turn found.
    pub fn restore(&mut self, agent: &str, turn: u64, cx: &mut Context<Self>) {
        let agent = agent.to_owned();
        self.wish(|_| Some(Wish::Restore { agent, turn }), cx);
    }

    pub(super) fn undo_restore(&mut self, _: &UndoRestore, _: &mut Window, cx: &mut Context<Self>) {
        self.wish(
            |face| {
                let told = face.board.told.as_ref()?;
                told.can_undo.then_some(Wish::UndoRestore)
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
        self.wish(
            |face| (!face.board.contest.is_empty()).then_some(Wish::Compare),
            cx,
        );
    }
}
