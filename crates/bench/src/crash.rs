//! Measures how much typed text is lost by `kill -9`.
//!
//! The real program runs in a virtual display and receives fifteen real key events a second, SIGKILL
//! at a random moment, and then recovers from the journal. The loss is the age, at the kill, of the
//! oldest key whose char was not recovered; 0 if all were.

use std::path::Path;
use std::time::{Duration, Instant};

use base::AbsPath;
use host::RealFiles;
use text::Timestamp;

use crate::corpus;
use crate::figure::{self, Figure};
use crate::interleave::{Dice, quantile};
use crate::screen::{OURS, Screen};

const BETWEEN_KEYS: Duration = Duration::from_millis(67);
const LETTERS: &[u8] = b"abcdefghij";

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let trials: usize = match std::env::var("BURIN_BENCH_TRIALS") {
        Ok(count) => count
            .parse()
            .map_err(|_| "BURIN_BENCH_TRIALS is not a number".to_owned())?,
        Err(_) => 200,
    };
    corpus::build("burin")?;
    let program = figure::target().join("release/burin");
    let screen = Screen::start()?;
    let mut dice = Dice::new(11);
    let mut losses = Vec::new();
    let mut lost_chars = Vec::new();
    for _ in 0..trials {
        let keys = 12 + dice.below(30);
        let delay = Duration::from_millis(dice.below(67) as u64);
        let (loss, chars) = trial(&screen, &program, keys, delay)?;
        losses.push(loss);
        lost_chars.push(chars);
    }
    let share = |values: &[f64], share| quantile(values.iter().copied(), share);
    Ok(vec![
        Figure::alone(
            "typing lost to kill -9, median",
            share(&losses, 0.5),
            "ms",
            trials,
            Some(100.0),
        ),
        Figure::alone(
            "typing lost to kill -9, most",
            share(&losses, 1.0),
            "ms",
            trials,
            Some(250.0),
        ),
        Figure::alone(
            "chars lost to kill -9, median",
            share(&lost_chars, 0.5),
            "chars",
            trials,
            None,
        ),
        Figure::alone(
            "chars lost to kill -9, most",
            share(&lost_chars, 1.0),
            "chars",
            trials,
            None,
        ),
    ])
}

fn trial(
    screen: &Screen,
    program: &Path,
    keys: usize,
    delay: Duration,
) -> Result<(f64, f64), String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = home.path().join("typed.txt");
    let original = "some words that stand here already\n".repeat(40);
    std::fs::write(&file, &original).map_err(|error| error.to_string())?;
    let running = screen.run(program, &[&file.display().to_string()], home.path())?;
    screen.wait_for_text(OURS, 12, Instant::now())?;
    screen.focus_top_window()?;
    std::thread::sleep(Duration::from_millis(300));

    let mut sent = Vec::new();
    for key in 0..keys {
        sent.push(Instant::now());
        screen.press(LETTERS[key % LETTERS.len()])?;
        if key + 1 < keys {
            std::thread::sleep(BETWEEN_KEYS);
        }
    }
    std::thread::sleep(delay);
    let killed = Instant::now();
    drop(running);

    let journals = AbsPath::new(home.path().join("state/journals")).ok_or("no absolute path")?;
    let recovery = project::recover(&RealFiles, &journals, Timestamp(0));
    if let Some(problem) = recovery.problems.first() {
        return Err(format!("recovery complains: {problem}"));
    }
    let text = match recovery.documents.first() {
        Some(recovered) => recovered.document.snapshot().to_string(),
        None => original.clone(),
    };
    let expected: String = LETTERS
        .iter()
        .cycle()
        .take(keys)
        .map(|letter| char::from(*letter))
        .collect();
    let kept = text.len().saturating_sub(original.len()).min(keys);
    if text != format!("{}{original}", &expected[..kept]) {
        return Err(format!("another text came back: {:?}", text.lines().next()));
    }
    let loss = sent
        .get(kept)
        .map_or(Duration::ZERO, |first| killed - *first);
    Ok((loss.as_secs_f64() * 1_000.0, (keys - kept) as f64))
}
