//! Operations on files and folders, and their inverses.
//!
//! Blocks on the disk, so it runs in the background. Must not know: gpui, rows. Start at
//! `FileOperation`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use base::AbsPath;
use host::Files;

use crate::error::Error;
use crate::file_names::copy_name;

/// One file operation on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileOperation {
    /// Creates an empty file and its parent folders.
    CreateFile(AbsPath),
    /// Creates a folder and its parents.
    CreateFolder(AbsPath),
    /// Moves or renames a path.
    Move {
        /// Current path of the item.
        from: AbsPath,
        /// Path after the move.
        to: AbsPath,
    },
    /// Copies a path into a folder, under an unused name.
    CopyInto {
        /// Path of the original.
        from: AbsPath,
        /// Folder for the copy.
        folder: AbsPath,
    },
    /// Moves a path to the trash.
    Trash(AbsPath),
    /// Restores a path from the trash.
    Restore {
        /// Original path of the item.
        path: AbsPath,
        /// Trash folder of the desktop.
        trash: AbsPath,
    },
}

/// A change of files on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileChange {
    /// A file or folder was created.
    Created(AbsPath),
    /// A path was moved or renamed.
    Moved {
        /// Path before the change.
        from: AbsPath,
        /// Path after the change.
        to: AbsPath,
    },
    /// A path was moved to the trash.
    Trashed(AbsPath),
}

impl FileOperation {
    /// Runs the operation and returns the change. Never overwrites a file: if the target exists, a
    /// copy gets another name, and other operations fail. Blocks on the disk.
    pub(crate) fn run(&self, files: &dyn Files) -> Result<FileChange, Error> {
        match self {
            Self::CreateFile(path) => {
                if let Some(folder) = path.parent() {
                    files.create_folder(&folder)?;
                }
                files.create_file(path)?;
                Ok(FileChange::Created(path.clone()))
            }
            Self::CreateFolder(path) => {
                if files.exists(path) {
                    return Err(Error::PathExists(path.clone()));
                }
                files.create_folder(path)?;
                Ok(FileChange::Created(path.clone()))
            }
            Self::Move { from, to } => move_to(files, from, to),
            Self::CopyInto { from, folder } => copy_into(files, from, folder),
            Self::Trash(path) => {
                files.trash(path)?;
                Ok(FileChange::Trashed(path.clone()))
            }
            Self::Restore { path, trash } => restore(files, path, trash),
        }
    }

    /// Returns the paths whose surroundings must be read again.
    pub(crate) fn touched(&self) -> Vec<AbsPath> {
        match self {
            // The parent folders may be new as well.
            Self::CreateFile(path) | Self::CreateFolder(path) => with_folders_above(path),
            Self::Trash(path) => vec![path.clone()],
            Self::Move { from, to } => {
                let mut touched = with_folders_above(to);
                touched.push(from.clone());
                touched
            }
            // The name of the copy is not known yet; the folder itself is read again.
            Self::CopyInto { folder, .. } => vec![folder.clone()],
            Self::Restore { path, .. } => vec![path.clone()],
        }
    }

    /// Returns the operation that undoes `done`; `trash` is the folder of trashed files.
    pub(crate) fn undoing(done: &FileChange, trash: &AbsPath) -> Self {
        match done {
            // A created file may have been edited since, so it goes to the trash.
            FileChange::Created(path) => Self::Trash(path.clone()),
            FileChange::Moved { from, to } => Self::Move {
                from: to.clone(),
                to: from.clone(),
            },
            FileChange::Trashed(path) => Self::Restore {
                path: path.clone(),
                trash: trash.clone(),
            },
        }
    }
}

fn with_folders_above(path: &AbsPath) -> Vec<AbsPath> {
    std::iter::successors(Some(path.clone()), AbsPath::parent).collect()
}

/// Moves a file or folder to a new path, whose folders are created. Returns an error if the path is
/// inside of it or the move fails.
fn move_to(files: &dyn Files, from: &AbsPath, to: &AbsPath) -> Result<FileChange, Error> {
    if to.is_within(from) && to != from {
        return Err(Error::MoveIntoItself(from.clone()));
    }
    if let Some(folder) = to.parent() {
        files.create_folder(&folder)?;
    }
    files.rename(from, to)?;
    Ok(FileChange::Moved {
        from: from.clone(),
        to: to.clone(),
    })
}

/// Copies a file or folder into `folder`, under another name if its own is taken. Returns an error
/// if `folder` is inside of it or the copy fails.
fn copy_into(files: &dyn Files, from: &AbsPath, folder: &AbsPath) -> Result<FileChange, Error> {
    if folder.is_within(from) {
        return Err(Error::CopyIntoItself(from.clone()));
    }
    let taken = |name: &OsStr| files.exists(&folder.join(name));
    let to = match from.file_name() {
        name if taken(name) => folder.join(copy_name(name, taken)),
        name => folder.join(name),
    };
    files.copy(from, &to)?;
    Ok(FileChange::Created(to))
}

/// Restores the newest entry of the desktop's trash that was deleted from `path`.
fn restore(files: &dyn Files, path: &AbsPath, trash: &AbsPath) -> Result<FileChange, Error> {
    /// Maximum size of a trash record, in bytes; it has only a few lines.
    const LIMIT: u64 = 64 << 10;
    let lost = || Error::NotInTrash(path.clone());
    let records = files.list(&trash.join("info")).map_err(|_| lost())?;
    let mut found: Option<(Vec<u8>, AbsPath)> = None;
    for record in records.entries {
        let Ok(bytes) = files.read(&record.path, LIMIT) else {
            continue;
        };
        let line = |key: &str| {
            let mut lines = bytes.split(|byte| *byte == b'\n');
            lines.find_map(|line| line.strip_prefix(key.as_bytes()))
        };
        if line("Path=").map(unescape).as_deref() != Some(path.as_path().as_os_str()) {
            continue;
        }
        let date = line("DeletionDate=").unwrap_or_default().to_owned();
        if found.as_ref().is_none_or(|(newest, _)| date > *newest) {
            found = Some((date, record.path));
        }
    }
    let (_, record) = found.ok_or_else(lost)?;
    let name = record.file_name().as_bytes();
    let name = name.strip_suffix(b".trashinfo").unwrap_or(name);
    let kept = trash.join("files").join(OsStr::from_bytes(name));
    files.rename(&kept, path)?;
    files.remove(&record)?;
    Ok(FileChange::Created(path.clone()))
}

/// Decodes percent-encoded bytes such as `%20`.
fn unescape(bytes: &[u8]) -> OsString {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                plain.push(code);
                at += 3;
            }
            None => {
                plain.push(*byte);
                at += 1;
            }
        }
    }
    OsString::from_vec(plain)
}

#[cfg(test)]
mod tests {
    use super::{FileChange, FileOperation};
    use base::AbsPath;
    use host::{FakeFiles, Files as _};

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    #[test]
    fn changes_are_made_and_taken_back() {
        let files = FakeFiles::new();
        files.write(&path("/p/a.rs"), "one");
        let trash = path("/trash");
        let run =
            |operation: FileOperation| operation.run(&files).map_err(|error| error.to_string());
        let made = run(FileOperation::CreateFile(path("/p/x/new.rs"))).expect("created");
        assert!(files.exists(&path("/p/x/new.rs")));
        run(FileOperation::undoing(&made, &trash)).expect("trashed");
        assert!(!files.exists(&path("/p/x/new.rs")));

        let to = path("/p/x/b.rs");
        let moved = run(FileOperation::Move {
            from: path("/p/a.rs"),
            to: to.clone(),
        })
        .expect("moved");
        assert_eq!(files.content(&to).as_deref(), Some(&b"one"[..]));
        run(FileOperation::undoing(&moved, &trash)).expect("moved back");
        assert!(files.exists(&path("/p/a.rs")) && !files.exists(&to));

        let copy = FileOperation::CopyInto {
            from: path("/p/a.rs"),
            folder: path("/p"),
        };
        assert_eq!(run(copy), Ok(FileChange::Created(path("/p/a copy.rs"))));
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_sentence() {
        let files = FakeFiles::new();
        files.write(&path("/p/a/x"), "");
        let run =
            |operation: FileOperation| operation.run(&files).map_err(|error| error.to_string());
        let refused = run(FileOperation::Move {
            from: path("/p/a"),
            to: path("/p/a/b"),
        });
        assert_eq!(refused, Err("cannot move /p/a into itself".to_owned()));
        assert!(run(FileOperation::CreateFile(path("/p/a/x"))).is_err());
        assert!(run(FileOperation::CreateFolder(path("/p/a"))).is_err());
        let gone = FileOperation::Restore {
            path: path("/p/z"),
            trash: path("/trash"),
        };
        assert!(run(gone).is_err_and(|sentence| sentence.contains("trash of the desktop")));
    }

    #[test]
    fn copies_and_restored_files_keep_the_bytes_of_names() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        for name in [&b" lead.txt"[..], b"end\n", b"caf\xe9.txt", b"100%.txt"] {
            let name = OsStr::from_bytes(name);
            let files = FakeFiles::new();
            let (from, folder) = (path("/p").join(name), path("/q"));
            files.write(&from, "kept");
            files.folder(&folder);
            let copy = FileOperation::CopyInto { from, folder };
            let to = path("/q").join(name);
            let copied = copy.run(&files).expect("copied");
            assert_eq!(copied, FileChange::Created(to.clone()));
            assert_eq!(files.content(&to).as_deref(), Some(&b"kept"[..]));

            let bytes = to.as_path().as_os_str().as_bytes();
            let escaped: String = bytes.iter().map(|byte| format!("%{byte:02X}")).collect();
            let record = format!("[Trash Info]\nPath={escaped}\nDeletionDate=2024-01-01\n");
            let mut info = name.to_owned();
            info.push(".trashinfo");
            files.write(&path("/t/info").join(info), record);
            files.write(&path("/t/files").join(name), "thrown away");
            files.trash(&to).expect("trashed");
            let restore = FileOperation::Restore {
                path: to.clone(),
                trash: path("/t"),
            };
            restore.run(&files).expect("restored");
            assert_eq!(files.content(&to).as_deref(), Some(&b"thrown away"[..]));
        }
    }

    #[test]
    fn the_newest_of_the_trash_comes_back() {
        let files = FakeFiles::new();
        let record = |date: &str| format!("[Trash Info]\nPath=/p/my%20file\nDeletionDate={date}\n");
        files.write(
            &path("/t/info/my file.trashinfo"),
            record("2024-01-01T00:00:00"),
        );
        files.write(
            &path("/t/info/my file.2.trashinfo"),
            record("2024-01-02T00:00:00"),
        );
        files.write(&path("/t/files/my file"), "old");
        files.write(&path("/t/files/my file.2"), "new");
        files.folder(&path("/p"));
        let restored = FileOperation::Restore {
            path: path("/p/my file"),
            trash: path("/t"),
        };
        restored.run(&files).expect("restored");
        assert_eq!(
            files.content(&path("/p/my file")).as_deref(),
            Some(&b"new"[..])
        );
        assert!(!files.exists(&path("/t/info/my file.2.trashinfo")));
    }
}
