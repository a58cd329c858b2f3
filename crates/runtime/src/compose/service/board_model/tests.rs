//! The board built from known facts.

use composer::board::{JobSpec, JobWorktree};
use composer::view::HunkVerdict;

use super::*;

pub(in crate::compose::service) fn line(
    job: &str,
    group: Option<&str>,
    state: JobState,
) -> JobStatus {
    let place = JobWorktree {
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
        doing: String::new(),
        place: Some(place),
        session: Some(format!("s-{job}")),
        helpers: Vec::new(),
        cost_nano: Some(7),
        turns: 2,
        added_ms: 0,
        worked_ms: 2500,
    }
}

fn hunk(agent: &str, path: &str, lines: usize) -> BoardHunk {
    BoardHunk {
        id: format!("{agent} {path}"),
        agent: agent.to_owned(),
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
    }
}

fn order(table: &BoardModel) -> Vec<String> {
    let contest = table.board().best_of;
    contest.into_iter().map(|it| it.agent).collect()
}

#[test]
fn best_of_ranking_updates_after_checks() {
    let mut table = BoardModel::default();
    table.update_job(line("a1", None, JobState::Done));
    assert_eq!(order(&table), Vec::<String>::new());
    table.update_job(line("a2", Some("best-2"), JobState::Done));
    table.update_job(line("a3", Some("best-2"), JobState::Done));
    table.hunks = vec![hunk("a2", "x", 1), hunk("a2", "y", 1), hunk("a3", "x", 9)];
    assert_eq!(order(&table), ["a2", "a3"]);
    table.checking.insert("a2".to_owned());
    let first = table.board().best_of.remove(0);
    assert_eq!((first.files, first.lines, first.seconds), (2, (2, 2), 2));
    assert_eq!((first.checks.len(), first.is_checking), (0, true));
    // An agent that passes ranks before a smaller one.
    table.checking.clear();
    let checks = vec![check("build", true), check("tests", false)];
    table.checks.insert("a2".to_owned(), checks);
    let checks = vec![check("build", true), check("tests", true)];
    table.checks.insert("a3".to_owned(), checks);
    assert_eq!(order(&table), ["a3", "a2"]);
    let board = table.board();
    let checks = |job: &str| board.agent(job).and_then(|agent| agent.checks);
    assert_eq!(checks("a2"), Some((1, 2)));
    assert_eq!((checks("a3"), checks("a1")), (Some((2, 2)), None));
    assert_eq!(
        board.best_of[1].checks,
        [("build".to_owned(), true), ("tests".to_owned(), false)]
    );
}

#[test]
fn a_contest_is_over_once_nothing_is_left_to_choose() {
    let landed = || JobState::Landed {
        commit: "c0ffee".to_owned(),
    };
    let mut table = BoardModel::default();
    table.update_job(line("a1", Some("best-1"), landed()));
    table.update_job(line("a2", Some("best-1"), JobState::Done));
    assert_eq!(order(&table).len(), 2);
    let mut released = line("a2", Some("best-1"), JobState::Done);
    released.place = None;
    table.update_job(released);
    assert_eq!(order(&table), Vec::<String>::new());
}

#[test]
fn agents_show_their_turns_and_what_they_changed() {
    let mut table = BoardModel::default();
    table.update_job(line("a1", None, JobState::Working));
    table.hunks = vec![hunk("a1", "x", 3), hunk("a1", "x", 1), hunk("a2", "y", 1)];
    let board = table.board();
    let agent = board.agent("a1").expect("an agent");
    assert_eq!((agent.turns, agent.files, agent.lines), (2, 1, (4, 2)));
    assert_eq!(agent.state, AgentState::Working);
}
