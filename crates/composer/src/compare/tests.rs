//! Comparison of candidates, and checks on copies of their work.

use std::sync::{Arc, Mutex};

use git::merge::{Changes, EntryMode, ObjectEntry, TreePath};
use host::{RealFiles, TempFolder};

use super::*;
use crate::job::{JobSpec, JobState};
use crate::land::tests::Hub;
use crate::land::{CheckError, CheckKind};
use crate::review::NoReviewSources;

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n";

fn hub() -> Hub {
    Hub::new(&[("a", TEXT), ("b", "b\n")])
}

fn candidate(hub: &Hub, job: &str, texts: &[(&str, &str)]) -> SessionChanges {
    let changes = texts.iter().map(|(path, text)| {
        let entry = ObjectEntry::of_bytes(EntryMode::Plain, text.as_bytes());
        (TreePath::from(*path), Some(entry))
    });
    SessionChanges {
        session: job.to_owned(),
        title: String::new(),
        base: CommitId(hub.tip()),
        changes: Arc::new(changes.collect::<Changes>()),
    }
}

fn line(job: &str, state: JobState, cost_nano: u64) -> JobStatus {
    JobStatus {
        job: job.to_owned(),
        task: JobSpec::default(),
        group: None,
        state,
        activity: String::new(),
        worktree: None,
        session: None,
        subagents: Vec::new(),
        cost_nano: Some(cost_nano),
        turns: 1,
        added_ms: 0,
        worked_ms: 1500,
    }
}

fn check(is_passed: bool) -> Check {
    Check {
        name: "tests".to_owned(),
        is_passed,
        detail: String::new(),
        kind: CheckKind::Command,
    }
}

#[test]
fn checks_weigh_more_than_size_and_size_more_than_cost() {
    let hub = hub();
    let small = [("a", "1\n2\nX\n4\n5\n6\n7\n8\n")];
    let large = [("a", "1\nX\nX\nX\n5\n6\n7\n8\n"), ("new", "n\n")];
    let repository = Repository::discover(&hub.root).unwrap();
    let measured = |texts: &[(&str, &str)], line: JobStatus, is_passed: bool| {
        let sessions = [candidate(&hub, &line.job, texts)];
        let review =
            Review::build(&repository, &sessions, &NoReviewSources, &NoReviewSources).unwrap();
        measure(&review, &line, vec![check(is_passed)])
    };
    let best = compare(vec![
        measured(&large, line("cheap", JobState::Done, 1), true),
        measured(&small, line("broken", JobState::Done, 1), false),
        measured(&[], line("idle", JobState::Done, 0), true),
        measured(&small, line("small", JobState::Done, 9), true),
        measured(&small, line("stopped", JobState::Stopped, 1), true),
    ]);
    let jobs: Vec<&str> = best.iter().map(|it| it.job.as_str()).collect();
    assert_eq!(jobs, ["small", "cheap", "idle", "broken", "stopped"]);
    assert_eq!((best[1].files, best[1].added, best[1].removed), (2, 4, 3));
    let table = format_table(&best);
    assert!(
        table.contains("small  done         1/1     1      +1 -1"),
        "{table}"
    );
}

/// A check that counts the files it gets.
#[derive(Default)]
struct Looks(Mutex<Vec<String>>);

impl CheckRunner for Looks {
    fn run_checks(&self, candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError> {
        let folder = TempFolder::new().map_err(|error| CheckError(error.to_string()))?;
        let written = candidate.write_to(folder.path());
        written.map_err(|error| CheckError(error.to_string()))?;
        for name in ["a", "b", "new"] {
            let bytes = RealFiles.read(&folder.path().join(name), 100);
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            self.0.lock().unwrap().push(text.unwrap_or_default());
        }
        Ok(vec![check(true)])
    }
}

#[test]
fn a_candidate_is_checked_as_it_would_land() {
    let hub = hub();
    let (looks, status) = (Looks::default(), hub.status());
    let one = candidate(&hub, "a1", &[("a", "A\n"), ("new", "n\n")]);
    let checks = run_checks(&hub.root, &one, &looks, &RealFiles).unwrap();
    assert_eq!(checks, [check(true)]);
    assert_eq!(*looks.0.lock().unwrap(), ["A\n", "b\n", "n\n"]);
    assert_eq!(hub.status(), status);
}
