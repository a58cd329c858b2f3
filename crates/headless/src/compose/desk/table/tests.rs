//! What is known becomes a board.

use composer::board::{Place, Task};
use composer::desk::Verdict;

use super::*;

pub(in crate::compose::desk) fn line(job: &str, group: Option<&str>, state: State) -> Line {
    let place = Place {
        lease: format!("wt-{job}"),
        root: format!("/trees/{job}"),
        git_dir: format!("/git/{job}"),
        base: "c0ffee".to_owned(),
        branch: format!("burin/{job}"),
    };
    Line {
        job: job.to_owned(),
        task: Task::default(),
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

fn hunk(agent: &str, path: &str, lines: usize) -> Hunk {
    Hunk {
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
        verdict: Verdict::Open,
    }
}

fn check(name: &str, is_passed: bool) -> Check {
    Check {
        name: name.to_owned(),
        is_passed,
        detail: String::new(),
    }
}

fn order(table: &Table) -> Vec<String> {
    let contest = table.board().contest;
    contest.into_iter().map(|it| it.agent).collect()
}

#[test]
fn a_contest_is_ordered_as_soon_as_there_is_one_and_again_once_it_was_checked() {
    let mut table = Table::default();
    table.put(line("a1", None, State::Done));
    assert_eq!(order(&table), Vec::<String>::new());
    table.put(line("a2", Some("best-2"), State::Done));
    table.put(line("a3", Some("best-2"), State::Done));
    table.hunks = vec![hunk("a2", "x", 1), hunk("a2", "y", 1), hunk("a3", "x", 9)];
    assert_eq!(order(&table), ["a2", "a3"]);
    table.checking.insert("a2".to_owned());
    let first = table.board().contest.remove(0);
    assert_eq!((first.files, first.lines, first.seconds), (2, (2, 2), 2));
    assert_eq!((first.checks.len(), first.is_checking), (0, true));
    // Who passes goes before who is small.
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
        board.contest[1].checks,
        [("build".to_owned(), true), ("tests".to_owned(), false)]
    );
}

#[test]
fn a_contest_is_over_once_nothing_is_left_to_choose() {
    let landed = || State::Landed {
        commit: "c0ffee".to_owned(),
    };
    let mut table = Table::default();
    table.put(line("a1", Some("best-1"), landed()));
    table.put(line("a2", Some("best-1"), State::Done));
    assert_eq!(order(&table).len(), 2);
    let mut released = line("a2", Some("best-1"), State::Done);
    released.place = None;
    table.put(released);
    assert_eq!(order(&table), Vec::<String>::new());
}

#[test]
fn agents_show_their_turns_and_what_they_changed() {
    let mut table = Table::default();
    table.put(line("a1", None, State::Working));
    table.hunks = vec![hunk("a1", "x", 3), hunk("a1", "x", 1), hunk("a2", "y", 1)];
    let board = table.board();
    let agent = board.agent("a1").expect("an agent");
    assert_eq!((agent.turns, agent.files, agent.lines), (2, 1, (4, 2)));
    assert_eq!(agent.state, AgentState::Working);
}
