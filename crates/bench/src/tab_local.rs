//! Tab without a model, replayed over real commits: keystrokes saved, next edits predicted, wrong suggestions.
//!
//! Repositories come from `BURIN_BENCH_REPOS`, a colon-separated list of git directories. The newest commits of each are
//! replayed: 80 for the keystrokes and 400 for the next edits, which gives each more than a thousand cases in half a
//! dozen repositories (repeated edits are rare, and their figure varies with fewer cases); `BURIN_BENCH_COMMITS`
//! overrides both numbers. The corpus holds the project before these commits. Each commit is replayed hunk by hunk from
//! the top of each file, and Tab knows the hunks before the current one. A file is saved, and enters the corpus in that
//! state, after its last hunk.
//!
//! *Keystrokes.* The new text of a hunk is typed character by character; the indentation of a row and the deletion of
//! the old text cost nothing in all variants. One keystroke accepts the visible suggestion (the first of
//! `LocalPredictor::suggest`), and each step to an alternative costs one more: all of it, its first line, or its next
//! word, the correct part that saves most. Only the first suggestion counts as shown. Figures are given for several
//! thresholds; also with explicit requests, which cost one more keystroke, wherever they pay off; and also with the
//! command that completes words (`LocalPredictor::word_suggestions`), which costs as many keystrokes as the word's
//! position in the list, wherever it pays off. Peers:
//! - *keyword oracle*: after the first letter of any word of at least three letters in the current text or in another
//!   file of the commit, one keystroke completes the rest. Nvim cannot do that: it is an upper bound for keyword
//!   completion, reached if the wanted word were always the first.
//! - *nvim's keyword completion*: as many presses of ctrl-n as the wanted word's position in the list of words with the
//!   typed prefix, in nvim's order (forward from the caret and around, then the other files); the user knows for each
//!   word the prefix length that costs the fewest keystrokes.
//!
//! *Next edits.* In commits of at least three hunks, after two or more hunks: is the first site that Tab suggests in the
//! next hunk (hit@1) or in any remaining hunk, and does its row then equal that of the commit (exact)? Peers: the next
//! use of the first name that the last hunk removed (same identifier), and the next use of a name whose definition the
//! commit has removed so far, which a compiler would report first (next diagnostic).
//! A hunk is an edit-propagation case if it changes a row by the same tokens as at least two earlier rows.
//!
//! *Speed.* CPU time of `LocalPredictor::suggest` in a project of a million lines, and time and memory of its corpus.
//!
//! `BURIN_BENCH_PARTS` selects the parts to measure: keys, next, speed. `BURIN_BENCH_MISSES` prints the missed cases of
//! edit propagation, for inspection in repositories that are not used for measurements.
//!
//! The learned tables are trained by `cargo xtask train-tab`, on packages and on none of these repositories.
//! Used for development and inspected for misses: clap, zod, httpx, express, fastapi, chi, fiber, prometheus,
//! pydantic, cobra, axum, trpc; for repeated edits also serde, rayon, click, jinja, testify, koa, got. Used for
//! measurements, never for training, development or inspection: tokio, ripgrep, flask, requests, gin, axios, vuejs/core. A second set
//! for measurements only: hyper, bat, echo, starlette, black, redux, preact.

mod keys;
mod next;
mod repository;
mod speed;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use replay::{baselines, hunks, person, shown, typing};

use crate::figure::Figure;

/// Runs the replay over all repositories.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let repositories = repositories()?;
    let mut keys = keys::Tally::default();
    let mut next = next::Tally::default();
    for repository in &repositories {
        if is_wanted("keys") {
            repository::replay(repository, commits(80), |moment, corpus| {
                keys.commit(moment, corpus);
            })?;
        }
        if is_wanted("next") {
            repository::replay(repository, commits(400), |moment, _| next.commit(moment))?;
        }
        eprintln!("{}: {}", repository.display(), keys.line());
    }
    let mut figures = Vec::new();
    if is_wanted("keys") {
        figures.extend(keys.figures());
    }
    if is_wanted("next") {
        figures.extend(next.figures());
    }
    if is_wanted("speed") {
        figures.extend(speed::figures()?);
    }
    Ok(figures)
}

fn repositories() -> Result<Vec<PathBuf>, String> {
    let Some(list) = std::env::var_os("BURIN_BENCH_REPOS") else {
        return Err("set BURIN_BENCH_REPOS to git directories, separated by colons".to_owned());
    };
    let repositories: Vec<PathBuf> = std::env::split_paths(&list).collect();
    match repositories.iter().find(|path| !path.is_dir()) {
        Some(missing) => Err(format!("there is no repository {}", missing.display())),
        None => Ok(repositories),
    }
}

/// Whether a part is measured: all are, unless `BURIN_BENCH_PARTS` names some.
fn is_wanted(part: &str) -> bool {
    std::env::var("BURIN_BENCH_PARTS").map_or(true, |parts| parts.split(',').any(|it| it == part))
}

/// Returns the number of newest commits to replay.
fn commits(usual: usize) -> usize {
    let count = std::env::var("BURIN_BENCH_COMMITS").ok();
    let count = count.and_then(|count| count.parse().ok());
    count.unwrap_or(usual)
}
