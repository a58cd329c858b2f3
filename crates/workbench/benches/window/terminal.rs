//! Key to cell in a terminal, and frames and keys of the editor while a program floods a terminal.
//!
//! The programs are real ones in real ptys. The clock of the window is advanced by hand, so the wait for the next frame is
//! not part of an echo.

mod service;

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::AbsPath;
use cpu_time::ThreadTime;
use gpui_kit::HeadlessAppContext;
use host::TempFolder;
use terminal_panel::TerminalService;
use terminal_panel::actions::FocusPanel;
use workbench::target::LineColumn;

use crate::frames::TYPED;
use crate::printed::{Figure, Goal, quantile};
use crate::project_folder::EditedFile;
use crate::stage::{Pace, keystroke};
use crate::world::{Models, MoreServices, Tab, World};
use service::{BenchTerminals, TerminalReads};

/// The text that a program prints when it is ready.
const READY: &str = "ready";
/// Sends input back. It is set up before it is ready.
const LOOPBACK: &str = "stty -icanon -echo min 1 time 0; printf ready; exec cat";
/// Number of echoes, and of those that are not counted: they shape text that is not cached yet.
const ECHOES: usize = 400;
const FIRST_ECHOES: usize = 40;
/// Number of lines typed beside a flood, and of those that are not counted.
const LINES: usize = 8;
const FIRST_LINES: usize = 2;
/// Time between two frames, and number of frames between two keys.
const FRAME: Duration = Duration::from_millis(16);
const FRAMES: usize = 4;
/// Time after which output has been drawn and the next is drawn at once.
const REST: Duration = Duration::from_millis(100);
/// Time after which a program that does not react fails the benchmark.
const PATIENCE: Duration = Duration::from_secs(60);
/// Goals: echo and frames in milliseconds, and keys beside a flood over keys without one.
const ECHO_P50: f64 = 2.0;
const ECHO_P99: f64 = 8.0;
const FRAME_P99: f64 = 2.0;
const KEY_P99: f64 = 2.0;
const OVER_QUIET: f64 = 1.2;

/// A window with a program in its terminal.
struct TerminalWorld {
    world: World,
    reads: Arc<TerminalReads>,
}

/// Times of the window's thread, in milliseconds.
#[derive(Default)]
struct FrameTimes {
    /// CPU time of each update by output with its frame.
    cpu: Vec<f64>,
    /// The time that passed meanwhile, with waits for the emulator and for a core.
    wall: Vec<f64>,
}

pub(crate) fn run() {
    let mut quiet = TerminalWorld::open(LOOPBACK);
    echo_all(&mut quiet);
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("lines");
    std::fs::write(path.as_path(), colored_lines()).expect("a file");
    let flood = format!(
        "printf {READY}; while :; do cat '{}'; done",
        path.as_path().display()
    );
    let mut flooded = TerminalWorld::open(&flood);
    type_beside_flood(&mut quiet, &mut flooded);
}

/// Returns lines with a few colours each.
fn colored_lines() -> String {
    let lines = TYPED.lines().cycle().take(4_000).enumerate();
    let lines = lines.map(|(ix, line)| {
        let colors = [31 + ix % 7, 31 + (ix + 3) % 7];
        let middle = line.floor_char_boundary(line.len() / 2);
        let (left, right) = line.split_at(middle);
        format!(
            "\x1b[{}m{ix} {left}\x1b[1;{}m{right}\x1b[m\n",
            colors[0], colors[1]
        )
    });
    lines.collect()
}

impl TerminalWorld {
    /// Opens a window, runs a script in its terminal, and waits until that is ready.
    fn open(script: &str) -> Self {
        let text = include_str!("../../src/prediction.rs");
        let file = EditedFile {
            name: "typed.rs",
            text: &format!("{text}\nfn typed() {{\n    \n}}\n"),
            place: LineColumn::new(text.lines().count() as u32 + 3, 5),
        };
        let reads = Arc::<TerminalReads>::default();
        let service = Arc::new(BenchTerminals::new(script, &reads));
        let more = MoreServices {
            terminals: Some(Arc::new(move |_: Option<&AbsPath>| {
                service.clone() as Arc<dyn TerminalService>
            })),
            ..MoreServices::default()
        };
        let world = World::open_with(Models::None, Tab::Off, more, &file);
        let mut this = Self { world, reads };
        this.world.act(FocusPanel);
        let start = Instant::now();
        while this.reads.count() == 0 || this.reads.column() < READY.len() {
            assert!(start.elapsed() < PATIENCE, "the program starts");
            this.frame(&mut FrameTimes::default());
        }
        this.world.pass(REST, Pace::Real);
        this
    }

    /// Presses a key; returns the milliseconds until a frame shows its cell.
    fn echo(&mut self) -> f64 {
        let before = self.reads.column();
        let start = Instant::now();
        self.world.press(keystroke('a'));
        while self.reads.column() == before {
            assert!(start.elapsed() < PATIENCE, "the key is echoed");
            if !run_task(&self.world.stage.cx) {
                std::thread::sleep(Duration::from_micros(20));
            }
        }
        let time = start.elapsed().as_secs_f64() * 1e3;
        self.world.pass(REST, Pace::Free);
        time
    }

    /// Lets the time of a frame pass, and adds the times of the updates that read the terminal.
    fn frame(&mut self, times: &mut FrameTimes) {
        self.world.stage.clock.advance(FRAME);
        let start = Instant::now();
        // Work that waited for this time runs here: among it is the next update by output.
        self.measure(times, |cx| {
            cx.advance_clock(FRAME);
            true
        });
        while start.elapsed() < FRAME {
            if !self.measure(times, |cx| run_task(cx)) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Does some work of the window, and adds its times if it read the terminal; returns whether there was any.
    fn measure(
        &mut self,
        times: &mut FrameTimes,
        work: impl FnOnce(&mut HeadlessAppContext) -> bool,
    ) -> bool {
        let reads = self.reads.count();
        let (cpu, wall) = (ThreadTime::now(), Instant::now());
        let is_done = work(&mut self.world.stage.cx);
        if self.reads.count() > reads {
            times.cpu.push(cpu.elapsed().as_secs_f64() * 1e3);
            times.wall.push(wall.elapsed().as_secs_f64() * 1e3);
        }
        is_done
    }
}

/// Runs a task that is due; returns whether there was one.
fn run_task(cx: &HeadlessAppContext) -> bool {
    let dispatcher = cx.background_executor().dispatcher().clone();
    let dispatcher = dispatcher.as_test().expect("a scheduler for tests");
    dispatcher.tick(false)
}

fn echo_all(terminal: &mut TerminalWorld) {
    let times: Vec<f64> = (0..ECHOES).map(|_| terminal.echo()).collect();
    let times = &times[FIRST_ECHOES..];
    let name = "terminal: key to cell in the scene, without the wait for a frame";
    for (label, share, goal) in [("p50", 0.5, ECHO_P50), ("p99", 0.99, ECHO_P99)] {
        print(&format!("{name} {label}"), times, share, Goal::AtMost(goal));
    }
}

/// Types the same keys into the texts of both windows. The second one draws a flood of output meanwhile.
fn type_beside_flood(quiet: &mut TerminalWorld, flooded: &mut TerminalWorld) {
    quiet.world.focus_text();
    flooded.world.focus_text();
    let (mut without, mut beside) = (Vec::new(), Vec::new());
    let mut frames = FrameTimes::default();
    for (ix, line) in TYPED.lines().cycle().take(LINES).enumerate() {
        if ix == FIRST_LINES {
            frames = FrameTimes::default();
            without.clear();
            beside.clear();
        }
        for key in line.chars().chain(['\n']) {
            without.push(quiet.world.press(keystroke(key)));
            beside.push(flooded.world.press(keystroke(key)));
            for _ in 0..FRAMES {
                flooded.frame(&mut frames);
                quiet.frame(&mut FrameTimes::default());
            }
        }
    }
    assert!(frames.cpu.len() > beside.len(), "the terminal is flooded");
    let name = "terminal: frame of the window during a flood";
    for (label, share, goal) in [
        ("p50", 0.5, Goal::None),
        ("p99", 0.99, Goal::AtMost(FRAME_P99)),
    ] {
        print(&format!("{name}, CPU {label}"), &frames.cpu, share, goal);
        print(
            &format!("{name}, with waits {label}"),
            &frames.wall,
            share,
            Goal::None,
        );
    }
    for (name, keys) in [("an idle", &without), ("a flooded", &beside)] {
        let name = format!("editor: key to scene beside {name} terminal");
        print(&format!("{name} p50"), keys, 0.5, Goal::None);
        print(&format!("{name} p99"), keys, 0.99, Goal::AtMost(KEY_P99));
    }
    let figure = Figure {
        name: "editor: key to scene p50 beside a flooded terminal over an idle one",
        value: quantile(&beside, 0.5) / quantile(&without, 0.5),
        unit: "x",
        n: beside.len(),
    };
    figure.print(Goal::AtMost(OVER_QUIET));
}

fn print(name: &str, times: &[f64], share: f64, goal: Goal) {
    let figure = Figure {
        name,
        value: quantile(times, share),
        unit: "ms",
        n: times.len(),
    };
    figure.print(goal);
}
