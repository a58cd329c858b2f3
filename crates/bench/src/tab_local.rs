//! Tab without a model, replayed over real commits: keys saved, next edits foretold, what is shown wrongly.
//!
//! Repositories come from `BURIN_BENCH_REPOS`, a colon-separated list of git directories. Of each the newest commits are
//! replayed: 80 for the keys and 400 for the next edits, so that in half a dozen repositories either has more than a
//! thousand cases (like edits are rare, and their figure swings with fewer); `BURIN_BENCH_COMMITS` is another number for
//! both. The project as it was before them is in the corpus; each commit is made hunk by hunk, from the top of each
//! file, and what was made before a hunk is what Tab knows: a file is saved, and so in the corpus as it is then, once
//! its last hunk is made.
//!
//! *Keys.* The new text of a hunk is typed letter by letter; the indent of a row and deleting the old text cost nothing
//! to anybody. The suggestion that is shown (the first of `Local::suggest`) is taken with one key, an alternative with
//! one key more for each step to it: all of it, its first line, or its next word, whichever is right and saves most.
//! Only the first counts as shown. Told for a row of thresholds; also with asking by hand for what is not shown, which
//! takes one key more, wherever that pays; and also with the key that writes words (`Local::words`): as many presses as
//! the word is down the list, wherever that pays, as nvim's person is allowed. Peers:
//! - *keyword oracle*: behind the first letter of any word of at least three letters that stands in the current text or
//!   in another file that the commit touches, one further key writes the rest. Nvim cannot do that: it is what keyword
//!   completion would save if the wanted word were always the first.
//! - *nvim's keyword completion*: as many presses of ctrl-n as the wanted word is down the list that begins with the
//!   letters typed, in nvim's order (forward from the caret and around, then the other files); the person knows for
//!   each word after how many letters that takes the fewest keys.
//!
//! *Next edits.* In commits of at least three hunks, after two or more hunks, is the place that Tab offers first in the
//! next hunk (hit@1), in any hunk still to come, and does the row then read as the commit has it (exact)? Peers: the
//! next use of the first name that the last hunk removed (same identifier), and the next use of a name whose
//! definition the commit has removed so far (what a compiler would complain of first: next diagnostic).
//! A hunk is an edit-propagation case if it changes some row by the same tokens as at least two earlier rows.
//!
//! *Speed.* CPU time of `Local::suggest` in a project of a million lines, and time and memory of its corpus.
//!
//! `BURIN_BENCH_PARTS` names the parts that are measured: keys, next, speed. `BURIN_BENCH_MISSES` prints the cases of
//! edit propagation that were missed, to be looked at in repositories that nothing is measured on.
//!
//! With `BURIN_BENCH_FIT` set, nothing is measured: the weights of the continuation are fitted on these repositories.
//! Fitted, and looked at for what is missed, were: clap, zod, httpx, express, fastapi, chi, fiber, prometheus,
//! pydantic, cobra, axum, trpc; for like edits also serde, rayon, click, jinja, testify, koa, got. Measured on, and
//! never fitted or looked at: tokio, ripgrep, flask, requests, gin, axios, vuejs/core. A second set that was only
//! measured: hyper, bat, echo, starlette, black, redux, preact.

mod baselines;
mod fit;
mod hunks;
mod keys;
mod next;
mod person;
mod repository;
mod shown;
mod speed;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use crate::figure::Figure;

/// Runs the replay over all repositories.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let repositories = repositories()?;
    if std::env::var_os("BURIN_BENCH_FIT").is_some() {
        return fit::run(&repositories);
    }
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

/// Whether a part is to be measured: all are, unless `BURIN_BENCH_PARTS` names some.
fn is_wanted(part: &str) -> bool {
    std::env::var("BURIN_BENCH_PARTS").map_or(true, |parts| parts.split(',').any(|it| it == part))
}

/// How many of the newest commits are replayed.
fn commits(usual: usize) -> usize {
    let count = std::env::var("BURIN_BENCH_COMMITS").ok();
    let count = count.and_then(|count| count.parse().ok());
    count.unwrap_or(usual)
}
