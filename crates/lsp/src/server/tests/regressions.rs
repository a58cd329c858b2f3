//! Known failures of language clients, and the tests that prevent them here.
//!
//! | # | failure | tests |
//! |---|---|---|
//! | 1 | format on save deletes what was typed meanwhile | `formatting_refers_to_the_text_of_its_request` |
//! | 3 | an empty formatting answer deletes the text | `an_empty_formatting_answer_has_no_edits` |
//! | 4 | a rename changes only open files | `a_rename_names_open_and_closed_files_at_once` |
//! | 6 | linked editing uses stale ranges | in `editor`, `linked_editing::regression_6_stale_or_unequal_spans_are_not_edited` |
//! | 7 | diagnostics vanish or stay | `diagnostics::pushed_and_pulled_diagnostics_do_not_erase_each_other`, `diagnostics::pushed_diagnostics_belong_to_their_version` |
//! | 8 | `ServerCancelled` is logged hundreds of times | `diagnostics::a_busy_server_is_asked_once_more`; in `language`, `running::pulls::changes_of_one_moment_are_gathered` |
//! | 9 | diagnostics outlive their server | `life::the_end_of_a_server_ends_its_requests_and_diagnostics`; in `language`, `running::a_stopped_server_leaves_no_process_and_no_diagnostics` |
//! | 10 | a long list is parsed as a whole | `completion::items_beyond_the_bound_make_the_list_incomplete`; the figures of `cargo xtask bench lsp` |
//! | 13 | items are resolved against a changed text | `edits::completions_are_triggered_and_resolved_on_their_text` |
//! | 17 | a plain text is expanded as a snippet | `plain_completions_are_no_snippets` |
//! | 18 | positions beyond the end or beside a char panic | `position::characters_beyond_a_line_are_clamped_before_its_ending`, `position::random_offsets_survive_every_encoding` |
//! | 19 | incremental synchronisation drifts | `document::random_edits_leave_the_server_with_an_equal_text` |
//! | 20 | servers live on | in `language`, `running::a_crashed_server_leaves_no_children` and `running::no_process_is_left_when_the_folder_is_closed` |
//! | 21 | servers are not restarted, or for ever | in `language`, `running::a_crashed_server_starts_again_with_its_documents` and `life::pauses_double_and_the_fifth_crash_is_the_last` |
//! | 22 | servers have a wrong environment | in `language`, `environment::direnv_sets_and_unsets_variables` and `selection::a_command_of_the_settings_is_expanded` |
//! | 23 | ten thousand watches for one environment | `watched_files::ten_thousand_watchers_are_bounded`, `watched_files::relative_patterns_have_a_uri_or_a_workspace_folder_as_base` |
//! | 24 | inlay hints are at wrong positions | `a_hint_beyond_the_text_hides_no_other` |
//! | 25 | gigabytes for each worktree | in `language`, `running::sharing::four_worktrees_share_one_process` |
//! | 26 | the server reverts a file | `an_edit_of_an_older_version_says_so` |
//!
//! Numbers 1, 3, 4, 5 and 26 have further tests in `workbench`, in `stories::formatting` and `stories::refactoring`;
//! number 2, about steps before a save, is among the desktop tests of the program; 11 to 16, about the list of
//! completions, are in `editor`.

use base::{AbsPath, ByteOffset, Span};
use serde_json::{Value, json};
use text::{Buffer, EditOrigin, Snapshot, Timestamp};

use super::fake::{FakeServer, WAIT, path, wait_for, with_document};
use crate::{
    CompletionTrigger, DocumentEdits, EditBasis, FormatOptions, LanguageServer, Request,
    ServerEvent, WorkspaceOperation,
};

fn document() -> AbsPath {
    path("/w/a.rs")
}

fn range(row: u32, start: u32, end: u32) -> Value {
    let position = |character: u32| json!({ "line": row, "character": character });
    json!({ "start": position(start), "end": position(end) })
}

/// Answers a request that was sent before `meanwhile`.
fn answer<T>(
    fake: &mut FakeServer,
    request: Option<Request<T>>,
    result: Value,
    meanwhile: impl FnOnce(),
) -> T {
    let request = request.expect("offered");
    let sent = fake.read().expect("a request");
    meanwhile();
    fake.respond(&sent, result);
    request.wait(WAIT).expect("an answer")
}

fn format(server: &LanguageServer) -> Option<Request<DocumentEdits>> {
    let options = FormatOptions {
        tab_size: 4,
        inserts_spaces: true,
    };
    server.format(&document(), options)
}

#[test]
fn formatting_refers_to_the_text_of_its_request() {
    let capabilities = json!({ "textDocumentSync": 2, "documentFormattingProvider": true });
    let (server, _events, mut fake) = with_document(capabilities, "a  b");
    let result = json!([{ "range": range(0, 1, 2), "newText": "" }]);
    let mut buffer = Buffer::new("a  b");
    let request = format(&server);
    let edits = answer(&mut fake, request, result, || {
        let origin = EditOrigin::user(Timestamp(0));
        let change = buffer.replace(Span::from(4..4), " typed", &origin);
        server.change_document(&document(), &change, &buffer.snapshot());
    });
    assert_eq!(edits.text.to_string(), "a  b");
    assert_ne!(edits.text.revision(), buffer.snapshot().revision());
}

#[test]
fn an_empty_formatting_answer_has_no_edits() {
    let capabilities = json!({ "textDocumentSync": 2, "documentFormattingProvider": true });
    let (server, _events, mut fake) = with_document(capabilities, "a");
    for result in [Value::Null, json!([])] {
        let edits = answer(&mut fake, format(&server), result, || {});
        assert_eq!(edits.edits, []);
    }
}

#[test]
fn a_rename_names_open_and_closed_files_at_once() {
    let capabilities = json!({ "textDocumentSync": 2, "renameProvider": true });
    let (server, _events, mut fake) = with_document(capabilities, "a");
    let edits = json!([{ "range": range(0, 0, 1), "newText": "b" }]);
    let result = json!({ "changes": { "file:///w/a.rs": edits, "file:///w/closed.rs": edits } });
    let request = server.rename(&document(), ByteOffset(0), "b");
    let edit = answer(&mut fake, request, result, || {});
    let is_open = |operation: &WorkspaceOperation| match operation {
        WorkspaceOperation::Edit(edit) => matches!(edit.basis, EditBasis::Text(_)),
        other => panic!("{other:?}"),
    };
    let mut open: Vec<bool> = edit.operations.iter().map(is_open).collect();
    open.sort_unstable();
    assert_eq!(open, [false, true]);
}

#[test]
fn plain_completions_are_no_snippets() {
    let capabilities = json!({ "textDocumentSync": 2, "completionProvider": {} });
    let (server, _events, mut fake) = with_document(capabilities, "a");
    let text = r"$1 \\ ${x}";
    let item =
        |format: Value| json!({ "label": "a", "insertText": text, "insertTextFormat": format });
    let items = json!([item(json!(1)), item(json!(2)), item(Value::Null)]);
    let request = server.completion(&document(), ByteOffset(1), CompletionTrigger::Invoked);
    let list = answer(&mut fake, request, items, || {});
    let inserts: Vec<_> = list.items.iter().map(|it| &it.insert).collect();
    assert!(inserts.iter().all(|insert| insert.text == text));
    let snippets: Vec<bool> = inserts.iter().map(|insert| insert.is_snippet).collect();
    assert_eq!(snippets, [false, true, false]);
}

#[test]
fn a_hint_beyond_the_text_hides_no_other() {
    let capabilities = json!({ "textDocumentSync": 2, "inlayHintProvider": true });
    let (server, _events, mut fake) = with_document(capabilities, "é\n");
    let hint = |line: u64, character: u64| json!({ "label": "x", "position": { "line": line, "character": character } });
    let hints = json!([hint(9, 0), hint(0, 1), hint(0, 99), hint(u64::MAX, 0)]);
    let request = server.inlay_hints(&document(), Span::from(0..3));
    let hints = answer(&mut fake, request, hints, || {});
    let offsets: Vec<usize> = hints.iter().map(|hint| hint.at.0).collect();
    assert_eq!(offsets, [2, 2]);
}

#[test]
fn an_edit_of_an_older_version_says_so() {
    let (server, events, mut fake) = with_document(json!({ "textDocumentSync": 2 }), "old");
    server.replace_document(&document(), &Snapshot::new("new"));
    let version =
        fake.expect("textDocument/didChange")["params"]["textDocument"]["version"].clone();
    let version = version.as_i64().expect("a number");
    let edits = json!([{ "range": range(0, 0, 3), "newText": "reverted" }]);
    for (version, is_known) in [(version - 1, false), (version, true)] {
        let identifier = json!({ "uri": "file:///w/a.rs", "version": version });
        let change = json!({ "textDocument": identifier, "edits": edits });
        let params = json!({ "edit": { "documentChanges": [change] } });
        fake.send(json!({ "id": 1, "method": "workspace/applyEdit", "params": params }));
        let basis = wait_for(&events, |event| match event {
            ServerEvent::EditRequested(request) => match &request.edit().operations[..] {
                [WorkspaceOperation::Edit(edit)] => Some(edit.basis.clone()),
                other => panic!("{other:?}"),
            },
            _ => None,
        });
        assert_eq!(matches!(basis, EditBasis::UnknownVersion(_)), !is_known);
        // Dropping the request refuses it.
        let answer = fake.read().expect("an answer");
        assert_eq!(answer["result"]["applied"], false);
    }
}
