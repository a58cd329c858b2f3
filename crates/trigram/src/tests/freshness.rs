//! Tests of searches that rely on the kernel's change events instead of checking every file.
#![expect(
    clippy::disallowed_methods,
    reason = "others change files by the plain calls, and so it is done here"
)]

use std::fs;
use std::sync::Arc;

use base::AbsPath;
use host::TempFolder;
use project::WalkBackend;
use project::search::{SearchQuery, SearchScope};

use super::edits::settle;
use super::random::found;
use crate::state::lock;
use crate::trigrams::Trigrams;

struct World {
    folder: TempFolder,
    root: AbsPath,
    index: Trigrams,
}

impl World {
    /// Creates a folder with some files that were read and are watched; returns `None` if its disk
    /// cannot be watched.
    fn watched() -> Option<Self> {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("src/deep").as_path()).expect("folders");
        let world = Self {
            index: Trigrams::open(root.clone(), folder.path().join("store")),
            folder,
            root,
        };
        for name in ["a", "src/b", "src/deep/c"] {
            world.write(name, "hay");
        }
        settle(&world.index);
        if !world.is_trusting() {
            test_support::skip("changes of this disk cannot be watched");
            return None;
        }
        Some(world)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name).as_path(), text).expect("write");
    }

    fn is_trusting(&self) -> bool {
        lock(&self.index.0.freshness).is_some()
    }

    /// Returns the names of the files that contain "needle".
    fn found(&self) -> Vec<String> {
        let query = SearchQuery::literal("needle");
        let scope = SearchScope::new(WalkBackend::Disk, self.root.clone());
        let expect = found(&query, &scope);
        let scope = scope.with_prefilter(Some(Arc::new(self.index.clone())));
        let got = found(&query, &scope);
        assert_eq!(got, expect);
        let names = got.iter().map(|one| format!("{one:?}"));
        names.collect()
    }
}

#[test]
fn recent_writes_are_found() {
    let Some(world) = World::watched() else {
        return;
    };
    assert!(world.found().is_empty());
    for (round, name) in ["a", "src/b", "src/deep/c", "src/new"].iter().enumerate() {
        world.write(name, "needle");
        assert_eq!(world.found().len(), round + 1);
        assert!(world.is_trusting(), "{name}");
    }
    fs::remove_file(world.root.join("src/new").as_path()).expect("remove");
    world.write("a", "hay");
    assert_eq!(world.found().len(), 2);
    assert!(world.is_trusting());
}

#[test]
fn freshness_ends_with_another_set_of_folders() {
    let Some(world) = World::watched() else {
        return;
    };
    fs::create_dir(world.root.join("src/more").as_path()).expect("a folder");
    world.write("src/more/d", "needle");
    assert_eq!(world.found().len(), 1);
    world.write("src/more/e", "needle");
    assert_eq!(world.found().len(), 2);
    let (from, to) = (world.root.join("src/more"), world.root.join("src/deep/er"));
    fs::rename(from.as_path(), to.as_path()).expect("rename");
    world.write("src/deep/er/d", "hay");
    assert_eq!(world.found().len(), 1);
}

#[test]
fn writes_through_an_outside_hard_link_are_found() {
    let Some(world) = World::watched() else {
        return;
    };
    let (inside, outside) = (world.root.join("a"), world.folder.path().join("outside"));
    fs::hard_link(inside.as_path(), outside.as_path()).expect("a second name");
    settle(&world.index);
    fs::write(outside.as_path(), "needle").expect("write");
    assert_eq!(world.found().len(), 1);
}
