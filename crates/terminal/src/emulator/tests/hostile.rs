//! Output that programs should not print.

use alacritty_terminal::grid::Dimensions;

use super::*;

#[test]
fn scrollback_is_capped_and_memory_stays_flat() {
    let mut emulator = fed(40, 10, "");
    let lines = "0123456789012345678901234567890\r\n".repeat(1_000);
    for _ in 0..20 {
        feed(&mut emulator, &lines);
        assert!(emulator.term.history_size() <= 1_000);
    }
    assert_eq!(emulator.snapshot().scroll.history, 1_000);
    let top = emulator.state.lines.screen_top(&emulator.term);
    assert_eq!(top, line(20_000 + 1 - 10));
}

#[test]
fn many_lines_keep_the_last_ones_and_their_numbers() {
    let is_soak = std::env::var_os("BURIN_SOAK").is_some();
    let count: u64 = if is_soak { 1_000_000 } else { 50_000 };
    let mut emulator = fed(20, 5, "");
    for first in (0..count).step_by(1_000) {
        let lines: String = (first..first + 1_000)
            .map(|ix| format!("{ix}\r\n"))
            .collect();
        feed(&mut emulator, lines);
    }
    let last = count - 1;
    assert_eq!(rows(&mut emulator)[3], last.to_string());
    let oldest = emulator.state.lines.oldest().0;
    assert_eq!(oldest, count + 1 - 5 - 1_000);
    for number in [oldest, last - 500, last] {
        let text = emulator.logical_line(line(number)).map(|it| it.text);
        assert_eq!(text, Some(number.to_string()));
    }
}

#[test]
fn lines_are_counted_whatever_scrolls_them() {
    // Sequence and the number of lines by which it scrolls a full screen of 10 rows.
    let fill = "x\r\n".repeat(9) + "x";
    let cases = [
        ("\n".to_owned(), 1),
        ("\x1b[5S".to_owned(), 5),
        ("\x1b[2J".to_owned(), 10),
        ("\x1b[H\x1b[3M".to_owned(), 3),
        (format!("a\x1b[{}b", 40 * 30), 30),
        ("\x1b[?7l\x1b[500b".to_owned(), 0),
    ];
    for (sequence, lines) in cases {
        let mut emulator = Emulator::new(EmulatorOptions {
            scrollback: 20,
            ..options(40, 10)
        });
        feed(&mut emulator, &fill);
        for round in 1..=200 {
            feed(&mut emulator, format!("{fill}\x1b[10;1H"));
            let before = emulator.state.lines.screen_top(&emulator.term).0;
            feed(&mut emulator, &sequence);
            let after = emulator.state.lines.screen_top(&emulator.term).0;
            assert_eq!(after - before, lines, "{sequence:?} in round {round}");
            assert!(emulator.term.history_size() <= 20);
        }
    }
}

#[test]
fn endless_strings_neither_grow_nor_hide_later_output() {
    // The start of the string and the megabytes after which it is given up.
    for (start, limit) in [
        ("\x1b]2;", 1),
        ("\x1b]52;c;", 1),
        ("\x1b]133;", 1),
        ("\x1bP", 16),
    ] {
        let mut emulator = fed(40, 5, start);
        for _ in 0..=(limit << 4) {
            feed(&mut emulator, "z".repeat(64 << 10));
        }
        feed(&mut emulator, "\r\nshown");
        assert!(text(&mut emulator).ends_with("shown"), "{start:?}");
    }
}

#[test]
fn keyboard_modes_can_be_pushed_without_end() {
    let mut emulator = fed(20, 3, "\x1b[>1u".repeat(10_000));
    assert_eq!(emulator.modes().kitty, KittyFlags(1));
    feed(&mut emulator, "\x1b[<60000u");
    assert_eq!(emulator.modes().kitty, KittyFlags(0));
}

#[test]
fn combining_characters_on_a_cell_are_bounded() {
    let mut emulator = fed(20, 3, format!("e{}x", "\u{301}".repeat(100_000)));
    let row = Arc::clone(&emulator.snapshot().rows[0]);
    let combining = row.cells[0].combining.as_deref().expect("accents");
    assert_eq!(combining.chars().count(), 16);
    assert_eq!(row.cells[1].character, 'x');
}

#[test]
fn hyperlinks_are_bounded() {
    let long = format!("\x1b]8;;https://{}\x07a", "l".repeat(3_000));
    let mut emulator = fed(20, 3, long);
    assert_eq!(emulator.hyperlink_at(at(0, 0)), None);
    let uri = format!("https://{}", "l".repeat(1_900));
    for ix in 0..20_000 {
        feed(&mut emulator, format!("\x1b]8;;{uri}{ix}\x07a"));
    }
    // The budget is renewed once the links before have scrolled away.
    feed(&mut emulator, "\r\n".repeat(5_000));
    feed(&mut emulator, format!("\x1b]8;;{uri}\x07a\x1b]8;;\x07"));
    let cursor = emulator.cursor();
    let link = emulator.hyperlink_at(CellPosition::new(cursor.line, cursor.column - 1));
    assert!(link.is_some());
}

#[test]
fn floods_of_events_are_bounded() {
    let mut emulator = fed(20, 3, "");
    let flood = "\x07\x1b[c\x1b]2;t\x07\x1b]9;n\x07\x1b]10;?\x07\x1b]52;c;YQ==\x07";
    for _ in 0..5 {
        feed(&mut emulator, flood.repeat(1_000));
    }
    assert!(emulator.take_replies().len() <= 256 << 10);
    assert!(emulator.take_events().len() <= 256);
    assert_eq!(emulator.take_events(), []);
}

#[test]
fn resize_storms_keep_the_cursor_and_the_text() {
    let mut emulator = fed(
        80,
        24,
        "prompt$ some text that is long enough to wrap in a narrow grid",
    );
    let whole = emulator.text_since(at(0, 0), 1 << 20).text;
    for step in 0..300_u16 {
        emulator.resize(size(1 + step * 7 % 90, 1 + step * 5 % 40));
        let snapshot = emulator.snapshot();
        assert_eq!(snapshot.rows.len(), usize::from(snapshot.size.rows));
        let cursor = snapshot.cursor.expect("a cursor");
        assert!(cursor.row < snapshot.size.rows);
    }
    emulator.resize(size(80, 24));
    assert_eq!(emulator.text_since(at(0, 0), 1 << 20).text, whole);
}

#[test]
fn a_wide_character_in_the_last_column_wraps() {
    for columns in [2, 3, 5] {
        let mut emulator = fed(columns, 4, "漢字漢字\r\n\x1b[?7l漢字漢字");
        for step in [9, 2, 7, 3, 2, 20] {
            emulator.resize(size(step, 4));
            feed(&mut emulator, "漢\x1b[D字\x1b[99C漢");
        }
        assert_eq!(emulator.snapshot().rows.len(), 4);
    }
}

#[test]
fn a_synchronized_update_ends_when_the_caller_says_so() {
    let mut emulator = fed(20, 3, "a\x1b[?2026hb");
    assert!(emulator.is_updating());
    assert_eq!(text(&mut emulator), "a");
    emulator.end_update(Duration::ZERO);
    assert!(!emulator.is_updating());
    assert_eq!(text(&mut emulator), "ab");
}

#[test]
fn marks_cannot_fill_a_synchronized_update() {
    let mut emulator = fed(20, 3, "\x1b[?2026h");
    let mark = format!("\x1b]633;E;{}\x07", "c".repeat(20_000));
    for _ in 0..1_100 {
        feed(&mut emulator, &mark);
    }
    assert!(emulator.state.sequences.len() < MAX_WAITING);
}

#[test]
fn a_program_cannot_forge_the_place_of_a_mark() {
    let forged: [&[u8]; 3] = [
        b"\x1b]52;\xff;s\x07",
        b"\x1b]5\x012;\xff;s\x07",
        b"\x1b]52;\x02\xff;s\x1b\\",
    ];
    for forged in forged {
        let mut emulator = fed(20, 3, "");
        feed(
            &mut emulator,
            [b"\x1b[?2026h\x1b]133;A\x07", forged, b"x\x1b[?2026l"].concat(),
        );
        feed(&mut emulator, "\x1b]133;B\x07");
        let last = emulator.commands().last().expect("a command");
        assert_eq!((last.prompt, last.input), (at(0, 0), Some(at(0, 1))));
    }
}

#[test]
fn tabs_without_stops_cost_little() {
    let mut emulator = fed(200, 3, "\x1b[3g");
    feed(&mut emulator, "\x1b[200G\x1b[65535Z".repeat(8_000));
    assert_eq!(emulator.cursor(), at(0, 199));
}

#[test]
fn halves_of_wide_characters_are_blank() {
    // Erase the first half, erase the second one, delete the first one, insert between both.
    for cut in [
        "\x1b[H\x1b[X",
        "\x1b[2G\x1b[K",
        "\x1b[H\x1b[P",
        "\x1b[2G\x1b[@",
    ] {
        let mut emulator = fed(8, 2, format!("漢{cut}"));
        let row = Arc::clone(&emulator.snapshot().rows[0]);
        assert_eq!(row.text().trim(), "", "{cut:?}");
        let is_single = |cell: &crate::cells::TerminalCell| cell.width == CellWidth::Single;
        assert!(row.cells.iter().all(is_single), "{cut:?}");
        let cursor = emulator.snapshot().cursor.expect("a cursor");
        assert!(!cursor.is_wide, "{cut:?}");
        assert_eq!(cursor.position, emulator.cursor(), "{cut:?}");
    }
}

#[test]
fn answers_keep_the_order_of_their_queries() {
    let mut emulator = fed(20, 3, "\x1b]11;#102030\x07\x1b[5n\x1b]11;?\x07\x1b[c");
    let expected = "\x1b[0n\x1b]11;rgb:1010/2020/3030\x07\x1b[?6c";
    assert_eq!(replies(&mut emulator), expected);
}
