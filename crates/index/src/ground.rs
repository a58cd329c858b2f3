//! Where a root lies: in which repository, and where what is known of it is kept.

use base::AbsPath;
use git::Repository;
use host::{ContentHash, Files, RealFiles};

/// Bytes of a list of borrowed objects that are looked at.
const MOST_BORROWED: u64 = 64 << 10;

/// Where a root lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ground {
    /// The top of the working tree, or the root itself outside of any.
    pub(crate) top: AbsPath,
    /// What the paths of the root begin with, counted from the top: `crates/` or nothing.
    pub(crate) below: String,
    /// What all worktrees of the repository have in common.
    pub(crate) shared: AbsPath,
}

impl Ground {
    pub(crate) fn of(root: &AbsPath) -> Self {
        let alone = Self {
            top: root.clone(),
            below: String::new(),
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
            shared: lender(&common).unwrap_or(common),
            below: if below.is_empty() {
                below
            } else {
                format!("{below}/")
            },
            top,
        }
    }
}

/// The repository that this one borrows its objects from, as an agent's worktree does.
fn lender(common: &AbsPath) -> Option<AbsPath> {
    let list = common.join("objects/info/alternates");
    let list = RealFiles.read(&list, MOST_BORROWED).ok()?;
    let list = String::from_utf8(list).ok()?;
    let objects = common.join("objects").join(list.lines().next()?);
    (objects.name() == "objects").then(|| objects.parent())?
}

/// The folder below `folder` that is kept for `of`: a repository, or the root of a worktree.
pub(crate) fn folder_for(folder: &AbsPath, of: &AbsPath) -> AbsPath {
    use std::os::unix::ffi::OsStrExt;
    let hash = ContentHash::of(of.as_path().as_os_str().as_bytes()).0;
    folder.join(format!("{hash:032x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_outside_of_any_repository_is_its_own_ground() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = AbsPath::new(folder.path().canonicalize().expect("there")).expect("absolute");
        let ground = Ground::of(&root);
        assert_eq!((ground.top, ground.shared), (root.clone(), root));
    }

    #[test]
    fn worktrees_and_borrowers_share_their_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = AbsPath::new(folder.path().canonicalize().expect("there")).expect("absolute");
        let (hub, lease) = (root.join("hub"), root.join("lease"));
        for path in [&hub, &lease] {
            RealFiles.create_folder(path).expect("create");
            git::begin(path, "first").expect("begin");
        }
        RealFiles.create_folder(&hub.join("src")).expect("create");
        let ground = Ground::of(&hub.join("src"));
        assert_eq!((&ground.top, ground.below.as_str()), (&hub, "src/"));
        let list = lease.join(".git/objects/info/alternates");
        RealFiles
            .create_folder(&list.parent().expect("inside"))
            .expect("create");
        let objects = format!("{}/.git/objects\n", hub.as_path().display());
        RealFiles
            .write_private(&list, objects.as_bytes())
            .expect("write");
        assert_eq!(Ground::of(&lease).shared, ground.shared);
    }
}
