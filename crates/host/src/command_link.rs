//! Links by which a shell finds a program as a command.

use std::io::ErrorKind;
use std::os::unix::fs::symlink;

use base::AbsPath;

use crate::error::{Error, ErrorReason};

/// Makes `program` available as the command `name`: a symbolic link in the first of `folders` where
/// one can be created. Blocks on a few system calls.
///
/// An existing link of that name is replaced; any other file stays, and the next folder is tried.
/// Only the last folder is created if it is missing. Returns the path of the link, or the error of
/// the last folder.
pub fn link_command(program: &AbsPath, name: &str, folders: &[AbsPath]) -> Result<AbsPath, Error> {
    let mut failure = Error::new(program, "link to", ErrorReason::NotFound);
    for (ix, folder) in folders.iter().enumerate() {
        let link = folder.join(name);
        if ix + 1 == folders.len()
            && let Err(error) = std::fs::create_dir_all(folder.as_path())
        {
            return Err(Error::from_io(folder, "create", &error));
        }
        match place(program, &link) {
            Ok(()) => return Ok(link),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Creates `link`, or replaces it if it is a link.
fn place(program: &AbsPath, link: &AbsPath) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::from_io(link, "create", &error);
    match symlink(program.as_path(), link.as_path()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => return created.map_err(failed),
    }
    let metadata = std::fs::symlink_metadata(link.as_path()).map_err(failed)?;
    if !metadata.is_symlink() {
        return Err(Error::new(link, "create", ErrorReason::AlreadyExists));
    }
    // The rename replaces the link in one step, so that the command never disappears.
    let draft = AbsPath::new(format!(
        "{}.{}",
        link.as_path().display(),
        std::process::id()
    ))
    .ok_or_else(|| Error::new(link, "create", ErrorReason::NotFound))?;
    symlink(program.as_path(), draft.as_path()).map_err(failed)?;
    let replaced = std::fs::rename(draft.as_path(), link.as_path());
    if replaced.is_err() {
        // Nothing else refers to the draft.
        std::fs::remove_file(draft.as_path()).ok();
    }
    replaced.map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::link_command;
    use crate::error::ErrorReason;
    use crate::temp::TempFolder;

    #[test]
    fn the_command_is_linked_in_the_first_usable_folder() {
        let home = TempFolder::new().expect("a folder");
        let program = home.path().join("program");
        std::fs::write(program.as_path(), "").expect("a program");
        let folders = ["missing", "first", "last/bin"].map(|name| home.path().join(name));
        std::fs::create_dir(folders[1].as_path()).expect("a folder");
        let target = |link: &base::AbsPath| std::fs::read_link(link.as_path()).expect("a link");

        let link = link_command(&program, "burin", &folders).expect("linked");
        assert_eq!(link, folders[1].join("burin"), "a folder that exists");
        assert_eq!(target(&link), program.as_path());

        let newer = home.path().join("newer");
        let again = link_command(&newer, "burin", &folders).expect("linked again");
        assert_eq!(
            (again.clone(), target(&again)),
            (link.clone(), newer.as_path().to_owned())
        );

        std::fs::remove_file(link.as_path()).expect("removed");
        std::fs::write(link.as_path(), "another program").expect("a file");
        let last = link_command(&program, "burin", &folders).expect("linked elsewhere");
        assert_eq!(last, folders[2].join("burin"), "the last folder is created");
        let kept = std::fs::read_to_string(link.as_path()).expect("the file");
        assert_eq!(kept, "another program");
    }

    #[test]
    fn a_file_of_that_name_is_never_replaced() {
        let home = TempFolder::new().expect("a folder");
        let (program, file) = (home.path().join("program"), home.path().join("burin"));
        std::fs::write(file.as_path(), "mine").expect("a file");
        let refused = link_command(&program, "burin", &[home.path().clone()]);
        assert_eq!(
            refused.map_err(|error| error.reason),
            Err(ErrorReason::AlreadyExists)
        );
        assert_eq!(
            std::fs::read_to_string(file.as_path()).expect("the file"),
            "mine"
        );
    }
}
