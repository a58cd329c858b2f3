//! The properties that a terminal keeps, whatever a program prints.

use std::collections::HashSet;
use std::sync::LazyLock;

use alacritty_terminal::Term;
use alacritty_terminal::grid::Dimensions as _;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::Color;
use regex::Regex;

use super::streams::{FOREIGN, PAYLOAD};
use crate::cells::{CellWidth, TerminalRow};
use crate::commands::{CommandLineSource, MAX_COMMANDS};
use crate::emulator::Emulator;
use crate::event::TerminalEvent;
use crate::links::{TerminalLink, link_target};
use crate::performer::ClipboardAccess;

/// The answers that a program may get.
static REPLIES: LazyLock<Regex> = LazyLock::new(|| {
    let controls = r"\x1b\[(?:\?6c|>0;[0-9]+;1c|0n|[0-9]+;[0-9]+R|\?[0-9]+u|\??[0-9]+;[0-4]\$y|[48];[0-9]+;[0-9]+t|>4;[0-2]m)";
    let color = "[0-9a-f]{4}";
    let colors = format!(r"\x1b\](?:1[0-2]|4;[0-9]+);rgb:{color}/{color}/{color}(?:\x07|\x1b\\)");
    Regex::new(&format!(r"\A(?:{controls}|{colors})*\z")).expect("a valid expression")
});

/// The contents of a cell that output may change. The id of a hyperlink is not one of them: the core numbers them.
type CellContent = (char, Color, Color, Flags, Vec<char>, Option<String>);

/// Asserts that the bytes are well-formed answers that contain no text of the stream.
pub(super) fn assert_replies_allowed(replies: &[u8], label: &str) {
    assert!(replies.len() <= 256 << 10, "{label}");
    let text = std::str::from_utf8(replies).expect("answers are text");
    assert!(REPLIES.is_match(text), "{label}: {text:?}");
    assert!(!text.contains(['\n', '\r']), "{label}: {text:?}");
    assert!(!text.contains(PAYLOAD), "{label}: {text:?}");
}

/// Asserts that no event runs, opens or writes anything beyond `clipboard`. A new kind of event must be judged here.
pub(super) fn assert_events_harmless(
    events: &[TerminalEvent],
    clipboard: ClipboardAccess,
    label: &str,
) {
    let is_clean =
        |text: &str, cap: usize| text.chars().count() <= cap && !text.chars().any(char::is_control);
    assert!(events.len() <= 257, "{label}: {} events", events.len());
    for event in events {
        let is_harmless = match event {
            TerminalEvent::Reply(bytes) => {
                assert_replies_allowed(bytes, label);
                true
            }
            TerminalEvent::Title(title) => title.as_ref().is_none_or(|it| is_clean(it, 200)),
            TerminalEvent::ClipboardWrite { .. } => clipboard != ClipboardAccess::None,
            TerminalEvent::ClipboardRead(_) => clipboard == ClipboardAccess::WriteAndRead,
            TerminalEvent::ColorQuery(query) => {
                assert_replies_allowed(&query.answer(1, 2, 3), label);
                true
            }
            TerminalEvent::Notification(notification) => {
                let title = notification.title.as_ref();
                is_clean(&notification.body, 1_000) && title.is_none_or(|it| is_clean(it, 1_000))
            }
            TerminalEvent::Folder(folder) => {
                let path = folder.as_path().to_string_lossy();
                !path.contains(FOREIGN) && is_clean(&path, 4_096)
            }
            TerminalEvent::Bell
            | TerminalEvent::Progress(_)
            | TerminalEvent::PromptShown(_)
            | TerminalEvent::CommandStarted(_)
            | TerminalEvent::CommandEnded(_) => true,
        };
        assert!(is_harmless, "{label}: {event:?}");
    }
}

/// Asserts that everything a terminal keeps is bounded, and that no command line is believed to be the shell's.
pub(super) fn assert_bounded(emulator: &mut Emulator, scrollback: u32, label: &str) {
    assert!(emulator.unfinished_bytes() <= 1 << 20, "{label}");
    let title = emulator.title().unwrap_or_default();
    assert!(title.chars().count() <= 200, "{label}: {title:?}");
    let folder = emulator.folder().map(|it| it.as_path().to_path_buf());
    let is_foreign = |path: std::path::PathBuf| path.to_string_lossy().contains(FOREIGN);
    assert!(!folder.is_some_and(is_foreign), "{label}");
    let commands: Vec<_> = emulator.commands().iter().cloned().collect();
    assert!(commands.len() <= MAX_COMMANDS, "{label}");
    for command in &commands {
        let line = command.line.as_ref();
        assert!(line.is_none_or(|it| it.text.len() <= 64 << 10), "{label}");
        let is_shell = line.is_some_and(|it| it.source == CommandLineSource::Shell);
        assert!(!is_shell, "{label}: {line:?}");
    }
    emulator.with_core(|term, state| {
        assert!(state.sequences.len() < 1_000, "{label}");
        assert!(term.history_size() <= state.lines.core_history(), "{label}");
        assert!(state.lines.core_history() <= scrollback as usize + 1_000);
        assert_cells_bounded(term, label);
    });
}

/// Asserts that zero-width characters and hyperlinks are bounded.
fn assert_cells_bounded<T>(term: &Term<T>, label: &str) {
    let mut links: HashSet<(String, String)> = HashSet::new();
    for line in term.topmost_line().0..=term.bottommost_line().0 {
        let row = &term.grid()[Line(line)];
        for column in 0..row.len() {
            let cell = &row[Column(column)];
            if cell.extra.is_none() {
                continue;
            }
            let combining = cell.zerowidth().map_or(0, <[char]>::len);
            assert!(combining <= 16, "{label}: {combining} on a cell");
            links.extend(cell.hyperlink().map(|link| {
                let (id, uri) = (link.id().to_owned(), link.uri().to_owned());
                assert!(uri.len() <= 2_083, "{label}: {} bytes", uri.len());
                assert_opens_nothing_local(&uri, label);
                (id, uri)
            }));
        }
    }
    let bytes: usize = links.iter().map(|(_, uri)| uri.len()).sum();
    assert!(bytes <= 8 << 20, "{label}: {bytes} bytes of links");
}

/// Asserts that a link is one of the web or to a file of this machine, or is not opened.
fn assert_opens_nothing_local(uri: &str, label: &str) {
    let is_allowed = match link_target(uri, Some("box")) {
        Some(TerminalLink::Web(address)) => {
            let address = address.to_ascii_lowercase();
            address.starts_with("http://") || address.starts_with("https://")
        }
        Some(TerminalLink::File(path)) => !path.as_path().to_string_lossy().contains(FOREIGN),
        None => true,
    };
    assert!(is_allowed, "{label}: {uri:?}");
}

/// Asserts that the cursor lies in the grid and that rows consist of whole characters.
pub(super) fn assert_grid_sound(emulator: &mut Emulator, label: &str) {
    let snapshot = emulator.snapshot();
    assert_eq!(snapshot.rows.len(), usize::from(snapshot.size.rows));
    if let Some(cursor) = snapshot.cursor {
        assert!(cursor.row < snapshot.size.rows, "{label}");
        assert!(cursor.position.column < snapshot.size.columns, "{label}");
    }
    for row in &snapshot.rows {
        assert_wide_cells_paired(row, usize::from(snapshot.size.columns), label);
    }
    emulator.with_core(|term, _| {
        let point = term.grid().cursor.point;
        let is_inside = (0..term.screen_lines() as i32).contains(&point.line.0)
            && point.column.0 < term.columns();
        assert!(is_inside, "{label}: the cursor is at {point:?}");
    });
}

/// Asserts that each wide cell has its spacer, and each spacer its cell, or the end of the row.
fn assert_wide_cells_paired(row: &TerminalRow, columns: usize, label: &str) {
    assert!(row.cells.len() <= columns, "{label}");
    let width = |column: usize| row.cells.get(column).map(|cell| cell.width);
    for column in 0..row.cells.len() {
        let is_sound = match row.cells[column].width {
            CellWidth::Single => true,
            CellWidth::Wide => width(column + 1) == Some(CellWidth::Spacer),
            CellWidth::Spacer => {
                let before = column.checked_sub(1).and_then(width);
                before == Some(CellWidth::Wide) || column + 1 == columns
            }
        };
        assert!(is_sound, "{label}: column {column} of {:?}", row.text());
    }
}

/// Asserts that two terminals are equal in everything that output may change.
pub(super) fn assert_equal(one: &mut Emulator, other: &mut Emulator, label: &str) {
    let (first, second) = (one.snapshot(), other.snapshot());
    assert_eq!(first.first_line, second.first_line, "{label}");
    assert_eq!(first.cursor, second.cursor, "{label}");
    assert_eq!(first.modes, second.modes, "{label}");
    assert_eq!(first.colors, second.colors, "{label}");
    for (row, twin) in first.rows.iter().zip(&second.rows) {
        assert_eq!(
            (&row.cells, &row.runs),
            (&twin.cells, &twin.runs),
            "{label}"
        );
        assert_eq!(row.is_wrapped, twin.is_wrapped, "{label}");
    }
    assert_eq!(one.title(), other.title(), "{label}");
    assert_eq!(one.folder(), other.folder(), "{label}");
    let commands = |emulator: &Emulator| emulator.commands().iter().cloned().collect::<Vec<_>>();
    assert_eq!(commands(one), commands(other), "{label}");
    one.with_core(|one, _| other.with_core(|other, _| assert_cells_equal(one, other, label)));
}

fn assert_cells_equal<T>(one: &Term<T>, other: &Term<T>, label: &str) {
    let lines = |term: &Term<T>| (term.topmost_line().0, term.bottommost_line().0);
    assert_eq!(lines(one), lines(other), "{label}");
    let (first, last) = lines(one);
    for line in first..=last {
        for column in 0..one.columns() {
            let (content, twin) = (content(one, line, column), content(other, line, column));
            assert_eq!(content, twin, "{label}: line {line}, column {column}");
        }
    }
}

fn content<T>(term: &Term<T>, line: i32, column: usize) -> CellContent {
    let cell = &term.grid()[Line(line)][Column(column)];
    let (combining, link) = match &cell.extra {
        Some(_) => {
            let combining = cell.zerowidth().unwrap_or_default().to_vec();
            (combining, cell.hyperlink().map(|it| it.uri().to_owned()))
        }
        None => (Vec::new(), None),
    };
    (cell.c, cell.fg, cell.bg, cell.flags, combining, link)
}
