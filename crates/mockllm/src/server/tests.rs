//! Every wire's bytes over a real socket, and every fault as a client meets it.

mod faults;
mod limits;
mod raw;
mod wires;

use serde_json::{Value, json};

use crate::{MockServer, Script};

/// A server of this script.
fn serve(script: &Value) -> MockServer {
    let script =
        Script::parse("test", &script.to_string()).unwrap_or_else(|error| panic!("{error}"));
    MockServer::start(script).expect("loopback has a free port")
}

/// A server that says one thing.
fn saying(reply: Value) -> MockServer {
    serve(&json!({ "rules": [{ "reply": reply }] }))
}

/// A streaming question on the Anthropic wire.
fn question(text: &str) -> Value {
    json!({
        "model": "m", "max_tokens": 1000, "stream": true, "thinking": { "type": "adaptive" },
        "messages": [{ "role": "user", "content": text }],
    })
}
