//! Tests of stored spellings and of the rules of a volume, on the fake and on the disk.

use std::collections::BTreeMap;

use base::{AbsPath, NameRules};
use test_support::{FoldingVolume, Spellings, skip, spelling_count};

use crate::error::ErrorReason;
use crate::fake::FakeFiles;
use crate::files::{ExpectedContent, Files, SaveMethod, SaveRequest};
use crate::real::RealFiles;
use crate::stat::FileKind;
use crate::temp::TempFolder;

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

fn folding() -> FakeFiles {
    let files = FakeFiles::with_names(NameRules::FOLDING);
    files.write(&path("/Users/Ada/Straße/Caf\u{e9}.txt"), "one");
    files
}

const SPELLINGS: [&str; 5] = [
    "/Users/Ada/Straße/Caf\u{e9}.txt",
    "/users/ADA/STRASSE/cafe\u{301}.TXT",
    "/USERS/ada/stra\u{1e9e}e/CAFE\u{301}.txt",
    "/U\u{17f}ers/Ada/Straße/Caf\u{e9}.txt",
    "/Users/Ada/strasse/CAF\u{c9}.txt",
];

#[test]
fn every_spelling_leads_to_the_stored_one() {
    let files = folding();
    let stored = path(SPELLINGS[0]);
    for spelling in SPELLINGS.map(path) {
        assert_eq!(files.read(&spelling, 9).expect("a file"), b"one");
        assert_eq!(files.stored_path(&spelling), stored);
        assert_eq!(files.canonicalize(&spelling).expect("a path"), stored);
    }
    let missing = files.stored_path(&path("/USERS/ADA/New/File"));
    assert_eq!(missing, path("/Users/Ada/New/File"));
}

#[test]
fn a_save_under_another_spelling_replaces_the_file() {
    let files = folding();
    let request = SaveRequest {
        path: &path(SPELLINGS[1]),
        content: b"two",
        expected: ExpectedContent::Anything,
        recovery_folder: &path("/recovery"),
    };
    let saved = files.save(&request).expect("saved");
    assert_eq!(saved.method, SaveMethod::Replaced);
    let folder = path("/users/ada/strasse");
    let listing = files.list(&folder).expect("a listing");
    let names: Vec<_> = listing.entries.iter().map(|it| it.path.name()).collect();
    assert_eq!(names, ["Caf\u{e9}.txt"]);
    assert_eq!(files.content(&path(SPELLINGS[0])), Some(b"two".to_vec()));
}

#[test]
fn a_taken_name_is_taken_in_every_spelling() {
    let files = folding();
    let other = path("/other");
    files.write(&other, "x");
    for spelling in SPELLINGS.map(path) {
        let reason = |error: crate::Error| error.reason;
        let created = files.create_file(&spelling).map_err(reason);
        assert_eq!(created, Err(ErrorReason::AlreadyExists));
        let renamed = files.rename(&other, &spelling).map_err(reason);
        assert_eq!(renamed, Err(ErrorReason::AlreadyExists));
    }
}

#[test]
fn a_rename_can_change_only_the_case() {
    let files = folding();
    let renames = [
        (SPELLINGS[0], "/Users/Ada/Straße/CAF\u{c9}.txt"),
        ("/users/ada/strasse", "/Users/Ada/STRASSE"),
    ];
    for (from, to) in renames {
        files.rename(&path(from), &path(to)).expect("renamed");
    }
    let stored = path("/Users/Ada/STRASSE/CAF\u{c9}.txt");
    assert_eq!(files.stored_path(&path(SPELLINGS[0])), stored);
    assert_eq!(files.content(&stored), Some(b"one".to_vec()));
    let listing = files.list(&path("/Users/Ada")).expect("a listing");
    assert_eq!(listing.entries.len(), 1);
}

#[test]
fn a_lock_is_one_in_every_spelling() {
    let files = folding();
    let [first, rest @ ..] = SPELLINGS.map(path);
    let held = files.lock(&first).expect("a lock");
    assert!(held.is_some());
    for spelling in &rest {
        assert!(files.lock(spelling).expect("an answer").is_none());
    }
    drop(held);
    assert!(files.lock(&rest[0]).expect("an answer").is_some());
}

#[test]
fn the_rules_of_a_volume_are_found() {
    assert_eq!(
        folding().name_rules(&path("/Users/ADA")),
        NameRules::FOLDING
    );
    let case_only = NameRules {
        folds_case: true,
        normalizes: false,
    };
    let files = FakeFiles::with_names(case_only);
    files.write(&path("/a/\u{e9}"), "x");
    assert_eq!(files.name_rules(&path("/a")), case_only);
    let exact = FakeFiles::new();
    exact.write(&path("/a/b"), "x");
    assert_eq!(exact.name_rules(&path("/a")), NameRules::EXACT);
    assert_eq!(exact.name_rules(&path("/a/missing")), NameRules::EXACT);
    // No source reveals a rule: no name has another spelling.
    let silent = FakeFiles::with_names(NameRules::FOLDING);
    silent.write(&path("/1/2"), "x");
    assert_eq!(silent.name_rules(&path("/1")), NameRules::EXACT);
}

#[test]
fn names_that_the_disk_keeps_apart_stay_apart() {
    let folder = TempFolder::new().expect("a folder");
    let rules = RealFiles.name_rules(folder.path());
    if rules.folds_case {
        return skip("the temporary folder folds case");
    }
    let (lower, upper) = (folder.path().join("name"), folder.path().join("NAME"));
    std::fs::write(&lower, "x").expect("a file");
    std::fs::hard_link(&lower, &upper).expect("a link");
    for path in [&lower, &upper] {
        assert_eq!(&RealFiles.stored_path(path), path);
        assert_eq!(&RealFiles.canonicalize(path).expect("a path"), path);
    }
    assert_eq!(RealFiles.name_rules(folder.path()), rules);
}

/// Names that differ on every volume, written as `Spellings` wants them.
const NAMES: [&str; 8] = [
    "src/kiss.rs",
    "src/straße.txt",
    "src/caf\u{e9}/first.md",
    "src/caf\u{e9}/baffle.md",
    "docs/\u{1ec7}\u{fc}\u{e5}",
    "docs/\u{ac00}σ",
    "docs/kiosk",
    "readme",
];

#[test]
fn one_file_is_never_two_and_never_lost() {
    let root = path("/Work");
    let files = FakeFiles::with_names(NameRules::FOLDING);
    let mut spellings = Spellings::new(36);
    let mut expected: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for round in 0..spelling_count(400) {
        let ix = spellings.below(NAMES.len());
        // A sharp s is itself a spelling, and not the lower case of its folding.
        let name = NAMES[ix].replace('ß', "ss");
        let spelled = root.join(spellings.of(&name));
        files
            .create_folder(&spelled.parent().expect("a folder"))
            .expect("a folder");
        change(&files, &spelled, round, ix, &mut spellings, &mut expected);
        assert_eq!(
            files.exists(&spelled),
            expected.contains_key(&ix),
            "{spelled}"
        );
        let found = listed(&files, &root);
        assert_eq!(found.len(), expected.len(), "round {round}: {found:?}");
        for (ix, content) in &expected {
            let spelled = root.join(spellings.of(&NAMES[*ix].replace('ß', "ss")));
            assert_eq!(files.content(&spelled).as_ref(), Some(content), "{spelled}");
            assert!(found.contains(&files.stored_path(&spelled)), "{spelled}");
        }
    }
}

/// Makes one change of a file under one of its spellings, in the files and in the model.
fn change(
    files: &FakeFiles,
    spelled: &AbsPath,
    round: usize,
    ix: usize,
    spellings: &mut Spellings,
    expected: &mut BTreeMap<usize, Vec<u8>>,
) {
    let content = round.to_string().into_bytes();
    let is_there = expected.contains_key(&ix);
    match spellings.below(5) {
        0 => {
            assert_eq!(files.create_file(spelled).is_ok(), !is_there, "{spelled}");
            expected.entry(ix).or_default();
        }
        1 if is_there => {
            files.remove(spelled).expect("removed");
            expected.remove(&ix);
        }
        2 if is_there => {
            let name = NAMES[ix].rsplit('/').next().unwrap_or_default();
            let other = spellings.of(&name.replace('ß', "ss"));
            let folder = spelled.parent().expect("a folder");
            let to = folder.join(other);
            match files.rename(spelled, &to) {
                Ok(()) => assert_eq!(files.stored_path(spelled).file_name(), to.file_name()),
                Err(error) => assert_eq!(error.reason, ErrorReason::AlreadyExists),
            }
        }
        3 => {
            files.write_private(spelled, &content).expect("written");
            expected.insert(ix, content);
        }
        _ => {
            let request = SaveRequest {
                path: spelled,
                content: &content,
                expected: ExpectedContent::Anything,
                recovery_folder: &path("/recovery"),
            };
            let saved = files.save(&request).expect("saved");
            assert_eq!(saved.method == SaveMethod::Created, !is_there, "{spelled}");
            expected.insert(ix, content);
        }
    }
}

fn listed(files: &FakeFiles, folder: &AbsPath) -> Vec<AbsPath> {
    let Ok(listing) = files.list(folder) else {
        return Vec::new();
    };
    let below = listing
        .entries
        .into_iter()
        .flat_map(|entry| match entry.kind {
            FileKind::Folder => listed(files, &entry.path),
            _ => vec![entry.path],
        });
    below.collect()
}

#[test]
fn the_disk_leads_every_spelling_to_the_stored_one() {
    let volume = match FoldingVolume::mount() {
        Ok(volume) => volume,
        Err(error) => return skip(format!("a FUSE volume cannot be mounted: {error}")),
    };
    let root = AbsPath::new(volume.path()).expect("absolute");
    let stored = root.join("Strasse/Caf\u{e9}/Kiosk.txt");
    let folder = stored.parent().expect("a folder");
    RealFiles.create_folder(&folder).expect("a folder");
    RealFiles.create_file(&stored).expect("a file");
    assert_eq!(RealFiles.name_rules(&root), NameRules::FOLDING);
    let mut spellings = Spellings::new(5);
    for round in 0..spelling_count(60) {
        let spelled = root.join(spellings.of("strasse/caf\u{e9}/kiosk.txt"));
        assert_eq!(RealFiles.stored_path(&spelled), stored);
        assert_eq!(RealFiles.canonicalize(&spelled).expect("a path"), stored);
        let content = round.to_string();
        let request = SaveRequest {
            path: &spelled,
            content: content.as_bytes(),
            expected: ExpectedContent::Anything,
            recovery_folder: &root.join("recovery"),
        };
        RealFiles.save(&request).expect("saved");
        assert_eq!(
            RealFiles.read(&stored, 9).expect("a file"),
            content.as_bytes()
        );
        let listing = RealFiles.list(&folder).expect("a listing");
        assert_eq!(listing.entries.len(), 1, "{listing:?}");
        assert_eq!(listing.entries[0].path, stored);
        assert!(RealFiles.create_file(&spelled).is_err());
        let held = RealFiles.lock(&stored).expect("a lock");
        assert!(held.is_some() && RealFiles.lock(&spelled).expect("an answer").is_none());
    }
}
