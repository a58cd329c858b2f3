//! Any bytes are a saved terminal that can be shown and saved again, or are refused.
#![no_main]

use host::process::TerminalSize;
use libfuzzer_sys::fuzz_target;
use terminal::{ClipboardAccess, CursorShape, Emulator, EmulatorOptions, SavedTerminal};

fuzz_target!(|data: &[u8]| {
    // Most inputs would fail at the first bytes.
    let bytes = [b"BTRM\x01\0", data].concat();
    let Ok(saved) = SavedTerminal::from_bytes(&bytes) else {
        return;
    };
    assert_eq!(
        SavedTerminal::from_bytes(&saved.to_bytes()).as_ref(),
        Ok(&saved)
    );
    let mut emulator = Emulator::new(EmulatorOptions {
        size: TerminalSize {
            rows: 4,
            columns: 10,
        },
        scrollback: 50,
        cursor_shape: CursorShape::Block,
        clipboard: ClipboardAccess::None,
        nonce: None,
        host_name: None,
    });
    emulator.show_saved(&saved, "restored");
    assert!(emulator.take_events().is_empty());
});
