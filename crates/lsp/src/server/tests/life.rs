//! The life of a connection: beginning, documents, end.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base::{AbsPath, Span};
use serde_json::{Value, json};
use text::{Buffer, EditOrigin, Snapshot, Timestamp};

use super::fake::{WAIT, connect, options, path, running, wait_for_end, with_document};
use crate::{EndReason, LanguageServer, MessageDirection, MessageLog, RequestError};

fn document() -> AbsPath {
    path("/w/a.rs")
}

#[test]
fn documents_follow_initialization_and_configuration() {
    let mut options = options();
    options.configuration.insert("x".to_owned(), json!(1));
    let (server, _events, mut fake) = connect(options);
    server.open_document(&document(), "rust", &Snapshot::new("é"));
    fake.initialize(&server, json!({ "textDocumentSync": 2 }));
    fake.expect("initialized");
    let settings = fake.expect("workspace/didChangeConfiguration");
    assert_eq!(settings["params"], json!({ "settings": { "x": 1 } }));
    let open = fake.expect("textDocument/didOpen");
    let expected =
        json!({ "uri": "file:///w/a.rs", "languageId": "rust", "version": 1, "text": "é" });
    assert_eq!(open["params"]["textDocument"], expected);
}

#[test]
fn initialization_names_client_folders_and_options() {
    let mut given = options();
    given
        .initialization_options
        .insert("x".to_owned(), json!(1));
    for (options, expected) in [(options(), Value::Null), (given, json!({ "x": 1 }))] {
        let (server, _events, mut fake) = connect(options);
        thread::scope(|scope| {
            let client = scope.spawn(|| server.initialize(WAIT));
            let request = fake.expect("initialize");
            let params = &request["params"];
            assert_eq!(params["processId"], 7);
            assert_eq!(params["rootUri"], "file:///w");
            assert_eq!(
                params["workspaceFolders"],
                json!([{ "uri": "file:///w", "name": "w" }])
            );
            assert_eq!(
                params["clientInfo"],
                json!({ "name": "client", "version": "1" })
            );
            // Absent, not null.
            assert_eq!(
                params
                    .get("initializationOptions")
                    .cloned()
                    .unwrap_or_default(),
                expected
            );
            let info = json!({ "name": "fake", "version": 7 });
            fake.respond(&request, json!({ "capabilities": {}, "serverInfo": info }));
            // A detail in a wrong form is no failure.
            client.join().expect("no panic").expect("initialized");
        });
    }
}

#[test]
fn nothing_is_sent_before_the_server_is_initialized() {
    let (server, _events, mut fake) = connect(options());
    server.open_document(&document(), "rust", &Snapshot::new(""));
    server.save_document(&document());
    server.close_document(&document());
    assert!(server.pull_diagnostics(&document()).is_none());
    fake.initialize(&server, json!({ "textDocumentSync": 2 }));
    fake.expect("initialized");
    let again = server.initialize(WAIT);
    assert_eq!(
        again,
        Err(RequestError::OutOfOrder {
            method: "initialize"
        })
    );
}

#[test]
fn a_refused_or_malformed_initialization_is_an_error() {
    let (server, _events, mut fake) = connect(options());
    thread::scope(|scope| {
        let client = scope.spawn(|| server.initialize(WAIT));
        let request = fake.expect("initialize");
        fake.refuse(&request, -32002, Value::Null);
        let error = client.join().expect("no panic").expect_err("refused");
        assert_eq!(
            error.to_string(),
            "the server refused initialize: no (-32002)"
        );
    });
    let (server, _events, mut fake) = connect(options());
    thread::scope(|scope| {
        let client = scope.spawn(|| server.initialize(WAIT));
        let request = fake.expect("initialize");
        fake.respond(&request, json!({ "capabilities": [] }));
        let error = client.join().expect("no panic").expect_err("malformed");
        assert!(matches!(
            error,
            RequestError::Malformed {
                method: "initialize",
                ..
            }
        ));
    });
}

#[test]
fn a_silent_server_times_out_and_shuts_down_all_the_same() {
    let (server, _events, mut fake) = connect(options());
    let error = server.initialize(Duration::ZERO).expect_err("silent");
    assert_eq!(
        error,
        RequestError::TimedOut {
            method: "initialize"
        }
    );
    fake.expect("initialize");
    assert!(server.shutdown(Duration::ZERO).is_err());
    fake.expect("exit");
    assert_eq!(fake.read(), None);
}

#[test]
fn shutting_down_waits_then_exits_and_closes_the_input() {
    let (server, events, mut fake) = running(json!({}));
    thread::scope(|scope| {
        let client = scope.spawn(|| server.shutdown(WAIT));
        let request = fake.expect("shutdown");
        assert_eq!(request.get("params"), None);
        // Its requests are still answered.
        let answer = fake.ask(json!(1), "workspace/workspaceFolders", Value::Null);
        assert_eq!(answer, json!([{ "uri": "file:///w", "name": "w" }]));
        fake.respond(&request, Value::Null);
        client.join().expect("no panic").expect("shut down");
    });
    fake.expect("exit");
    assert_eq!(fake.read(), None);
    fake.close();
    assert_eq!(wait_for_end(&events), "was shut down");
    assert!(events.next(Duration::ZERO).is_none());
}

#[test]
fn dropping_every_handle_closes_the_input() {
    let (server, events, mut fake) = running(json!({}));
    let clone = server.clone();
    drop(server);
    clone.open_document(&document(), "rust", &Snapshot::new(""));
    drop(clone);
    assert_eq!(fake.read(), None);
    fake.close();
    assert_eq!(wait_for_end(&events), "closed its output");
}

#[test]
fn the_end_of_a_server_ends_its_requests_and_diagnostics() {
    let capabilities = json!({ "textDocumentSync": 2, "diagnosticProvider": {} });
    let (server, events, mut fake) = with_document(capabilities, "");
    let pull = server.pull_diagnostics(&document()).expect("offered");
    fake.close();
    assert_eq!(
        pull.wait(WAIT),
        Err(RequestError::Ended(EndReason::OutputClosed))
    );
    assert_eq!(wait_for_end(&events), "closed its output");
    assert_eq!(server.end_reason(), Some(EndReason::OutputClosed));
    assert!(server.diagnostics(&document()).is_none());
    assert!(server.pull_diagnostics(&document()).is_none());
    let error = server.shutdown(WAIT);
    assert_eq!(error, Err(RequestError::Ended(EndReason::OutputClosed)));
}

#[test]
fn edits_saves_and_closes_reach_the_server_in_order() {
    let sync = json!({ "openClose": true, "change": 2, "save": { "includeText": true } });
    let (server, _events, mut fake) = with_document(json!({ "textDocumentSync": sync }), "one");
    let mut buffer = Buffer::new("one");
    let origin = EditOrigin::user(Timestamp(0));
    let change = buffer.replace(Span::from(3..3), " two", &origin);
    server.change_document(&document(), &change, &buffer.snapshot());
    server.replace_document(&document(), &Snapshot::new("three"));
    server.save_document(&document());
    server.close_document(&document());
    server.save_document(&document());
    let first = fake.expect("textDocument/didChange");
    assert_eq!(first["params"]["contentChanges"][0]["text"], " two");
    let second = fake.expect("textDocument/didChange");
    assert_eq!(
        second["params"]["contentChanges"],
        json!([{ "text": "three" }])
    );
    let version = |message: &Value| message["params"]["textDocument"]["version"].as_i64();
    assert!(version(&first) < version(&second));
    assert_eq!(
        fake.expect("textDocument/didSave")["params"]["text"],
        "three"
    );
    fake.expect("textDocument/didClose");
    drop(server);
    assert_eq!(fake.read(), None);
}

#[test]
fn a_server_without_synchronisation_hears_of_no_document() {
    let (server, _events, mut fake) = running(json!({}));
    server.open_document(&document(), "rust", &Snapshot::new("a"));
    server.replace_document(&document(), &Snapshot::new("b"));
    server.save_document(&document());
    // Registered later, it receives the text of that moment.
    let register = |method: &str| json!({ "id": method, "method": method });
    let registrations = json!([
        register("textDocument/didOpen"),
        register("textDocument/didSave")
    ]);
    fake.send(json!({
        "id": 1,
        "method": "client/registerCapability",
        "params": { "registrations": registrations },
    }));
    let open = fake.expect("textDocument/didOpen");
    assert_eq!(open["params"]["textDocument"]["text"], "b");
    assert_eq!(fake.read().expect("an answer")["id"], 1);
    server.save_document(&document());
    fake.expect("textDocument/didSave");
    server.close_document(&document());
    fake.expect("textDocument/didClose");
}

/// A log that keeps everything.
#[derive(Default)]
struct KeptLog(Mutex<Vec<(MessageDirection, String)>>);

impl MessageLog for KeptLog {
    fn message(&self, direction: MessageDirection, body: &[u8]) {
        let text = String::from_utf8_lossy(body).into_owned();
        self.0.lock().expect("no panic").push((direction, text));
    }
}

#[test]
fn every_message_is_logged() {
    let log = Arc::new(KeptLog::default());
    let mut options = options();
    options.log = Some(log.clone());
    let (server, events, mut fake) = connect(options);
    fake.initialize(&server, json!({}));
    fake.expect("initialized");
    fake.close();
    wait_for_end(&events);
    let messages = log.0.lock().expect("no panic");
    let directions: Vec<MessageDirection> = messages.iter().map(|(it, _)| *it).collect();
    let (to, from) = (MessageDirection::ToServer, MessageDirection::FromServer);
    assert_eq!(directions, [to, from, to]);
    assert!(messages[1].1.contains("capabilities"));
}

#[test]
fn handles_are_shared_by_threads() {
    fn check<T: Send + Sync + Clone>() {}
    check::<LanguageServer>();
}
