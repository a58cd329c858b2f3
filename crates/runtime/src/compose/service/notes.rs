//! Tells running agents about forecast conflicts, once per conflict.

use std::collections::HashSet;

use composer::board::{JobId, JobState, JobStatus};
use composer::forecast::{ForecastParty, ForecastReport};
use git::merge::TreePath;

/// The conflicts each agent already knows: the job, the file, and the other side.
#[derive(Default)]
pub(super) struct ForecastNotes(HashSet<(JobId, TreePath, ForecastParty)>);

impl ForecastNotes {
    /// Returns a note for each conflict that a running agent does not know yet, and marks it as
    /// known.
    pub(super) fn take_new(
        &mut self,
        report: &ForecastReport,
        lines: &[JobStatus],
    ) -> Vec<(JobId, String)> {
        let mut news = Vec::new();
        for foreseen in &report.conflicts {
            for (job, sentence) in &foreseen.for_agents {
                let own = ForecastParty::Session(job.clone());
                let other = if foreseen.one == own {
                    &foreseen.two
                } else {
                    &foreseen.one
                };
                let is_at_work = lines
                    .iter()
                    .any(|line| line.job == *job && accepts_notes(line));
                let known = (job.clone(), foreseen.path.clone(), other.clone());
                if is_at_work && self.0.insert(known) {
                    let note = format!("A note from Burin, not from the user: {sentence}");
                    news.push((job.clone(), note));
                }
            }
        }
        news
    }
}

/// Whether an agent can still act on a note.
fn accepts_notes(line: &JobStatus) -> bool {
    matches!(
        line.state,
        JobState::Working | JobState::Waiting { .. } | JobState::Paused
    )
}

#[cfg(test)]
mod tests {
    use composer::forecast::ForecastConflict;
    use git::merge::ConflictKind;

    use super::*;
    use crate::compose::service::board_model::tests::line;

    fn foreseen(one: &str, two: ForecastParty, path: &str) -> ForecastConflict {
        let one = ForecastParty::Session(one.to_owned());
        let sessions = [&one, &two].into_iter().filter_map(|who| match who {
            ForecastParty::Session(job) => Some((job.clone(), format!("{job} and {path}"))),
            _ => None,
        });
        ForecastConflict {
            for_agents: sessions.collect(),
            one,
            two,
            path: TreePath::from(path),
            kind: ConflictKind::Content,
            locations: Vec::new(),
            for_person: String::new(),
        }
    }

    fn check(
        notes: &mut ForecastNotes,
        conflicts: &[ForecastConflict],
        states: [JobState; 2],
        told: &[&str],
    ) {
        let report = ForecastReport {
            conflicts: conflicts.to_vec(),
            ..ForecastReport::default()
        };
        let [one, two] = states;
        let lines = [line("a1", None, one), line("a2", None, two)];
        let news = notes.take_new(&report, &lines);
        let news: Vec<&str> = news
            .iter()
            .map(|(_, note)| note.rsplit(": ").next().unwrap_or_default())
            .collect();
        assert_eq!(news, told);
    }

    #[test]
    fn agents_at_work_are_told_once() {
        let mut notes = ForecastNotes::default();
        let two = || ForecastParty::Session("a2".to_owned());
        let one = [foreseen("a1", two(), "x.rs")];
        let working = || JobState::Working;
        // A finished agent gets no notes; once it works again, it does.
        check(
            &mut notes,
            &one,
            [working(), JobState::Done],
            &["a1 and x.rs"],
        );
        check(&mut notes, &one, [working(), JobState::Done], &[]);
        check(&mut notes, &[], [working(), working()], &[]);
        check(&mut notes, &one, [working(), working()], &["a2 and x.rs"]);
        // Another file, and another side, is news.
        let there = foreseen("a1", two(), "y.rs");
        let person = foreseen("a1", ForecastParty::Person, "x.rs");
        check(
            &mut notes,
            &[one[0].clone(), there, person],
            [JobState::Paused, JobState::Done],
            &["a1 and y.rs", "a1 and x.rs"],
        );
    }
}
