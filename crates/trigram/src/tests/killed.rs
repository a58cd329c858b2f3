//! Tests with a program that is repeatedly killed while it builds: its leftovers are reused or
//! rebuilt, and never hide a match.
#![expect(
    clippy::disallowed_methods,
    reason = "the program that is killed is this one, started once more"
)]

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::{Files, RealFiles, TempFolder};
use project::WalkBackend;
use project::search::{SearchQuery, SearchScope};

use super::random::{Numbers, found};
use crate::trigrams::Trigrams;

/// The variable that names the root for the program to be killed.
const ROOT: &str = "BURIN_TEST_TRIGRAM_ROOT";
const FILES: usize = 400;

fn content(numbers: &mut Numbers, word: usize) -> String {
    let line = |numbers: &mut Numbers| {
        let words = (0..8).map(|_| format!("w{:x} ", numbers.below(1 << 30)));
        words.collect::<String>() + "\n"
    };
    let lines: String = (0..40).map(|_| line(numbers)).collect();
    format!("{lines}needle{}\n", word % 50)
}

#[test]
fn a_killed_writer_hides_no_match() {
    if let Some(root) = std::env::var_os(ROOT) {
        return build_for_ever(&AbsPath::new(root).expect("absolute"));
    }
    let folder = TempFolder::new().expect("a folder");
    let root = folder.path().join("root");
    RealFiles.create_folder(&root).expect("create");
    let mut numbers = Numbers::new(11);
    for ix in 0..FILES {
        write(&root, ix, &content(&mut numbers, ix));
    }
    for round in 0..25 {
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .args(["a_killed_writer_hides_no_match", "--nocapture"])
            .env(ROOT, root.as_path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let until = numbers.below(120) as u64;
        std::thread::sleep(std::time::Duration::from_millis(10 + until));
        child.kill().expect("killed");
        child.wait().expect("gone");
        let store = folder.path().join("store");
        let word = numbers.below(50);
        check(
            &root,
            Trigrams::open_kept(root.clone(), store.clone()),
            word,
            round,
        );
        let index = Trigrams::open(root.clone(), store);
        check(&root, Some(index.clone()), word, round);
        if round % 5 == 4 {
            index.refresh(&AtomicBool::new(false)).expect("readable");
            check(&root, Some(index), word, round);
        }
        write(&root, numbers.below(FILES), &content(&mut numbers, word));
    }
}

fn write(root: &AbsPath, ix: usize, content: &str) {
    let path = root.join(format!("file{ix}"));
    std::fs::write(path.as_path(), content).expect("write");
}

#[track_caller]
fn check(root: &AbsPath, index: Option<Trigrams>, word: usize, round: usize) {
    let Some(index) = index else {
        return;
    };
    let query = SearchQuery::regex(format!("needle{word}$"));
    let scope = SearchScope::new(WalkBackend::Disk, root.clone());
    let expect = found(&query, &scope);
    assert!(!expect.is_empty());
    let with = scope.with_prefilter(Some(Arc::new(index)));
    assert_eq!(found(&query, &with), expect, "round {round}");
}

/// Reads everything repeatedly until it is killed.
fn build_for_ever(root: &AbsPath) {
    let store = root
        .parent()
        .expect("below the temporary folder")
        .join("store");
    let mut numbers = Numbers::new(std::process::id().into());
    loop {
        let index = Trigrams::open(root.clone(), store.clone());
        index.refresh(&AtomicBool::new(false)).expect("readable");
        index.persist().expect("writable");
        drop(index);
        for _ in 0..50 {
            let ix = numbers.below(FILES);
            write(root, ix, &content(&mut numbers, ix));
        }
    }
}
