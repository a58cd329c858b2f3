//! Terminals for tests.

use std::time::Duration;

use host::process::TerminalSize;

use crate::emulator::{Emulator, EmulatorOptions};
use crate::performer::ClipboardAccess;
use crate::snapshot::CursorShape;

pub(crate) const NONCE: &str = "0123456789abcdef";

pub(crate) fn size(columns: u16, rows: u16) -> TerminalSize {
    TerminalSize { rows, columns }
}

pub(crate) fn options(columns: u16, rows: u16) -> EmulatorOptions {
    EmulatorOptions {
        size: size(columns, rows),
        scrollback: 1_000,
        cursor_shape: CursorShape::Block,
        clipboard: ClipboardAccess::Write,
        nonce: Some(NONCE.to_owned()),
        host_name: Some("box".to_owned()),
    }
}

/// Returns an emulator that was fed `bytes`.
pub(crate) fn fed(columns: u16, rows: u16, bytes: impl AsRef<[u8]>) -> Emulator {
    let mut emulator = Emulator::new(options(columns, rows));
    feed(&mut emulator, bytes);
    emulator
}

pub(crate) fn feed(emulator: &mut Emulator, bytes: impl AsRef<[u8]>) {
    emulator.feed(bytes.as_ref(), Duration::ZERO);
}

/// Returns the texts of the rows in view, without blanks at their ends.
pub(crate) fn rows(emulator: &mut Emulator) -> Vec<String> {
    let snapshot = emulator.snapshot();
    let texts = snapshot.rows.iter();
    texts.map(|row| row.text().trim_end().to_owned()).collect()
}

/// Returns the rows in view up to the last that has text.
pub(crate) fn text(emulator: &mut Emulator) -> String {
    rows(emulator).join("\n").trim_end().to_owned()
}
