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
//! *Probe.* Share of right text that the checks of suggestions refuse (see `probe`), in the hunks that are typed, at every
//! caret or at every `BURIN_BENCH_STEP`th one.
//!
//! *Control.* Share of wrong text that they refuse, up to 2,000 cases of each of ten kinds (see `control`), from the 400
//! newest commits, evenly from all repositories. To compare with another state of the checks, measure both states with
//! the same repositories, and name the first one's `tab_local.json` in `BURIN_BENCH_BEFORE`.
//!
//! *Speed.* CPU time of `LocalPredictor::suggest` in a project of a million lines, and time and memory of its corpus.
//!
//! `BURIN_BENCH_PARTS` selects the parts to measure: keys, next, probe, control, speed. `BURIN_BENCH_MISSES` prints the
//! missed cases of edit propagation, the right text that is refused and the wrong text that is not, for inspection in
//! repositories that are not used for measurements.
//!
//! The learned tables are trained by `cargo xtask train-tab`, on packages and on none of these repositories.
//! Used for development and inspected for misses: clap, zod, httpx, express, fastapi, chi, fiber, prometheus,
//! pydantic, cobra, axum, trpc; for repeated edits also serde, rayon, click, jinja, testify, koa, got. Used for
//! measurements, never for training, development or inspection: tokio, ripgrep, flask, requests, gin, axios, vuejs/core. A second set
//! for measurements only: hyper, bat, echo, starlette, black, redux, preact.

mod asker;
mod control;
#[cfg(test)]
mod fixture;
mod keys;
mod next;
mod probe;
mod repository;
mod speed;
#[cfg(test)]
mod tests;
mod wrong;

use std::path::PathBuf;

use replay::{baselines, caret_suggestions, hunks, local_tier, typing};

use crate::figure::Figure;
use crate::is_wanted;

/// Runs the replay over all repositories.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let repositories = repositories()?;
    let mut keys = keys::Tally::default();
    let mut next = next::Tally::default();
    let mut probe = probe::Tally::new(number("BURIN_BENCH_STEP").unwrap_or(1));
    let mut control = control::Tally::new();
    for (ix, repository) in repositories.iter().enumerate() {
        if is_wanted("keys") {
            repository::replay(repository, commits(80), |moment, corpus| {
                keys.commit(moment, corpus);
            })?;
        }
        if is_wanted("next") {
            repository::replay(repository, commits(400), |moment, _| next.commit(moment))?;
        }
        if is_wanted("probe") {
            repository::each_commit(repository, commits(80), |files| probe.commit(files))?;
        }
        if is_wanted("control") {
            control.set_limit(control::CASES * (ix + 1) / repositories.len());
            repository::each_commit(repository, commits(400), |files| control.commit(files))?;
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
    if is_wanted("probe") {
        figures.extend(probe.figures());
    }
    if is_wanted("control") {
        figures.extend(control.figures());
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

/// Returns the number of newest commits to replay.
fn commits(usual: usize) -> usize {
    number("BURIN_BENCH_COMMITS").unwrap_or(usual)
}

/// Returns the positive number in an environment variable.
fn number(name: &str) -> Option<usize> {
    let number = std::env::var(name).ok()?.parse().ok();
    number.filter(|number| *number > 0)
}
