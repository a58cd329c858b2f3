//! Requests whose answers are plain values: sent, answered, repeated, cancelled, ended.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use base::{AbsPath, ByteOffset, Span};
use serde_json::{Value, json};
use text::Snapshot;

use super::fake::{FakeServer, WAIT, path, running, with_document};
use crate::{
    CallDirection, EndReason, Hover, LanguageServer, LocationKind, Request, RequestError,
    TypeDirection,
};

fn document() -> AbsPath {
    path("/w/a.rs")
}

fn hovering() -> Value {
    json!({ "textDocumentSync": 2, "hoverProvider": true })
}

fn hover(server: &LanguageServer) -> Request<Option<Hover>> {
    server.hover(&document(), ByteOffset(5)).expect("offered")
}

/// Waits for a request on another thread while `script` answers it.
fn ask<T: Send>(
    request: Request<T>,
    fake: &mut FakeServer,
    script: impl FnOnce(&mut FakeServer),
) -> Result<T, RequestError> {
    thread::scope(|scope| {
        let client = scope.spawn(|| request.wait(WAIT));
        script(fake);
        client.join().expect("no panic")
    })
}

/// Unparks a thread and counts how often it did.
struct ThreadWaker(Thread, AtomicUsize);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.unpark();
    }
}

/// Polls a future on this thread until it is ready.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let counter = Arc::new(ThreadWaker(thread::current(), AtomicUsize::new(0)));
    let waker = Waker::from(counter.clone());
    let mut future = pin!(future);
    loop {
        let seen = counter.1.load(Ordering::SeqCst);
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        while counter.1.load(Ordering::SeqCst) == seen {
            thread::park();
        }
    }
}

#[test]
fn a_hover_is_answered_on_the_text_of_its_request() {
    let (server, _events, mut fake) = with_document(hovering(), "é = x");
    let request = hover(&server);
    server.replace_document(&document(), &Snapshot::new(""));
    let hover = ask(request, &mut fake, |fake| {
        let request = fake.expect("textDocument/hover");
        let expected = json!({
            "textDocument": { "uri": "file:///w/a.rs" },
            "position": { "line": 0, "character": 4 },
        });
        assert_eq!(request["params"], expected);
        fake.expect("textDocument/didChange");
        let position = |character| json!({ "line": 0, "character": character });
        let range = json!({ "start": position(0), "end": position(1) });
        fake.respond(&request, json!({ "contents": "letter", "range": range }));
    });
    let hover = hover.expect("an answer").expect("a hover");
    assert_eq!(hover.span, Some(Span::from(0..2)));
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn a_request_is_a_future() {
    let (server, _events, mut fake) = with_document(hovering(), "é = x");
    let request = hover(&server);
    let answering = thread::spawn(move || {
        let request = fake.expect("textDocument/hover");
        fake.refuse(&request, -32801, Value::Null);
        let again = fake.expect("textDocument/hover");
        assert_eq!(again["params"], request["params"]);
        fake.respond(&again, json!({ "contents": "late" }));
        fake
    });
    let hover = block_on(request).expect("an answer").expect("a hover");
    assert_eq!(hover.text.value, "late");
    drop(answering.join().expect("no panic"));
    assert!(matches!(
        block_on(self::hover_or_end(&server)),
        Err(RequestError::Ended(_))
    ));
}

/// Asks for a hover of a server that may have ended, which then offers nothing.
async fn hover_or_end(server: &LanguageServer) -> Result<(), RequestError> {
    match server.hover(&document(), ByteOffset(0)) {
        Some(request) => request.await.map(|_| ()),
        None => Err(RequestError::Ended(EndReason::OutputClosed)),
    }
}

#[test]
fn a_server_that_is_not_ready_is_asked_once_more() {
    let (server, _events, mut fake) = with_document(hovering(), "abcdef");
    let error = ask(hover(&server), &mut fake, |fake| {
        for _ in 0..2 {
            let request = fake.expect("textDocument/hover");
            fake.refuse(&request, -32802, Value::Null);
        }
    });
    assert!(error.expect_err("still busy").is_retryable());
}

#[test]
fn a_server_that_loads_a_project_is_asked_for_locations_again() {
    let including = LocationKind::References {
        include_declaration: true,
    };
    for (kind, method, provider) in [
        (
            LocationKind::Definition,
            "textDocument/definition",
            "definitionProvider",
        ),
        (including, "textDocument/references", "referencesProvider"),
    ] {
        let capabilities = json!({ "textDocumentSync": 2, provider: true });
        let (server, _events, mut fake) = with_document(capabilities, "abcdef");
        let request = server.locations(kind, &document(), ByteOffset(0));
        let locations = ask(request.expect("offered"), &mut fake, |fake| {
            let request = fake.expect(method);
            fake.refuse(&request, -32801, Value::Null);
            let again = fake.expect(method);
            assert_eq!(again["params"], request["params"]);
            let start = json!({ "line": 0, "character": 0 });
            let range = json!({ "start": start, "end": start });
            fake.respond(&again, json!([{ "uri": "file:///w/b.rs", "range": range }]));
        });
        let locations = locations.expect("an answer");
        assert_eq!(locations[0].path, path("/w/b.rs"), "{method}");
    }
}

#[test]
fn a_request_about_an_older_text_is_not_repeated() {
    let (server, _events, mut fake) = with_document(hovering(), "abcdef");
    let request = hover(&server);
    server.replace_document(&document(), &Snapshot::new("x"));
    let error = ask(request, &mut fake, |fake| {
        let request = fake.expect("textDocument/hover");
        fake.expect("textDocument/didChange");
        fake.refuse(&request, -32801, Value::Null);
    });
    let text = "the server refused textDocument/hover: no (-32801)";
    assert_eq!(error.expect_err("outdated").to_string(), text);
}

#[test]
fn a_request_that_is_dropped_is_cancelled() {
    let (server, _events, mut fake) = with_document(hovering(), "abcdef");
    drop(hover(&server));
    let request = fake.expect("textDocument/hover");
    let cancel = fake.expect("$/cancelRequest");
    assert_eq!(cancel["params"]["id"], request["id"]);
    fake.respond(&request, json!({ "contents": "late" }));
    let error = hover(&server).wait(Duration::ZERO).expect_err("silent");
    assert!(matches!(error, RequestError::TimedOut { .. }));
    fake.expect("textDocument/hover");
    fake.expect("$/cancelRequest");
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn the_end_of_the_server_ends_its_requests() {
    let (server, _events, mut fake) = with_document(hovering(), "abcdef");
    let request = hover(&server);
    let error = ask(request, &mut fake, |fake| {
        fake.expect("textDocument/hover");
        fake.close();
    });
    assert_eq!(error, Err(RequestError::Ended(EndReason::OutputClosed)));
    assert!(server.hover(&document(), ByteOffset(0)).is_none());
}

#[test]
fn a_malformed_answer_is_an_error_and_a_violation() {
    let (server, _events, mut fake) = with_document(hovering(), "abcdef");
    let error = ask(hover(&server), &mut fake, |fake| {
        let request = fake.expect("textDocument/hover");
        fake.respond(&request, json!(7));
    });
    let text = "the server answered textDocument/hover in a wrong form: neither an object nor null";
    assert_eq!(error.expect_err("malformed").to_string(), text);
    assert_eq!(server.violations(), ["1 malformed payload"]);
}

#[test]
fn a_feature_must_be_offered_for_the_document() {
    let (server, _events, mut fake) = with_document(json!({ "textDocumentSync": 2 }), "abc");
    let definition = || server.locations(LocationKind::Definition, &document(), ByteOffset(0));
    assert!(definition().is_none());
    assert!(server.workspace_symbols("x").is_none());
    let register = |id: &str, method: &str, language: &str| {
        let options = json!({ "documentSelector": [{ "language": language }] });
        json!({ "id": id, "method": method, "registerOptions": options })
    };
    let registrations = json!([
        register("1", "textDocument/definition", "rust"),
        register("2", "textDocument/declaration", "python"),
        register("3", "workspace/symbol", "rust"),
    ]);
    let params = json!({ "registrations": registrations });
    fake.ask(json!(1), "client/registerCapability", params);
    let locations = ask(definition().expect("offered"), &mut fake, |fake| {
        let request = fake.expect("textDocument/definition");
        let position = json!({ "line": 0, "character": 0 });
        let range = json!({ "start": position, "end": position });
        fake.respond(&request, json!({ "uri": "file:///w/b.rs", "range": range }));
    });
    assert_eq!(locations.expect("an answer")[0].path, path("/w/b.rs"));
    let declaration = LocationKind::Declaration;
    assert!(
        server
            .locations(declaration, &document(), ByteOffset(0))
            .is_none()
    );
    assert!(
        server
            .hover(&path("/w/unopened.rs"), ByteOffset(0))
            .is_none()
    );
    let symbols = ask(
        server.workspace_symbols("x").expect("offered"),
        &mut fake,
        |fake| {
            let request = fake.expect("workspace/symbol");
            assert_eq!(request["params"], json!({ "query": "x" }));
            fake.respond(&request, Value::Null);
        },
    );
    assert_eq!(symbols, Ok(Vec::new()));
}

#[test]
fn references_may_include_the_declaration() {
    let capabilities = json!({ "textDocumentSync": 2, "referencesProvider": {} });
    let (server, _events, mut fake) = with_document(capabilities, "abc");
    for include_declaration in [true, false] {
        let kind = LocationKind::References {
            include_declaration,
        };
        let request = server.locations(kind, &document(), ByteOffset(1));
        let locations = ask(request.expect("offered"), &mut fake, |fake| {
            let request = fake.expect("textDocument/references");
            let context = json!({ "includeDeclaration": include_declaration });
            assert_eq!(request["params"]["context"], context);
            fake.respond(&request, json!([]));
        });
        assert_eq!(locations, Ok(Vec::new()));
    }
}

#[test]
fn requests_are_sent_to_other_threads() {
    fn check<T: Send>() {}
    check::<Request<Hover>>();
    let (server, _events, _fake) = running(hovering());
    assert!(server.hover(&document(), ByteOffset(0)).is_none());
}

#[test]
fn calls_are_requested_with_the_item_of_the_server() {
    let capabilities = json!({ "textDocumentSync": 2, "callHierarchyProvider": true });
    let (server, _events, mut fake) = with_document(capabilities, "fn f() {}");
    let document = path("/w/a.rs");
    assert!(server.prepare_types(&document, ByteOffset(3)).is_none());
    let prepared = server.prepare_calls(&document, ByteOffset(3));
    let asked = fake.expect("textDocument/prepareCallHierarchy");
    let position = |character| json!({ "line": 0, "character": character });
    assert_eq!(asked["params"]["position"], position(3));
    let range = json!({ "start": position(3), "end": position(4) });
    let item = json!({
        "name": "f", "kind": 12, "uri": "file:///w/a.rs", "data": [1],
        "range": range, "selectionRange": range,
    });
    fake.respond(&asked, json!([item]));
    let items = prepared.expect("offered").wait(WAIT).expect("an item");
    let calls = server.calls(CallDirection::Incoming, &items[0]);
    let asked = fake.expect("callHierarchy/incomingCalls");
    assert_eq!(asked["params"], json!({ "item": item }));
    fake.respond(&asked, json!([{ "from": item, "fromRanges": [range] }]));
    let calls = calls.expect("offered").wait(WAIT).expect("a call");
    assert_eq!((calls.len(), &calls[0].item), (1, &items[0]));
    let types = server.related_types(TypeDirection::Subtypes, &items[0]);
    let asked = fake.expect("typeHierarchy/subtypes");
    fake.respond(&asked, Value::Null);
    assert_eq!(types.expect("sent").wait(WAIT).expect("an answer"), []);
}
