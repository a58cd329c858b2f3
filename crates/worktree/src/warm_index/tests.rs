//! The worktree's name in an index: found, replaced, and rejected if anything is unexpected.

use super::*;

fn varint(length: usize) -> usize {
    let content = [length_of(length), LOCATION.to_vec(), vec![0; length]].concat();
    location_at(&content, 0).unwrap().1
}

#[test]
fn lengths_are_read_as_they_are_written() {
    for length in [9, 10, 127, 128, 129, 4200, 16_511, 16_512, 70_000] {
        assert_eq!(varint(length), length);
    }
    assert_eq!(length_of(0), [0]);
    assert_eq!(length_of(128), [0x80, 0]);
}

/// An index of some files with notes on folders, in which the names of files look like such notes.
fn index(version: u32, name: &str) -> Vec<u8> {
    let files = ["a", "UNTR    \u{9}Location x", "long/enough/for/more"];
    let mut index = b"DIRC".to_vec();
    index.extend_from_slice(&version.to_be_bytes());
    index.extend_from_slice(&3_u32.to_be_bytes());
    for file in files {
        let start = index.len();
        index.resize(start + 60, 1);
        index.extend_from_slice(&[0, file.len() as u8]);
        if version == 4 {
            index.extend_from_slice(&[129, 3]);
            index.extend_from_slice(file.as_bytes());
            index.push(0);
        } else {
            index.extend_from_slice(file.as_bytes());
            index.push(0);
            while !(index.len() - start).is_multiple_of(8) {
                index.push(0);
            }
        }
    }
    let trap = "UNTR\0\0\0\u{20}\u{9}Location x";
    let notes = [length_of(name.len()), name.as_bytes().to_vec(), trap.into()].concat();
    for (kind, notes) in [("TREE", trap.as_bytes()), ("UNTR", &notes), ("FSMN", b"..")] {
        index.extend_from_slice(kind.as_bytes());
        index.extend_from_slice(&u32::try_from(notes.len()).unwrap().to_be_bytes());
        index.extend_from_slice(notes);
    }
    let hash = Sha1::from(&index).digest().bytes();
    index.extend_from_slice(&hash);
    index
}

#[test]
fn the_name_of_a_worktree_finds_its_place() {
    for version in [2, 4] {
        let base = tempfile::tempdir().unwrap();
        let old = "Location /somewhere/else, system Linux\0";
        let wide = widen_location(&index(version, old)).unwrap();
        fs::write(file(base.path()), wide).unwrap();
        let warm = WarmIndex::load(base.path()).unwrap();
        let root = base.path().canonicalize().unwrap().join("mnt/tree");
        fs::create_dir_all(&root).unwrap();
        let content = warm.for_worktree(&root).unwrap();
        let name = format!("Location {}, system Linux", root.display());
        let mut padded = name.into_bytes();
        padded.resize(LOCATION_BYTES, 0);
        let padded = std::str::from_utf8(&padded).unwrap();
        assert_eq!(content, index(version, padded), "version {version}");
    }
}

#[test]
fn damaged_or_incomplete_indexes_are_not_used() {
    let base = tempfile::tempdir().unwrap();
    let whole = widen_location(&index(2, "Location /a, system Linux\0")).unwrap();
    let check = |content: &[u8]| {
        fs::write(file(base.path()), content).unwrap();
        assert!(WarmIndex::load(base.path()).is_none());
    };
    assert!(WarmIndex::load(base.path()).is_none());
    check(b"");
    check(b"DIRC");
    check(&index(2, "Location /a, system Linux\0"));
    for at in [0, 20, whole.len() / 2, whole.len() - 1] {
        let mut spoilt = whole.clone();
        spoilt[at] ^= 1;
        check(&spoilt);
        check(&whole[..at]);
    }
    assert_eq!(widen_location(b"DIRC no notes at all, just words"), None);
}

#[test]
fn whatever_the_bytes_nothing_breaks() {
    let whole = index(2, "Location /a, system Linux\0");
    let mut seed = 1_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + next(4) {
            let at = next(bytes.len());
            bytes[at] = [0, 1, 127, 128, 255, 4][next(6)];
        }
        bytes.truncate(whole.len() - next(3) * next(whole.len()) / 3);
        widen_location(&bytes);
    }
}
