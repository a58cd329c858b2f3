//! A scripted server over pipes.

use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::thread;
use std::time::Duration;

use base::AbsPath;
use serde_json::{Map, Value, json};
use text::Snapshot;

use crate::framing::{FrameReader, frame};
use crate::{ClientInfo, LanguageServer, ServerEvent, ServerEvents, ServerOptions};

/// A deadline that only a failing test reaches.
pub(super) const WAIT: Duration = Duration::from_secs(60);

/// The server's end of the pipes.
pub(super) struct FakeServer {
    reader: FrameReader<PipeReader>,
    /// `None` once its output is closed.
    writer: Option<PipeWriter>,
}

pub(super) fn options() -> ServerOptions {
    ServerOptions {
        client: ClientInfo {
            name: "client".to_owned(),
            version: "1".to_owned(),
        },
        process_id: Some(7),
        folders: vec![path("/w")],
        initialization_options: Map::new(),
        configuration: Map::new(),
        log: None,
    }
}

pub(super) fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

/// Connects a client to a server that has sent nothing yet.
pub(super) fn connect(options: ServerOptions) -> (LanguageServer, ServerEvents, FakeServer) {
    let (input_reader, input) = pipe().expect("a pipe");
    let (output, output_writer) = pipe().expect("a pipe");
    let (server, events) = LanguageServer::connect(options, input, output).expect("threads");
    let fake = FakeServer {
        reader: FrameReader::new(input_reader),
        writer: Some(output_writer),
    };
    (server, events, fake)
}

/// Connects a client to a server that is initialized with these capabilities.
pub(super) fn running(capabilities: Value) -> (LanguageServer, ServerEvents, FakeServer) {
    let (server, events, mut fake) = connect(options());
    fake.initialize(&server, capabilities);
    fake.expect("initialized");
    (server, events, fake)
}

/// As `running`, with the document `/w/a.rs` open.
pub(super) fn with_document(
    capabilities: Value,
    text: &str,
) -> (LanguageServer, ServerEvents, FakeServer) {
    let (server, events, mut fake) = running(capabilities);
    server.open_document(&path("/w/a.rs"), "rust", &Snapshot::new(text));
    fake.expect("textDocument/didOpen");
    (server, events, fake)
}

impl FakeServer {
    /// Answers `initialize`, which the client sends meanwhile.
    pub(super) fn initialize(&mut self, server: &LanguageServer, capabilities: Value) {
        thread::scope(|scope| {
            let client = scope.spawn(|| server.initialize(WAIT));
            let request = self.expect("initialize");
            self.respond(&request, json!({ "capabilities": capabilities }));
            client.join().expect("no panic").expect("initialized");
        });
    }

    /// Reads the next message; `None` once its input is closed.
    pub(super) fn read(&mut self) -> Option<Value> {
        let body = self.reader.read().expect("a frame")?;
        Some(serde_json::from_slice(&body).expect("JSON"))
    }

    /// Reads the next message, which must have this method.
    pub(super) fn expect(&mut self, method: &str) -> Value {
        let message = self.read().expect("a message");
        assert_eq!(message["method"], method, "{message}");
        message
    }

    /// Sends a request and returns the answer, which must be the next message.
    pub(super) fn ask(&mut self, id: Value, method: &str, params: Value) -> Value {
        self.send(json!({ "id": id, "method": method, "params": params }));
        let mut answer = self.read().expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        let members = answer.as_object_mut().expect("an object");
        members
            .remove("result")
            .or_else(|| members.remove("error"))
            .expect("a result or an error")
    }

    /// Reads messages until its input is closed.
    pub(super) fn drain(&mut self) {
        while let Ok(Some(_)) = self.reader.read() {}
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }

    pub(super) fn respond(&mut self, request: &Value, result: Value) {
        self.send(json!({ "id": request["id"], "result": result }));
    }

    pub(super) fn refuse(&mut self, request: &Value, code: i64, data: Value) {
        let error = json!({ "code": code, "message": "no", "data": data });
        self.send(json!({ "id": request["id"], "error": error }));
    }

    pub(super) fn send(&mut self, message: Value) {
        self.write(&frame(&message.to_string()));
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        let writer = self.writer.as_mut().expect("an open output");
        writer.write_all(bytes).expect("written");
    }

    /// Takes its output, so that another thread can write it.
    pub(super) fn take_writer(&mut self) -> PipeWriter {
        self.writer.take().expect("an open output")
    }

    /// Closes its output, as a server that exits does.
    pub(super) fn close(&mut self) {
        self.writer = None;
    }
}

/// Waits for an event that `wanted` accepts; others are dropped.
pub(super) fn wait_for<R>(events: &ServerEvents, wanted: impl Fn(&ServerEvent) -> Option<R>) -> R {
    loop {
        let event = events.next(WAIT).expect("an event");
        if let Some(result) = wanted(&event) {
            return result;
        }
    }
}

/// Waits until the diagnostics of a document change.
pub(super) fn wait_for_diagnostics(events: &ServerEvents) -> AbsPath {
    wait_for(events, |event| match event {
        ServerEvent::DiagnosticsChanged(path) => Some(path.clone()),
        _ => None,
    })
}

/// Waits until the connection ends, and returns the reason as text.
pub(super) fn wait_for_end(events: &ServerEvents) -> String {
    wait_for(events, |event| match event {
        ServerEvent::Ended(reason) => Some(reason.to_string()),
        _ => None,
    })
}
