//! The guard as a part of this program.

use std::ffi::OsString;
use std::io::BufRead;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::{Arc, OnceLock};

use crate::process::record::TreeRecord;
use crate::process::tree::orphans::end_trees;
use crate::process::tree::table::ProcessTable;
use crate::process::tree::tracked::Look;

/// The only argument of a guard.
const GUARD: &str = "--guard";

/// The program and its arguments that make a guard, once it is known.
static PROGRAM: OnceLock<(PathBuf, Vec<OsString>)> = OnceLock::new();

/// Returns whether this process was started as a guard. If not, notes the program as one.
pub(in crate::process) fn is_guard() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == GUARD) && arguments.next().is_none() {
        return true;
    }
    if let Ok(program) = std::env::current_exe() {
        set_program(program, vec![GUARD.into()]);
    }
    false
}

pub(super) fn set_program(program: PathBuf, arguments: Vec<OsString>) {
    // The first one stays: it is the same program.
    PROGRAM.set((program, arguments)).ok();
}

/// Returns the command that starts a guard; `None` if this program cannot serve as one.
pub(in crate::process) fn program() -> Option<Command> {
    let (program, arguments) = PROGRAM.get()?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    Some(command)
}

/// Reads lines until the input ends, then ends all trees that are left.
pub(in crate::process) fn serve(input: impl BufRead, table: &Arc<dyn ProcessTable>) -> ExitCode {
    let mut record = TreeRecord::new();
    for line in input.lines().map_while(Result::ok) {
        record.apply(&line);
    }
    end_trees(&record, table);
    ExitCode::SUCCESS
}

/// Tells the guard the changes of a tree.
pub(in crate::process) fn tell_changes(first: i32, look: &Look) {
    if look.new.is_empty() && look.gone.is_empty() {
        return;
    }
    let mut guard = super::lock();
    for identity in &look.new {
        guard.send(&format!("member {first} {identity}"));
    }
    for identity in &look.gone {
        guard.send(&format!("gone {first} {identity}"));
    }
}
