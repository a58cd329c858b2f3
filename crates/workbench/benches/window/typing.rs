//! Key to scene, and the CPU time of all threads for each key: in a whole window with Tab and without, and in the editor
//! alone. The same keys go into all three, a few at a time in turn.
//!
//! CPU times are those of the process at eight keys a second, without what the same window takes in the same time without
//! keys, in which the agents and the index go on.

use std::path::Path;
use std::time::Duration;

use cpu_time::ProcessTime;
use gpui_kit::Keystroke;
use workbench::target::LineColumn;

use crate::alone::{Alone, visible_rows};
use crate::printed::{Figure, Goal, quantile};
use crate::project_folder::EditedFile;
use crate::stage::{Pace, keystroke};
use crate::world::{Models, Surroundings, Tab, World};

/// Numbers of keys of a round: those at real pace, and those without pauses, for which only the time up to the scene is
/// measured.
const PACED: usize = 16;
const FREE: usize = 50;
const ROUNDS: usize = 4;
/// Number of unmeasured keys at the start, which shape words that are not cached yet.
const FIRST: usize = 40;
/// Time between keys: eight a second.
const BETWEEN: Duration = Duration::from_millis(125);
/// Time after which everything that a key started has ended.
const REST: Duration = Duration::from_millis(1_000);
/// Time over which an idle window is measured.
const IDLE: Duration = Duration::from_secs(3);

/// Goals: time up to the scene in milliseconds, its ratio to that of the editor alone, the ratio of the CPU time to it, and
/// the ratio of the longest file's times to those of the shortest.
const P99: f64 = 2.0;
const OVER_ALONE: f64 = 1.4;
const CPU_OVER_SCENE: f64 = 3.0;
const LONGEST_OVER_SHORTEST: f64 = 1.2;
/// Goal: share of one core while nothing happens, in percent.
const IDLE_CPU: f64 = 0.5;

/// A char and the index of the line that it belongs to.
type TypedKey = (usize, char);

/// Something in which keys are pressed.
enum Subject {
    Window(Box<World>),
    Editor(Box<Alone>),
}

/// Measurements of one subject.
#[derive(Default)]
struct Times {
    /// Milliseconds up to the scene.
    scenes: Vec<f64>,
    /// Milliseconds of all threads, and the keys and the time in which they were spent.
    cpu: f64,
    keys: usize,
    time: Duration,
    /// Milliseconds of all threads without keys, and the time in which they were spent.
    still_cpu: f64,
    still_time: Duration,
    /// Share of a core in an idle window, in percent.
    idle: f64,
}

/// A file with the lines to type, as `cargo xtask bench type` writes them.
struct Sample {
    language: String,
    label: String,
    name: String,
    text: String,
    row: u32,
    typed: Vec<String>,
}

/// Measures all files; those of a language are in a row, the shortest first.
pub(crate) fn run(files: &[&Path]) {
    let samples: Vec<Sample> = files.iter().map(|path| Sample::read(path)).collect();
    let mut shortest: Option<(&str, [Times; 3])> = None;
    for (ix, sample) in samples.iter().enumerate() {
        let times = measure(sample);
        print_all(&sample.label, &times);
        let is_last = samples
            .get(ix + 1)
            .is_none_or(|next| next.language != sample.language);
        match shortest.take() {
            Some((language, first)) if language == sample.language => {
                if is_last {
                    print_growth(language, &first, &times);
                } else {
                    shortest = Some((language, first));
                }
            }
            _ => shortest = Some((&sample.language, times)),
        }
    }
}

const NAMES: [&str; 3] = ["with Tab", "without Tab", "editor alone"];

fn measure(sample: &Sample) -> [Times; 3] {
    let file = EditedFile {
        name: &sample.name,
        text: &sample.text,
        place: sample.place(),
    };
    let mut with = World::open(Models::Known, Tab::On, &file);
    let without = World::open(Models::Known, Tab::Off, &file);
    let editor = with.editor();
    let rows = with.stage.cx.update(|cx| visible_rows(&editor, cx));
    let alone = Alone::open(&file, rows);
    let mut subjects = [
        Subject::Window(Box::new(with)),
        Subject::Window(Box::new(without)),
        Subject::Editor(Box::new(alone)),
    ];
    let keys = sample.keys();
    let mut times: [Times; 3] = Default::default();
    for subject in &mut subjects {
        subject.expect(sample, 0);
        // The row below the one behind which typing begins.
        subject.press('\n');
        subject.type_keys(sample, &keys[..FIRST], Pace::Free, &mut Vec::new());
    }
    for round in 0..ROUNDS {
        let start = FIRST + round * (PACED + FREE);
        let (paced, free) = keys[start..start + PACED + FREE].split_at(PACED);
        // Another order in every round.
        for ix in (0..3).map(|ix| (ix + round) % 3) {
            subjects[ix].round(sample, paced, free, &mut times[ix]);
        }
    }
    for (subject, times) in subjects.iter_mut().zip(&mut times) {
        times.idle = subject.idle();
    }
    let texts: Vec<String> = subjects.iter_mut().map(Subject::text).collect();
    assert!(
        texts.iter().all(|text| *text == texts[0]),
        "all hold the same text"
    );
    times
}

impl Subject {
    fn press(&mut self, key: char) -> f64 {
        let keystroke: Keystroke = keystroke(key);
        match self {
            Self::Window(world) => world.press(keystroke),
            Self::Editor(alone) => alone.press(keystroke),
        }
    }

    fn pass(&mut self, time: Duration, pace: Pace) {
        match self {
            Self::Window(world) => world.pass(time, pace),
            Self::Editor(alone) => alone.pass(time, pace),
        }
    }

    fn text(&mut self) -> String {
        match self {
            Self::Window(world) => world.text(),
            Self::Editor(alone) => alone.text(),
        }
    }

    /// Sets the line that the model knows.
    fn expect(&self, sample: &Sample, line: usize) {
        if let Self::Window(world) = self
            && let Some(model) = &world.model
        {
            let line_at = |ix: usize| &sample.typed[ix % sample.typed.len()];
            model.expect(line_at(line), line_at(line + 1));
        }
    }

    fn type_keys(&mut self, sample: &Sample, keys: &[TypedKey], pace: Pace, scenes: &mut Vec<f64>) {
        for (line, key) in keys {
            self.expect(sample, *line);
            scenes.push(self.press(*key));
            self.pass(BETWEEN, pace);
        }
    }

    fn settle(&mut self) {
        self.pass(REST, Pace::Real);
        if let Self::Window(world) = self {
            world.settle_index();
        }
    }

    /// Types some keys at their pace, rests, and types some at once.
    fn round(&mut self, sample: &Sample, paced: &[TypedKey], free: &[TypedKey], times: &mut Times) {
        let start = ProcessTime::now();
        self.type_keys(sample, paced, Pace::Real, &mut times.scenes);
        self.settle();
        times.cpu += start.elapsed().as_secs_f64() * 1e3;
        times.keys += paced.len();
        times.time += BETWEEN * paced.len() as u32 + REST;
        let start = ProcessTime::now();
        self.pass(REST, Pace::Real);
        times.still_cpu += start.elapsed().as_secs_f64() * 1e3;
        times.still_time += REST;
        self.type_keys(sample, free, Pace::Free, &mut times.scenes);
        self.settle();
    }

    /// Returns the share of a core that is used while nothing happens, in percent.
    fn idle(&mut self) -> f64 {
        if let Self::Window(world) = self {
            world.surroundings = Surroundings::Idle;
        }
        self.settle();
        let start = ProcessTime::now();
        self.pass(IDLE, Pace::Real);
        start.elapsed().as_secs_f64() * 100.0 / IDLE.as_secs_f64()
    }
}

impl Times {
    fn scene(&self, share: f64) -> f64 {
        quantile(&self.scenes, share)
    }

    /// Returns the CPU time of all threads for a key, in milliseconds.
    fn cpu_per_key(&self) -> f64 {
        let still = self.still_cpu / self.still_time.as_secs_f64() * self.time.as_secs_f64();
        (self.cpu - still) / self.keys as f64
    }

    /// Returns the share of a core that is used without keys, in percent.
    fn still(&self) -> f64 {
        self.still_cpu / 10.0 / self.still_time.as_secs_f64()
    }
}

fn print_all(label: &str, times: &[Times; 3]) {
    let alone = times[2].scene(0.5);
    for (name, times) in NAMES.into_iter().zip(times) {
        let print = |what: &str, value: f64, unit: &str, goal: Goal| {
            let figure = Figure {
                name: &format!("{what}, {name}, {label}"),
                value,
                unit,
                n: times.scenes.len(),
            };
            figure.print(goal);
        };
        let (p50, cpu) = (times.scene(0.5), times.cpu_per_key());
        let goals = if name == NAMES[2] {
            [Goal::None; 3]
        } else {
            [P99, OVER_ALONE, CPU_OVER_SCENE].map(Goal::AtMost)
        };
        print("key to scene p50", p50, "ms", Goal::None);
        print("key to scene p99", times.scene(0.99), "ms", goals[0]);
        print("CPU of all threads per key", cpu, "ms", Goal::None);
        if name != NAMES[2] {
            print(
                "key to scene p50 over the editor alone",
                p50 / alone,
                "x",
                goals[1],
            );
        }
        print(
            "CPU of all threads over key to scene",
            cpu / p50,
            "x",
            goals[2],
        );
        print(
            "CPU without keys, of a core",
            times.still(),
            "%",
            Goal::None,
        );
        print(
            "CPU of the idle window afterwards, of a core",
            times.idle,
            "%",
            Goal::AtMost(IDLE_CPU),
        );
    }
}

/// Prints how the times of the longest file of a language compare with those of the shortest.
fn print_growth(language: &str, shortest: &[Times; 3], longest: &[Times; 3]) {
    for ((name, short), long) in NAMES.into_iter().zip(shortest).zip(longest) {
        let goal = if name == NAMES[2] {
            Goal::None
        } else {
            Goal::AtMost(LONGEST_OVER_SHORTEST)
        };
        for (what, ratio) in [
            ("key to scene p50", long.scene(0.5) / short.scene(0.5)),
            (
                "CPU of all threads per key",
                long.cpu_per_key() / short.cpu_per_key(),
            ),
        ] {
            let figure = Figure {
                name: &format!("{what}, longest over shortest file, {name}, {language}"),
                value: ratio,
                unit: "x",
                n: long.scenes.len(),
            };
            figure.print(goal);
        }
    }
}

impl Sample {
    fn read(path: &Path) -> Self {
        let json = std::fs::read_to_string(path).expect("a file of cargo xtask bench type");
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let text = |key: &str| json[key].as_str().expect("a text").to_owned();
        let typed = json["typed"].as_array().expect("lines").iter();
        Self {
            language: text("language"),
            label: text("label"),
            name: format!("edited.{}", text("extension")),
            text: text("text"),
            row: json["row"].as_u64().expect("a row") as u32,
            typed: typed
                .filter_map(|line| line.as_str().map(str::to_owned))
                .collect(),
        }
    }

    /// Returns the end of the row behind which lines are typed.
    fn place(&self) -> LineColumn {
        let row = self.text.lines().nth(self.row as usize);
        let chars = row.map_or(0, |row| row.chars().count());
        LineColumn::new(self.row + 1, chars as u32 + 1)
    }

    /// Returns all keys, each with the index of its line.
    fn keys(&self) -> Vec<TypedKey> {
        let lines = self.typed.iter().cycle().enumerate();
        let keys = lines.flat_map(|(ix, line)| line.chars().chain(['\n']).map(move |ch| (ix, ch)));
        keys.take(FIRST + ROUNDS * (PACED + FREE)).collect()
    }
}
