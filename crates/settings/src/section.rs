//! What a section of the settings is made of: documented keys with a default, a type and a range.
//!
//! `section!` declares a section once; the struct, its default, its reader, its list of keys and its JSON
//! schema all come from that one table. `choices!` does the same for a setting with a few words to pick from.

use crate::document::{Node, NodeValue};
use crate::suggest;

/// A setting as the manual and the settings palette show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// The object it stands in, for instance `editor`.
    pub section: &'static str,
    /// Its name there, for instance `tab_size`.
    pub name: &'static str,
    /// What it does, in the words of the manual.
    pub doc: &'static str,
}

/// Where a setting is written: `["editor", "tab_size"]` or `["languages", "Rust", "tab_size"]`.
pub type KeyPath = Vec<String>;

/// Smallest and largest number allowed.
pub(crate) type Limits = Option<(f64, f64)>;

/// A type that a setting may have.
pub(crate) trait SettingValue: Sized {
    /// The value, or a sentence about what was expected.
    fn read(node: &Node, limits: Limits) -> Result<Self, String>;
}

impl SettingValue for bool {
    fn read(node: &Node, _: Limits) -> Result<Self, String> {
        match node.value {
            NodeValue::Bool(value) => Ok(value),
            _ => Err(expected("true or false", node)),
        }
    }
}

impl SettingValue for String {
    fn read(node: &Node, _: Limits) -> Result<Self, String> {
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
    fn read(node: &Node, limits: Limits) -> Result<Self, String> {
        number(node, limits).map(|value| value as f32)
    }
}

impl SettingValue for u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and in range"
    )]
    fn read(node: &Node, limits: Limits) -> Result<Self, String> {
        let value = number(node, limits.or(Some((0.0, f64::from(u32::MAX)))))?;
        if value.fract() == 0.0 {
            Ok(value as u32)
        } else {
            Err(format!("expected a whole number, found {value}"))
        }
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    /// The limits hold for each element.
    fn read(node: &Node, limits: Limits) -> Result<Self, String> {
        match &node.value {
            NodeValue::Array(nodes) => nodes.iter().map(|node| T::read(node, limits)).collect(),
            _ => Err(expected("a list", node)),
        }
    }
}

fn number(node: &Node, limits: Limits) -> Result<f64, String> {
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

/// One of a few words.
pub(crate) fn choice<T: Copy>(node: &Node, choices: &[(&'static str, T)]) -> Result<T, String> {
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

fn expected(what: &str, node: &Node) -> String {
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
            /// Each key and what it does.
            pub(crate) const KEYS: &'static [(&'static str, &'static str)] =
                &[ $( (stringify!($field), concat!($($doc),+)), )+ ];

            /// Sets one key; `None` when there is no such key, an error when the value does not fit.
            pub(crate) fn set(
                &mut self,
                key: &str,
                node: &$crate::document::Node,
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

/// Declares an enum whose variants are words in a settings file.
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
            /// The word for this choice in a settings file.
            pub fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }

            /// Every choice, in the order of the manual.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];
        }

        impl $crate::section::SettingValue for $name {
            fn read(node: &$crate::document::Node, _: $crate::section::Limits) -> Result<Self, String> {
                $crate::section::choice(node, &[ $( ($word, Self::$variant), )+ ])
            }
        }
    };
}

pub(crate) use {choices, section};
