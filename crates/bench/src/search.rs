//! Project search beside `rg`: first the same results, then the time, both as processes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::corpus;
use crate::figure::{self, Figure};
use crate::interleave::{Pairs, millis};

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
        same_results(&agent, pattern, &root)?;
        let pairs = Pairs::take(
            21,
            || millis(|| ours(&agent, pattern, &root).output()),
            || millis(|| rg(pattern, &root).output()),
        );
        figures.push(Figure::against(format!("search {pattern}"), "rg", &pairs, "ms", Some(1.2)));
    }
    Ok(figures)
}

fn ours(agent: &Path, pattern: &str, root: &Path) -> Command {
    let mut command = Command::new(agent);
    command.args(["grep", "--case", "sensitive", "--regex", pattern, "--root"]).arg(root);
    command
}

fn rg(pattern: &str, root: &Path) -> Command {
    let mut command = Command::new("rg");
    command
        .args(["--no-heading", "--with-filename", "--line-number", "--color", "never", "-e", pattern])
        .arg(root);
    command
}

fn same_results(agent: &Path, pattern: &str, root: &Path) -> Result<(), String> {
    let lines = |mut command: Command| -> Result<BTreeSet<Vec<u8>>, String> {
        let output = command.output().map_err(|error| error.to_string())?;
        Ok(output.stdout.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
    };
    let (ours, theirs) = (lines(ours(agent, pattern, root))?, lines(rg(pattern, root))?);
    if ours == theirs {
        return Ok(());
    }
    let show = |line: Option<&Vec<u8>>| line.map(|line| String::from_utf8_lossy(line).into_owned());
    Err(format!(
        "results differ for {pattern}: only ours {:?}, only rg's {:?}",
        show(ours.difference(&theirs).next()),
        show(theirs.difference(&ours).next()),
    ))
}

fn build_agent() -> Result<PathBuf, String> {
    corpus::build("headless")?;
    Ok(figure::target().join("release/burin-agent"))
}
