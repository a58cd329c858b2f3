//! Merges with conflicts of every kind, which git makes: resolved and recorded with git, then made again and resolved here.
//!
//! `BURIN_CONFLICTS` is the number of merges.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use host::RealFiles;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use test_support::skip;

use super::{Versions, git, has_git, random_versions, resolved};
use crate::conflict::{ConflictChoice, ConflictResolution as R, ConflictSet, StagedConflict};
use crate::merge::{ConflictKind, ConflictLabels, merge_bytes};
use crate::repository::Repository;
use crate::repository::tests::Fixture;

/// Number of merges in the gate.
const MERGES: u64 = 15;

/// The files of a commit.
type Tree = BTreeMap<String, Vec<u8>>;

/// The contents of a file in base, ours and theirs; `None` where it is missing.
type FileVersions = [Option<Vec<u8>>; 3];

/// Returns random versions of a file. Its number is in most of its lines, so that git takes no file for a renamed other one.
fn random_file(number: usize, random: &mut StdRng) -> FileVersions {
    let Versions { base, ours, theirs } = random_versions(random);
    let versions = [base, ours, theirs];
    let is_crlf = versions.iter().any(|text| text.contains("\r\n"));
    let ending = if is_crlf { "\r\n" } else { "\n" };
    let [base, ours, theirs] = versions.map(|text| {
        let text = text.replace("line ", &format!("{number} line "));
        let first =
            format!("the first line of the file {number}, which no other file of the tree has");
        Some(format!("{first}{ending}{text}").into_bytes())
    });
    match random.random_range(0..8) {
        0 => [None, ours, theirs],
        1 => [base, None, theirs],
        2 => [base, ours, None],
        3 => adjacent(number, random),
        4 => ["1", "2", "3"].map(|side| Some(format!("{number}{side}\0").into_bytes())),
        _ => [base, ours, theirs],
    }
}

/// Both sides change lines that touch, or have one line between them.
fn adjacent(number: usize, random: &mut StdRng) -> FileVersions {
    let lines: Vec<String> = (0..10).map(|ix| format!("{number} line {ix}\n")).collect();
    let at = random.random_range(1..7);
    let distance = random.random_range(1..3);
    let changed = |at: usize, text: &str| {
        let mut lines = lines.clone();
        lines[at] = text.to_owned();
        Some(lines.concat().into_bytes())
    };
    let base = Some(lines.concat().into_bytes());
    [
        base,
        changed(at, "ours\n"),
        changed(at + distance, "theirs\n"),
    ]
}

/// Returns the trees of base, ours and theirs.
fn random_trees(random: &mut StdRng) -> [Tree; 3] {
    let mut trees = [(); 3].map(|()| Tree::from([("kept".to_owned(), b"kept\n".to_vec())]));
    for number in 0..random.random_range(2..6) {
        for (tree, content) in trees.iter_mut().zip(random_file(number, random)) {
            if let Some(content) = content {
                tree.insert(format!("file {number}"), content);
            }
        }
    }
    trees
}

/// Writes the commits `base-N`, `ours-N` and `theirs-N` of each merge.
fn import(folder: &Path, merges: &[[Tree; 3]]) {
    let mut stream = Vec::new();
    for (number, trees) in merges.iter().enumerate() {
        for (side, tree) in ["base", "ours", "theirs"].into_iter().zip(trees) {
            let from = match side {
                "base" => String::new(),
                _ => format!("from refs/heads/base-{number}\n"),
            };
            let head = format!(
                "commit refs/heads/{side}-{number}\ncommitter a <a@example.org> 1700000000 +0000\n\
                 data {}\n{side}\n{from}deleteall\n",
                side.len()
            );
            stream.extend(head.into_bytes());
            for (name, content) in tree {
                let head = format!("M 100644 inline {name}\ndata {}\n", content.len());
                stream.extend(head.into_bytes());
                stream.extend_from_slice(content);
                stream.push(b'\n');
            }
            stream.push(b'\n');
        }
    }
    let mut child = Command::new("git")
        .current_dir(folder)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("git");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(&stream).expect("written");
    drop(input);
    assert!(child.wait().expect("git ends").success(), "not imported");
}

/// A resolution that was recorded.
#[derive(Clone, Copy, Debug)]
enum RecordedChoice {
    Lines(R),
    Entry(ConflictChoice),
}

/// One merge in a working tree.
struct RecordedMerge<'a> {
    folder: &'a Path,
    number: usize,
    style: &'static str,
    marker_size: usize,
}

impl RecordedMerge<'_> {
    fn git(&self, arguments: &[&str]) -> String {
        git(self.folder, arguments)
    }

    /// Makes the merge, from wherever the working tree is.
    fn begin(&self) {
        let (ours, theirs) = (format!("ours-{}", self.number), self.theirs());
        self.git(&["reset", "--quiet", "--hard", &ours]);
        self.git(&["clean", "--quiet", "--force", "-d"]);
        let style = format!("merge.conflictStyle={}", self.style);
        self.git(&["-c", &style, "merge", "--quiet", "--no-edit", &theirs]);
    }

    fn theirs(&self) -> String {
        format!("theirs-{}", self.number)
    }

    /// Returns the option of `git merge-file` for the style of the markers.
    fn style_option(&self) -> Option<&'static str> {
        match self.style {
            "diff3" => Some("--diff3"),
            "zdiff3" => Some("--zdiff3"),
            _ => None,
        }
    }

    fn what(&self, conflict: &StagedConflict) -> String {
        let (number, style) = (self.number, self.style);
        format!(
            "merge {number} ({style}), {}: {:?}",
            conflict.path, conflict.kind
        )
    }

    fn text(&self, conflict: &StagedConflict) -> String {
        let place = self.folder.join(conflict.path.to_path());
        std::fs::read_to_string(place).expect("a text")
    }

    fn write(&self, conflict: &StagedConflict, text: &str) {
        let place = self.folder.join(conflict.path.to_path());
        std::fs::write(place, text).expect("written");
    }

    /// Returns the conflicts in a text as the editor finds them.
    fn set(&self, repository: &Repository, conflict: &StagedConflict, text: &str) -> ConflictSet {
        let stages = repository.text_stages(conflict).expect("readable");
        let size = repository.marker_size(&conflict.path);
        assert_eq!(size, self.marker_size);
        ConflictSet::read(text, stages, repository.conflict_names(), size)
    }

    /// Returns the versions of a text in the index.
    fn versions(&self, repository: &Repository, conflict: &StagedConflict) -> Versions {
        let stages = repository.text_stages(conflict).expect("readable");
        let stages = stages.expect("a text");
        Versions {
            base: stages.base.as_deref().unwrap_or_default().to_owned(),
            ours: stages.ours.to_string(),
            theirs: stages.theirs.to_string(),
        }
    }

    /// Compares the conflict in a text with the results of git.
    fn check_text(&self, repository: &Repository, conflict: &StagedConflict) {
        let (what, text) = (self.what(conflict), self.text(conflict));
        let versions = self.versions(repository, conflict);
        let set = self.set(repository, conflict, &text);
        assert!(set.remaining() > 0, "{what}: {text:?}");
        for (resolution, option) in [(R::Ours, "--ours"), (R::Theirs, "--theirs")] {
            let taken = resolved(&text, set.clone(), resolution);
            assert_eq!(taken, versions.merged(&[option]), "{what}: {text:?}");
        }
        assert_eq!(self.text(conflict), text, "{what}: reading wrote");
        // The changes of one side alone are those that git applied.
        if self.style == "merge" && self.marker_size == 7 && !text.contains('\r') {
            let merged = merge_bytes(
                versions.base.as_bytes(),
                versions.ours.as_bytes(),
                versions.theirs.as_bytes(),
            );
            let theirs = self.theirs();
            let labels = ConflictLabels {
                ours: "HEAD",
                base: None,
                theirs: &theirs,
            };
            let left = String::from_utf8(merged.with_markers(labels)).expect("a text");
            assert_eq!(left, text, "{what}");
            assert_eq!(
                set.conflicts().len(),
                merged.conflict_lines().len(),
                "{what}"
            );
        }
    }

    /// Resolves a conflict with git.
    fn record(
        &self,
        repository: &Repository,
        conflict: &StagedConflict,
        random: &mut StdRng,
    ) -> RecordedChoice {
        let path = conflict.path.to_string();
        if conflict.is_text() {
            let versions = self.versions(repository, conflict);
            let (resolution, option) = random_lines(&versions, random);
            let options: Vec<&str> = [option].into_iter().chain(self.style_option()).collect();
            self.write(conflict, &versions.merged(&options));
            self.git(&["add", "--", &path]);
            return RecordedChoice::Lines(resolution);
        }
        let choices = conflict.choices();
        let choice = choices[random.random_range(0..choices.len())];
        match choice {
            ConflictChoice::Ours => self.git(&["checkout", "--quiet", "--ours", "--", &path]),
            ConflictChoice::Theirs => self.git(&["checkout", "--quiet", "--theirs", "--", &path]),
            ConflictChoice::Base => panic!("{}: no side has the file", self.what(conflict)),
            ConflictChoice::Remove => self.git(&["rm", "--quiet", "--force", "--", &path]),
        };
        if choice != ConflictChoice::Remove {
            self.git(&["add", "--", &path]);
        }
        RecordedChoice::Entry(choice)
    }

    /// Resolves a conflict as it was recorded.
    fn replay(&self, repository: &Repository, conflict: &StagedConflict, choice: RecordedChoice) {
        let what = self.what(conflict);
        let staged = match choice {
            RecordedChoice::Lines(resolution) => {
                let text = self.text(conflict);
                let set = self.set(repository, conflict, &text);
                self.write(conflict, &resolved(&text, set, resolution));
                repository.mark_resolved(conflict, &RealFiles)
            }
            RecordedChoice::Entry(choice) => repository.choose(conflict, choice, &RealFiles),
        };
        staged.unwrap_or_else(|error| panic!("{what}: {error}"));
    }

    /// Makes, records and replays the merge. Returns the kinds of its conflicts.
    fn check(&self, random: &mut StdRng) -> Vec<ConflictKind> {
        let repository = Repository::discover(&root(self.folder)).expect("a repository");
        let read = || repository.conflicts().expect("readable");
        self.begin();
        let conflicts = read();
        let by_git = self.git(&["diff", "--name-only", "--diff-filter=U", "-z"]);
        let by_git: BTreeSet<String> = by_git.split_terminator('\0').map(str::to_owned).collect();
        let paths: BTreeSet<String> = conflicts.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(paths, by_git, "merge {}", self.number);
        let texts = conflicts.iter().filter(|conflict| conflict.is_text());
        texts.for_each(|conflict| self.check_text(&repository, conflict));
        let record = |conflict| self.record(&repository, conflict, random);
        let choices: Vec<RecordedChoice> = conflicts.iter().map(record).collect();
        let recorded = self.git(&["write-tree"]);
        assert!(!recorded.is_empty(), "merge {}: not resolved", self.number);
        self.begin();
        assert_eq!(read(), conflicts, "merge {}: another one", self.number);
        for (conflict, choice) in conflicts.iter().zip(&choices) {
            self.replay(&repository, conflict, *choice);
        }
        let replayed = self.git(&["write-tree"]);
        assert_eq!(replayed, recorded, "merge {}: {choices:?}", self.number);
        let status = self.git(&["status", "--porcelain"]);
        let is_staged = status.lines().all(|line| line.as_bytes()[1] == b' ');
        assert!(is_staged, "merge {}: {status}", self.number);
        conflicts.iter().map(|conflict| conflict.kind).collect()
    }
}

/// Returns a resolution of all conflicts of a text, with the option of `git merge-file` that makes it. Git ends the last line
/// of our side also where nothing follows, so that both sides are only compared where every line has its ending.
fn random_lines(versions: &Versions, random: &mut StdRng) -> (R, &'static str) {
    let is_ended = |text: &String| text.is_empty() || text.ends_with('\n');
    let sides = [&versions.base, &versions.ours, &versions.theirs];
    let last = if sides.into_iter().all(is_ended) {
        3
    } else {
        2
    };
    match random.random_range(0..last) {
        0 => (R::Ours, "--ours"),
        1 => (R::Theirs, "--theirs"),
        _ => (R::OursThenTheirs, "--union"),
    }
}

fn root(folder: &Path) -> base::AbsPath {
    base::AbsPath::new(folder).expect("absolute")
}

#[test]
fn recorded_merges_are_replayed_to_the_same_tree() {
    if !has_git() {
        return skip("git is not installed");
    }
    let count = std::env::var("BURIN_CONFLICTS")
        .map_or(MERGES, |count| count.parse().expect("a number of merges"));
    let trees = |seed| random_trees(&mut StdRng::seed_from_u64(seed));
    let merges: Vec<[Tree; 3]> = (0..count).map(trees).collect();
    let fixture = Fixture::new();
    fixture.configure("core.autocrlf", "false");
    let folder = fixture.root().as_path();
    import(folder, &merges);
    let mut kinds: BTreeMap<ConflictKind, usize> = BTreeMap::new();
    for number in 0..merges.len() {
        let marker_size = if number % 5 == 4 { 12 } else { 7 };
        let attributes = format!("* conflict-marker-size={marker_size}\n");
        fixture.write(".git/info/attributes", &attributes);
        let merge = RecordedMerge {
            folder,
            number,
            style: ["merge", "diff3", "zdiff3"][number % 3],
            marker_size,
        };
        let random = &mut StdRng::seed_from_u64(number as u64);
        for kind in merge.check(random) {
            *kinds.entry(kind).or_default() += 1;
        }
    }
    let expected = [
        ConflictKind::Content,
        ConflictKind::Binary,
        ConflictKind::BothAdded,
        ConflictKind::RemovedByThem,
        ConflictKind::RemovedByUs,
    ];
    let is_there = |kind: &ConflictKind| kinds.contains_key(kind);
    let is_small = count < MERGES;
    assert!(is_small || expected.iter().all(is_there), "{kinds:?}");
}
