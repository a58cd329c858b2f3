//! Reports the machine's capabilities: as lines, as JSON, or as the text of an issue.

use std::process::ExitCode;
use std::sync::Arc;

use crash_report::{CrashNotes, ProgramVersion, Redaction, issue_report};
use host::{Dirs, Fact, FactVerdict, RealFiles};
use serde_json::{Value, json};

use crate::{Streams, write_error};

/// The form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DoctorForm {
    /// A line for each fact, with advice.
    Lines,
    /// An array of facts.
    Json,
    /// Markdown with the latest crash, redacted, for an issue.
    Issue,
}

/// Prints each fact about the machine with a verdict and advice. The exit code is a failure only if
/// at least one fact has the verdict `Bad`.
pub(crate) fn run(
    dirs: &Dirs,
    form: DoctorForm,
    streams: &mut Streams<'_>,
) -> Result<ExitCode, String> {
    let facts = host::facts(dirs);
    let text = match form {
        DoctorForm::Lines => facts.iter().map(to_lines).collect(),
        DoctorForm::Json => format!("{:#}\n", Value::Array(facts.iter().map(to_json).collect())),
        DoctorForm::Issue => issue(dirs, &facts),
    };
    streams
        .output
        .write_all(text.as_bytes())
        .map_err(write_error)?;
    let is_bad = |fact: &Fact| matches!(fact.verdict, FactVerdict::Bad(_));
    Ok(if facts.iter().any(is_bad) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Returns the text of an issue.
fn issue(dirs: &Dirs, facts: &[Fact]) -> String {
    let program = ProgramVersion {
        name: "burin-agent",
        version: env!("CARGO_PKG_VERSION"),
    };
    let notes = CrashNotes::new(Arc::new(RealFiles), dirs.crashes());
    let crash = notes.newest();
    issue_report(&program, facts, crash.as_ref(), &Redaction::of_this_user())
}

fn to_json(fact: &Fact) -> Value {
    let (verdict, advice) = verdict_parts(&fact.verdict);
    json!({ "name": fact.name, "value": fact.value, "verdict": verdict, "advice": advice })
}

fn to_lines(fact: &Fact) -> String {
    let (verdict, advice) = verdict_parts(&fact.verdict);
    let mut lines = format!("{verdict:<5} {:<18} {}\n", fact.name, fact.value);
    if let Some(advice) = advice {
        lines.push_str(&format!("{:<24} {advice}\n", ""));
    }
    lines
}

/// Returns the name of a verdict, and its advice unless it is good.
fn verdict_parts(verdict: &FactVerdict) -> (&'static str, Option<&str>) {
    match verdict {
        FactVerdict::Good => ("good", None),
        FactVerdict::Warn(advice) => ("warn", Some(advice)),
        FactVerdict::Bad(advice) => ("bad", Some(advice)),
    }
}
