//! Caches the variables of the login shell on disk, except secrets, until a start-up file changes.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::UNIX_EPOCH;

use base::AbsPath;

use super::shell::LoginShell;
use super::{Variable, parse, printed};
use crate::environment::{Recipient, is_allowed};

/// Marker around the variables in the file.
const MARKER: &str = "burin-login-environment";

/// Returns the cached variables; `None` if there are none or a start-up file changed.
pub(super) fn read(path: &AbsPath, shell: &LoginShell, home: &AbsPath) -> Option<Vec<Variable>> {
    let text = fs::read(path).ok()?;
    let variables = parse(&text, MARKER.as_bytes())?;
    let stamp = stamp(shell, home, &variables);
    text.starts_with(format!("{stamp}\n").as_bytes())
        .then_some(variables)
}

/// Writes those of the variables that the allow-list may pass on, readable by this user only.
pub(super) fn write(
    path: &AbsPath,
    shell: &LoginShell,
    home: &AbsPath,
    variables: &[Variable],
) -> io::Result<()> {
    let is_kept = |variable: &&Variable| is_allowed(&variable.0, &variable.1, Recipient::Personal);
    let kept: Vec<Variable> = variables.iter().filter(is_kept).cloned().collect();
    let mut text = format!("{}\n", stamp(shell, home, &kept)).into_bytes();
    text.extend(printed(MARKER.as_ref(), kept.into_iter()));
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(&text)
}

/// Returns a text that changes with the shell and with its start-up files.
fn stamp(shell: &LoginShell, home: &AbsPath, variables: &[Variable]) -> String {
    let variable = |name: &str| -> Option<OsString> {
        let found = variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    // Children do not get `ZDOTDIR`, so it is taken from this process if it is missing.
    let variable = |name: &str| variable(name).or_else(|| std::env::var_os(name));
    let mut stamp = Vec::new();
    let files = shell.start_up_files(home.as_path(), &variable);
    for file in [&shell.program].into_iter().chain(&files) {
        let metadata = fs::metadata(file).ok();
        let time = metadata.as_ref().and_then(|metadata| {
            let time = metadata.modified().ok()?;
            Some(time.duration_since(UNIX_EPOCH).ok()?.as_nanos())
        });
        let length = metadata.map(|metadata| metadata.len());
        stamp.extend_from_slice(file.as_os_str().as_bytes());
        stamp.extend_from_slice(format!("{time:?}{length:?}").as_bytes());
    }
    format!("{:032x}", crate::content_hash::ContentHash::of(&stamp).0)
}
