//! The environment and the options of every call.

use std::ffi::OsString;

use base::AbsPath;
use host::environment::Variable;
use host::{FileKind, Files, RealFiles};

use crate::call::GitCall;

/// Returns the absolute path of a program in the `PATH` of an environment. Relative folders of
/// `PATH` do not count.
pub fn find_program(name: &str, environment: &[Variable]) -> Option<AbsPath> {
    let path = environment.iter().find(|(variable, _)| variable == "PATH");
    let folders = std::env::split_paths(&path?.1);
    folders.filter_map(AbsPath::new).find_map(|folder| {
        let program = folder.join(name);
        let stat = RealFiles.stat(&program).ok()?;
        let is_program = stat.kind == FileKind::File && stat.mode & 0o111 != 0;
        is_program.then_some(program)
    })
}

/// Variables that would point a call elsewhere, start a pager or an editor, or ask the user behind
/// our back.
const REMOVED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "LANGUAGE",
];

/// Variables of every call. `:` is the editor that changes nothing. The programs that ask for
/// passwords fail until a prompt server replaces them.
const SET: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
    ("GIT_EDITOR", ":"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "force"),
    ("GCM_INTERACTIVE", "never"),
];

/// Returns the environment of every call, from the variables of the user.
pub(super) fn prepared(mut environment: Vec<Variable>) -> Vec<Variable> {
    let is_kept = |name: &str| !REMOVED.contains(&name) && !SET.iter().any(|(set, _)| *set == name);
    environment.retain(|(name, _)| name.to_str().is_some_and(is_kept));
    environment.extend(SET.iter().map(|(name, value)| (name.into(), value.into())));
    environment
}

/// Returns the arguments of a call, with the options of every call.
///
/// Housekeeping runs in the foreground, because processes that Git leaves behind are ended.
pub(super) fn arguments(call: &GitCall) -> Vec<OsString> {
    const OPTIONS: &[&str] = &[
        "--no-pager",
        "-c",
        "core.quotePath=false",
        "-c",
        "gc.autoDetach=false",
        "-c",
        "maintenance.autoDetach=false",
    ];
    let mut arguments: Vec<OsString> = OPTIONS.iter().map(Into::into).collect();
    arguments.extend(call.options.iter().cloned());
    arguments.extend(call.arguments.iter().cloned());
    arguments
}
