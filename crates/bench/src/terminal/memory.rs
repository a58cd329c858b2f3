//! Memory of scrollbacks and of long output, each measured in a process that holds nothing else.

use std::process::Command;
use std::time::Duration;

use ::terminal::Emulator;

use super::{SCROLLBACK, SIZE, emulator_options, is_whole};
use crate::figure::Figure;

/// Variable that is set in the measured process, to a task such as `lines 10000`.
pub(super) const ONLY: &str = "BURIN_BENCH_TERMINAL_MEMORY";

/// Goal for a full scrollback of 10,000 lines of 120 columns, in megabytes.
const SCROLLBACK_GOAL: f64 = 35.0;
/// Goal for what 1 GB of output adds, scrollback included, in megabytes.
const OUTPUT_GOAL: f64 = 64.0;
/// Lines of a large scrollback, and megabytes of long output.
const LARGE: [u64; 2] = [100_000, 1_000_000];
const OUTPUT: [u64; 2] = [100, 1_000];

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let usual = u64::from(SCROLLBACK);
    let large = LARGE[usize::from(is_whole())];
    let output = OUTPUT[usize::from(is_whole())];
    let figure = |name: String, task: String, goal: Option<f64>| -> Result<Figure, String> {
        Ok(Figure::alone(name, measured(&task)?, "MB", 1, goal))
    };
    let columns = SIZE.columns;
    Ok(vec![
        figure(
            format!("full scrollback of {usual} × {columns}"),
            format!("lines {usual}"),
            Some(SCROLLBACK_GOAL),
        )?,
        figure(
            format!("full scrollback of {large} × {columns}"),
            format!("lines {large}"),
            None,
        )?,
        figure(
            format!("memory that {output} MB of output add"),
            format!("output {output}"),
            Some(OUTPUT_GOAL),
        )?,
    ])
}

/// Runs a task in a process of its own; returns the megabytes that it added.
fn measured(task: &str) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .arg("terminal")
        .env(ONLY, task)
        .output()
        .map_err(|error| format!("cannot start the process that is measured: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("memory: "));
    let bytes = line.and_then(|line| line.parse::<f64>().ok());
    let errors = String::from_utf8_lossy(&output.stderr);
    let bytes = bytes.ok_or_else(|| format!("the measured process said: {text}{errors}"))?;
    Ok(bytes / 1e6)
}

/// Runs in the measured process: prints the number of bytes that a terminal adds.
pub(super) fn report(task: &str) -> Result<Vec<Figure>, String> {
    let unknown = || format!("there is no task \"{task}\"");
    let (kind, count) = task.split_once(' ').ok_or_else(unknown)?;
    let count: u64 = count.parse().map_err(|_| unknown())?;
    let before = resident()?;
    let emulator = match kind {
        "lines" => filled(u32::try_from(count).map_err(|_| unknown())?, count * 2),
        "output" => {
            let line = u64::from(SIZE.columns) + 2;
            filled(SCROLLBACK, count * 1_000_000 / line)
        }
        _ => return Err(unknown()),
    };
    let after = resident()?;
    println!("memory: {}", after.saturating_sub(before));
    drop(emulator);
    Ok(Vec::new())
}

/// Returns a terminal into which `lines` full lines were printed.
fn filled(scrollback: u32, lines: u64) -> Emulator {
    let mut emulator = Emulator::new(emulator_options(scrollback));
    let line = "abcdefghijkl".repeat(usize::from(SIZE.columns) / 12);
    for ix in 0..lines {
        let line = format!("\x1b[3{}m{line}\r\n", ix % 8);
        emulator.feed(line.as_bytes(), Duration::ZERO);
    }
    emulator
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
