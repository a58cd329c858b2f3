//! Replacing matches: templates with groups, and the edits of a whole replacement.
//!
//! Start at `Replacement`.

use std::sync::atomic::AtomicBool;

use base::{Bias, Span};
use regex_automata::PatternID;
use text::{Edit, EditKind, LineEnding, SelectionSet, Snapshot};

use super::contiguous::{Groups, groups_of};
use super::engine::{Limit, Matcher};
use super::query::Pattern;
use crate::case::capitalised;
use crate::context::Plan;
use crate::draft::Draft;

/// Bytes around a match that anchors and word borders may look at when its groups are found again.
const MARGIN: usize = 16;

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
    /// A group by its number: one digit or two, as typed.
    Group(String),
    Name(String),
}

impl Replacement {
    /// Reads a template. With a regular expression `$1`, `${name}`, `$&`, `$$`, `\n`, `\t`, `\r` and
    /// `\\` mean something; a literal search takes every character as it is. Line feeds become
    /// `line_ending`.
    pub fn parse(
        template: &str,
        pattern: Pattern,
        letter_case: LetterCase,
        line_ending: LineEnding,
    ) -> Replacement {
        let mut parts = Parts {
            parts: Vec::new(),
            line_ending,
        };
        match pattern {
            Pattern::Literal => template.chars().for_each(|char| parts.push(char)),
            Pattern::Regex => parts.read(template),
        }
        Replacement {
            parts: parts.parts,
            letter_case,
        }
    }

    fn needs_groups(&self) -> bool {
        self.parts.iter().any(|part| !matches!(part, Part::Text(_)))
    }
}

/// The parts read so far.
struct Parts {
    parts: Vec<Part>,
    line_ending: LineEnding,
}

impl Parts {
    fn push(&mut self, char: char) {
        if !matches!(self.parts.last(), Some(Part::Text(_))) {
            self.parts.push(Part::Text(String::new()));
        }
        if let Some(Part::Text(text)) = self.parts.last_mut() {
            match char {
                '\n' if text.ends_with('\r') => text.push('\n'),
                '\n' => text.push_str(self.line_ending.as_str()),
                _ => text.push(char),
            }
        }
    }

    fn read(&mut self, template: &str) {
        let mut rest = template;
        while let Some(char) = rest.chars().next() {
            let behind = &rest[char.len_utf8()..];
            rest = match char {
                '\\' => self.escape(behind),
                '$' => self.group(behind),
                _ => {
                    self.push(char);
                    behind
                }
            };
        }
    }

    /// Reads behind a backslash; unknown escapes keep it.
    fn escape<'t>(&mut self, rest: &'t str) -> &'t str {
        let meant = match rest.chars().next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('\\') => '\\',
            _ => {
                self.push('\\');
                return rest;
            }
        };
        self.push(meant);
        &rest[1..]
    }

    /// Reads behind a dollar sign; what names no group keeps it.
    fn group<'t>(&mut self, rest: &'t str) -> &'t str {
        if let Some(behind) = rest.strip_prefix('$') {
            self.push('$');
            return behind;
        }
        if let Some(behind) = rest.strip_prefix('&') {
            self.parts.push(Part::Group("0".to_owned()));
            return behind;
        }
        let braced = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        if let Some((name, behind)) = braced
            && !name.is_empty()
        {
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            let name = name.to_owned();
            self.parts.push(if is_number {
                Part::Group(name)
            } else {
                Part::Name(name)
            });
            return behind;
        }
        let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            self.push('$');
            return rest;
        }
        self.parts.push(Part::Group(rest[..digits].to_owned()));
        &rest[digits..]
    }
}

impl Matcher {
    /// The edit that replaces one match.
    pub fn replace(&self, snapshot: &Snapshot, found: Span, replacement: &Replacement) -> Edit {
        let groups = match replacement.needs_groups() {
            true => self.groups(snapshot, found),
            false => Groups::default(),
        };
        Edit::new(
            found,
            self.expand(&snapshot.text(found), &groups, replacement),
        )
    }

    /// The plan that replaces every match within some spans; `None` when cancelled. The selections
    /// follow their text.
    pub fn replace_all(
        &self,
        snapshot: &Snapshot,
        selections: &SelectionSet,
        within: &[Span],
        replacement: &Replacement,
        cancel: &AtomicBool,
    ) -> Option<Plan> {
        let found = self.find_all(snapshot, within, Limit(usize::MAX), cancel);
        if !found.is_complete {
            return None;
        }
        let mut draft = Draft::new();
        for span in found.spans {
            let edit = self.replace(snapshot, span, replacement);
            draft.push(edit.span, edit.text);
        }
        let selections = draft.map_selections(selections, Bias::Left, Bias::Right, Bias::Right);
        Some(draft.into_plan(selections, EditKind::Other))
    }

    fn groups(&self, snapshot: &Snapshot, found: Span) -> Groups {
        let start = snapshot.clip(found.start - MARGIN, Bias::Left);
        let end = snapshot.clip((found.end + MARGIN).min(snapshot.len()), Bias::Right);
        let around = snapshot.text(Span::new(start, end));
        let range = found.start - start..found.end - start;
        groups_of(self.regex(), &around, range, |input, captures| {
            self.regex().search_captures(input, captures);
        })
    }

    /// What replaces a match: the template filled with its groups, in the letters that are asked for.
    pub fn expand(&self, found: &str, groups: &Groups, replacement: &Replacement) -> String {
        let mut text = String::new();
        for part in &replacement.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Name(name) => {
                    let number = self.regex().group_info().to_index(PatternID::ZERO, name);
                    text.push_str(group(found, groups, number.unwrap_or(usize::MAX)));
                }
                Part::Group(digits) => {
                    let (number, rest) = group_number(self.regex().captures_len(), digits);
                    match number {
                        Some(number) => text.push_str(group(found, groups, number)),
                        None => text.push('$'),
                    }
                    text.push_str(rest);
                }
            }
        }
        match replacement.letter_case {
            LetterCase::AsTyped => text,
            LetterCase::LikeMatch => like(found, &text),
        }
    }
}

/// The text of a group; empty where the pattern has no such group or it took no part in the match.
fn group<'t>(found: &'t str, groups: &Groups, number: usize) -> &'t str {
    match number {
        0 => found,
        _ => groups
            .get(number)
            .flatten()
            .and_then(|range| found.get(range))
            .unwrap_or_default(),
    }
}

/// The group that typed digits name, and the digits that do not belong to it: `$12` is the first
/// group and a `2` where there are fewer than twelve groups. `count` is one more than there are groups.
fn group_number(count: usize, digits: &str) -> (Option<usize>, &str) {
    let exists = |number: &usize| *number < count;
    if let Some(number) = digits.parse().ok().filter(exists) {
        return (Some(number), "");
    }
    match digits
        .get(..1)
        .and_then(|first| first.parse().ok())
        .filter(exists)
    {
        Some(number) if digits.len() == 2 && number > 0 => (Some(number), &digits[1..]),
        _ => (None, digits),
    }
}

/// The replacement in the letters of the match; parts joined by `-` or `_` one by one where both
/// have as many.
fn like(found: &str, text: &str) -> String {
    for glue in ['-', '_'] {
        let (found_parts, parts): (Vec<&str>, Vec<&str>) =
            (found.split(glue).collect(), text.split(glue).collect());
        if found_parts.len() > 1 && found_parts.len() == parts.len() {
            let pairs = found_parts.iter().zip(parts);
            let spelt: Vec<String> = pairs.map(|(found, part)| like(found, part)).collect();
            return spelt.join(&glue.to_string());
        }
    }
    let has_letters = found.chars().any(char::is_alphabetic);
    if !has_letters {
        return text.to_owned();
    }
    let has_upper = found.chars().any(char::is_uppercase);
    let has_lower = found.chars().any(char::is_lowercase);
    let mut chars = text.chars();
    match (has_upper, has_lower) {
        (true, false) => text.to_uppercase(),
        (false, _) => text.to_lowercase(),
        (true, true) if found.chars().next().is_some_and(char::is_uppercase) => {
            let is_title = found == capitalised(found);
            let first: String = chars
                .next()
                .into_iter()
                .flat_map(char::to_uppercase)
                .collect();
            match is_title {
                true => first + &chars.as_str().to_lowercase(),
                false => first + chars.as_str(),
            }
        }
        (true, true) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
