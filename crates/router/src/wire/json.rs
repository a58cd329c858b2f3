//! Lenient reading and small building of JSON values. A member of the wrong kind reads as absent.

use model::TokenCount;
use serde_json::{Map, Value};

/// The text at `pointer`; empty if there is none.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The whole number at `pointer`; providers write some of them as `3.0`.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    let found = value.pointer(pointer)?;
    found.as_u64().or_else(|| {
        let float = found.as_f64()?;
        (0.0..9.0e15).contains(&float).then_some(float as u64)
    })
}

/// The tokens at `pointer`; none if nothing is said.
pub(crate) fn tokens(value: &Value, pointer: &str) -> TokenCount {
    TokenCount(number(value, pointer).unwrap_or_default())
}

/// The items at `pointer`; none if it is no array.
pub(crate) fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// An object of these members, in this order.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// A number as JSON, the way a person would write it: 0.2, not 0.20000000298.
pub(crate) fn decimal(number: f32) -> Value {
    let parsed = number.to_string().parse::<f64>().ok();
    parsed
        .and_then(serde_json::Number::from_f64)
        .map_or(Value::Null, Value::Number)
}
