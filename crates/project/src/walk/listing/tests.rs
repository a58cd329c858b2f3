//! Layouts compared with walks, over random trees with random rules.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::{Files, RealFiles, TempFolder};

use super::{ListedPath, WalkListing, list_below, list_directly_in};
use crate::walk::{HiddenFiles, IgnoreRules, WalkBackend, WalkOptions, file_list};

/// Random numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

const NAMES: &[&str] = &["a", "b", ".h", "gen", "c.log", ".d.log", "e.rs"];
const RULES: &[&str] = &[
    "*.log\n",
    "gen/\n",
    "/a\n",
    "!c.log\n",
    "!.h\n",
    "b/a\n",
    "**/gen\n",
    "!.d.log\n",
    ".*\n",
    "a/**\n",
];

fn grow(folder: &AbsPath, depth: u64, numbers: &mut Numbers) {
    RealFiles.create_folder(folder).expect("create");
    for name in NAMES {
        if numbers.below(3) == 0 {
            continue;
        }
        let path = folder.join(name);
        if depth > 0 && !name.contains("e.rs") && numbers.below(3) == 0 {
            grow(&path, depth - 1, numbers);
        } else {
            RealFiles.write_private(&path, b"x").expect("write");
        }
    }
    for name in [".gitignore", ".ignore"] {
        if numbers.below(3) == 0 {
            let rules: String = (0..3).map(|_| numbers.one_of(RULES)).collect();
            RealFiles
                .write_private(&folder.join(name), rules.as_bytes())
                .expect("write");
        }
    }
    if numbers.below(6) == 0 {
        RealFiles
            .create_folder(&folder.join(".git/info"))
            .expect("create");
        RealFiles
            .write_private(&folder.join(".git/info/exclude"), b"e.rs\n")
            .expect("write");
    }
}

fn walked(root: &AbsPath, folder: &AbsPath, hidden: HiddenFiles) -> BTreeSet<PathBuf> {
    let options = WalkOptions {
        hidden,
        ..WalkOptions::default()
    };
    let (paths, problems) = file_list(
        &WalkBackend::Disk,
        folder,
        &options,
        &AtomicBool::new(false),
    )
    .expect("no globs");
    assert_eq!(problems, []);
    let inner = folder.relative_to(root).expect("below");
    paths.into_iter().map(|path| inner.join(path)).collect()
}

fn paths<'a>(files: impl IntoIterator<Item = &'a ListedPath>) -> BTreeSet<PathBuf> {
    files.into_iter().map(|file| file.path.clone()).collect()
}

fn directly_in(layout: &WalkListing, folder: &ListedPath) -> BTreeSet<(PathBuf, bool)> {
    let all = layout.files.iter().chain(&layout.folders);
    let inside = all.filter(|one| one.path.parent() == Some(&folder.path));
    inside.map(|one| (one.path.clone(), one.is_plain)).collect()
}

#[test]
fn listing_matches_walks_from_root_and_subfolders() {
    let cancel = AtomicBool::new(false);
    let above = TempFolder::new().expect("a folder");
    for seed in 1..=12 {
        let mut numbers = Numbers(seed * 7919);
        let root = above.path().join(format!("tree-{seed}"));
        grow(&root, 3, &mut numbers);
        let layout = list_below(&root, &root, &cancel);
        assert_eq!(
            paths(&layout.files),
            walked(&root, &root, HiddenFiles::Visit),
            "seed {seed}"
        );
        let plain = layout.files.iter().filter(|file| file.is_plain);
        assert_eq!(
            paths(plain),
            walked(&root, &root, HiddenFiles::Skip),
            "seed {seed}"
        );
        for folder in &layout.folders {
            let place = root.join(&folder.path);
            let inside = |file: &&ListedPath| file.path.starts_with(&folder.path);
            let all = layout.files.iter().filter(inside);
            assert_eq!(
                paths(all),
                walked(&root, &place, HiddenFiles::Visit),
                "seed {seed} {place}"
            );
            let own = list_directly_in(&root, &place, &cancel);
            let mut own = directly_in(&own, folder);
            own = own
                .into_iter()
                .map(|(path, plain)| (path, plain && folder.is_plain))
                .collect();
            assert_eq!(own, directly_in(&layout, folder), "seed {seed} {place}");
            if folder.is_plain {
                let plain = layout
                    .files
                    .iter()
                    .filter(|file| file.is_plain)
                    .filter(inside);
                assert_eq!(
                    paths(plain),
                    walked(&root, &place, HiddenFiles::Skip),
                    "seed {seed} {place}"
                );
            }
        }
    }
}

#[test]
fn changed_rules_change_the_fingerprint() {
    let above = TempFolder::new().expect("a folder");
    let root = above.path().join("root");
    let inner = root.join("inner");
    RealFiles.create_folder(&inner).expect("create");
    let mut before =
        IgnoreRules::fingerprint(&root, &mut [root.clone(), inner.clone()].into_iter());
    for (name, content) in [
        ("root/.gitignore", "a"),
        ("root/.gitignore", "b"),
        ("root/inner/.ignore", "b"),
        (".gitignore", "c"),
        (".git", "gitdir: /nowhere"),
        ("root/inner/.git", ""),
    ] {
        RealFiles
            .write_private(&above.path().join(name), content.as_bytes())
            .expect("write");
        let now = IgnoreRules::fingerprint(&root, &mut [root.clone(), inner.clone()].into_iter());
        assert_ne!(now, before, "{name}");
        let again = IgnoreRules::fingerprint(&root, &mut [root.clone(), inner.clone()].into_iter());
        assert_eq!(now, again);
        before = now;
    }
}
