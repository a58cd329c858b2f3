//! Measures how well edits apply: real edits replayed in every format, then corrupted as models do,
//! compared with aider and codex.
//!
//! Limitation: the corruptions are invented one at a time, so their mix does not match that of any
//! model.

mod corrupt;
mod encode;
mod history;
mod ours;
mod peers;
mod replay;
mod table;
mod truth;

use std::path::PathBuf;

use crate::figure::{self, Figure};
use crate::interleave::Dice;

use self::history::Pair;
use self::truth::Edit;
use crate::blobs::Blobs;

/// Replays edits, then corrupted ones. `BURIN_BENCH_EDITS` sets the number of replayed edits
/// (default 10,000); `BURIN_BENCH_CASES` the number of corrupted edits of each class and language
/// (default 1,000; 0 for none); `BURIN_BENCH_PEER_CASES` how many of these also go to the peers
/// (default all), which need a process for every patch.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let repositories = history::repositories()?;
    let mut pool = Pool::open(&repositories)?;
    let replayed = number("BURIN_BENCH_EDITS", 10_000);
    let cases = number("BURIN_BENCH_CASES", 1_000);
    let mut figures = Vec::new();
    if replayed > 0 {
        figures.extend(replay::run(&mut pool, replayed)?);
    }
    if cases > 0 {
        let peers = number("BURIN_BENCH_PEER_CASES", cases);
        figures.extend(table::run(&mut pool, cases, peers)?);
    }
    Ok(figures)
}

fn number(variable: &str, default: usize) -> usize {
    let text = std::env::var(variable).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The languages of the table, with their file name extensions.
const LANGUAGES: [(&str, &[&str]); 4] = [
    ("Rust", &["rs"]),
    ("Python", &["py"]),
    (
        "TypeScript",
        &["ts", "tsx", "js", "jsx", "mts", "mjs", "vue"],
    ),
    ("Go", &["go"]),
];

/// Edits from several histories, in random order.
struct Pool {
    blobs: Vec<Blobs>,
    /// Index of the history, and the two versions.
    pairs: Vec<(usize, Pair)>,
}

impl Pool {
    fn open(repositories: &[PathBuf]) -> Result<Self, String> {
        let (mut blobs, mut pairs) = (Vec::new(), Vec::new());
        for (ix, repository) in repositories.iter().enumerate() {
            blobs.push(Blobs::of(repository)?);
            pairs.extend(
                history::pairs(repository)?
                    .into_iter()
                    .map(|pair| (ix, pair)),
            );
        }
        let mut dice = Dice::new(7);
        for ix in (1..pairs.len()).rev() {
            pairs.swap(ix, dice.below(ix + 1));
        }
        Ok(Self { blobs, pairs })
    }

    /// Passes edits of files with one of these extensions to `take` until it has enough; edits of
    /// all files if there are no extensions.
    fn each(
        &mut self,
        ends: &[&str],
        mut take: impl FnMut(Edit) -> Result<Wanted, String>,
    ) -> Result<(), String> {
        for (ix, pair) in &self.pairs {
            let end = pair.path.rsplit_once('.').map_or("", |(_, end)| end);
            if !ends.is_empty() && !ends.contains(&end) {
                continue;
            }
            if let Some(edit) = history::edit(&mut self.blobs[*ix], pair)?
                && take(edit)? == Wanted::Nothing
            {
                break;
            }
        }
        Ok(())
    }
}

#[derive(PartialEq, Eq)]
enum Wanted {
    More,
    Nothing,
}

/// Stores a failed case for inspection in `target/bench/edits/NAME/`.
fn keep(name: &str, edit: &Edit, text: &str, got: &str) {
    let folder = figure::target()
        .join("bench/edits")
        .join(name.replace([' ', '/'], "-"));
    let files = [
        ("old", edit.old.as_str()),
        ("new", edit.new.as_str()),
        ("edit", text),
        ("got", got),
    ];
    // Only the person who runs the benchmark reads these files.
    if std::fs::create_dir_all(&folder).is_ok() {
        for (file, content) in files {
            std::fs::write(folder.join(file), content).ok();
        }
    }
}
