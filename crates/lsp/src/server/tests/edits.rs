//! Completions, edits and commands of a scripted server.

use std::thread;

use base::{AbsPath, ByteOffset, Span};
use serde_json::{Value, json};
use text::Snapshot;

use super::fake::{FakeServer, WAIT, path, wait_for_diagnostics, with_document};
use crate::{
    CompletionTrigger, EditBasis, FileRename, FormatOptions, Request, RequestError,
    WorkspaceOperation,
};

fn document() -> AbsPath {
    path("/w/a.rs")
}

/// Waits for a request while `script` answers it.
fn ask<T: Send>(
    request: Option<Request<T>>,
    fake: &mut FakeServer,
    script: impl FnOnce(&mut FakeServer),
) -> Result<T, RequestError> {
    let request = request.expect("offered");
    thread::scope(|scope| {
        let client = scope.spawn(|| request.wait(WAIT));
        script(fake);
        client.join().expect("no panic")
    })
}

fn range(start: u32, end: u32) -> Value {
    json!({ "start": { "line": 0, "character": start }, "end": { "line": 0, "character": end } })
}

#[test]
fn completions_are_triggered_and_resolved_on_their_text() {
    let provider = json!({ "triggerCharacters": [".", "::"], "resolveProvider": true });
    let capabilities = json!({ "textDocumentSync": 2, "completionProvider": provider });
    let (server, _events, mut fake) = with_document(capabilities, "é.");
    assert_eq!(server.completion_triggers(&document()), ['.', ':']);
    let trigger = CompletionTrigger::Character('.');
    let request = server.completion(&document(), ByteOffset(3), trigger);
    let list = ask(request, &mut fake, |fake| {
        let request = fake.expect("textDocument/completion");
        let context = json!({ "triggerKind": 2, "triggerCharacter": "." });
        assert_eq!(request["params"]["context"], context);
        let items = json!([{ "label": "len", "data": 7 }]);
        fake.respond(&request, json!({ "isIncomplete": true, "items": items }));
    });
    let list = list.expect("a list");
    assert!(list.is_incomplete);
    server.replace_document(&document(), &Snapshot::new(""));
    fake.expect("textDocument/didChange");
    let request = server.resolve_completion(&list.items[0]);
    let resolved = ask(request, &mut fake, |fake| {
        let request = fake.expect("completionItem/resolve");
        assert_eq!(request["params"], json!({ "label": "len", "data": 7 }));
        let edits = json!([{ "range": range(0, 1), "newText": "x" }]);
        fake.respond(
            &request,
            json!({ "label": "len", "additionalTextEdits": edits }),
        );
    });
    let edits = resolved.expect("an item").additional_edits;
    assert_eq!(edits, [(Span::from(0..2), "x".to_owned())]);
}

#[test]
fn items_are_resolved_only_if_that_is_offered() {
    let capabilities = json!({ "textDocumentSync": 2, "completionProvider": {} });
    let (server, _events, mut fake) = with_document(capabilities, "a");
    let request = server.completion(&document(), ByteOffset(1), CompletionTrigger::Invoked);
    let list = ask(request, &mut fake, |fake| {
        let request = fake.expect("textDocument/completion");
        fake.respond(&request, json!([{ "label": "a" }]));
    });
    let item = &list.expect("a list").items[0];
    assert!(server.resolve_completion(item).is_none());
}

#[test]
fn a_rename_is_an_edit_of_the_texts_of_its_request() {
    let capabilities = json!({
        "textDocumentSync": 2, "renameProvider": { "prepareProvider": true },
    });
    let (server, _events, mut fake) = with_document(capabilities, "a b");
    let target = ask(
        server.prepare_rename(&document(), ByteOffset(0)),
        &mut fake,
        |fake| {
            let request = fake.expect("textDocument/prepareRename");
            fake.respond(
                &request,
                json!({ "range": range(0, 1), "placeholder": "a" }),
            );
        },
    );
    let target = target.expect("an answer").expect("a target");
    assert_eq!(target.span, Some(Span::from(0..1)));
    let request = server.rename(&document(), ByteOffset(0), "x");
    server.replace_document(&document(), &Snapshot::new(""));
    let edit = ask(request, &mut fake, |fake| {
        let request = fake.expect("textDocument/rename");
        assert_eq!(request["params"]["newName"], "x");
        fake.expect("textDocument/didChange");
        let edits = json!([{ "range": range(0, 1), "newText": "x" }]);
        fake.respond(&request, json!({ "changes": { "file:///w/a.rs": edits } }));
    });
    let edit = edit.expect("an edit");
    let [WorkspaceOperation::Edit(edit)] = &edit.operations[..] else {
        panic!("one edit");
    };
    let EditBasis::Text(text) = &edit.basis else {
        panic!("an open document");
    };
    assert_eq!(text.to_string(), "a b");
    assert_eq!(edit.spans(text).expect("spans").edits.len(), 1);
}

#[test]
fn edits_are_never_asked_for_again() {
    let capabilities = json!({ "textDocumentSync": 2, "documentFormattingProvider": true });
    let (server, _events, mut fake) = with_document(capabilities, "a  b");
    let options = FormatOptions {
        tab_size: 4,
        inserts_spaces: true,
    };
    let error = ask(server.format(&document(), options), &mut fake, |fake| {
        let request = fake.expect("textDocument/formatting");
        let options = json!({ "tabSize": 4, "insertSpaces": true });
        assert_eq!(request["params"]["options"], options);
        fake.refuse(&request, -32801, Value::Null);
    });
    assert!(error.expect_err("modified").is_retryable());
    let edits = ask(server.format(&document(), options), &mut fake, |fake| {
        let request = fake.expect("textDocument/formatting");
        fake.respond(&request, json!([{ "range": range(1, 2), "newText": "" }]));
    });
    assert_eq!(
        edits.expect("edits").edits,
        [(Span::from(1..2), String::new())]
    );
    assert!(
        server
            .format_range(&document(), Span::from(0..1), options)
            .is_none()
    );
}

#[test]
fn diagnostics_in_the_span_are_sent_back_as_they_came() {
    let capabilities = json!({
        "textDocumentSync": 2, "codeActionProvider": { "resolveProvider": true },
        "executeCommandProvider": { "commands": ["run"] },
    });
    let (server, events, mut fake) = with_document(capabilities, "abc def");
    let inside = json!({ "range": range(0, 3), "message": "m", "data": { "fix": 1 } });
    let outside = json!({ "range": range(4, 7), "message": "n" });
    let params = json!({ "uri": "file:///w/a.rs", "diagnostics": [inside, outside] });
    fake.notify("textDocument/publishDiagnostics", params);
    wait_for_diagnostics(&events);
    let request = server.code_actions(&document(), Span::from(1..2), &["quickfix"]);
    let actions = ask(request, &mut fake, |fake| {
        let request = fake.expect("textDocument/codeAction");
        let context = json!({ "diagnostics": [inside], "only": ["quickfix"], "triggerKind": 1 });
        assert_eq!(request["params"]["context"], context);
        let bare = json!({ "title": "Run", "command": "run" });
        let other = json!({ "title": "Show", "command": "editor.show" });
        fake.respond(
            &request,
            json!([{ "title": "Fix", "data": 1 }, bare, other, 7]),
        );
    });
    let actions = actions.expect("actions");
    let titles: Vec<&str> = actions.iter().map(|action| action.title.as_str()).collect();
    assert_eq!(titles, ["Fix", "Run", "Show"]);
    let request = server.resolve_code_action(&actions[0]);
    let resolved = ask(request, &mut fake, |fake| {
        let request = fake.expect("codeAction/resolve");
        assert_eq!(request["params"], json!({ "title": "Fix", "data": 1 }));
        fake.respond(
            &request,
            json!({ "title": "Fix", "edit": { "changes": {} } }),
        );
    });
    assert!(resolved.expect("an action").edit.is_some());
    let command = |ix: usize| actions[ix].command.as_ref().expect("a command");
    assert!(server.execute_command(command(2)).is_none());
    let done = ask(server.execute_command(command(1)), &mut fake, |fake| {
        let request = fake.expect("workspace/executeCommand");
        assert_eq!(request["params"], json!({ "command": "run" }));
        fake.respond(&request, json!("anything"));
    });
    assert_eq!(done, Ok(()));
}

#[test]
fn signatures_and_hints_are_asked_for() {
    let capabilities = json!({
        "textDocumentSync": 2, "inlayHintProvider": true,
        "signatureHelpProvider": { "triggerCharacters": ["("], "retriggerCharacters": [","] },
    });
    let (server, _events, mut fake) = with_document(capabilities, "f(");
    assert_eq!(server.signature_triggers(&document()), ['(', ',']);
    let request = server.signature_help(&document(), ByteOffset(2), Some('('), false);
    let help = ask(request, &mut fake, |fake| {
        let request = fake.expect("textDocument/signatureHelp");
        let kind = request["params"]["context"]["triggerKind"].clone();
        assert_eq!(kind, 2);
        fake.respond(&request, json!({ "signatures": [{ "label": "f()" }] }));
    });
    assert_eq!(
        help.expect("an answer").expect("help").active_parameter,
        None
    );
    let hints = ask(
        server.inlay_hints(&document(), Span::from(0..2)),
        &mut fake,
        |fake| {
            let request = fake.expect("textDocument/inlayHint");
            assert_eq!(request["params"]["range"], range(0, 2));
            let at = |character: u32| json!({ "line": 0, "character": character });
            let hints =
                json!([{ "position": at(1), "label": "b" }, { "position": at(0), "label": "a" }]);
            fake.respond(&request, hints);
        },
    );
    assert_eq!(hints.expect("hints")[0].label, "a");
}

#[test]
fn typed_characters_that_a_server_registers_are_formatted() {
    let (server, _events, mut fake) = with_document(json!({ "textDocumentSync": 2 }), "é;");
    assert!(server.format_on_type_triggers(&document()).is_empty());
    let options = json!({
        "documentSelector": null,
        "firstTriggerCharacter": ";", "moreTriggerCharacter": ["}", "\n"],
    });
    let method = "textDocument/onTypeFormatting";
    let registration = json!({ "id": "1", "method": method, "registerOptions": options });
    let params = json!({ "registrations": [registration] });
    fake.ask(json!(1), "client/registerCapability", params);
    assert_eq!(
        server.format_on_type_triggers(&document()),
        ['\n', ';', '}']
    );
    let options = FormatOptions {
        tab_size: 2,
        inserts_spaces: false,
    };
    let request = server.format_on_type(&document(), ByteOffset(3), ';', options);
    let edits = ask(request, &mut fake, |fake| {
        let request = fake.expect(method);
        let mut params = request["params"].clone();
        params
            .as_object_mut()
            .expect("an object")
            .remove("textDocument");
        let expected = json!({
            "position": { "line": 0, "character": 2 }, "ch": ";",
            "options": { "tabSize": 2, "insertSpaces": false },
        });
        assert_eq!(params, expected);
        fake.respond(&request, json!([{ "range": range(0, 1), "newText": "e" }]));
    });
    let edits = edits.expect("edits").edits;
    assert_eq!(edits, [(Span::from(0..2), "e".to_owned())]);
}

#[test]
fn selection_and_folding_ranges_are_asked_for() {
    let capabilities = json!({
        "textDocumentSync": 2, "selectionRangeProvider": true, "foldingRangeProvider": {},
    });
    let (server, _events, mut fake) = with_document(capabilities, "a b\nc");
    let request = server.selection_ranges(&document(), &[ByteOffset(2), ByteOffset(0)]);
    let spans = ask(request, &mut fake, |fake| {
        let request = fake.expect("textDocument/selectionRange");
        let position = |character: u32| json!({ "line": 0, "character": character });
        assert_eq!(
            request["params"]["positions"],
            json!([position(2), position(0)])
        );
        let whole = json!({ "range": range(0, 3) });
        let inner = json!({ "range": range(2, 3), "parent": whole });
        fake.respond(&request, json!([inner, whole]));
    });
    let whole = Span::from(0..3);
    let expected = [vec![Span::from(2..3), whole], vec![whole]];
    assert_eq!(spans.expect("spans"), expected);
    let ranges = ask(server.folding_ranges(&document()), &mut fake, |fake| {
        let request = fake.expect("textDocument/foldingRange");
        fake.respond(&request, json!([{ "startLine": 0, "endLine": 1 }]));
    });
    assert_eq!(ranges.expect("ranges")[0].span, Span::from(3..5));
}

#[test]
fn an_automatic_request_for_actions_says_so() {
    let capabilities = json!({ "textDocumentSync": 2, "codeActionProvider": true });
    let (server, _events, mut fake) = with_document(capabilities, "abc");
    let request = server.automatic_code_actions(&document(), Span::from(1..1), &["quickfix"]);
    let actions = ask(request, &mut fake, |fake| {
        let request = fake.expect("textDocument/codeAction");
        let context = json!({ "diagnostics": [], "only": ["quickfix"], "triggerKind": 2 });
        assert_eq!(request["params"]["context"], context);
        fake.respond(&request, Value::Null);
    });
    assert!(actions.expect("an answer").is_empty());
}

#[test]
fn a_rename_of_a_file_is_asked_for_and_announced() {
    let filters = json!({ "filters": [{ "pattern": { "glob": "**/*.rs" } }] });
    let operations = json!({ "willRename": filters, "didRename": filters });
    let capabilities = json!({
        "textDocumentSync": 2, "workspace": { "fileOperations": operations },
    });
    let (server, _events, mut fake) = with_document(capabilities, "mod b;");
    let rename = |from: &str| FileRename {
        from: path(from),
        to: path("/w/c.rs"),
        is_folder: false,
    };
    assert!(server.will_rename_file(&rename("/w/b.py")).is_none());
    server.did_rename_file(&rename("/w/b.py"));
    let request = server.will_rename_file(&rename("/w/b.rs"));
    let files = json!([{ "oldUri": "file:///w/b.rs", "newUri": "file:///w/c.rs" }]);
    let edit = ask(request, &mut fake, |fake| {
        let request = fake.expect("workspace/willRenameFiles");
        assert_eq!(request["params"]["files"], files);
        let edits = json!([{ "range": range(4, 5), "newText": "c" }]);
        fake.respond(&request, json!({ "changes": { "file:///w/a.rs": edits } }));
    });
    assert_eq!(edit.expect("an edit").paths(), [document()]);
    server.did_rename_file(&rename("/w/b.rs"));
    assert_eq!(
        fake.expect("workspace/didRenameFiles")["params"]["files"],
        files
    );
}
