//! Measures how long the window stalls while the user works with difficult files.
//!
//! The real program runs in a virtual display and reports its own stalls (`BURIN_STALLS`). Every
//! file is opened, scrolled and edited with real keys, and the edits are undone.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::corpus;
use crate::figure::{self, Figure};
use crate::screen::{OURS, Screen};

const CONTROL: u32 = 0xffe3;
const HOME: u32 = 0xff50;
const END: u32 = 0xff57;
const PAGE_DOWN: u32 = 0xff56;
const RETURN: u32 = 0xff0d;

/// Minimum length of a reported stall, in milliseconds.
const REPORTED: &str = "15";

/// Maximum length of a stall, in milliseconds.
const GOAL: f64 = 100.0;

struct Input {
    name: &'static str,
    write: fn(&mut dyn std::io::Write) -> std::io::Result<()>,
    /// Whether it opens as editable text.
    is_text: bool,
}

const INPUTS: &[Input] = &[
    // The baseline: the cost of drawing alone, which is done in software without a GPU.
    Input {
        name: "a text of fifty lines",
        write: |out| {
            out.write_all(&b"a line of a small text, as long as such lines are\n".repeat(50))
        },
        is_text: true,
    },
    Input {
        name: "a log of 200 MB",
        write: |out| {
            let line =
                b"2026-01-01T00:00:00 INFO a line of a log, as long as such lines are, or so\n";
            let block = line.repeat(10_000);
            (0..200_000_000 / block.len()).try_for_each(|_| out.write_all(&block))
        },
        is_text: true,
    },
    Input {
        name: "one line of 100 MB",
        write: |out| {
            let block = b"words of one very long line, ".repeat(10_000);
            (0..100_000_000 / block.len()).try_for_each(|_| out.write_all(&block))
        },
        is_text: true,
    },
    Input {
        name: "Rust of 20 MB",
        write: |out| {
            let block =
                b"/// Adds.\npub fn add(a: usize, b: usize) -> usize {\n    a + b // the sum\n}\n\n"
                    .repeat(1_000);
            (0..20_000_000 / block.len()).try_for_each(|_| out.write_all(&block))
        },
        is_text: true,
    },
    Input {
        name: "JSON of one line, 20 MB",
        write: |out| {
            out.write_all(b"[0")?;
            let block = br#",{"name":"value","list":[1,2,3]}"#.repeat(10_000);
            (0..20_000_000 / block.len()).try_for_each(|_| out.write_all(&block))?;
            out.write_all(b"]\n")
        },
        is_text: true,
    },
    Input {
        name: "brackets nested a million deep",
        write: |out| {
            out.write_all(&b"[".repeat(1_000_000))?;
            out.write_all(&b"]".repeat(1_000_000))
        },
        is_text: true,
    },
    Input {
        name: "10 MB of binary",
        write: |out| {
            let block: Vec<u8> = (0..=255).collect();
            (0..40_000).try_for_each(|_| out.write_all(&block))
        },
        is_text: false,
    },
    Input {
        name: "bytes that are not UTF-8",
        write: |out| out.write_all(&b"caf\xe9 \xff\xfe ok\n".repeat(100_000)),
        is_text: false,
    },
];

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    corpus::build("burin")?;
    let program = figure::target().join("release/burin");
    let screen = Screen::start()?;
    INPUTS
        .iter()
        .map(|input| {
            let longest = work_with(&screen, &program, input)
                .map_err(|error| format!("{}: {error}", input.name))?;
            let name = format!("longest stall, {}", input.name);
            let goal = (input.name != INPUTS[0].name).then_some(GOAL);
            Ok(Figure::alone(name, longest, "ms", 1, goal))
        })
        .collect()
}

/// Opens the file and works with it; returns the longest stall in milliseconds.
fn work_with(screen: &Screen, program: &Path, input: &Input) -> Result<f64, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = plant(home.path(), input).map_err(|error| error.to_string())?;
    let log = home.path().join("log");
    let mut command = Command::new(program);
    let errors = File::create(&log).map_err(|error| error.to_string())?;
    command
        .arg(&file)
        .env("BURIN_STALLS", REPORTED)
        .stderr(errors);
    let running = screen.start_program(command, home.path())?;
    screen.wait_for_text(OURS, 1, Instant::now())?;
    pause(4_000);
    // Stalls before the window is shown do not count.
    let before = read(&log)?.len();
    screen.focus_top_window()?;
    for chord in [
        &[PAGE_DOWN][..],
        &[PAGE_DOWN],
        &[CONTROL, END],
        &[CONTROL, HOME],
    ] {
        screen.chord(chord)?;
        pause(400);
    }
    if input.is_text {
        type_into(screen)?;
    }
    if !running.is_alive() {
        return Err("the program ended".to_owned());
    }
    drop(running);
    screen.wait_for_nothing(OURS)?;
    let lines = read(&log)?;
    let stalls = lines[before..].lines().filter_map(milliseconds);
    Ok(stalls.fold(0.0, f64::max))
}

fn type_into(screen: &Screen) -> Result<(), String> {
    for place in [HOME, END] {
        screen.chord(&[CONTROL, place])?;
        pause(300);
        for letter in b"typed" {
            screen.press(*letter)?;
            pause(60);
        }
        screen.chord(&[RETURN])?;
        pause(300);
    }
    for letter in b"zzzz" {
        screen.chord(&[CONTROL, u32::from(*letter)])?;
        pause(300);
    }
    // Find searches the text while the user types the query.
    screen.chord(&[CONTROL, u32::from(b'f')])?;
    pause(300);
    for letter in b"line" {
        screen.press(*letter)?;
        pause(60);
    }
    pause(1_500);
    screen.chord(&[RETURN])?;
    pause(1_000);
    Ok(())
}

fn plant(home: &Path, input: &Input) -> std::io::Result<PathBuf> {
    let extension = match input.name {
        name if name.starts_with("Rust") => "rs",
        name if name.starts_with("JSON") || name.starts_with("brackets") => "json",
        _ => "txt",
    };
    let path = home.join(format!("input.{extension}"));
    let mut out = std::io::BufWriter::new(File::create(&path)?);
    (input.write)(&mut out)?;
    out.flush()?;
    Ok(path)
}

fn milliseconds(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("stood still for ")?;
    rest.split_once(' ')?.0.parse().ok()
}

fn read(log: &Path) -> Result<String, String> {
    std::fs::read_to_string(log).map_err(|error| error.to_string())
}

fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}
