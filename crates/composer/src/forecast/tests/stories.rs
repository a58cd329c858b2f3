//! Stories of forecasts from the user's view.

use std::sync::Arc;

use git::Repository;
use git::merge::{ConflictKind, TreePath};
use host::RealFiles;

use super::*;

const RUST: &str = "//! Flags.\n\nfn parse() {\n    let a = 1;\n    let b = 2;\n    let c = 3;\n    let d = 4;\n    \
                    let e = 5;\n    let f = 6;\n    let g = 7;\n}\n\nfn other() {\n    let x = 1;\n}\n";

struct Story {
    hub: Hub,
    repository: Repository,
    gather: ChangeGatherer,
    forecast: Forecaster,
}

impl Story {
    fn new(files: &[(&str, &str)]) -> Self {
        let hub = Hub::new(files);
        let memory = hub.folder.path().join("memory");
        Self {
            repository: Repository::discover(&hub.root).unwrap(),
            gather: ChangeGatherer::new(&hub.root, &memory, Arc::new(RealFiles)).unwrap(),
            forecast: Forecaster::default(),
            hub,
        }
    }

    fn report(&mut self, works: &[&SessionWork], unsaved: &UnsavedBuffers) -> ForecastReport {
        let works: Vec<SessionWork> = works.iter().map(|work| (*work).clone()).collect();
        let gathered = self
            .gather
            .read(&self.repository, &works, unsaved, &ChangedTrees::All)
            .unwrap();
        assert!(gathered.unread.is_empty(), "{:?}", gathered.unread);
        self.forecast
            .refresh(&self.repository, &gathered.input)
            .unwrap()
    }
}

#[test]
fn two_sessions_in_one_function() {
    let mut story = Story::new(&[("src/flags.rs", RUST)]);
    let (one, two) = (story.hub.session("s1"), story.hub.session("s2"));
    let none = UnsavedBuffers::new();
    assert_eq!(story.report(&[&one, &two], &none).conflicts, []);
    write(&one.root, "src/flags.rs", &RUST.replace("b = 2", "b = 20"));
    write(&two.root, "src/flags.rs", &RUST.replace("b = 2", "b = 200"));
    let report = story.report(&[&one, &two], &none);
    let [conflict] = report.conflicts.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!((&conflict.one, &conflict.two), (&who("s1"), &who("s2")));
    assert_eq!(
        (conflict.path.to_string().as_str(), conflict.kind),
        ("src/flags.rs", ConflictKind::Content)
    );
    assert_eq!(conflict.locations[0].symbol.as_deref(), Some("parse"));
    assert_eq!(conflict.locations[0].one, 5..6);
    assert_eq!(
        conflict.for_person,
        "“work of s1” and “work of s2” conflict in src/flags.rs, line 5 in parse: both change the \
         same lines. The one that lands second will need your decision."
    );
    let (session, sentence) = &conflict.for_agents[1];
    assert_eq!(session, "s2");
    assert_eq!(
        sentence,
        "Another agent (“work of s1”) also changes src/flags.rs, line 5 in parse, in \
         conflict with you: both change the same lines. Keep your change there small, or leave it \
         out and report that."
    );
    let lands: Vec<bool> = report
        .order
        .iter()
        .map(|it| it.conflicts.is_empty())
        .collect();
    assert_eq!(lands, [true, false]);
    // Nothing changed: no merge is computed, and the report is the same.
    let again = story.report(&[&one, &two], &none);
    assert_eq!((again.merged, &again.conflicts), (0, &report.conflicts));
    // On distant lines they only overlap.
    write(&two.root, "src/flags.rs", &RUST.replace("g = 7", "g = 70"));
    let report = story.report(&[&one, &two], &none);
    assert_eq!(report.conflicts, []);
    let [near] = report.overlaps.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!(near.symbol, "parse");
    assert_eq!(
        report
            .order
            .iter()
            .filter(|it| !it.conflicts.is_empty())
            .count(),
        0
    );
    // In another function they do not even overlap.
    write(&two.root, "src/flags.rs", &RUST.replace("x = 1", "x = 10"));
    assert_eq!(story.report(&[&one, &two], &none).overlaps, []);
}

#[test]
fn the_person_and_the_branch_take_part() {
    let mut story = Story::new(&[("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("b.txt", "b\n")]);
    let work = story.hub.session("s1");
    write(&work.root, "a.txt", "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n");
    write(&work.root, "fresh.txt", "theirs\n");
    let text =
        |text: &str| UnsavedBuffers::from([(TreePath::from("a.txt"), text.as_bytes().into())]);
    let typed = text("1\nzwei\n3\n4\n5\n6\n7\n8\n9\n");
    let report = story.report(&[&work], &typed);
    assert_eq!(report.conflicts[0].two, ForecastParty::Person);
    assert_eq!(report.conflicts[0].for_agents.len(), 1);
    assert!(
        report.conflicts[0]
            .for_person
            .contains("your uncommitted changes")
    );
    assert_eq!(
        story
            .report(&[&work], &text("1\n2\n3\n4\n5\n6\n7\n8\nnine\n"))
            .conflicts,
        []
    );
    write(&story.hub.root, "fresh.txt", "mine, untracked\n");
    let report = story.report(&[&work], &UnsavedBuffers::new());
    assert_eq!(report.conflicts[0].kind, ConflictKind::BothAdded);
    std::fs::remove_file(story.hub.root.join("fresh.txt").as_path()).unwrap();
    // Once committed, it conflicts as part of the branch, reported once and not again for every
    // session.
    write(&story.hub.root, "a.txt", "1\nZWEI\n3\n4\n5\n6\n7\n8\n9\n");
    story.hub.commit();
    let other = story.hub.session("s2");
    write(&other.root, "b.txt", "B\n");
    write(&story.hub.root, "b.txt", "b\nuncommitted\n");
    let report = story.report(&[&work, &other], &UnsavedBuffers::new());
    let told: Vec<(&ForecastParty, &ForecastParty, String)> = report
        .conflicts
        .iter()
        .map(|it| (&it.one, &it.two, it.path.to_string()))
        .collect();
    assert_eq!(
        told,
        [
            (&who("s1"), &ForecastParty::Branch, "a.txt".to_owned()),
            (&who("s2"), &ForecastParty::Person, "b.txt".to_owned()),
        ]
    );
    assert_eq!(report.order[0].conflicts, [TreePath::from("a.txt")]);
    assert!(report.order[1].conflicts.is_empty());
}

#[test]
fn a_touched_file_of_the_same_size_is_seen() {
    let mut story = Story::new(&[("a.txt", "a\nb\nc\n")]);
    let (one, two) = (story.hub.session("s1"), story.hub.session("s2"));
    write(&one.root, "a.txt", "1\nb\nc\n");
    for round in 0..20 {
        let is_fought = round % 2 == 0;
        write(
            &two.root,
            "a.txt",
            if is_fought { "2\nb\nc\n" } else { "a\nb\nC\n" },
        );
        let report = story.report(&[&one, &two], &UnsavedBuffers::new());
        assert_eq!(!report.conflicts.is_empty(), is_fought, "round {round}");
    }
}

#[test]
fn a_tree_nobody_touched_is_not_looked_at() {
    let mut story = Story::new(&[("a.txt", "a\n")]);
    let work = story.hub.session("s1");
    let works = [work.clone()];
    let none = UnsavedBuffers::new();
    let mut count = |touched: &ChangedTrees| {
        let gathered = story
            .gather
            .read(&story.repository, &works, &none, touched)
            .unwrap();
        gathered.input.sessions[0].changes.len()
    };
    let nobody = ChangedTrees::Only(std::collections::BTreeSet::new());
    // The first read scans every tree.
    assert_eq!(count(&nobody), 0);
    write(&work.root, "a.txt", "b\n");
    assert_eq!(count(&nobody), 0);
    assert_eq!(count(&ChangedTrees::Only([who("s1")].into())), 1);
    write(&work.root, "b.txt", "b\n");
    assert_eq!(count(&nobody), 1);
    assert_eq!(count(&ChangedTrees::All), 2);
}
