//! The meaning of a changed path for the repositories of a folder.

use std::path::Path;

use base::AbsPath;
use git::merge::TreePath;
use git_panel::GitRepository;
use host::{FileKind, Files as _, RealFiles, is_draft_name};

/// A repository whose events are classified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WatchedRepository {
    /// The root of its working tree.
    pub(super) root: AbsPath,
    /// The folder with Git's own files of this working tree.
    pub(super) git_dir: AbsPath,
    /// The folder that its working trees share.
    pub(super) common_dir: AbsPath,
}

/// The part of a repository that a path belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChangedPart {
    /// A repository appeared or disappeared.
    Repositories,
    /// Index, HEAD, a reference, the config or the rules of ignored files.
    State(AbsPath),
    /// A file of the working tree.
    File(AbsPath, TreePath),
}

/// Names of files that decide about other files.
const RULES: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];

impl WatchedRepository {
    /// Finds the folders of a repository; `None` if it is gone.
    pub(super) fn of(repository: &GitRepository) -> Option<Self> {
        let git_dir = git::git_dir_of(&repository.root)?;
        Some(Self {
            root: repository.root.clone(),
            common_dir: git::common_dir_of(&git_dir),
            git_dir,
        })
    }

    /// Returns whether a change of a path in Git's folders matters; `None` if it is not in them.
    fn is_state(&self, path: &AbsPath) -> Option<bool> {
        if let Some(relative) = path.relative_to(&self.git_dir) {
            return Some(!is_noise(relative));
        }
        let relative = path.relative_to(&self.common_dir)?;
        Some(!is_noise(relative))
    }
}

/// Returns what a changed path means. Looks at the path itself, but at no content.
pub(super) fn classify(path: &AbsPath, repositories: &[WatchedRepository]) -> Vec<ChangedPart> {
    if path.file_name() == ".git" {
        return repository_change(path, repositories);
    }
    let states: Vec<(&WatchedRepository, bool)> = repositories
        .iter()
        .filter_map(|repository| Some((repository, repository.is_state(path)?)))
        .collect();
    if !states.is_empty() {
        let changed = states.iter().filter(|(_, is_state)| *is_state);
        return changed
            .map(|(repository, _)| ChangedPart::State(repository.root.clone()))
            .collect();
    }
    worktree_change(path, repositories).into_iter().collect()
}

fn repository_change(path: &AbsPath, repositories: &[WatchedRepository]) -> Vec<ChangedPart> {
    let Some(root) = path.parent() else {
        return Vec::new();
    };
    let is_known = repositories.iter().any(|it| it.root == root);
    let is_there = git::git_dir_of(&root).is_some();
    if is_known == is_there {
        return Vec::new();
    }
    vec![ChangedPart::Repositories]
}

fn worktree_change(path: &AbsPath, repositories: &[WatchedRepository]) -> Option<ChangedPart> {
    let around = repositories.iter().filter(|it| path.is_within(&it.root));
    let repository = around.max_by_key(|it| it.root.as_path().components().count())?;
    let relative = path.relative_to(&repository.root)?;
    let is_of_other = relative.components().any(|part| part.as_os_str() == ".git");
    if relative.as_os_str().is_empty() || is_of_other || is_draft_name(path.file_name()) {
        return None;
    }
    if RULES.iter().any(|name| path.file_name() == *name) {
        return Some(ChangedPart::State(repository.root.clone()));
    }
    let stat = RealFiles.stat(path);
    // The files in a new folder are reported on their own; of a folder that is gone, only its path is.
    if stat.is_ok_and(|stat| stat.kind == FileKind::Folder) {
        return None;
    }
    let name = TreePath::of_path(relative);
    Some(ChangedPart::File(repository.root.clone(), name))
}

/// Returns whether a change below Git's folder has no meaning for a window: objects, locks, traces, fetched heads. Other
/// working trees have an index and a HEAD of their own. Of a submodule, only its HEAD counts for the repository around it.
fn is_noise(relative: &Path) -> bool {
    let name = relative.file_name().and_then(|name| name.to_str());
    relative.as_os_str().is_empty()
        || (relative.starts_with("modules") && name != Some("HEAD"))
        || relative.starts_with("objects")
        || relative.starts_with("worktrees")
        || relative.starts_with("lfs/tmp")
        || relative == Path::new("FETCH_HEAD")
        || name.is_some_and(|name| name.ends_with(".lock") || name.starts_with("burin-"))
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use git::merge::TreePath;

    use super::{ChangedPart, WatchedRepository, classify};

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    fn repository(root: &str, git_dir: &str, common_dir: &str) -> WatchedRepository {
        WatchedRepository {
            root: path(root),
            git_dir: path(git_dir),
            common_dir: path(common_dir),
        }
    }

    #[test]
    fn noise_of_git_is_no_change() {
        let repositories = [repository("/none/p", "/none/p/.git", "/none/p/.git")];
        let state = vec![ChangedPart::State(path("/none/p"))];
        for (name, expected) in [
            ("/none/p/.git/index", &state),
            ("/none/p/.git/HEAD", &state),
            ("/none/p/.git/refs/heads/main", &state),
            ("/none/p/.gitignore", &state),
            ("/none/p/.git/index.lock", &Vec::new()),
            ("/none/p/.git/objects/12/34", &Vec::new()),
            ("/none/p/.git/lfs/tmp/5", &Vec::new()),
            ("/none/p/.git/FETCH_HEAD", &Vec::new()),
            ("/none/p/.git/burin-trace-1-2", &Vec::new()),
            ("/none/elsewhere", &Vec::new()),
        ] {
            assert_eq!(&classify(&path(name), &repositories), expected, "{name}");
        }
        let gone = classify(&path("/none/p/.git"), &repositories);
        assert_eq!(gone, [ChangedPart::Repositories]);
    }

    #[test]
    fn a_file_belongs_to_the_innermost_repository() {
        let repositories = [
            repository("/none/p", "/none/p/.git", "/none/p/.git"),
            repository(
                "/none/p/in",
                "/none/p/.git/modules/in",
                "/none/p/.git/modules/in",
            ),
        ];
        let file =
            |root: &str, name: &str| vec![ChangedPart::File(path(root), TreePath::from(name))];
        let found = classify(&path("/none/p/a/b.rs"), &repositories);
        assert_eq!(found, file("/none/p", "a/b.rs"));
        let found = classify(&path("/none/p/in/c.rs"), &repositories);
        assert_eq!(found, file("/none/p/in", "c.rs"));
        let found = classify(&path("/none/p/x/.git/index"), &repositories);
        assert!(found.is_empty(), "of a repository that is not shown");
        let found = classify(&path("/none/p/.git/modules/in/index"), &repositories);
        assert_eq!(found, [ChangedPart::State(path("/none/p/in"))]);
    }

    #[test]
    fn worktrees_share_references_but_no_index() {
        let linked = repository("/none/w", "/none/p/.git/worktrees/w", "/none/p/.git");
        let repositories = [
            repository("/none/p", "/none/p/.git", "/none/p/.git"),
            linked,
        ];
        let state = |root: &str| ChangedPart::State(path(root));
        let both = classify(&path("/none/p/.git/refs/heads/a"), &repositories);
        assert_eq!(both, [state("/none/p"), state("/none/w")]);
        let found = classify(&path("/none/p/.git/worktrees/w/index"), &repositories);
        assert_eq!(found, [state("/none/w")]);
        let found = classify(&path("/none/p/.git/worktrees/v/index"), &repositories[1..]);
        assert!(found.is_empty());
    }
}
