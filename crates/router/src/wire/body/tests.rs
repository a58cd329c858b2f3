//! A body that is written piece by piece has the bytes of one that is written at once.

use serde_json::{Map, Value, json};

use super::super::options::WireOptions;
use super::super::tests::request;
use super::{Items, finish};

fn check(before: &Value, items: &[Value], after: &Value, extra: &Value) {
    let options = WireOptions {
        extra: map(extra),
        ..WireOptions::default()
    };
    let mut written = Items::with_room(&request());
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
fn pieces_make_the_same_bytes_as_the_whole() {
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
fn members_of_the_options_win_wherever_they_stand() {
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
