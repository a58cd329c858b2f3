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

#[cfg(test)]
mod tests {
    use host::{Files as _, TempFolder};

    use super::*;

    const NOTE: &[u8] = b"burin crash note 1\nprogram: burin 0.0.9\nbuild: unknown\ntime: 5\n\
                          thread: main\nplace: a.rs:3:5\nmessage:\n  cannot read \"my diary\"\n";

    #[test]
    fn the_text_of_an_issue_has_the_machine_and_the_crash() {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(folder.path());
        let facts = [Fact {
            name: "git",
            value: "2.39.5".to_owned(),
            verdict: FactVerdict::Good,
        }];
        let program = concat!("- burin-agent: ", env!("CARGO_PKG_VERSION"), "\n");
        let text = issue(&dirs, &facts);
        assert!(text.contains(program) && text.contains("- git: 2.39.5\n"));
        assert!(!text.contains("place:"), "{text}");
        let crashes = dirs.crashes();
        RealFiles.create_folder(&crashes).expect("a folder");
        let note = crashes.join("0000000000005-7-0.crash");
        RealFiles.write_private(&note, NOTE).expect("written");
        let text = issue(&dirs, &facts);
        assert!(text.contains("place: a.rs:3:5\n"), "{text}");
        assert!(!text.contains("diary"), "{text}");
    }
}
