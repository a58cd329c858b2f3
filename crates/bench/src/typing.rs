//! Key event to scene, in process: runs the editor's own bench, which has a window without a screen
//! and real shaping, and judges what it prints.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::figure::Figure;

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "bench",
            "--quiet",
            "--package",
            "editor",
            "--bench",
            "typing",
        ])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err("the editor's bench failed".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<_> = text.lines().filter_map(figure).collect();
    if figures.is_empty() {
        return Err(format!("the editor's bench printed no figure: {text}"));
    }
    Ok(figures)
}

fn figure(line: &str) -> Option<Figure> {
    let json: Value = serde_json::from_str(line).ok()?;
    let count = usize::try_from(json["n"].as_u64()?).ok()?;
    Some(Figure::alone(
        json["name"].as_str()?,
        json["value"].as_f64()?,
        "ms",
        count,
        json["goal"].as_f64(),
    ))
}
