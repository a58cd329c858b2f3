//! A repository begun with what a folder holds: for sample projects, which come without one.

use base::AbsPath;
use git2::{IndexAddOption, Signature};

use crate::repository::{Error, unreadable};

/// Makes a folder a repository with one commit of all it holds, but for what its ignore files name.
pub fn begin(folder: &AbsPath, message: &str) -> Result<(), Error> {
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
