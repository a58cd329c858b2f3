//! Creates repositories, for sample projects that come without one.

use base::AbsPath;
use git2::{IndexAddOption, Signature};

use crate::repository::{Error, unreadable};

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
