//! The program `burin-agent`. Everything it does is in the library.

use std::io::{IsTerminal as _, Write, stderr, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use crash_report::{CrashRecorder, ProgramVersion};
use host::{Dirs, RealClock, RealFiles};

fn main() -> ExitCode {
    if let Some(code) = host::process::guard_main() {
        return code;
    }
    if let Some(code) = runtime::answer_askpass() {
        return code;
    }
    if let Some(code) = runtime::answer_git() {
        return code;
    }
    // Before this process holds anything that a sandbox must not see.
    runtime::prepare_sandbox();
    host::process::raise_file_limit();
    let crashes = record_crashes();
    let (mut plain, mut visible);
    let output: &mut dyn Write = if stdout().is_terminal() {
        visible = cli::Visible::new(stdout());
        &mut visible
    } else {
        plain = stdout();
        &mut plain
    };
    let code = cli::run(
        std::env::args_os(),
        &mut cli::Streams {
            // Not locked: commands that wait for the input read it on other threads.
            input: &mut stdin(),
            output,
            errors: &mut stderr(),
        },
    );
    if let Some(crashes) = crashes {
        crashes.conclude();
    }
    code
}

/// Writes a note about each panic from now on. `None` if there is no folder for it.
fn record_crashes() -> Option<CrashRecorder> {
    let dirs = Dirs::from_environment().ok()?;
    let program = ProgramVersion {
        name: "burin-agent",
        version: env!("CARGO_PKG_VERSION"),
    };
    let (files, clock) = (Arc::new(RealFiles), Arc::new(RealClock::default()));
    Some(CrashRecorder::install(
        program,
        files,
        clock,
        dirs.crashes(),
    ))
}
