//! Boards built from given facts.

use super::*;
use crate::job::{JobSpec, JobWorktree};
use crate::land::CheckKind;
use crate::review::HunkVerdict;

pub(in crate::service) fn status(job: &str, group: Option<&str>, state: JobState) -> JobStatus {
    let worktree = JobWorktree {
        lease: format!("wt-{job}"),
        root: format!("/trees/{job}"),
        git_dir: format!("/git/{job}"),
        base: "c0ffee".to_owned(),
        branch: format!("burin/{job}"),
    };
    JobStatus {
        job: job.to_owned(),
        task: JobSpec::default(),
        group: group.map(str::to_owned),
        state,
        activity: String::new(),
        worktree: Some(worktree),
        session: Some(format!("s-{job}")),
        subagents: Vec::new(),
        cost_nano: Some(7),
        turns: 2,
        added_ms: 0,
        worked_ms: 2500,
    }
}

fn hunk(job: &str, path: &str, lines: usize) -> BoardHunk {
    BoardHunk {
        id: format!("{job} {path}"),
        job: job.to_owned(),
        path: path.to_owned(),
        symbol: None,
        line: 1,
        before: vec!["old".to_owned()],
        after: vec!["new".to_owned(); lines],
        note: None,
        author: None,
        risk: None,
        verdict: HunkVerdict::Open,
    }
}

fn check(name: &str, is_passed: bool) -> Check {
    Check {
        name: name.to_owned(),
        is_passed,
        detail: String::new(),
        kind: CheckKind::Command,
    }
}

fn order(model: &BoardModel) -> Vec<String> {
    let candidates = model.board().best_of;
    candidates.into_iter().map(|it| it.job).collect()
}

#[test]
fn best_of_ranking_updates_after_checks() {
    let mut model = BoardModel::default();
    model.update_job(status("a1", None, JobState::Done));
    assert_eq!(order(&model), Vec::<String>::new());
    model.update_job(status("a2", Some("best-2"), JobState::Done));
    model.update_job(status("a3", Some("best-2"), JobState::Done));
    model.hunks = vec![hunk("a2", "x", 1), hunk("a2", "y", 1), hunk("a3", "x", 9)];
    assert_eq!(order(&model), ["a2", "a3"]);
    model.checking.insert("a2".to_owned());
    let first = model.board().best_of.remove(0);
    assert_eq!((first.files, first.lines, first.seconds), (2, (2, 2), 2));
    assert_eq!((first.checks.len(), first.is_checking), (0, true));
    // An agent that passes ranks before a smaller one.
    model.checking.clear();
    let checks = vec![check("build", true), check("tests", false)];
    model.checks.insert("a2".to_owned(), checks);
    let checks = vec![check("build", true), check("tests", true)];
    model.checks.insert("a3".to_owned(), checks);
    assert_eq!(order(&model), ["a3", "a2"]);
    let board = model.board();
    let checks = |job: &str| board.job(job).and_then(|job| job.checks);
    assert_eq!(checks("a2"), Some((1, 2)));
    assert_eq!((checks("a3"), checks("a1")), (Some((2, 2)), None));
    assert_eq!(
        board.best_of[1].checks,
        [("build".to_owned(), true), ("tests".to_owned(), false)]
    );
}

#[test]
fn best_of_group_ends_once_nothing_is_left_to_choose() {
    let landed = || JobState::Landed {
        commit: "c0ffee".to_owned(),
    };
    let mut model = BoardModel::default();
    model.update_job(status("a1", Some("best-1"), landed()));
    model.update_job(status("a2", Some("best-1"), JobState::Done));
    assert_eq!(order(&model).len(), 2);
    let mut released = status("a2", Some("best-1"), JobState::Done);
    released.worktree = None;
    model.update_job(released);
    assert_eq!(order(&model), Vec::<String>::new());
}

#[test]
fn jobs_show_their_turns_and_changes() {
    let mut model = BoardModel::default();
    model.update_job(status("a1", None, JobState::Working));
    model.hunks = vec![hunk("a1", "x", 3), hunk("a1", "x", 1), hunk("a2", "y", 1)];
    let board = model.board();
    let job = board.job("a1").expect("a job");
    assert_eq!((job.status.turns, job.files, job.lines), (2, 1, (4, 2)));
    assert_eq!(job.state(), &JobState::Working);
}
