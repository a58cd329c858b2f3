//! A hostile server: near-valid messages, torn frames, announced gigabytes, floods.

use std::io::{Read, Write, sink};
use std::thread;
use std::time::Duration;

use base::Span;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use text::{Buffer, Edit, EditOrigin, Snapshot, Timestamp};

use super::fake::{WAIT, connect, options, path, running, wait_for_end};
use crate::framing::frame;
use crate::random;
use crate::{LanguageServer, ServerEvent};

/// Valid messages of every kind that a client understands.
fn templates() -> Vec<Value> {
    let range =
        json!({ "start": { "line": 0, "character": 1 }, "end": { "line": 1, "character": 2 } });
    let diagnostic = json!({
        "range": range, "message": "m", "severity": 1, "code": 7, "source": "s", "tags": [1],
        "codeDescription": { "href": "u" },
        "relatedInformation": [{ "location": { "uri": "file:///w/b", "range": range }, "message": "r" }],
    });
    let report = json!({ "kind": "full", "resultId": "1", "items": [diagnostic] });
    let related =
        json!({ "kind": "full", "items": [], "relatedDocuments": { "file:///w/b.rs": report } });
    let registration = json!({
        "id": "1", "method": "textDocument/diagnostic",
        "registerOptions": { "documentSelector": [{ "language": "rust", "pattern": "**/*" }] },
    });
    let edit = json!({ "documentChanges": [{ "textDocument": { "uri": "file:///etc/passwd" } }] });
    let request =
        |method: &str, params: Value| json!({ "id": 1, "method": method, "params": params });
    let notice = |method: &str, params: Value| json!({ "method": method, "params": params });
    let publish = json!({ "uri": "file:///w/a.rs", "version": 1, "diagnostics": [diagnostic] });
    let begin = json!({ "kind": "begin", "title": "t", "percentage": 1 });
    vec![
        notice("textDocument/publishDiagnostics", publish),
        notice("$/progress", json!({ "token": 1, "value": begin })),
        notice("window/logMessage", json!({ "type": 1, "message": "m" })),
        notice("window/showMessage", json!({ "type": 3, "message": "m" })),
        request(
            "workspace/configuration",
            json!({ "items": [{ "section": "a.b" }] }),
        ),
        request(
            "client/registerCapability",
            json!({ "registrations": [registration] }),
        ),
        request(
            "client/unregisterCapability",
            json!({ "unregisterations": [registration] }),
        ),
        request("workspace/applyEdit", json!({ "label": "l", "edit": edit })),
        request("workspace/diagnostic/refresh", Value::Null),
        request(
            "window/showMessageRequest",
            json!({ "type": 2, "message": "m" }),
        ),
        json!({ "id": 2, "result": report }),
        json!({ "id": 3, "result": related }),
        json!({ "id": 4, "error": { "code": -32802, "message": "m", "data": {} } }),
    ]
}

fn scalar(rng: &mut StdRng) -> Value {
    match rng.random_range(0..12) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(i64::MIN),
        5 => json!(1.5e300),
        6 => json!(rng.random_range(0..300)),
        7 => json!([]),
        8 => json!({}),
        9 => json!("x".repeat(rng.random_range(0..3_000))),
        10 => json!("file:///w/a.rs"),
        _ => json!("é\u{0}\u{202e}🦀"),
    }
}

/// Replaces, removes or repeats a random part of a value.
pub(super) fn mutate(rng: &mut StdRng, value: &mut Value) {
    let stays = rng.random_range(0..4) != 0;
    match value {
        Value::Object(members) if stays && !members.is_empty() => {
            let ix = rng.random_range(0..members.len());
            let name = members.keys().nth(ix).cloned().unwrap_or_default();
            if rng.random_range(0..6) == 0 {
                members.remove(&name);
            } else if let Some(member) = members.get_mut(&name) {
                mutate(rng, member);
            }
        }
        Value::Array(items) if stays && !items.is_empty() => {
            let ix = rng.random_range(0..items.len());
            if rng.random_range(0..6) == 0 {
                let item = items[ix].clone();
                items.resize(rng.random_range(0..200), item);
            } else {
                mutate(rng, &mut items[ix]);
            }
        }
        value => *value = scalar(rng),
    }
}

/// Edits documents and asks for everything, as an owner does.
fn use_server(server: &LanguageServer, rng: &mut StdRng, buffer: &mut Buffer) {
    let document = path("/w/a.rs");
    let text = buffer.snapshot().to_string();
    let span = match text.len() {
        // Starts again before the text becomes long.
        4_096.. => buffer.snapshot().full_span(),
        _ => Span::at(random::boundary(rng, &text)),
    };
    let edit = Edit::new(span, random::text(rng, 2) + "x");
    let change = buffer.edit(&[edit], &EditOrigin::user(Timestamp(0)));
    server.change_document(&document, &change, &buffer.snapshot());
    if rng.random_range(0..50) == 0 {
        server.open_document(&path("/w/b.rs"), "rust", &Snapshot::new(&text));
    }
    if let Some(diagnostics) = server.diagnostics(&document) {
        for item in &diagnostics.items {
            assert!(item.span.end <= diagnostics.text.len());
        }
    }
    drop(server.pull_diagnostics(&document));
}

#[test]
fn near_valid_messages_change_nothing_but_counts() {
    let (server, events, mut fake) = running(json!({
        "textDocumentSync": 2,
        "diagnosticProvider": {},
        "positionEncoding": "utf-16",
    }));
    let mut buffer = Buffer::new("let é = 1;\r\nx\n");
    server.open_document(&path("/w/a.rs"), "rust", &buffer.snapshot());
    let writer = fake.take_writer();
    let count = random::rounds(4_000, 100_000);
    let reason = thread::scope(|scope| {
        scope.spawn(move || write_messages(writer, count));
        scope.spawn(move || fake.drain());
        let mut rng = StdRng::seed_from_u64(1);
        for _ in 0..count / 4 {
            use_server(&server, &mut rng, &mut buffer);
            // Edits of files are refused by being dropped.
            if let Some(ServerEvent::Ended(reason)) = events.next(Duration::ZERO) {
                return reason.to_string();
            }
        }
        wait_for_end(&events)
    });
    assert_eq!(
        reason,
        "ended: a message of 1073741824 bytes exceeds 67108864 bytes"
    );
    assert!(server.progress().is_empty());
    assert!(!server.violations().is_empty());
}

fn write_messages(mut writer: impl Write, count: usize) {
    let templates = templates();
    let mut rng = StdRng::seed_from_u64(0);
    for _ in 0..count {
        let mut message = templates[rng.random_range(0..templates.len())].clone();
        for _ in 0..rng.random_range(0..3) {
            mutate(&mut rng, &mut message);
        }
        let mut bytes = frame(&message.to_string());
        if rng.random_range(0..20) == 0 {
            // Wrong bytes within the body leave the frame intact.
            let end = bytes.len();
            bytes[end - 1] = rng.random();
        }
        writer.write_all(&bytes).expect("written");
    }
    writer
        .write_all(b"Content-Length: 1073741824\r\n\r\n")
        .expect("written");
}

#[test]
fn a_torn_frame_ends_the_connection() {
    let (_server, events, mut fake) = running(json!({}));
    fake.write(b"Content-Length: 100\r\n\r\n{}");
    fake.close();
    assert_eq!(
        wait_for_end(&events),
        "ended: its output ended within a message"
    );
}

#[test]
fn a_server_that_prints_ends_with_its_own_words() {
    let (_server, events, mut fake) = running(json!({}));
    fake.write(b"Traceback (most recent call last)\n");
    let reason = wait_for_end(&events);
    assert_eq!(
        reason,
        "ended: it wrote \"Traceback (most recent call last)\" instead of a message"
    );
}

#[test]
fn a_server_that_does_not_read_never_blocks_the_client() {
    let (server, events, mut fake) = connect(options());
    fake.initialize(&server, json!({ "textDocumentSync": 1 }));
    let document = path("/w/a.rs");
    server.open_document(&document, "rust", &Snapshot::new(""));
    let text = Snapshot::new("x");
    // More messages than the queue holds.
    for _ in 0..20_000 {
        server.replace_document(&document, &text);
        if server.end_reason().is_some() {
            break;
        }
    }
    let reason = wait_for_end(&events);
    assert!(reason.starts_with("does not read its input; "), "{reason}");
}

#[test]
fn floods_of_events_are_bounded() {
    let (server, events, mut fake) = running(json!({ "textDocumentSync": 2 }));
    server.open_document(&path("/w/a.rs"), "rust", &Snapshot::new("x"));
    fake.expect("textDocument/didOpen");
    let writer = fake.take_writer();
    thread::scope(|scope| {
        scope.spawn(move || flood(writer));
        scope.spawn(move || fake.drain());
        // The owner looks only at the end.
        while server.end_reason().is_none() {
            thread::yield_now();
        }
    });
    let mut counts = [0; 4];
    loop {
        match events.next(WAIT).expect("an event") {
            ServerEvent::Message { text, .. } => {
                assert!(text.len() <= 8 << 10);
                counts[0] += 1;
            }
            ServerEvent::EditRequested(_) => counts[0] += 1,
            ServerEvent::ProgressChanged => counts[1] += 1,
            ServerEvent::DiagnosticsChanged(_) => counts[2] += 1,
            ServerEvent::UnopenedDiagnosticsChanged => counts[3] += 1,
            ServerEvent::RequestSent => {}
            ServerEvent::Ended(_) => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(counts, [256, 1, 1, 1]);
}

fn flood(mut writer: impl Write) {
    let mut send = |message: Value| {
        writer
            .write_all(&frame(&message.to_string()))
            .expect("written");
    };
    let text = "y".repeat(10_000);
    for round in 0..1_000 {
        send(json!({ "method": "window/logMessage", "params": { "type": 1, "message": text } }));
        let value = json!({ "kind": "begin", "title": text });
        send(json!({ "method": "$/progress", "params": { "token": round, "value": value } }));
        send(json!({ "id": round, "method": "workspace/applyEdit", "params": {} }));
        let items = json!([{ "message": text }]);
        let uri = format!(
            "file:///w/{}.rs",
            if round % 2 == 0 {
                "a".to_owned()
            } else {
                round.to_string()
            }
        );
        let params = json!({ "uri": uri, "diagnostics": items });
        send(json!({ "method": "textDocument/publishDiagnostics", "params": params }));
    }
}

/// A stream that goes on for ever.
struct Endless(&'static [u8]);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(self.0.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        Ok(length)
    }
}

#[test]
fn an_endless_header_ends_the_connection() {
    let connected = LanguageServer::connect(options(), sink(), Endless(b"X-A: b\r\n"));
    let (_server, events) = connected.expect("threads");
    assert_eq!(
        wait_for_end(&events),
        "ended: the header of a message exceeds 8192 bytes"
    );
}
