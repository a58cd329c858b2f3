//! Replaces matches: templates with groups, and the edits of a whole replacement.
//!
//! Start at `ReplacementTemplate`.

use std::sync::atomic::AtomicBool;

use base::{Bias, Span};
use regex_automata::PatternID;
use text::{Edit, EditKind, LineEnding, SelectionSet, Snapshot};

use super::contiguous::{Groups, groups_of};
use super::engine::{MatchLimit, Matcher};
use super::query::PatternKind;
use crate::case::capitalised;
use crate::context::CaretPlan;
use crate::draft::EditDraft;

/// Bytes around a match visible to anchors and word borders when its groups are matched again.
const MARGIN: usize = 16;

/// Case of inserted replacement text: as typed, or like each match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LetterCase {
    /// Use the case typed in the template.
    AsTyped,
    /// Like the match: all upper case, capitalised, or all lower case.
    LikeMatch,
}

/// A parsed replacement template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacementTemplate {
    parts: Vec<TemplatePart>,
    letter_case: LetterCase,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    /// A group by its number: one digit or two, as typed.
    Group(String),
    Name(String),
}

impl ReplacementTemplate {
    /// Parses a template. With a regular expression, `$1`, `${name}`, `$&`, `$$`, `\n`, `\t`, `\r`
    /// and `\\` are special; a literal search has no special characters. Line feeds become
    /// `line_ending`.
    pub fn parse(
        template: &str,
        pattern: PatternKind,
        letter_case: LetterCase,
        line_ending: LineEnding,
    ) -> ReplacementTemplate {
        let mut parts = TemplateBuilder {
            parts: Vec::new(),
            line_ending,
        };
        match pattern {
            PatternKind::Literal => template.chars().for_each(|char| parts.push(char)),
            PatternKind::Regex => parts.read(template),
        }
        ReplacementTemplate {
            parts: parts.parts,
            letter_case,
        }
    }

    /// Returns whether the replacement contains groups of the match, so that they have to be found.
    fn needs_groups(&self) -> bool {
        self.parts
            .iter()
            .any(|part| !matches!(part, TemplatePart::Text(_)))
    }
}

/// Parser state: the parts parsed so far.
struct TemplateBuilder {
    parts: Vec<TemplatePart>,
    line_ending: LineEnding,
}

impl TemplateBuilder {
    fn push(&mut self, char: char) {
        if !matches!(self.parts.last(), Some(TemplatePart::Text(_))) {
            self.parts.push(TemplatePart::Text(String::new()));
        }
        if let Some(TemplatePart::Text(text)) = self.parts.last_mut() {
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

    /// Parses an escape after a backslash; unknown escapes are kept.
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

    /// Parses a group after a dollar sign; other text is kept.
    fn group<'t>(&mut self, rest: &'t str) -> &'t str {
        if let Some(behind) = rest.strip_prefix('$') {
            self.push('$');
            return behind;
        }
        if let Some(behind) = rest.strip_prefix('&') {
            self.parts.push(TemplatePart::Group("0".to_owned()));
            return behind;
        }
        let braced = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        if let Some((name, behind)) = braced
            && !name.is_empty()
        {
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            let name = name.to_owned();
            self.parts.push(if is_number {
                TemplatePart::Group(name)
            } else {
                TemplatePart::Name(name)
            });
            return behind;
        }
        let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            self.push('$');
            return rest;
        }
        self.parts
            .push(TemplatePart::Group(rest[..digits].to_owned()));
        &rest[digits..]
    }
}

impl Matcher {
    /// Returns the edit that replaces `found`, which must be a match of this matcher, by the
    /// expanded template.
    pub fn replace(
        &self,
        snapshot: &Snapshot,
        found: Span,
        replacement: &ReplacementTemplate,
    ) -> Edit {
        let groups = if replacement.needs_groups() {
            self.groups(snapshot, found)
        } else {
            Groups::default()
        };
        Edit::new(
            found,
            self.expand(&snapshot.text(found), &groups, replacement),
        )
    }

    /// Plans the replacement of every match within some spans as one step, and maps the selections
    /// through the edits. Returns `None` if cancelled. Takes time proportional to the text.
    pub fn replace_all(
        &self,
        snapshot: &Snapshot,
        selections: &SelectionSet,
        within: &[Span],
        replacement: &ReplacementTemplate,
        cancel: &AtomicBool,
    ) -> Option<CaretPlan> {
        let found = self.find_all(snapshot, within, MatchLimit(usize::MAX), cancel);
        if !found.is_complete {
            return None;
        }
        let mut draft = EditDraft::new();
        for span in found.spans {
            let edit = self.replace(snapshot, span, replacement);
            draft.push(edit.span, edit.text);
        }
        let selections = draft.map_selections(selections, Bias::Left, Bias::Right, Bias::Right);
        Some(draft.into_plan(selections, EditKind::Other))
    }

    /// Returns the capture groups of `found`, which must be a match of this matcher. A literal
    /// search has no groups.
    pub fn groups(&self, snapshot: &Snapshot, found: Span) -> Groups {
        let start = snapshot.clip(found.start - MARGIN, Bias::Left);
        let end = snapshot.clip((found.end + MARGIN).min(snapshot.len()), Bias::Right);
        let around = snapshot.text(Span::new(start, end));
        let range = found.start - start..found.end - start;
        groups_of(self.regex(), &around, range, |input, captures| {
            self.regex().search_captures(input, captures);
        })
    }

    /// Returns the replacement text for a match with the text `found` and these capture groups, in
    /// the requested case. Unknown groups are empty.
    pub fn expand(
        &self,
        found: &str,
        groups: &Groups,
        replacement: &ReplacementTemplate,
    ) -> String {
        let mut text = String::new();
        for part in &replacement.parts {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Name(name) => {
                    let number = self.regex().group_info().to_index(PatternID::ZERO, name);
                    text.push_str(group(found, groups, number.unwrap_or(usize::MAX)));
                }
                TemplatePart::Group(digits) => {
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
            LetterCase::LikeMatch => match_letter_case(found, &text),
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

/// Applies the case of the match to the replacement; part by part if both have the same number of
/// parts joined by `-` or `_`.
fn match_letter_case(found: &str, text: &str) -> String {
    for glue in ['-', '_'] {
        let (found_parts, parts): (Vec<&str>, Vec<&str>) =
            (found.split(glue).collect(), text.split(glue).collect());
        if found_parts.len() > 1 && found_parts.len() == parts.len() {
            let pairs = found_parts.iter().zip(parts);
            let spelt: Vec<String> = pairs
                .map(|(found, part)| match_letter_case(found, part))
                .collect();
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
            if is_title {
                first + &chars.as_str().to_lowercase()
            } else {
                first + chars.as_str()
            }
        }
        (true, true) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
