//! The checks of landings, run on the staged files before the user commits them.
//!
//! Limits: language servers do not look for new errors here; a check ends only by itself, or after half an hour.

use base::AbsPath;
use composer::change_history::TreeWatchers;
use composer::land::{Check, CheckError};
use git::Repository;
use host::{Dirs, Files as _, RealFiles, TempFolder};

use super::checks::{CheckCommands, CheckedTree, check_error};
use super::service::open_worktrees;

/// Runs the checks that the user configured for landings in the repository around `folder` on a copy of its staged
/// files. Returns the first one that fails; `None` if all pass, or if there are none. Blocks until they end.
///
/// # Errors
/// The checks gave no result, for instance because libgit2 cannot read the index.
pub fn first_failed_check(dirs: &Dirs, folder: &AbsPath) -> Result<Option<Check>, CheckError> {
    let worktrees = open_worktrees(dirs, folder, TreeWatchers::default()).map_err(check_error)?;
    let commands = CheckCommands::new(dirs, &worktrees).commands()?;
    if commands.is_empty() {
        return Ok(None);
    }
    let repository = Repository::discover(folder).map_err(check_error)?;
    let staged = repository.staged_tree().map_err(check_error)?;
    let temporary = TempFolder::new().map_err(check_error)?;
    let scratch = RealFiles.canonicalize(temporary.path());
    let copy = scratch.map_err(check_error)?.join("staged");
    RealFiles.create_folder(&copy).map_err(check_error)?;
    let exported = repository.export(staged, &copy, &RealFiles);
    exported.map_err(check_error)?;
    let tree = CheckedTree {
        dirs,
        project: worktrees.main_repo(),
        folder: &copy,
    };
    for command in &commands {
        let (check, _) = tree.run(command)?;
        if !check.is_passed {
            return Ok(Some(check));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use git::Repository;
    use git::merge::TreePath;
    use host::{Dirs, Files as _, RealFiles, TempFolder};

    use super::super::checks::CheckCommands;
    use super::super::service::open_worktrees;
    use super::{TreeWatchers, first_failed_check};

    #[test]
    fn checks_see_the_staged_files_alone() {
        let temporary = TempFolder::new().expect("a folder");
        let folder = RealFiles.canonicalize(temporary.path()).expect("it exists");
        let root = folder.join("repo");
        RealFiles.create_folder(&root).expect("a folder");
        git::init_repository(&root, "Begin").expect("a repository");
        let dirs = Dirs::under(&folder.join("own"));
        dirs.create().expect("folders");
        let passes = first_failed_check(&dirs, &root).expect("no checks");
        assert_eq!(passes, None);
        let worktrees = open_worktrees(&dirs, &root, TreeWatchers::default());
        let worktrees = worktrees.expect("worktrees");
        let command = "grep -q staged a.txt".to_owned();
        let saved = CheckCommands::new(&dirs, &worktrees).save(&[command]);
        saved.expect("saved");
        let file = root.join("a.txt");
        let write = |text: &[u8]| RealFiles.write_private(&file, text).expect("a file");
        write(b"staged\n");
        let repository = Repository::discover(&root).expect("a repository");
        let paths = [TreePath::new("a.txt")];
        repository.stage_files(&paths).expect("staged");
        write(b"later\n");
        let passes = first_failed_check(&dirs, &root).expect("a result");
        assert_eq!(passes, None);
        repository.stage_files(&paths).expect("staged");
        let failed = first_failed_check(&dirs, &root).expect("a result");
        let failed = failed.expect("a failed check");
        assert_eq!(failed.name, "grep -q staged a.txt");
    }
}
