//! Parses of short texts that are in no editor, to judge what an edit would make of a text.
//!
//! Must not know: trees of editors. Embedded languages are ignored.
//! Limitation: the position of the first error comes from the messages that tree-sitter logs, as
//! its tree does not tell it. Their form is tested.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use tree_sitter::{LogType, ParseState, Tree};

use crate::cursors::{return_parser, take_parser};
use crate::damage::{Damage, damage};
use crate::language::Language;
use crate::layers::set_up;
use crate::stall_guard;
use crate::tree::Budget;

/// A short text, parsed once.
pub struct TrialParse(Tree);

impl TrialParse {
    /// Parses `text` completely. Returns `None` if the budget is exhausted or parsing makes no
    /// progress.
    pub fn new(language: Language, text: &str, budget: &mut Budget<'_>) -> Option<Self> {
        let mut parser = take_parser();
        let bytes = text.as_bytes();
        let read = &mut |offset: usize, _| bytes.get(offset..).unwrap_or_default();
        let mut progress = |_: &ParseState| stop_if(budget.is_spent());
        let tree = set_up(&mut parser, language, &[])
            .then(|| stall_guard::parse(&mut parser, bytes.len(), read, None, &mut progress).ok());
        return_parser(parser);
        tree.flatten().map(Self)
    }

    /// Returns the syntax errors.
    pub fn damage(&self) -> Damage {
        damage(self.0.root_node())
    }

    /// Returns the round, square and curly brackets of `text`, which is the parsed text, with their
    /// offsets. Brackets in strings and comments are left out.
    pub fn brackets(&self, text: &str) -> Vec<(usize, char)> {
        let mut brackets = Vec::new();
        let mut cursor = self.0.walk();
        loop {
            let node = cursor.node();
            if cursor.goto_first_child() {
                continue;
            }
            // A named leaf is a name or a literal. One token may hold two brackets: `${`, `((`.
            let is_sign = !node.is_named() && !node.is_missing();
            if let Some(sign) = text.get(node.byte_range()).filter(|_| is_sign) {
                let found = sign.match_indices(['(', '[', '{', ')', ']', '}']);
                let found = found.filter_map(|(at, ch)| Some((at, ch.chars().next()?)));
                brackets.extend(found.map(|(at, ch)| (node.start_byte() + at, ch)));
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return brackets;
                }
            }
        }
    }
}

/// Returns the number of bytes at the start of `text` that the parser reads before it finds an
/// error, up to the end of a token: all of them if a correct text could begin with `text`. Returns
/// `None` if the budget is exhausted first or parsing makes no progress.
pub fn readable_bytes(language: Language, text: &str, budget: &mut Budget<'_>) -> Option<usize> {
    let mut parser = take_parser();
    let log = Rc::new(Cell::new(ParseLog::default()));
    let bytes = text.as_bytes();
    let read = &mut |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    let mut progress = |_: &ParseState| stop_if(budget.is_spent() || log.get().has_error);
    let is_set = set_up(&mut parser, language, &[]);
    let seen = log.clone();
    parser.set_logger(Some(Box::new(move |kind: LogType, message: &str| {
        if matches!(kind, LogType::Parse) {
            seen.set(seen.get().after(message));
        }
    })));
    let parsed = is_set
        .then(|| stall_guard::parse(&mut parser, bytes.len(), read, None, &mut progress).is_ok());
    parser.set_logger(None);
    return_parser(parser);
    let log = log.get();
    match parsed {
        Some(_) if log.has_error => Some(offset_of(text, log.furthest)),
        Some(true) => Some(text.len()),
        _ => None,
    }
}

/// Progress of a parse up to its first error.
#[derive(Clone, Copy, Debug, Default)]
struct ParseLog {
    /// End of the last token read, as row and column.
    furthest: (usize, usize),
    has_error: bool,
}

impl ParseLog {
    /// Returns the progress after a message of the parser.
    fn after(self, message: &str) -> Self {
        // The parser follows several readings at once. It resumes one of them in error recovery
        // when none is left without an error.
        if self.has_error || message.starts_with("resume version") {
            return Self {
                has_error: true,
                ..self
            };
        }
        let at = message
            .strip_prefix("process version")
            .and_then(|rest| Some((number_after(rest, "row:")?, number_after(rest, "col:")?)));
        Self {
            furthest: at.map_or(self.furthest, |at| self.furthest.max(at)),
            ..self
        }
    }
}

fn number_after(message: &str, label: &str) -> Option<usize> {
    let (_, rest) = message.split_once(label)?;
    let end = rest.find(|ch: char| !ch.is_ascii_digit());
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

/// Returns the offset of a row and a column in bytes.
fn offset_of(text: &str, (row, column): (usize, usize)) -> usize {
    let start = match row.checked_sub(1) {
        None => 0,
        Some(before) => text
            .match_indices('\n')
            .nth(before)
            .map_or(text.len(), |(at, _)| at + 1),
    };
    text.floor_char_boundary(start + column)
}

fn stop_if(is_over: bool) -> ControlFlow<()> {
    if is_over {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
