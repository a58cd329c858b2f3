//! Tests of postings stored by tantivy, each in its own folder.

use host::TempFolder;

use super::*;

fn document(chunk: u32, words: &str) -> ChunkDocument {
    ChunkDocument {
        chunk,
        words: words.to_owned(),
    }
}

fn places(snapshot: &LexicalSnapshot, word: &str) -> Vec<(u32, u32)> {
    let mut places = Vec::new();
    snapshot
        .each(word, |chunk, count| places.push((chunk, count)))
        .expect("read");
    places.sort_unstable();
    places
}

fn fold(
    disk: &LexicalIndex,
    documents: impl IntoIterator<Item = ChunkDocument>,
    id: u64,
    upto: u64,
) {
    let mut folding = disk.start_fold().expect("begin");
    folding.add(documents.into_iter()).expect("add");
    folding.finish(id, upto).expect("finish");
}

#[test]
fn words_are_found_with_their_counts() {
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("words");
    let (disk, folded) = LexicalIndex::open(&path, 5, 1_000, true).expect("open");
    assert_eq!(folded, 0);
    let documents = [
        document(7, "alpha beta alpha \u{1}Cart "),
        document(9, "beta "),
    ];
    fold(&disk, documents, 5, 100);
    let first = disk.read(None).expect("read");
    assert_eq!(places(&first, "alpha"), [(7, 2)]);
    assert_eq!(places(&first, "beta"), [(7, 1), (9, 1)]);
    assert_eq!(places(&first, "\u{1}Cart"), [(7, 1)]);
    assert_eq!(places(&first, "gamma"), []);
    fold(&disk, [document(12, "alpha ")], 5, 150);
    let second = disk.read(Some(&first)).expect("read");
    assert_eq!(places(&second, "alpha"), [(7, 2), (12, 1)]);
    assert_eq!(second.len(), 3);
    assert_eq!(
        places(&first, "alpha"),
        [(7, 2)],
        "what was read stays as it was"
    );
    drop(disk);
    let (disk, folded) = LexicalIndex::open(&path, 5, 1_000, true).expect("open");
    assert_eq!(folded, 150);
    assert_eq!(
        places(&disk.read(None).expect("read"), "alpha"),
        [(7, 2), (12, 1)]
    );
}

#[test]
fn a_foreign_or_damaged_index_is_recreated() {
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("words");
    let fill = || {
        let (disk, _) = LexicalIndex::open(&path, 5, 1_000, true).expect("open");
        fold(&disk, [document(1, "alpha ")], 5, 100);
    };
    fill();
    assert_eq!(
        LexicalIndex::open(&path, 5, 1_000, false).expect("open").1,
        100
    );
    assert_eq!(
        LexicalIndex::open(&path, 6, 1_000, true).expect("open").1,
        0
    );
    fill();
    RealFiles
        .write_private(&path.join("meta.json"), b"{")
        .expect("write");
    assert!(LexicalIndex::open(&path, 5, 1_000, false).is_err());
    let (disk, folded) = LexicalIndex::open(&path, 5, 1_000, true).expect("open");
    assert_eq!(folded, 0);
    assert_eq!(disk.read(None).expect("read").len(), 0);
}

#[test]
fn a_fold_waits_for_the_lock_of_the_former_one() {
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("words");
    let (disk, _) = LexicalIndex::open(&path, 5, 1_000, true).expect("open");
    let former = disk.start_fold().expect("begin");
    assert!(disk.try_start_fold().is_err());
    std::thread::scope(|threads| {
        let next = threads.spawn(|| disk.start_fold().map(drop));
        drop(former);
        next.join().expect("no panic").expect("begin");
    });
}

#[test]
fn an_unfinished_fold_is_discarded() {
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("words");
    let (disk, _) = LexicalIndex::open(&path, 5, 1_000, true).expect("open");
    fold(&disk, [document(1, "alpha ")], 5, 100);
    let mut folding = disk.start_fold().expect("begin");
    folding
        .add([document(2, "alpha ")].into_iter())
        .expect("add");
    drop(folding);
    assert_eq!(places(&disk.read(None).expect("read"), "alpha"), [(1, 1)]);
    fold(&disk, [document(3, "alpha ")], 5, 150);
    let read = disk.read(None).expect("read");
    assert_eq!(places(&read, "alpha"), [(1, 1), (3, 1)]);
}
