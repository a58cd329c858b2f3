//! Tests of damaged, truncated and foreign stores.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use base::AbsPath;
use host::{Files, RealFiles, TempFolder};
use project::WalkBackend;
use project::search::{SearchQuery, SearchScope};

use super::edits::settle;
use super::random::{Numbers, found, text};
use crate::trigrams::Trigrams;

fn write(path: &AbsPath, content: &[u8]) {
    let parent = path.parent().expect("has one");
    RealFiles.create_folder(&parent).expect("create");
    RealFiles.write_private(path, content).expect("write");
}

fn grown(numbers: &mut Numbers, files: usize) -> (TempFolder, AbsPath, AbsPath) {
    let folder = TempFolder::new().expect("a folder");
    let (root, store) = (folder.path().join("root"), folder.path().join("store"));
    for ix in 0..files {
        let content: String = (0..5).map(|_| text(numbers, 60)).collect();
        write(&root.join(format!("d{}/f{ix}", ix % 3)), content.as_bytes());
    }
    (folder, root, store)
}

#[track_caller]
fn check(root: &AbsPath, index: &Trigrams, why: &str) {
    for pattern in ["aks", "abk", "s[ab]k", "é_", "zzz", "k.s1"] {
        let query = SearchQuery::regex(pattern);
        let scope = SearchScope::new(WalkBackend::Disk, root.clone());
        let expect = found(&query, &scope);
        let with = scope.with_prefilter(Some(Arc::new(index.clone())));
        assert_eq!(found(&query, &with), expect, "{pattern} {why}");
    }
}

fn files_of(store: &AbsPath) -> Vec<AbsPath> {
    let listing = RealFiles.list(store).expect("there");
    let paths = listing.entries.into_iter().map(|entry| entry.path);
    paths.filter(|path| path.name() != "lock").collect()
}

#[test]
fn damage_never_hides_a_match() {
    let mut numbers = Numbers::new(3);
    let (_folder, root, store) = grown(&mut numbers, 30);
    settle(&Trigrams::open(root.clone(), store.clone()));
    let whole: Vec<_> = files_of(&store)
        .into_iter()
        .map(|path| (RealFiles.read(&path, 1 << 20).expect("there"), path))
        .collect();
    assert!(whole.len() >= 2, "a catalog and a segment");
    for round in 0..120 {
        let (content, path) = numbers.one_of(&whole);
        let at = numbers.below(content.len());
        let mut wrong = content.clone();
        match round % 3 {
            0 => wrong[at] ^= 1 << numbers.below(8),
            1 => wrong.truncate(at),
            _ => wrong[at..].fill(0),
        }
        let file = std::fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(path.as_path());
        file.expect("open").write_all_at(&wrong, 0).expect("write");
        let why = format!("round {round}, {} at {at}", path.name());
        if let Some(kept) = Trigrams::open_kept(root.clone(), store.clone()) {
            check(&root, &kept, &why);
        }
        let index = Trigrams::open(root.clone(), store.clone());
        check(&root, &index, &why);
        settle(&index);
        check(&root, &index, &why);
        drop(index);
        for (content, path) in &whole {
            write(path, content);
        }
    }
}

#[test]
fn a_store_of_another_folder_is_rebuilt() {
    let mut numbers = Numbers::new(4);
    let (_folder, root, store) = grown(&mut numbers, 5);
    let (_other, other_root, _) = grown(&mut numbers, 5);
    settle(&Trigrams::open(root, store.clone()));
    let index = Trigrams::open(other_root.clone(), store);
    assert_eq!(index.notes().len(), 1, "{:?}", index.notes());
    settle(&index);
    check(&other_root, &index, "another folder");
}

#[test]
fn one_process_writes_and_others_only_read() {
    let mut numbers = Numbers::new(6);
    let (_folder, root, store) = grown(&mut numbers, 20);
    let first = Trigrams::open(root.clone(), store.clone());
    let second = Trigrams::open(root.clone(), store.clone());
    settle(&second);
    assert_eq!(files_of(&store).len(), 0, "the lock is with the first");
    settle(&first);
    let kept = files_of(&store).len();
    assert!(kept >= 2);
    write(&root.join("d0/new"), b"aks abk");
    settle(&second);
    assert_eq!(files_of(&store).len(), kept);
    check(&root, &second, "second");
    check(&root, &first, "first");
}
