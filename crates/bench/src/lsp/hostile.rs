//! The memory that a server costs which floods its client.

use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use lsp::{FileChangeType, FileEvent, ServerEvent};
use serde_json::{Value, json};
use text::Snapshot;

use super::server::{TIME, connect, frame, path};
use crate::figure::Figure;

/// Time between two measurements without an event.
const PAUSE: Duration = Duration::from_millis(5);
/// Messages of each kind.
const MESSAGES: usize = 30_000;

pub(super) fn run() -> Result<Vec<Figure>, String> {
    let before = resident()?;
    let (client, events, mut server) = connect(&json!({ "textDocumentSync": 2 }))?;
    client.open_document(&path("/w/a.rs"), "rust", &Snapshot::new("x"));
    let mut output = server
        .output
        .try_clone()
        .map_err(|error| error.to_string())?;
    let mut most = before;
    let start = Instant::now();
    let reason = thread::scope(|scope| {
        scope.spawn(move || while server.read().is_some() {});
        scope.spawn(move || {
            for round in 0..MESSAGES {
                for message in messages(round) {
                    if output.write_all(&frame(&message.to_string())).is_err() {
                        return;
                    }
                }
            }
            // The pipe is gone if the connection has ended.
            output.write_all(b"Content-Length: 1073741824\r\n\r\n").ok();
        });
        let event = FileEvent {
            path: path("/w/a.rs"),
            change: FileChangeType::Changed,
        };
        loop {
            client.files_changed(std::slice::from_ref(&event));
            most = most.max(resident().unwrap_or_default());
            match events.next(PAUSE) {
                Some(ServerEvent::Ended(reason)) => break Some(reason.to_string()),
                Some(_) => {}
                None if start.elapsed() > TIME => break None,
                None => {}
            }
        }
    });
    let reason = reason.ok_or("the connection did not end")?;
    println!("hostile server: {reason}");
    drop(client);
    let name = "memory that a hostile server costs";
    let megabytes = most.saturating_sub(before) as f64 / 1e6;
    Ok(vec![Figure::alone(
        name,
        megabytes,
        "MB",
        MESSAGES,
        Some(64.0),
    )])
}

/// Returns one message of each kind that could pile up.
fn messages(round: usize) -> Vec<Value> {
    let text = "y".repeat(2_000);
    let begin = json!({ "kind": "begin", "title": text });
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 1 } });
    let diagnostics = json!([{ "range": range, "message": text }]);
    let watchers = json!([{ "globPattern": format!("{round}/**/{{a,b}}*.{}", "x".repeat(100)) }]);
    let registration = json!({
        "id": round.to_string(), "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": watchers },
    });
    let provider = json!({
        "id": format!("p{round}"), "method": "textDocument/hover",
        "registerOptions": { "documentSelector": [{ "pattern": format!("**/{text}") }] },
    });
    let registrations = json!({ "registrations": [registration, provider] });
    let edit = json!({ "changes": { format!("file:///w/{round}.rs"): [{ "range": range, "newText": text }] } });
    vec![
        json!({ "method": "$/progress", "params": { "token": round, "value": begin } }),
        json!({ "method": "textDocument/publishDiagnostics", "params": { "uri": format!("file:///w/{round}.rs"), "diagnostics": diagnostics } }),
        json!({ "method": "window/logMessage", "params": { "type": 1, "message": text } }),
        json!({ "id": round, "method": "client/registerCapability", "params": registrations }),
        json!({ "id": round, "method": "workspace/applyEdit", "params": { "edit": edit } }),
        json!({ "id": round, "result": text }),
    ]
}

/// Returns the resident memory of this process in bytes.
fn resident() -> Result<u64, String> {
    let text = std::fs::read_to_string("/proc/self/statm").map_err(|error| error.to_string())?;
    let pages = text
        .split_whitespace()
        .nth(1)
        .and_then(|it| it.parse::<u64>().ok());
    let pages = pages.ok_or("this system does not show the memory of a process")?;
    Ok(pages * 4096)
}
