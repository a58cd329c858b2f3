//! Diagnostics pulled for all documents of the workspace.

use std::thread;
use std::time::Duration;

use base::{AbsPath, ByteOffset};
use serde_json::{Value, json};
use text::Snapshot;

use super::fake::{FakeServer, WAIT, path, running, wait_for, with_document};
use crate::{LanguageServer, RequestError, ServerEvent};

const METHOD: &str = "workspace/diagnostic";
/// Method under which a server registers the provider.
const DOCUMENT_METHOD: &str = "textDocument/diagnostic";

fn pulling() -> Value {
    let provider = json!({ "identifier": "x", "workspaceDiagnostics": true });
    json!({ "textDocumentSync": 2, "diagnosticProvider": provider })
}

/// A report about the file of that name, with a diagnostic for each message.
fn report(name: &str, id: &str, messages: &[&str]) -> Value {
    let position = json!({ "line": 0, "character": 0 });
    let range = json!({ "start": position, "end": position });
    let items = messages.iter();
    let items: Vec<_> = items
        .map(|message| json!({ "range": range, "message": message }))
        .collect();
    let uri = format!("file:///w/{name}");
    json!({ "kind": "full", "uri": uri, "version": null, "resultId": id, "items": items })
}

/// Pulls once; `script` answers the requests.
fn pull(
    server: &LanguageServer,
    fake: &mut FakeServer,
    script: impl FnOnce(&mut FakeServer),
) -> Result<(), RequestError> {
    let pull = server.pull_workspace_diagnostics().expect("offered");
    thread::scope(|scope| {
        let client = scope.spawn(|| pull.wait(WAIT));
        script(fake);
        client.join().expect("no panic")
    })
}

/// Pulls once and answers with these reports.
fn answer(server: &LanguageServer, fake: &mut FakeServer, reports: Value) {
    let result = pull(server, fake, |fake| {
        let request = fake.expect(METHOD);
        fake.respond(&request, json!({ "items": reports }));
    });
    assert_eq!(result, Ok(()));
}

fn file(name: &str) -> AbsPath {
    path("/w").join(name)
}

fn messages(server: &LanguageServer, name: &str) -> Vec<String> {
    let found = server.unopened_diagnostics(&file(name)).into_iter();
    found.map(|item| item.message).collect()
}

#[test]
fn reports_about_unopened_documents_are_kept_by_their_result_id() {
    let (server, _events, mut fake) = running(pulling());
    let reports = json!([
        report("a.rs", "1", &["one", "two"]),
        report("b.rs", "2", &[])
    ]);
    let result = pull(&server, &mut fake, |fake| {
        let request = fake.expect(METHOD);
        let params = json!({ "identifier": "x", "previousResultIds": [] });
        assert_eq!(request["params"], params);
        fake.respond(&request, json!({ "items": reports }));
    });
    assert_eq!(result, Ok(()));
    assert_eq!(messages(&server, "a.rs"), ["one", "two"]);
    assert_eq!(server.take_unopened_changes(), [(file("a.rs"), true)]);
    let result = pull(&server, &mut fake, |fake| {
        let request = fake.expect(METHOD);
        let ids = request["params"]["previousResultIds"].as_array();
        let mut ids: Vec<_> = ids.expect("ids").iter().map(Value::to_string).collect();
        ids.sort();
        let known = |name: &str, id: &str| {
            json!({ "uri": format!("file:///w/{name}"), "value": id }).to_string()
        };
        assert_eq!(ids, [known("a.rs", "1"), known("b.rs", "2")]);
        let unchanged = json!({ "kind": "unchanged", "uri": "file:///w/a.rs", "resultId": "3" });
        let items = json!([unchanged, report("b.rs", "4", &["three"]), 7]);
        fake.respond(&request, json!({ "items": items }));
    });
    assert_eq!(result, Ok(()));
    assert_eq!(messages(&server, "a.rs"), ["one", "two"]);
    assert_eq!(messages(&server, "b.rs"), ["three"]);
    assert_eq!(server.take_unopened_changes(), [(file("b.rs"), true)]);
    assert_eq!(server.violations(), ["1 malformed payload"]);
    answer(&server, &mut fake, json!([report("a.rs", "5", &[])]));
    assert_eq!(messages(&server, "a.rs"), [""; 0]);
    assert_eq!(server.take_unopened_changes(), [(file("a.rs"), false)]);
}

#[test]
fn a_report_about_an_open_document_counts_after_it_is_closed() {
    let (server, _events, mut fake) = running(pulling());
    server.open_document(&file("a.rs"), "rust", &Snapshot::new("abc"));
    fake.expect("textDocument/didOpen");
    answer(&server, &mut fake, json!([report("a.rs", "1", &["one"])]));
    assert_eq!(server.take_unopened_changes(), []);
    assert!(server.diagnostics(&file("a.rs")).is_none());
    server.close_document(&file("a.rs"));
    assert_eq!(server.take_unopened_changes(), [(file("a.rs"), true)]);
    assert_eq!(messages(&server, "a.rs"), ["one"]);
}

#[test]
fn equal_pushed_and_pulled_diagnostics_are_listed_once() {
    let (server, _events, mut fake) = running(pulling());
    let pushed = report("a.rs", "1", &["one", "pushed"]);
    let params = json!({ "uri": "file:///w/a.rs", "diagnostics": pushed["items"] });
    fake.notify("textDocument/publishDiagnostics", params);
    answer(&server, &mut fake, json!([report("a.rs", "1", &["one"])]));
    assert_eq!(messages(&server, "a.rs"), ["one", "pushed"]);
}

#[test]
fn a_server_that_is_not_ready_is_asked_again_once() {
    let (server, _events, mut fake) = running(pulling());
    let result = pull(&server, &mut fake, |fake| {
        let request = fake.expect(METHOD);
        fake.refuse(&request, -32802, json!({ "retriggerRequest": true }));
        let request = fake.expect(METHOD);
        let items = json!([report("a.rs", "1", &["one"])]);
        fake.respond(&request, json!({ "items": items }));
    });
    assert_eq!(result, Ok(()));
    assert_eq!(messages(&server, "a.rs"), ["one"]);
    let result = pull(&server, &mut fake, |fake| {
        for _ in 0..2 {
            let request = fake.expect(METHOD);
            fake.refuse(&request, -32802, Value::Null);
        }
    });
    assert!(matches!(result, Err(RequestError::Refused { .. })));
    assert_eq!(messages(&server, "a.rs"), ["one"], "the report stays");
}

#[test]
fn a_pull_that_waits_does_not_count_as_waiting() {
    let (server, _events, mut fake) = running(pulling());
    let pull = server.pull_workspace_diagnostics().expect("offered");
    let request = fake.expect(METHOD);
    assert!(!server.activity().is_waiting);
    drop(pull);
    let cancelled = fake.expect("$/cancelRequest");
    assert_eq!(cancelled["params"]["id"], request["id"]);
    assert!(!server.activity().is_waiting);
}

#[test]
fn a_pull_that_waits_does_not_hide_other_requests() {
    let provider = json!({ "identifier": "x", "workspaceDiagnostics": true });
    let capabilities = json!({
        "textDocumentSync": 2, "diagnosticProvider": provider, "hoverProvider": true,
    });
    let (server, events, mut fake) = with_document(capabilities, "abc");
    while events.next(Duration::ZERO).is_some() {}
    let _pull = server.pull_workspace_diagnostics().expect("offered");
    fake.expect(METHOD);
    assert!(events.next(Duration::ZERO).is_none());
    let _hover = server.hover(&path("/w/a.rs"), ByteOffset(1));
    fake.expect("textDocument/hover");
    let sent = |event: &ServerEvent| matches!(event, ServerEvent::RequestSent).then_some(());
    wait_for(&events, sent);
    assert!(server.activity().is_waiting);
    // It waits already.
    let _second = server.hover(&path("/w/a.rs"), ByteOffset(1));
    fake.expect("textDocument/hover");
    assert!(events.next(Duration::ZERO).is_none());
}

/// Returns a server with a provider that can be taken back.
fn with_registration() -> (LanguageServer, FakeServer) {
    let (server, _events, mut fake) = running(json!({ "textDocumentSync": 2 }));
    let options = json!({ "identifier": "y", "workspaceDiagnostics": true });
    let registration = json!({ "id": "1", "method": DOCUMENT_METHOD, "registerOptions": options });
    let registrations = json!({ "registrations": [registration] });
    fake.ask(json!(1), "client/registerCapability", registrations);
    (server, fake)
}

fn take_back(fake: &mut FakeServer) {
    let gone = json!({ "unregisterations": [{ "id": "1", "method": DOCUMENT_METHOD }] });
    fake.ask(json!(2), "client/unregisterCapability", gone);
}

#[test]
fn reports_of_a_provider_that_is_taken_back_are_removed() {
    let (server, mut fake) = with_registration();
    answer(&server, &mut fake, json!([report("a.rs", "1", &["one"])]));
    assert_eq!(server.take_unopened_changes(), [(file("a.rs"), true)]);
    take_back(&mut fake);
    assert_eq!(messages(&server, "a.rs"), [""; 0]);
    assert_eq!(server.take_unopened_changes(), [(file("a.rs"), false)]);
}

#[test]
fn an_answer_of_a_provider_that_was_taken_back_is_dropped() {
    let (server, mut fake) = with_registration();
    let result = pull(&server, &mut fake, |fake| {
        let request = fake.expect(METHOD);
        take_back(fake);
        let reports = json!([report("a.rs", "1", &["one"])]);
        fake.respond(&request, json!({ "items": reports }));
    });
    assert_eq!(result, Ok(()));
    assert_eq!(messages(&server, "a.rs"), [""; 0]);
    assert_eq!(server.take_unopened_changes(), []);
}

#[test]
fn a_server_that_does_not_diagnose_the_workspace_is_not_asked() {
    let provider = json!({ "identifier": "x", "workspaceDiagnostics": false });
    let (server, _events, mut fake) = running(json!({ "diagnosticProvider": provider }));
    assert!(server.pull_workspace_diagnostics().is_none());
    let options = json!({ "identifier": "y", "workspaceDiagnostics": true });
    let registration =
        json!({ "id": "1", "method": "textDocument/diagnostic", "registerOptions": options });
    let params = json!({ "registrations": [registration] });
    fake.ask(json!(1), "client/registerCapability", params);
    let result = pull(&server, &mut fake, |fake| {
        let request = fake.expect(METHOD);
        assert_eq!(request["params"]["identifier"], "y");
        fake.respond(&request, Value::Null);
    });
    assert_eq!(result, Ok(()));
}
