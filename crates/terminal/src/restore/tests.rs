//! Saving and restoring.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::*;
use crate::test_terminal::{fed, feed, text};

fn sample() -> SavedTerminal {
    let mut emulator = fed(
        20,
        5,
        "\x1b]2;title\x07\x1b]7;file:///tmp\x07\x1b]133;A\x07$ \x1b]133;B\x07make\r\n\x1b]133;C\x07\
         \x1b[1;31mred\x1b[m plain 漢e\u{301} and a long line that wraps\r\n\x1b]133;D;2\x07\
         \x1b]133;A\x07$ \x1b]133;B\x07vim\r\n\x1b]133;C\x07\x1b]8;;http://x\x07link\x1b]8;;\x07",
    );
    SavedTerminal::of(&mut emulator, 100)
}

#[test]
fn a_terminal_survives_saving() {
    let saved = sample();
    assert_eq!(saved.title.as_deref(), Some("title"));
    assert_eq!(saved.folder, AbsPath::new("/tmp"));
    let commands: Vec<_> = saved
        .commands
        .iter()
        .map(|command| {
            (
                command.row,
                command.line.as_deref(),
                command.exit,
                command.was_running,
            )
        })
        .collect();
    assert_eq!(
        commands,
        [
            (0, Some("make"), Some(2), false),
            (3, Some("vim"), None, true)
        ]
    );
    let bytes = saved.to_bytes();
    assert_eq!(bytes.len(), codec::size(&saved));
    assert_eq!(SavedTerminal::from_bytes(&bytes), Ok(saved));
}

#[test]
fn restored_rows_are_faint_text_above_a_notice() {
    let saved = sample();
    let mut emulator = fed(20, 12, "");
    emulator.show_saved(&saved, "restored, 14:02");
    feed(&mut emulator, "$ ");
    let shown = text(&mut emulator);
    assert!(
        shown.starts_with("$ make\nred plain 漢e\u{301} and a\nlong line that wraps\n"),
        "{shown}"
    );
    assert!(shown.ends_with("link\nrestored, 14:02\n$"), "{shown}");
    let snapshot = emulator.snapshot();
    let red = snapshot.rows[1].runs[0].style;
    assert!(red.is_bold && red.is_dim);
    assert!(
        snapshot
            .rows
            .iter()
            .all(|row| row.runs.iter().all(|run| run.link.is_none()))
    );
    assert_eq!(emulator.take_events(), [], "nothing is repeated");
    emulator.resize(crate::test_terminal::size(60, 12));
    assert!(text(&mut emulator).contains("e\u{301} and a long line that wraps\n"));
}

#[test]
fn only_the_last_logical_lines_are_saved() {
    let mut emulator = fed(10, 3, "");
    for ix in 0..50 {
        feed(&mut emulator, format!("line {ix} is wrapped\r\n"));
    }
    let saved = SavedTerminal::of(&mut emulator, 4);
    let texts: Vec<_> = saved.rows.iter().map(TerminalRow::text).collect();
    let lines = [
        "line 47 is",
        " wrapped",
        "line 48 is",
        " wrapped",
        "line 49 is",
        " wrapped",
        "",
    ];
    assert_eq!(texts, lines);
}

#[test]
fn a_large_terminal_is_cut_to_the_limit() {
    let mut emulator = Emulator::new(crate::emulator::EmulatorOptions {
        scrollback: 20_000,
        ..crate::test_terminal::options(200, 10)
    });
    let line = "\x1b[31m漢\x1b[32me\u{301}".repeat(60) + "\r\n";
    for _ in 0..5_000 {
        feed(
            &mut emulator,
            "\x1b]133;A\x07$ \x1b]133;B\x07x\r\n\x1b]133;C\x07",
        );
        feed(&mut emulator, &line);
        feed(&mut emulator, "\x1b]133;D;0\x07");
    }
    let saved = SavedTerminal::of(&mut emulator, u32::MAX);
    let bytes = saved.to_bytes();
    assert!(bytes.len() <= MAX_SAVED_BYTES);
    assert!(bytes.len() > MAX_SAVED_BYTES * 9 / 10, "{}", bytes.len());
    let read = SavedTerminal::from_bytes(&bytes).expect("a terminal");
    assert_eq!(read, saved);
    let prompts = read
        .commands
        .iter()
        .map(|command| &read.rows[command.row as usize]);
    assert!(prompts.clone().count() > 100);
    assert!(prompts.clone().all(|row| row.text() == "$ x"));
}

#[test]
fn hostile_bytes_are_refused() {
    assert_eq!(
        SavedTerminal::from_bytes(b""),
        Err(RestoreError::NotATerminal)
    );
    assert_eq!(
        SavedTerminal::from_bytes(b"BTRX\x01\0"),
        Err(RestoreError::NotATerminal)
    );
    assert_eq!(
        SavedTerminal::from_bytes(b"BTRM\x07\0"),
        Err(RestoreError::UnknownVersion(7))
    );
    let large = vec![0; MAX_SAVED_BYTES + 1];
    assert_eq!(
        SavedTerminal::from_bytes(&large),
        Err(RestoreError::TooLarge)
    );
    let bytes = sample().to_bytes();
    for length in 0..bytes.len() {
        assert!(
            SavedTerminal::from_bytes(&bytes[..length]).is_err(),
            "{length} bytes"
        );
    }
    let longer = [&bytes[..], b"x"].concat();
    assert_eq!(
        SavedTerminal::from_bytes(&longer),
        Err(RestoreError::Damaged(bytes.len()))
    );
}

#[test]
fn changed_bytes_give_an_error_or_a_terminal_that_can_be_shown() {
    let bytes = sample().to_bytes();
    let random = &mut StdRng::seed_from_u64(7);
    for _ in 0..5_000 {
        let mut changed = bytes.clone();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..changed.len());
            changed[at] = random.random();
        }
        if let Ok(saved) = SavedTerminal::from_bytes(&changed) {
            assert_eq!(
                SavedTerminal::from_bytes(&saved.to_bytes()).as_ref(),
                Ok(&saved)
            );
            let mut emulator = fed(7, 3, "");
            emulator.show_saved(&saved, "restored");
            assert_eq!(emulator.take_replies(), b"");
        }
    }
}
