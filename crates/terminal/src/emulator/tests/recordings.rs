//! Recorded runs of real programs: see `tests/recordings/record.py`.

use std::path::PathBuf;

use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::random::{cells, core_alone, feed_split, state};
use super::*;

/// The number of recordings that there are at least, and the bytes of one at most.
const COUNT: usize = 30;
const MAX_BYTES: usize = 41 << 10;
/// Lines of the scrollback, as in `options`.
const SCROLLBACK: u32 = 1_000;

/// The output of a program, with the numbers of bytes after which keys were pressed.
struct Recording {
    name: String,
    size: TerminalSize,
    stops: Vec<usize>,
    output: Vec<u8>,
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings"))
}

impl Recording {
    /// Reads a recording: a line `burin recording COLUMNSxROWS STOPS`, then the bytes.
    fn parse(name: &str, bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let header = str::from_utf8(&bytes[..end]).ok()?;
        let (grid, stops) = header.strip_prefix("burin recording ")?.split_once(' ')?;
        let (columns, rows) = grid.split_once('x')?;
        let stops = stops.split(',').filter(|stop| !stop.is_empty());
        Some(Self {
            name: name.to_owned(),
            size: size(columns.parse().ok()?, rows.parse().ok()?),
            stops: stops
                .map(str::parse::<usize>)
                .collect::<Result<Vec<_>, _>>()
                .ok()?,
            output: bytes[end + 1..].to_vec(),
        })
    }

    fn emulator(&self) -> Emulator {
        fed(self.size.columns, self.size.rows, "")
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the recordings are files of this repository"
)]
fn recordings() -> Vec<Recording> {
    let files = std::fs::read_dir(folder()).expect("the recordings");
    let mut recordings = Vec::new();
    for file in files {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "rec") {
            let name = path.file_stem().expect("a name").to_string_lossy();
            let bytes = std::fs::read(&path).expect("a recording");
            let recording = Recording::parse(&name, &bytes);
            recordings.push(recording.unwrap_or_else(|| panic!("{name} is no recording")));
        }
    }
    recordings.sort_by(|a, b| a.name.cmp(&b.name));
    recordings
}

#[test]
fn recordings_are_many_and_small() {
    let recordings = recordings();
    assert!(recordings.len() >= COUNT, "{}", recordings.len());
    for recording in &recordings {
        let length = recording.output.len();
        assert!((1..=MAX_BYTES).contains(&length), "{}", recording.name);
        assert!(recording.stops.is_sorted(), "{}", recording.name);
        let last = recording.stops.last().copied().unwrap_or_default();
        assert!(last <= length, "{}", recording.name);
    }
}

#[test]
fn recorded_runs_give_one_grid_for_any_split() {
    for recording in recordings() {
        let mut whole = recording.emulator();
        feed(&mut whole, &recording.output);
        let (expected, replies) = (state(&mut whole), whole.take_replies());
        for (seed, longest) in (0..).zip([1, 3, 9, 100, 5_000]) {
            let random = &mut StdRng::seed_from_u64(seed);
            let mut split = recording.emulator();
            feed_split(&mut split, &recording.output, longest, random);
            let name = format!("{} in pieces of up to {longest} bytes", recording.name);
            assert_eq!(state(&mut split), expected, "{name}");
            assert_eq!(split.take_replies(), replies, "{name}");
        }
    }
}

#[test]
fn recorded_runs_give_the_grid_of_the_core_alone() {
    for recording in recordings() {
        let Recording { name, size, .. } = &recording;
        let mut emulator = recording.emulator();
        feed(&mut emulator, &recording.output);
        emulator.end_update(Duration::ZERO);
        let core = core_alone(size.columns, size.rows, SCROLLBACK, &recording.output);
        assert_eq!(cells(&emulator.term), cells(&core), "{name}");
        assert_eq!(emulator.term.mode(), core.mode(), "{name}");
        let cursor = &emulator.term.grid().cursor;
        assert_eq!(cursor.point, core.grid().cursor.point, "{name}");
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the pages are files of this repository"
)]
fn recorded_runs_of_vttest_show_the_stored_pages() {
    let recordings = recordings();
    let tested = recordings.iter().filter(|it| it.name.starts_with("vttest"));
    let mut count = 0;
    for recording in tested {
        let path = folder().join(format!("{}.pages", recording.name));
        let stored = std::fs::read_to_string(&path).expect("the pages");
        let keys = stored.lines().filter(|line| line.starts_with("=== "));
        let mut emulator = recording.emulator();
        let (mut done, mut shown) = (0, String::new());
        for (stop, keys) in recording.stops.iter().zip(keys) {
            feed(&mut emulator, &recording.output[done..*stop]);
            done = *stop;
            shown += &format!("{keys}\n{}\n", text(&mut emulator));
            count += 1;
        }
        if std::env::var_os("BURIN_BLESS").is_some() {
            std::fs::write(&path, &shown).expect("the pages");
        }
        for (page, (shown, stored)) in shown.split("=== ").zip(stored.split("=== ")).enumerate() {
            assert_eq!(shown, stored, "page {page} of {}", recording.name);
        }
        assert_eq!(shown, stored, "{}", recording.name);
    }
    assert!(count > 50, "{count} pages");
}
