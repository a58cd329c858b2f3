//! Settings sections: documented keys with default, type and range.
//!
//! `section!` declares a section once; the struct, its default, its parser, its key list and its
//! JSON schema are derived from it. `choices!` does the same for a setting with named choices.

use crate::document::{NodeValue, SpannedValue};
use crate::suggest;

/// Name and documentation of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// Section of the key, such as `editor`.
    pub section: &'static str,
    /// Name of the key, such as `tab_size`.
    pub name: &'static str,
    /// Documentation of the key.
    pub doc: &'static str,
}

/// Path of a setting: `["editor", "tab_size"]` or `["languages", "Rust", "tab_size"]`.
pub type KeyPath = Vec<String>;

/// Minimum and maximum of a number.
pub(crate) type Limits = Option<(f64, f64)>;

/// Reason why a value of a setting is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ValueError {
    /// The value has another type.
    #[error("expected {expected}, found {found}")]
    Type {
        expected: String,
        found: &'static str,
    },
    /// The number is outside its limits.
    #[error("{value} is out of range: choose a number from {min} to {max}")]
    OutOfRange { value: f64, min: f64, max: f64 },
    /// The number has a fraction.
    #[error("expected a whole number, found {0}")]
    NotWhole(f64),
    /// The value has the type, but not a permitted content.
    #[error("{0}")]
    Invalid(String),
}

/// A Rust type that the value of a setting can have.
pub(crate) trait SettingValue: Sized {
    /// Parses the value, or returns why it is invalid. `limits` apply to numbers only.
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError>;

    /// Applies the value of a later layer: it replaces this one, unless the type combines them.
    fn merge(&mut self, later: Self) {
        *self = later;
    }
}

impl SettingValue for bool {
    fn read(node: &SpannedValue, _: Limits) -> Result<Self, ValueError> {
        match node.value {
            NodeValue::Bool(value) => Ok(value),
            _ => Err(expected("true or false", node)),
        }
    }
}

impl SettingValue for String {
    fn read(node: &SpannedValue, _: Limits) -> Result<Self, ValueError> {
        match &node.value {
            NodeValue::String(text) => Ok(text.clone()),
            _ => Err(expected("a string", node)),
        }
    }
}

impl SettingValue for f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a setting needs no more than seven digits"
    )]
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        number(node, limits).map(|value| value as f32)
    }
}

impl SettingValue for u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and in range"
    )]
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        let value = number(node, limits.or(Some((0.0, f64::from(u32::MAX)))))?;
        if value.fract() == 0.0 {
            Ok(value as u32)
        } else {
            Err(ValueError::NotWhole(value))
        }
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    /// The limits apply to each element.
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        match &node.value {
            NodeValue::Array(nodes) => nodes.iter().map(|node| T::read(node, limits)).collect(),
            _ => Err(expected("a list", node)),
        }
    }
}

/// Returns a number; an error if the value is not a number or is outside `limits`, both ends
/// inclusive.
fn number(node: &SpannedValue, limits: Limits) -> Result<f64, ValueError> {
    let NodeValue::Number(value) = node.value else {
        return Err(expected("a number", node));
    };
    match limits {
        Some((min, max)) if !(min..=max).contains(&value) => {
            Err(ValueError::OutOfRange { value, min, max })
        }
        _ => Ok(value),
    }
}

/// Parses a string that must be one of the named choices; the error lists them.
pub(crate) fn choice<T: Copy>(
    node: &SpannedValue,
    choices: &[(&'static str, T)],
) -> Result<T, ValueError> {
    let words = || choices.iter().map(|(word, _)| *word);
    let list = || {
        words()
            .map(|word| format!("\"{word}\""))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match &node.value {
        NodeValue::String(text) => match choices.iter().find(|(word, _)| word == text) {
            Some((_, value)) => Ok(*value),
            None => Err(ValueError::Invalid(format!(
                "\"{text}\" is not one of {}{}",
                list(),
                suggest::hint(text, words())
            ))),
        },
        _ => Err(expected(&format!("one of {}", list()), node)),
    }
}

fn expected(expected: &str, node: &SpannedValue) -> ValueError {
    ValueError::Type {
        expected: expected.to_owned(),
        found: node.kind(),
    }
}

/// Declares a section: `/// doc  name: type = default, min..=max;` for each key.
macro_rules! section {
    (
        $(#[doc = $section_doc:literal])+
        $name:ident {
            $( $(#[doc = $doc:literal])+ $field:ident : $type:ty = $default:expr $(, $min:literal ..= $max:literal)? ; )+
        }
    ) => {
        $(#[doc = $section_doc])+
        #[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
        #[schemars(default, deny_unknown_fields)]
        pub struct $name {
            $( $(#[doc = $doc])+ $(#[schemars(range(min = $min, max = $max))])? pub $field: $type, )+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )+ }
            }
        }

        impl $name {
            /// Each key of the section with its documentation, in source order.
            pub(crate) const KEYS: &'static [(&'static str, &'static str)] =
                &[ $( (stringify!($field), concat!($($doc),+)), )+ ];

            /// Sets one key of the section; `None` if the key is unknown, an error if the value is
            /// invalid. The old value stays in both cases.
            pub(crate) fn set(
                &mut self,
                key: &str,
                node: &$crate::document::SpannedValue,
            ) -> Option<Result<(), $crate::section::ValueError>> {
                match key {
                    $( stringify!($field) => {
                        let limits: $crate::section::Limits = None$(.or(Some(($min as f64, $max as f64))))?;
                        let value = <$type as $crate::section::SettingValue>::read(node, limits);
                        Some(value.map(|value| $crate::section::SettingValue::merge(&mut self.$field, value)))
                    } )+
                    _ => None,
                }
            }
        }
    };
}

/// Declares an enum whose variants are named in settings files.
macro_rules! choices {
    (
        $(#[doc = $enum_doc:literal])+
        $name:ident { $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal, )+ }
    ) => {
        $(#[doc = $enum_doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, schemars::JsonSchema)]
        pub enum $name {
            $( $(#[doc = $doc])+ #[schemars(rename = $word)] $variant, )+
        }

        impl $name {
            /// Returns the name of this choice in settings files.
            pub fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }

            /// All choices, in documentation order.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];
        }

        impl $crate::section::SettingValue for $name {
            fn read(node: &$crate::document::SpannedValue, _: $crate::section::Limits) -> Result<Self, $crate::section::ValueError> {
                $crate::section::choice(node, &[ $( ($word, Self::$variant), )+ ])
            }
        }
    };
}

pub(crate) use {choices, section};
