//! A small change in four languages, typed with the tables that ship.

use std::path::Path;

use autocomplete::local::{
    GUESS_FEATURES, ShowPolicy, TOKEN_FEATURES, TabScorer, TabTables, TreeTable,
};
use base::AbsPath;
use replay::ChangedFile;
use syntax::language_for;

use super::boost::{Boosting, fit};
use super::changes;
use super::projects::Project;
use super::samples::{SampleKind, gather};
use super::tally::Tally;

/// Keystrokes, suggestions shown and wrong ones of the hand-fitted weights that the tables replaced,
/// at their threshold.
const FORMER_KEYS: usize = 1851;
const FORMER_SHOWN: usize = 344;
const FORMER_WRONG: usize = 133;

/// Reads the change: `===` begins a file, and its rows are marked as in a unified diff.
fn project() -> Project {
    let mut changed: Vec<ChangedFile> = Vec::new();
    for part in include_str!("fixture.diff").split("=== ").skip(1) {
        let (path, rows) = part.split_once('\n').expect("a path");
        let side = |mark: char| -> String {
            let rows = rows.split_inclusive('\n');
            let rows = rows.filter(|row| row.starts_with(' ') || row.starts_with(mark));
            rows.map(|row| &row[1..]).collect()
        };
        changed.push(ChangedFile {
            path: AbsPath::new("/project").expect("a root").join(path),
            language: language_for(Path::new(path), "").expect("a language"),
            old: side('-'),
            new: side('+'),
        });
    }
    let files = changed.iter();
    Project {
        files: files.map(|it| (it.path.clone(), it.old.clone())).collect(),
        changes: vec![changed],
    }
}

fn shipped() -> TabTables {
    let scorer = include_bytes!("../../../assets/models/tab-scorer.bin");
    let idioms = include_bytes!("../../../assets/models/tab-idioms.bin");
    TabTables::from_bytes(scorer, idioms).expect("tables")
}

/// Gathers samples from the change at every key, and fits small tables to them.
fn trained() -> Vec<u8> {
    let table = |kind: SampleKind, width: usize| -> TreeTable {
        let samples = gather(&project(), "fixture", &shipped(), (kind, 1));
        let right = samples.is_right.iter().filter(|it| **it).count();
        assert!(0 < right && right < samples.is_right.len(), "{kind:?}");
        let size = Boosting {
            trees: 8,
            depth: 4,
            rate: 0.15,
        };
        fit(&samples, width, size).expect("a table")
    };
    let tokens = table(SampleKind::Tokens, TOKEN_FEATURES);
    let guesses = table(SampleKind::Guesses, GUESS_FEATURES);
    let policy = ShowPolicy {
        look: 10,
        threshold: 450,
    };
    TabScorer::new(tokens, guesses, policy).to_bytes()
}

#[test]
fn the_same_changes_train_the_same_tables() {
    // Hash maps iterate in another order each time.
    assert_eq!(trained(), trained());
}

#[test]
fn the_shipped_tables_are_wrong_less_often_than_the_former_weights() {
    let tables = shipped();
    let mut tally = Tally::default();
    changes::make(&project(), &tables, usize::MAX, |tier, open, typed| {
        tally.add(&Tally::measure(tier, open, typed, &[]));
    });
    let typed = tally.in_use;
    let (keys, shown, wrong) = (typed.keys, typed.shown, typed.wrong);
    println!(
        "{} keys without Tab; {keys}, {shown} shown, {wrong} wrong",
        tally.typed
    );
    // They show less, and save nearly as much.
    assert!(keys * 100 <= FORMER_KEYS * 101, "{keys} keys");
    assert!(
        wrong * FORMER_SHOWN < FORMER_WRONG * shown,
        "{wrong} of {shown} wrong"
    );
}
