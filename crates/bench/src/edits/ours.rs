//! Our own engine, in process.

use std::time::Instant;

use cpu_time::ThreadTime;
use patch::anchor::line_hash;
use patch::format::{EditFormat, parse};
use patch::{FileText, StaleGuard, plan};

use super::truth::lines;

/// The result of an edit.
pub(super) struct Answer {
    /// The new text, or the reason that the edit was refused.
    pub(super) text: Result<String, String>,
    pub(super) millis: f64,
    /// CPU time of the thread, in milliseconds.
    pub(super) cpu_millis: f64,
}

/// Parses, plans and applies an edit as for a model's reply: all hunks apply, or none.
pub(super) fn apply(format: EditFormat, path: &str, old: &str, edits: &str) -> Answer {
    let (start, cpu) = (Instant::now(), ThreadTime::now());
    let text = applied(format, path, old, edits);
    let (cpu, wall) = (cpu.elapsed(), start.elapsed());
    Answer {
        text,
        millis: wall.as_secs_f64() * 1_000.0,
        cpu_millis: cpu.as_secs_f64() * 1_000.0,
    }
}

fn applied(format: EditFormat, path: &str, old: &str, edits: &str) -> Result<String, String> {
    let parsed = parse(format, edits);
    if parsed.has_losses() {
        let problems: Vec<_> = parsed.problems.iter().map(ToString::to_string).collect();
        return Err(problems.join("\n"));
    }
    let mut text = old.to_owned();
    for file in &parsed.files {
        if file.path != path {
            return Err(format!("the edit is about {}, not {path}", file.path));
        }
        let planned = plan(&FileText::new(&text), &file.change, StaleGuard::Off);
        if !planned.is_complete() {
            let reports: Vec<_> = planned
                .hunks
                .iter()
                .map(|hunk| format!("{hunk:#?}"))
                .collect();
            return Err(reports.join("\n"));
        }
        text = planned.apply(&text);
    }
    Ok(text)
}

/// The hash of every line of a text, by row.
pub(super) fn hashes(text: &str) -> impl Fn(usize) -> String + '_ {
    let lines = lines(text);
    move |row| line_hash(lines.get(row).copied().unwrap_or_default())
}
