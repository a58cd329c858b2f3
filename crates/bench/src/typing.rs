//! Key event to scene, in process: runs benches that have a window without a screen and real shaping, and judges what
//! they print.
//!
//! `editor`: the editor in two very long files, alone, and while this process indexes a large folder (`BURIN_CORPUS`) as
//! the window does. `window`: a whole window in real files of several sizes and languages, meanwhile. `BURIN_BENCH_PARTS`
//! selects one.

mod reindexing;

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::corpus;
use crate::figure::Figure;
use crate::is_wanted;
use crate::samples::samples;
use reindexing::Reindexing;

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let root = corpus::root()?;
    let mut figures = Vec::new();
    if is_wanted("editor") {
        figures.extend(of_window("editor", "typing", &[])?);
    }
    let indexing = Reindexing::start(&root)?;
    if is_wanted("editor") {
        let beside = of_window("editor", "typing", &[])?.into_iter();
        figures.extend(beside.map(|figure| figure.under("while a folder is indexed")));
    }
    if is_wanted("window") {
        figures.extend(whole_window()?);
    }
    let files = indexing.stop()?;
    let name = "files indexed meanwhile";
    figures.push(Figure::alone(name, files as f64, "files", 1, None));
    Ok(figures)
}

/// Measures a whole window in files of several sizes and languages.
fn whole_window() -> Result<Vec<Figure>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut paths = Vec::new();
    for (ix, sample) in samples()?.into_iter().enumerate() {
        let path = folder.path().join(format!("{ix}.json"));
        let json = json!({
            "language": sample.language,
            "extension": sample.extension,
            "label": sample.label,
            "text": sample.text,
            "row": sample.row,
            "typed": sample.typed,
        });
        std::fs::write(&path, json.to_string())
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        paths.push(path.display().to_string());
    }
    let mut arguments = vec!["typing"];
    arguments.extend(paths.iter().map(String::as_str));
    of_window("workbench", "window", &arguments)
}

/// The figures of a bench of a crate that draws.
pub(crate) fn of_window(
    package: &str,
    bench: &str,
    arguments: &[&str],
) -> Result<Vec<Figure>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["bench", "--quiet", "--package", package, "--bench", bench])
        .arg("--")
        .args(arguments)
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
        "x" => "x",
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
