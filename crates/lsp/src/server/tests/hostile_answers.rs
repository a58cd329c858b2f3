//! Near-valid answers to every request.

use base::{AbsPath, ByteOffset, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::fake::{FakeServer, WAIT, path, with_document};
use super::hostile::mutate;
use crate::random;
use crate::{
    CompletionTrigger, DocumentSymbol, FormatOptions, LanguageServer, LensCommand, LinkTarget,
    LocationKind, Request, WorkspaceEdit, WorkspaceOperation,
};

const TEXT: &str = "let é = 🦀;\r\nx\n";

fn document() -> AbsPath {
    path("/w/a.rs")
}

fn capabilities() -> Value {
    json!({
        "textDocumentSync": 2, "hoverProvider": true, "definitionProvider": true,
        "documentHighlightProvider": true, "documentSymbolProvider": true,
        "workspaceSymbolProvider": true, "completionProvider": { "resolveProvider": true },
        "signatureHelpProvider": {}, "codeActionProvider": { "resolveProvider": true },
        "renameProvider": { "prepareProvider": true }, "documentFormattingProvider": true,
        "inlayHintProvider": true, "linkedEditingRangeProvider": true, "colorProvider": true,
        "selectionRangeProvider": true, "foldingRangeProvider": true,
        "documentOnTypeFormattingProvider": { "firstTriggerCharacter": ";" },
        "semanticTokensProvider": { "legend": {}, "full": { "delta": true }, "range": true },
        "documentLinkProvider": { "resolveProvider": true },
        "codeLensProvider": { "resolveProvider": true },
    })
}

fn range() -> Value {
    json!({ "start": { "line": 0, "character": 4 }, "end": { "line": 1, "character": 1 } })
}

fn edits() -> Value {
    json!([{ "range": range(), "newText": "x", "annotationId": "a" }])
}

fn workspace_edit() -> Value {
    json!({
        "changes": { "file:///w/a.rs": edits() },
        "documentChanges": [
            { "textDocument": { "uri": "file:///w/a.rs", "version": 1 }, "edits": edits() },
            { "kind": "rename", "oldUri": "file:///w/b", "newUri": "file:///w/c", "options": {} },
        ],
        "changeAnnotations": { "a": { "label": "l", "needsConfirmation": true } },
    })
}

fn completions() -> Value {
    let item = json!({
        "label": "l", "kind": 3, "textEdit": { "newText": "n", "insert": range(), "replace": range() },
        "additionalTextEdits": edits(), "commitCharacters": ["."], "documentation": "d",
        "labelDetails": { "detail": "d" }, "command": { "title": "t", "command": "c" },
        "insertTextFormat": 2, "data": { "d": 1 },
    });
    let defaults = json!({ "editRange": range(), "data": { "e": 1 }, "commitCharacters": [";"] });
    json!({
        "isIncomplete": false, "items": [item], "itemDefaults": defaults,
        "applyKind": { "commitCharacters": 2, "data": 2 },
    })
}

/// Answers a request with a mutated form of a valid answer, and returns the result if it is one.
fn ask<T>(
    fake: &mut FakeServer,
    rng: &mut StdRng,
    request: Option<Request<T>>,
    valid: Value,
) -> Option<T> {
    let request = request.expect("offered");
    let sent = fake.read().expect("a request");
    let mut answer = valid;
    for _ in 0..rng.random_range(0..4) {
        mutate(rng, &mut answer);
    }
    fake.respond(&sent, answer);
    request.wait(WAIT).ok()
}

fn check_span(span: Span) {
    assert!(
        span.start <= span.end && span.end.0 <= TEXT.len(),
        "{span:?}"
    );
    assert!(TEXT.is_char_boundary(span.start.0) && TEXT.is_char_boundary(span.end.0));
}

fn check_symbols(symbols: &[DocumentSymbol]) {
    for symbol in symbols {
        check_span(symbol.span);
        check_span(symbol.selection_span);
        check_symbols(&symbol.children);
    }
}

fn check_edit(edit: &WorkspaceEdit) {
    for operation in &edit.operations {
        if let WorkspaceOperation::Edit(edit) = operation {
            let edits = edit.spans(&text::Snapshot::new(TEXT));
            for (span, _) in edits.map(|it| it.edits).unwrap_or_default() {
                check_span(span);
            }
        }
    }
}

fn ask_about_symbols(server: &LanguageServer, fake: &mut FakeServer, rng: &mut StdRng) {
    let (document, offset) = (document(), random::boundary(rng, TEXT));
    let hover = json!({ "contents": { "kind": "markdown", "value": "m" }, "range": range() });
    let hover = ask(fake, rng, server.hover(&document, offset), hover).flatten();
    hover
        .and_then(|hover| hover.span)
        .into_iter()
        .for_each(check_span);
    let link = json!([{ "targetUri": "file:///w/a.rs", "targetRange": range() }]);
    let request = server.locations(LocationKind::Definition, &document, offset);
    let locations = ask(fake, rng, request, link).unwrap_or_default();
    for location in locations {
        let span = location.range.span(&text::Snapshot::new(TEXT));
        span.into_iter().for_each(check_span);
    }
    let highlights = json!([{ "range": range(), "kind": 2 }]);
    let highlights = ask(fake, rng, server.highlights(&document, offset), highlights);
    for highlight in highlights.unwrap_or_default() {
        check_span(highlight.span);
    }
    let linked = json!({ "ranges": [range(), range()], "wordPattern": "x" });
    let linked = ask(fake, rng, server.linked_spans(&document, offset), linked);
    linked.unwrap_or_default().into_iter().for_each(check_span);
    let around = json!([{ "range": range(), "parent": { "range": range() } }]);
    let request = server.selection_ranges(&document, &[offset]);
    let around = ask(fake, rng, request, around).unwrap_or_default();
    around.into_iter().flatten().for_each(check_span);
    let folds = json!([{ "startLine": 0, "endLine": 1, "kind": "comment" }]);
    let folds = ask(fake, rng, server.folding_ranges(&document), folds);
    for fold in folds.unwrap_or_default() {
        check_span(fold.span);
    }
    let symbol = json!({ "name": "n", "kind": 3, "range": range(), "selectionRange": range() });
    let mut parent = symbol.clone();
    parent["children"] = json!([symbol]);
    let symbols = ask(
        fake,
        rng,
        server.document_symbols(&document),
        json!([parent]),
    );
    check_symbols(&symbols.unwrap_or_default());
    let location = json!({ "uri": "file:///w/a.rs", "range": range() });
    let symbols = json!([{ "name": "n", "kind": 3, "location": location }]);
    ask(fake, rng, server.workspace_symbols("n"), symbols);
    let parameters = json!([{ "label": [2, 3] }, { "label": "b" }]);
    let signature = json!({ "label": "f(🦀, b)", "parameters": parameters, "documentation": "d" });
    let help = json!({ "signatures": [signature], "activeSignature": 0, "activeParameter": 1 });
    let request = server.signature_help(&document, offset, None, false);
    let help = ask(fake, rng, request, help).flatten();
    if let Some(help) = help {
        let active = &help.signatures[help.active_signature];
        for parameter in &active.parameters {
            assert!(active.label.get(parameter.label_span.clone()).is_some());
        }
        let parameter = help.active_parameter.map(|ix| &active.parameters[ix]);
        assert!(parameter.is_none_or(|it| it.label_span.end <= active.label.len()));
    }
    let label = json!([{ "value": "v", "tooltip": "t" }]);
    let hints = json!([{ "position": range()["start"], "label": label, "kind": 1 }]);
    let request = server.inlay_hints(&document, Span::at(offset));
    for hint in ask(fake, rng, request, hints).unwrap_or_default() {
        check_span(Span::at(hint.at));
    }
}

fn ask_for_annotations(server: &LanguageServer, fake: &mut FakeServer, rng: &mut StdRng) {
    let document = document();
    let tokens = json!({ "resultId": "1", "data": [0, 4, 2, 0, 1, 1, 0, 1, 1, 0] });
    let request = server.semantic_tokens(&document, None);
    let first = ask(fake, rng, request, tokens.clone());
    let request = server.semantic_tokens(&document, first.as_ref());
    let edits = json!([{ "start": 0, "deleteCount": 1, "data": [1] }]);
    let second = ask(
        fake,
        rng,
        request,
        json!({ "resultId": "2", "edits": edits }),
    );
    let request = server.semantic_tokens_in(&document, Span::from(0..4));
    let part = ask(fake, rng, request, tokens);
    for tokens in [first, second, part].into_iter().flatten() {
        tokens
            .tokens
            .iter()
            .for_each(|token| check_span(token.span));
    }
    let link = json!([{ "range": range(), "target": "file:///w/a.rs#L3" }]);
    let links = ask(fake, rng, server.document_links(&document), link);
    for link in links.unwrap_or_default() {
        check_span(link.span);
        if let LinkTarget::Unresolved(link) = &link.target {
            let request = server.resolve_link(link);
            ask(
                fake,
                rng,
                request,
                json!({ "target": "https://example.org" }),
            );
        }
    }
    let color = json!({ "red": 1, "green": 0.5, "blue": 0, "alpha": 1 });
    let colors = json!([{ "range": range(), "color": color }]);
    let colors = ask(fake, rng, server.document_colors(&document), colors);
    for color in colors.unwrap_or_default() {
        check_span(color.span);
    }
    let command = json!({ "title": "t", "command": "rust-analyzer.showReferences", "arguments": [1, 2, [3]] });
    let lenses = json!([{ "range": range(), "command": command }]);
    let lenses = ask(fake, rng, server.code_lenses(&document), lenses);
    for lens in lenses.unwrap_or_default() {
        check_span(lens.span);
        match &lens.command {
            LensCommand::Known(command) => drop(server.shown_locations(command)),
            LensCommand::Unresolved(lens) => {
                let answer = json!({ "command": { "title": "t", "command": "c" } });
                ask(fake, rng, server.resolve_lens(lens), answer);
            }
        }
    }
}

fn ask_for_edits(server: &LanguageServer, fake: &mut FakeServer, rng: &mut StdRng) {
    let (document, offset) = (document(), ByteOffset(0));
    let request = server.completion(&document, offset, CompletionTrigger::Invoked);
    let list = ask(fake, rng, request, completions());
    for item in list
        .map(|list| list.items)
        .unwrap_or_default()
        .iter()
        .take(2)
    {
        item.insert.insert_span.into_iter().for_each(check_span);
        item.insert.replace_span.into_iter().for_each(check_span);
        drop(item.documentation());
        let answer = completions()["items"][0].clone();
        let resolved = ask(fake, rng, server.resolve_completion(item), answer);
        for (span, _) in resolved.map(|it| it.additional_edits).unwrap_or_default() {
            check_span(span);
        }
    }
    let options = FormatOptions {
        tab_size: 4,
        inserts_spaces: true,
    };
    let formatted = ask(fake, rng, server.format(&document, options), edits());
    for (span, _) in formatted.map(|it| it.edits).unwrap_or_default() {
        check_span(span);
    }
    let request = server.format_on_type(&document, offset, ';', options);
    let formatted = ask(fake, rng, request, edits());
    for (span, _) in formatted.map(|it| it.edits).unwrap_or_default() {
        check_span(span);
    }
    let target = json!({ "range": range(), "placeholder": "p" });
    let target = ask(fake, rng, server.prepare_rename(&document, offset), target).flatten();
    target
        .and_then(|it| it.span)
        .into_iter()
        .for_each(check_span);
    let edit = ask(
        fake,
        rng,
        server.rename(&document, offset, "n"),
        workspace_edit(),
    );
    check_edit(&edit.unwrap_or_default());
    let command = json!({ "title": "t", "command": "c", "arguments": [1] });
    let action =
        json!({ "title": "t", "kind": "quickfix", "edit": workspace_edit(), "command": command });
    let request = server.code_actions(&document, Span::at(offset), &[]);
    let actions = ask(fake, rng, request, json!([action, command]));
    for action in actions.unwrap_or_default().iter().take(2) {
        action.edit.as_ref().into_iter().for_each(check_edit);
        let request = server.resolve_code_action(action);
        if request.is_some() {
            ask(
                fake,
                rng,
                request,
                json!({ "title": "t", "edit": workspace_edit() }),
            );
        }
    }
}

#[test]
fn near_valid_answers_never_panic() {
    let (server, _events, mut fake) = with_document(capabilities(), TEXT);
    let mut rng = StdRng::seed_from_u64(2);
    for _ in 0..random::rounds(300, 20_000) {
        ask_about_symbols(&server, &mut fake, &mut rng);
        ask_for_annotations(&server, &mut fake, &mut rng);
        ask_for_edits(&server, &mut fake, &mut rng);
    }
    assert!(!server.violations().is_empty());
}
