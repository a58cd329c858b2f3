//! Tests of intact, torn and foreign logs.

use std::collections::HashSet;

use host::TempFolder;

use super::*;
use crate::embedding::EmbeddingTable;
use crate::prepare::prepare;

const TABLE: [u8; 8] = [1; 8];

fn record(seed: usize) -> Vec<u8> {
    let text = format!("fn f{seed}() {{ work({seed}); }}\n").repeat(seed % 3 + 1);
    prepare(
        [seed as u8; 20],
        &format!("src/f{seed}.rs"),
        &text,
        EmbeddingTable::shipped(),
    )
}

fn place() -> (TempFolder, AbsPath) {
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("entries");
    (folder, path)
}

fn filled(path: &AbsPath, count: usize) {
    let opened = open(path, TABLE, true).expect("open");
    let mut log = opened.log.expect("it may be written");
    for seed in 0..count {
        log.add(&record(seed)).expect("add");
    }
    log.sync().expect("sync");
}

#[test]
fn added_records_survive_reopening() {
    let (_folder, path) = place();
    filled(&path, 3);
    let opened = open(&path, TABLE, false).expect("open");
    assert_eq!(opened.note, None);
    assert_ne!(opened.id, 0);
    let map = opened.map.expect("a file");
    let read: Vec<&[u8]> = opened
        .records
        .iter()
        .map(|found| &map.bytes()[found.range.clone()])
        .collect();
    assert_eq!(read, [record(0), record(1), record(2)]);
    assert!(
        opened
            .records
            .iter()
            .all(|found| is_whole(map.bytes(), found))
    );
}

#[test]
fn a_torn_end_is_truncated() {
    let (_folder, path) = place();
    filled(&path, 3);
    let whole = RealFiles.read(&path, 1 << 20).expect("read");
    let two = open(&path, TABLE, false).expect("open").records[1]
        .range
        .end;
    for end in (two..whole.len()).chain([HEAD, HEAD + 1, HEAD + 7]) {
        RealFiles
            .write_private(&path, &whole[..end])
            .expect("write");
        let expected = if end >= two { 2 } else { 0 };
        let opened = open(&path, TABLE, true).expect("open");
        assert_eq!(opened.records.len(), expected, "torn at {end}");
        let is_torn = end != two && end != HEAD;
        assert_eq!(opened.note.is_some(), is_torn, "torn at {end}");
        let mut log = opened.log.expect("it may be written");
        log.add(&record(9)).expect("add");
        log.sync().expect("sync");
        let again = open(&path, TABLE, true).expect("open");
        assert_eq!(
            (again.records.len(), again.note),
            (expected + 1, None),
            "torn at {end}"
        );
    }
}

#[test]
fn trailing_zeros_are_truncated() {
    let (_folder, path) = place();
    filled(&path, 3);
    let mut bytes = RealFiles.read(&path, 1 << 20).expect("read");
    let last = open(&path, TABLE, false).expect("open").records[2]
        .range
        .clone();
    bytes[last.start + 40..].fill(0);
    bytes.extend([0; 500]);
    RealFiles.write_private(&path, &bytes).expect("write");
    let opened = open(&path, TABLE, true).expect("open");
    assert_eq!(opened.records.len(), 2);
    assert!(opened.note.is_some());
}

#[test]
fn logs_created_in_one_millisecond_have_different_ids() {
    let (_folder, path) = place();
    let ids: HashSet<u64> = (0..50)
        .map(|_| create(&path, TABLE).expect("create"))
        .collect();
    assert_eq!(ids.len(), 50);
}

#[test]
fn a_foreign_log_is_recreated_with_a_note() {
    let (_folder, path) = place();
    let check = |change: &dyn Fn(&mut Vec<u8>), expected: &str| {
        RealFiles.remove(&path).ok();
        filled(&path, 2);
        let before = open(&path, TABLE, false).expect("open").id;
        let mut bytes = RealFiles.read(&path, 1 << 20).expect("read");
        change(&mut bytes);
        RealFiles.write_private(&path, &bytes).expect("write");
        let reader = open(&path, TABLE, false).expect("open");
        assert!(reader.records.is_empty() && reader.log.is_none());
        let opened = open(&path, TABLE, true).expect("open");
        let note = opened.note.unwrap_or_default();
        assert!(note.contains(expected), "{note}");
        assert!(opened.records.is_empty());
        assert_ne!(
            opened.id, before,
            "what was kept beside it is not taken for its own"
        );
        assert_eq!(open(&path, TABLE, true).expect("open").note, None);
    };
    check(&|bytes| bytes[0] = b'x', "another format");
    check(&|bytes| bytes[8] ^= 1, "another version");
    check(&|bytes| bytes[21] ^= 1, "damaged");
    check(&|bytes| bytes.truncate(5), "damaged");
    let other_table = |bytes: &mut Vec<u8>| {
        bytes[12..20].fill(9);
        let crc = crc32fast::hash(&bytes[..HEAD - 4]);
        bytes[HEAD - 4..HEAD].copy_from_slice(&crc.to_le_bytes());
    };
    check(&other_table, "another embedding table");
}
