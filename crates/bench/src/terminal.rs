//! The terminal: throughput of the emulator and through a pty, memory, idle shells, restoring, and keys in a window.
//!
//! `core`: the emulator beside `alacritty_terminal` alone, in process. `pty`: a child that prints a file in a pty, beside
//! tmux and a reader that drops the output. `memory`: scrollbacks and long output, each in a process of its own. `idle`:
//! CPU time of ten shells at their prompts. `restore`: twenty saved terminals. `window`: echo of a key and frames during a
//! flood, in a whole window without a screen. `BURIN_BENCH_PARTS` selects some; `BURIN_BENCH_WHOLE=1` prints 1 GB and
//! fills a scrollback of a million lines, which needs 4 GB of memory.

mod emulator;
mod idle;
mod memory;
mod payloads;
mod peers;
mod pty;
mod restore;

use ::terminal::{ClipboardAccess, CursorShape, EmulatorOptions};
use host::process::TerminalSize;

use crate::figure::Figure;
use crate::is_wanted;
use crate::typing::of_window;

/// The size of every terminal.
const SIZE: TerminalSize = TerminalSize {
    rows: 40,
    columns: 120,
};
/// Lines of the scrollback.
const SCROLLBACK: u32 = 10_000;
/// Number of interleaved pairs.
const PAIRS: usize = 20;

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    if let Some(task) = std::env::var_os(memory::ONLY) {
        return memory::report(&task.to_string_lossy());
    }
    let mut figures = Vec::new();
    if is_wanted("core") {
        figures.extend(emulator::figures()?);
    }
    if is_wanted("pty") {
        figures.extend(pty::figures()?);
    }
    if is_wanted("memory") {
        figures.extend(memory::figures()?);
    }
    if is_wanted("idle") {
        figures.extend(idle::figures()?);
    }
    if is_wanted("restore") {
        figures.extend(restore::figures()?);
    }
    if is_wanted("window") {
        figures.extend(of_window("workbench", "window", &["terminal"])?);
    }
    Ok(figures)
}

fn emulator_options(scrollback: u32) -> EmulatorOptions {
    EmulatorOptions {
        size: SIZE,
        scrollback,
        cursor_shape: CursorShape::Block,
        clipboard: ClipboardAccess::None,
        nonce: None,
        host_name: None,
    }
}

/// Returns whether the full amounts are measured.
fn is_whole() -> bool {
    std::env::var_os("BURIN_BENCH_WHOLE").is_some_and(|value| value == "1")
}
