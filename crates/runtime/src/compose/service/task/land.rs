//! Landings: started, resolved, abandoned, undone. One at a time, beside the composer task.

use composer::board::{BoardCommand, JobStatus, WorkOutcome};
use composer::view::{ConflictChoice, LandingStatus};

use super::{ComposerTask, is_running};
use crate::compose::checks::OwnChecks;
use crate::compose::land::MergeResult;
use crate::compose::selection::{accepted, loads};

/// The outcome of a landing that ran in the background.
pub(super) struct MergeReport {
    landed: Vec<MergeResult>,
    action: MergeAction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MergeAction {
    Land,
    Settle,
    Undo,
}

impl ComposerTask {
    /// Has accepted hunks landed, one agent after the other; those picked from several of a contest together.
    pub(super) fn land(&mut self, agents: &[String]) -> Result<(), String> {
        let review = self.decisions.review().cloned();
        let review = review.ok_or("Nothing was looked at yet: wait a moment.")?;
        let wanted = self.model.lines.iter().filter(|line| {
            (agents.is_empty() || agents.contains(&line.job)) && accepted(&review, line) > 0
        });
        let (busy, wanted): (Vec<&JobStatus>, Vec<&JobStatus>) =
            wanted.partition(|line| is_running(line));
        if let (Some(busy), true) = (busy.first(), wanted.is_empty()) {
            return self.idle_job(&busy.job).map(drop);
        }
        if wanted.is_empty() {
            return Err("Nothing is accepted that could land: accept a hunk first.".to_owned());
        }
        let touched = review.accepted_hunks().map(|hunk| {
            let is_wanted = wanted.iter().any(|line| line.job == hunk.session);
            is_wanted.then(|| hunk.path.to_string())
        });
        let touched: Vec<String> = touched.flatten().collect();
        self.refuse_unsaved(touched.iter().map(String::as_str))?;
        let wanted: Vec<JobStatus> = wanted.into_iter().cloned().collect();
        self.start_merge(move |lander, checks| {
            let wanted: Vec<&JobStatus> = wanted.iter().collect();
            let loads = loads(&review, &wanted, |_| true)?;
            Ok(MergeReport {
                landed: lander.land_all(loads, None, checks),
                action: MergeAction::Land,
            })
        });
        Ok(())
    }

    pub(super) fn undo_landing(&mut self) -> Result<(), String> {
        let lines = self.model.lines.clone();
        self.start_merge(move |lander, _| {
            Ok(MergeReport {
                landed: vec![lander.undo(0, &lines)?],
                action: MergeAction::Undo,
            })
        });
        Ok(())
    }

    pub(super) fn resolve_file(
        &mut self,
        agent: &str,
        path: String,
        with: ConflictChoice,
    ) -> Result<(), String> {
        let line = self.job_status(agent)?.clone();
        let lines = self.model.lines.clone();
        self.start_merge(move |lander, checks| {
            let landed = lander.resolve_file((&line, &lines), (&path, &with), checks)?;
            Ok(MergeReport {
                landed: vec![landed],
                action: MergeAction::Settle,
            })
        });
        Ok(())
    }

    pub(super) fn abandon_merge(&mut self, agent: &str) -> Result<(), String> {
        let line = self.job_status(agent)?.clone();
        self.start_merge(move |lander, _| {
            Ok(MergeReport {
                landed: vec![lander.abandon(&line)?],
                action: MergeAction::Settle,
            })
        });
        Ok(())
    }

    fn start_merge(
        &mut self,
        act: impl FnOnce(&crate::compose::land::MergeService, &OwnChecks) -> Result<MergeReport, String>
        + Send
        + 'static,
    ) {
        self.model.notice = None;
        self.model.landing = Some(LandingStatus {
            text: format!("Landing on {}\u{2026}", self.model.branch),
            is_bad: false,
            can_undo: false,
        });
        let (lander, dirs) = (self.merges.clone(), self.dirs.clone());
        let folder = self.composer.worktrees.folder().clone();
        self.landing = Some(tokio::task::spawn_blocking(move || {
            let checks = OwnChecks::read(&dirs, &folder)?;
            act(&lander, &checks)
        }));
    }

    pub(super) async fn landed(&mut self, done: Result<Result<MergeReport, String>, String>) {
        self.is_dirty = true;
        let done = match done.and_then(|done| done) {
            Ok(done) => done,
            Err(sentence) => {
                self.model.landing = Some(LandingStatus {
                    text: sentence,
                    is_bad: true,
                    can_undo: false,
                });
                return;
            }
        };
        self.model.landing = Some(landing_summary(&done, &self.model.branch));
        for one in done.landed {
            let Some(how) = one.settled else { continue };
            for job in one.jobs {
                let how = how.clone();
                // A board that has ended reports it by an event.
                let settled = BoardCommand::RecordOutcome { job, outcome: how };
                self.composer.board.commands.send(settled).await.ok();
            }
        }
    }
}

/// Summarizes a landing for the window.
fn landing_summary(done: &MergeReport, branch: &str) -> LandingStatus {
    let bad = done.landed.iter().filter(|it| !it.is_good);
    let bad: Vec<&str> = bad
        .map(|it| match it.settled {
            // The list shows the conflict itself.
            Some(WorkOutcome::Conflict(_)) => "Not landed yet: resolve the conflict in the list.",
            _ => it.text.as_str(),
        })
        .collect();
    let is_on_branch = |it: &&MergeResult| matches!(it.settled, Some(WorkOutcome::Landed(_)));
    let on_branch = done.landed.iter().filter(is_on_branch).count();
    let good = match (done.action, on_branch) {
        (MergeAction::Undo, _) => format!("Taken back: {branch} is as it was before."),
        (_, 1) => format!("Landed on {branch}."),
        (_, 0) => {
            let good = done.landed.iter().filter(|it| it.is_good);
            let texts: Vec<String> = good.map(|it| sentence(&it.text)).collect();
            texts.join(" ")
        }
        (_, count) => format!("Landed {count} agents' work on {branch}."),
    };
    let text = match (
        bad.is_empty(),
        good.is_empty() || done.action == MergeAction::Undo,
    ) {
        (true, _) => good,
        (false, true) => bad.join(" "),
        (false, false) => format!("{good} {}", bad.join(" ")),
    };
    LandingStatus {
        text,
        is_bad: !bad.is_empty(),
        can_undo: on_branch > 0,
    }
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{}{}{stop}", first.unwrap_or_default(), letters.as_str())
}
