//! Replacing matches: templates with groups, and the edits of a whole replacement.
//!
//! Start at `Replacement`.

use std::sync::atomic::AtomicBool;

use base::Span;
use text::{Edit, LineEnding, SelectionSet, Snapshot};

use super::engine::Matcher;
use super::query::Pattern;
use crate::context::Plan;

/// What becomes of the letters of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LetterCase {
    /// They stay as they were typed.
    AsTyped,
    /// They follow the match: all capitals, a capital first, or all small.
    LikeMatch,
}

/// A replacement, ready to be filled in for each match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    parts: Vec<Part>,
    letter_case: LetterCase,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Group(usize),
    Name(String),
}

impl Replacement {
    /// Reads a template. With a regular expression `$1`, `${name}`, `$$`, `\n`, `\t`, `\r` and `\\`
    /// mean something; a literal search takes every character as it is. Line feeds become `line_ending`.
    pub fn parse(
        template: &str,
        pattern: Pattern,
        letter_case: LetterCase,
        line_ending: LineEnding,
    ) -> Replacement {
        todo!()
    }
}

impl Matcher {
    /// The edit that replaces one match.
    pub fn replace(&self, snapshot: &Snapshot, found: Span, replacement: &Replacement) -> Edit {
        todo!()
    }

    /// The plan that replaces every match within some spans; `None` when cancelled.
    pub fn replace_all(
        &self,
        snapshot: &Snapshot,
        selections: &SelectionSet,
        within: &[Span],
        replacement: &Replacement,
        cancel: &AtomicBool,
    ) -> Option<Plan> {
        todo!()
    }
}
