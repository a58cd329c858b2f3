//! The project's own chores: `cargo xtask bench NAME`. Tidy and the layering test are this crate's
//! tests.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a chore talks to the terminal and starts cargo; none of it is linked into the product"
)]

use std::process::{Command, ExitCode};

#[cfg(test)]
mod layers;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod tree;

const USAGE: &str = "usage: cargo xtask bench NAME [ARGUMENT…]
       cargo xtask bench        lists the names";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("bench") => bench(arguments.collect()),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Benchmarks measure what ships, so they are built and run in the release profile.
fn bench(arguments: Vec<String>) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--release", "--package", "bench", "--"])
        .args(arguments)
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot start cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
