//! Language servers: the list of completions, synchronisation, processes that are left, and hostile output.
//!
//! `list`: keys over a list of 20,000 items, and a long list that arrives, in the editor. `keys`: keys with a list open
//! in the whole window, while a server floods it with diagnostics. `answer`: an answer of 10 MB.
//! `sync`: edits, and the text of the server after them. `processes`: those that live on (`BURIN_BENCH_TRIALS`, 20
//! without). `hostile`: the memory that floods of a server cost. `sharing`: the memory of rust-analyzer for worktrees.
//! `BURIN_BENCH_PARTS` selects some.

mod answer;
mod hostile;
mod processes;
mod server;
mod sharing;
mod sync;

use crate::figure::Figure;
use crate::is_wanted;
use crate::typing::of_window;

pub(crate) use processes::run_client;

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    if is_wanted("hostile") {
        figures.extend(hostile::run()?);
    }
    if is_wanted("answer") {
        figures.extend(answer::run()?);
    }
    if is_wanted("sync") {
        figures.extend(sync::run()?);
    }
    if is_wanted("processes") {
        figures.extend(processes::run()?);
    }
    if is_wanted("sharing") {
        figures.extend(sharing::run()?);
    }
    if is_wanted("list") {
        figures.extend(of_window("editor", "typing", &["completions"])?);
    }
    if is_wanted("keys") {
        figures.extend(of_window("workbench", "window", &["flood"])?);
    }
    Ok(figures)
}

/// Returns the number of trials: `BURIN_BENCH_TRIALS`, or `usual` without.
fn trials(usual: usize) -> Result<usize, String> {
    match std::env::var("BURIN_BENCH_TRIALS") {
        Ok(count) => count
            .parse()
            .map_err(|_| "BURIN_BENCH_TRIALS is not a number".to_owned()),
        Err(_) => Ok(usual),
    }
}
