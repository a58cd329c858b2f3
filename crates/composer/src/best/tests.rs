//! Candidates compared and mixed on the real disk.

use super::*;
use crate::authored::tests::{Place, agent};
use crate::authored::{FakeBase, Scope};
use crate::board::{State, Task};
use crate::checkpoint::Stuck;

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n";

fn candidate(texts: &[(&str, &str)]) -> (Place, Authored) {
    let files = [("a", TEXT), ("b", "b\n")];
    let place = Place::new(&files);
    let mut authored = place.open(FakeBase::new(&files, &[]));
    for (path, text) in texts {
        place.write(path, text);
    }
    authored.observe(Scope::All, &agent("s", 1)).unwrap();
    (place, authored)
}

fn line(job: &str, state: State, cost_nano: u64) -> Line {
    Line {
        job: job.to_owned(),
        task: Task::default(),
        group: None,
        state,
        doing: String::new(),
        place: None,
        session: None,
        helpers: Vec::new(),
        cost_nano: Some(cost_nano),
        turns: 1,
        added_ms: 0,
        worked_ms: 1500,
    }
}

fn trial(is_good: bool) -> Trial {
    Trial {
        name: "tests".to_owned(),
        is_good,
        output: String::new(),
    }
}

#[test]
fn checks_weigh_more_than_size_and_size_more_than_cost() {
    let (_one, small) = candidate(&[("a", "1\n2\nX\n4\n5\n6\n7\n8\n")]);
    let (_two, large) = candidate(&[("a", "1\nX\nX\nX\n5\n6\n7\n8\n"), ("new", "n\n")]);
    let (_three, nothing) = candidate(&[]);
    let all = vec![
        measure(&large, &line("cheap", State::Done, 1), vec![trial(true)]).unwrap(),
        measure(&small, &line("broken", State::Done, 1), vec![trial(false)]).unwrap(),
        measure(&nothing, &line("idle", State::Done, 0), vec![trial(true)]).unwrap(),
        measure(&small, &line("small", State::Done, 9), vec![trial(true)]).unwrap(),
        measure(
            &small,
            &line("stopped", State::Stopped, 1),
            vec![trial(true)],
        )
        .unwrap(),
    ];
    let best = compare(all);
    let jobs: Vec<&str> = best.iter().map(|it| it.job.as_str()).collect();
    assert_eq!(jobs, ["small", "cheap", "idle", "broken", "stopped"]);
    assert_eq!((best[1].files, best[1].added, best[1].removed), (2, 4, 3));
    let table = table(&best);
    assert!(
        table.contains("small  done         1/1     1      +1 -1"),
        "{table}"
    );
}

fn pick(job: &str, path: Option<&str>, hunks: Option<&[usize]>) -> Pick {
    Pick {
        job: job.to_owned(),
        path: path.map(str::to_owned),
        hunks: hunks.map(<[usize]>::to_vec),
    }
}

#[test]
fn hunks_of_two_candidates_become_one_tree() {
    let (_one, one) = candidate(&[("a", "A\n2\n3\n4\n5\n6\n7\nX\n"), ("new", "n\n")]);
    let (_two, two) = candidate(&[("a", "1\n2\n3\n4\n5\n6\nB\n8\n"), ("b", "other\n")]);
    let (place, mut mix) = candidate(&[]);
    let candidates = [("a1".to_owned(), &one), ("a2".to_owned(), &two)];
    let rows: Vec<u32> = hunks_of(&one).unwrap().iter().map(|it| it.row).collect();
    assert_eq!(rows, [0, 7, 0]);
    let picks = [
        pick("a1", Some("a"), Some(&[0])),
        pick("a1", Some("new"), None),
        pick("a2", None, None),
    ];
    let mixed = mix.mix(&candidates, &picks).unwrap();
    assert_eq!(mixed.paths, ["a", "b", "new"]);
    assert_eq!(place.read("a").unwrap(), "A\n2\n3\n4\n5\n6\nB\n8\n");
    assert_eq!(place.read("b").unwrap(), "other\n");
    assert_eq!(place.read("new").unwrap(), "n\n");
}

#[test]
fn picks_that_are_in_each_others_way_are_named_and_nothing_is_done() {
    let (_one, one) = candidate(&[("a", "A\n2\n3\n4\n5\n6\n7\n8\n"), ("new", "1\n")]);
    let (_two, two) = candidate(&[("a", "B\n2\n3\n4\n5\n6\n7\n8\n"), ("new", "2\n")]);
    let (place, mut mix) = candidate(&[]);
    let candidates = [("a1".to_owned(), &one), ("a2".to_owned(), &two)];
    let picks = [pick("a1", None, None), pick("a2", None, None)];
    let Err(Stuck::Conflicts(conflicts)) = mix.mix(&candidates, &picks) else {
        panic!("conflicts");
    };
    let paths: Vec<&str> = conflicts.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["a", "new"]);
    assert_eq!(place.read("a").unwrap(), TEXT);
    let unknown = mix.mix(&candidates, &[pick("a9", None, None)]);
    assert_eq!(
        unknown,
        Err(Stuck::Failed("there is no candidate a9".to_owned()))
    );
}
