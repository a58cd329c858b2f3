//! The emulator beside `alacritty_terminal` alone: the same bytes, in the same pieces.

use std::time::Duration;

use ::terminal::Emulator;
use alacritty_terminal::Term;
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions as _;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::Config;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::vte::ansi::Processor;

use super::payloads::PAYLOADS;
use super::{PAIRS, SCROLLBACK, SIZE, emulator_options};
use crate::figure::Figure;
use crate::interleave::{Pairs, millis};

/// Bytes of a payload.
const BYTES: usize = 4 << 20;
/// Bytes that are processed at once: those of which a session processes output.
const PIECE: usize = 4 << 10;
/// Goal for the time beside that of the core alone: 0.9 of its throughput.
const GOAL: f64 = 1.0 / 0.9;

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for payload in &PAYLOADS {
        let bytes = payload.bytes(BYTES);
        check(payload.name, &bytes)?;
        let pairs = Pairs::take(
            PAIRS,
            || millis(|| ours(&bytes)),
            || millis(|| core_alone(&bytes)),
        );
        let rate = bytes.len() as f64 / 1e3 / pairs.ours();
        let name = format!("emulator, {}", payload.name);
        figures.extend([
            Figure::against(&name, "alacritty_terminal", &pairs, "ms", Some(GOAL)),
            Figure::alone(format!("{name}, throughput"), rate, "MB/s", PAIRS, None),
        ]);
    }
    Ok(figures)
}

fn ours(bytes: &[u8]) -> Emulator {
    let mut emulator = Emulator::new(emulator_options(SCROLLBACK));
    for piece in bytes.chunks(PIECE) {
        emulator.feed(piece, Duration::ZERO);
    }
    emulator
}

fn core_alone(bytes: &[u8]) -> Term<VoidListener> {
    let config = Config {
        scrolling_history: SCROLLBACK as usize,
        kitty_keyboard: true,
        ..Config::default()
    };
    let size = TermSize::new(SIZE.columns.into(), SIZE.rows.into());
    let mut term = Term::new(config, &size, VoidListener);
    let mut processor: Processor = Processor::new();
    for piece in bytes.chunks(PIECE) {
        processor.advance(&mut term, piece);
    }
    term
}

/// Fails unless both show the same text.
fn check(name: &str, bytes: &[u8]) -> Result<(), String> {
    let snapshot = ours(bytes).snapshot();
    let shown = snapshot.rows.iter().map(|row| row.text());
    let shown: Vec<String> = shown.map(|text| text.trim_end().to_owned()).collect();
    if shown == rows(&core_alone(bytes)) {
        Ok(())
    } else {
        Err(format!(
            "{name}: the emulator and its core show different text"
        ))
    }
}

/// Returns the rows of the screen without blanks at their ends.
fn rows(term: &Term<VoidListener>) -> Vec<String> {
    let text = |line: usize| {
        let row = &term.grid()[Line(line as i32)];
        let mut text = String::new();
        for column in 0..term.columns() {
            let cell = &row[Column(column)];
            let spacers = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
            if !cell.flags.intersects(spacers) {
                text.push(cell.c);
                text.extend(cell.zerowidth().into_iter().flatten());
            }
        }
        text.trim_end().to_owned()
    };
    (0..term.screen_lines()).map(text).collect()
}
