//! Tests that an incrementally written body equals one serialized as a whole.

use serde_json::{Map, Value, json};

use super::super::options::WireOptions;
use super::super::tests::request;
use super::{BodyItems, finish};

fn check(before: &Value, items: &[Value], after: &Value, extra: &Value) {
    let options = WireOptions {
        extra: map(extra),
        ..WireOptions::default()
    };
    let mut written = BodyItems::with_room(&request());
    items.iter().for_each(|item| written.push(item));
    let pieces = written.finish(map(before), "list", map(after), &options);
    let mut whole = map(before);
    whole.insert("list".to_owned(), items.into());
    whole.extend(map(after));
    let whole = finish(whole, &options);
    assert_eq!(
        String::from_utf8_lossy(&pieces),
        String::from_utf8_lossy(&whole)
    );
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

#[test]
fn incremental_body_equals_the_whole() {
    let items = [json!({ "text": "ä\"\n" }), json!(["x", 1]), json!(null)];
    let before = json!({ "model": "m", "config": { "a": 1 } });
    let after = json!({ "stream": true });
    let none = json!({});
    check(&none, &[], &none, &none);
    check(&none, &items, &none, &none);
    check(&before, &items[..1], &none, &none);
    check(&none, &items, &after, &none);
    check(&before, &items, &after, &none);
}

#[test]
fn option_members_override_at_any_position() {
    let items = [json!(1), json!(2)];
    let before = json!({ "model": "m", "config": { "a": 1 } });
    let after = json!({ "stream": true });
    for extra in [
        json!({ "new": 1 }),
        json!({ "model": "other", "stream": false }),
        json!({ "config": { "b": 2 }, "new": [] }),
        json!({ "list": [] }),
        json!({ "list": ["theirs"], "new": 1 }),
    ] {
        check(&before, &items, &after, &extra);
        check(&json!({}), &items, &json!({}), &extra);
    }
}
