//! Values of JSONC texts, and the places of what is wrong with them.

use serde_json::json;

use super::Jsonc;

#[test]
fn comments_and_trailing_commas_are_read() {
    let text = "\u{feff}// mine\n{ \"a\": [1, 2,], /* two */ \"b\": \"x // y\", }\n";
    let read = Jsonc::parse("f.json", text).unwrap();
    assert_eq!(read.value(), json!({ "a": [1, 2], "b": "x // y" }));
    assert_eq!(
        Jsonc::parse("f.json", "// nothing\n").unwrap().value(),
        json!({})
    );
}

#[test]
fn problems_name_file_line_and_column() {
    let error = Jsonc::parse("f.json", "{\n  \"a\": [1 2]\n}").unwrap_err();
    assert_eq!((error.source.as_str(), error.line), ("f.json", 2));
    let error = Jsonc::parse("f.json", "{\n \"a\": 1,\n \"a\": 2 }").unwrap_err();
    assert_eq!((error.line, error.column), (3, 2), "{error}");
    assert!(error.message.contains("twice"), "{error}");
    let read = Jsonc::parse("f.json", "{\n  \"a\": [1,\n   \"x\"]\n}").unwrap();
    let problem = read.problem(&["a", "1"], "no number");
    assert_eq!(problem.to_string(), "f.json:3:4: no number");
    let problem = read.problem(&["a", "7"], "missing");
    assert_eq!((problem.line, problem.column), (2, 8), "the list itself");
}
