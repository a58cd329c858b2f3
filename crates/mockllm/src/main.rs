//! `mockllm`: the server as a program, for people and for agents that are not ours.

use std::{path::PathBuf, process::ExitCode};

use mockllm::{MockServer, Script};

const USAGE: &str = "usage: mockllm --script FILE [--port N]

Serves the script on 127.0.0.1 until it is interrupted, and prints the address.
--script FILE  the script, JSON with comments
--port N       the port; any free one if left out";

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line speaks to its terminal"
)]
fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(server) => {
            println!("{}", server.url());
            loop {
                std::thread::park();
            }
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<MockServer, String> {
    let (mut path, mut port) = (None, 0);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            let value = arguments.next();
            value.ok_or_else(|| format!("{argument} wants a value\n\n{USAGE}"))
        };
        match argument.as_str() {
            "--script" => path = Some(PathBuf::from(value()?)),
            "--port" => {
                let text = value()?;
                let wrong = |_| format!("--port {text} is not a port from 0 to 65535");
                port = text.parse().map_err(wrong)?;
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    let Some(path) = path else {
        return Err(USAGE.to_owned());
    };
    let name = path.display().to_string();
    let text = read(&path).map_err(|error| format!("{name} cannot be read: {error}"))?;
    let script = Script::parse(&name, &text).map_err(|error| error.to_string())?;
    MockServer::start_at(script, port).map_err(|error| {
        format!("cannot listen on 127.0.0.1:{port}: {error}; choose another port with --port")
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program's one file; the library takes scripts as text"
)]
fn read(path: &std::path::Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}
