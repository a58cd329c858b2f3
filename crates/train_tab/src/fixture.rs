//! A small change in four languages, typed with the tables that ship.

use std::path::Path;

use autocomplete::local::TabTables;
use base::AbsPath;
use replay::ChangedFile;
use syntax::language_for;

use super::changes;
use super::projects::Project;
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

#[test]
fn the_shipped_tables_beat_the_former_weights() {
    let scorer = include_bytes!("../../../assets/models/tab-scorer.bin");
    let idioms = include_bytes!("../../../assets/models/tab-idioms.bin");
    let tables = TabTables::from_bytes(scorer, idioms).expect("tables");
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
    assert!(keys < FORMER_KEYS, "{keys} keys");
    assert!(
        wrong * FORMER_SHOWN < FORMER_WRONG * shown,
        "{wrong} of {shown} wrong"
    );
}
