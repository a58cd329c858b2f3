//! Output of npm, yarn, pip and docker while they fetch and build dependencies.

use std::collections::HashSet;

use super::log::LogReducer;

/// Prefixes of pip's progress lines.
const PIP: [&str; 12] = [
    "Collecting ",
    "  Downloading ",
    "  Using cached ",
    "Requirement already satisfied",
    "  Preparing metadata",
    "  Getting requirements",
    "  Installing build",
    "Building wheel",
    "  Building wheel",
    "  Created wheel",
    "  Stored in directory",
    "Looking in ",
];

/// Marks the output of package managers: keeps errors and the outcome, and drops downloads and
/// requests.
pub(crate) fn mark(log: &mut LogReducer<'_>) {
    let mut seen = HashSet::new();
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if PIP.iter().any(|word| line.starts_with(word)) || line.contains('━') {
            log.drop_line(ix, "lines of downloads");
        } else if line.starts_with("npm http ")
            || line.starts_with("npm silly ")
            || line.starts_with("npm verb ")
        {
            log.drop_line(ix, "requests");
        } else if let Some(text) = npm_text(line) {
            let text = text.trim();
            let is_noise = text.is_empty()
                || text.starts_with("A complete log of this run")
                || text.starts_with("For a full report");
            if is_noise || !seen.insert(text) {
                log.drop_line(ix, "");
            } else {
                log.keep_line(ix);
            }
        } else if line.contains("(from versions: ") {
            log.replace_line(ix, versions(line));
        } else if line.starts_with("ERROR")
            || line.starts_with("Successfully ")
            || line.starts_with("added ")
            || line.contains(" vulnerabilit")
        {
            log.keep_line(ix);
        } else if line.starts_with('#') {
            mark_docker(log, ix);
        }
    }
}

/// Returns the text of an npm error or warning, after its prefix; `None` for other lines.
fn npm_text(line: &str) -> Option<&str> {
    let prefixes = ["npm error", "npm ERR!", "npm warn", "npm WARN"];
    prefixes.iter().find_map(|prefix| line.strip_prefix(prefix))
}

/// Shortens a list of versions to the last ones.
fn versions(line: &str) -> String {
    let Some((before, list)) = line.split_once("(from versions: ") else {
        return line.to_owned();
    };
    let list = list.trim_end_matches(')');
    let versions: Vec<&str> = list.split(", ").collect();
    let from = versions.len().saturating_sub(5);
    let dots = if from > 0 { "…, " } else { "" };
    format!(
        "{before}(from versions: {dots}{})",
        versions[from..].join(", ")
    )
}

/// Reduces a line of Docker's builder, `#12 3.4 text`: keeps the steps and the failures.
fn mark_docker(log: &mut LogReducer<'_>, ix: usize) {
    let line = log.lines[ix];
    let Some((number, rest)) = line[1..].split_once(' ') else {
        return;
    };
    if number.parse::<u32>().is_err() {
        return;
    }
    let is_timed = rest
        .split(' ')
        .next()
        .is_some_and(|time| time.contains('.') && time.parse::<f64>().is_ok());
    let is_step = rest.starts_with('[') && !rest.starts_with("[internal]");
    if rest.starts_with("ERROR") || is_step {
        log.keep_line(ix);
    } else if rest == "CACHED"
        || rest.starts_with("DONE ")
        || rest.starts_with("sha256:")
        || rest.starts_with("[internal]")
        || rest.starts_with("transferring")
        || rest.starts_with("extracting")
    {
        log.drop_line(ix, "lines of building");
    } else if is_timed {
        let text = rest.split_once(' ').map_or("", |(_, text)| text);
        if !super::generic::is_alarming(text) {
            log.drop_line(ix, "lines of building");
        }
    }
}
