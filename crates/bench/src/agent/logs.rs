//! Measures how much of real tools' logs remains after reduction, and how many of the planted facts
//! survive.

use std::fs;
use std::path::Path;

use reduce::reduce;

use crate::figure::Figure;
use crate::interleave::quantile;

/// Folder of the logs. Beside each is a file with its command on the first line, then one fact per
/// line.
const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../reduce/src/logs");
/// Logs shorter than this many bytes have little to remove.
const LONG: usize = 8_000;
/// Maximum share of a log that may remain.
const GOAL: f64 = 0.1;

pub(super) fn run() -> Result<Vec<Figure>, String> {
    let folder = std::env::var("BURIN_LOGS").unwrap_or_else(|_| LOGS.to_owned());
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let entries = fs::read_dir(&folder).map_err(|error| format!("{folder}: {error}"))?;
    let (mut before, mut after, mut shares) = (0, 0, Vec::new());
    let (mut facts, mut lost) = (0, 0);
    for entry in entries.flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|it| it != "log") {
            continue;
        }
        let log = read(&path)?;
        let told = read(&path.with_extension("facts"))?;
        let mut told = told.lines();
        let command = told.next().unwrap_or_default().trim_start_matches("$ ");
        let short = reduce("exec_command", Some(command), &log).unwrap_or_else(|| log.clone());
        for fact in told {
            facts += 1;
            lost += usize::from(!short.contains(fact));
        }
        before += log.len();
        after += short.len();
        if log.len() >= LONG {
            shares.push(short.len() as f64 / log.len() as f64);
        }
    }
    if shares.is_empty() {
        return Err(format!("there are no logs in {folder}"));
    }
    let count = shares.len();
    let median = quantile(shares.into_iter(), 0.5);
    let whole = after as f64 / before as f64;
    let lost = lost as f64;
    Ok(vec![
        Figure::alone("left of logs, all bytes", whole, "of 1", facts, Some(GOAL)),
        Figure::alone(
            "left of a long log, median",
            median,
            "of 1",
            count,
            Some(GOAL),
        ),
        Figure::alone("planted facts lost", lost, "facts", facts, Some(0.0)),
    ])
}
