//! Restoring saved terminals: what happens before the first frame of a window.

use std::time::Duration;

use ::terminal::{Emulator, SavedTerminal};

use super::payloads::PAYLOADS;
use super::{PAIRS, SCROLLBACK, emulator_options};
use crate::figure::Figure;
use crate::interleave::{millis, quantile};

/// Number of terminals.
const COUNT: usize = 20;
/// Bytes that were printed into each.
const BYTES: usize = 256 << 10;
/// Logical lines that are saved of each, as many as the panel saves.
const LINES: u32 = 1_000;
/// Goal in milliseconds.
const GOAL: f64 = 30.0;

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let stored: Vec<Vec<u8>> = (0..COUNT).map(stored).collect();
    let bytes: usize = stored.iter().map(Vec::len).sum();
    let restore = || -> Result<Vec<Emulator>, String> {
        stored.iter().map(|bytes| restored(bytes)).collect()
    };
    let lines: u32 = restore()?
        .iter_mut()
        .map(|emulator| emulator.snapshot().scroll.history)
        .sum();
    let read = || stored.iter().map(|bytes| SavedTerminal::from_bytes(bytes));
    let reading = (0..PAIRS).map(|_| millis(|| read().collect::<Vec<_>>()));
    let reading: Vec<f64> = reading.collect();
    let whole: Vec<f64> = (0..PAIRS).map(|_| millis(restore)).collect();
    let figure = |what: &str, times: Vec<f64>, goal: Option<f64>| {
        let name = format!("{COUNT} saved terminals, {what}");
        Figure::alone(name, quantile(times.into_iter(), 0.5), "ms", PAIRS, goal)
    };
    let size = |what: &str, value: f64, unit: &'static str| {
        let name = format!("{COUNT} saved terminals, {what}");
        Figure::alone(name, value, unit, COUNT, None)
    };
    Ok(vec![
        figure("read", reading, Some(GOAL)),
        figure("read and shown", whole, None),
        size("size", bytes as f64 / 1e3, "kB"),
        size("rows above the screens", lines.into(), "rows"),
    ])
}

/// Returns the stored bytes of a terminal that shows output of one of the kinds.
fn stored(ix: usize) -> Vec<u8> {
    let mut emulator = Emulator::new(emulator_options(SCROLLBACK));
    let payload = &PAYLOADS[ix % PAYLOADS.len()];
    emulator.feed(&payload.bytes(BYTES), Duration::ZERO);
    SavedTerminal::of(&mut emulator, LINES).to_bytes()
}

fn restored(bytes: &[u8]) -> Result<Emulator, String> {
    let saved = SavedTerminal::from_bytes(bytes).map_err(|error| error.to_string())?;
    let mut emulator = Emulator::new(emulator_options(SCROLLBACK));
    emulator.show_saved(&saved, "restored, 14:02");
    Ok(emulator)
}
