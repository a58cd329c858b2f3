//! The status after one save, as the service of a window reads it, beside `git status`.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use ::git::changes::{Change, ChangeGroup, ChangeKind};
use ::git::merge::TreePath;
use ::git::{KeptRepository, Repository};
use base::AbsPath;

use super::repositories::{git, output_of, run_git, write_file};
use super::{in_turn, many_files, since, timed};
use crate::figure::Figure;
use crate::interleave::{Dice, Pairs};

const FILES: usize = 100_000;
/// Numbers of pairs: after a save, and of the whole status.
const PAIRS: usize = 40;
const WHOLE_PAIRS: usize = 5;
/// Goal from the event to the row, in milliseconds.
const GOAL: f64 = 50.0;
const PEER: &str = "git status --porcelain -z (a process)";

/// Children of this process: the page faults of those that it waited for, and the number of the others.
#[derive(PartialEq, Eq)]
struct ChildProcesses {
    faults: u64,
    count: usize,
}

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let root = many_files::kept_repository(FILES)?;
    // An interrupted run leaves its save.
    run_git(&root, &["checkout", "--quiet", "--", "."])?;
    let file = many_files::path_of(FILES / 2);
    let name = format!("status after one save, {FILES} files");
    let measured = after_saves(&root, &file).and_then(|(pairs, starts)| {
        let mut figures = timed(
            &format!("{name}, event to row"),
            PEER,
            &pairs,
            [Some(GOAL), None, Some(GOAL)],
        );
        figures.push(Figure::alone(
            format!("{name}, readings that started a process"),
            starts as f64,
            "readings",
            pairs.len(),
            Some(0.0),
        ));
        figures.push(whole(&root, &file)?);
        Ok(figures)
    });
    let text = many_files::text_of(FILES / 2, FILES);
    write_file(root.join(&file).as_path(), &text)?;
    measured
}

/// Measures readings after saves; returns also the number of those during which this process had another child.
fn after_saves(root: &AbsPath, file: &str) -> Result<(Pairs, usize), String> {
    let path = TreePath::new(file);
    let kept = Arc::new(KeptRepository::new(root.clone()));
    let (mut pairs, mut dice, mut starts) = (Pairs::default(), Dice::new(7), 0);
    for trial in 0..=PAIRS {
        let text = format!("saved {trial} times\n");
        write_file(root.join(file).as_path(), &text)?;
        let ours = || -> Result<(f64, bool), String> {
            let before = ChildProcesses::now()?;
            let (time, changes) = changes_of(&kept, &path)?;
            check(&changes, &path)?;
            Ok((time, ChildProcesses::now()? != before))
        };
        let ((ours, has_started), peers) = in_turn(&mut dice, ours, || by_git(root, file))?;
        // The first pair warms the caches of the system.
        if trial > 0 {
            pairs.push(ours, peers);
        }
        starts += usize::from(has_started);
    }
    Ok((pairs, starts))
}

/// Reads the changes of one file on a thread of its own, as the service does for each reading.
fn changes_of(kept: &Arc<KeptRepository>, path: &TreePath) -> Result<(f64, Vec<Change>), String> {
    let start = Instant::now();
    let (kept, paths) = (Arc::clone(kept), vec![path.clone()]);
    let reading = thread::spawn(move || kept.read(|it| it.changes_of(&paths)));
    let changes = reading.join().map_err(|_| "the reading panicked")?;
    let time = since(start);
    Ok((time, changes.map_err(|error| error.to_string())?))
}

fn check(changes: &[Change], path: &TreePath) -> Result<(), String> {
    match changes {
        [change]
            if change.path == *path
                && change.group == ChangeGroup::Unstaged
                && change.kind == ChangeKind::Modified =>
        {
            Ok(())
        }
        other => Err(format!("only {path} was saved, but found are {other:?}")),
    }
}

/// Runs the peer. It takes no lock, as every refresh of an editor should not.
fn by_git(root: &AbsPath, file: &str) -> Result<f64, String> {
    let mut command = git(root);
    command.args(["--no-optional-locks", "status", "--porcelain", "-z"]);
    let start = Instant::now();
    let output = output_of(&mut command)?;
    let time = since(start);
    if output == format!(" M {file}\0") {
        Ok(time)
    } else {
        Err(format!("only {file} was saved, but git prints {output:?}"))
    }
}

/// Measures the status of the whole repository, which a window reads when it opens the folder.
fn whole(root: &AbsPath, file: &str) -> Result<Figure, String> {
    let path = TreePath::new(file);
    let (mut pairs, mut dice) = (Pairs::default(), Dice::new(8));
    for trial in 0..=WHOLE_PAIRS {
        let ours = || -> Result<f64, String> {
            let start = Instant::now();
            let changes = Repository::discover(root).and_then(|it| it.changes());
            let time = since(start);
            let changes = changes.map_err(|error| error.to_string())?;
            check(&changes.entries, &path)?;
            Ok(time)
        };
        let (ours, peers) = in_turn(&mut dice, ours, || by_git(root, file))?;
        if trial > 0 {
            pairs.push(ours, peers);
        }
    }
    let name = format!("whole status, {FILES} files");
    Ok(Figure::against(name, PEER, &pairs, "ms", None))
}

impl ChildProcesses {
    fn now() -> Result<Self, String> {
        let stat = std::fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
        // The name in parentheses may hold blanks. The ninth field after it counts the faults.
        let fields = stat.rsplit_once(") ").map(|(_, fields)| fields);
        let faults = fields.and_then(|fields| fields.split(' ').nth(8)?.parse().ok());
        let tasks = std::fs::read_dir("/proc/self/task").map_err(|error| error.to_string())?;
        let counts = tasks.flatten().map(|task| {
            // A thread may end meanwhile.
            let children = std::fs::read_to_string(task.path().join("children"));
            children.map_or(0, |children| children.split_whitespace().count())
        });
        Ok(Self {
            faults: faults.ok_or("this system does not tell of children")?,
            count: counts.sum(),
        })
    }
}
