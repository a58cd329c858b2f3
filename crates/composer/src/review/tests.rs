//! Reviews of changes in real repositories.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up repositories on disk"
)]

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use git::Repository;
use git::land::{ScanLimits, ScanTarget};
use git::merge::{Changes, EntryMode, ObjectEntry, TreePath};
use host::RealFiles;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{
    CheckCoverage, HunkChange, HunkId, HunkVerdict, LineAuthors, NoReviewSources, Review,
    RiskReason,
};
use crate::land::tests::{Hub, git, write};
use crate::work::{CommitId, SessionChanges, SessionWork};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

fn reviewed(hub: &Hub, work: &SessionWork) -> SessionChanges {
    let repository = Repository::discover(&hub.root).unwrap();
    let place = ScanTarget {
        root: &work.root,
        git_dir: None,
        cache_file: None,
    };
    let base = repository.tree_of(&work.base.0).unwrap();
    let scanned = repository
        .scan(place, base, ScanLimits::default(), &RealFiles)
        .unwrap();
    SessionChanges {
        session: work.session.clone(),
        title: work.title.clone(),
        base: work.base.clone(),
        changes: Arc::new(scanned.changes),
    }
}

fn review(hub: &Hub, works: &[&SessionWork]) -> Review {
    let sessions: Vec<SessionChanges> = works.iter().map(|work| reviewed(hub, work)).collect();
    Review::build(
        &Repository::discover(&hub.root).unwrap(),
        &sessions,
        &NoReviewSources,
        &NoReviewSources,
    )
    .unwrap()
}

fn ids(review: &Review, session: &str, path: &str) -> Vec<HunkId> {
    let path = TreePath::from(path);
    let hunks = review
        .hunks()
        .iter()
        .filter(|it| it.session == session && it.path == path);
    hunks.map(|hunk| hunk.id).collect()
}

fn text(changes: &Changes, path: &str) -> Option<String> {
    let entry = changes.get(&TreePath::from(path))?.as_ref()?;
    Some(String::from_utf8(entry.bytes.as_ref().unwrap().to_vec()).unwrap())
}

const ACCEPTED: HunkVerdict = HunkVerdict::Accepted;

#[test]
fn hunks_of_every_kind_in_order_of_risk() {
    let hub = Hub::new(&[
        ("a.txt", TEXT),
        ("old.txt", TEXT),
        ("gone.txt", "x\n"),
        ("run", "x\n"),
        ("bin", "a\0"),
    ]);
    let work = hub.session("s1");
    write(
        &work.root,
        "a.txt",
        &TEXT.replace("two", "2").replace("nine", "9"),
    );
    write(&work.root, "bin", "b\0");
    write(&work.root, "new.rs", "fn f() {}\n");
    write(&work.root, "scripts/x.sh", "echo\n");
    write(&work.root, "Cargo.toml", "[x]\n");
    std::fs::remove_file(work.root.join("gone.txt").as_path()).unwrap();
    std::fs::set_permissions(
        work.root.join("run").as_path(),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    git(work.root.as_path(), &["mv", "old.txt", "moved.txt"]);
    write(&work.root, "moved.txt", &TEXT.replace("five", "5"));
    let mut review = review(&hub, &[&work]);
    let paths: Vec<String> = review
        .hunks()
        .iter()
        .map(|it| it.path.to_string())
        .collect();
    assert_eq!(
        paths,
        [
            "scripts/x.sh",
            "run",
            "gone.txt",
            "bin",
            "Cargo.toml",
            "a.txt",
            "a.txt",
            "moved.txt",
            "moved.txt",
            "new.rs"
        ]
    );
    assert!(
        review.hunks()[0]
            .risk
            .reasons
            .contains(&RiskReason::Executes)
    );
    let sessions = reviewed(&hub, &work);
    assert_eq!(review.accepted("s1"), Changes::new());
    review.decide_session("s1", ACCEPTED);
    assert_eq!(review.accepted("s1"), *sessions.changes);
    // One hunk of a file, and the other hunk from another session.
    review.decide_session("s1", HunkVerdict::Open);
    let hunks = ids(&review, "s1", "a.txt");
    review.decide(&hunks[1..], ACCEPTED);
    let renamed = ids(&review, "s1", "moved.txt");
    review.decide(&renamed[1..], ACCEPTED);
    let accepted = review.accepted("s1");
    assert_eq!(text(&accepted, "a.txt").unwrap(), TEXT.replace("nine", "9"));
    assert_eq!(
        text(&accepted, "old.txt").unwrap(),
        TEXT.replace("five", "5")
    );
    assert_eq!(accepted.len(), 2);
    review.decide(&renamed[1..], HunkVerdict::Rejected);
    review.decide(&renamed[..1], ACCEPTED);
    let accepted = review.accepted("s1");
    assert_eq!(text(&accepted, "moved.txt").unwrap(), TEXT);
    assert_eq!(accepted.get(&TreePath::from("old.txt")), Some(&None));
}

#[test]
fn decisions_are_undone_redone_and_outlive_another_look() {
    let hub = Hub::new(&[("a.txt", TEXT)]);
    let work = hub.session("s1");
    write(
        &work.root,
        "a.txt",
        &TEXT.replace("two", "2").replace("nine", "9"),
    );
    let mut first = review(&hub, &[&work]);
    let hunks = ids(&first, "s1", "a.txt");
    first.decide(&hunks[..1], ACCEPTED);
    first.decide(&hunks, HunkVerdict::Rejected);
    assert_eq!(first.progress().rejected, 2);
    assert!(first.undo());
    assert_eq!(
        (first.verdict(hunks[0]), first.verdict(hunks[1])),
        (ACCEPTED, HunkVerdict::Open)
    );
    assert!(first.undo());
    assert!(!first.undo());
    assert_eq!(first.progress().open, 2);
    assert!(first.redo() && first.redo() && !first.redo());
    assert!(first.undo());
    // After an insertion above, unchanged hunks keep their decisions and new ones have none.
    write(
        &work.root,
        "a.txt",
        &TEXT
            .replace("two", "2")
            .replace("nine", "9")
            .replace("ten", "ten\neleven"),
    );
    let second = review(&hub, &[&work]).with_verdicts_of(&first);
    assert_eq!(second.verdict(hunks[0]), ACCEPTED);
    assert_eq!(second.progress().accepted, 1);
    assert_eq!(second.hunk(hunks[1]).is_some(), second.hunks().len() == 3);
}

#[test]
fn untouched_bytes_stay() {
    let odd = "\u{feff}one\r\ntwo\nthree\r\n\nfour\nfive\nsix\nseven\neight\r\nlast without end";
    let hub = Hub::new(&[("a.txt", odd)]);
    let work = hub.session("s1");
    let new = odd.replace("two", "2").replace("without end", "with end\n");
    write(&work.root, "a.txt", &new);
    let mut review = review(&hub, &[&work]);
    let hunks = ids(&review, "s1", "a.txt");
    assert_eq!(hunks.len(), 2);
    review.decide(&hunks[..1], ACCEPTED);
    assert_eq!(
        text(&review.accepted("s1"), "a.txt").unwrap(),
        odd.replace("two", "2")
    );
    review.decide(&hunks[1..], ACCEPTED);
    assert_eq!(text(&review.accepted("s1"), "a.txt").unwrap(), new);
}

#[test]
fn hunks_of_candidates_are_mixed_unless_they_overlap() {
    let hub = Hub::new(&[("a.txt", TEXT), ("b.txt", TEXT)]);
    let (one, two) = (hub.session("s1"), hub.session("s2"));
    write(
        &one.root,
        "a.txt",
        &TEXT.replace("two", "2").replace("nine", "9"),
    );
    write(
        &two.root,
        "a.txt",
        &TEXT
            .replace("two", "II")
            .replace("six", "6")
            .replace("nine", "9"),
    );
    write(&two.root, "new.txt", "new\n");
    std::fs::remove_file(one.root.join("b.txt").as_path()).unwrap();
    let mut review = review(&hub, &[&one, &two]);
    review.decide(&ids(&review, "s1", "a.txt"), ACCEPTED);
    review.decide(&ids(&review, "s2", "new.txt"), ACCEPTED);
    let of_two = ids(&review, "s2", "a.txt");
    review.decide(&of_two[1..], ACCEPTED);
    let (base, mixed) = review.mix().unwrap();
    assert_eq!(base, CommitId(hub.tip()));
    let expected = TEXT
        .replace("two", "2")
        .replace("six", "6")
        .replace("nine", "9");
    assert_eq!(text(&mixed, "a.txt").unwrap(), expected);
    assert_eq!(text(&mixed, "new.txt").unwrap(), "new\n");
    review.decide(&of_two[..1], ACCEPTED);
    let overlaps = review.mix().unwrap_err();
    assert_eq!(overlaps.len(), 1);
    assert_eq!(overlaps[0].two, of_two[0]);
    assert_eq!(
        overlaps[0].sentence,
        "s1 and s2 change the same lines in a.txt: accept only one of them."
    );
}

#[test]
fn hunks_of_two_candidates_become_one_tree() {
    const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n";
    let hub = Hub::new(&[("a", OLD), ("b", "b\n")]);
    let (one, two) = (hub.session("s1"), hub.session("s2"));
    write(&one.root, "a", "A\n2\n3\n4\n5\n6\n7\nX\n");
    write(&one.root, "new", "n\n");
    write(&two.root, "a", "1\n2\n3\n4\n5\n6\nB\n8\n");
    write(&two.root, "b", "other\n");
    let mut review = review(&hub, &[&one, &two]);
    review.decide(&ids(&review, "s1", "a")[..1], ACCEPTED);
    review.decide(&ids(&review, "s1", "new"), ACCEPTED);
    review.decide_session("s2", ACCEPTED);
    let (_, mixed) = review.mix().unwrap();
    let paths: Vec<String> = mixed.keys().map(ToString::to_string).collect();
    assert_eq!(paths, ["a", "b", "new"]);
    assert_eq!(text(&mixed, "a").unwrap(), "A\n2\n3\n4\n5\n6\nB\n8\n");
    assert_eq!(text(&mixed, "b").unwrap(), "other\n");
    assert_eq!(text(&mixed, "new").unwrap(), "n\n");
}

#[test]
fn picks_that_are_in_each_others_way_are_each_named() {
    let hub = Hub::new(&[("a", TEXT)]);
    let (one, two) = (hub.session("s1"), hub.session("s2"));
    for (work, word) in [(&one, "A"), (&two, "B")] {
        write(&work.root, "a", &TEXT.replace("one", word));
        write(&work.root, "new", word);
    }
    let mut review = review(&hub, &[&one, &two]);
    review.decide_session("s1", ACCEPTED);
    review.decide_session("s2", ACCEPTED);
    let overlaps = review.mix().unwrap_err();
    let paths: Vec<String> = overlaps
        .iter()
        .map(|it| review.hunk(it.one).unwrap().path.to_string())
        .collect();
    assert_eq!(paths, ["a", "new"]);
}

#[test]
fn hunks_have_short_names_lines_and_notes() {
    let hub = Hub::new(&[("a.txt", TEXT), ("gone.txt", "x\ny\n"), ("run", "x\n")]);
    let work = hub.session("s1");
    write(&work.root, "a.txt", &TEXT.replace("two\n", "2\nII\n"));
    write(&work.root, "bin", "b\0");
    write(&work.root, "new.txt", "n\n");
    std::fs::remove_file(work.root.join("gone.txt").as_path()).unwrap();
    let run = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(work.root.join("run").as_path(), run).unwrap();
    let review = review(&hub, &[&work]);
    let mut told: Vec<(String, usize, usize, Option<String>)> = Vec::new();
    for hunk in review.hunks() {
        let short = review.short(hunk.id);
        assert_eq!((short.len(), review.find(&short).unwrap()), (6, hunk.id));
        assert_eq!(HunkId::parse(&hunk.id.to_string()), Some(hunk.id));
        let (went, came) = review.changed_lines(hunk);
        told.push((hunk.path.to_string(), went.len(), came.len(), hunk.note()));
    }
    told.sort();
    let row = |path: &str, went, came, note: Option<&str>| {
        (path.to_owned(), went, came, note.map(str::to_owned))
    };
    assert_eq!(
        told,
        [
            row("a.txt", 1, 2, None),
            row("bin", 0, 0, Some("new binary file")),
            row("gone.txt", 2, 0, Some("deleted")),
            row("new.txt", 0, 1, Some("new file")),
            row("run", 0, 0, Some("made executable")),
        ]
    );
    assert!(review.find("").unwrap_err().to_string().contains("no hunk"));
    assert_eq!(HunkId::parse("+1"), None);
}

#[test]
fn what_was_decided_elsewhere_is_known_and_no_step() {
    let hub = Hub::new(&[("a.txt", TEXT)]);
    let work = hub.session("s1");
    let changed = TEXT.replace("two", "2").replace("nine", "9");
    write(&work.root, "a.txt", &changed);
    let mut first = review(&hub, &[&work]);
    let hunks = ids(&first, "s1", "a.txt");
    first.decide(&hunks[..1], HunkVerdict::Rejected);
    let mut first = first.with_stored_verdicts(|_| ACCEPTED);
    let choices = |review: &Review| [review.verdict(hunks[0]), review.verdict(hunks[1])];
    assert_eq!(choices(&first), [HunkVerdict::Rejected, ACCEPTED]);
    assert!(first.undo());
    assert_eq!(choices(&first), [HunkVerdict::Open, ACCEPTED]);
    assert!(!first.undo());
}

struct Known;

impl LineAuthors for Known {
    fn authors(
        &self,
        session: &str,
        _: &TreePath,
        lines: Option<std::ops::Range<u32>>,
    ) -> Vec<String> {
        vec![format!("{session} {lines:?}")]
    }
}

impl CheckCoverage for Known {
    fn checks(&self, _: &str, path: &TreePath, _: Option<std::ops::Range<u32>>) -> Vec<String> {
        (path.to_string() == "a.rs")
            .then(|| "cargo test".to_owned())
            .into_iter()
            .collect()
    }
}

#[test]
fn hunks_know_their_authors_checks_and_symbols() {
    let hub = Hub::new(&[
        (
            "a.rs",
            "fn first() {\n    1\n}\n\nfn second() {\n    2\n}\n",
        ),
        ("b.rs", "fn b() {}\n"),
    ]);
    let work = hub.session("s1");
    write(
        &work.root,
        "a.rs",
        "fn first() {\n    1\n}\n\nfn second() {\n    22\n}\n",
    );
    write(&work.root, "b.rs", "fn c() {}\n");
    let sessions = [reviewed(&hub, &work)];
    let repository = Repository::discover(&hub.root).unwrap();
    let review = Review::build(&repository, &sessions, &Known, &Known).unwrap();
    let hunk = &review.hunks()[1];
    assert_eq!(hunk.symbol.as_deref(), Some("second"));
    assert_eq!(hunk.authors, ["s1 Some(5..6)"]);
    assert_eq!(hunk.checks, ["cargo test"]);
    assert!(matches!(hunk.part, HunkChange::Lines { .. }));
    // A hunk without a check comes first.
    assert_eq!(review.hunks()[0].path, TreePath::from("b.rs"));
}

/// Any subset of hunks gives only lines of base and session; all hunks give the session, none the base.
#[test]
fn random_subsets_are_exact() {
    let hub = Hub::new(&[("seed.txt", "x\n")]);
    let repository = Repository::discover(&hub.root).unwrap();
    for seed in 0_u64..40 {
        let random = &mut StdRng::seed_from_u64(seed);
        let mut lines = |count: usize| -> Vec<String> {
            (0..count)
                .map(|_| format!("{}\n", random.random_range(0..9)))
                .collect()
        };
        let (before, mut after) = (lines(25), lines(0));
        after.extend(before.iter().cloned());
        for at in [3, 9, 9, 15, 22] {
            let new = lines(2);
            after.splice(at..at + 1, new);
        }
        let (mut before, after) = (before.concat(), after.concat());
        if seed.is_multiple_of(2) {
            before.pop();
        }
        write(&hub.root, "seed.txt", &before);
        let base = CommitId(hub.commit());
        let entry = ObjectEntry::of_bytes(EntryMode::Plain, after.as_bytes());
        let reviewed = SessionChanges {
            session: "s".to_owned(),
            title: String::new(),
            base,
            changes: Arc::new(Changes::from([(TreePath::from("seed.txt"), Some(entry))])),
        };
        let mut review =
            Review::build(&repository, &[reviewed], &NoReviewSources, &NoReviewSources).unwrap();
        let all: Vec<HunkId> = review.hunks().iter().map(|hunk| hunk.id).collect();
        let some: Vec<HunkId> = all
            .iter()
            .copied()
            .filter(|_| random.random_range(0..2) == 0)
            .collect();
        review.decide(&some, ACCEPTED);
        let got = text(&review.accepted("s"), "seed.txt").unwrap_or(before.clone());
        let lines: Vec<&str> = before.split_inclusive('\n').collect();
        let mut expected = String::new();
        let mut at = 0;
        let mut hunks: Vec<_> = review.hunks().iter().collect();
        hunks.sort_by_key(|hunk| match &hunk.part {
            HunkChange::Lines { before, .. } => before.start,
            _ => 0,
        });
        for hunk in hunks {
            let HunkChange::Lines {
                before,
                removed,
                added,
                ..
            } = &hunk.part
            else {
                panic!("{hunk:?}");
            };
            expected.push_str(&lines[at..before.start as usize].concat());
            let taken = if some.contains(&hunk.id) {
                added
            } else {
                removed
            };
            expected.push_str(std::str::from_utf8(taken).unwrap());
            at = before.end as usize;
        }
        expected.push_str(&lines[at..].concat());
        assert_eq!(got, expected, "seed {seed}");
        review.decide(&all, ACCEPTED);
        assert_eq!(
            text(&review.accepted("s"), "seed.txt").unwrap(),
            after,
            "seed {seed}"
        );
    }
}
