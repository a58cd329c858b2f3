//! What agents are told of conflicts that are foreseen: each of them once.

use std::collections::HashSet;

use composer::board::{JobId, Line, State};
use composer::forecast::{Report, Who};
use git::merge::TreePath;

/// What agents were told so far: who, of which file, with whom.
#[derive(Default)]
pub(super) struct Notes(HashSet<(JobId, TreePath, Who)>);

impl Notes {
    /// What agents at work do not know yet of a forecast: a note for each. From now on they know it.
    pub(super) fn news(&mut self, report: &Report, lines: &[Line]) -> Vec<(JobId, String)> {
        let mut news = Vec::new();
        for foreseen in &report.conflicts {
            for (job, sentence) in &foreseen.for_agents {
                let own = Who::Session(job.clone());
                let other = match foreseen.one == own {
                    true => &foreseen.two,
                    false => &foreseen.one,
                };
                let is_at_work = lines.iter().any(|line| line.job == *job && hears(line));
                let known = (job.clone(), foreseen.path.clone(), other.clone());
                if is_at_work && self.0.insert(known) {
                    let note = format!("A note from Burin, not from the person: {sentence}");
                    news.push((job.clone(), note));
                }
            }
        }
        news
    }
}

/// Whether an agent can do anything about what it is told.
fn hears(line: &Line) -> bool {
    matches!(
        line.state,
        State::Working | State::Waiting { .. } | State::Paused
    )
}

#[cfg(test)]
mod tests {
    use composer::forecast::Foreseen;
    use git::merge::ConflictKind;

    use super::*;
    use crate::compose::desk::table::tests::line;

    fn foreseen(one: &str, two: Who, path: &str) -> Foreseen {
        let one = Who::Session(one.to_owned());
        let sessions = [&one, &two].into_iter().filter_map(|who| match who {
            Who::Session(job) => Some((job.clone(), format!("{job} and {path}"))),
            _ => None,
        });
        Foreseen {
            for_agents: sessions.collect(),
            one,
            two,
            path: TreePath::from(path),
            kind: ConflictKind::Content,
            spots: Vec::new(),
            for_person: String::new(),
        }
    }

    fn check(notes: &mut Notes, conflicts: &[Foreseen], states: [State; 2], told: &[&str]) {
        let report = Report {
            conflicts: conflicts.to_vec(),
            ..Report::default()
        };
        let [one, two] = states;
        let lines = [line("a1", None, one), line("a2", None, two)];
        let news = notes.news(&report, &lines);
        let news: Vec<&str> = news
            .iter()
            .map(|(_, note)| note.rsplit(": ").next().unwrap_or_default())
            .collect();
        assert_eq!(news, told);
    }

    #[test]
    fn agents_at_work_are_told_once() {
        let mut notes = Notes::default();
        let two = || Who::Session("a2".to_owned());
        let one = [foreseen("a1", two(), "x.rs")];
        let working = || State::Working;
        // Who is done is not told; once it works again, it is.
        check(&mut notes, &one, [working(), State::Done], &["a1 and x.rs"]);
        check(&mut notes, &one, [working(), State::Done], &[]);
        check(&mut notes, &[], [working(), working()], &[]);
        check(&mut notes, &one, [working(), working()], &["a2 and x.rs"]);
        // Another file, and another side, is news.
        let there = foreseen("a1", two(), "y.rs");
        let person = foreseen("a1", Who::Person, "x.rs");
        check(
            &mut notes,
            &[one[0].clone(), there, person],
            [State::Paused, State::Done],
            &["a1 and y.rs", "a1 and x.rs"],
        );
    }
}
