//! What the machine offers, as lines or as JSON.

use std::process::ExitCode;

use host::{Dirs, Fact, Verdict};
use serde_json::{Value, json};

use crate::{Streams, unwritten};

/// Fails when something does not work, not when it only could be better.
pub(crate) fn run(
    dirs: &Dirs,
    as_json: bool,
    streams: &mut Streams<'_>,
) -> Result<ExitCode, String> {
    let facts = host::facts(dirs);
    let text = match as_json {
        true => format!("{:#}\n", Value::Array(facts.iter().map(to_json).collect())),
        false => facts.iter().map(to_lines).collect(),
    };
    streams
        .output
        .write_all(text.as_bytes())
        .map_err(unwritten)?;
    let is_bad = |fact: &Fact| matches!(fact.verdict, Verdict::Bad(_));
    Ok(match facts.iter().any(is_bad) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn to_json(fact: &Fact) -> Value {
    let (verdict, advice) = parts(&fact.verdict);
    json!({ "name": fact.name, "value": fact.value, "verdict": verdict, "advice": advice })
}

fn to_lines(fact: &Fact) -> String {
    let (verdict, advice) = parts(&fact.verdict);
    let mut lines = format!("{verdict:<5} {:<18} {}\n", fact.name, fact.value);
    if let Some(advice) = advice {
        lines.push_str(&format!("{:<24} {advice}\n", ""));
    }
    lines
}

fn parts(verdict: &Verdict) -> (&'static str, Option<&str>) {
    match verdict {
        Verdict::Good => ("good", None),
        Verdict::Warn(advice) => ("warn", Some(advice)),
        Verdict::Bad(advice) => ("bad", Some(advice)),
    }
}
