//! Shapes of workspace edits.

use base::AbsPath;
use serde_json::{Value, json};
use text::Snapshot;

use super::read_workspace_edit;
use super::{EditBasis, FileConflict, OpenTexts, WorkspaceEdit, WorkspaceOperation};

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

/// Reads an edit while `/w/a.rs` is open with version 3.
fn read(edit: &Value) -> Result<WorkspaceEdit, String> {
    let mut texts = OpenTexts::default();
    texts
        .texts
        .insert(path("/w/a.rs"), (3, Snapshot::new("é = x\n")));
    read_workspace_edit(&edit.to_string(), &texts).map_err(|error| error.to_string())
}

fn edit(start: u32, end: u32, text: &str) -> Value {
    let position = |character| json!({ "line": 0, "character": character });
    json!({ "range": { "start": position(start), "end": position(end) }, "newText": text })
}

fn describe(edit: &WorkspaceEdit) -> Vec<String> {
    let operations = edit.operations.iter().map(|operation| match operation {
        WorkspaceOperation::Edit(edit) => {
            let basis = match &edit.basis {
                EditBasis::Text(_) => "text",
                EditBasis::File => "file",
                EditBasis::UnknownVersion(_) => "unknown",
            };
            let edits = edit.edits.iter();
            let edits: Vec<String> = edits
                .map(|it| {
                    format!(
                        "{}{}",
                        it.text,
                        if it.needs_confirmation { "?" } else { "" }
                    )
                })
                .collect();
            format!("edit {} {basis} {edits:?}", edit.path.printable())
        }
        WorkspaceOperation::Create { path, conflict, .. } => {
            format!("create {} {conflict:?}", path.printable())
        }
        WorkspaceOperation::Rename {
            from, to, conflict, ..
        } => {
            format!(
                "rename {} {} {conflict:?}",
                from.printable(),
                to.printable()
            )
        }
        WorkspaceOperation::Delete {
            path, is_recursive, ..
        } => {
            format!("delete {} {is_recursive}", path.printable())
        }
    });
    operations.collect()
}

fn check(edit: Value, expected: &[&str]) {
    assert_eq!(describe(&read(&edit).expect("an edit")), expected, "{edit}");
}

#[test]
fn changes_are_edits_without_versions() {
    check(
        json!({ "changes": { "file:///w/a%2Ers": [edit(0, 1, "x")], "file:///w/b.rs": [] } }),
        &[r#"edit /w/a.rs text ["x"]"#, "edit /w/b.rs file []"],
    );
    check(Value::Null, &[]);
    check(json!({}), &[]);
}

#[test]
fn document_changes_win_over_changes_and_keep_their_order() {
    let document = |uri: &str, version: Value| {
        let document = json!({ "uri": uri, "version": version });
        json!({ "textDocument": document, "edits": [edit(0, 1, "x")] })
    };
    let edit = json!({
        "changes": { "file:///w/z.rs": [] },
        "documentChanges": [
            { "kind": "create", "uri": "file:///w/n", "options": { "ignoreIfExists": true } },
            document("file:///w/a.rs", json!(3)),
            document("file:///w/a.rs", json!(2)),
            document("file:///w/a.rs", Value::Null),
            { "kind": "rename", "oldUri": "file:///w/b", "newUri": "file:///w/c",
              "options": { "overwrite": true, "ignoreIfExists": true } },
            { "kind": "delete", "uri": "file:///w/d", "options": { "recursive": true } },
            document("file:///w/c", json!(9)),
        ],
    });
    let expected = [
        "create /w/n Ignore",
        r#"edit /w/a.rs text ["x"]"#,
        r#"edit /w/a.rs unknown ["x"]"#,
        r#"edit /w/a.rs text ["x"]"#,
        "rename /w/b /w/c Overwrite",
        "delete /w/d true",
        r#"edit /w/c file ["x"]"#,
    ];
    let paths = read(&edit).expect("an edit").paths();
    assert_eq!(paths, ["/w/a.rs", "/w/b", "/w/c", "/w/d", "/w/n"].map(path));
    check(edit, &expected);
}

#[test]
fn annotated_edits_may_need_a_confirmation() {
    let annotated = |id: &str| {
        let mut edit = edit(0, 1, id);
        edit["annotationId"] = json!(id);
        edit
    };
    let edits = json!([annotated("a"), annotated("b"), annotated("unknown")]);
    let edit = json!({
        "documentChanges": [{ "textDocument": { "uri": "file:///w/b" }, "edits": edits }],
        "changeAnnotations": { "a": { "label": "A", "needsConfirmation": true }, "b": { "label": "B" } },
    });
    check(edit, &[r#"edit /w/b file ["a?", "b", "unknown?"]"#]);
}

#[test]
fn an_edit_that_cannot_be_understood_is_refused() {
    for (edit, expected) in [
        (json!(7), "neither an object nor null"),
        (
            json!({ "changes": { "untitled:1": [] } }),
            r#""untitled:1" is no local file"#,
        ),
        (
            json!({ "documentChanges": [{ "kind": "chmod", "uri": "file:///w/a" }] }),
            r#"the operation "chmod" is unknown"#,
        ),
        (
            json!({ "documentChanges": [{ "kind": "rename", "uri": "file:///w/a" }] }),
            "an operation names no file",
        ),
    ] {
        assert_eq!(read(&edit).map(|_| ()), Err(expected.to_owned()), "{edit}");
    }
    assert!(read(&json!({ "documentChanges": [7] })).is_err());
    assert!(read(&json!({ "changes": { "file:///w/a": [{ "newText": "x" }] } })).is_err());
}

#[test]
fn edits_of_a_file_become_spans_of_its_text() {
    let edits = json!([edit(4, 5, "y"), edit(0, 1, "a")]);
    let edit = read(&json!({ "changes": { "file:///w/a.rs": edits } })).expect("an edit");
    let [WorkspaceOperation::Edit(edit)] = &edit.operations[..] else {
        panic!("one edit");
    };
    let EditBasis::Text(text) = &edit.basis else {
        panic!("an open document");
    };
    let spans = edit.spans(text).expect("spans").edits;
    assert_eq!(spans[0].0, (0..2).into());
    assert_eq!(spans[1].0, (5..6).into());
    assert!(edit.spans(&Snapshot::new("")).is_ok());
    assert_eq!(FileConflict::Fail, super::conflict(&Value::Null));
}
