//! The program `burin-agent`. Everything it does is in the library.

use std::io::{IsTerminal as _, Write, stderr, stdin, stdout};
use std::process::ExitCode;

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
    let (mut plain, mut visible);
    let output: &mut dyn Write = if stdout().is_terminal() {
        visible = cli::Visible::new(stdout());
        &mut visible
    } else {
        plain = stdout();
        &mut plain
    };
    cli::run(
        std::env::args_os(),
        &mut cli::Streams {
            // Not locked: commands that wait for the input read it on other threads.
            input: &mut stdin(),
            output,
            errors: &mut stderr(),
        },
    )
}
