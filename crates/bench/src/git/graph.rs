//! The first rows of a long history with their lanes, as the tab of the history shows them, beside `git log --graph`.

use std::ops::ControlFlow;
use std::time::Instant;

use base::AbsPath;
use git_program::{Cancellation, CommitGraph, GitProgram, LogQuery};

use super::blame::program;
use super::history::{self, COMMITS, GraphFile};
use super::repositories::{git, output_of};
use super::{in_turn, since, timed};
use crate::figure::Figure;
use crate::interleave::{Dice, Pairs};

/// Number of interleaved pairs.
const PAIRS: usize = 30;
/// Rows of the first batch that the tab gets.
const ROWS: usize = 200;
/// Goal in milliseconds.
const GOAL: f64 = 80.0;
/// Digits of a commit id.
const ID: usize = 40;
/// The fields that the tab shows.
const FORMAT: &str = "--format=%H%x00%P%x00%aN%x00%aE%x00%at%x00%D%x00%s";

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let root = history::kept_history()?;
    let mut figures = Vec::new();
    for graph in GraphFile::ALL {
        let label = graph.label();
        let name = format!("graph: first {ROWS} rows of {COMMITS} commits {label}");
        let peer = format!("git log --graph -n {ROWS}");
        let pairs = measured(&root, graph)?;
        figures.extend(timed(&name, &peer, &pairs, [Some(GOAL), None, None]));
    }
    Ok(figures)
}

fn measured(root: &AbsPath, graph: GraphFile) -> Result<Pairs, String> {
    let program = program(root, graph)?;
    let (mut pairs, mut dice) = (Pairs::default(), Dice::new(17));
    for trial in 0..=PAIRS {
        let (ours, peers) = in_turn(&mut dice, || ours(&program), || by_git(root, graph))?;
        if ours.1 != peers.1 {
            return Err("our rows of the history are not those of git".to_owned());
        }
        // The first pair warms the caches of the system.
        if trial > 0 {
            pairs.push(ours.0, peers.0);
        }
    }
    Ok(pairs)
}

/// Returns the time until the rows have their lanes, and their commits.
fn ours(program: &GitProgram) -> Result<(f64, Vec<String>), String> {
    let mut lanes = CommitGraph::<String>::default();
    let (mut ids, mut placed) = (Vec::new(), Vec::new());
    let mut time = None;
    let (query, cancellation) = (LogQuery::default(), Cancellation::default());
    let start = Instant::now();
    let ended = program.log(&query, &cancellation, &mut |row| {
        placed.push(lanes.place(&row.id, &row.parents));
        ids.push(row.id);
        if ids.len() < ROWS {
            return ControlFlow::Continue(());
        }
        time = Some(since(start));
        ControlFlow::Break(())
    });
    ended.map_err(|error| error.to_string())?;
    if placed.iter().all(|row| row.lane == 0) {
        return Err("the history has no branches".to_owned());
    }
    Ok((time.ok_or("the history has too few commits")?, ids))
}

/// Runs the peer in the order of our rows.
fn by_git(root: &AbsPath, graph: GraphFile) -> Result<(f64, Vec<String>), String> {
    let mut command = git(root);
    command
        .envs(graph.variables())
        .args(["log", "--graph", "--date-order", FORMAT])
        .args(["-n", &ROWS.to_string()]);
    let start = Instant::now();
    let output = output_of(&mut command)?;
    let time = since(start);
    let ids = output.lines().filter_map(|line| {
        let before = line.split('\0').next()?;
        let id = before.rsplit(' ').next()?;
        (id.len() == ID).then(|| id.to_owned())
    });
    Ok((time, ids.collect()))
}
