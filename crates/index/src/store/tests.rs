//! Tests of stores that are closed, reopened, damaged and shared.

use host::TempFolder;

use super::*;
use crate::embedding::EmbeddingTable;
use crate::prepare::{DEFINES, prepare};

const TABLE: [u8; 8] = [1; 8];

fn record(seed: usize) -> (String, Blob, u64, Vec<u8>) {
    let text = format!("fn name{seed}() {{ work({seed}); }}\n");
    let (path, blob) = (format!("src/f{seed}.rs"), [seed as u8; 20]);
    let record = prepare(blob, &path, &text, EmbeddingTable::shipped());
    (path, blob, text.len() as u64, record)
}

fn place() -> (TempFolder, AbsPath) {
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("store");
    (folder, path)
}

/// Returns the files whose chunks contain a word.
fn holders(store: &ChunkStore, word: &str) -> Vec<String> {
    let known = store.contents();
    let mut holders = Vec::new();
    known.each_posting(word, |chunk, _| {
        holders.extend(known.owner(chunk).map(|entry| entry.path.to_string()));
    });
    holders.sort_unstable();
    holders
}

#[test]
fn stored_entries_are_found_with_their_words() {
    for count in [3, 9, 200] {
        let (_folder, folder) = place();
        let store = ChunkStore::of(Some(&folder), TABLE);
        for seed in 0..count {
            store.add(vec![record(seed).3], Persistence::Durable);
            store.persist(FoldPolicy::WhenMany);
        }
        store.persist(FoldPolicy::Now);
        store.add(vec![record(count).3], Persistence::Durable);
        store.persist(FoldPolicy::WhenMany);
        drop(store);
        let store = ChunkStore::of(Some(&folder), TABLE);
        assert_eq!(store.notes(), Vec::<String>::new());
        for seed in 0..=count {
            let (path, blob, length, _) = record(seed);
            let id = store.find(&path, &blob, length).expect("it is known");
            assert_eq!(&*store.contents().entry(id).expect("there").path, path);
            assert_eq!(
                holders(&store, &format!("{DEFINES}name{seed}")).concat(),
                path
            );
            assert_eq!(store.find(&path, &blob, length + 1), None, "another length");
        }
        assert_eq!(holders(&store, "work").len(), count + 1);
        assert_eq!(
            store.contents().folded.is_some(),
            count >= MIN_FOLDED_CHUNKS
        );
    }
}

#[test]
fn transient_entries_leave_nothing() {
    let (_folder, folder) = place();
    let store = ChunkStore::of(Some(&folder), TABLE);
    let (path, blob, length, bytes) = record(1);
    let id = store.add(vec![bytes], Persistence::Transient)[0];
    assert_eq!(holders(&store, "work"), [path.as_str()]);
    assert_eq!(store.find(&path, &blob, length), None);
    store.drop_transient(id);
    assert_eq!(holders(&store, "work"), Vec::<String>::new());
    assert_eq!(store.contents().delta.size(), 0);
    let (path, blob, length, bytes) = record(2);
    store.add(vec![bytes], Persistence::Durable);
    store.persist(FoldPolicy::Now);
    drop(store);
    let store = ChunkStore::of(Some(&folder), TABLE);
    assert!(store.find(&path, &blob, length).is_some());
    assert_eq!(holders(&store, "work"), [path]);
}

#[test]
fn damaged_entries_are_never_returned() {
    let (_folder, folder) = place();
    let store = ChunkStore::of(Some(&folder), TABLE);
    for seed in 0..4 {
        store.add(vec![record(seed).3], Persistence::Durable);
    }
    store.persist(FoldPolicy::WhenMany);
    drop(store);
    let path = folder.join("entries");
    let whole = RealFiles.read(&path, 1 << 20).expect("read");
    let mut random = 3_u64;
    for _ in 0..300 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let at = (random >> 20) as usize % whole.len();
        let mut damaged = whole.clone();
        damaged[at] ^= (random >> 50) as u8 | 1;
        RealFiles.write_private(&path, &damaged).expect("write");
        let store = ChunkStore::of(Some(&folder), TABLE);
        for seed in 0..4 {
            let (path, blob, length, mut bytes) = record(seed);
            if let Some(id) = store.find(&path, &blob, length) {
                let known = store.contents();
                let entry = known.entry(id).expect("there");
                set_first(&mut bytes, entry.first);
                assert_eq!(&entry.bytes[..], bytes, "byte {at}");
            }
        }
        drop(store);
    }
}

#[test]
fn a_second_program_does_not_write() {
    let (_folder, folder) = place();
    let store = ChunkStore::of(Some(&folder), TABLE);
    store.add(vec![record(1).3], Persistence::Durable);
    store.persist(FoldPolicy::Now);
    // Bypasses the list of open stores, as another program would.
    let second = ChunkStore::open(&folder, TABLE, false).expect("open");
    let (path, blob, length, _) = record(1);
    assert!(second.find(&path, &blob, length).is_some());
    second.add(vec![record(2).3], Persistence::Durable);
    second.persist(FoldPolicy::Now);
    assert_eq!(holders(&second, "work").len(), 2);
    assert_eq!(holders(&store, "work").len(), 1);
    drop(second);
    store.add(vec![record(3).3], Persistence::Durable);
    store.persist(FoldPolicy::Now);
    drop(store);
    let store = ChunkStore::of(Some(&folder), TABLE);
    assert_eq!(holders(&store, "work"), ["src/f1.rs", "src/f3.rs"]);
}

#[test]
fn words_folded_from_a_truncated_log_are_discarded() {
    let (_folder, folder) = place();
    let store = ChunkStore::of(Some(&folder), TABLE);
    for seed in 0..100 {
        store.add(vec![record(seed).3], Persistence::Durable);
    }
    store.persist(FoldPolicy::Now);
    drop(store);
    let path = folder.join("entries");
    let whole = RealFiles.read(&path, 1 << 24).expect("read");
    RealFiles
        .write_private(&path, &whole[..whole.len() / 3])
        .expect("write");
    for _ in 0..2 {
        let store = ChunkStore::of(Some(&folder), TABLE);
        for seed in 0..100 {
            let (path, blob, length, bytes) = record(seed);
            if store.find(&path, &blob, length).is_none() {
                store.add(vec![bytes], Persistence::Durable);
            }
            let name = format!("{DEFINES}name{seed}");
            assert_eq!(holders(&store, &name).concat(), path);
        }
        store.persist(FoldPolicy::Now);
    }
}

#[test]
fn words_folded_in_background_are_found_once() {
    let (_folder, folder) = place();
    let store = ChunkStore::of(Some(&folder), TABLE);
    let add = |seeds: std::ops::Range<usize>| {
        for seed in seeds {
            store.add(vec![record(seed).3], Persistence::Durable);
            store.persist(FoldPolicy::InBackground);
            assert_eq!(holders(&store, "work").len(), seed + 1);
        }
        assert!(store.persister().folding.is_some());
    };
    let (some, more) = (WORTH_HANDING_ON + 5, 2 * WORTH_HANDING_ON + 10);
    add(0..some);
    assert!(store.contents().folded.is_none());
    store.persist(FoldPolicy::Now);
    assert!(store.persister().folding.is_none());
    assert!(store.contents().folded.is_some());
    assert_eq!(holders(&store, "work").len(), some);
    // Words of an unfinished fold are in the log, and are recovered from there.
    add(some..more);
    drop(store);
    let store = ChunkStore::of(Some(&folder), TABLE);
    assert_eq!(holders(&store, "work").len(), more);
    assert_eq!(holders(&store, "name3"), ["src/f3.rs"]);
}
