//! Creates repositories: empty ones, and for sample projects that come without one.

use base::AbsPath;
use git2::{IndexAddOption, Signature};

use crate::repository::{Error, unreadable};

/// Creates an empty repository in `folder`, without a commit. Its branch has the name that the user's settings give.
pub fn create_repository(folder: &AbsPath) -> Result<(), Error> {
    let created = git2::Repository::init(folder.as_path());
    created
        .map(drop)
        .map_err(|error| unreadable(folder.as_path(), &error))
}

/// Initializes a repository in `folder` and commits every file in it that is not ignored.
pub fn init_repository(folder: &AbsPath, message: &str) -> Result<(), Error> {
    let begun = || {
        let repository = git2::Repository::init(folder.as_path())?;
        let mut index = repository.index()?;
        index.add_all(["*"], IndexAddOption::DEFAULT, None)?;
        index.write()?;
        let tree = repository.find_tree(index.write_tree()?)?;
        let author = Signature::now("Burin", "burin@localhost")?;
        repository.commit(Some("HEAD"), &author, &author, message, &tree, &[])?;
        Ok(())
    };
    let begun: Result<(), git2::Error> = begun();
    begun.map_err(|error| unreadable(folder.as_path(), &error))
}
