//! A dialect says only how it differs.

use super::*;

#[test]
fn what_is_not_said_is_usual() {
    let dialect: Dialect = serde_json::from_str(r#"{ "system_role": "developer" }"#).expect("reads");
    let usual = Dialect::default();
    assert_eq!(dialect.system_role, "developer");
    assert_eq!(dialect.max_tokens, usual.max_tokens);
    assert_eq!(dialect.cached_tokens, usual.cached_tokens);
    assert!(serde_json::from_str::<Dialect>(r#"{ "sytem_role": "x" }"#).is_err());
}
