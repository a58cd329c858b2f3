//! Saving standard input the way the editor saves.

use std::ffi::OsStr;
use std::process::ExitCode;

use base::AbsPath;
use host::{ContentHash, Dirs, Error, ExpectedContent, Files, OnDisk, SaveRequest};

use crate::Streams;

/// Writes standard input to a file. Reads an existing file first, so that a concurrent change is
/// noticed as in the editor.
pub(crate) fn run(
    files: &dyn Files,
    dirs: &Dirs,
    path: &OsStr,
    streams: &mut Streams<'_>,
) -> Result<ExitCode, String> {
    let path = std::path::absolute(path)
        .ok()
        .and_then(AbsPath::new)
        .ok_or_else(|| format!("{} is not a path", path.display()))?;
    let mut content = Vec::new();
    streams
        .input
        .read_to_end(&mut content)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    let request = SaveRequest {
        path: &path,
        content: &content,
        expected: expected(files, &path).map_err(|error| error.to_string())?,
        recovery_folder: &dirs.recovery(),
    };
    let saved = files.save(&request).map_err(|error| error.to_string())?;
    match saved.unconfirmed {
        Some(error) => Err(error.to_string()),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Returns the content on disk as the one that the save expects; `Absent` if there is no file.
fn expected(files: &dyn Files, path: &AbsPath) -> Result<ExpectedContent, Error> {
    match files.read_with_stat(path, u64::MAX - 1) {
        Ok((old, stat)) => Ok(ExpectedContent::Unchanged(OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&old),
        })),
        Err(error) if error.is_not_found() => Ok(ExpectedContent::Absent),
        Err(mut error) => {
            error.doing = "save";
            Err(error)
        }
    }
}
