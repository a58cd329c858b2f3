//! Locates a root's repository, and the folder for its index.

use std::path::PathBuf;

use base::AbsPath;
use git::Repository;
use host::{ContentHash, Files, RealFiles};

/// Maximum size of an alternates file that is read, in bytes.
const MAX_ALTERNATES_BYTES: u64 = 64 << 10;

/// The location of a root in its Git working tree; worktrees of one repository share their store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepoLayout {
    /// The root of the working tree, or the root itself outside of any.
    pub(crate) top: AbsPath,
    /// The prefix of the root's paths relative to the top: `crates/` or empty.
    pub(crate) prefix: String,
    /// The common git folder of all worktrees of the repository.
    pub(crate) shared: AbsPath,
}

impl RepoLayout {
    /// Finds the working tree around `root`. If `root` is outside of every working tree, `root`
    /// itself is the top. Reads the disk.
    pub(crate) fn of(root: &AbsPath) -> Self {
        let alone = Self {
            top: root.clone(),
            prefix: String::new(),
            shared: root.clone(),
        };
        let Ok(repository) = Repository::discover(root) else {
            return alone;
        };
        let top = repository.workdir().clone();
        let Some(below) = root
            .relative_to(&top)
            .map(|below| below.to_string_lossy().into_owned())
        else {
            return alone;
        };
        let common = repository.common_dir();
        Self {
            shared: alternate_repository(&common).unwrap_or(common),
            prefix: if below.is_empty() {
                below
            } else {
                format!("{below}/")
            },
            top,
        }
    }
}

/// Removes the prefix of the root from a path relative to the top.
pub(crate) fn relative(path: &str, prefix: &str) -> PathBuf {
    PathBuf::from(path.strip_prefix(prefix).unwrap_or(path))
}

/// Returns the repository from which this one borrows its objects, as an agent's worktree does.
fn alternate_repository(common: &AbsPath) -> Option<AbsPath> {
    let list = common.join("objects/info/alternates");
    let list = RealFiles.read(&list, MAX_ALTERNATES_BYTES).ok()?;
    let list = String::from_utf8(list).ok()?;
    let objects = common.join("objects").join(list.lines().next()?);
    (objects.name() == "objects").then(|| objects.parent())?
}

/// Returns the folder below `folder` for the data of a repository, or of a worktree's root. Its
/// name is a hash of the path `of`. Does not create the folder.
pub(crate) fn folder_for(folder: &AbsPath, of: &AbsPath) -> AbsPath {
    use std::os::unix::ffi::OsStrExt;
    let hash = ContentHash::of(of.as_path().as_os_str().as_bytes()).0;
    folder.join(format!("{hash:032x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_outside_of_any_repository_is_its_own_repository() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = AbsPath::new(folder.path().canonicalize().expect("there")).expect("absolute");
        let layout = RepoLayout::of(&root);
        assert_eq!((layout.top, layout.shared), (root.clone(), root));
    }

    #[test]
    fn worktrees_and_borrowers_share_their_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = AbsPath::new(folder.path().canonicalize().expect("there")).expect("absolute");
        let (main_repo, lease) = (root.join("main"), root.join("lease"));
        for path in [&main_repo, &lease] {
            RealFiles.create_folder(path).expect("create");
            git::init_repository(path, "first").expect("begin");
        }
        RealFiles
            .create_folder(&main_repo.join("src"))
            .expect("create");
        let layout = RepoLayout::of(&main_repo.join("src"));
        assert_eq!((&layout.top, layout.prefix.as_str()), (&main_repo, "src/"));
        let list = lease.join(".git/objects/info/alternates");
        RealFiles
            .create_folder(&list.parent().expect("inside"))
            .expect("create");
        let objects = format!("{}/.git/objects\n", main_repo.as_path().display());
        RealFiles
            .write_private(&list, objects.as_bytes())
            .expect("write");
        assert_eq!(RepoLayout::of(&lease).shared, layout.shared);
    }
}
