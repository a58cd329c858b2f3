//! Tests of every wire and every fault over a real socket.

mod faults;
mod limits;
mod raw;
mod wires;

use serde_json::{Value, json};

use crate::{MockServer, Script};

/// Starts a server with this script.
fn serve(script: &Value) -> MockServer {
    let script =
        Script::parse("test", &script.to_string()).unwrap_or_else(|error| panic!("{error}"));
    MockServer::start(script).expect("loopback has a free port")
}

/// Starts a server that always sends this reply.
fn saying(reply: Value) -> MockServer {
    serve(&json!({ "rules": [{ "reply": reply }] }))
}

/// Creates a streaming request of the Anthropic wire.
fn question(text: &str) -> Value {
    json!({
        "model": "m", "max_tokens": 1000, "stream": true, "thinking": { "type": "adaptive" },
        "messages": [{ "role": "user", "content": text }],
    })
}
