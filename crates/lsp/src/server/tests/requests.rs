//! Requests and notifications of a server.

use serde_json::{Value, json};

use super::fake::{WAIT, connect, options, path, running, wait_for, with_document};
use crate::{MessageKind, MessageSeverity, ServerEvent};

#[test]
fn configuration_is_found_by_member_path_or_whole() {
    let mut options = options();
    let configuration = json!({ "a": { "b": { "c": 1 } }, "a.b": 2, "d": null });
    options.configuration = configuration.as_object().cloned().expect("an object");
    let (server, _events, mut fake) = connect(options);
    fake.initialize(&server, json!({}));
    fake.expect("initialized");
    fake.expect("workspace/didChangeConfiguration");
    let sections = ["a", "a.b", "a.b.c", "a.x.c", "d", "x", ""];
    let mut items: Vec<Value> = sections
        .iter()
        .map(|name| json!({ "section": name }))
        .collect();
    items.push(json!({ "scopeUri": "file:///w" }));
    let answer = fake.ask(
        json!("id"),
        "workspace/configuration",
        json!({ "items": items }),
    );
    let b = json!({ "b": { "c": 1 } });
    let expected = json!([b, 2, 1, null, null, null, configuration, configuration]);
    assert_eq!(answer, expected);
}

#[test]
fn every_request_is_answered() {
    let (_server, _events, mut fake) = running(json!({}));
    for (method, expected) in [
        ("window/workDoneProgress/create", Value::Null),
        ("window/showDocument", json!({ "success": false })),
        (
            "workspace/workspaceFolders",
            json!([{ "uri": "file:///w", "name": "w" }]),
        ),
        ("workspace/diagnostic/refresh", Value::Null),
        ("workspace/inlayHint/refresh", Value::Null),
        ("client/registerCapability", Value::Null),
        ("client/unregisterCapability", Value::Null),
        ("workspace/configuration", json!([])),
    ] {
        assert_eq!(fake.ask(json!(1), method, json!({})), expected, "{method}");
    }
    let error = fake.ask(json!(2), "workspace/unknown", json!({}));
    assert_eq!(error["code"], -32601);
    let error = fake.ask(json!(2), "$/unknown", json!({}));
    assert_eq!(error["code"], -32601);
    let error = fake.ask(json!(3), "client/registerCapability", json!([1]));
    assert_eq!(error["code"], -32602);
    let long = json!({ "x": "y".repeat(5 << 20) });
    assert_eq!(
        fake.ask(json!(4), "workspace/configuration", long)["code"],
        -32602
    );
}

#[test]
fn unknown_notifications_are_dropped() {
    let (server, _events, mut fake) = running(json!({}));
    fake.notify("$/anything", json!({ "x": 1 }));
    fake.notify("telemetry/event", json!(7));
    fake.ask(json!(1), "workspace/workspaceFolders", Value::Null);
    assert_eq!(server.violations(), [""; 0]);
    fake.notify("window/logMessage", json!(7));
    fake.send(json!([1]));
    fake.send(json!({ "id": 77, "result": 1 }));
    fake.ask(json!(2), "workspace/workspaceFolders", Value::Null);
    let violations = [
        "1 malformed message",
        "1 malformed payload",
        "1 unexpected answer",
    ];
    assert_eq!(server.violations(), violations);
}

#[test]
fn texts_reach_the_owner_with_their_severity() {
    let (_server, events, mut fake) = running(json!({}));
    let message = |severity: Value, text: &str| json!({ "type": severity, "message": text });
    fake.notify("window/showMessage", message(json!(1), "a"));
    fake.notify("window/logMessage", message(json!(5), "b"));
    let answer = fake.ask(
        json!(1),
        "window/showMessageRequest",
        message(json!("x"), "c"),
    );
    assert_eq!(answer, Value::Null);
    let expected = [
        (MessageKind::Shown, MessageSeverity::Error, "a"),
        (MessageKind::Logged, MessageSeverity::Debug, "b"),
        (MessageKind::Shown, MessageSeverity::Info, "c"),
    ];
    for expected in expected {
        wait_for(&events, |event| match event {
            ServerEvent::Message {
                kind,
                severity,
                text,
            } => {
                assert_eq!((*kind, *severity, text.as_str()), expected);
                Some(())
            }
            _ => None,
        });
    }
}

#[test]
fn progress_is_listed_while_it_lasts() {
    let (server, events, mut fake) = running(json!({}));
    let is_progress =
        |event: &ServerEvent| matches!(event, ServerEvent::ProgressChanged).then_some(());
    fake.ask(
        json!(1),
        "window/workDoneProgress/create",
        json!({ "token": "t" }),
    );
    let begin = json!({ "kind": "begin", "title": "Indexing", "percentage": 3 });
    fake.notify("$/progress", json!({ "token": "t", "value": begin }));
    wait_for(&events, is_progress);
    let progress = server.progress();
    assert_eq!(
        (progress[0].title.as_str(), progress[0].percentage),
        ("Indexing", Some(3))
    );
    fake.notify(
        "$/progress",
        json!({ "token": "t", "value": { "kind": "end" } }),
    );
    wait_for(&events, is_progress);
    assert_eq!(server.progress(), []);
}

#[test]
fn an_edit_is_refused_by_its_owner_or_by_being_dropped() {
    let (_server, events, mut fake) = running(json!({}));
    let edit = json!({
        "changes": { "untitled:1": [] },
        "documentChanges": [
            { "textDocument": { "uri": "file:///w/a.rs", "version": null }, "edits": [] },
            { "textDocument": { "uri": "file:///w/b.rs", "version": null }, "edits": [] },
            { "kind": "rename", "oldUri": "file:///w/b.rs", "newUri": "file:///x/c.rs" },
            { "kind": "create", "uri": "file:///w/d.rs" },
        ],
    });
    let params = json!({ "label": "Fix", "edit": edit });
    let malformed = json!({ "edit": { "changes": { "untitled:1": [] } } });
    let error = fake.ask(json!(0), "workspace/applyEdit", malformed);
    assert_eq!(error["message"], r#""untitled:1" is no local file"#);
    fake.send(json!({ "id": 1, "method": "workspace/applyEdit", "params": params }));
    fake.send(json!({ "id": 2, "method": "workspace/applyEdit", "params": {} }));
    let next_edit = || loop {
        match events.next(super::fake::WAIT).expect("an event") {
            ServerEvent::EditRequested(edit) => return edit,
            _ => continue,
        }
    };
    let first = next_edit();
    assert_eq!(first.label(), Some("Fix"));
    let paths = ["/w/a.rs", "/w/b.rs", "/w/d.rs", "/x/c.rs"].map(path);
    assert_eq!(first.paths(), paths);
    assert_eq!(first.edit().operations.len(), 4);
    first.refuse("outdated");
    let result = |answer: Option<Value>| answer.expect("an answer")["result"].clone();
    let expected = json!({ "applied": false, "failureReason": "outdated" });
    assert_eq!(result(fake.read()), expected);
    drop(next_edit());
    assert_eq!(result(fake.read())["applied"], false);
    fake.send(json!({ "id": 3, "method": "workspace/applyEdit", "params": {} }));
    next_edit().accept();
    assert_eq!(result(fake.read()), json!({ "applied": true }));
}

#[test]
fn a_probe_is_answered_if_the_server_offers_definitions() {
    let capabilities = json!({ "textDocumentSync": 2, "definitionProvider": true });
    let (server, _events, mut fake) = with_document(capabilities, "fn a() {}");
    let probe = server.probe(&path("/w/a.rs")).expect("offered");
    let request = fake.expect("textDocument/definition");
    fake.respond(&request, Value::Null);
    assert!(probe.wait(WAIT));
    assert!(server.probe(&path("/w/b.rs")).is_none());

    let (server, _events, _fake) = with_document(json!({ "textDocumentSync": 2 }), "fn a() {}");
    assert!(server.probe(&path("/w/a.rs")).is_none());
}
