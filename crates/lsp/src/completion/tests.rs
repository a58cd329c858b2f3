//! Shapes of completion lists and items.

use base::Span;
use serde_json::{Value, json};

use super::wire::read_list;
use super::{CompletionItem, CompletionKind, CompletionList};
use crate::testing::{document, violations_of};
use crate::violations::Violations;

fn read(answer: &Value) -> (CompletionList, Vec<String>) {
    violations_of(|violations| {
        let document = document("let é = vec\n");
        read_list(&answer.to_string(), &document, violations).expect("a list")
    })
}

fn item(answer: Value) -> CompletionItem {
    let (mut list, violations) = read(&json!([answer]));
    assert_eq!(violations, [""; 0]);
    list.items.remove(0)
}

fn range(start: u32, end: u32) -> Value {
    json!({ "start": { "line": 0, "character": start }, "end": { "line": 0, "character": end } })
}

#[test]
fn an_answer_is_a_list_an_object_or_null() {
    let items = json!([{ "label": "a" }]);
    let object = |is_incomplete: Value| json!({ "isIncomplete": is_incomplete, "items": items });
    for (answer, count, is_incomplete) in [
        (items.clone(), 1, false),
        (object(json!(true)), 1, true),
        (object(json!(false)), 1, false),
        (object(Value::Null), 1, false),
        (Value::Null, 0, false),
        (json!({}), 0, false),
    ] {
        let (list, _) = read(&answer);
        assert_eq!(
            (list.items.len(), list.is_incomplete),
            (count, is_incomplete),
            "{answer}"
        );
    }
    let (result, _) = violations_of(|it| read_list("7", &document(""), it).map(|_| ()));
    assert!(result.is_err());
}

#[test]
fn an_item_needs_a_label_only() {
    let plain = item(json!({ "label": "vec" }));
    assert_eq!(
        (plain.label.as_str(), plain.insert.text.as_str()),
        ("vec", "vec")
    );
    assert_eq!(plain.kind, CompletionKind::Text);
    assert!(!plain.insert.is_snippet && plain.insert.insert_span.is_none());
    let odd = item(json!({
        "label": "vec", "kind": "x", "detail": 7, "sortText": [], "tags": 1, "textEdit": 7,
        "commitCharacters": {}, "command": 7, "labelDetails": "x", "insertTextFormat": "2",
    }));
    assert_eq!(
        (odd.detail, odd.sort_text, odd.kind),
        (None, None, CompletionKind::Text)
    );
    let (list, violations) = read(&json!([7, {}, ["x"], { "label": "a" }, { "label": 1 }]));
    assert_eq!(list.items.len(), 1);
    assert_eq!(violations, ["4 malformed items"]);
}

#[test]
fn members_become_values() {
    let item = item(json!({
        "label": "vec", "kind": 3, "detail": "fn", "sortText": "s", "filterText": "f",
        "labelDetails": { "detail": "(x)", "description": "std" }, "preselect": true,
        "tags": [1], "commitCharacters": [";", ".", "", ";"], "insertTextMode": 1,
        "insertTextFormat": 2, "insertText": "vec($1)",
        "documentation": { "kind": "markdown", "value": "*v*" },
        "command": { "title": "t", "command": "c", "arguments": [1] },
        "additionalTextEdits": [{ "range": range(0, 0), "newText": "use x;" }],
    }));
    assert_eq!(item.kind, CompletionKind::Function);
    assert_eq!(item.label_detail.as_deref(), Some("(x)"));
    assert_eq!(item.label_description.as_deref(), Some("std"));
    assert_eq!(
        (item.filter_text.as_deref(), item.sort_text.as_deref()),
        (Some("f"), Some("s"))
    );
    assert!(item.is_preselected && item.is_deprecated);
    assert_eq!(item.commit_characters, ['.', ';']);
    assert!(item.insert.is_snippet && item.insert.keeps_indent);
    assert_eq!(item.insert.text, "vec($1)");
    assert_eq!(
        item.additional_edits,
        [(Span::from(0..0), "use x;".to_owned())]
    );
    assert_eq!(item.command.as_ref().map(|it| it.name()), Some("c"));
    assert!(item.documentation().expect("a text").is_markdown);
}

#[test]
fn a_range_may_differ_for_inserting_and_replacing() {
    let one = item(json!({
        "label": "v", "insertText": "no", "textEdit": { "newText": "vec", "range": range(8, 9) },
    }));
    assert_eq!(one.insert.text, "vec");
    assert_eq!(one.insert.insert_span, Some(Span::from(9..10)));
    assert_eq!(one.insert.replace_span, Some(Span::from(9..10)));
    let edit = json!({ "newText": "vec", "insert": range(8, 9), "replace": range(8, 11) });
    let two = item(json!({ "label": "v", "textEdit": edit }));
    assert_eq!(two.insert.insert_span, Some(Span::from(9..10)));
    assert_eq!(two.insert.replace_span, Some(Span::from(9..12)));
}

#[test]
fn an_item_beyond_the_text_is_dropped() {
    let beyond =
        json!({ "start": { "line": 9, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let edit = json!({ "newText": "x", "range": beyond });
    let (list, violations) = read(&json!([{ "label": "a", "textEdit": edit }, { "label": "b" }]));
    assert_eq!(list.items[0].label, "b");
    assert_eq!(violations, ["1 out-of-range position"]);
}

#[test]
fn defaults_of_the_list_complete_its_items() {
    let defaults = json!({
        "commitCharacters": ["."], "insertTextFormat": 2, "insertTextMode": 1,
        "editRange": { "insert": range(8, 9), "replace": range(8, 11) }, "data": { "d": 1 },
    });
    let items = json!([
        { "label": "a", "insertText": "unused" },
        { "label": "b", "textEditText": "b($1)", "commitCharacters": [";"], "insertTextFormat": 1,
          "insertTextMode": 2, "data": { "e": 2 } },
    ]);
    let answer = |apply_kind: Value| {
        read(&json!({ "items": items, "itemDefaults": defaults, "applyKind": apply_kind })).0
    };
    let list = answer(Value::Null);
    let (a, b) = (&list.items[0], &list.items[1]);
    assert_eq!(
        (a.insert.text.as_str(), b.insert.text.as_str()),
        ("a", "b($1)")
    );
    assert_eq!(a.insert.insert_span, Some(Span::from(9..10)));
    assert_eq!(a.insert.replace_span, Some(Span::from(9..12)));
    assert!(a.insert.is_snippet && a.insert.keeps_indent);
    assert!(!b.insert.is_snippet && !b.insert.keeps_indent);
    assert_eq!(
        (&*a.commit_characters, &*b.commit_characters),
        (&['.'][..], &[';'][..])
    );
    assert_eq!(a.source.params()["data"], json!({ "d": 1 }));
    assert_eq!(b.source.params()["data"], json!({ "e": 2 }));
    let merged = answer(json!({ "commitCharacters": 2, "data": 2 }));
    let b = &merged.items[1];
    assert_eq!(b.commit_characters, ['.', ';']);
    assert_eq!(b.source.params()["data"], json!({ "d": 1, "e": 2 }));
    assert_eq!(b.source.params()["commitCharacters"], json!([";", "."]));
    let one = json!({ "items": items, "itemDefaults": { "editRange": range(8, 9) } });
    let insert = read(&one).0.items.remove(0).insert;
    assert_eq!(insert.replace_span, Some(Span::from(9..10)));
}

#[test]
fn resolution_keeps_the_text_to_insert() {
    let before = item(json!({ "label": "v", "insertText": "vec", "detail": "old" }));
    let answer = json!({
        "label": "other", "insertText": "other", "detail": "new", "documentation": "doc",
        "additionalTextEdits": [{ "range": range(0, 0), "newText": "use x;" }],
    });
    let answer = answer.as_object().cloned().expect("an object");
    let after = before.resolved(answer, &mut Violations::default());
    assert_eq!(
        (after.label.as_str(), after.insert.text.as_str()),
        ("v", "vec")
    );
    assert_eq!(after.detail.as_deref(), Some("new"));
    assert_eq!(after.documentation().expect("a text").value, "doc");
    assert_eq!(after.additional_edits.len(), 1);
}

#[test]
fn items_beyond_the_bound_make_the_list_incomplete() {
    let items = vec![r#"{"label":"a"}"#; 100_001].join(",");
    let (list, violations) = violations_of(|violations| {
        read_list(&format!("[{items}]"), &document(""), violations).expect("a list")
    });
    assert_eq!((list.items.len(), list.is_incomplete), (100_000, true));
    assert_eq!(violations, ["1 dropped item"]);
}
