//! Notifies running agents of forecast conflicts, once per conflict.

use std::collections::HashSet;

use git::merge::TreePath;

use crate::forecast::{ForecastParty, ForecastReport};
use crate::job::{JobId, JobState, JobStatus};

/// The conflicts each agent already knows: the job, the file, and the other side.
#[derive(Default)]
pub(super) struct ForecastNotes(HashSet<(JobId, TreePath, ForecastParty)>);

impl ForecastNotes {
    /// Returns a note for each conflict that a running agent does not know yet, and marks it as
    /// known.
    pub(super) fn take_new(
        &mut self,
        report: &ForecastReport,
        jobs: &[JobStatus],
    ) -> Vec<(JobId, String)> {
        let mut notes = Vec::new();
        for conflict in &report.conflicts {
            for (job, sentence) in &conflict.for_agents {
                let own = ForecastParty::Session(job.clone());
                let other = if conflict.one == own {
                    &conflict.two
                } else {
                    &conflict.one
                };
                let is_at_work = jobs.iter().any(|it| it.job == *job && accepts_notes(it));
                let known = (job.clone(), conflict.path.clone(), other.clone());
                if is_at_work && self.0.insert(known) {
                    let note = format!("A note from Burin, not from the user: {sentence}");
                    notes.push((job.clone(), note));
                }
            }
        }
        notes
    }
}

/// Whether an agent can still act on a note.
fn accepts_notes(job: &JobStatus) -> bool {
    matches!(
        job.state,
        JobState::Working | JobState::Waiting { .. } | JobState::Paused
    )
}

#[cfg(test)]
mod tests {
    use git::merge::ConflictKind;

    use super::*;
    use crate::forecast::ForecastConflict;
    use crate::service::board_model::tests::status;

    fn conflict(one: &str, two: ForecastParty, path: &str) -> ForecastConflict {
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
        expected: &[&str],
    ) {
        let report = ForecastReport {
            conflicts: conflicts.to_vec(),
            ..ForecastReport::default()
        };
        let [one, two] = states;
        let jobs = [status("a1", None, one), status("a2", None, two)];
        let news = notes.take_new(&report, &jobs);
        let news: Vec<&str> = news
            .iter()
            .map(|(_, note)| note.rsplit(": ").next().unwrap_or_default())
            .collect();
        assert_eq!(news, expected);
    }

    #[test]
    fn running_agents_are_notified_once() {
        let mut notes = ForecastNotes::default();
        let two = || ForecastParty::Session("a2".to_owned());
        let one = [conflict("a1", two(), "x.rs")];
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
        let there = conflict("a1", two(), "y.rs");
        let person = conflict("a1", ForecastParty::Person, "x.rs");
        check(
            &mut notes,
            &[one[0].clone(), there, person],
            [JobState::Paused, JobState::Done],
            &["a1 and y.rs", "a1 and x.rs"],
        );
    }
}
