//! A repository of many small files in one commit.

use std::io::{self, Write};

use base::AbsPath;

use super::repositories;

/// Number of files in a folder, and of folders in a folder.
const IN_FOLDER: usize = 20;
const FOLDERS: usize = 30;
/// Files of a repository up to which they are long.
const FEW: usize = 5_000;

/// Returns the repository of `files` files.
pub(super) fn kept_repository(files: usize) -> Result<AbsPath, String> {
    repositories::kept(&format!("files-{files}-1"), |root| {
        repositories::import(root, |out| write(out, files))
    })
}

/// Returns the path of a file in the repository.
pub(super) fn path_of(ix: usize) -> String {
    let folder = ix / IN_FOLDER;
    let (part, group) = (folder / FOLDERS, folder % FOLDERS);
    format!("part{part}/group{group}/file{ix}.txt")
}

/// Returns the committed text of a file in a repository of `files` files.
pub(super) fn text_of(ix: usize, files: usize) -> String {
    let lines = if files < FEW { 300 } else { 20 };
    let line = |line: usize| {
        format!(
            "line {line} of file {ix}, {:x}\n",
            ix * 7919 + line * 104_729
        )
    };
    (0..lines).map(line).collect()
}

fn write(out: &mut dyn Write, files: usize) -> io::Result<()> {
    let message = "all files";
    writeln!(
        out,
        "commit refs/heads/main\ncommitter Bench <bench@localhost> 1600000000 +0000\ndata {}\n{message}",
        message.len()
    )?;
    for ix in 0..files {
        let text = text_of(ix, files);
        let (path, length) = (path_of(ix), text.len());
        writeln!(out, "M 100644 inline {path}\ndata {length}\n{text}")?;
    }
    Ok(())
}
