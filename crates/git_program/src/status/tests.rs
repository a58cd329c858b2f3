//! Tests of the parser of statuses.

use std::path::PathBuf;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::{ChangeLetter, EntryState, StatusReport, SubmoduleState, parse_status};

const ID: &str = "1234567890123456789012345678901234567890";

#[test]
fn every_kind_of_record_is_read() {
    let zero = "0".repeat(40);
    let output = format!(
        "# branch.oid {ID}\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -3\0# stash 4\0\
         1 .M N... 100644 100644 100755 {ID} {ID} a b\0\
         1 A. N... 000000 100644 100644 {zero} {ID} new\0\
         2 R. N... 100644 100644 100644 {ID} {ID} R87 to name\0from name\0\
         1 .M S.MU 160000 160000 160000 {ID} {ID} sub\0\
         u UU N... 100644 100644 100644 100644 {ID} {ID} {ID} both\0\
         ? un tracked\0! ignored\0x strange\0"
    );
    let report = parse_status(output.as_bytes());
    assert_eq!(report.branch.commit.as_deref(), Some(ID));
    assert_eq!(report.branch.name.as_deref(), Some("main"));
    assert_eq!((report.branch.ahead, report.branch.behind), (2, 3));
    assert_eq!((report.stashes, report.unknown), (4, 1));
    let names = report.entries.iter().map(|entry| entry.path.clone());
    let expected = [
        "a b",
        "new",
        "to name",
        "sub",
        "both",
        "un tracked",
        "ignored",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected.map(PathBuf::from));
    let tracked = |ix: usize| match &report.entries[ix].state {
        EntryState::Tracked(state) => state,
        other => panic!("{other:?}"),
    };
    assert_eq!(tracked(0).unstaged, Some(ChangeLetter::Modified));
    assert_eq!((tracked(0).staged, tracked(0).modes[2]), (None, 0o100_755));
    assert_eq!(tracked(1).staged, Some(ChangeLetter::Added));
    assert_eq!(tracked(2).source, Some(("from name".into(), 87)));
    let submodule = SubmoduleState {
        has_new_commit: false,
        is_modified: true,
        has_untracked: true,
    };
    assert_eq!(tracked(3).submodule, Some(submodule));
    assert!(matches!(
        &report.entries[4].state,
        EntryState::Unmerged {
            letters: [b'U', b'U'],
            ..
        }
    ));
}

#[test]
fn a_branch_without_commits_is_read() {
    let report = parse_status(b"# branch.oid (initial)\0# branch.head (detached)\0");
    assert_eq!((report.branch.commit, report.branch.name), (None, None));
    assert_eq!(parse_status(b""), StatusReport::default());
}

#[test]
fn damaged_output_never_panics() {
    let sound = format!(
        "2 R. N... 100644 100644 100644 {ID} {ID} R87 to\0from\0u UU N... 1 1 1 1 a b c d\0? x\0"
    );
    let seed = rand::rng().random();
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..2_000 {
        let mut bytes = sound.clone().into_bytes();
        for _ in 0..random.random_range(1..6) {
            let at = random.random_range(0..bytes.len());
            bytes[at] = [0, b' ', b'2', 0xff, b'#'][random.random_range(0..5)];
        }
        bytes.truncate(random.random_range(0..=bytes.len()));
        let report = parse_status(&bytes);
        assert!(report.entries.len() <= 12, "seed {seed}");
    }
}
