//! The emulator, with hostile, random and recorded output.

mod copying;
mod hostile;
mod random;
mod recordings;

use std::sync::Arc;

use super::*;
use crate::cells::{CellStyle, CellWidth, TerminalColor, Underline};
use crate::event::{ClipboardKind, TerminalNotification, TerminalProgress};
use crate::search::SearchOptions;
use crate::snapshot::{KittyFlags, MouseTracking};
use crate::test_terminal::{fed, feed, options, rows, size, text};

fn line(number: u64) -> LineNumber {
    LineNumber(number)
}

fn at(number: u64, column: u16) -> CellPosition {
    CellPosition::new(line(number), column)
}

fn replies(emulator: &mut Emulator) -> String {
    String::from_utf8(emulator.take_replies()).expect("text")
}

#[test]
fn styles_are_runs_of_cells() {
    let mut emulator = fed(
        20,
        3,
        "\x1b[1;31mab\x1b[0;4:3;58;2;1;2;3;48;5;17mc\x1b[m d漢e\u{301}",
    );
    let row = Arc::clone(&emulator.snapshot().rows[0]);
    assert_eq!(row.text(), "abc d漢e\u{301}");
    let runs: Vec<_> = row
        .runs
        .iter()
        .map(|run| (run.columns.clone(), run.style))
        .collect();
    assert_eq!(runs.len(), 3);
    assert!(runs[0].1.is_bold && runs[0].1.foreground == TerminalColor::Palette(1));
    assert_eq!(runs[1].0, 2..3);
    assert_eq!(runs[1].1.underline, Underline::Curly);
    assert_eq!(runs[1].1.underline_color, Some(TerminalColor::Rgb(1, 2, 3)));
    assert_eq!(runs[1].1.background, TerminalColor::Palette(17));
    assert_eq!(runs[2], (3..8, CellStyle::default()));
    let widths: Vec<_> = row.cells[5..].iter().map(|cell| cell.width).collect();
    assert_eq!(
        widths,
        [CellWidth::Wide, CellWidth::Spacer, CellWidth::Single]
    );
}

#[test]
fn unchanged_rows_keep_their_generation_while_they_scroll() {
    let mut emulator = fed(20, 4, "a\r\nb\r\nc\r\nd");
    let before = emulator.snapshot();
    feed(&mut emulator, "\r\ne");
    let after = emulator.snapshot();
    for row in 0..3 {
        assert!(
            Arc::ptr_eq(&before.rows[row + 1], &after.rows[row]),
            "row {row}"
        );
    }
    assert_eq!(after.first_line, before.first_line.below(1));
    feed(&mut emulator, "f");
    let typed = emulator.snapshot();
    let changed = |row: &usize| typed.rows[*row].generation != after.rows[*row].generation;
    assert_eq!((0..4).filter(changed).collect::<Vec<_>>(), [3]);
}

#[test]
fn queries_are_answered_but_the_title_is_not_told() {
    let mut emulator = fed(
        80,
        24,
        "\x1b]2;rm -rf\x07\x1b[c\x1b[21t\x1b[5n\x1b[6n\x1b[?u\x1b[18t",
    );
    assert_eq!(
        replies(&mut emulator),
        "\x1b[?6c\x1b[0n\x1b[1;1R\x1b[?0u\x1b[8;24;80t"
    );
    feed(&mut emulator, "\x1b[14t");
    assert_eq!(replies(&mut emulator), "");
    emulator.set_cell_pixels(8, 16);
    feed(&mut emulator, "\x1b[14t\x1b[>4;2m\x1b[?4m");
    assert!(replies(&mut emulator).starts_with("\x1b[4;384;640t"));
    assert_eq!(emulator.modes().modify_other_keys, 2);
}

#[test]
fn titles_are_cleaned_and_short() {
    let long = "t".repeat(500);
    let mut emulator = fed(20, 3, format!("\x1b]0;a\u{202e}b\u{85}c{long}\x07"));
    let title = emulator.title().expect("a title").to_owned();
    assert_eq!(title.chars().count(), 200);
    assert!(title.starts_with("abct"));
    assert_eq!(emulator.take_events(), [TerminalEvent::Title(Some(title))]);
}

#[test]
fn clipboard_access_is_limited() {
    for (access, writes, reads) in [
        (ClipboardAccess::None, 0, 0),
        (ClipboardAccess::Write, 1, 0),
        (ClipboardAccess::WriteAndRead, 1, 1),
    ] {
        let mut emulator = Emulator::new(EmulatorOptions {
            clipboard: access,
            ..options(20, 3)
        });
        feed(&mut emulator, "\x1b]52;c;aGk=\x07\x1b]52;p;?\x1b\\");
        assert_eq!(replies(&mut emulator), "", "no answer by itself");
        let events = emulator.take_events();
        let written = events.iter().filter(|event| {
            **event
                == TerminalEvent::ClipboardWrite {
                    clipboard: ClipboardKind::Clipboard,
                    text: "hi".to_owned(),
                }
        });
        assert_eq!(written.count(), writes, "{access:?}");
        let queries: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                TerminalEvent::ClipboardRead(query) => Some(query.answer("yo")),
                _ => None,
            })
            .collect();
        assert_eq!(queries.len(), reads, "{access:?}");
        for answer in queries {
            assert_eq!(answer, b"\x1b]52;p;eW8=\x1b\\");
        }
    }
}

#[test]
fn colors_of_the_theme_are_asked_for_and_changed_ones_told() {
    let mut emulator = fed(20, 3, "\x1b]11;?\x07\x1b]4;1;#ff0000\x07\x1b]4;1;?\x1b\\");
    assert_eq!(replies(&mut emulator), "\x1b]4;1;rgb:ffff/0000/0000\x1b\\");
    let events = emulator.take_events();
    let [TerminalEvent::ColorQuery(query)] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(query.answer(1, 2, 255), b"\x1b]11;rgb:0101/0202/ffff\x07");
    let colors = emulator.snapshot().colors;
    assert_eq!(
        colors,
        [(crate::snapshot::ColorSlot::Palette(1), (255, 0, 0))]
    );
}

#[test]
fn reports_of_programs_become_events() {
    let mut emulator = fed(
        20,
        3,
        "\x07\x07\x1b]7;file://box/tmp\x07\x1b]7;file://far/x\x07\x1b]9;done\x07\x1b]9;4;1;5\x07\x1b]9;4;1;6\x07",
    );
    let folder = AbsPath::new("/tmp").expect("a path");
    assert_eq!(emulator.folder(), Some(&folder));
    let expected = [
        TerminalEvent::Bell,
        TerminalEvent::Folder(folder),
        TerminalEvent::Notification(TerminalNotification {
            title: None,
            body: "done".to_owned(),
        }),
        TerminalEvent::Progress(TerminalProgress::Percent(6)),
    ];
    assert_eq!(emulator.take_events(), expected);
}

#[test]
fn modes_are_those_that_the_program_set() {
    let mut emulator = fed(
        20,
        3,
        "\x1b[?1h\x1b=\x1b[?2004h\x1b[?1004h\x1b[?1002h\x1b[?1006h\x1b[>5u",
    );
    let modes = emulator.modes();
    assert!(modes.is_application_cursor && modes.is_application_keypad);
    assert!(modes.is_bracketed_paste && modes.reports_focus);
    assert_eq!(modes.mouse, MouseTracking::Drags);
    assert_eq!(modes.mouse_encoding, crate::snapshot::MouseEncoding::Sgr);
    assert_eq!(modes.kitty, KittyFlags(5));
    feed(&mut emulator, "\x1b[?1049h");
    assert!(emulator.modes().is_alternate_screen);
    assert_eq!(
        emulator.modes().kitty,
        KittyFlags(0),
        "each screen has its own"
    );
    feed(&mut emulator, "\x1b[?1049l\x1bc");
    let reset = TerminalModes {
        is_alternate_scroll: true,
        ..TerminalModes::default()
    };
    assert_eq!(emulator.modes(), reset);
}

#[test]
fn new_output_does_not_move_a_view_of_the_scrollback() {
    let mut emulator = fed(20, 3, "1\r\n2\r\n3\r\n4\r\n5");
    emulator.scroll(ScrollTarget::Top);
    assert_eq!(rows(&mut emulator), ["1", "2", "3"]);
    feed(&mut emulator, "\r\n6\r\n7");
    assert_eq!(rows(&mut emulator), ["1", "2", "3"]);
    assert_eq!(emulator.snapshot().cursor, None);
    emulator.scroll(ScrollTarget::Bottom);
    assert_eq!(rows(&mut emulator), ["5", "6", "7"]);
    emulator.scroll(ScrollTarget::Line(line(1)));
    assert_eq!(rows(&mut emulator), ["2", "3", "4"]);
    emulator.scroll(ScrollTarget::Line(line(4)));
    assert_eq!(rows(&mut emulator), ["3", "4", "5"]);
    emulator.scroll(ScrollTarget::LineAtTop(line(1)));
    assert_eq!(rows(&mut emulator), ["2", "3", "4"]);
}

#[test]
fn shrinking_while_scrolled_back_loses_no_line() {
    let lines: String = (0..50).map(|ix| format!("line {ix}\r\n")).collect();
    let mut emulator = fed(20, 10, lines);
    let whole = emulator.text_since(at(0, 0), 1 << 20).text;
    emulator.scroll(ScrollTarget::Lines(15));
    for rows in [3, 1, 7, 30, 10] {
        emulator.resize(size(20, rows));
        assert_eq!(
            emulator.text_since(at(0, 0), 1 << 20).text,
            whole,
            "{rows} rows"
        );
    }
}

#[test]
fn a_very_narrow_terminal_keeps_its_text_when_it_widens() {
    let output =
        "some words wrap 漢字 here\r\n\x1b]8;;https://x.y\x1b\\a link\x1b]8;;\x1b\\\r\nend";
    let mut emulator = fed(40, 10, output);
    let before = text(&mut emulator);
    for columns in [1, 2, 3, 5, 40] {
        emulator.resize(size(columns, 10));
    }
    emulator.scroll(ScrollTarget::Bottom);
    assert_eq!(
        emulator.text_since(at(0, 0), 1 << 20).text.trim_end(),
        before
    );
    let (uri, spans) = (0..20)
        .find_map(|row| emulator.hyperlink_at(at(row, 0)))
        .expect("the link");
    assert_eq!(uri, "https://x.y");
    assert_eq!(spans.len(), 1);
}

#[test]
fn a_short_text_stays_on_the_screen_through_narrow_sizes() {
    let line_of_text = "$ a prompt of 31 characters ab ";
    for sizes in [
        &[23, 35][..],
        &[23, 200],
        &[5, 9, 35],
        &[2, 35],
        &[16, 17, 31],
    ] {
        let mut emulator = fed(200, 24, line_of_text);
        for columns in sizes {
            emulator.resize(size(*columns, 24));
            assert_eq!(emulator.snapshot().scroll.history, 0, "{sizes:?}");
        }
        assert_eq!(text(&mut emulator), line_of_text.trim_end(), "{sizes:?}");
        feed(&mut emulator, "x");
        let typed = format!("{line_of_text}x");
        let shown = emulator.logical_line(line(0)).map(|it| it.text);
        assert_eq!(shown, Some(typed), "{sizes:?}");
    }
}

#[test]
fn the_cursor_stays_on_its_line_when_its_start_returns() {
    // A line that begins above a screen of one or two rows, without and with text below the cursor.
    let letters = "abcdefghijklmnopqrstuvwxy";
    let mut emulator = fed(10, 1, letters);
    emulator.resize(size(35, 1));
    assert_eq!(text(&mut emulator), letters);
    assert_eq!(emulator.cursor().column, 25);
    let mut emulator = fed(10, 2, format!("{letters}\r\nbelow\x1b[A"));
    let before = emulator.text_since(at(0, 0), 1 << 10).text;
    emulator.resize(size(35, 2));
    assert_eq!(rows(&mut emulator), [letters, "below"]);
    assert_eq!(emulator.text_since(at(0, 0), 1 << 10).text, before);
}

#[test]
fn selected_text_has_no_newline_where_a_row_wrapped() {
    let mut emulator = fed(10, 5, "abcdefghijklmno  \r\nxy");
    emulator.select(CellSpan {
        start: at(0, 2),
        last: at(2, 1),
    });
    assert_eq!(
        emulator.selected_text().as_deref(),
        Some("cdefghijklmno\nxy")
    );
    emulator.start_selection(SelectionKind::Lines, at(1, 0), CellHalf::Left);
    assert_eq!(emulator.selected_text().as_deref(), Some("abcdefghijklmno"));
    emulator.start_selection(SelectionKind::Block, at(0, 1), CellHalf::Left);
    emulator.extend_selection(at(1, 2), CellHalf::Right);
    assert_eq!(emulator.selected_text().as_deref(), Some("bc\nlm"));
    emulator.start_selection(SelectionKind::Words, at(2, 0), CellHalf::Left);
    assert_eq!(emulator.selected_text().as_deref(), Some("xy"));
    emulator.clear_selection();
    assert_eq!(emulator.selected_text(), None);
}

#[test]
fn a_selection_follows_its_text_and_ends_when_that_changes() {
    let mut emulator = fed(20, 4, "one\r\ntwo\r\nthree");
    let two = CellSpan {
        start: at(1, 0),
        last: at(1, 2),
    };
    emulator.select(two);
    feed(&mut emulator, "\r\n4\r\n5\r\n6\r\n7");
    assert_eq!(emulator.selected_text().as_deref(), Some("two"));
    assert_eq!(
        emulator.snapshot().selection.map(|selected| selected.span),
        Some(two)
    );
    emulator.resize(size(2, 4));
    assert_eq!(emulator.selected_text().as_deref(), Some("two"));
    emulator.resize(size(20, 4));
    assert_eq!(emulator.selected_text().as_deref(), Some("two"));
    let last = emulator.cursor();
    emulator.select(CellSpan {
        start: CellPosition::new(last.line, 0),
        last,
    });
    feed(&mut emulator, "\rX");
    assert_eq!(emulator.selected_text(), None);
}

#[test]
fn selecting_the_first_visible_line_does_not_scroll() {
    let mut emulator = fed(20, 3, "1\r\n2\r\n3\r\n4\r\n5");
    emulator.scroll(ScrollTarget::Lines(1));
    let first = emulator.snapshot().first_line;
    emulator.start_selection(
        SelectionKind::Cells,
        CellPosition::new(first, 0),
        CellHalf::Left,
    );
    emulator.extend_selection(CellPosition::new(first, 0), CellHalf::Right);
    assert_eq!(emulator.snapshot().first_line, first);
    assert_eq!(emulator.selected_text().as_deref(), Some("2"));
}

#[test]
fn everything_can_be_selected() {
    let mut emulator = fed(20, 2, "1\r\n2\r\n3\r\n4");
    emulator.select_all();
    assert_eq!(emulator.selected_text().as_deref(), Some("1\n2\n3\n4"));
}

/// Searches to the end of a search.
fn find(
    emulator: &Emulator,
    search: &mut TerminalSearch,
    from: CellPosition,
    direction: TerminalDirection,
) -> Option<CellSpan> {
    loop {
        match emulator.search(search, from, direction) {
            SearchStep::Match(span) => return Some(span),
            SearchStep::Unfinished => {}
            SearchStep::NoMatch => return None,
        }
    }
}

#[test]
fn searches_go_both_ways_over_wrapped_rows_and_wrap_around() {
    use TerminalDirection::{Down, Up};
    let mut output = "needle at the top\r\n".to_owned();
    output.extend((0..300).map(|ix| format!("{ix}\r\n")));
    output.push_str("0123456789 a Needle that wraps\r\nlast");
    let mut emulator = fed(15, 5, output);
    let literal = SearchOptions::default();
    let mut search = TerminalSearch::new("needle", literal).expect("a pattern");
    let start = emulator.cursor();
    let last = find(&emulator, &mut search, start, Up).expect("the last");
    assert_eq!((last.start.column, last.last.column), (13, 3));
    assert_eq!(last.last.line, last.start.line.below(1));
    let top = find(&emulator, &mut search, last.start, Up).expect("the first");
    assert_eq!(top.start, at(0, 0));
    assert_eq!(find(&emulator, &mut search, top.start, Up), Some(last));
    assert_eq!(find(&emulator, &mut search, top.start, Down), Some(last));
    assert_eq!(find(&emulator, &mut search, last.start, Down), Some(top));
    assert_eq!(emulator.matches_in_view(&mut search), [last]);
    emulator.scroll(ScrollTarget::Top);
    assert_eq!(emulator.matches_in_view(&mut search), [top]);
    let exact = SearchOptions {
        is_case_sensitive: true,
        ..literal
    };
    let mut search = TerminalSearch::new("Needle", exact).expect("a pattern");
    assert_eq!(find(&emulator, &mut search, top.start, Down), Some(last));
    assert_eq!(find(&emulator, &mut search, last.start, Down), Some(last));
    let mut search = TerminalSearch::new("nothing", literal).expect("a pattern");
    assert_eq!(find(&emulator, &mut search, start, Up), None);
    assert_eq!(find(&emulator, &mut search, start, Down), None);
}

#[test]
fn patterns_are_literal_unless_they_are_expressions() {
    let emulator = fed(40, 5, "a.b axb word words");
    let count = |pattern: &str, options: SearchOptions| {
        let mut search = TerminalSearch::new(pattern, options).expect("a pattern");
        emulator.matches_in_view(&mut search).len()
    };
    let literal = SearchOptions::default();
    let regex = SearchOptions {
        is_regex: true,
        ..literal
    };
    let word = SearchOptions {
        is_whole_word: true,
        ..literal
    };
    assert_eq!(count("a.b", literal), 1);
    assert_eq!(count("a.b", regex), 2);
    assert_eq!(count("word", literal), 2);
    assert_eq!(count("word", word), 1);
    assert_eq!(count("", regex), 0);
    let error = TerminalSearch::new("(", regex).expect_err("no expression");
    assert!(!error.reason.is_empty());
}

#[test]
fn the_modes_of_one_terminal_are_set_in_another() {
    for output in [
        "",
        "\x1b[?1h\x1b=\x1b[?2004h\x1b[?1004h\x1b[?1002h\x1b[?1006h",
        "\x1b[?1049h\x1b[?1003h\x1b[?1005h\x1b[?1007l\x1b[>5u\x1b[?25l",
        "\x1b[>4;2m",
    ] {
        let one = fed(20, 5, output);
        let other = fed(20, 5, one.mode_sequences());
        assert_eq!(other.modes(), one.modes(), "{output:?}");
    }
}

#[test]
fn each_color_slot_has_its_index() {
    let slots: Vec<ColorSlot> = ColorSlot::all().collect();
    assert_eq!(slots.len(), ColorSlot::COUNT);
    for (index, slot) in slots.iter().enumerate() {
        assert_eq!(slot.index(), index);
    }
    let changed = fed(20, 5, "\x1b]11;rgb:01/02/03\x07");
    assert_eq!(
        changed.changed_color(ColorSlot::Background),
        Some((1, 2, 3))
    );
    assert_eq!(changed.changed_color(ColorSlot::Foreground), None);
}
