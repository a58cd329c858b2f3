//! Lenient reading and compact building of JSON values. A member of the wrong type counts as
//! absent.

use model::TokenCount;
use serde_json::{Map, Value};

/// Returns the string at the JSON pointer `pointer`. Returns an empty string if the value is absent
/// or not a string.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns the non-negative integer at `pointer`, which some providers write as `3.0`. Returns
/// `None` if the value is absent or not such a number.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    let found = value.pointer(pointer)?;
    found.as_u64().or_else(|| {
        let float = found.as_f64()?;
        (0.0..9.0e15).contains(&float).then_some(float as u64)
    })
}

/// Returns the token count at `pointer`, or zero if the value is absent or invalid.
pub(crate) fn tokens(value: &Value, pointer: &str) -> TokenCount {
    TokenCount(number(value, pointer).unwrap_or_default())
}

/// Returns the array at `pointer`. Returns an empty slice if the value is absent or not an array.
pub(crate) fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// Builds an object of these members, in this order.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Converts a number to JSON in its shortest decimal form: 0.2, not 0.20000000298.
pub(crate) fn decimal(number: f32) -> Value {
    let parsed = number.to_string().parse::<f64>().ok();
    parsed
        .and_then(serde_json::Number::from_f64)
        .map_or(Value::Null, Value::Number)
}
