//! Transforms: a regular expression whose matches are replaced.

use std::ops::Range;

use caret::find::{CaseMatching, FindQuery, Matcher, PatternKind, Searcher, WordBounds};

use crate::format::{self, FormatPart, GroupChange};

/// A transform `regex/format/options`.
///
/// The expression has the syntax of the find bar. One that does not compile, such as one with
/// lookahead, leaves the text unchanged.
#[derive(Clone, Debug)]
pub(crate) struct Transform {
    matcher: Option<Matcher>,
    format: Vec<FormatPart>,
    /// Option `g`: all matches are replaced, not only the first.
    is_global: bool,
}

impl Transform {
    /// Parses `regex/format/options}`. Returns the length read in bytes, with the brace.
    pub(crate) fn parse(text: &str) -> Option<(Self, usize)> {
        let regex = expression_len(text)?;
        let (format, len) = format::parse(&text[regex + 1..])?;
        let options_at = regex + 1 + len;
        let end = text[options_at..].find('}')?;
        let options = &text[options_at..options_at + end];
        if !options.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let transform = Self {
            matcher: matcher(&text[..regex], options),
            format,
            is_global: options.contains('g'),
        };
        Some((transform, options_at + end + 1))
    }

    /// Returns `text` with its matches replaced. A text without a match takes the alternatives of
    /// the format (`${1:-else}`), if there are any.
    pub(crate) fn apply(&self, text: &str) -> String {
        let Some(matcher) = &self.matcher else {
            return text.to_owned();
        };
        let limit = if self.is_global { usize::MAX } else { 1 };
        let mut searcher = Searcher::new(matcher);
        let matches: Vec<Range<usize>> = searcher.matches(text).take(limit).collect();
        if matches.is_empty() && self.has_alternative() {
            return self.replacement(|_| None);
        }
        let mut replaced = String::new();
        let mut end = 0;
        for found in matches {
            replaced.push_str(&text[end..found.start]);
            let groups = searcher.matches(text).groups(found.clone());
            replaced.push_str(&self.replacement(|number| {
                let range = match number {
                    0 => 0..found.len(),
                    number => groups.get(number)??,
                };
                text.get(found.start + range.start..found.start + range.end)
            }));
            end = found.end;
        }
        replaced + &text[end..]
    }

    fn has_alternative(&self) -> bool {
        let is_alternative = |part: &FormatPart| match part {
            FormatPart::Group(_, GroupChange::Conditional(_, otherwise)) => !otherwise.is_empty(),
            FormatPart::Group(..) | FormatPart::Text(_) => false,
        };
        self.format.iter().any(is_alternative)
    }

    /// Returns the format with the texts of the groups.
    fn replacement<'a>(&self, group: impl Fn(usize) -> Option<&'a str>) -> String {
        let parts = self.format.iter().map(|part| match part {
            FormatPart::Text(text) => text.clone(),
            FormatPart::Group(number, change) => change.apply(group(*number)),
        });
        parts.collect()
    }
}

/// Returns the length of an expression that ends before an unescaped `/`.
fn expression_len(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'/' => return Some(at),
            _ => {}
        }
    }
    None
}

fn matcher(expression: &str, options: &str) -> Option<Matcher> {
    let mut flags: String = options.chars().filter(|ch| "ms".contains(*ch)).collect();
    if !flags.is_empty() {
        flags = format!("(?{flags})");
    }
    let query = FindQuery {
        text: flags + &expression.replace("\\/", "/"),
        pattern: PatternKind::Regex,
        case: if options.contains('i') {
            CaseMatching::Insensitive
        } else {
            CaseMatching::Sensitive
        },
        words: WordBounds::Anywhere,
    };
    query.compile().ok()
}

#[cfg(test)]
mod tests;
