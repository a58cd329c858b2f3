//! Semantic tokens, links, colours and lenses of a scripted server.

use std::thread;

use base::{AbsPath, Span};
use serde_json::{Value, json};
use text::Snapshot;

use super::fake::{FakeServer, WAIT, path, wait_for, with_document};
use crate::bounded::MAX_RESULT_ID;
use crate::{
    LanguageServer, LensCommand, LinkTarget, Request, RequestError, SemanticTokens, ServerEvent,
    TokenSupport,
};

const FULL: &str = "textDocument/semanticTokens/full";
const DELTA: &str = "textDocument/semanticTokens/full/delta";
const RANGE: &str = "textDocument/semanticTokens/range";

fn document() -> AbsPath {
    path("/w/a.rs")
}

/// Waits for a request, which the server answers.
fn answer<T: Send>(
    request: Option<Request<T>>,
    fake: &mut FakeServer,
    method: &str,
    result: Value,
) -> (Result<T, RequestError>, Value) {
    let request = request.expect("offered");
    thread::scope(|scope| {
        let client = scope.spawn(|| request.wait(WAIT));
        let sent = fake.expect(method);
        fake.respond(&sent, result);
        (client.join().expect("no panic"), sent["params"].clone())
    })
}

fn with_tokens(options: Value) -> (LanguageServer, FakeServer) {
    let legend =
        json!({ "tokenTypes": ["type", "variable"], "tokenModifiers": ["readonly", "static"] });
    let mut provider = json!({ "legend": legend });
    for (name, value) in options.as_object().expect("an object") {
        provider[name] = value.clone();
    }
    let capabilities = json!({ "textDocumentSync": 2, "semanticTokensProvider": provider });
    let (server, _, fake) = with_document(capabilities, "é ab\ncd");
    (server, fake)
}

/// Returns each token with the names of its type and modifiers.
fn named(tokens: &SemanticTokens) -> Vec<String> {
    let names = tokens.tokens.iter().map(|token| {
        let modifiers: Vec<&str> = tokens.legend.modifier_names(token).collect();
        let name = tokens.legend.type_name(token).unwrap_or("?");
        format!(
            "{}..{} {name} {}",
            token.span.start.0,
            token.span.end.0,
            modifiers.join("+")
        )
    });
    names.collect()
}

#[test]
fn only_the_difference_of_tokens_is_transferred() {
    let (server, mut fake) = with_tokens(json!({ "full": { "delta": true } }));
    let whole = json!({ "resultId": "1", "data": [0, 2, 2, 0, 3, 1, 0, 2, 1, 0] });
    let (first, params) = answer(
        server.semantic_tokens(&document(), None),
        &mut fake,
        FULL,
        whole,
    );
    assert_eq!(
        params,
        json!({ "textDocument": { "uri": "file:///w/a.rs" } })
    );
    let first = first.expect("tokens");
    assert_eq!(
        named(&first),
        ["3..5 type readonly+static", "6..8 variable "]
    );

    server.replace_document(&document(), &Snapshot::new("é abc\ncd"));
    fake.expect("textDocument/didChange");
    let edits = json!([{ "start": 2, "deleteCount": 3, "data": [3, 9, 1] }]);
    let difference = json!({ "resultId": "2", "edits": edits });
    let request = server.semantic_tokens(&document(), Some(&first));
    let (second, params) = answer(request, &mut fake, DELTA, difference);
    assert_eq!(params["previousResultId"], "1");
    let second = second.expect("tokens");
    assert_eq!(named(&second), ["3..6 ? readonly", "7..9 variable "]);

    // The difference refers to tokens that are not known.
    let beyond = json!({ "edits": [{ "start": 99, "deleteCount": 0 }] });
    let request = server.semantic_tokens(&document(), Some(&second));
    let (third, params) = answer(request, &mut fake, DELTA, beyond);
    assert_eq!(params["previousResultId"], "2");
    assert!(third.is_err());
}

#[test]
fn tokens_with_an_endless_id_are_no_basis() {
    let (server, mut fake) = with_tokens(json!({ "full": { "delta": true } }));
    let mut tokens_after = |length: usize, method: &str| {
        let whole = json!({ "resultId": "i".repeat(length), "data": [] });
        let request = server.semantic_tokens(&document(), None);
        let (first, _) = answer(request, &mut fake, FULL, whole);
        let request = server.semantic_tokens(&document(), Some(&first.expect("tokens")));
        let (second, _) = answer(request, &mut fake, method, Value::Null);
        assert!(second.is_ok());
    };
    tokens_after(MAX_RESULT_ID, DELTA);
    tokens_after(MAX_RESULT_ID + 1, FULL);
}

#[test]
fn tokens_of_another_connection_are_no_basis() {
    let delta = json!({ "full": { "delta": true }, "range": true });
    let (server, mut fake) = with_tokens(delta.clone());
    let whole = json!({ "resultId": "1", "data": [] });
    let request = server.semantic_tokens(&document(), None);
    let (first, _) = answer(request, &mut fake, FULL, whole.clone());
    let (restarted, mut other) = with_tokens(delta);
    let first = first.expect("tokens");
    let request = restarted.semantic_tokens(&document(), Some(&first));
    let (tokens, _) = answer(request, &mut other, FULL, whole);
    assert!(tokens.is_ok());
    // Nor are those of a part.
    let request = server.semantic_tokens_in(&document(), Span::from(3..5));
    let (part, params) = answer(
        request,
        &mut fake,
        RANGE,
        json!({ "resultId": "9", "data": [] }),
    );
    let range =
        json!({ "start": { "line": 0, "character": 2 }, "end": { "line": 0, "character": 4 } });
    assert_eq!(params["range"], range);
    let request = server.semantic_tokens(&document(), Some(&part.expect("tokens")));
    let (tokens, _) = answer(request, &mut fake, FULL, Value::Null);
    assert_eq!(named(&tokens.expect("none")), [""; 0]);
}

#[test]
fn tokens_are_asked_for_as_they_are_offered() {
    let check = |options: Value, expected: Option<(bool, bool)>| {
        let (server, _fake) = with_tokens(options);
        let expected = expected.map(|(whole, range)| TokenSupport { whole, range });
        assert_eq!(server.token_support(&document()), expected);
        let whole = server.semantic_tokens(&document(), None).is_some();
        let range = server
            .semantic_tokens_in(&document(), Span::from(0..1))
            .is_some();
        let support = (whole || range).then_some(TokenSupport { whole, range });
        assert_eq!(support, expected);
    };
    check(json!({}), None);
    check(json!({ "full": false, "range": {} }), Some((false, true)));
    check(json!({ "full": true }), Some((true, false)));
    check(
        json!({ "full": { "delta": false }, "range": true }),
        Some((true, true)),
    );
}

#[test]
fn tokens_and_lenses_may_be_refreshed() {
    let (_server, events, mut fake) = with_document(json!({ "textDocumentSync": 2 }), "");
    let answer = fake.ask(json!(1), "workspace/semanticTokens/refresh", Value::Null);
    assert_eq!(answer, Value::Null);
    wait_for(&events, |event| {
        matches!(event, ServerEvent::SemanticTokensRefresh).then_some(())
    });
    assert_eq!(
        fake.ask(json!(2), "workspace/codeLens/refresh", Value::Null),
        Value::Null
    );
    wait_for(&events, |event| {
        matches!(event, ServerEvent::CodeLensRefresh).then_some(())
    });
}

fn range(line: u32, start: u32, end: u32) -> Value {
    json!({ "start": { "line": line, "character": start }, "end": { "line": line, "character": end } })
}

#[test]
fn links_and_lenses_are_resolved() {
    let resolve = json!({ "resolveProvider": true });
    let capabilities = json!({
        "textDocumentSync": 2, "documentLinkProvider": resolve, "codeLensProvider": resolve,
        "executeCommandProvider": { "commands": ["run"] },
    });
    let (server, _events, mut fake) = with_document(capabilities, "é ab\ncd");
    let link = json!({ "range": range(0, 2, 4), "data": 7 });
    let other = json!({ "range": range(0, 0, 1), "target": "https://example.org" });
    let request = server.document_links(&document());
    let (links, _) = answer(
        request,
        &mut fake,
        "textDocument/documentLink",
        json!([link, other, 7]),
    );
    let links = links.expect("links");
    let page = LinkTarget::Web("https://example.org".to_owned());
    assert_eq!(
        (links.len(), links[0].span, &links[0].target),
        (2, Span::from(0..2), &page)
    );
    let LinkTarget::Unresolved(unresolved) = &links[1].target else {
        panic!("{links:?}");
    };
    let request = server.resolve_link(unresolved);
    let resolved = json!({ "range": range(0, 2, 4), "target": "file:///w/b.rs" });
    let (target, sent) = answer(request, &mut fake, "documentLink/resolve", resolved);
    assert_eq!(sent, link);
    let file = LinkTarget::File {
        path: path("/w/b.rs"),
        at: None,
    };
    assert_eq!(target.expect("an answer"), Some(file));

    let lens = json!({ "range": range(1, 0, 2), "data": 1 });
    let request = server.code_lenses(&document());
    let (lenses, _) = answer(request, &mut fake, "textDocument/codeLens", json!([lens]));
    let lenses = lenses.expect("lenses");
    let LensCommand::Unresolved(unresolved) = &lenses[0].command else {
        panic!("{lenses:?}");
    };
    let request = server.resolve_lens(unresolved);
    let command = json!({ "title": "Run", "command": "run" });
    let resolved = json!({ "range": range(1, 0, 2), "command": command });
    let (command, sent) = answer(request, &mut fake, "codeLens/resolve", resolved);
    assert_eq!(sent, lens);
    let command = command.expect("an answer").expect("a command");
    assert!(server.executes(&command) && server.shown_locations(&command).is_none());
}

#[test]
fn a_lens_belongs_to_its_server() {
    let capabilities = json!({
        "textDocumentSync": 2, "codeLensProvider": { "resolveProvider": true },
        "executeCommandProvider": { "commands": ["run"] },
    });
    let (server, _events, mut fake) = with_document(capabilities.clone(), "é ab\ncd");
    let (other, _other_events, _other_fake) = with_document(capabilities, "é ab\ncd");
    let known = json!({ "range": range(0, 2, 4), "command": { "title": "Run", "command": "run" } });
    let open = json!({ "range": range(1, 0, 2), "data": 1 });
    let request = server.code_lenses(&document());
    let (lenses, _) = answer(
        request,
        &mut fake,
        "textDocument/codeLens",
        json!([known, open]),
    );
    let lenses = lenses.expect("lenses");
    let (LensCommand::Known(command), LensCommand::Unresolved(unresolved)) =
        (&lenses[0].command, &lenses[1].command)
    else {
        panic!("{lenses:?}");
    };
    assert!(other.resolve_lens(unresolved).is_none());
    // The other server has a command of that name.
    assert!(!other.executes(command) && other.execute_command(command).is_none());
    assert!(server.executes(command) && server.execute_command(command).is_some());
}

#[test]
fn colors_are_asked_for() {
    let capabilities = json!({ "textDocumentSync": 2, "colorProvider": true });
    let (server, _events, mut fake) = with_document(capabilities, "é #f00");
    let color = json!({ "red": 1, "green": 0, "blue": 0, "alpha": 1 });
    let colors = json!([{ "range": range(0, 2, 6), "color": color }, 7]);
    let request = server.document_colors(&document());
    let (colors, _) = answer(request, &mut fake, "textDocument/documentColor", colors);
    let colors = colors.expect("colours");
    assert_eq!(
        (colors.len(), colors[0].span, colors[0].color.red),
        (1, Span::from(3..7), 255)
    );
    assert_eq!(server.violations(), ["1 malformed item"]);
}
