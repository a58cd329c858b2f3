//! Pushed and pulled diagnostics.

use std::thread;
use std::time::Duration;

use base::{AbsPath, Span};
use serde_json::{Value, json};
use text::{Buffer, EditOrigin, Snapshot, Timestamp};

use super::fake::{FakeServer, WAIT, path, running, wait_for, wait_for_diagnostics, with_document};
use crate::{LanguageServer, RequestError, ServerEvent, ServerEvents};

fn document() -> AbsPath {
    path("/w/a.rs")
}

/// A diagnostic on the first row.
fn item(start: u32, end: u32, message: &str) -> Value {
    let position = |character| json!({ "line": 0, "character": character });
    let range = json!({ "start": position(start), "end": position(end) });
    json!({ "range": range, "message": message })
}

fn push(fake: &mut FakeServer, version: Value, items: Value) {
    let mut params = json!({ "uri": "file:///w/a%2Ers", "diagnostics": items });
    if !version.is_null() {
        params["version"] = version;
    }
    fake.notify("textDocument/publishDiagnostics", params);
}

fn messages(server: &LanguageServer) -> Vec<String> {
    let diagnostics = server.diagnostics(&document()).expect("a report");
    diagnostics
        .items
        .into_iter()
        .map(|item| item.message)
        .collect()
}

fn pulling() -> Value {
    json!({ "textDocumentSync": 2, "diagnosticProvider": { "identifier": "x" } })
}

/// Pulls once; `script` answers the requests.
fn pull(
    server: &LanguageServer,
    fake: &mut FakeServer,
    script: impl FnOnce(&mut FakeServer, Value),
) -> Result<(), RequestError> {
    let pull = server.pull_diagnostics(&document()).expect("offered");
    thread::scope(|scope| {
        let client = scope.spawn(|| pull.wait(WAIT));
        let request = fake.expect("textDocument/diagnostic");
        script(fake, request);
        client.join().expect("no panic")
    })
}

#[test]
fn pushed_diagnostics_belong_to_their_version() {
    let capabilities = json!({ "textDocumentSync": 2, "positionEncoding": "utf-8" });
    let (server, events, mut fake) = with_document(capabilities, "é = x");
    let mut buffer = Buffer::new("é = x");
    let origin = EditOrigin::user(Timestamp(0));
    let change = buffer.replace(Span::from(0..0), "let ", &origin);
    server.change_document(&document(), &change, &buffer.snapshot());
    let changed = fake.expect("textDocument/didChange");
    let version = changed["params"]["textDocument"]["version"].clone();

    push(&mut fake, json!(1), json!([item(5, 6, "old")]));
    wait_for_diagnostics(&events);
    let diagnostics = server.diagnostics(&document()).expect("a report");
    assert!(!diagnostics.is_current);
    assert_eq!(diagnostics.items[0].span, Span::from(9..10));
    assert_eq!(diagnostics.text.revision(), buffer.revision());

    push(&mut fake, version, json!([item(0, 3, "new")]));
    wait_for_diagnostics(&events);
    assert!(
        server
            .diagnostics(&document())
            .expect("a report")
            .is_current
    );
    assert_eq!(messages(&server), ["new"]);

    push(&mut fake, Value::Null, json!([]));
    wait_for_diagnostics(&events);
    assert_eq!(messages(&server), [""; 0]);
    assert_eq!(server.violations(), [""; 0]);

    push(&mut fake, json!(99), json!([item(0, 3, "unknown")]));
    fake.ask(json!(1), "workspace/workspaceFolders", Value::Null);
    assert_eq!(messages(&server), [""; 0]);
    assert_eq!(server.violations(), ["1 outdated report"]);
}

#[test]
fn diagnostics_pushed_before_opening_are_kept() {
    let (server, events, mut fake) = running(json!({ "textDocumentSync": 2 }));
    push(&mut fake, Value::Null, json!([item(0, 1, "early")]));
    fake.ask(json!(1), "workspace/workspaceFolders", Value::Null);
    assert!(server.diagnostics(&document()).is_none());
    server.open_document(&document(), "rust", &Snapshot::new("abc"));
    assert_eq!(wait_for_diagnostics(&events), document());
    assert_eq!(messages(&server), ["early"]);
    server.close_document(&document());
    assert!(server.diagnostics(&document()).is_none());
}

/// Returns the spans in `text` and the messages of the diagnostics of the closed document.
fn unopened(server: &LanguageServer, text: &str) -> Vec<(Span, String)> {
    let text = Snapshot::new(text);
    let found = server.unopened_diagnostics(&document()).into_iter();
    found
        .map(|it| (it.range.span(&text).expect("within the text"), it.message))
        .collect()
}

fn wait_for_unopened(events: &ServerEvents) {
    wait_for(events, |event| match event {
        ServerEvent::UnopenedDiagnosticsChanged => Some(()),
        _ => None,
    })
}

#[test]
fn diagnostics_of_closed_documents_are_reported_until_they_are_replaced() {
    let capabilities = json!({ "textDocumentSync": 2, "positionEncoding": "utf-8" });
    let (server, events, mut fake) = running(capabilities);
    push(&mut fake, Value::Null, json!([item(1, 2, "early"), 7]));
    wait_for_unopened(&events);
    assert_eq!(server.take_unopened_changes(), [(document(), true)]);
    assert_eq!(
        unopened(&server, "abc"),
        [(Span::from(1..2), "early".to_owned())]
    );
    server.open_document(&document(), "rust", &Snapshot::new("abc"));
    assert_eq!(wait_for_diagnostics(&events), document());
    assert_eq!(unopened(&server, "abc"), []);
    // They follow the edits, also after the document is closed.
    let mut buffer = Buffer::new("abc");
    let change = buffer.replace(Span::from(0..0), "--", &EditOrigin::user(Timestamp(0)));
    server.change_document(&document(), &change, &buffer.snapshot());
    server.close_document(&document());
    wait_for_unopened(&events);
    let kept = [(Span::from(3..4), "early".to_owned())];
    assert_eq!(unopened(&server, "--abc"), kept);
    server.open_document(&document(), "rust", &buffer.snapshot());
    assert_eq!(messages(&server), ["early"]);
    server.close_document(&document());
    push(&mut fake, Value::Null, json!([]));
    for method in ["didOpen", "didChange", "didClose", "didOpen", "didClose"] {
        fake.expect(&format!("textDocument/{method}"));
    }
    fake.ask(json!(1), "workspace/workspaceFolders", Value::Null);
    assert_eq!(unopened(&server, "--abc"), []);
    assert_eq!(server.take_unopened_changes(), [(document(), false)]);
}

#[test]
fn pulled_reports_are_confirmed_by_their_result_id() {
    let (server, _events, mut fake) = with_document(pulling(), "abc");
    let report = json!({ "kind": "full", "resultId": "r1", "items": [item(0, 1, "a")] });
    pull(&server, &mut fake, |fake, request| {
        let params = json!({ "textDocument": { "uri": "file:///w/a.rs" }, "identifier": "x" });
        assert_eq!(request["params"], params);
        fake.respond(&request, report);
    })
    .expect("a report");
    assert_eq!(messages(&server), ["a"]);
    server.replace_document(&document(), &Snapshot::new("abcd"));
    fake.expect("textDocument/didChange");
    assert!(
        !server
            .diagnostics(&document())
            .expect("a report")
            .is_current
    );
    pull(&server, &mut fake, |fake, request| {
        assert_eq!(request["params"]["previousResultId"], "r1");
        fake.respond(&request, json!({ "kind": "unchanged", "resultId": "r2" }));
    })
    .expect("a report");
    let diagnostics = server.diagnostics(&document()).expect("a report");
    assert!(diagnostics.is_current && diagnostics.items.len() == 1);
    pull(&server, &mut fake, |fake, request| {
        assert_eq!(request["params"]["previousResultId"], "r2");
        fake.respond(&request, Value::Null);
    })
    .expect("nothing to report");
    assert_eq!(messages(&server), [""; 0]);
}

#[test]
fn pushed_and_pulled_diagnostics_do_not_erase_each_other() {
    let (server, events, mut fake) = with_document(pulling(), "abc");
    push(
        &mut fake,
        Value::Null,
        json!([item(0, 1, "pushed"), item(1, 2, "both")]),
    );
    wait_for_diagnostics(&events);
    pull(&server, &mut fake, |fake, request| {
        fake.respond(
            &request,
            json!({ "kind": "full", "items": [item(1, 2, "both")] }),
        );
    })
    .expect("a report");
    assert_eq!(messages(&server), ["pushed", "both"]);
    push(&mut fake, Value::Null, json!([]));
    fake.ask(json!(1), "workspace/workspaceFolders", Value::Null);
    assert_eq!(messages(&server), ["both"]);
}

#[test]
fn related_documents_are_updated_too() {
    let (server, events, mut fake) = with_document(pulling(), "abc");
    let other = path("/w/b.rs");
    server.open_document(&other, "rust", &Snapshot::new("x"));
    fake.expect("textDocument/didOpen");
    pull(&server, &mut fake, |fake, request| {
        let related = json!({
            "file:///w/b.rs": { "kind": "full", "items": [item(0, 1, "related")] },
            "file:///w/unopened.rs": { "kind": "full", "items": [item(0, 1, "lost")] },
            "file:///w/a.rs": 7,
        });
        let report = json!({ "kind": "full", "items": [], "relatedDocuments": related });
        fake.respond(&request, report);
    })
    .expect("a report");
    assert_eq!(wait_for_diagnostics(&events), other);
    let diagnostics = server.diagnostics(&other).expect("a report");
    assert_eq!(diagnostics.items[0].message, "related");
}

#[test]
fn a_busy_server_is_asked_once_more() {
    let (server, _events, mut fake) = with_document(pulling(), "abc");
    let busy = -32802;
    let retrigger = json!({ "retriggerRequest": true });
    pull(&server, &mut fake, |fake, request| {
        fake.refuse(&request, busy, retrigger.clone());
        let again = fake.expect("textDocument/diagnostic");
        assert_ne!(again["id"], request["id"]);
        fake.respond(
            &again,
            json!({ "kind": "full", "items": [item(0, 1, "late")] }),
        );
    })
    .expect("a report");
    assert_eq!(messages(&server), ["late"]);
    let error = pull(&server, &mut fake, |fake, request| {
        fake.refuse(&request, busy, retrigger.clone());
        let again = fake.expect("textDocument/diagnostic");
        fake.refuse(&again, busy, retrigger);
    })
    .expect_err("still busy");
    assert!(error.is_retryable());
    let error = pull(&server, &mut fake, |fake, request| {
        fake.refuse(&request, busy, json!({ "retriggerRequest": false }));
    });
    assert!(error.is_err());
}

#[test]
fn a_pull_that_is_dropped_is_cancelled() {
    let (server, _events, mut fake) = with_document(pulling(), "abc");
    drop(server.pull_diagnostics(&document()));
    let request = fake.expect("textDocument/diagnostic");
    let cancel = fake.expect("$/cancelRequest");
    assert_eq!(cancel["params"]["id"], request["id"]);
    // Most servers answer all the same.
    fake.respond(&request, json!({ "kind": "full", "items": [] }));
    fake.ask(json!(1), "workspace/workspaceFolders", Value::Null);
    assert_eq!(server.violations(), [""; 0]);
    let pull = server.pull_diagnostics(&document()).expect("offered");
    let error = pull.wait(Duration::ZERO).expect_err("silent");
    assert_eq!(
        error.to_string(),
        "the server did not answer textDocument/diagnostic in time"
    );
    fake.expect("textDocument/diagnostic");
    fake.expect("$/cancelRequest");
}

#[test]
fn a_slow_answer_delays_only_itself() {
    let (server, _events, mut fake) = running(pulling());
    let paths: Vec<AbsPath> = (0..40).map(|ix| path(&format!("/w/{ix}.rs"))).collect();
    for path in &paths {
        server.open_document(path, "rust", &Snapshot::new("abc"));
        fake.expect("textDocument/didOpen");
    }
    let mut pulls = server.pull_all(paths.clone());
    let mut sent: Vec<Value> = (0..32)
        .map(|_| fake.expect("textDocument/diagnostic"))
        .collect();
    // No further request precedes the response.
    fake.ask(json!(1), "workspace/workspaceFolders", Value::Null);
    let full = json!({ "kind": "full", "items": [] });
    for ix in 1..40 {
        let request = &sent[ix];
        fake.respond(request, full.clone());
        let answer = pulls.next_answer(WAIT);
        assert_eq!(answer, Some((paths[ix].clone(), Ok(()))));
        if sent.len() < 40 {
            sent.push(fake.expect("textDocument/diagnostic"));
        }
    }
    let (late, result) = pulls.next_answer(Duration::ZERO).expect("the first");
    assert_eq!(late, paths[0]);
    assert!(matches!(result, Err(RequestError::TimedOut { .. })));
    let cancelled = fake.expect("$/cancelRequest");
    assert_eq!(cancelled["params"]["id"], sent[0]["id"]);
    assert_eq!(pulls.next_answer(Duration::ZERO), None);
}

#[test]
fn a_malformed_report_is_an_error_of_the_server() {
    let (server, _events, mut fake) = with_document(pulling(), "abc");
    for answer in [json!(7), json!([]), json!({ "items": 7 })] {
        let error = pull(&server, &mut fake, |fake, request| {
            fake.respond(&request, answer)
        });
        assert!(matches!(error, Err(RequestError::Malformed { .. })));
    }
    // Without a report before it, "unchanged" says nothing.
    pull(&server, &mut fake, |fake, request| {
        fake.respond(&request, json!({ "kind": "unchanged", "resultId": "x" }));
    })
    .expect("an answer");
    assert!(server.diagnostics(&document()).is_none());
}

#[test]
fn pulling_may_be_registered_and_refreshed_later() {
    let (server, events, mut fake) = with_document(json!({ "textDocumentSync": 2 }), "abc");
    assert!(!server.offers_pull_diagnostics(&document()));
    assert!(server.pull_diagnostics(&document()).is_none());
    let register = |id: &str, identifier: &str| {
        let selector = json!([{ "language": "rust" }]);
        let options = json!({ "documentSelector": selector, "identifier": identifier });
        json!({ "id": id, "method": "textDocument/diagnostic", "registerOptions": options })
    };
    let registrations = json!([register("1", "a"), register("2", "b"), register("3", "a")]);
    let params = json!({ "registrations": registrations });
    assert_eq!(
        fake.ask(json!(1), "client/registerCapability", params),
        Value::Null
    );
    wait_for(&events, |event| {
        matches!(event, ServerEvent::CapabilitiesChanged).then_some(())
    });
    assert!(server.offers_pull_diagnostics(&document()));
    let pull = server.pull_diagnostics(&document()).expect("offered");
    for name in ["a", "b"] {
        let request = fake.expect("textDocument/diagnostic");
        assert_eq!(request["params"]["identifier"], name);
        let items = json!([item(0, 1, name)]);
        fake.respond(&request, json!({ "kind": "full", "items": items }));
    }
    pull.wait(WAIT).expect("reports");
    assert_eq!(messages(&server), ["a", "b"]);
    assert_eq!(
        fake.ask(json!(2), "workspace/diagnostic/refresh", Value::Null),
        Value::Null
    );
    wait_for(&events, |event| {
        matches!(event, ServerEvent::DiagnosticsRefresh).then_some(())
    });
    let unregistered = json!([{ "id": "1", "method": "textDocument/diagnostic" }]);
    let params = json!({ "unregisterations": unregistered });
    fake.ask(json!(3), "client/unregisterCapability", params);
    // The third registration asks the same provider as the first.
    assert!(server.offers_pull_diagnostics(&document()));
}
