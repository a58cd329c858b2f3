//! Compares project search with `rg`, both as processes: first the results, then the times.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use project::WalkBackend;
use project::search::{CaseSensitivity, SearchEvent, SearchQuery, SearchScope, search};

use crate::corpus;
use crate::figure::{self, Figure};
use crate::interleave::{Pairs, millis};
use crate::rg::{self, Places};

/// Patterns of several kinds: rare, common, with a class, anchored, alternatives, no match.
const PATTERNS: &[&str] = &[
    "fn render",
    "unwrap",
    r"\bstruct\s+\w+Builder\b",
    r"^\s*pub fn [a-z_]+\(",
    "TODO|XXX|HACK",
    r"[A-Z]{3,}_[A-Z]{3,}",
    "zqxjkv",
];

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let root = corpus::root()?;
    let agent = build_agent()?;
    corpus::need("rg", "apt-get install ripgrep")?;
    let mut figures = Vec::new();
    for pattern in PATTERNS {
        same_results(pattern, &root)?;
        let pairs = Pairs::take(
            21,
            || millis(|| ours(&agent, pattern, &root).output()),
            || millis(|| rg(pattern, &root).output()),
        );
        figures.push(Figure::against(
            format!("search {pattern}"),
            "rg",
            &pairs,
            "ms",
            Some(1.2),
        ));
    }
    Ok(figures)
}

fn ours(agent: &Path, pattern: &str, root: &Path) -> Command {
    let mut command = Command::new(agent);
    command
        .args(["grep", "--case", "sensitive", "--regex", "--root"])
        .arg(root)
        .arg("--")
        .arg(pattern);
    command
}

fn rg(pattern: &str, root: &Path) -> Command {
    let mut command = Command::new("rg");
    command
        .args([
            "--no-heading",
            "--with-filename",
            "--line-number",
            "--color",
            "never",
            "-e",
            pattern,
        ])
        .arg(root);
    command
}

fn same_results(pattern: &str, root: &Path) -> Result<(), String> {
    let (ours, theirs) = (our_places(pattern, root)?, places_of_rg(pattern, root)?);
    if ours == theirs {
        return Ok(());
    }
    Err(format!(
        "results differ for {pattern}: only ours {:?}, only rg's {:?}",
        ours.difference(&theirs).next(),
        theirs.difference(&ours).next(),
    ))
}

fn our_places(pattern: &str, root: &Path) -> Result<Places, String> {
    let (sender, events) = async_channel::unbounded();
    let query = SearchQuery {
        case: CaseSensitivity::Sensitive,
        ..SearchQuery::regex(pattern)
    };
    let root = AbsPath::new(root).ok_or("the corpus lies at no absolute path")?;
    let scope = SearchScope::new(WalkBackend::Disk, root);
    search(&query, &scope, &AtomicBool::new(false), &sender).map_err(|error| error.to_string())?;
    let mut places = Places::new();
    while let Ok(event) = events.try_recv() {
        if let SearchEvent::File(file) = event {
            for row in &file.rows {
                let number = u64::from(row.row.0) + 1;
                let places_of_row = row
                    .columns
                    .iter()
                    .map(|range| (file.path.to_string(), number, range.start, range.end));
                places.extend(places_of_row);
            }
        }
    }
    Ok(places)
}

fn places_of_rg(pattern: &str, root: &Path) -> Result<Places, String> {
    let output = Command::new("rg")
        .args(["--json", "-e", pattern])
        .arg(root)
        .output()
        .map_err(|error| error.to_string())?;
    rg::places(&output.stdout)
}

fn build_agent() -> Result<PathBuf, String> {
    corpus::build("cli")?;
    Ok(figure::target().join("release/burin-agent"))
}
