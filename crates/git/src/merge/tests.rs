//! Tests that merges of random histories equal those of git.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests ask the real git about repositories on disk"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use base::AbsPath;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{Changes, ConflictKind, EntryMode, ObjectEntry, TreeMerge, TreePath};
use crate::Repository;

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success() || arguments[0] == "merge-tree",
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) root: AbsPath,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = AbsPath::new(folder.path().canonicalize().unwrap()).unwrap();
        git(root.as_path(), &["init", "-q"]);
        Self { folder, root }
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let place = self.root.join(path);
        std::fs::create_dir_all(place.parent().unwrap().as_path()).unwrap();
        std::fs::write(place.as_path(), text).unwrap();
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(self.folder.path(), arguments)
    }

    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    pub(crate) fn repository(&self) -> Repository {
        Repository::discover(&self.root).unwrap()
    }
}

/// Merges two commits here; also returns the description of a difference from git.
fn merged(repository: &Repository, one: &str, two: &str) -> (TreeMerge, Option<String>) {
    let base = repository
        .merge_base(
            repository.commit_id(one).unwrap(),
            repository.commit_id(two).unwrap(),
        )
        .unwrap()
        .unwrap();
    let base = repository.tree_of(&base.to_string()).unwrap();
    let side = |commit: &str| {
        let tree = repository.tree_of(commit).unwrap();
        repository.changes_between(base, tree).unwrap()
    };
    let merged = repository.merge(base, &side(one), &side(two)).unwrap();
    let tree = merged
        .is_clean()
        .then(|| repository.write(base, &merged.changes).unwrap().to_string());
    (merged, tree)
}

/// Returns git's merged tree of two commits, and the paths in conflict.
fn by_git(folder: &Path, one: &str, two: &str) -> (Option<String>, BTreeSet<String>) {
    let told = git(
        folder,
        &[
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            one,
            two,
        ],
    );
    let mut lines = told.lines();
    let tree = lines.next().unwrap_or_default().to_owned();
    let names: BTreeSet<String> = lines.map(str::to_owned).collect();
    (names.is_empty().then_some(tree), names)
}

fn check_two(folder: &Path, repository: &Repository, one: &str, two: &str) -> bool {
    let (ours, tree) = merged(repository, one, two);
    let (expected, names) = by_git(folder, one, two);
    assert_eq!(
        tree.is_some(),
        expected.is_some(),
        "{one} {two}: git fights over {names:?}, we over {:?}",
        ours.conflicts
            .iter()
            .map(|it| (it.path.clone(), it.kind))
            .collect::<Vec<_>>()
    );
    assert_eq!(tree, expected, "{one} {two}");
    tree.is_some()
}

#[test]
fn kinds_of_conflicts() {
    let text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
    let check =
        |ours: &dyn Fn(&Fixture), theirs: &dyn Fn(&Fixture), expected: Option<ConflictKind>| {
            let fixture = Fixture::new();
            fixture.write("a.txt", text);
            fixture.write("old/b.txt", text);
            fixture.write("old/c.txt", "something else\nin\nhere\n");
            fixture.write("bin", "x\0y");
            let base = fixture.commit();
            ours(&fixture);
            let one = fixture.commit();
            fixture.git(&["checkout", "-q", "-b", "other", &base]);
            theirs(&fixture);
            let two = fixture.commit();
            let repository = fixture.repository();
            let (merged, _) = merged(&repository, &one, &two);
            let kinds: Vec<ConflictKind> = merged.conflicts.iter().map(|it| it.kind).collect();
            assert_eq!(kinds, expected.into_iter().collect::<Vec<_>>());
            check_two(fixture.folder.path(), &repository, &one, &two);
            check_two(fixture.folder.path(), &repository, &two, &one);
        };
    let write = |path: &'static str, text: String| move |it: &Fixture| it.write(path, &text);
    let gone = |path: &'static str| {
        move |it: &Fixture| std::fs::remove_file(it.root.join(path).as_path()).unwrap()
    };
    let moved = |from: &'static str, to: &'static str| {
        move |it: &Fixture| {
            std::fs::create_dir_all(it.root.join(to).parent().unwrap().as_path()).unwrap();
            it.git(&["mv", from, to]);
        }
    };
    let with = |number: &str| text.replace("five", number);
    use ConflictKind as K;
    check(
        &write("a.txt", with("5")),
        &write("a.txt", with("V")),
        Some(K::Content),
    );
    check(
        &write("a.txt", with("5")),
        &write("a.txt", text.replace("one", "1")),
        None,
    );
    check(&write("a.txt", with("5")), &write("a.txt", with("5")), None);
    check(
        &write("a.txt", with("5")),
        &gone("a.txt"),
        Some(K::RemovedByThem),
    );
    check(
        &gone("a.txt"),
        &write("a.txt", with("5")),
        Some(K::RemovedByUs),
    );
    check(&gone("a.txt"), &gone("a.txt"), None);
    check(
        &write("n", "1\n".into()),
        &write("n", "2\n".into()),
        Some(K::BothAdded),
    );
    check(&write("n", "1\n".into()), &write("n", "1\n".into()), None);
    check(
        &write("bin", "1\0".into()),
        &write("bin", "2\0".into()),
        Some(K::Binary),
    );
    check(
        &write("n", "1\n".into()),
        &write("n/x", "2\n".into()),
        Some(K::FileAndFolder),
    );
    check(&moved("a.txt", "z.txt"), &write("a.txt", with("5")), None);
    check(
        &write("a.txt", with("5")),
        &moved("a.txt", "deep/z.txt"),
        None,
    );
    check(
        &moved("a.txt", "y.txt"),
        &moved("a.txt", "z.txt"),
        Some(K::BothRenamed),
    );
    check(&moved("a.txt", "z.txt"), &moved("a.txt", "z.txt"), None);
    check(
        &moved("a.txt", "z.txt"),
        &gone("a.txt"),
        Some(K::RemovedByThem),
    );
    check(
        &moved("old", "new"),
        &write("old/d.txt", "d\n".into()),
        Some(K::FolderMoved),
    );
    check(&moved("old", "new"), &write("old/b.txt", with("5")), None);
    check(
        &|it| {
            it.git(&["update-index", "--chmod=+x", "a.txt"]);
            it.git(&["checkout", "a.txt"]);
        },
        &write("a.txt", with("5")),
        None,
    );
}

#[test]
fn in_memory_content_merges_like_objects() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.write("folder/b", "b\n");
    let base = fixture.commit();
    let repository = fixture.repository();
    let base = repository.tree_of(&base).unwrap();
    let file = |text: &str| Some(ObjectEntry::of_bytes(EntryMode::Plain, text.as_bytes()));
    let ours = Changes::from([
        (TreePath::from("new/c"), file("c\n")),
        (TreePath::from("folder/b"), None),
    ]);
    let theirs = Changes::from([(TreePath::from("a"), file("A\n"))]);
    let merged = repository.merge(base, &ours, &theirs).unwrap();
    assert!(merged.is_clean());
    let before = fixture.git(&["count-objects"]);
    let tree = repository.write(base, &merged.changes).unwrap();
    assert_ne!(fixture.git(&["count-objects"]), before);
    let names = fixture.git(&["ls-tree", "-r", "--name-only", &tree.to_string()]);
    assert_eq!(names, "a\nnew/c\n");
    // A file becomes a folder and a folder a file.
    let turned = Changes::from([
        (TreePath::from("a"), None),
        (TreePath::from("a/x"), file("x\n")),
        (TreePath::from("folder/b"), None),
        (TreePath::from("folder"), file("f\n")),
    ]);
    let tree = repository.write(base, &turned).unwrap();
    let names = fixture.git(&["ls-tree", "-r", "--name-only", &tree.to_string()]);
    assert_eq!(names, "a/x\nfolder\n");
    let base_again = repository.changes_between(tree, base).unwrap();
    assert_eq!(repository.write(tree, &base_again).unwrap(), base);
}

/// Makes random changes to a working tree: lines, names, whole files.
pub(crate) fn mess_up(fixture: &Fixture, random: &mut StdRng, count: usize) {
    for _ in 0..count {
        let names = fixture.git(&["ls-files"]);
        let names: Vec<&str> = names
            .lines()
            .filter(|it| fixture.root.join(it).as_path().is_file())
            .collect();
        let Some(name) = (!names.is_empty()).then(|| names[random.random_range(0..names.len())])
        else {
            continue;
        };
        let place = fixture.root.join(name);
        let text = std::fs::read_to_string(place.as_path()).unwrap();
        let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
        match random.random_range(0..10) {
            0 => std::fs::remove_file(place.as_path()).unwrap(),
            1 => {
                let to = format!(
                    "moved{}/{}",
                    random.random_range(0..3),
                    random.random_range(0..6)
                );
                if !fixture.root.join(&to).as_path().exists() {
                    fixture.write(&to, &text);
                    std::fs::remove_file(place.as_path()).unwrap();
                }
            }
            2 => fixture.write(
                &format!("new{}", random.random_range(0..4)),
                &format!("{}\n", random.random_range(0..3)),
            ),
            _ => {
                let at = random.random_range(0..=lines.len());
                let end = (at + random.random_range(0..2)).min(lines.len());
                lines.splice(
                    at..end,
                    [format!("changed {}\n", random.random_range(0..1000))],
                );
                std::fs::write(place.as_path(), lines.concat()).unwrap();
            }
        }
    }
}

#[test]
fn random_history_merges_equal_those_of_git() {
    let count: u64 = std::env::var("BURIN_MERGES").map_or(25, |count| count.parse().unwrap());
    let mut clean = 0;
    for seed in 0..count {
        let random = &mut StdRng::seed_from_u64(seed);
        let fixture = Fixture::new();
        for file in 0..8 {
            let text: String = (0..25)
                .map(|line| format!("file {file} line {line}\n"))
                .collect();
            fixture.write(&format!("f{}/{file}.txt", file % 3), &text);
        }
        let base = fixture.commit();
        mess_up(&fixture, random, 5);
        let one = fixture.commit();
        fixture.git(&["checkout", "-q", "-b", "other", &base]);
        mess_up(&fixture, random, 5);
        let two = fixture.commit();
        clean += u64::from(check_two(
            fixture.folder.path(),
            &fixture.repository(),
            &one,
            &two,
        ));
    }
    println!("{clean} of {count} random histories merged without conflict, as in git");
    assert!(
        clean > 0 && (clean < count || count < 10),
        "{clean} of {count}"
    );
}
