//! Times from an empty to a complete index, to the first answer, and of single queries.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ::index::{Index, IndexOptions, IndexQuery, TextSearch};
use cpu_time::ProcessTime;
use project::{WalkBackend, WalkOptions, file_list};
use syntax::{Language, PlainTree};
use tempfile::TempDir;

use super::{place, settled};
use crate::corpus;
use crate::figure::Figure;
use crate::interleave::{Pairs, millis, quantile};
use crate::retrieval::semble::{Semble, Tokens};

/// Queries in several styles that people use.
pub(super) const QUERIES: &[&str] = &[
    "how spawned tasks are scheduled onto threads",
    "wait until a value changes",
    "JoinSet",
    "retry with backoff after an error",
    "parse a header of a request",
    "poll_next",
    "read lines from a buffered stream",
    "close the connection and free its buffers",
    "Semaphore::acquire",
    "where the timer wheel is advanced",
    "convert bytes to a string",
    "test that cancelling does not lose messages",
];

/// Number of pairs; each builds a whole index on both sides.
const COLD: usize = 7;

/// Measures the time to a complete index against semble, and the time to the first answer as a
/// share of it.
pub(super) fn cold(tree: &Path) -> Result<Vec<Figure>, String> {
    let mut semble = Semble::start(Tokens::Plain)?;
    let (mut pairs, mut busy) = (Pairs::default(), Pairs::default());
    let (mut first, mut chunks) = (Vec::new(), (0, 0));
    for turn in 0..=COLD {
        let (ours, theirs) = if turn % 2 == 0 {
            let ours = opened(tree)?;
            (ours, semble.ask(tree, &[], 10, 1)?)
        } else {
            let theirs = semble.ask(tree, &[], 10, 1)?;
            (opened(tree)?, theirs)
        };
        // The first round warms both sides.
        if turn > 0 {
            pairs.push(ours.all, theirs.index_millis);
            busy.push(ours.busy, theirs.index_busy);
            first.push(ours.first / ours.all);
            chunks = (ours.chunks, theirs.chunks);
        }
    }
    let name = format!("cold index, {} chunks (semble {})", chunks.0, chunks.1);
    let share = quantile(first.iter().copied(), 0.5);
    Ok(vec![
        Figure::against(name, "semble", &pairs, "ms", Some(0.2)),
        Figure::against(
            "cold index, time of processors",
            "semble",
            &busy,
            "ms",
            Some(0.2),
        ),
        Figure::alone(
            "of that, parsing the files and nothing else",
            bare_parse(tree)?,
            "ms",
            COLD,
            None,
        ),
        Figure::alone(
            "first answer, share of the whole",
            share,
            "",
            COLD,
            Some(0.3),
        ),
    ])
}

/// Returns the CPU milliseconds that tree-sitter alone takes for a folder: a lower bound for any index of syntax
/// trees.
fn bare_parse(tree: &Path) -> Result<f64, String> {
    let never = AtomicBool::new(false);
    let root = place(tree)?;
    let listed = file_list(&WalkBackend::Disk, &root, &WalkOptions::default(), &never);
    let (paths, _) = listed.map_err(|error| error.to_string())?;
    let texts: Vec<(Language, String)> = paths
        .iter()
        .filter_map(|path| {
            let text = std::fs::read_to_string(root.join(path).as_path()).ok()?;
            let first_line = text.lines().next().unwrap_or_default();
            Some((syntax::language_for(path, first_line)?, text))
        })
        .collect();
    let turns = (0..COLD).map(|_| {
        let began = ProcessTime::now();
        for (language, text) in &texts {
            std::hint::black_box(PlainTree::parse(*language, text));
        }
        began.elapsed().as_secs_f64() * 1_000.0
    });
    Ok(quantile(turns, 0.5))
}

struct Opened {
    /// Milliseconds until the first hit, and until the index is complete.
    first: f64,
    all: f64,
    /// CPU time, in milliseconds.
    busy: f64,
    chunks: u32,
}

fn opened(tree: &Path) -> Result<Opened, String> {
    let cache = TempDir::new().map_err(|error| error.to_string())?;
    let (tree, cache) = (place(tree)?, place(cache.path())?);
    let query = IndexQuery::new(QUERIES[0], 10);
    let (start, began) = (Instant::now(), ProcessTime::now());
    let since = || start.elapsed().as_secs_f64() * 1_000.0;
    let options = IndexOptions {
        // The trigram index starts after everything measured here, and would overlap with the
        // peer's time.
        text_search: TextSearch::Unindexed,
        ..IndexOptions::kept_in(&cache)
    };
    let index = Index::open(tree, options);
    let news = index.changed();
    let mut first = None;
    while first.is_none() {
        // Queries only after a change, so that querying does not slow down indexing.
        news.recv_blocking().map_err(|error| error.to_string())?;
        if !index.search(&query).hits.is_empty() {
            first = Some(since());
        }
        if index.status().is_ready() {
            break;
        }
    }
    index.wait_until_synced();
    let all = since();
    let busy = began.elapsed().as_secs_f64() * 1_000.0;
    // Background work must not overlap with the peer's time.
    index.wait_until_idle();
    Ok(Opened {
        first: first.ok_or("the index finished and found nothing")?,
        all,
        busy,
        chunks: index.status().chunks,
    })
}

/// Measures query times at about 5,000 chunks, against semble.
pub(super) fn queries(tree: &Path) -> Result<Vec<Figure>, String> {
    let cache = TempDir::new().map_err(|error| error.to_string())?;
    let index = settled(tree, cache.path())?;
    let chunks = index.status().chunks;
    let times = asked(&index, 40);
    let theirs = Semble::start(Tokens::Plain)?.ask(tree, QUERIES, 10, 11)?;
    let mut pairs = Pairs::default();
    for (ours, theirs) in medians(&times).into_iter().zip(theirs.query_millis) {
        pairs.push(ours, theirs);
    }
    let mut figures = told(&format!("query at {chunks} chunks"), &times, 1.0);
    figures.push(Figure::against(
        "query, by question",
        "semble",
        &pairs,
        "ms",
        Some(0.1),
    ));
    Ok(figures)
}

/// Measures query times over the large corpus.
pub(super) fn large() -> Result<Vec<Figure>, String> {
    let cache = TempDir::new().map_err(|error| error.to_string())?;
    let root = corpus::root()?;
    let mut index = None;
    let options = IndexOptions::kept_in(&place(cache.path())?);
    let root = place(&root)?;
    let built = millis(|| {
        let opened = Index::open(root, options);
        opened.wait_until_synced();
        index = Some(opened);
    });
    let index = index.ok_or("the index was not opened")?;
    index.wait_until_idle();
    let status = index.status();
    if !status.is_ready() {
        return Err(format!("the large index is not ready: {status:?}"));
    }
    let mut figures = told(
        &format!("query at {} chunks", status.chunks),
        &asked(&index, 12),
        20.0,
    );
    let name = format!("cold index, {} files", status.done);
    figures.push(Figure::alone(name, built / 1_000.0, "s", 1, None));
    figures.push(Figure::alone(
        "its bytes on disk",
        status.disk_bytes as f64 / 1e6,
        "MB",
        1,
        None,
    ));
    Ok(figures)
}

/// Returns the milliseconds of every query, run `turns` times.
fn asked(index: &Index, turns: usize) -> Vec<Vec<f64>> {
    let queries: Vec<IndexQuery> = QUERIES
        .iter()
        .map(|text| IndexQuery::new(*text, 10))
        .collect();
    let mut times = vec![Vec::new(); queries.len()];
    for turn in 0..=turns {
        for (query, times) in queries.iter().zip(&mut times) {
            let took = millis(|| index.search(query));
            // The first round loads the pages.
            if turn > 0 {
                times.push(took);
            }
        }
    }
    times
}

fn medians(times: &[Vec<f64>]) -> Vec<f64> {
    times
        .iter()
        .map(|times| quantile(times.iter().copied(), 0.5))
        .collect()
}

fn told(name: &str, times: &[Vec<f64>], goal: f64) -> Vec<Figure> {
    let all: Vec<f64> = times.iter().flatten().copied().collect();
    let figure = |what: &str, share, goal| {
        let value = quantile(all.iter().copied(), share);
        Figure::alone(format!("{name}, {what}"), value, "ms", all.len(), goal)
    };
    vec![
        figure("p50", 0.5, Some(goal)),
        figure("p90", 0.9, None),
        figure("p99", 0.99, None),
    ]
}
