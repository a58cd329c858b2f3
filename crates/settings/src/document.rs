//! A JSONC text as a tree of nodes with source positions.
//!
//! Hides the parser, together with `edit`. Comments and trailing commas are allowed; otherwise the
//! rules of JSON apply, so that other tools accept the same files.
//! Limitation: the parser stops at the first syntax error.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::problem::{ConfigProblem, SourceText};

/// A JSON value with its byte range in the source text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpannedValue {
    pub(crate) span: Range<usize>,
    pub(crate) value: NodeValue,
}

/// A JSON value whose parts have byte ranges.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeValue {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<SpannedValue>),
    Object(Vec<Member>),
}

/// A `"key": value` pair of an object, in source order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: SpannedValue,
}

impl SpannedValue {
    /// Returns the name of the value's type, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            NodeValue::Null => "null",
            NodeValue::Bool(_) => "true or false",
            NodeValue::Number(_) => "a number",
            NodeValue::String(_) => "a string",
            NodeValue::Array(_) => "a list",
            NodeValue::Object(_) => "an object",
        }
    }

    /// Returns the string; `None` if the value is of another type.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.value {
            NodeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the members in source order; `None` if the value is not an object.
    pub(crate) fn as_object(&self) -> Option<&[Member]> {
        match &self.value {
            NodeValue::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the elements; `None` if the value is not a list.
    pub(crate) fn as_array(&self) -> Option<&[SpannedValue]> {
        match &self.value {
            NodeValue::Array(nodes) => Some(nodes),
            _ => None,
        }
    }

    /// Converts the value to plain JSON, without byte ranges.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            NodeValue::Null => serde_json::Value::Null,
            NodeValue::Bool(value) => (*value).into(),
            NodeValue::Number(value) => number_to_json(*value),
            NodeValue::String(text) => text.as_str().into(),
            NodeValue::Array(nodes) => nodes.iter().map(SpannedValue::to_json).collect(),
            NodeValue::Object(members) => serde_json::Value::Object(
                members
                    .iter()
                    .map(|member| (member.key.clone(), member.value.to_json()))
                    .collect(),
            ),
        }
    }
}

/// Keeps integers as integers: an action's argument of type `u32` does not accept `2.0`.
fn number_to_json(value: f64) -> serde_json::Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole and within 53 bits, as just checked"
        )]
        let whole = value as i64;
        whole.into()
    } else {
        value.into()
    }
}

/// Parses a JSONC text. Returns `Ok(None)` if it has only white space and comments, and the first
/// syntax error with its position.
pub(crate) fn parse(origin: &SourceText<'_>) -> Result<Option<SpannedValue>, ConfigProblem> {
    let text = origin.text;
    match parse_to_ast(text, &CollectOptions::default(), &strict_with_comments()) {
        Ok(parsed) => parsed.value.map(|value| node(&value, origin)).transpose(),
        Err(error) => {
            let range = error.range();
            Err(origin.problem(
                &(range.start..range.end),
                lower_first(&error.kind().to_string()),
            ))
        }
    }
}

/// Parser options for JSON with comments and trailing commas.
pub(crate) fn strict_with_comments() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Converts a parsed value. Returns a problem if a number is not finite.
fn node(value: &ast::Value<'_>, origin: &SourceText<'_>) -> Result<SpannedValue, ConfigProblem> {
    let range = value.range();
    let span = range.start..range.end;
    let value = match value {
        ast::Value::NullKeyword(_) => NodeValue::Null,
        ast::Value::BooleanLit(literal) => NodeValue::Bool(literal.value),
        ast::Value::StringLit(literal) => NodeValue::String(literal.value.clone().into_owned()),
        ast::Value::NumberLit(literal) => match literal.value.parse::<f64>() {
            Ok(number) if number.is_finite() => NodeValue::Number(number),
            _ => return Err(origin.problem(&span, "this number is too large")),
        },
        ast::Value::Array(array) => NodeValue::Array(
            array
                .elements
                .iter()
                .map(|it| node(it, origin))
                .collect::<Result<_, _>>()?,
        ),
        ast::Value::Object(object) => NodeValue::Object(
            object
                .properties
                .iter()
                .map(|it| member(it, origin))
                .collect::<Result<_, _>>()?,
        ),
    };
    Ok(SpannedValue { span, value })
}

/// Converts a member of an object. Returns a problem if `node` does for its value.
fn member(
    property: &ast::ObjectProp<'_>,
    origin: &SourceText<'_>,
) -> Result<Member, ConfigProblem> {
    let (key, range) = match &property.name {
        ast::ObjectPropName::String(literal) => (literal.value.clone().into_owned(), literal.range),
        ast::ObjectPropName::Word(literal) => (literal.value.to_owned(), literal.range),
    };
    Ok(Member {
        key,
        key_span: range.start..range.end,
        value: node(&property.value, origin)?,
    })
}

fn lower_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
