//! From start to text on the screen, idle cost and memory, beside a bare window and GTK editors.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::corpus;
use crate::figure::{self, Figure};
use crate::interleave::{Pairs, quantile};
use crate::screen::Screen;

const STARTS: usize = 20;

struct Subject {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// Lines of text that mean it is there.
    lines: usize,
}

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    corpus::need("mousepad", "apt-get install mousepad")?;
    corpus::need("scite", "apt-get install scite")?;
    corpus::build_with("burin", &["--bins", "--examples"])?;
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = home.path().join("sample.rs");
    std::fs::write(&file, sample()?).map_err(|error| error.to_string())?;
    let file = file.display().to_string();
    let release = figure::target().join("release");
    let subject = |name, program: PathBuf, arguments: &[&str], lines| Subject {
        name,
        program,
        arguments: arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect(),
        lines,
    };
    let burin = subject("Burin", release.join("burin"), &[&file], 12);
    let bare = subject("bare window", release.join("examples/bare"), &[], 1);
    let mousepad = subject(
        "mousepad",
        "mousepad".into(),
        &["--disable-server", &file],
        12,
    );
    let scite = subject("SciTE", "scite".into(), &[&file], 12);

    let screen = Screen::start()?;
    let mut figures = Vec::new();
    for (peer, goal) in [(&bare, Some(1.3)), (&mousepad, None), (&scite, None)] {
        let mut failure = None;
        let mut time = |subject: &Subject| {
            start(&screen, subject, home.path()).unwrap_or_else(|error| {
                failure = Some(format!("{}: {error}", subject.name));
                f64::NAN
            })
        };
        let mut pairs = Pairs::default();
        time(&burin);
        time(peer);
        for pair in 0..STARTS {
            if pair % 2 == 0 {
                let ours = time(&burin);
                pairs.push(ours, time(peer));
            } else {
                let peers = time(peer);
                pairs.push(time(&burin), peers);
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        figures.push(Figure::against(
            "start to text",
            peer.name,
            &pairs,
            "ms",
            goal,
        ));
    }
    for subject in [&burin, &bare, &mousepad, &scite] {
        figures.extend(at_rest(&screen, subject, home.path())?);
    }
    Ok(figures)
}

fn start(screen: &Screen, subject: &Subject, home: &Path) -> Result<f64, String> {
    let begin = Instant::now();
    let arguments: Vec<&str> = subject.arguments.iter().map(String::as_str).collect();
    let program = screen.run(&subject.program, &arguments, home)?;
    let time = screen.wait_for_text(subject.lines, begin);
    drop(program);
    // The next start must not find this one's window.
    while screen
        .wait_for_text(1, Instant::now() - Duration::from_secs(19))
        .is_ok()
    {}
    time
}

/// Idle share of a core and memory, with the 100 KB file open.
fn at_rest(screen: &Screen, subject: &Subject, home: &Path) -> Result<[Figure; 2], String> {
    let arguments: Vec<&str> = subject.arguments.iter().map(String::as_str).collect();
    let program = screen.run(&subject.program, &arguments, home)?;
    screen.wait_for_text(subject.lines, Instant::now())?;
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
    // Dense enough at the top that every program shows a dozen lines at once.
    let head = "    let value = compute(first, second, third, fourth, fifth, sixth);\n".repeat(60);
    Ok(head + &text)
}
