//! The environment of a command, and the paths that its program may have.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::{Policy, SpawnRequest};

/// The default search path for programs.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns the environment of a command: the policy's variables, overridden by the request's,
/// overridden by `last`.
pub(crate) fn environment(
    policy: &Policy,
    request: &SpawnRequest,
    last: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let mut environment: Vec<(OsString, OsString)> = Vec::new();
    let given = policy.environment.iter().chain(&request.environment);
    for (name, value) in given.chain(last) {
        environment.retain(|(known, _)| known != name);
        environment.push((name.clone(), value.clone()));
    }
    environment
}

/// Returns the paths to try for a program, as a shell would.
pub(crate) fn programs(
    request: &SpawnRequest,
    environment: &[(OsString, OsString)],
) -> Vec<OsString> {
    if request.program.as_bytes().contains(&b'/') {
        return vec![
            request
                .folder
                .as_path()
                .join(&request.program)
                .into_os_string(),
        ];
    }
    let path = environment.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(OsStr::new(USUAL_PATH), |(_, value)| value);
    let folders = path.as_bytes().split(|byte| *byte == b':');
    let absolute = folders.filter(|folder| folder.starts_with(b"/"));
    let program = |folder: &[u8]| Path::new(OsStr::from_bytes(folder)).join(&request.program);
    absolute.map(|folder| program(folder).into()).collect()
}
