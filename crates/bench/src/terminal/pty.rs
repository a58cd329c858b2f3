//! Throughput through a pty: the whole way from a child to the grid.

use super::PAIRS;
use super::payloads::PAYLOADS;
use super::peers::PrintedFile;
use crate::figure::Figure;
use crate::interleave::Pairs;

/// Bytes of a payload.
const BYTES: usize = 2 << 20;
/// Goal for the time beside that of a reader that drops the output: 0.8 of its throughput.
const OVER_READING: f64 = 1.0 / 0.8;
/// Goal for the time beside that of tmux, for the payload of dense cells: five times its throughput.
const OVER_TMUX: f64 = 1.0 / 5.0;

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (ix, payload) in PAYLOADS.iter().enumerate() {
        let bytes = payload.bytes(BYTES);
        let file = PrintedFile::new(&bytes)?;
        // Each is tried once first, so that a missing program is reported instead of measured.
        for tried in [file.ours(), file.read_only(), file.tmux()] {
            tried?;
        }
        let reading = Pairs::take(PAIRS, || known(file.ours()), || known(file.read_only()));
        let tmux = Pairs::take(PAIRS, || known(file.ours()), || known(file.tmux()));
        let rate = bytes.len() as f64 / 1e3 / reading.ours();
        let name = format!("through a pty, {}", payload.name);
        let goal = (ix == 0).then_some(OVER_TMUX);
        figures.extend([
            Figure::against(&name, "plain read", &reading, "ms", Some(OVER_READING)),
            Figure::against(&name, "tmux", &tmux, "ms", goal),
            Figure::alone(format!("{name}, throughput"), rate, "MB/s", PAIRS, None),
        ]);
    }
    Ok(figures)
}

fn known(milliseconds: Result<f64, String>) -> f64 {
    milliseconds.unwrap_or(f64::NAN)
}
