//! The repository of a worktree.

use base::AbsPath;
use host::{FileKind, Files};

/// Maximum length of the files in which Git keeps the paths of a worktree, in bytes.
const MAX_LINK: u64 = 8 << 10;

/// Returns the folder `.git` that the worktrees of a repository have in common; `None` if `root` is not the root of a
/// worktree. Blocks on the disk.
pub(crate) fn common_folder(files: &dyn Files, root: &AbsPath) -> Option<AbsPath> {
    let link = root.join(".git");
    if files.stat(&link).ok()?.kind == FileKind::Folder {
        return Some(files.stored_path(&link));
    }
    let text = read(files, &link)?;
    let own = root.join(text.strip_prefix("gitdir:")?.trim());
    let common = read(files, &own.join("commondir"))?;
    Some(files.stored_path(&own.join(common.trim())))
}

fn read(files: &dyn Files, path: &AbsPath) -> Option<String> {
    let bytes = files.read(path, MAX_LINK).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    #[test]
    fn worktrees_have_a_folder_in_common() {
        let files = FakeFiles::new();
        files.folder(&path("/r/.git/worktrees/w"));
        files.write(&path("/r/.git/worktrees/w/commondir"), "../..\n");
        files.write(&path("/w/.git"), "gitdir: /r/.git/worktrees/w\n");
        files.write(&path("/v/.git"), "gitdir: ../r/.git/worktrees/w\n");
        files.folder(&path("/plain"));
        files.write(&path("/odd/.git"), "nonsense");
        let common = |root: &str| common_folder(&files, &path(root));
        for root in ["/r", "/w", "/v"] {
            assert_eq!(common(root), Some(path("/r/.git")), "{root}");
        }
        for root in ["/plain", "/odd", "/r/src"] {
            assert_eq!(common(root), None, "{root}");
        }
    }
}
