//! Tests of conflicts in texts and in the index, against the real git.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests run the real git in real working trees"
)]

mod recorded;

use std::path::Path;
use std::process::Command;

use base::ByteOffset;
use host::RealFiles;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use test_support::skip;
use text::{Buffer, EditOrigin, Timestamp};

use super::{
    ConflictChoice, ConflictNames, ConflictResolution as R, ConflictSet, ResolveError,
    StagedConflict, TextStages,
};
use crate::merge::ConflictKind;
use crate::repository::Repository;
use crate::repository::tests::Fixture;

fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok()
}

/// Runs git in a folder and returns its output; the exit status is not checked.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder);
    for setting in [
        "user.name=a",
        "user.email=a@example.org",
        "commit.gpgsign=false",
        "core.autocrlf=false",
    ] {
        command.args(["-c", setting]);
    }
    let output = command.args(arguments).output().expect("git runs");
    String::from_utf8(output.stdout).expect("text")
}

/// Three versions of a text.
struct Versions {
    base: String,
    ours: String,
    theirs: String,
}

impl Versions {
    fn stages(&self) -> TextStages {
        TextStages {
            base: Some(self.base.as_str().into()),
            ours: self.ours.as_str().into(),
            theirs: self.theirs.as_str().into(),
        }
    }

    fn merged(&self, options: &[&str]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [
            ("base", &self.base),
            ("ours", &self.ours),
            ("theirs", &self.theirs),
        ] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let start = ["merge-file", "-p", "--diff-algorithm=histogram"];
        let arguments = [&start[..], options, &["ours", "base", "theirs"][..]].concat();
        git(folder.path(), &arguments)
    }

    fn set(&self, text: &str) -> ConflictSet {
        ConflictSet::read(text, Some(self.stages()), None, 7)
    }
}

/// Resolves all conflicts of a text and returns the result.
fn resolved(text: &str, mut set: ConflictSet, resolution: R) -> String {
    let mut buffer = Buffer::new(text);
    let count = set.conflicts().len();
    assert_eq!(set.remaining(), count);
    let change = buffer.edit(
        &set.edits_for_all(resolution),
        &EditOrigin::user(Timestamp(0)),
    );
    set.follow(&change, &buffer.snapshot());
    let result = buffer.snapshot().to_string();
    assert_eq!(set.remaining(), 0, "{result:?} of {text:?}");
    // Undo opens the conflicts again, without any bookkeeping.
    if let Some(undone) = buffer.undo() {
        set.follow(&undone.change, &buffer.snapshot());
        assert_eq!(set.remaining(), count, "undone {text:?}");
        assert_eq!(buffer.snapshot().to_string(), text);
    }
    result
}

fn random_versions(random: &mut StdRng) -> Versions {
    let ending = if random.random_range(0..4) == 0 {
        "\r\n"
    } else {
        "\n"
    };
    let count = random.random_range(0..25);
    let base: Vec<String> = (0..count).map(|ix| format!("line {ix}")).collect();
    let mut version = |lines: &[String], edits: u32| {
        let mut lines = lines.to_vec();
        for _ in 0..random.random_range(0..=edits) {
            let at = random.random_range(0..=lines.len());
            let end = (at + random.random_range(0..3)).min(lines.len());
            let count = random.random_range(0..3);
            let new: Vec<String> = (0..count)
                .map(|_| random.random_range(0..12).to_string())
                .collect();
            lines.splice(at..end, new);
        }
        let mut text: String = lines.iter().map(|line| format!("{line}{ending}")).collect();
        if random.random_range(0..4) == 0 {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    };
    Versions {
        ours: version(&base, 4),
        theirs: version(&base, 4),
        base: version(&base, 0),
    }
}

#[test]
fn one_side_everywhere_equals_git_merge_file() {
    if !has_git() {
        return skip("git is not installed");
    }
    let mut conflicts = 0;
    for seed in 0..60 {
        let versions = random_versions(&mut StdRng::seed_from_u64(seed));
        let (ours, theirs) = (versions.merged(&["--ours"]), versions.merged(&["--theirs"]));
        let styles: [&[&str]; 3] = [&[], &["--diff3"], &["--zdiff3"]];
        for style in styles {
            let text = versions.merged(style);
            let set = versions.set(&text);
            conflicts += set.conflicts().len();
            let taken = resolved(&text, set.clone(), R::Ours);
            assert_eq!(taken, ours, "seed {seed} {style:?} of {text:?}");
            let taken = resolved(&text, set, R::Theirs);
            assert_eq!(taken, theirs, "seed {seed} {style:?} of {text:?}");
        }
    }
    assert!(conflicts > 10, "{conflicts} conflicts");
}

#[test]
fn markers_within_the_sides_are_no_conflicts() {
    let quoted = "<<<<<<< quoted\nx\n=======\ny\n>>>>>>> quoted\n";
    let versions = Versions {
        base: format!("{quoted}a\n"),
        ours: format!("{quoted}Title\n=======\n"),
        theirs: format!("{quoted}b\n"),
    };
    let text = format!("{quoted}<<<<<<< o\nTitle\n=======\n=======\nb\n>>>>>>> t\n");
    let mut set = versions.set(&text);
    assert_eq!(set.conflicts().len(), 1);
    assert_eq!(
        set.markers_left(&text),
        Some(ByteOffset(quoted.len())),
        "the quoted block is not counted"
    );
    let mut buffer = Buffer::new(&text);
    let edit = set.edit(0, R::Ours).expect("an edit");
    let change = buffer.edit(&[edit], &EditOrigin::user(Timestamp(0)));
    set.follow(&change, &buffer.snapshot());
    let result = buffer.snapshot().to_string();
    assert_eq!(result, versions.ours);
    assert_eq!(set.conflicts()[0].resolution(), Some(R::Ours));
    assert_eq!(set.markers_left(&result), None);
}

#[test]
fn edits_by_hand_resolve_once_no_marker_is_left() {
    let text = "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\ny\n";
    let mut set = ConflictSet::of_markers(text, None);
    let names = ConflictNames {
        ours: "HEAD".to_owned(),
        theirs: "topic".to_owned(),
    };
    assert_eq!(*set.names(), names);
    let mut buffer = Buffer::new(text);
    let mut replace = |set: &mut ConflictSet, old: &str, new: &str| {
        let now = buffer.snapshot().to_string();
        let at = now.find(old).expect("there");
        let span = (at..at + old.len()).into();
        let change = buffer.replace(span, new, &EditOrigin::user(Timestamp(0)));
        set.follow(&change, &buffer.snapshot());
        set.conflicts()[0].resolution()
    };
    assert_eq!(replace(&mut set, "<<<<<<< HEAD\na\n=======\n", ""), None);
    assert_eq!(
        replace(&mut set, ">>>>>>> topic\n", ""),
        Some(R::Theirs),
        "the text left is theirs"
    );
    assert_eq!(replace(&mut set, "b", "c"), Some(R::Edited));
    assert_eq!(set.remaining(), 0);
}

#[test]
fn resolutions_have_both_orders_and_the_base() {
    let versions = Versions {
        base: "a\nb\nc\n".to_owned(),
        ours: "a\n1\nc\n".to_owned(),
        theirs: "a\n2\nc\n".to_owned(),
    };
    let text = "a\r\n<<<<<<< o\r\n1\r\n=======\r\n2\r\n>>>>>>> t\r\nc\r\n";
    let set = versions.set(text);
    let texts =
        [R::OursThenTheirs, R::TheirsThenOurs, R::Base].map(|it| set.conflicts()[0].text_of(it));
    let expected = ["1\r\n2\r\n", "2\r\n1\r\n", "b\r\n"].map(|it| Some(it.to_owned()));
    assert_eq!(texts, expected);
    assert_eq!(set.conflicts()[0].text_of(R::Edited), None);
}

#[test]
fn both_sides_are_joined_by_the_line_ending_of_the_text() {
    let versions = Versions {
        base: "a\r\nb\r\n".to_owned(),
        ours: "a\r\n1".to_owned(),
        theirs: "a\r\n2".to_owned(),
    };
    let text = "a\r\n<<<<<<< o\r\n1\r\n=======\r\n2\r\n>>>>>>> t\r\n";
    let both = resolved(text, versions.set(text), R::OursThenTheirs);
    assert_eq!(both, "a\r\n1\r\n2");
    assert_eq!(both, versions.merged(&["--union"]), "as git joins them");
}

#[test]
fn steps_go_to_open_conflicts_only() {
    let block = "<<<<<<< o\n1\n=======\n2\n>>>>>>> t\n-\n";
    let text = block.repeat(200);
    let mut set = ConflictSet::of_markers(&text, None);
    assert_eq!(set.remaining(), 200);
    let mut buffer = Buffer::new(&text);
    let edit = set.edit(1, R::Ours).expect("an edit");
    let change = buffer.edit(&[edit], &EditOrigin::user(Timestamp(0)));
    assert!(set.follow(&change, &buffer.snapshot()));
    assert_eq!(set.remaining(), 199);
    assert_eq!(set.next(ByteOffset(0)), Some(2));
    let third = set.conflicts()[2].span().start;
    assert_eq!(set.previous(third), Some(0));
    assert_eq!(set.at(third), Some(2));
    assert_eq!(set.previous(ByteOffset(0)), Some(199), "it wraps around");
    let last = set.conflicts()[199].span().start;
    assert_eq!(set.next(last), Some(0));
}

/// Creates a repository in which a merge of `topic` into `main` conflicts.
fn conflicting(base: &[(&str, &str)], ours: &[(&str, &str)], theirs: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new();
    let folder = fixture.root().as_path();
    let commit = |files: &[(&str, &str)], subject: &str| {
        for &(name, text) in files {
            if text.is_empty() {
                git(folder, &["rm", "-q", name]);
            } else {
                fixture.write(name, text);
            }
        }
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", subject]);
    };
    git(folder, &["checkout", "-q", "-b", "main"]);
    commit(base, "base");
    git(folder, &["checkout", "-q", "-b", "topic"]);
    commit(theirs, "their change");
    git(folder, &["checkout", "-q", "main"]);
    commit(ours, "our change");
    git(folder, &["merge", "-q", "topic"]);
    fixture
}

fn only(repository: &Repository) -> StagedConflict {
    let mut conflicts = repository.conflicts().expect("readable");
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    conflicts.remove(0)
}

fn unmerged(fixture: &Fixture) -> usize {
    let folder = fixture.root().as_path();
    git(folder, &["ls-files", "-u"]).lines().count()
}

#[test]
fn resolved_text_is_staged_and_taken_back() {
    if !has_git() {
        return skip("git is not installed");
    }
    let fixture = conflicting(&[("a", "1\n")], &[("a", "2\n")], &[("a", "3\n")]);
    let repository = Repository::discover(fixture.root()).expect("a repository");
    let conflict = only(&repository);
    assert_eq!(conflict.kind, ConflictKind::Content);
    let names = repository.conflict_names().expect("a merge goes on");
    assert_eq!((&*names.ours, &*names.theirs), ("main", "topic"));
    let stages = repository.text_stages(&conflict).expect("readable");
    assert_eq!(&*stages.expect("a text").theirs, "3\n");
    let refused = repository.mark_resolved(&conflict, &RealFiles);
    assert!(
        matches!(refused, Err(ResolveError::MarkersLeft { line: 1, .. })),
        "{refused:?}"
    );
    assert_eq!(unmerged(&fixture), 3);
    fixture.write("a", "4\n");
    let resolved = repository.mark_resolved(&conflict, &RealFiles);
    let resolved = resolved.expect("no marker is left");
    assert_eq!(unmerged(&fixture), 0);
    assert_eq!(git(fixture.root().as_path(), &["show", ":a"]), "4\n");
    let again = repository.mark_resolved(&conflict, &RealFiles);
    assert!(matches!(again, Err(ResolveError::Changed(_))), "{again:?}");
    repository
        .restore_conflict(&resolved, &RealFiles)
        .expect("the index is writable");
    assert_eq!(unmerged(&fixture), 3);
    assert_eq!(only(&repository), conflict);
}

#[test]
fn held_index_lock_leaves_conflict_and_lock() {
    if !has_git() {
        return skip("git is not installed");
    }
    let fixture = conflicting(&[("a", "1\n")], &[("a", "2\n")], &[("a", "3\n")]);
    let repository = Repository::discover(fixture.root()).expect("a repository");
    let conflict = only(&repository);
    fixture.write("a", "4\n");
    let lock = fixture.write(".git/index.lock", "of another program");
    let refused = repository.mark_resolved(&conflict, &RealFiles);
    assert!(matches!(refused, Err(ResolveError::Busy)), "{refused:?}");
    assert!(lock.as_path().exists());
    // A lock that a killed process of ours left is taken over.
    let mark = String::from_utf8_lossy(crate::land::LOCK_MARK);
    fixture.write(".git/index.lock", &mark);
    repository
        .mark_resolved(&conflict, &RealFiles)
        .expect("the lock is ours");
    assert!(!lock.as_path().exists());
    assert_eq!(unmerged(&fixture), 0);
}

#[test]
fn removed_and_binary_files_are_chosen_as_a_whole() {
    if !has_git() {
        return skip("git is not installed");
    }
    let removed = conflicting(&[("a", "1\n"), ("b", "b\n")], &[("a", "")], &[("a", "3\n")]);
    let repository = Repository::discover(removed.root()).expect("a repository");
    let conflict = only(&repository);
    assert_eq!(conflict.kind, ConflictKind::RemovedByUs);
    let choices = [ConflictChoice::Theirs, ConflictChoice::Remove];
    assert_eq!(conflict.choices(), choices);
    repository
        .choose(&conflict, ConflictChoice::Remove, &RealFiles)
        .expect("the file is theirs");
    assert_eq!(unmerged(&removed), 0);
    assert!(!removed.root().join("a").as_path().exists());

    let binary = conflicting(&[("a", "1\0")], &[("a", "2\0")], &[("a", "3\0")]);
    let repository = Repository::discover(binary.root()).expect("a repository");
    let conflict = only(&repository);
    assert_eq!(conflict.kind, ConflictKind::Binary);
    let edited = binary.write("a", "edited\0");
    let refused = repository.choose(&conflict, ConflictChoice::Theirs, &RealFiles);
    assert!(
        matches!(refused, Err(ResolveError::Changed(_))),
        "{refused:?}"
    );
    binary.write("a", "2\0");
    repository
        .choose(&conflict, ConflictChoice::Theirs, &RealFiles)
        .expect("the file is ours");
    assert_eq!(std::fs::read(edited.as_path()).expect("there"), b"3\0");
    assert_eq!(unmerged(&binary), 0);
}

#[test]
fn sides_of_a_rebase_are_named_by_their_roles() {
    if !has_git() {
        return skip("git is not installed");
    }
    let fixture = conflicting(&[("a", "1\n")], &[("a", "2\n")], &[("a", "3\n")]);
    let folder = fixture.root().as_path();
    git(folder, &["merge", "--abort"]);
    git(folder, &["checkout", "-q", "topic"]);
    git(folder, &["rebase", "-q", "main"]);
    let repository = Repository::discover(fixture.root()).expect("a repository");
    let names = repository.conflict_names().expect("a rebase goes on");
    assert_eq!(names.ours, "onto main");
    assert_eq!(names.theirs, "your commit being replayed: their change");
}
