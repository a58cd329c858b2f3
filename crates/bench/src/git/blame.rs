//! The blame of a large file: its first lines, a screen in its middle, and all of it, beside `git blame --incremental`.
//!
//! Times are those at which lines are known; a window gets them in batches of up to 64 groups.

use std::io::{BufRead as _, BufReader};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use base::AbsPath;
use git_program::{BlameOptions, Cancellation, CheckoutTrust, GitProgram, find_program};
use host::environment::{Recipient, variables};

use super::history::{self, GraphFile, LARGE};
use super::repositories::{VARIABLES, git};
use super::{in_turn, since, timed};
use crate::figure::Figure;
use crate::interleave::{Dice, Pairs};

/// Number of interleaved pairs.
const PAIRS: usize = 20;
/// The rows of a screen in the middle of the file.
const SCREEN: Range<u32> = 4_000..4_060;
/// Goals: first lines and a screen in milliseconds, and the ratio of the whole to git.
const FIRST: f64 = 50.0;
const VISIBLE: f64 = 300.0;
const WHOLE: f64 = 1.1;
const PEER: &str = "git blame --incremental";

/// A blame with the milliseconds until parts of it were known.
struct TimedBlame {
    first: f64,
    screen: f64,
    whole: f64,
    /// The commit of each line.
    commits: Vec<String>,
}

/// A blame that runs.
struct RunningBlame {
    start: Instant,
    first: Option<f64>,
    screen: Option<f64>,
    /// Rows of the screen that are not known yet.
    missing: u32,
    found: Vec<(Range<u32>, String)>,
}

/// Returns the user's git in a repository, as a window has it for a trusted folder.
pub(super) fn program(root: &AbsPath, graph: GraphFile) -> Result<GitProgram, String> {
    let mut environment = variables(Recipient::Personal);
    let own = VARIABLES.iter().copied().chain(graph.variables());
    environment.extend(own.map(|(name, value)| (name.into(), value.into())));
    let program = find_program("git", &environment);
    let program = program.ok_or("the peer git is missing; install it")?;
    GitProgram::new(program, root.clone(), environment, CheckoutTrust::Trusted)
        .map_err(|error| error.to_string())
}

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let root = history::kept_history()?;
    let mut figures = Vec::new();
    for graph in GraphFile::ALL {
        figures.extend(measured(&root, graph)?);
    }
    Ok(figures)
}

fn measured(root: &AbsPath, graph: GraphFile) -> Result<Vec<Figure>, String> {
    let program = program(root, graph)?;
    let mut dice = Dice::new(13);
    let (mut first, mut screen, mut whole) = (Pairs::default(), Pairs::default(), Pairs::default());
    let mut lines = 0;
    for trial in 0..=PAIRS {
        let (ours, peers) = in_turn(&mut dice, || ours(&program), || by_git(root, graph))?;
        if ours.commits != peers.commits {
            return Err(format!("our blame of {LARGE} is not that of git"));
        }
        lines = ours.commits.len();
        // The first pair warms the caches of the system.
        if trial > 0 {
            first.push(ours.first, peers.first);
            screen.push(ours.screen, peers.screen);
            whole.push(ours.whole, peers.whole);
        }
    }
    let name = |part: &str| format!("blame of {lines} lines {}, {part}", graph.label());
    let mut figures = timed(
        &name("first lines"),
        PEER,
        &first,
        [Some(FIRST), None, None],
    );
    let goals = [Some(VISIBLE), None, None];
    figures.extend(timed(&name("a screen"), PEER, &screen, goals));
    figures.push(Figure::against(
        name("all of it"),
        PEER,
        &whole,
        "ms",
        Some(WHOLE),
    ));
    Ok(figures)
}

fn ours(program: &GitProgram) -> Result<TimedBlame, String> {
    let options = BlameOptions {
        with_ignored_revisions: true,
        ..BlameOptions::default()
    };
    let mut running = RunningBlame::begin();
    let cancellation = Cancellation::default();
    let ended = program.blame(Path::new(LARGE), options, &cancellation, &mut |lines| {
        let commit = lines.commit.id.clone().unwrap_or_default();
        running.take(lines.lines, commit);
        ControlFlow::Continue(())
    });
    ended.map_err(|error| error.to_string())?;
    running.end()
}

fn by_git(root: &AbsPath, graph: GraphFile) -> Result<TimedBlame, String> {
    let mut command = git(root);
    command
        .envs(graph.variables())
        .args(["blame", "--incremental", "--", LARGE])
        .stdout(Stdio::piped());
    let failed = |error: std::io::Error| format!("git blamed nothing: {error}");
    let mut running = RunningBlame::begin();
    let mut child = command.spawn().map_err(failed)?;
    let output = child.stdout.take().ok_or("git has no output")?;
    let mut open = None;
    for line in BufReader::new(output).lines() {
        let line = line.map_err(failed)?;
        if line.starts_with("filename ") {
            if let Some((lines, commit)) = open.take() {
                running.take(lines, commit);
            }
        } else if open.is_none() {
            open = group(&line);
        }
    }
    let status = child.wait().map_err(failed)?;
    if status.success() {
        running.end()
    } else {
        Err("git blamed nothing".to_owned())
    }
}

/// Reads the line `ID SOURCE_LINE LINE COUNT` that begins a group of lines.
fn group(line: &str) -> Option<(Range<u32>, String)> {
    let mut words = line.split(' ');
    let commit = words.next()?.to_owned();
    let first: u32 = words.nth(1)?.parse().ok()?;
    let count: u32 = words.next()?.parse().ok()?;
    Some((first - 1..first - 1 + count, commit))
}

impl RunningBlame {
    fn begin() -> Self {
        Self {
            start: Instant::now(),
            first: None,
            screen: None,
            missing: SCREEN.end - SCREEN.start,
            found: Vec::new(),
        }
    }

    /// Takes lines that are known now. Each line comes once.
    fn take(&mut self, lines: Range<u32>, commit: String) {
        let now = since(self.start);
        self.first.get_or_insert(now);
        let seen = lines.end.min(SCREEN.end);
        let seen = seen.saturating_sub(lines.start.max(SCREEN.start));
        self.missing = self.missing.saturating_sub(seen);
        if self.missing == 0 {
            self.screen.get_or_insert(now);
        }
        self.found.push((lines, commit));
    }

    fn end(mut self) -> Result<TimedBlame, String> {
        let whole = since(self.start);
        self.found.sort_by_key(|(lines, _)| lines.start);
        let mut commits = Vec::new();
        for (lines, commit) in self.found {
            if lines.start as usize != commits.len() {
                return Err(format!("the blame lacks line {}", commits.len()));
            }
            commits.extend(lines.map(|_| commit.clone()));
        }
        let incomplete = "the file is shorter than its screen";
        Ok(TimedBlame {
            first: self.first.ok_or(incomplete)?,
            screen: self.screen.ok_or(incomplete)?,
            whole,
            commits,
        })
    }
}
