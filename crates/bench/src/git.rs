//! Git: status after a save, staging, blame, the graph of the history, conflicts, and typing beside all of it.
//!
//! `status`: the status after one save in a repository of 100,000 files, without the 100 ms over which the window's service
//! gathers events. `stage`: a hunk from the click to the index on the disk. `blame`: first line, a screen and the whole of a
//! file of 8,000 lines. `graph`: the first 200 rows of 24,000 commits with their lanes. `conflicts`: 200 conflicts of a merge,
//! read and resolved. `view`: 200 conflicts in a whole window. `keys`: keys in a window while a status, a blame and a log run.
//! `BURIN_BENCH_PARTS` selects some. The generated repositories stay in `target/bench/git`.
//! Invariant: both sides of a pair give the same result, or the benchmark fails.

mod blame;
mod conflicts;
mod graph;
mod history;
mod many_files;
mod repositories;
mod stage;
mod status;

use std::time::Instant;

use crate::figure::Figure;
use crate::interleave::{Dice, Pairs};
use crate::is_wanted;
use crate::typing::of_window;

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    if is_wanted("status") {
        figures.extend(status::figures()?);
    }
    if is_wanted("stage") {
        figures.extend(stage::figures()?);
    }
    if is_wanted("blame") {
        figures.extend(blame::figures()?);
    }
    if is_wanted("graph") {
        figures.extend(graph::figures()?);
    }
    if is_wanted("conflicts") {
        figures.extend(conflicts::figures()?);
    }
    if is_wanted("view") {
        figures.extend(of_window("workbench", "window", &["conflicts"])?);
    }
    if is_wanted("keys") {
        let repository = history::kept_history()?.to_string();
        figures.extend(of_window("workbench", "window", &["git", &repository])?);
    }
    Ok(figures)
}

/// Runs both sides of a pair in random order.
fn in_turn<A, B>(
    dice: &mut Dice,
    ours: impl FnOnce() -> Result<A, String>,
    peers: impl FnOnce() -> Result<B, String>,
) -> Result<(A, B), String> {
    if dice.below(2) == 0 {
        let ours = ours()?;
        Ok((ours, peers()?))
    } else {
        let peers = peers()?;
        Ok((ours()?, peers))
    }
}

/// Returns the milliseconds since `start`.
fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Returns the quantiles of a time with their goals in milliseconds, and the comparison with the peer.
fn timed(name: &str, peer: &str, pairs: &Pairs, goals: [Option<f64>; 3]) -> Vec<Figure> {
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];
    let alone = quantiles
        .into_iter()
        .zip(goals)
        .map(|((label, share), goal)| {
            let value = pairs.tail(share).ours();
            Figure::alone(format!("{name} {label}"), value, "ms", pairs.len(), goal)
        });
    let mut figures: Vec<Figure> = alone.collect();
    figures.push(Figure::against(name, peer, pairs, "ms", None));
    figures
}
