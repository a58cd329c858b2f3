//! A hunk from the click to the index on the disk, beside `git apply --cached`.
//!
//! The diff is made before the click, because a window stages the diff that it shows. The peer gets the same change as a patch
//! and has an index of its own in the same repository; both indexes must agree after each click.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Instant;

use ::git::merge::TreePath;
use ::git::staging::{FileDiff, LineSelection, Side};
use ::git::{Capabilities, GitTask, Repository};
use base::AbsPath;

use super::repositories::{git, output_of};
use super::{in_turn, many_files, since, timed};
use crate::figure::Figure;
use crate::interleave::{Dice, Pairs};

/// Sizes of the repositories in files, with the number of clicks. The goals are those of the first.
const SIZES: &[(usize, usize)] = &[(2_300, 200), (100_000, 40)];
/// Goals in milliseconds.
const P50: f64 = 15.0;
const P99: f64 = 60.0;
/// One line in so many is changed.
const CHANGED: usize = 10;
const PEER: &str = "git apply --cached (a process)";
/// The index of the peer, below the folder of git.
const PEERS_INDEX: &str = "index-of-peer";

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (ix, (files, clicks)) in SIZES.iter().enumerate() {
        let goals = if ix == 0 {
            [Some(P50), None, Some(P99)]
        } else {
            [None; 3]
        };
        let name = format!("hunk staged in {files} files, click to index on disk");
        figures.extend(timed(&name, PEER, &clicked(*files, *clicks)?, goals));
    }
    Ok(figures)
}

/// Stages hunks of one file after the other, until there were enough clicks.
fn clicked(files: usize, clicks: usize) -> Result<Pairs, String> {
    let root = many_files::kept_repository(files)?;
    let _index = KeptIndex::new(&root)?;
    let (mut pairs, mut dice, mut is_warm) = (Pairs::default(), Dice::new(11), false);
    for ix in 0..files {
        let path = TreePath::new(many_files::path_of(ix));
        let buffer = edited(&many_files::text_of(ix, files));
        loop {
            let diff = diff_of(&root, &path, &buffer)?;
            if diff.hunks.is_empty() {
                break;
            }
            let hunk = &diff.hunks[dice.below(diff.hunks.len())];
            let lines = LineSelection::of_hunks([hunk]);
            let patch = diff.patch(&lines).map_err(|error| error.to_string())?;
            let patch = patch.ok_or("a hunk changes nothing")?;
            let ours = || stage(&root, &diff, &lines);
            let (ours, peers) = in_turn(&mut dice, ours, || apply(&root, &patch))?;
            check(&root, &path)?;
            // The first pair warms the caches of the system.
            if is_warm {
                pairs.push(ours, peers);
            }
            is_warm = true;
            if pairs.len() == clicks {
                return Ok(pairs);
            }
        }
    }
    Err(format!("{files} files have fewer than {clicks} hunks"))
}

/// Returns the text with some lines changed, each in a hunk of its own.
fn edited(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(ix, line)| {
        let is_changed = ix % CHANGED == CHANGED / 2;
        let end = if is_changed { ", edited\n" } else { "\n" };
        format!("{line}{end}")
    });
    lines.collect()
}

fn diff_of(root: &AbsPath, path: &TreePath, buffer: &str) -> Result<FileDiff, String> {
    let repository = Repository::discover(root).map_err(|error| error.to_string())?;
    let diff = repository.file_diff(path, Side::Unstaged, Some(buffer.as_bytes()));
    diff.map_err(|error| error.to_string())
}

/// Stages lines as the service of a window does. The index is another one after each click, so the features of the
/// repository are read again.
fn stage(root: &AbsPath, diff: &FileDiff, lines: &LineSelection) -> Result<f64, String> {
    let start = Instant::now();
    let capabilities = Capabilities::of_folder(root).map_err(|error| error.to_string())?;
    if let Some(obstacle) = capabilities.obstacle(GitTask::Staging) {
        return Err(format!("the repository needs the program: {obstacle}"));
    }
    let repository = Repository::discover(root).map_err(|error| error.to_string())?;
    let staged = repository.stage_lines(diff, lines);
    let time = since(start);
    staged.map_err(|error| error.to_string())?;
    Ok(time)
}

fn apply(root: &AbsPath, patch: &[u8]) -> Result<f64, String> {
    let mut command = git(root);
    command
        .args(["apply", "--cached", "--whitespace=nowarn", "-"])
        .env("GIT_INDEX_FILE", peers_index(root).as_path())
        .stdin(Stdio::piped());
    let failed = |error: std::io::Error| format!("git applied no patch: {error}");
    let start = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    let mut input = child.stdin.take().ok_or("git has no input")?;
    input.write_all(patch).map_err(failed)?;
    drop(input);
    let status = child.wait().map_err(failed)?;
    let time = since(start);
    if status.success() {
        Ok(time)
    } else {
        Err("git applied no patch".to_owned())
    }
}

/// Fails unless both indexes have the same entry.
fn check(root: &AbsPath, path: &TreePath) -> Result<(), String> {
    let listing = || {
        let mut command = git(root);
        command
            .args(["ls-files", "--stage", "--"])
            .arg(path.to_path());
        command
    };
    let ours = output_of(&mut listing())?;
    let peers = output_of(listing().env("GIT_INDEX_FILE", peers_index(root).as_path()))?;
    if ours == peers && !ours.is_empty() {
        Ok(())
    } else {
        Err(format!("we staged {ours:?}, git {peers:?}"))
    }
}

fn peers_index(root: &AbsPath) -> AbsPath {
    root.join(".git").join(PEERS_INDEX)
}

/// A copy of the index, which replaces it again on drop.
struct KeptIndex {
    index: AbsPath,
    copy: AbsPath,
}

impl KeptIndex {
    /// Copies the index for the end, and for the peer.
    fn new(root: &AbsPath) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("cannot copy the index of {root}: {error}");
        let kept = Self {
            index: root.join(".git/index"),
            copy: root.join(".git/index-of-commit"),
        };
        if kept.copy.as_path().exists() {
            // An interrupted run leaves its index.
            fs::rename(kept.copy.as_path(), kept.index.as_path()).map_err(failed)?;
        }
        fs::copy(kept.index.as_path(), kept.copy.as_path()).map_err(failed)?;
        fs::copy(kept.index.as_path(), peers_index(root).as_path()).map_err(failed)?;
        Ok(kept)
    }
}

impl Drop for KeptIndex {
    fn drop(&mut self) {
        // The next run copies it back if this one cannot.
        fs::rename(self.copy.as_path(), self.index.as_path()).ok();
    }
}
