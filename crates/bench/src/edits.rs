//! Edits that land: real edits replayed in every format, and the same gone wrong as models do it,
//! beside aider and codex.
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

/// Replays, then corrupts. `BURIN_BENCH_EDITS` is how many edits are replayed (10,000 without);
/// `BURIN_BENCH_CASES` how many of each class and language are corrupted (1,000 without), 0 for
/// none; `BURIN_BENCH_PEER_CASES` in how many of these the peers take part (all without), since a
/// process for every patch takes its time.
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

/// The languages of the table, by the ends of their files' names.
const LANGUAGES: [(&str, &[&str]); 4] = [
    ("Rust", &["rs"]),
    ("Python", &["py"]),
    (
        "TypeScript",
        &["ts", "tsx", "js", "jsx", "mts", "mjs", "vue"],
    ),
    ("Go", &["go"]),
];

/// The edits of several histories, in random order.
struct Pool {
    blobs: Vec<Blobs>,
    /// Whose history, and which versions.
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

    /// Hands over edits of files that end so, until `take` has enough; all files where there are no
    /// ends.
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

/// Keeps a case that went wrong, to be looked at: `target/bench/edits/NAME/`.
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
    // Only for the eye of whoever runs it.
    if std::fs::create_dir_all(&folder).is_ok() {
        for (file, content) in files {
            std::fs::write(folder.join(file), content).ok();
        }
    }
}
