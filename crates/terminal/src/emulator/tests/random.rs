//! Properties of random output: splits, the core alone, resizes.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::*;
use crate::commands::ShellCommand;

/// Runs in the gate, and under `cargo xtask soak`.
const RUNS: [u64; 2] = [60, 20_000];

fn runs() -> std::ops::Range<u64> {
    let is_soak = std::env::var_os("BURIN_SOAK").is_some();
    0..RUNS[usize::from(is_soak)]
}

/// Pieces of output that the core and this crate treat alike.
const PLAIN: &[&str] = &[
    "a",
    "word ",
    "漢",
    "é",
    "e\u{301}",
    "\u{1f469}\u{200d}\u{1f33e}",
    "\t",
    "\r\n",
    "\r",
    "\n",
    "\x08",
    "\x1b[A",
    "\x1b[3B",
    "\x1b[C",
    "\x1b[2D",
    "\x1b[H",
    "\x1b[5;7H",
    "\x1b[J",
    "\x1b[1J",
    "\x1b[2J",
    "\x1b[K",
    "\x1b[1K",
    "\x1b[3J",
    "\x1b[L",
    "\x1b[2M",
    "\x1b[3P",
    "\x1b[2@",
    "\x1b[4X",
    "\x1b[2S",
    "\x1b[2T",
    "\x1b[2;4r",
    "\x1b[r",
    "\x1bM",
    "\x1bD",
    "\x1bE",
    "\x1b7",
    "\x1b8",
    "\x1b[1;31m",
    "\x1b[m",
    "\x1b[38;2;1;2;3m",
    "\x1b[?7l",
    "\x1b[?7h",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?2026h",
    "\x1b[?2026l",
    "\x1b]0;title\x07",
    "\x1b]8;;https://a\x1b\\",
    "\x1b]8;;\x1b\\",
    "\x1b[c",
    "\x1b[>1u",
    "\x1b[<u",
    "\x1b[20b",
    "\x1b#8",
    "\x1b(0",
    "\x1b(B",
    "\x1b[?6h",
    "\x1b[?6l",
    "\x1b[3g",
    "\x1bH",
    "\x1bPdcs\x1b\\",
    "\x1bc",
    "long words that wrap in rows of all widths ",
];

/// Sequences that the core does not know.
const OWN: &[&str] = &[
    "\x1b]133;A\x07",
    "\x1b]133;B\x1b\\",
    "\x1b]133;C\x07",
    "\x1b]133;D;1\x07",
    "\x1b]7;file:///a\x07",
    "\x1b]9;n\x07",
    "\x1b]9;4;1;9\x1b\\",
    "\x1b]633;E;x;0123456789abcdef\x07",
    "\x1b]1337;CurrentDir=/b\x07",
    "\x1b]777;notify;a;b\x07",
    "\x1b]133;Q\x07",
    "\u{1b}]1337;File=:AAAA\x07",
];

fn stream(random: &mut StdRng, kinds: &[&[&str]]) -> Vec<String> {
    let count = random.random_range(1..120);
    (0..count)
        .map(|_| {
            let kind = kinds[random.random_range(0..kinds.len())];
            kind[random.random_range(0..kind.len())].to_owned()
        })
        .collect()
}

/// Feeds bytes in pieces of random lengths, at most `longest`.
pub(super) fn feed_split(
    emulator: &mut Emulator,
    bytes: &[u8],
    longest: usize,
    random: &mut StdRng,
) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let length = random.random_range(1..=rest.len().min(longest));
        feed(emulator, &rest[..length]);
        rest = &rest[length..];
    }
}

/// Everything that output may change.
type EmulatorState = (Vec<String>, Vec<ShellCommand>, TerminalModes, String);

/// Returns everything that output may change, with a finished update.
pub(super) fn state(emulator: &mut Emulator) -> EmulatorState {
    emulator.end_update(Duration::ZERO);
    let rows = cells(&emulator.term);
    let commands = emulator.commands().iter().cloned().collect();
    let modes = emulator.modes();
    let cursor = format!("{:?} {:?}", emulator.cursor(), emulator.snapshot().cursor);
    let folder = format!("{:?} {:?}", emulator.folder(), emulator.title());
    (rows, commands, modes, cursor + &folder)
}

/// Returns the cells of the screen and the scrollback.
pub(super) fn cells<T>(term: &Term<T>) -> Vec<String> {
    let lines = term.topmost_line().0..=term.bottommost_line().0;
    lines
        .map(|line| {
            let row = &term.grid()[Line(line)];
            let cells = (0..row.len()).map(|column| {
                let cell = &row[Column(column)];
                let link = cell.hyperlink().map(|link| link.uri().to_owned());
                let extra = (cell.zerowidth(), link, cell.underline_color());
                format!(
                    "{}{:?}{:?}{:?}{extra:?}",
                    cell.c, cell.fg, cell.bg, cell.flags
                )
            });
            cells.collect()
        })
        .collect()
}

/// Returns the core without the rest of the emulator, fed with bytes.
pub(super) fn core_alone(columns: u16, rows: u16, scrollback: u32, bytes: &[u8]) -> Term<Listener> {
    let config = Config {
        scrolling_history: scrollback as usize,
        kitty_keyboard: true,
        ..Config::default()
    };
    let mut core = Term::new(config, &grid_size(size(columns, rows)), Listener::default());
    let mut processor = Processor::<UpdateFlag>::new();
    processor.advance(&mut core, bytes);
    processor.stop_sync(&mut core);
    core
}

#[test]
fn any_split_gives_the_same_grid_and_marks() {
    for seed in runs() {
        let random = &mut StdRng::seed_from_u64(seed);
        let (columns, rows) = (random.random_range(2..20), random.random_range(1..8));
        let bytes = stream(random, &[PLAIN, OWN]).concat().into_bytes();
        let mut whole = fed(columns, rows, &bytes);
        let mut split = fed(columns, rows, "");
        feed_split(&mut split, &bytes, 9, random);
        assert_eq!(
            state(&mut whole),
            state(&mut split),
            "seed {seed}: {}",
            bytes.escape_ascii()
        );
        assert_eq!(whole.take_replies(), split.take_replies(), "seed {seed}");
    }
}

#[test]
fn any_split_of_random_bytes_gives_the_same_grid() {
    let alphabet =
        b"\x1b\x1b\x1b]]]P[_?;;0123789ABCDhlmu\x07\x18\x9d\x9c\xc3\x9d\xe6\xbc\xa2 a\r\n";
    for seed in runs() {
        let random = &mut StdRng::seed_from_u64(seed);
        let length = random.random_range(1..300);
        let bytes: Vec<u8> = (0..length)
            .map(|_| alphabet[random.random_range(0..alphabet.len())])
            .collect();
        let mut whole = fed(9, 4, &bytes);
        let mut split = fed(9, 4, "");
        feed_split(&mut split, &bytes, 9, random);
        assert_eq!(
            state(&mut whole),
            state(&mut split),
            "seed {seed}: {}",
            bytes.escape_ascii()
        );
    }
}

#[test]
fn the_grid_is_that_of_the_core_alone() {
    for seed in runs() {
        let random = &mut StdRng::seed_from_u64(seed);
        let (columns, rows) = (random.random_range(2..20), random.random_range(1..8));
        let scrollback = random.random_range(0..30);
        let pieces = stream(random, &[PLAIN, OWN]);
        let mut emulator = Emulator::new(EmulatorOptions {
            scrollback,
            ..options(columns, rows)
        });
        feed(&mut emulator, pieces.concat());
        emulator.end_update(Duration::ZERO);
        let known = pieces.iter().filter(|piece| !OWN.contains(&piece.as_str()));
        let known: String = known.map(String::as_str).collect();
        let core = core_alone(columns, rows, scrollback, known.as_bytes());
        assert_eq!(
            cells(&emulator.term),
            cells(&core),
            "seed {seed}: {pieces:?}"
        );
        assert_eq!(emulator.term.mode(), core.mode(), "seed {seed}");
        let cursor = &emulator.term.grid().cursor;
        assert_eq!(cursor.point, core.grid().cursor.point, "seed {seed}");
    }
}

#[test]
fn snapshots_and_positions_are_sound_in_any_state() {
    for seed in runs() {
        let random = &mut StdRng::seed_from_u64(seed);
        let mut emulator = Emulator::new(EmulatorOptions {
            scrollback: random.random_range(0..40),
            ..options(random.random_range(1..25), random.random_range(1..9))
        });
        for _ in 0..random.random_range(1..8) {
            feed(&mut emulator, stream(random, &[PLAIN, OWN]).concat());
            match random.random_range(0..6) {
                0 => emulator.resize(size(random.random_range(0..30), random.random_range(0..12))),
                1 => emulator.scroll(ScrollTarget::Lines(random.random_range(-20..20))),
                2 => emulator.select_all(),
                3 => emulator.clear(),
                4 => emulator.set_scrollback(random.random_range(0..30)),
                _ => {}
            }
            check(&mut emulator, seed);
        }
    }
}

/// Checks the invariants of a terminal.
fn check(emulator: &mut Emulator, seed: u64) {
    let snapshot = emulator.snapshot();
    let columns = usize::from(snapshot.size.columns);
    assert_eq!(snapshot.rows.len(), usize::from(snapshot.size.rows));
    for row in &snapshot.rows {
        assert!(row.cells.len() <= columns);
        let ends = row.runs.iter().scan(0, |at, run| {
            let is_adjacent = run.columns.start == *at && run.columns.end > *at;
            *at = run.columns.end;
            Some((is_adjacent, *at))
        });
        let ends: Vec<_> = ends.collect();
        assert!(
            ends.iter().all(|(is_adjacent, _)| *is_adjacent),
            "seed {seed}"
        );
        let end = ends.last().map_or(0, |(_, end)| usize::from(*end));
        assert_eq!(end, row.cells.len(), "seed {seed}");
    }
    let fresh = FrameCache::default().update(&mut emulator.term, &emulator.state.lines);
    let contents = |rows: &[Arc<crate::cells::TerminalRow>]| -> Vec<_> {
        rows.iter()
            .map(|row| (row.cells.clone(), row.runs.clone()))
            .collect()
    };
    assert_eq!(
        contents(&snapshot.rows),
        contents(&fresh.1),
        "seed {seed}: a stale row"
    );
    let prompts: Vec<_> = emulator
        .commands()
        .iter()
        .map(|command| command.prompt.line)
        .collect();
    let bottom = snapshot.first_line.0 + 20_000;
    assert!(prompts.iter().all(|line| line.0 <= bottom));
    emulator.text_since(CellPosition::default(), 1 << 16);
    emulator.selected_text();
    emulator.logical_line(snapshot.first_line);
}
