//! Key event to scene, in process: runs benches that have a window without a screen and real shaping, and judges what
//! they print. Typing is measured twice: alone, and while this process indexes a large folder (`BURIN_CORPUS`) as the
//! window does.

use std::path::Path;
use std::process::{Command, Stdio};

use ::index::{Index, IndexOptions, IndexPhase};
use serde_json::Value;
use tempfile::TempDir;

use crate::corpus;
use crate::figure::Figure;
use crate::index::place;

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let root = corpus::root()?;
    let mut figures = of_window("editor", "typing")?;
    match while_indexing(&root) {
        Ok(more) => figures.extend(more),
        // What was measured before is worth telling all the same.
        Err(why) => eprintln!("not measured while a folder is indexed: {why}"),
    }
    Ok(figures)
}

fn while_indexing(root: &Path) -> Result<Vec<Figure>, String> {
    let cache = TempDir::new().map_err(|error| error.to_string())?;
    let index = Index::open(place(root)?, IndexOptions::kept_in(&place(cache.path())?));
    let figures = of_window("editor", "typing")?;
    let status = index.status();
    let name = root.display();
    if status.is_ready() {
        return Err(format!(
            "{name} was indexed before the keys were typed; set BURIN_CORPUS to a larger folder"
        ));
    }
    if let IndexPhase::Off(why) = &status.phase {
        return Err(format!("{name} cannot be indexed: {why}"));
    }
    if status.done == 0 {
        return Err(format!("nothing of {name} was indexed meanwhile"));
    }
    let figures = figures.into_iter();
    let mut figures: Vec<_> = figures
        .map(|figure| figure.under("while a folder is indexed"))
        .collect();
    let name = "files indexed meanwhile";
    figures.push(Figure::alone(name, status.done as f64, "files", 1, None));
    Ok(figures)
}

/// The figures of a bench of a crate that draws.
pub(crate) fn of_window(package: &str, bench: &str) -> Result<Vec<Figure>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["bench", "--quiet", "--package", package, "--bench", bench])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("the bench {bench} of {package} failed"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<_> = text.lines().filter_map(figure).collect();
    if figures.is_empty() {
        let reason = format!("the bench {bench} of {package} printed no figure: {text}");
        return Err(reason);
    }
    Ok(figures)
}

fn figure(line: &str) -> Option<Figure> {
    let json: Value = serde_json::from_str(line).ok()?;
    let count = usize::try_from(json["n"].as_u64()?).ok()?;
    let unit = match json["unit"].as_str()? {
        "ms" => "ms",
        "%" => "%",
        "keys" => "keys",
        _ => return None,
    };
    let figure = Figure::alone(
        json["name"].as_str()?,
        json["value"].as_f64()?,
        unit,
        count,
        json["goal"].as_f64(),
    );
    Some(match json["least"].as_f64() {
        Some(least) => figure.at_least(least),
        None => figure,
    })
}
