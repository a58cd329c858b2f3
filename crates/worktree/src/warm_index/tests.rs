use super::*;

fn varint(length: usize) -> usize {
    let content = [length_of(length), LOCATION.to_vec(), vec![0; length]].concat();
    begins(&content, 0).unwrap().1
}

#[test]
fn lengths_are_read_as_they_are_written() {
    for length in [9, 10, 127, 128, 129, 4200, 16_511, 16_512, 70_000] {
        assert_eq!(varint(length), length);
    }
    assert_eq!(length_of(0), [0]);
    assert_eq!(length_of(128), [0x80, 0]);
}

/// An index with notes on folders, as far as it is looked at.
fn index(name: &str) -> Vec<u8> {
    let notes = [
        length_of(name.len()),
        name.as_bytes().to_vec(),
        b"rest".to_vec(),
    ]
    .concat();
    let mut index = b"DIRC....entries UNTR no notes".to_vec();
    index.extend_from_slice(b"UNTR");
    index.extend_from_slice(&u32::try_from(notes.len()).unwrap().to_be_bytes());
    index.extend_from_slice(&notes);
    index.extend_from_slice(b"FSMN....");
    let hash = Sha1::from(&index).digest().bytes();
    index.extend_from_slice(&hash);
    index
}

#[test]
fn the_name_of_a_worktree_finds_its_place() {
    let base = tempfile::tempdir().unwrap();
    let old = "Location /somewhere/else, system Linux\0";
    fs::write(file(base.path()), widened(&index(old)).unwrap()).unwrap();
    let warm = WarmIndex::of(base.path()).unwrap();
    let root = base.path().canonicalize().unwrap().join("mnt/tree");
    fs::create_dir_all(&root).unwrap();
    let content = warm.for_worktree(&root).unwrap();
    let name = format!("Location {}, system Linux", root.display());
    let mut padded = name.into_bytes();
    padded.resize(PLACE, 0);
    assert_eq!(content, index(std::str::from_utf8(&padded).unwrap()));
}

#[test]
fn what_is_torn_or_without_notes_is_none() {
    let base = tempfile::tempdir().unwrap();
    let whole = widened(&index("Location /a, system Linux\0")).unwrap();
    let check = |content: &[u8]| {
        fs::write(file(base.path()), content).unwrap();
        assert!(WarmIndex::of(base.path()).is_none());
    };
    assert!(WarmIndex::of(base.path()).is_none());
    check(b"");
    check(b"DIRC");
    check(&index("Location /a, system Linux\0"));
    for at in [0, 20, whole.len() / 2, whole.len() - 1] {
        let mut spoilt = whole.clone();
        spoilt[at] ^= 1;
        check(&spoilt);
        check(&whole[..at]);
    }
    assert_eq!(widened(b"DIRC no notes at all, just words"), None);
}
