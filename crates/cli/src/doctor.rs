//! Reports the machine's capabilities, as lines or as JSON.

use std::process::ExitCode;

use host::{Dirs, Fact, FactVerdict};
use serde_json::{Value, json};

use crate::{Streams, write_error};

/// Prints each fact about the machine with a verdict and advice. The exit code is a failure only if
/// at least one fact has the verdict `Bad`.
pub(crate) fn run(
    dirs: &Dirs,
    as_json: bool,
    streams: &mut Streams<'_>,
) -> Result<ExitCode, String> {
    let facts = host::facts(dirs);
    let text = if as_json {
        format!("{:#}\n", Value::Array(facts.iter().map(to_json).collect()))
    } else {
        facts.iter().map(to_lines).collect()
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
