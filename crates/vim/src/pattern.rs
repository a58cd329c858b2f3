//! Patterns in Vim's dialect, run by the editor's own search engine.
//!
//! Lookaround, back references and positions such as `\%V` are refused with a sentence.
//! Start at `Pattern::compile`.

mod collection;
mod replacement;
mod translate;

use base::{ByteOffset, Span};
use caret::find::{CaseMatching, FindQuery, Matcher, PatternKind, WordBounds};
use text::Snapshot;

use crate::error::{Done, Error};
use crate::options::VimOptions;

pub(crate) use replacement::{Replacement, resolve_tilde};

/// Settings of a pattern outside its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternContext<'a> {
    pub(crate) ignore_case: bool,
    pub(crate) smart_case: bool,
    /// The text that `~` matches: the last replacement.
    pub(crate) last_replacement: &'a str,
}

impl<'a> PatternContext<'a> {
    pub(crate) fn of(options: &VimOptions, last_replacement: &'a str) -> Self {
        Self {
            ignore_case: options.ignore_case,
            smart_case: options.smart_case,
            last_replacement,
        }
    }
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    query: FindQuery,
    matcher: Matcher,
    /// Number in the engine of each group, the first at index 0.
    groups: Vec<usize>,
    /// Group in the engine at whose start the match begins (`\zs`).
    start: Option<usize>,
    /// Group in the engine at whose start the match ends (`\ze`).
    end: Option<usize>,
    /// Whether a match can span lines.
    is_multi_line: bool,
}

/// A match: the text found by the engine, and the part between `\zs` and `\ze`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PatternMatch {
    pub(crate) full: Span,
    pub(crate) span: Span,
}

impl Pattern {
    pub(crate) fn compile(source: &str, context: PatternContext) -> Done<Pattern> {
        let translation = translate::translate(source, context.last_replacement)?;
        let by_options = context.ignore_case && !(context.smart_case && translation.has_capital);
        let ignores = translation.ignore_case.unwrap_or(by_options);
        let query = FindQuery {
            text: translation.regex,
            pattern: PatternKind::Regex,
            case: if ignores {
                CaseMatching::Insensitive
            } else {
                CaseMatching::Sensitive
            },
            words: WordBounds::Anywhere,
        };
        let matcher = query
            .compile()
            .map_err(|failed| Error::Pattern(format!("cannot search for {source:?}: {failed}")))?;
        Ok(Pattern {
            query,
            matcher,
            groups: translation.groups,
            start: translation.start,
            end: translation.end,
            is_multi_line: translation.is_multi_line,
        })
    }

    /// The query for the host, which highlights matches with it.
    pub(crate) fn query(&self) -> &FindQuery {
        &self.query
    }

    /// Whether a match can span lines.
    pub(crate) fn is_multi_line(&self) -> bool {
        self.is_multi_line
    }

    /// The matches within a span, in order and without overlaps.
    pub(crate) fn matches<'a>(
        &'a self,
        text: &'a Snapshot,
        within: Span,
    ) -> impl Iterator<Item = PatternMatch> + 'a {
        let found = self.matcher.matches(text, within);
        let found = found.filter(|full| !splits_character(text, *full));
        found.map(|full| self.trimmed(text, full))
    }

    /// The first match that starts at or after an offset and ends within the text.
    pub(crate) fn first_from(&self, text: &Snapshot, from: ByteOffset) -> Option<PatternMatch> {
        self.matches(text, Span::new(from, text.len())).next()
    }

    /// The texts of the whole match (0) and of the groups 1 to 9.
    pub(crate) fn group_texts(&self, text: &Snapshot, found: &PatternMatch) -> Vec<String> {
        let mut texts = vec![text.text(found.span).into_owned()];
        if self.groups.is_empty() {
            return texts;
        }
        let groups = self.matcher.groups(text, found.full);
        for number in &self.groups {
            let range = groups.get(*number).flatten();
            let span = range.map(|range| {
                Span::new(found.full.start + range.start, found.full.start + range.end)
            });
            texts.push(
                span.map(|span| text.text(span).into_owned())
                    .unwrap_or_default(),
            );
        }
        texts
    }

    fn trimmed(&self, text: &Snapshot, full: Span) -> PatternMatch {
        if self.start.is_none() && self.end.is_none() {
            return PatternMatch { full, span: full };
        }
        let groups = self.matcher.groups(text, full);
        let at = |group: Option<usize>| {
            let range = groups.get(group?).flatten()?;
            Some(full.start + range.start)
        };
        let start = at(self.start).unwrap_or(full.start);
        let end = at(self.end).unwrap_or(full.end).max(start);
        PatternMatch {
            full,
            span: Span { start, end },
        }
    }
}

/// Whether a match ends before a mark that combines with its last character, as in Vim.
fn splits_character(text: &Snapshot, found: Span) -> bool {
    let next = text.chars_at(found.end).next();
    let is_mark = next.is_some_and(|char| !char.is_ascii() && crate::chars::cells(char, 0, 1) == 0);
    is_mark && !found.is_empty()
}

#[cfg(test)]
mod tests;
