//! Settings sections: documented keys with default, type and range.
//!
//! `section!` declares a section once; the struct, its default, its parser, its key list and its
//! JSON schema are derived from it. `choices!` does the same for a setting with named choices.

use crate::document::{NodeValue, SpannedValue};
use crate::suggest;

/// Documentation of a setting.
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

/// A type of setting values.
pub(crate) trait SettingValue: Sized {
    /// Parses the value; the error describes the expected form.
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, String>;
}

impl SettingValue for bool {
    fn read(node: &SpannedValue, _: Limits) -> Result<Self, String> {
        match node.value {
            NodeValue::Bool(value) => Ok(value),
            _ => Err(expected("true or false", node)),
        }
    }
}

impl SettingValue for String {
    fn read(node: &SpannedValue, _: Limits) -> Result<Self, String> {
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
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, String> {
        number(node, limits).map(|value| value as f32)
    }
}

impl SettingValue for u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and in range"
    )]
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, String> {
        let value = number(node, limits.or(Some((0.0, f64::from(u32::MAX)))))?;
        if value.fract() == 0.0 {
            Ok(value as u32)
        } else {
            Err(format!("expected a whole number, found {value}"))
        }
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    /// The limits apply to each element.
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, String> {
        match &node.value {
            NodeValue::Array(nodes) => nodes.iter().map(|node| T::read(node, limits)).collect(),
            _ => Err(expected("a list", node)),
        }
    }
}

fn number(node: &SpannedValue, limits: Limits) -> Result<f64, String> {
    let NodeValue::Number(value) = node.value else {
        return Err(expected("a number", node));
    };
    match limits {
        Some((min, max)) if !(min..=max).contains(&value) => Err(format!(
            "{value} is out of range: choose a number from {min} to {max}"
        )),
        _ => Ok(value),
    }
}

/// Parses one of several named choices.
pub(crate) fn choice<T: Copy>(
    node: &SpannedValue,
    choices: &[(&'static str, T)],
) -> Result<T, String> {
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
            None => Err(format!(
                "\"{text}\" is not one of {}{}",
                list(),
                suggest::hint(text, words())
            )),
        },
        _ => Err(expected(&format!("one of {}", list()), node)),
    }
}

fn expected(what: &str, node: &SpannedValue) -> String {
    format!("expected {what}, found {}", node.kind())
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
            /// Each key with its documentation.
            pub(crate) const KEYS: &'static [(&'static str, &'static str)] =
                &[ $( (stringify!($field), concat!($($doc),+)), )+ ];

            /// Sets one key; `None` if the key is unknown, an error if the value is invalid.
            pub(crate) fn set(
                &mut self,
                key: &str,
                node: &$crate::document::SpannedValue,
            ) -> Option<Result<(), String>> {
                match key {
                    $( stringify!($field) => {
                        let limits: $crate::section::Limits = None$(.or(Some(($min as f64, $max as f64))))?;
                        let value = <$type as $crate::section::SettingValue>::read(node, limits);
                        Some(value.map(|value| self.$field = value))
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
            fn read(node: &$crate::document::SpannedValue, _: $crate::section::Limits) -> Result<Self, String> {
                $crate::section::choice(node, &[ $( ($word, Self::$variant), )+ ])
            }
        }
    };
}

pub(crate) use {choices, section};
