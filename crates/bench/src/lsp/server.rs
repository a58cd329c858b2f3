//! A server at the other end of two pipes.

use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::thread;
use std::time::Duration;

use base::AbsPath;
use lsp::{ClientInfo, LanguageServer, ServerEvents, ServerOptions};
use serde_json::{Value, json};

/// Time for an answer.
pub(super) const TIME: Duration = Duration::from_secs(60);

/// The server's end of the pipes.
pub(super) struct PipeServer {
    input: BufReader<PipeReader>,
    pub(super) output: PipeWriter,
}

/// Connects a client to a server with these capabilities.
pub(super) fn connect(
    capabilities: &Value,
) -> Result<(LanguageServer, ServerEvents, PipeServer), String> {
    let failed = |error: std::io::Error| error.to_string();
    let (input_reader, input) = pipe().map_err(failed)?;
    let (output_reader, output) = pipe().map_err(failed)?;
    let options = ServerOptions {
        client: ClientInfo {
            name: "bench".to_owned(),
            version: "1".to_owned(),
        },
        process_id: None,
        folders: vec![path("/w")],
        initialization_options: Default::default(),
        configuration: Default::default(),
        log: None,
    };
    let connected = LanguageServer::connect(options, input, output_reader);
    let (client, events) = connected.map_err(failed)?;
    let mut server = PipeServer {
        input: BufReader::new(input_reader),
        output,
    };
    let initialized = thread::scope(|scope| {
        let asked = scope.spawn(|| client.initialize(TIME));
        let request = server.read().ok_or("no request")?;
        let result = json!({ "capabilities": capabilities });
        server.send(&json!({ "id": request["id"], "result": result }).to_string())?;
        let initialized = asked.join().map_err(|_| "the client panicked".to_owned())?;
        initialized.map_err(|error| error.to_string())
    });
    initialized?;
    Ok((client, events, server))
}

pub(super) fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("the path is absolute")
}

/// Returns a message with its header.
pub(super) fn frame(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

impl PipeServer {
    /// Reads the next message; `None` at the end.
    pub(super) fn read(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.input.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        self.input.read_exact(&mut body).ok()?;
        serde_json::from_slice(&body).ok()
    }

    /// Reads messages until one has this method.
    pub(super) fn expect(&mut self, method: &str) -> Result<Value, String> {
        loop {
            let message = self.read().ok_or_else(|| format!("no {method}"))?;
            if message["method"] == method {
                return Ok(message);
            }
        }
    }

    pub(super) fn send(&mut self, body: &str) -> Result<(), String> {
        let bytes = frame(body);
        self.output
            .write_all(&bytes)
            .map_err(|error| error.to_string())
    }
}
