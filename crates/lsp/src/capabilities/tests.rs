//! Shapes of capabilities, static and registered.

use base::AbsPath;
use serde_json::{Value, json};

use super::{
    MAX_REGISTRATION_BYTES, PULL_DIAGNOSTICS, SaveText, ServerCapabilities, SyncKind, SyncOptions,
    client_capabilities,
};
use crate::position::PositionEncoding;
use crate::selector::DocumentIdentity;

fn capabilities(statics: Value) -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::default();
    let Value::Object(statics) = statics else {
        panic!("an object");
    };
    capabilities.set_statics(statics);
    capabilities
}

fn with_document<R>(action: impl FnOnce(DocumentIdentity<'_>) -> R) -> R {
    let path = AbsPath::new("/w/a.rs").expect("absolute");
    action(DocumentIdentity {
        path: &path,
        language_id: "rust",
    })
}

fn sync(capabilities: &ServerCapabilities) -> SyncOptions {
    with_document(|document| capabilities.sync(document))
}

fn check_sync(sync_value: Value, open_close: bool, change: SyncKind, save: Option<SaveText>) {
    let capabilities = capabilities(json!({ "textDocumentSync": sync_value }));
    let expected = SyncOptions {
        open_close,
        change,
        save,
    };
    assert_eq!(sync(&capabilities), expected, "{sync_value}");
}

#[test]
fn static_and_registered_capabilities_are_shown() {
    let mut capabilities = capabilities(json!({ "hoverProvider": true }));
    let options = json!({ "triggerCharacters": ["."] });
    let method = "textDocument/completion";
    assert!(capabilities.register("1".to_owned(), method.to_owned(), options.clone()));
    let expected = json!({
        "capabilities": { "hoverProvider": true },
        "registered": [{ "method": method, "options": options }],
    });
    assert_eq!(capabilities.to_json(), expected);
}

#[test]
fn synchronisation_is_a_number_or_an_object() {
    let omitted = Some(SaveText::Omitted);
    check_sync(json!(1), true, SyncKind::Full, omitted);
    check_sync(json!(2), true, SyncKind::Incremental, omitted);
    check_sync(json!(0), true, SyncKind::None, omitted);
    check_sync(
        json!({ "openClose": true, "change": 2 }),
        true,
        SyncKind::Incremental,
        None,
    );
    check_sync(json!({ "openClose": false }), false, SyncKind::None, None);
    check_sync(json!({ "change": 1 }), true, SyncKind::Full, None);
    check_sync(Value::Null, false, SyncKind::None, None);
    check_sync(json!("x"), false, SyncKind::None, None);
}

#[test]
fn saving_is_a_flag_or_an_object() {
    for (save, expected) in [
        (json!(true), Some(SaveText::Omitted)),
        (json!(false), None),
        (json!({}), Some(SaveText::Omitted)),
        (json!({ "includeText": false }), Some(SaveText::Omitted)),
        (json!({ "includeText": true }), Some(SaveText::Included)),
        (json!(null), None),
    ] {
        check_sync(json!({ "save": save }), true, SyncKind::None, expected);
    }
}

#[test]
fn registered_synchronisation_completes_the_static_one() {
    let mut capabilities = capabilities(json!({}));
    assert!(!sync(&capabilities).open_close);
    let rust = json!([{ "language": "rust" }]);
    let options = |extra: Value| {
        let mut options = json!({ "documentSelector": rust });
        let members = extra.as_object().cloned().unwrap_or_default();
        options.as_object_mut().expect("an object").extend(members);
        options
    };
    let mut register = |method: &str, options: Value| {
        capabilities.register("1".to_owned(), method.to_owned(), options)
    };
    assert!(register("textDocument/didOpen", options(json!({}))));
    assert!(register(
        "textDocument/didChange",
        options(json!({ "syncKind": 2 }))
    ));
    assert!(register(
        "textDocument/didSave",
        options(json!({ "includeText": true }))
    ));
    assert!(!register("textDocument/moniker", options(json!({}))));
    let expected = SyncOptions {
        open_close: true,
        change: SyncKind::Incremental,
        save: Some(SaveText::Included),
    };
    assert_eq!(sync(&capabilities), expected);
    assert!(capabilities.unregister("1", "textDocument/didSave"));
    assert!(!capabilities.unregister("1", "textDocument/didSave"));
    assert_eq!(sync(&capabilities).save, None);
}

#[test]
fn a_provider_is_a_flag_or_options_or_a_registration() {
    let offered = |capabilities: &ServerCapabilities| {
        with_document(|document| capabilities.options(PULL_DIAGNOSTICS, document).count())
    };
    for (provider, expected) in [
        (json!(true), 1),
        (json!({ "identifier": "x" }), 1),
        (json!({ "documentSelector": [{ "language": "python" }] }), 0),
        (json!(false), 0),
        (json!(null), 0),
        (json!(7), 0),
    ] {
        let capabilities = capabilities(json!({ "diagnosticProvider": provider }));
        assert_eq!(offered(&capabilities), expected, "{provider}");
    }
    let mut capabilities = capabilities(json!({}));
    for (id, language) in [("a", "rust"), ("b", "python"), ("a", "rust")] {
        let options = json!({ "documentSelector": [{ "language": language }] });
        capabilities.register(id.to_owned(), PULL_DIAGNOSTICS.to_owned(), options);
    }
    assert_eq!(offered(&capabilities), 1);
}

#[test]
fn an_absent_encoding_is_utf_16() {
    for (name, expected) in [
        (json!("utf-8"), PositionEncoding::Utf8),
        (json!("utf-32"), PositionEncoding::Utf32),
        (json!("utf-16"), PositionEncoding::Utf16),
        (json!("latin-1"), PositionEncoding::Utf16),
        (Value::Null, PositionEncoding::Utf16),
    ] {
        let capabilities = capabilities(json!({ "positionEncoding": name }));
        assert_eq!(capabilities.encoding(), expected);
    }
}

#[test]
fn encodings_are_offered_in_the_order_of_preference() {
    let declared = serde_json::to_value(client_capabilities()).expect("JSON");
    let encodings = declared.pointer("/general/positionEncodings");
    assert_eq!(encodings, Some(&json!(["utf-8", "utf-16", "utf-32"])));
    assert_eq!(declared.pointer("/workspace/applyEdit"), Some(&json!(true)));
}

#[test]
fn the_length_of_all_registrations_is_bounded() {
    let mut capabilities = capabilities(json!({}));
    let pattern = format!("**/{}", "x".repeat(3_000));
    let options = json!({ "documentSelector": [{ "pattern": pattern }] });
    let mut count = 0;
    while capabilities.register(
        count.to_string(),
        "textDocument/hover".to_owned(),
        options.clone(),
    ) {
        count += 1;
    }
    assert_eq!(
        count,
        MAX_REGISTRATION_BYTES / (options.to_string().len() + 2)
    );
    // A registration that replaces another does not exceed the limit.
    let is_replaced =
        capabilities.register("1".to_owned(), "textDocument/hover".to_owned(), options);
    assert!(is_replaced);
}
