//! The program `burin-agent`. Everything it does is in the library.

use std::io::{stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = headless::answer_git() {
        return code;
    }
    // While there is nothing here yet that a sandbox must not see.
    headless::prepare_sandbox();
    headless::run(
        std::env::args_os(),
        &mut headless::Streams {
            // Not locked: commands that wait for the input read it on other threads.
            input: &mut stdin(),
            output: &mut stdout(),
            errors: &mut stderr(),
        },
    )
}
