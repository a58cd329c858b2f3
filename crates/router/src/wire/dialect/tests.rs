//! Tests that a dialect states only its differences.

use super::*;

#[test]
fn unspecified_fields_use_defaults() {
    let dialect: Dialect =
        serde_json::from_str(r#"{ "system_role": "developer" }"#).expect("reads");
    let usual = Dialect::default();
    assert_eq!(dialect.system_role, "developer");
    assert_eq!(dialect.max_tokens, usual.max_tokens);
    assert_eq!(dialect.cached_tokens, usual.cached_tokens);
    assert!(serde_json::from_str::<Dialect>(r#"{ "sytem_role": "x" }"#).is_err());
}
