//! `mockllm`: the server as a program, for manual tests and external agents.

use std::{io, path::PathBuf, process::ExitCode};

use mockllm::{MockServer, Script, ScriptError};

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
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Reason the server cannot start.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("{}", USAGE)]
    Usage,
    #[error("{0} needs a value\n\n{usage}", usage = USAGE)]
    MissingValue(String),
    #[error("--port {0} is not a port from 0 to 65535")]
    Port(String),
    #[error("{name} cannot be read: {error}")]
    Read { name: String, error: io::Error },
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("cannot listen on 127.0.0.1:{port}: {error}; choose another port with --port")]
    Listen { port: u16, error: io::Error },
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<MockServer, StartError> {
    let (mut path, mut port) = (None, 0);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            let value = arguments.next();
            value.ok_or_else(|| StartError::MissingValue(argument.clone()))
        };
        match argument.as_str() {
            "--script" => path = Some(PathBuf::from(value()?)),
            "--port" => {
                let text = value()?;
                port = text.parse().map_err(|_| StartError::Port(text))?;
            }
            _ => return Err(StartError::Usage),
        }
    }
    let Some(path) = path else {
        return Err(StartError::Usage);
    };
    let name = path.display().to_string();
    let text = read(&path).map_err(|error| StartError::Read {
        name: name.clone(),
        error,
    })?;
    let script = Script::parse(&name, &text)?;
    MockServer::start_at(script, port).map_err(|error| StartError::Listen { port, error })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program reads one file; the library takes scripts as text"
)]
fn read(path: &std::path::Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}
