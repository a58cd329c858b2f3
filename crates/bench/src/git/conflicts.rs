//! A file with 200 conflicts of a merge: read and made ready, and resolved with our side, beside `git merge-file`.

use std::time::Instant;

use ::git::Repository;
use ::git::conflict::{ConflictResolution, ConflictSet};
use base::AbsPath;
use tempfile::TempDir;
use text::{Buffer, EditOrigin, Timestamp};

use super::repositories::{git, run_git, write_file};
use super::{in_turn, since, timed};
use crate::figure::Figure;
use crate::index::place;
use crate::interleave::{Dice, Pairs};

/// Number of interleaved pairs.
const PAIRS: usize = 40;
const CONFLICTS: usize = 200;
/// Lines around each conflict.
const LINES: usize = 20;
/// Goal until the conflicts are ready, in milliseconds.
const GOAL: f64 = 100.0;
/// The file in conflict, and the files with its versions, which the peer merges.
const FILE: &str = "merged.txt";
const VERSIONS: [&str; 3] = ["ours", "base", "theirs"];

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let folder = TempDir::new().map_err(|error| error.to_string())?;
    let root = place(folder.path())?;
    merge_in(&root)?;
    let (mut reading, mut resolving) = (Pairs::default(), Pairs::default());
    let mut dice = Dice::new(19);
    for trial in 0..=PAIRS {
        let ((ready, text, set), merged) =
            in_turn(&mut dice, || read(&root), || merge_file(&root, &[]))?;
        let taking = || take_ours(&text, set);
        let (ours, peers) = in_turn(&mut dice, taking, || merge_file(&root, &["--ours"]))?;
        if ours.1 != peers.1 {
            return Err("all of ours is not the result of git merge-file --ours".to_owned());
        }
        // The first pair warms the caches of the system.
        if trial > 0 {
            reading.push(ready, merged.0);
            resolving.push(ours.0, peers.0);
        }
    }
    let name = format!("{CONFLICTS} conflicts read and ready");
    let goals = [Some(GOAL), None, Some(GOAL)];
    let mut figures = timed(&name, "git merge-file (a process)", &reading, goals);
    let name = format!("{CONFLICTS} conflicts resolved with ours, equal bytes");
    let peer = "git merge-file --ours (a process)";
    figures.extend(timed(&name, peer, &resolving, [None; 3]));
    Ok(figures)
}

/// Returns a version of the file. Both sides change one line of each section, and one of the sides others as well.
fn version(name: &str) -> String {
    let line = |section: usize, line: usize| {
        let side = match line {
            10 => name,
            3 if section.is_multiple_of(3) && name == "ours" => name,
            16 if section % 3 == 1 && name == "theirs" => name,
            _ => "both",
        };
        format!("line {line} of section {section} of {side}\n")
    };
    let sections = (0..CONFLICTS).flat_map(|section| (0..LINES).map(move |it| (section, it)));
    sections.map(|(section, it)| line(section, it)).collect()
}

/// Makes a repository in which a merge left the conflicts, and the files for the peer.
fn merge_in(root: &AbsPath) -> Result<(), String> {
    let write = |file: &str, name: &str| write_file(root.join(file).as_path(), &version(name));
    let commit = |name: &str| -> Result<(), String> {
        write(FILE, name)?;
        run_git(root, &["add", FILE])?;
        run_git(root, &["commit", "--quiet", "--message", name]).map(drop)
    };
    run_git(root, &["init", "--quiet", "--initial-branch=main"])?;
    commit("base")?;
    run_git(root, &["checkout", "--quiet", "-b", "topic"])?;
    commit("theirs")?;
    run_git(root, &["checkout", "--quiet", "main"])?;
    commit("ours")?;
    let merge = git(root).args(["merge", "--quiet", "topic"]).output();
    let merge = merge.map_err(|error| error.to_string())?;
    if merge.status.success() {
        return Err("the merge has no conflict".to_owned());
    }
    VERSIONS.into_iter().try_for_each(|name| write(name, name))
}

/// Reads the file and makes its conflicts ready, as a window does after it opened the file.
fn read(root: &AbsPath) -> Result<(f64, String, ConflictSet), String> {
    let path = root.join(FILE);
    let failed = |error: ::git::Error| error.to_string();
    let start = Instant::now();
    let text = std::fs::read_to_string(path.as_path()).map_err(|error| error.to_string())?;
    let repository = Repository::discover(root).map_err(failed)?;
    let conflict = repository.conflict_at(&path).map_err(failed)?;
    let conflict = conflict.ok_or("the index has no conflict")?;
    let stages = repository.text_stages(&conflict).map_err(failed)?;
    let size = repository.marker_size(&conflict.path);
    let set = ConflictSet::read(&text, stages, repository.conflict_names(), size);
    let time = since(start);
    let is_staged = set.conflicts().iter().all(|it| it.lines().is_some());
    if set.remaining() != CONFLICTS || !is_staged {
        return Err(format!("{} conflicts were found", set.remaining()));
    }
    Ok((time, text, set))
}

/// Resolves all conflicts with our side.
fn take_ours(text: &str, mut set: ConflictSet) -> Result<(f64, String), String> {
    let mut buffer = Buffer::new(text);
    let start = Instant::now();
    let edits = set.edits_for_all(ConflictResolution::Ours);
    let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
    set.follow(&change, &buffer.snapshot());
    let time = since(start);
    if set.remaining() > 0 {
        return Err(format!("{} conflicts are left", set.remaining()));
    }
    Ok((time, buffer.snapshot().to_string()))
}

fn merge_file(root: &AbsPath, options: &[&str]) -> Result<(f64, String), String> {
    let mut command = git(root);
    command
        .args(["merge-file", "-p"])
        .args(options)
        .args(VERSIONS);
    let start = Instant::now();
    let output = command.output().map_err(|error| error.to_string())?;
    let time = since(start);
    // The status is the number of conflicts, at most 127.
    if output.status.code().is_none_or(|code| code > 127) {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git merge-file failed: {errors}"));
    }
    let text = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
    Ok((time, text))
}
