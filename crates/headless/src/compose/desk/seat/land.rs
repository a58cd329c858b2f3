//! Landings: begun, settled, given up, taken back. One at a time, beside the seat's task.

use composer::board::{Command, Line, Settled};
use composer::desk::{Landing, Settlement};

use super::{Seat, is_at_work};
use crate::compose::checks::OwnChecks;
use crate::compose::land::Landed;
use crate::compose::picks::{accepted, loads};

/// What was done beside.
pub(super) struct Done {
    landed: Vec<Landed>,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Land,
    Settle,
    Undo,
}

impl Seat {
    /// Has accepted hunks landed, one agent after the other; those picked from several of a contest together.
    pub(super) fn land(&mut self, agents: &[String]) -> Result<(), String> {
        let review = self.judge.review().cloned();
        let review = review.ok_or("Nothing was looked at yet: wait a moment.")?;
        let wanted = self.table.lines.iter().filter(|line| {
            (agents.is_empty() || agents.contains(&line.job)) && accepted(&review, line) > 0
        });
        let (busy, wanted): (Vec<&Line>, Vec<&Line>) = wanted.partition(|line| is_at_work(line));
        if let (Some(busy), true) = (busy.first(), wanted.is_empty()) {
            return self.resting(&busy.job).map(drop);
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
        let wanted: Vec<Line> = wanted.into_iter().cloned().collect();
        self.begin(move |lander, checks| {
            let wanted: Vec<&Line> = wanted.iter().collect();
            let loads = loads(&review, &wanted, |_| true)?;
            Ok(Done {
                landed: lander.land_all(loads, None, checks),
                what: What::Land,
            })
        });
        Ok(())
    }

    pub(super) fn undo_landing(&mut self) -> Result<(), String> {
        let lines = self.table.lines.clone();
        self.begin(move |lander, _| {
            Ok(Done {
                landed: vec![lander.undo(0, &lines)?],
                what: What::Undo,
            })
        });
        Ok(())
    }

    pub(super) fn settle(
        &mut self,
        agent: &str,
        path: String,
        with: Settlement,
    ) -> Result<(), String> {
        let line = self.line(agent)?.clone();
        let lines = self.table.lines.clone();
        self.begin(move |lander, checks| {
            let landed = lander.settle((&line, &lines), (&path, &with), checks)?;
            Ok(Done {
                landed: vec![landed],
                what: What::Settle,
            })
        });
        Ok(())
    }

    pub(super) fn give_up(&mut self, agent: &str) -> Result<(), String> {
        let line = self.line(agent)?.clone();
        self.begin(move |lander, _| {
            Ok(Done {
                landed: vec![lander.give_up(&line)?],
                what: What::Settle,
            })
        });
        Ok(())
    }

    fn begin(
        &mut self,
        act: impl FnOnce(&crate::compose::land::Lander, &OwnChecks) -> Result<Done, String>
        + Send
        + 'static,
    ) {
        self.table.told = None;
        self.table.landing = Some(Landing {
            text: format!("Landing on {}\u{2026}", self.table.branch),
            is_bad: false,
            can_undo: false,
        });
        let (lander, dirs) = (self.lander.clone(), self.dirs.clone());
        let folder = self.fleet.trees.folder().clone();
        self.landing = Some(tokio::task::spawn_blocking(move || {
            let checks = OwnChecks::read(&dirs, &folder)?;
            act(&lander, &checks)
        }));
    }

    pub(super) async fn landed(&mut self, done: Result<Result<Done, String>, String>) {
        self.is_dirty = true;
        let done = match done.and_then(|done| done) {
            Ok(done) => done,
            Err(sentence) => {
                self.table.landing = Some(Landing {
                    text: sentence,
                    is_bad: true,
                    can_undo: false,
                });
                return;
            }
        };
        self.table.landing = Some(told(&done, &self.table.branch));
        for one in done.landed {
            let Some(how) = one.settled else { continue };
            for job in one.jobs {
                let how = how.clone();
                // A board that has ended says so elsewhere.
                let settled = Command::Settled { job, how };
                self.fleet.board.commands.send(settled).await.ok();
            }
        }
    }
}

/// What came of it, for people.
fn told(done: &Done, branch: &str) -> Landing {
    let bad = done.landed.iter().filter(|it| !it.is_good);
    let bad: Vec<&str> = bad
        .map(|it| match it.settled {
            // What it is about stands in the list.
            Some(Settled::Conflict(_)) => "Not landed yet: settle the conflict in the list.",
            _ => it.text.as_str(),
        })
        .collect();
    let is_on_branch = |it: &&Landed| matches!(it.settled, Some(Settled::Landed(_)));
    let on_branch = done.landed.iter().filter(is_on_branch).count();
    let good = match (done.what, on_branch) {
        (What::Undo, _) => format!("Taken back: {branch} is as it was before."),
        (_, 1) => format!("Landed on {branch}."),
        (_, 0) => {
            let good = done.landed.iter().filter(|it| it.is_good);
            let texts: Vec<String> = good.map(|it| sentence(&it.text)).collect();
            texts.join(" ")
        }
        (_, count) => format!("Landed {count} agents' work on {branch}."),
    };
    let text = match (bad.is_empty(), good.is_empty() || done.what == What::Undo) {
        (true, _) => good,
        (false, true) => bad.join(" "),
        (false, false) => format!("{good} {}", bad.join(" ")),
    };
    Landing {
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
