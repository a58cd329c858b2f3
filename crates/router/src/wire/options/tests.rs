//! Tests of option layers, and of the nearest value for an effort.

use model::Effort;
use serde_json::{Map, Value, json};

use super::*;

fn layer(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

#[test]
fn later_layers_override_member_by_member() {
    let provider =
        layer(json!({ "images": true, "extra": { "a": 1, "b": 2 }, "headers": { "x": "1" } }));
    let own = layer(json!({ "images": false, "extra": { "b": 3 } }));
    let options = WireOptions::layered([&provider, &own]).expect("options");
    assert!(!options.images);
    assert_eq!(Value::Object(options.extra), json!({ "a": 1, "b": 3 }));
    assert_eq!(options.headers["x"], "1");
}

#[test]
fn unknown_member_is_reported() {
    let wrong = WireOptions::layered([&layer(json!({ "imagse": true }))]);
    assert!(wrong.expect_err("an error").to_string().contains("imagse"));
    let wrong = WireOptions::layered([&layer(json!({ "effort": { "huge": "x" } }))]);
    assert!(wrong.expect_err("an error").to_string().contains("huge"));
}

#[test]
fn efforts() {
    let efforts = json!({ "effort": { "none": false, "low": "low", "high": 4096 } });
    let options = WireOptions::layered([&layer(efforts)]).expect("options");
    let value = |effort| options.effort.value(effort).cloned();
    assert_eq!(value(Effort::None), Some(EffortValue::Switch(false)));
    assert_eq!(
        value(Effort::Medium),
        Some(EffortValue::Word("low".to_owned()))
    );
    assert_eq!(value(Effort::Max), Some(EffortValue::Budget(4096)));
    assert_eq!(EffortMap::default().value(Effort::Low), None);
}
