//! The repositories of a folder: the one around it, and those inside it.
//!
//! Limits: repositories inside the folder that are no submodules are found in its upper levels only.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base::{AbsPath, path_text};
use git::Repository;
use git_panel::{GitRepository, RepositoryRole};
use host::{FileKind, Files as _, RealFiles};

/// Levels of folders in which repositories are looked for.
const MAX_DEPTH: usize = 3;
/// Number of folders that are listed.
const MAX_FOLDERS: usize = 2_000;

/// Folders with many files in which no project is edited.
const SKIPPED: [&str; 4] = ["node_modules", "target", ".venv", ".git"];

/// Returns the repositories of a folder: the one around it first, then those inside, by path. Blocks on the disk, and
/// starts no process.
pub(super) fn find(folder: &AbsPath) -> Vec<GitRepository> {
    let main = main_root(folder);
    let mut inside = BTreeMap::new();
    for root in nested_roots(folder) {
        inside.insert(root, RepositoryRole::Nested);
    }
    let modules = main.iter().flat_map(modules_of);
    for root in modules.filter(|root| root.is_within(folder) && root != folder) {
        inside.insert(root, RepositoryRole::Submodule);
    }
    let main = main.map(|root| GitRepository {
        name: root.name(),
        root,
        role: RepositoryRole::Main,
    });
    let inside = inside.into_iter().map(|(root, role)| GitRepository {
        name: root
            .relative_to(folder)
            .map_or_else(|| root.name(), path_text),
        root,
        role,
    });
    main.into_iter().chain(inside).collect()
}

/// Returns the root of the working tree around a folder.
fn main_root(folder: &AbsPath) -> Option<AbsPath> {
    let mut above = Some(folder.clone());
    while let Some(root) = above {
        if is_root(&root) {
            return Some(root);
        }
        above = root.parent();
    }
    None
}

fn is_root(folder: &AbsPath) -> bool {
    git::git_dir_of(folder).is_some_and(|git_dir| RealFiles.exists(&git_dir.join("HEAD")))
}

/// Returns the roots below a folder, without looking into what they contain.
fn nested_roots(folder: &AbsPath) -> BTreeSet<AbsPath> {
    let mut roots = BTreeSet::new();
    let mut waiting = VecDeque::from([(folder.clone(), 0)]);
    let mut left = MAX_FOLDERS;
    while let Some((folder, depth)) = waiting.pop_front() {
        if left == 0 {
            break;
        }
        left -= 1;
        let Ok(listing) = RealFiles.list(&folder) else {
            continue;
        };
        for entry in listing.entries {
            let is_folder = entry.kind == FileKind::Folder && !entry.is_link;
            if !is_folder || SKIPPED.contains(&entry.path.name().as_str()) {
                continue;
            }
            if is_root(&entry.path) {
                roots.insert(entry.path);
            } else if depth + 1 < MAX_DEPTH {
                waiting.push_back((entry.path, depth + 1));
            }
        }
    }
    roots
}

/// Returns the roots of the submodules of a repository that are checked out; none if libgit2 cannot read its index.
fn modules_of(root: &AbsPath) -> Vec<AbsPath> {
    let nested = Repository::discover(root).and_then(|it| it.nested_repositories());
    let nested = nested.unwrap_or_default().into_iter();
    let roots = nested.map(|module| module.root);
    roots.filter(is_root).collect()
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use git_panel::RepositoryRole;
    use host::{Files as _, RealFiles, TempFolder};

    use super::find;

    #[test]
    fn the_repository_around_comes_before_those_inside() {
        let temporary = TempFolder::new().expect("a folder");
        let folder = RealFiles.canonicalize(temporary.path()).expect("it exists");
        let create = |path: AbsPath| {
            RealFiles.create_folder(&path).expect("a folder");
            git::create_repository(&path).expect("a repository");
        };
        let (outer, open) = (folder.join("outer"), folder.join("outer/open"));
        create(outer.clone());
        create(open.join("libs/b"));
        create(open.join("a"));
        create(open.join("a/inner"));
        create(open.join("node_modules/c"));
        let found = find(&open);
        let found: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.role)).collect();
        let expected = [
            ("outer", RepositoryRole::Main),
            ("a", RepositoryRole::Nested),
            ("libs/b", RepositoryRole::Nested),
        ];
        assert_eq!(found, expected);
        assert!(find(&folder.join("elsewhere")).is_empty());
    }
}
