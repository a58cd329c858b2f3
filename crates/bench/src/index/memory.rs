//! Memory of an index, measured in a process that holds nothing else.

use std::path::Path;
use std::process::Command;

use ::index::IndexQuery;
use tempfile::TempDir;

use super::settled;
use super::speed::QUERIES;
use crate::figure::Figure;

/// Variable that is set in the measured process, to the folder of its index.
pub(super) const ONLY: &str = "BURIN_BENCH_MEMORY";

/// Maximum memory at about 5,000 chunks, in megabytes.
const GOAL: f64 = 40.0;

/// Starts this program twice, first to build an index and then to reopen it, and reads the memory that it
/// reports.
pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let cache = TempDir::new().map_err(|error| error.to_string())?;
    let mut figures = Vec::new();
    for way in ["just built", "opened again"] {
        let [taken, told, chunks] = measured(cache.path())?;
        let name = |what: &str| format!("memory at {chunks} chunks, {way}{what}");
        figures.push(Figure::alone(name(""), taken / 1e6, "MB", 1, Some(GOAL)));
        figures.push(Figure::alone(
            name(", by its status"),
            told / 1e6,
            "MB",
            1,
            None,
        ));
    }
    Ok(figures)
}

fn measured(cache: &Path) -> Result<[f64; 3], String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .arg("index")
        .env(ONLY, cache)
        .output()
        .map_err(|error| format!("cannot start the process that is measured: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find_map(|line| line.strip_prefix("memory: "));
    let numbers = line.into_iter().flat_map(|line| line.split(' '));
    let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
    let error = String::from_utf8_lossy(&output.stderr);
    numbers
        .try_into()
        .map_err(|_| format!("the process that is measured said: {said}{error}"))
}

/// Runs in the measured process: prints how much memory an index adds once it has answered queries.
pub(super) fn report(tree: &Path, cache: &Path) -> Result<Vec<Figure>, String> {
    let before = resident()?;
    let index = settled(tree, cache)?;
    for text in QUERIES {
        index.search(&IndexQuery::new(*text, 10));
    }
    let (after, status) = (resident()?, index.status());
    println!(
        "memory: {} {} {}",
        after.saturating_sub(before),
        status.memory_bytes,
        status.chunks
    );
    Ok(Vec::new())
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes
        .map(|number| number * 1_024)
        .ok_or_else(|| "this system does not tell the memory of a process".to_owned())
}
