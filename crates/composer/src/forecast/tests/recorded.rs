//! Compares predicted merges with Git's, for merges from the histories of public repositories.
//!
//! Half of them are the original merges; in the other half, the branch is merged into the trunk as it was many
//! merges later. The bare repositories are under `BURIN_HISTORIES`, each in a folder `repo`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use base::AbsPath;
use git::Repository;
use host::TempFolder;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

fn histories() -> Vec<PathBuf> {
    let folder = std::env::var("BURIN_HISTORIES").unwrap_or_default();
    let Ok(listed) = std::fs::read_dir(&folder) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = listed
        .map(|entry| entry.unwrap().path().join("repo"))
        .filter(|path| path.join("objects").is_dir())
        .collect();
    found.sort();
    found
}

/// The merge by Git: the tree if it is clean, the conflicting names otherwise.
fn by_git(folder: &Path, one: &str, two: &str) -> (String, BTreeSet<String>) {
    let output = Command::new("git")
        .current_dir(folder)
        .args([
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            one,
            two,
        ])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut parts = told.split('\0').filter(|it| !it.is_empty());
    let tree = parts.next().unwrap_or_default().to_owned();
    (tree, parts.map(str::to_owned).collect())
}

/// A temporary repository with the objects of a history.
fn borrowed(history: &Path) -> (TempFolder, Repository) {
    let folder = TempFolder::new().unwrap();
    git(folder.path().as_path(), &["init", "-q"]);
    let objects = format!("{}\n", history.join("objects").display());
    write(folder.path(), ".git/objects/info/alternates", &objects);
    // Attributes come from the working tree, which does not exist here.
    let repository = Repository::discover(&AbsPath::new(folder.path().as_path()).unwrap()).unwrap();
    (folder, repository)
}

/// Returns whether the trees of all `commits` are complete; copies of large repositories may lack objects.
fn is_whole(folder: &Path, commits: &[&str]) -> bool {
    let trees = commits.iter().map(|commit| format!("{commit}^{{tree}}"));
    let listed = Command::new("git")
        .current_dir(folder)
        .args(["rev-list", "--objects", "--missing=print"])
        .args(trees)
        .output()
        .unwrap();
    let missing = listed.stdout.split(|byte| *byte == b'\n');
    listed.status.success() && !missing.into_iter().any(|row| row.starts_with(b"?"))
}

#[derive(Default)]
struct Tally {
    merges: usize,
    /// Number of merges skipped because of missing objects.
    lacking: usize,
    fought: usize,
    missed: Vec<String>,
    false_ones: Vec<String>,
    other_names: Vec<String>,
    other_trees: Vec<String>,
}

fn check(folder: &Path, repository: &Repository, one: &str, two: &str, tally: &mut Tally) {
    let bases = Command::new("git")
        .current_dir(folder)
        .args(["merge-base", "--all", one, two])
        .output();
    let bases = String::from_utf8(bases.unwrap().stdout).unwrap();
    let mut bases = bases.lines();
    let (Some(base), None) = (bases.next(), bases.next()) else {
        return;
    };
    if !is_whole(folder, &[base, one, two]) {
        tally.lacking += 1;
        return;
    }
    let tree = |commit: &str| repository.tree_of(commit).unwrap();
    let side = |commit: &str| {
        repository
            .changes_between(tree(base), tree(commit))
            .unwrap()
    };
    let (ours, theirs) = (side(one), side(two));
    if ours.is_empty() || theirs.is_empty() {
        return;
    }
    let input = ForecastInput {
        tip: CommitId(base.to_owned()),
        branch: "main".to_owned(),
        sessions: vec![
            session("one", base, ours),
            session("two", base, theirs.clone()),
        ],
        uncommitted: Arc::default(),
        unsaved: UnsavedBuffers::new(),
    };
    let report = Forecaster::default().refresh(repository, &input).unwrap();
    // The result is the same if one side has already landed.
    let landed = ForecastInput {
        tip: CommitId(one.to_owned()),
        sessions: vec![session("two", base, theirs.clone())],
        ..input
    };
    let late = Forecaster::default().refresh(repository, &landed).unwrap();
    let names: BTreeSet<String> = report
        .conflicts
        .iter()
        .map(|it| it.path.to_string())
        .collect();
    let late: BTreeSet<String> = late
        .conflicts
        .iter()
        .map(|it| it.path.to_string())
        .collect();
    assert_eq!(names, late, "{one} {two}");
    let (expected, fought) = by_git(folder, one, two);
    tally.merges += 1;
    tally.fought += usize::from(!fought.is_empty());
    let told = format!("{one} {two}: git {fought:?}, we {names:?}");
    match (fought.is_empty(), names.is_empty()) {
        (false, true) => tally.missed.push(told),
        (true, false) => tally.false_ones.push(told),
        (false, false) if fought != names => tally.other_names.push(told),
        (true, true) => {
            let merged = repository
                .merge(tree(base), &side(one), &side(two))
                .unwrap();
            let tree = repository.write(tree(base), &merged.changes).unwrap();
            if tree.to_string() != expected {
                tally.other_trees.push(format!("{one} {two}"));
            }
        }
        _ => {}
    }
}

#[test]
fn recorded_merges_are_foreseen() {
    let histories = histories();
    if histories.is_empty() {
        return test_support::skip(
            "set BURIN_HISTORIES to a folder with bare repositories to replay their merges",
        );
    }
    let wanted: usize = std::env::var("BURIN_RECORDED").map_or(200, |count| count.parse().unwrap());
    let each = wanted.div_ceil(histories.len()) + 6;
    let mut tally = Tally::default();
    for (seed, history) in histories.iter().enumerate() {
        let random = &mut StdRng::seed_from_u64(seed as u64);
        let (folder, repository) = borrowed(history);
        let merges = git(
            history,
            &[
                "rev-list",
                "--merges",
                "--parents",
                "--max-count=4000",
                "--all",
            ],
        );
        let merges: Vec<Vec<&str>> = merges
            .lines()
            .map(|line| line.split(' ').collect())
            .filter(|ids: &Vec<&str>| ids.len() == 3)
            .collect();
        let before = tally.merges;
        for _ in 0..each * 3 {
            if merges.is_empty() || tally.merges - before >= each {
                break;
            }
            let at = random.random_range(0..merges.len());
            let later = at.saturating_sub(random.random_range(5..60));
            let trunk = match random.random_range(0..2) {
                0 => merges[at][1],
                _ => merges[later][1],
            };
            check(
                folder.path().as_path(),
                &repository,
                trunk,
                merges[at][2],
                &mut tally,
            );
        }
        println!("{}: {} merges", history.display(), tally.merges - before);
    }
    println!(
        "{} merges, {} of them in conflict, {} more not looked at for want of objects; missed {:#?}; false {:#?}; other names {:#?}; other trees {:#?}",
        tally.merges,
        tally.fought,
        tally.lacking,
        tally.missed,
        tally.false_ones,
        tally.other_names,
        tally.other_trees
    );
    assert_eq!(
        (tally.missed, tally.false_ones),
        (Vec::<String>::new(), Vec::new())
    );
}
