//! The replacement of `:s`: groups, case and line breaks.
//!
//! Start at `Replacement::parse`.

use crate::error::{Done, Error};

/// A parsed replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    parts: Vec<ReplacementPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ReplacementPart {
    Char(char),
    /// The whole match (0) or a group.
    Group(usize),
    /// A line break.
    Break,
    Case(CaseSwitch),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseSwitch {
    NextUpper,
    NextLower,
    Upper,
    Lower,
    AsTyped,
}

/// Replaces each `~` that is not escaped by the previous replacement.
pub(crate) fn resolve_tilde(source: &str, previous: &str) -> String {
    let mut resolved = String::new();
    let mut chars = source.chars();
    while let Some(char) = chars.next() {
        match char {
            '~' => resolved.push_str(previous),
            '\\' => match chars.next() {
                Some('~') => resolved.push('~'),
                Some(next) => resolved.extend(['\\', next]),
                None => resolved.push('\\'),
            },
            _ => resolved.push(char),
        }
    }
    resolved
}

impl Replacement {
    /// Parses a replacement whose `~` are resolved.
    ///
    /// Fails for an expression (`\=`).
    pub(crate) fn parse(source: &str) -> Done<Replacement> {
        if source.starts_with("\\=") {
            let message = "expressions (\\=) are not supported in a replacement";
            return Err(Error::Unsupported(message.to_owned()));
        }
        let mut parts = Vec::new();
        let mut chars = source.chars();
        while let Some(char) = chars.next() {
            parts.push(match char {
                '&' => ReplacementPart::Group(0),
                '\r' => ReplacementPart::Break,
                '\\' => escape(chars.next()),
                _ => ReplacementPart::Char(char),
            });
        }
        Ok(Replacement { parts })
    }

    /// Returns the text for a match with its groups, the whole match first.
    pub(crate) fn expand(&self, groups: &[String]) -> String {
        let mut out = CasedText::default();
        for part in &self.parts {
            match part {
                ReplacementPart::Char(char) => out.push(*char),
                ReplacementPart::Break => out.text.push('\n'),
                ReplacementPart::Group(number) => {
                    let group = groups.get(*number).map_or("", String::as_str);
                    group.chars().for_each(|char| out.push(char));
                }
                ReplacementPart::Case(switch) => out.switch(*switch),
            }
        }
        out.text
    }
}

fn escape(char: Option<char>) -> ReplacementPart {
    match char {
        None => ReplacementPart::Char('\\'),
        Some('0'..='9') => {
            let digit = char.and_then(|char| char.to_digit(10)).unwrap_or(0);
            ReplacementPart::Group(digit as usize)
        }
        Some('n') => ReplacementPart::Char('\0'),
        Some('r') => ReplacementPart::Break,
        Some('t') => ReplacementPart::Char('\t'),
        Some('b') => ReplacementPart::Char('\u{8}'),
        Some('u') => ReplacementPart::Case(CaseSwitch::NextUpper),
        Some('l') => ReplacementPart::Case(CaseSwitch::NextLower),
        Some('U') => ReplacementPart::Case(CaseSwitch::Upper),
        Some('L') => ReplacementPart::Case(CaseSwitch::Lower),
        Some('e' | 'E') => ReplacementPart::Case(CaseSwitch::AsTyped),
        Some(char) => ReplacementPart::Char(char),
    }
}

/// A text under construction whose case is switched on the way.
#[derive(Default)]
struct CasedText {
    text: String,
    lasting: Option<CaseSwitch>,
    next: Option<CaseSwitch>,
}

impl CasedText {
    fn switch(&mut self, switch: CaseSwitch) {
        match switch {
            CaseSwitch::NextUpper | CaseSwitch::NextLower => self.next = Some(switch),
            CaseSwitch::Upper | CaseSwitch::Lower => self.lasting = Some(switch),
            CaseSwitch::AsTyped => {
                self.lasting = None;
                self.next = None;
            }
        }
    }

    fn push(&mut self, char: char) {
        match self.next.take().or(self.lasting) {
            Some(CaseSwitch::Upper | CaseSwitch::NextUpper) => {
                self.text.extend(char.to_uppercase());
            }
            Some(CaseSwitch::Lower | CaseSwitch::NextLower) => {
                self.text.extend(char.to_lowercase());
            }
            _ => self.text.push(char),
        }
    }
}
