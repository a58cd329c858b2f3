//! Tests of the decisions over volumes and names.

use std::collections::{BTreeMap, BTreeSet};

use base::AbsPath;
use git::lease::CommitFile;
use host::{FakeFiles, Files as _};
use test_support::{Spellings, spelling_count};

use super::*;

fn facts(file_system: &str, is_local: bool, can_clone: bool) -> VolumeFacts {
    VolumeFacts {
        file_system: file_system.to_owned(),
        is_local,
        can_clone,
        folds_case: false,
        normalizes: false,
    }
}

#[test]
fn volumes_without_links_or_across_a_network_are_refused() {
    for (file_system, is_local, can_clone, reason) in [
        ("apfs", true, true, ""),
        ("hfs", true, false, ""),
        ("ext4", true, false, ""),
        ("other", true, false, ""),
        ("nfs", false, true, ""),
        ("nfs", false, false, "network volume (nfs)"),
        ("smbfs", false, false, "network volume (smbfs)"),
        ("webdav", false, false, "network volume (webdav)"),
        ("exfat", true, false, "no links"),
        ("exfat", true, true, "no links"),
        ("msdos", true, false, "no links"),
    ] {
        let facts = facts(file_system, is_local, can_clone);
        let refusal = facts.refusal_with(false).unwrap_or_default();
        assert_eq!(refusal.is_empty(), reason.is_empty(), "{file_system}");
        assert!(refusal.contains(reason), "{file_system}: {refusal}");
        // Where locks hold, a network volume is as good as any other.
        let is_refused = facts.refusal_with(true).is_some();
        assert_eq!(is_refused, file_system == "exfat" || file_system == "msdos");
    }
}

fn contents(files: &[&str], submodules: &[&str]) -> CommitContents {
    let file = |path: &&str| CommitFile {
        path: path.as_bytes().to_vec(),
        id: String::new(),
        mode: 0o100644,
    };
    CommitContents {
        files: files.iter().map(file).collect(),
        submodules: submodules
            .iter()
            .map(|path| path.as_bytes().to_vec())
            .collect(),
    }
}

/// Checks a commit on a volume; `expected` names two paths, or is empty.
fn check(files: &[&str], submodules: &[&str], rules: NameRules, expected: &[&str]) {
    let found = check_names(&contents(files, submodules), rules, Path::new("/pool"));
    match found {
        Ok(_) => assert_eq!(expected, [""; 0], "{files:?}"),
        Err(error) => {
            let Error::SameName { one, other, .. } = &error else {
                panic!("{error}");
            };
            assert_eq!(expected, [one, other], "{files:?}");
            let said = error.to_string();
            assert!(expected.iter().all(|name| said.contains(name)), "{said}");
        }
    }
}

#[test]
fn files_that_a_volume_takes_for_one_are_found() {
    let case_only = NameRules {
        folds_case: true,
        normalizes: false,
    };
    let form_only = NameRules {
        folds_case: false,
        normalizes: true,
    };
    let folding = NameRules::FOLDING;
    let pairs = ["Makefile", "makefile"];
    check(&pairs, &[], NameRules::EXACT, &[]);
    check(&pairs, &[], form_only, &[]);
    check(&pairs, &[], case_only, &pairs);
    check(&pairs, &[], folding, &pairs);
    let forms = ["caf\u{e9}", "cafe\u{301}"];
    check(&forms, &[], case_only, &[]);
    check(&forms, &[], form_only, &forms);
    check(
        &["src/Stra\u{df}e", "src/STRASSE"],
        &[],
        folding,
        &["src/Stra\u{df}e", "src/STRASSE"],
    );
    check(&["Src/a", "src/a"], &[], folding, &["Src/a", "src/a"]);
    check(&["Src", "src/deep/a"], &[], folding, &["Src", "src/deep/a"]);
    check(&["Lib/a"], &["lib"], folding, &["lib", "Lib/a"]);
    check(&["a", "b/a", "B/c", "b/d"], &[], folding, &[]);
}

/// Names that differ on every volume, written as `Spellings` wants them; two are folders of others.
const NAMES: [&str; 9] = [
    "makefile",
    "src/strasse",
    "src/strasse/first.rs",
    "src/strasse/kiosk.rs",
    "docs/caf\u{e9}",
    "docs/caf\u{e9}/baffle.md",
    "docs/\u{1ec7}\u{fc}\u{e5}",
    "lib/\u{ac00}\u{3c3}",
    "lib/kiss",
];

/// Paths of a commit, each with the name of which it is a spelling.
type Spelled = BTreeMap<String, &'static str>;

fn random_commit(spellings: &mut Spellings) -> Spelled {
    let count = 2 + spellings.below(5);
    let mut commit = Spelled::new();
    for _ in 0..count {
        let name = NAMES[spellings.below(NAMES.len())];
        let path = spellings.of(name);
        // No tree has a file and a folder in the same spelling.
        if !commit.keys().any(|known| is_in_other(known, &path)) {
            commit.insert(path, name);
        }
    }
    commit
}

/// Returns whether one of two paths is a folder of the other.
fn is_in_other(one: &str, other: &str) -> bool {
    let is_in = |path: &str, folder: &str| {
        let rest = path.strip_prefix(folder);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    is_in(one, other) || is_in(other, one)
}

/// Returns whether a volume that folds names cannot hold spellings of both names.
fn excludes(one: &str, other: &str) -> bool {
    one == other || is_in_other(one, other)
}

/// Returns whether some folder has two spellings.
fn has_merged_folders(commit: &Spelled) -> bool {
    let mut spelled: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, name) in commit {
        let ends = path.match_indices('/').zip(name.match_indices('/'));
        for ((end, _), (name_end, _)) in ends {
            let folder = spelled.entry(&name[..name_end]).or_default();
            folder.insert(&path[..end]);
        }
    }
    spelled.values().any(|spelled| spelled.len() > 1)
}

/// Checks a commit out into files in memory whose names fold; returns whether every file has its place.
fn fits(commit: &Spelled, rules: NameRules) -> bool {
    let files = FakeFiles::with_names(rules);
    let root = AbsPath::new("/Pool/Tree").expect("absolute");
    commit.keys().all(|path| {
        let path = root.join(path);
        let folder = files.create_folder(&path.parent().expect("a folder"));
        folder.and_then(|()| files.create_file(&path)).is_ok()
    })
}

#[test]
fn a_commit_is_refused_if_and_only_if_the_volume_cannot_hold_it() {
    let folding = NameRules::FOLDING;
    let case_only = NameRules {
        normalizes: false,
        ..folding
    };
    let form_only = NameRules {
        folds_case: false,
        ..folding
    };
    let mut spellings = Spellings::new(61);
    let mut refused = 0;
    let rounds = spelling_count(400);
    for _ in 0..rounds {
        let commit = random_commit(&mut spellings);
        let paths: Vec<&str> = commit.keys().map(String::as_str).collect();
        let contents = contents(&paths, &[]);
        let check = |rules| check_names(&contents, rules, Path::new("/pool"));
        for rules in [NameRules::EXACT, case_only, form_only, folding] {
            assert_eq!(check(rules).is_ok(), fits(&commit, rules), "{paths:?}");
        }
        let names: Vec<&str> = commit.values().copied().collect();
        let is_pair = |ix: usize| names[..ix].iter().any(|name| excludes(name, names[ix]));
        let has_pair = (1..names.len()).any(is_pair);
        match check(folding) {
            Ok(merged) => {
                assert!(!has_pair, "{paths:?}");
                assert_eq!(merged.is_some(), has_merged_folders(&commit), "{paths:?}");
            }
            Err(Error::SameName { one, other, .. }) => {
                refused += 1;
                assert!(has_pair, "{paths:?}");
                assert!(excludes(commit[&one], commit[&other]), "{one} and {other}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(
        refused > rounds / 10 && refused < rounds,
        "{refused} of {rounds} were refused"
    );
}

#[test]
fn folders_that_become_one_are_told() {
    let rules = NameRules::FOLDING;
    let found = |files: &[&str]| check_names(&contents(files, &[]), rules, Path::new("/"));
    let merged = found(&["docs/x/a", "Docs/b"]).unwrap();
    assert_eq!(merged, Some(("docs".to_owned(), "Docs".to_owned())));
    assert_eq!(found(&["docs/x/a", "docs/b", "x/docs/c"]).unwrap(), None);
}

#[test]
fn this_volume_is_examined_by_doing() {
    let folder = tempfile::tempdir().unwrap();
    let facts = VolumeFacts::probe(folder.path(), folder.path(), false).unwrap();
    fs::write(folder.path().join("Other"), "").unwrap();
    let folds = folder.path().join("oTHER").exists();
    assert_eq!(facts.names().folds_case, folds);
}
