//! Any output of a program, in any pieces and with any resizes, gives one sound terminal.
#![no_main]

use std::time::Duration;

use host::process::TerminalSize;
use libfuzzer_sys::fuzz_target;
use terminal::{ClipboardAccess, CursorShape, Emulator, EmulatorOptions, ScrollTarget};

/// The byte after it sets the size of the grid. It occurs in no UTF-8 text.
const RESIZE: u8 = 0xff;

fn emulator() -> Emulator {
    Emulator::new(EmulatorOptions {
        size: TerminalSize {
            rows: 6,
            columns: 20,
        },
        scrollback: 50,
        cursor_shape: CursorShape::Block,
        clipboard: ClipboardAccess::WriteAndRead,
        nonce: Some("nonce".to_owned()),
        host_name: None,
    })
}

/// Feeds `data` in pieces of at most `piece` bytes.
fn run(data: &[u8], piece: usize) -> Emulator {
    let mut emulator = emulator();
    for (ix, part) in data.split(|byte| *byte == RESIZE).enumerate() {
        let part = match (ix, part) {
            (0, part) | (_, part @ []) => part,
            (_, [size, part @ ..]) => {
                emulator.resize(TerminalSize {
                    rows: u16::from(size >> 4),
                    columns: u16::from(size & 15) * 3,
                });
                emulator.scroll(ScrollTarget::Lines(i32::from(*size) - 128));
                part
            }
        };
        for piece in part.chunks(piece) {
            emulator.feed(piece, Duration::ZERO);
        }
    }
    emulator.end_update(Duration::ZERO);
    emulator
}

fuzz_target!(|data: &[u8]| {
    let mut whole = run(data, usize::MAX);
    let mut split = run(
        data,
        data.first().map_or(1, |byte| usize::from(byte % 7) + 1),
    );
    let (one, other) = (whole.snapshot(), split.snapshot());
    assert_eq!(one.first_line, other.first_line);
    assert_eq!(one.cursor, other.cursor);
    for (row, other) in one.rows.iter().zip(&other.rows) {
        assert_eq!((&row.cells, &row.runs), (&other.cells, &other.runs));
    }
    assert!(whole.commands().iter().eq(split.commands().iter()));
    let cursor = one.cursor.map(|cursor| cursor.row);
    assert!(cursor.is_none_or(|row| row < one.size.rows));
});
