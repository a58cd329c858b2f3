//! Tests the scenarios of `apply_patch`, from the text of the patch to the files.
//!
//! The engine is atomic over files: scenario 015, which keeps the first file after a later failure,
//! gives this result only if a partial set may be applied. The engine does not overwrite files: 010
//! and 011, which move and add a file over another, change nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use crate::format::{EditFormat, parse};
use crate::set::{Completeness, FileEffect, FileLookup, TextSource, plan_set};

type Tree = BTreeMap<String, String>;

struct Files(Tree);

impl TextSource for Files {
    fn find(&self, path: &str) -> FileLookup<'_> {
        let folder = format!("{path}/");
        match self.0.get(path) {
            Some(text) => FileLookup::Text(Cow::Borrowed(text)),
            None if self.0.keys().any(|name| name.starts_with(&folder)) => {
                FileLookup::Refused(format!("{path:?} is a folder"))
            }
            None => FileLookup::Missing,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "test data is read where it lies")]
fn read(root: &Path, folder: &Path, tree: &mut Tree) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            read(root, &path, tree);
        } else {
            let name = path
                .strip_prefix(root)
                .expect("below the root")
                .to_string_lossy()
                .into_owned();
            tree.insert(name, std::fs::read_to_string(&path).expect("a text"));
        }
    }
}

fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    read(folder, folder, &mut tree);
    tree
}

fn applied(patch: &str, before: &Tree, completeness: Completeness) -> (Tree, bool) {
    let parsed = parse(EditFormat::ApplyPatch, patch);
    if parsed.has_losses() {
        return (before.clone(), false);
    }
    let plan = plan_set(&Files(before.clone()), &parsed.files, completeness);
    let mut after = before.clone();
    for file in &plan.files {
        match &file.effect {
            FileEffect::Create { text, .. } | FileEffect::Modify { text, .. } => {
                after.insert(file.path.clone(), text.clone());
            }
            FileEffect::Delete => {
                after.remove(&file.path);
            }
        }
    }
    (after, plan.is_complete() && !parsed.files.is_empty())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "test data is read where it lies")]
fn every_scenario_gives_its_files() {
    let data = test_support::data("apply-patch");
    let failing = [
        "005", "006", "007", "008", "009", "010", "011", "012", "013", "015",
    ];
    let mut count = 0;
    for entry in std::fs::read_dir(data).expect("the scenarios").flatten() {
        let folder = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(patch) = std::fs::read_to_string(folder.join("patch.txt")) else {
            continue;
        };
        let before = tree(&folder.join("input"));
        let writes_over = ["010", "011"].contains(&&name[..3]);
        let expected = if writes_over {
            before.clone()
        } else {
            tree(&folder.join("expected"))
        };
        let leaves_part = name.starts_with("015");
        let completeness = if leaves_part {
            Completeness::Partial
        } else {
            Completeness::All
        };
        let (after, is_complete) = applied(&patch, &before, completeness);
        assert_eq!(after, expected, "{name}");
        assert_eq!(!is_complete, failing.contains(&&name[..3]), "{name}");
        if leaves_part {
            assert_eq!(
                applied(&patch, &before, Completeness::All).0,
                before,
                "{name}"
            );
        }
        count += 1;
    }
    assert_eq!(count, 23);
}
