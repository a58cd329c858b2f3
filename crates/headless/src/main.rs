//! The program `burin-agent`. Everything it does is in the library.

use std::io::{stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    headless::run(
        std::env::args_os(),
        &mut headless::Streams {
            // Not locked for good: who answers questions is read on a thread of its own.
            input: &mut stdin(),
            output: &mut stdout().lock(),
            errors: &mut stderr().lock(),
        },
    )
}
