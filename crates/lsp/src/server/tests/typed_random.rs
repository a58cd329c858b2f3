//! A hostile server whose messages have the shapes of the protocol, but random and partly wrong members.

use std::thread;
use std::time::Duration;

use base::{AbsPath, ByteOffset, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use text::Snapshot;

use super::fake::{FakeServer, WAIT, path, wait_for_end, with_document};
use super::shapes::{ANSWERS, SERVER_MESSAGES, random_value};
use crate::framing::frame;
use crate::random;
use crate::{
    CompletionTrigger, FileChangeType, FileEvent, FormatOptions, LanguageServer, LocationKind,
    Request, WorkspaceEdit, WorkspaceOperation,
};

const TEXT: &str = "let é = 🦀;\r\nx\n";

fn capabilities() -> Value {
    json!({
        "textDocumentSync": 2, "hoverProvider": true, "definitionProvider": true,
        "documentHighlightProvider": true, "documentSymbolProvider": true,
        "workspaceSymbolProvider": true, "completionProvider": { "resolveProvider": true },
        "signatureHelpProvider": {}, "codeActionProvider": { "resolveProvider": true },
        "renameProvider": { "prepareProvider": true }, "documentFormattingProvider": true,
        "inlayHintProvider": true, "diagnosticProvider": {},
        "executeCommandProvider": { "commands": ["x"] },
    })
}

fn document() -> AbsPath {
    path("/w/a.rs")
}

/// Returns the JSON text of a message: a request or notification of the server.
fn server_message(rng: &mut StdRng) -> String {
    let (method, shape) = SERVER_MESSAGES[rng.random_range(0..SERVER_MESSAGES.len())];
    let params = random_value(rng, shape);
    match rng.random_range(0..4) {
        0 => format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#),
        1 => format!(r#"{{"id":"{method}","method":"{method}","params":{params}}}"#),
        2 => format!(r#"{{"id":{},"method":"{method}"}}"#, u64::MAX),
        _ => format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#),
    }
}

/// Answers the requests of the client, and sends messages and answers of its own in between, until the client opens
/// the document `/w/end.rs`. Then its output ends with `end`.
fn serve(mut fake: FakeServer, seed: u64, end: &[u8]) {
    let mut rng = StdRng::seed_from_u64(seed);
    while let Some(message) = fake.read() {
        if message["params"]["textDocument"]["uri"] == "file:///w/end.rs" {
            break;
        }
        let shape = message["method"].as_str().and_then(|method| {
            let (_, shape) = ANSWERS.iter().find(|(known, _)| *known == method)?;
            Some(*shape)
        });
        // Answers of the client and notifications need no answer.
        let (Some(shape), Some(id)) = (shape, message["id"].as_u64()) else {
            continue;
        };
        for _ in 0..rng.random_range(0..4) {
            fake.write(&frame(&server_message(&mut rng)));
        }
        if rng.random_range(0..10) == 0 {
            let wrong = ["null", "-1", "0", "1e9", "\"x\"", "99999999999999999999"];
            let id = wrong[rng.random_range(0..wrong.len())];
            let answer = random_value(&mut rng, shape);
            fake.write(&frame(&format!(r#"{{"id":{id},"result":{answer}}}"#)));
        }
        let member = ["result", "result", "result", "error"][rng.random_range(0..4)];
        let answer = random_value(&mut rng, shape);
        fake.write(&frame(&format!(r#"{{"id":{id},"{member}":{answer}}}"#)));
        // If that was no message, this is the answer.
        let refusal = format!(r#"{{"id":{id},"error":{{"code":1,"message":"m"}}}}"#);
        fake.write(&frame(&refusal));
    }
    fake.write(end);
    fake.close();
    fake.drain();
}

fn check_span(span: Span) {
    assert!(
        span.start <= span.end && span.end.0 <= TEXT.len(),
        "{span:?}"
    );
    assert!(TEXT.is_char_boundary(span.start.0) && TEXT.is_char_boundary(span.end.0));
}

fn check_edit(edit: &WorkspaceEdit) {
    for operation in &edit.operations {
        if let WorkspaceOperation::Edit(edit) = operation {
            let edits = edit.spans(&Snapshot::new(TEXT));
            for (span, _) in edits.map(|it| it.edits).unwrap_or_default() {
                check_span(span);
            }
        }
    }
}

/// Waits for an answer; an error is one, too.
fn wait<T>(request: Option<Request<T>>) -> Option<T> {
    request.expect("offered").wait(WAIT).ok()
}

/// Sends every request, and reads each answer as a user of it does.
fn ask_everything(server: &LanguageServer, rng: &mut StdRng) {
    let (document, offset) = (document(), random::boundary(rng, TEXT));
    let hover = wait(server.hover(&document, offset)).flatten();
    hover
        .and_then(|it| it.span)
        .into_iter()
        .for_each(check_span);
    wait(server.locations(LocationKind::Definition, &document, offset));
    for highlight in wait(server.highlights(&document, offset)).unwrap_or_default() {
        check_span(highlight.span);
    }
    for symbol in wait(server.document_symbols(&document)).unwrap_or_default() {
        check_span(symbol.span);
    }
    wait(server.workspace_symbols("n"));
    if let Some(help) = wait(server.signature_help(&document, offset, None, false)).flatten() {
        let active = &help.signatures[help.active_signature];
        for parameter in &active.parameters {
            assert!(active.label.get(parameter.label_span.clone()).is_some());
        }
    }
    for hint in wait(server.inlay_hints(&document, Span::at(offset))).unwrap_or_default() {
        check_span(Span::at(hint.at));
    }
    ask_for_completions(server, offset);
    ask_for_edits(server, offset);
    if let Some(pull) = server.pull_diagnostics(&document) {
        // Errors are as good as answers.
        pull.wait(WAIT).ok();
    }
    if let Some(diagnostics) = server.diagnostics(&document) {
        for item in &diagnostics.items {
            check_span(item.span);
        }
    }
    let events = ["/w/a.rs", "/etc/passwd", "/"].map(|name| FileEvent {
        path: path(name),
        change: FileChangeType::Changed,
    });
    server.files_changed(&events);
}

fn ask_for_completions(server: &LanguageServer, offset: ByteOffset) {
    let list = wait(server.completion(&document(), offset, CompletionTrigger::Invoked));
    let items = list.map(|list| list.items).unwrap_or_default();
    for item in items.iter().take(2) {
        item.insert.insert_span.into_iter().for_each(check_span);
        item.insert.replace_span.into_iter().for_each(check_span);
        drop(item.documentation());
        let resolved = wait(server.resolve_completion(item));
        for (span, _) in resolved.map(|it| it.additional_edits).unwrap_or_default() {
            check_span(span);
        }
    }
}

fn ask_for_edits(server: &LanguageServer, offset: ByteOffset) {
    let document = document();
    let options = FormatOptions {
        tab_size: 4,
        inserts_spaces: true,
    };
    let formatted = wait(server.format(&document, options));
    for (span, _) in formatted.map(|it| it.edits).unwrap_or_default() {
        check_span(span);
    }
    let target = wait(server.prepare_rename(&document, offset)).flatten();
    target
        .and_then(|it| it.span)
        .into_iter()
        .for_each(check_span);
    check_edit(&wait(server.rename(&document, offset, "n")).unwrap_or_default());
    let actions = wait(server.code_actions(&document, Span::at(offset), &[]));
    for action in actions.unwrap_or_default().iter().take(2) {
        action.edit.iter().for_each(check_edit);
        let resolved = server.resolve_code_action(action);
        let resolved = resolved.and_then(|request| request.wait(WAIT).ok());
        let edit = resolved.and_then(|it| it.edit);
        edit.iter().for_each(check_edit);
        let command = action.command.as_ref();
        if let Some(request) = command.and_then(|command| server.execute_command(command)) {
            request.wait(WAIT).ok();
        }
    }
}

fn check(seed: u64, end: &[u8], expected: &str) {
    let (server, events, fake) = with_document(capabilities(), TEXT);
    let reason = thread::scope(|scope| {
        scope.spawn(|| serve(fake, seed, end));
        let mut rng = StdRng::seed_from_u64(seed);
        for _ in 0..random::rounds(30, 1_000) {
            ask_everything(&server, &mut rng);
            // Edits of files are refused by being dropped.
            while events.next(Duration::ZERO).is_some() {}
        }
        server.open_document(&path("/w/end.rs"), "rust", &Snapshot::new(""));
        wait_for_end(&events)
    });
    assert_eq!(reason, expected);
    let violations = server.violations();
    assert!(violations.len() > 4, "{violations:?}");
}

// A thousand rounds exchange about 60,000 messages.

#[test]
fn typed_random_messages_and_an_announced_gigabyte_never_panic() {
    let end = b"Content-Length: 1073741824\r\n\r\n";
    let reason = "ended: a message of 1073741824 bytes exceeds 67108864 bytes";
    check(1, end, reason);
}

#[test]
fn typed_random_messages_and_a_torn_frame_never_panic() {
    let end = b"Content-Length: 100\r\n\r\n{\"id\":1";
    check(2, end, "ended: its output ended within a message");
}
