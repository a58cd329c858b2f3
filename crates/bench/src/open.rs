//! Time from start to text on the screen, idle CPU use and memory, compared with a bare window and
//! GTK editors. `BURIN_BENCH_EARLIER` names an earlier build of `burin` as one more peer.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::corpus;
use crate::figure::{self, Figure};
use crate::interleave::{Dice, Pairs, quantile};
use crate::screen::{Area, OURS, Screen};

const STARTS: usize = 20;

struct Subject {
    name: &'static str,
    /// The folder of its settings and its state.
    home: PathBuf,
    program: PathBuf,
    arguments: Vec<String>,
    /// Number of visible lines of text at which the program counts as started.
    lines: usize,
    /// The area where these lines appear.
    area: Area,
}

/// The area where the text of GTK's windows appears without a window manager.
const MOUSEPAD: Area = Area {
    left: 100,
    top: 100,
    width: 520,
    height: 350,
};
const SCITE: Area = Area {
    left: 150,
    top: 130,
    width: 480,
    height: 420,
};

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    corpus::need("mousepad", "apt-get install mousepad")?;
    corpus::need("scite", "apt-get install scite")?;
    corpus::build_with("burin", &["--bins", "--examples"])?;
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = home.path().join("sample.rs");
    std::fs::write(&file, sample()?).map_err(|error| error.to_string())?;
    let file = file.display().to_string();
    let release = figure::target().join("release");
    let subject = |name: &'static str, program: PathBuf, arguments: &[&str], lines, area| Subject {
        name,
        home: home.path().join(name.replace(' ', "_")),
        program,
        arguments: arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect(),
        lines,
        area,
    };
    let burin = subject("Burin", release.join("burin"), &[&file], 12, OURS);
    let bare = subject("bare window", release.join("examples/bare"), &[], 1, OURS);
    let mousepad = subject(
        "mousepad",
        "mousepad".into(),
        &["--disable-server", &file],
        12,
        MOUSEPAD,
    );
    let scite = subject("SciTE", "scite".into(), &[&file], 12, SCITE);

    let screen = Screen::start()?;
    let mut subjects = vec![burin, bare, mousepad, scite];
    let mut goals = vec![Some(1.3), None, None];
    if let Some(program) = std::env::var_os("BURIN_BENCH_EARLIER") {
        subjects.push(subject("earlier build", program.into(), &[&file], 12, OURS));
        goals.push(Some(1.05));
    }
    for subject in &subjects {
        std::fs::create_dir(&subject.home).map_err(|error| error.to_string())?;
    }
    let times = starts(&screen, &subjects)?;
    let mut figures = Vec::new();
    for (goal, subject) in goals.into_iter().zip(1..) {
        let mut pairs = Pairs::default();
        for round in &times {
            pairs.push(round[0], round[subject]);
        }
        let peer = subjects[subject].name;
        figures.push(Figure::against("start to text", peer, &pairs, "ms", goal));
    }
    for subject in &subjects {
        figures.extend(at_rest(&screen, subject)?);
    }
    Ok(figures)
}

/// Returns the start times of every subject by round, taken in random order within a round, after
/// one uncounted round.
fn starts(screen: &Screen, subjects: &[Subject]) -> Result<Vec<Vec<f64>>, String> {
    let mut dice = Dice::new(5);
    let mut times = Vec::with_capacity(STARTS);
    for round in 0..=STARTS {
        let mut order: Vec<usize> = (0..subjects.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, dice.below(last + 1));
        }
        let mut of_round = vec![f64::NAN; subjects.len()];
        for ix in order {
            let subject = &subjects[ix];
            of_round[ix] =
                start(screen, subject).map_err(|error| format!("{}: {error}", subject.name))?;
        }
        if round > 0 {
            times.push(of_round);
        }
    }
    Ok(times)
}

fn start(screen: &Screen, subject: &Subject) -> Result<f64, String> {
    let begin = Instant::now();
    let arguments: Vec<&str> = subject.arguments.iter().map(String::as_str).collect();
    let program = screen.run(&subject.program, &arguments, &subject.home)?;
    let time = screen.wait_for_text(subject.area, subject.lines, begin);
    drop(program);
    // The next start must not see the window of this one.
    screen.wait_for_nothing(subject.area)?;
    time
}

/// Measures the idle share of a core, and the memory, with the 100 KB file open.
fn at_rest(screen: &Screen, subject: &Subject) -> Result<[Figure; 2], String> {
    let arguments: Vec<&str> = subject.arguments.iter().map(String::as_str).collect();
    let program = screen.run(&subject.program, &arguments, &subject.home)?;
    screen.wait_for_text(subject.area, subject.lines, Instant::now())?;
    std::thread::sleep(Duration::from_secs(4));
    let shares: Result<Vec<f64>, String> = (0..3)
        .map(|_| program.cpu_percent(Duration::from_secs(4)))
        .collect();
    let share = quantile(shares?.into_iter(), 0.5);
    let is_ours = subject.name == "Burin";
    let idle = format!("idle CPU of {}", subject.name);
    let memory = format!("PSS of {} with 100 KB", subject.name);
    Ok([
        Figure::alone(idle, share, "% of a core", 3, is_ours.then_some(0.5)),
        Figure::alone(memory, program.pss()?, "MB", 1, None),
    ])
}

fn sample() -> Result<String, String> {
    let mut text = corpus::rust_file(4_000)?;
    text.truncate(text.floor_char_boundary(100 << 10));
    // The top is dense enough that every program shows a dozen lines at once.
    let head = "    let value = compute(first, second, third, fourth, fifth, sixth);\n".repeat(60);
    Ok(head + &text)
}
