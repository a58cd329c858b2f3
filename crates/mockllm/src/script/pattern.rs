//! Text patterns of rules, and the values they capture.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

/// Values that named groups captured from a request, by name of the group.
pub(crate) type Captures = BTreeMap<String, String>;

/// A pattern for a text, written `{"contains": "…"}`, `{"equals": "…"}` or `{"regex": "…"}`; the
/// named groups of a regular expression are values for the reply.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextPattern {
    /// The text contains this one.
    Contains(String),
    /// The text is this one, apart from white space at both ends.
    Equals(String),
    /// The expression matches somewhere; `(?i)` at its start ignores case.
    Regex(Expression),
}

/// A regular expression, compiled when the script is parsed.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Expression(Regex);

/// A pattern for a name; `*` matches any run of characters.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub struct NamePattern(String);

/// A regular expression that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the regular expression {text:?} cannot be read: {reason}")]
pub struct ExpressionError {
    /// The expression as written.
    pub text: String,
    /// The last line of the compiler's message.
    pub reason: String,
}

impl TryFrom<String> for Expression {
    type Error = ExpressionError;

    fn try_from(text: String) -> Result<Self, ExpressionError> {
        // The library's error spans several lines; only the last one names the problem.
        Regex::new(&text).map(Self).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ").to_owned();
            ExpressionError { text, reason }
        })
    }
}

impl From<String> for NamePattern {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl TextPattern {
    /// Returns whether the text matches. If it matches, adds the values of named groups to
    /// `captures`.
    pub(crate) fn matches(&self, text: &str, captures: &mut Captures) -> bool {
        match self {
            Self::Contains(wanted) => text.contains(wanted),
            Self::Equals(wanted) => text.trim() == wanted.trim(),
            Self::Regex(Expression(regex)) => {
                let Some(found) = regex.captures(text) else {
                    return false;
                };
                for name in regex.capture_names().flatten() {
                    if let Some(value) = found.name(name) {
                        captures.insert(name.to_owned(), value.as_str().to_owned());
                    }
                }
                true
            }
        }
    }

    /// Returns the names of the groups that the pattern can capture. Only regular expressions have
    /// such groups.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::Regex(Expression(regex)) => {
                regex.capture_names().flatten().map(str::to_owned).collect()
            }
            Self::Contains(_) | Self::Equals(_) => Vec::new(),
        }
    }
}

impl NamePattern {
    /// Returns whether the whole name matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
            return false;
        };
        let Some(last) = self.0.contains('*').then(|| parts.next_back()).flatten() else {
            return rest.is_empty();
        };
        for part in parts {
            let Some(at) = rest.find(part) else {
                return false;
            };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }
}
