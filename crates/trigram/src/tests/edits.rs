//! Tests with random edits of a real folder; after each, searches with and without the index are
//! compared.

use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base::AbsPath;
use host::{Files, RealFiles, TempFolder};
use project::search::{
    CandidateFiles, CaseSensitivity, Includes, Prefilter, PrefilterQuery, PrefilterResult,
    SearchQuery, SearchScope,
};
use project::{HiddenFiles, IgnoredFiles, WalkBackend, WalkOptions};
use text::Buffer;

use super::random::{Numbers, found, pattern, text};
use crate::freshness::CATCH_UP_INTERVAL;
use crate::trigrams::Trigrams;

const NAMES: &[&str] = &[
    "a",
    "b.rs",
    "c.log",
    ".hidden",
    "src/a",
    "src/b.rs",
    "src/deep/c.rs",
    "src/deep/er/d",
    "gen/e",
    ".dot/f",
    ".dot/g.log",
    "gen/.h",
    "src/gen/i",
];
const FOLDERS: &[&str] = &["src", "src/deep", "gen", ".dot", "src/gen"];
const RULES: &[&str] = &["*.log\n", "gen/\n", "!.hidden\n", "deep/\n", "/a\n", ""];

struct World {
    folder: TempFolder,
    root: AbsPath,
    store: AbsPath,
    index: Trigrams,
    unsaved: HashMap<AbsPath, text::Snapshot>,
}

impl World {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("root");
        let store = folder.path().join("store");
        for inner in ["root/.git", "store"] {
            RealFiles
                .create_folder(&folder.path().join(inner))
                .expect("create");
        }
        Self {
            index: Trigrams::open(root.clone(), store.clone()),
            folder,
            root,
            store,
            unsaved: HashMap::new(),
        }
    }

    fn write(&self, path: &AbsPath, content: &[u8]) {
        let parent = path.parent().expect("below the root");
        if RealFiles.create_folder(&parent).is_err() || RealFiles.create_file(path).is_err() {
            // The name may be taken, or the file may already exist.
        }
        let file = std::fs::OpenOptions::new().write(true).open(path.as_path());
        if let Ok(file) = file {
            file.write_all_at(content, 0).expect("write");
            file.set_len(content.len() as u64).expect("cut");
        }
    }

    /// Changes the content but keeps its length, and restores the old time.
    fn write_unseen(&self, path: &AbsPath, content: &[u8]) {
        let Ok(file) = std::fs::OpenOptions::new().write(true).open(path.as_path()) else {
            return;
        };
        let metadata = file.metadata().expect("of an open file");
        let length = metadata.len().min(content.len() as u64) as usize;
        file.write_all_at(&content[..length], 0).expect("write");
        file.set_modified(metadata.modified().expect("a time"))
            .expect("set");
    }

    /// Makes one change on disk or of an unsaved text.
    fn edit(&mut self, numbers: &mut Numbers) {
        let path = self.root.join(numbers.one_of(NAMES));
        let content = content(numbers);
        match numbers.below(14) {
            0..4 => self.write(&path, &content),
            4 => self.write_unseen(&path, &content),
            5 => drop(RealFiles.remove(&path)),
            6 => drop(RealFiles.rename(&path, &self.root.join(numbers.one_of(NAMES)))),
            7 => {
                let to = self.root.join(numbers.one_of(FOLDERS));
                drop(RealFiles.rename(&self.root.join(numbers.one_of(FOLDERS)), &to));
            }
            8 => drop(RealFiles.remove(&self.root.join(numbers.one_of(FOLDERS)))),
            9 => {
                let name = numbers.one_of(&[".gitignore", "src/.ignore", ".git/info/exclude"]);
                self.write(&self.root.join(name), numbers.one_of(RULES).as_bytes());
            }
            10 => {
                let own = self.folder.path().join(".gitignore");
                self.write(&own, numbers.one_of(RULES).as_bytes());
            }
            11 => {
                let text = text(numbers, 40);
                self.unsaved.insert(path, Buffer::new(&text).snapshot());
            }
            12 => self.unsaved.clear(),
            _ => {
                RealFiles.remove(&path).ok();
                drop(std::os::unix::fs::symlink("b.rs", path.as_path()));
            }
        }
    }

    fn keep_up(&mut self, numbers: &mut Numbers) {
        let never = AtomicBool::new(false);
        match numbers.below(10) {
            0 => drop(self.index.refresh(&never).expect("readable")),
            1 | 2 => {
                let names = (0..3).map(|_| self.root.join(numbers.one_of(NAMES)));
                self.index.touch(&names.collect::<Vec<_>>());
            }
            3 => self.index.persist().expect("writable"),
            4 => {
                self.index = Trigrams::open(self.root.clone(), self.folder.path().join("other"));
                self.index = Trigrams::open(self.root.clone(), self.store.clone());
                assert!(self.index.notes().is_empty(), "{:?}", self.index.notes());
            }
            _ => {}
        }
    }

    fn scope(&self, numbers: &mut Numbers) -> SearchScope {
        let root = match numbers.below(4) {
            0 => self.root.join(numbers.one_of(FOLDERS)),
            _ => self.root.clone(),
        };
        let includes = *numbers.one_of(&[Includes::Widen, Includes::Narrow]);
        SearchScope::new(WalkBackend::Disk, root)
            .with_unsaved(self.unsaved.clone())
            .with_includes(includes)
    }

    /// Returns whether a search would need no walk.
    fn knows_all(&self) -> bool {
        let sift = self.index.candidates(&PrefilterQuery {
            root: &self.root,
            query: &SearchQuery::literal("a"),
            walk: Some(HiddenFiles::Skip),
        });
        matches!(sift, Some(PrefilterResult::Complete(_)))
    }

    /// Searches both ways; returns whether anything was found.
    fn compare(&self, seed: u64, numbers: &mut Numbers) -> bool {
        let query = query(numbers);
        let scope = self.scope(numbers);
        let expect = found(&query, &scope);
        let mut with = scope.with_prefilter(Some(Arc::new(self.index.clone())));
        let got = found(&query, &with);
        assert_eq!(got, expect, "seed {seed}: {query:?} in {}", with.root);
        with.prefilter = Trigrams::open_kept(self.root.clone(), self.store.clone())
            .map(|index| Arc::new(index) as Arc<dyn Prefilter>);
        let got = found(&query, &with);
        assert_eq!(got, expect, "seed {seed}, once: {query:?} in {}", with.root);
        !expect.is_empty()
    }
}

fn content(numbers: &mut Numbers) -> Vec<u8> {
    let text = text(numbers, 60);
    let utf16 = |text: &str, order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    };
    match numbers.below(11) {
        4 => utf16(&format!("some words, {text}"), u16::to_le_bytes),
        5 => utf16(&format!("some words, {text}"), u16::to_be_bytes),
        6 => {
            let text = text.replace(|char: char| u32::from(char) > 0xff, "ä");
            text.chars().map(|char| char as u8).collect()
        }
        0 => {
            let length = *numbers.one_of(&[0, 0, 20_000, 40_000, 90_000]);
            let far = "x\n".repeat(length / 2);
            [text.as_bytes(), far.as_bytes(), b"\0", text.as_bytes()].concat()
        }
        1 => {
            let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
            units.flat_map(u16::to_le_bytes).collect()
        }
        2 => ["\u{feff}".as_bytes(), text.as_bytes()].concat(),
        3 => [text.as_bytes(), b"\xff\xfe", text.as_bytes()].concat(),
        _ => text.into_bytes(),
    }
}

fn query(numbers: &mut Numbers) -> SearchQuery {
    let globs = |numbers: &mut Numbers, one_in: usize| match numbers.below(one_in) {
        0 => vec![(*numbers.one_of(&["*.rs", "src/", ".dot", "gen", "deep/**", ".*"])).to_owned()],
        _ => Vec::new(),
    };
    SearchQuery {
        case: [
            CaseSensitivity::Smart,
            CaseSensitivity::Sensitive,
            CaseSensitivity::Insensitive,
        ][numbers.below(3)],
        whole_word: numbers.below(8) == 0,
        files: WalkOptions {
            include: globs(numbers, 4),
            exclude: globs(numbers, 4),
            hidden: *numbers.one_of(&[HiddenFiles::Skip, HiddenFiles::Visit]),
            ignored: match numbers.below(6) {
                0 => IgnoredFiles::Visit,
                _ => IgnoredFiles::Skip,
            },
        },
        ..match numbers.below(2) {
            0 => SearchQuery::literal(text(numbers, 4)),
            _ => SearchQuery::regex(pattern(numbers, 2)),
        }
    }
}

#[test]
fn searches_with_and_without_the_index_agree() {
    let (mut searches, mut full, mut whole) = (0, 0, 0);
    for seed in 1..=3 {
        let mut numbers = Numbers::new(seed);
        let mut world = World::new();
        for _ in 0..120 {
            for _ in 0..numbers.below(4) {
                world.edit(&mut numbers);
            }
            world.keep_up(&mut numbers);
            searches += 1;
            whole += usize::from(world.knows_all());
            full += usize::from(world.compare(seed, &mut numbers));
        }
    }
    assert!(full * 3 > searches, "{full} of {searches} found something");
    assert!(whole * 4 > searches, "{whole} of {searches} needed no walk");
}

/// Waits for a fraction of a tick of the file system's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "that clock is the system's, and nobody is told when it moves on"
)]
fn wait() {
    std::thread::sleep(Duration::from_millis(1));
}

/// Waits until a later write is distinguishable from the last one.
pub(super) fn settle(index: &Trigrams) {
    settle_but(index, 0);
}

/// The same if this many files are permanently read by searches.
fn settle_but(index: &Trigrams, opaque: usize) {
    let never = AtomicBool::new(false);
    for _ in 0..1000 {
        index.refresh(&never).expect("readable");
        if index.stats().unread == opaque {
            return;
        }
        wait();
    }
    panic!("files stay unread: {:?}", index.stats());
}

#[test]
fn files_without_the_literal_are_skipped() {
    let world = World::new();
    for (name, content) in [
        ("a", "needle in hay"),
        ("b.rs", "hay"),
        ("src/a", "more hay"),
    ] {
        world.write(&world.root.join(name), content.as_bytes());
    }
    settle(&world.index);
    let query = SearchQuery::literal("Needle");
    let begin = || {
        let sift = world.index.candidates(&PrefilterQuery {
            root: &world.root,
            query: &query,
            walk: Some(HiddenFiles::Skip),
        });
        let Some(PrefilterResult::Complete(files)) = sift else {
            panic!("it knows all files");
        };
        files
    };
    let may_match = |files: &dyn CandidateFiles, name: &str| {
        let position = files.position(&world.root.join(name));
        files.may_match(position.expect("known"))
    };
    let files = begin();
    assert_eq!(files.count(), 3);
    assert!(!may_match(&*files, "b.rs") && !may_match(&*files, "src/a"));
    // The literal differs in case, but the search decides that.
    assert!(may_match(&*files, "a"));
    world.write(&world.root.join("src/a"), b"Needle!!");
    assert!(
        may_match(&*begin(), "src/a"),
        "changed before a search began"
    );
    assert!(
        (0..CATCH_UP_INTERVAL).any(|_| may_match(&*files, "src/a")),
        "changed during a search"
    );
}

#[test]
fn files_in_other_encodings_are_searched_decoded() {
    let world = World::new();
    let utf16: Vec<u8> = "words of näme\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let late = [b"words\n".repeat(3_000), b"n\xc3\xa4me\0".to_vec()].concat();
    for (name, content) in [
        ("a", b"1\0n\xc3\xa4me\n".as_slice()),
        ("b.rs", b"n\xe4me and other words in a row\n"),
        ("src/a", &utf16),
        ("src/b", &late),
    ] {
        world.write(&world.root.join(name), content);
    }
    settle_but(&world.index, 3);
    for (pattern, files) in [("näme", 3), ("words", 3), ("me$", 1)] {
        let query = SearchQuery::regex(pattern);
        let scope = SearchScope::new(WalkBackend::Disk, world.root.clone());
        let expect = found(&query, &scope);
        assert_eq!(expect.len(), files, "{pattern}: {expect:?}");
        let with = scope.with_prefilter(Some(Arc::new(world.index.clone())));
        assert_eq!(found(&query, &with), expect, "{pattern}");
    }
}

#[test]
fn unchanged_files_are_not_read_again() {
    let world = World::new();
    for name in NAMES {
        world.write(&world.root.join(name), b"some text");
    }
    settle(&world.index);
    let never = AtomicBool::new(false);
    let files = world.index.stats().files;
    assert_eq!(world.index.refresh(&never).expect("readable").read, 0);
    let store = world.store.clone();
    let World {
        folder: _folder,
        root,
        index,
        ..
    } = world;
    drop(index);
    let again = Trigrams::open(root, store);
    let done = again.refresh(&never).expect("readable");
    assert_eq!((done.files, done.read), (files, 0));
}

#[test]
fn many_touches_stay_few_segments() {
    let world = World::new();
    let path = world.root.join("a");
    settle(&world.index);
    for round in 0..40 {
        world.write(&path, format!("round {round}").as_bytes());
        for _ in 0..1000 {
            world.index.touch(std::slice::from_ref(&path));
            if world.index.stats().unread == 0 {
                break;
            }
            wait();
        }
    }
    let stats = world.index.stats();
    assert!(stats.segments <= 10 && stats.unread == 0, "{stats:?}");
    world.index.persist().expect("writable");
    assert!(world.index.stats().segments <= 2);
}
