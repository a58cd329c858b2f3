//! Selectors and the documents that they accept.

use base::AbsPath;
use serde_json::{Value, json};

use super::{DocumentIdentity, DocumentSelector};

fn accepts(selector: &Value, path: &str, language_id: &str) -> bool {
    let path = AbsPath::new(path).expect("absolute");
    DocumentSelector::of(Some(selector)).matches(DocumentIdentity {
        path: &path,
        language_id,
    })
}

fn check(selector: Value, accepted: &[&str], refused: &[&str]) {
    for path in accepted {
        assert!(accepts(&selector, path, "rust"), "{selector} {path}");
    }
    for path in refused {
        assert!(!accepts(&selector, path, "rust"), "{selector} {path}");
    }
}

#[test]
fn absent_selectors_accept_every_document() {
    check(Value::Null, &["/a"], &[]);
    let path = AbsPath::new("/a").expect("absolute");
    let document = DocumentIdentity {
        path: &path,
        language_id: "x",
    };
    assert!(DocumentSelector::of(None).matches(document));
    check(json!([]), &[], &["/a"]);
}

#[test]
fn languages_and_schemes_are_compared() {
    check(
        json!([{ "language": "python" }, { "language": "rust" }]),
        &["/a"],
        &[],
    );
    check(json!(["rust"]), &["/a"], &[]);
    check(json!([{ "language": "*" }, 7]), &["/a"], &[]);
    check(
        json!([{ "scheme": "file", "language": "rust" }]),
        &["/a"],
        &[],
    );
    check(
        json!([{ "scheme": "untitled", "language": "rust" }]),
        &[],
        &["/a"],
    );
    check(json!([{ "notebook": "jupyter" }]), &[], &["/a"]);
    check(json!([{ "language": "python" }]), &[], &["/a"]);
}

#[test]
fn globs_come_in_four_forms() {
    let rust = ["/w/a.rs", "/w/x/b.rs"];
    check(json!([{ "pattern": "**/*.{rs,py}" }]), &rust, &["/w/a.c"]);
    check(json!([{ "pattern": "/w/*.rs" }]), &rust[..1], &rust[1..]);
    let by_uri = json!([{ "pattern": { "baseUri": "file:///w", "pattern": "*.rs" } }]);
    check(by_uri, &rust[..1], &["/w/x/b.rs", "/v/a.rs"]);
    let folder = json!({ "uri": "file:///w", "name": "w" });
    let by_folder = json!([{ "pattern": { "baseUri": folder, "pattern": "**/*.rs" } }]);
    check(by_folder, &rust, &["/v/a.rs"]);
}

#[test]
fn malformed_patterns_accept_nothing() {
    for pattern in [
        json!("[z-a"),
        json!(7),
        json!({}),
        json!({ "baseUri": 1, "pattern": "*" }),
    ] {
        check(json!([{ "pattern": pattern }]), &[], &["/a"]);
    }
    check(json!([{ "pattern": "a".repeat(5_000) }]), &[], &["/a"]);
}
