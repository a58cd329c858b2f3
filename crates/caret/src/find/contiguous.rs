//! Matches in contiguous text, for searches through files.
//!
//! Invariant: the same matches as `Matcher::matches` finds in a snapshot of the text.
//! Start at `Searcher::matches`.

use std::ops::Range;

use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input, meta};

use super::engine::Matcher;

/// Searcher with its own scratch space, so that threads sharing a pattern do not wait for each
/// other.
pub struct Searcher {
    matcher: Matcher,
    cache: meta::Cache,
}

/// Capture groups of a match by number, as byte ranges of the match; excludes the whole match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups(Vec<Option<Range<usize>>>);

impl Groups {
    /// Returns the bytes of the group with a number from 1 on, relative to the match. Returns `None`
    /// if the pattern has no such group, and `Some(None)` if it took no part in the match.
    pub fn get(&self, number: usize) -> Option<Option<Range<usize>>> {
        self.0.get(number.checked_sub(1)?).cloned()
    }

    fn of(captures: &Captures, start: usize) -> Self {
        let groups = (1..captures.group_len()).map(|number| {
            let group = captures.get_group(number)?;
            Some(group.start.checked_sub(start)?..group.end.checked_sub(start)?)
        });
        Self(groups.collect())
    }
}

impl Searcher {
    /// Creates a searcher for a matcher, with its own caches; create one per thread.
    pub fn new(matcher: &Matcher) -> Self {
        Self {
            matcher: matcher.clone(),
            cache: matcher.regex().create_cache(),
        }
    }

    /// Iterates over the matches in a string, sorted and disjoint. No empty match touches the end
    /// of the previous match or lies within `\r\n`.
    pub fn matches<'a>(&'a mut self, text: &'a str) -> TextMatches<'a> {
        TextMatches {
            searcher: self,
            text,
            at: 0,
            last_end: None,
        }
    }
}

/// Iterator over the byte ranges of the matches in a string.
pub struct TextMatches<'a> {
    searcher: &'a mut Searcher,
    text: &'a str,
    /// Offset at which the next search starts.
    at: usize,
    last_end: Option<usize>,
}

impl TextMatches<'_> {
    /// Skips matches that start before `offset`, which must be a char boundary. Does nothing if the
    /// iterator is already past `offset`.
    pub fn skip_to(&mut self, offset: usize) {
        self.at = self.at.max(offset);
    }

    /// Returns the capture groups of `found`, which must be a match in this text. A literal search
    /// has no groups.
    pub fn groups(&mut self, found: Range<usize>) -> Groups {
        let Searcher { matcher, cache } = &mut *self.searcher;
        let regex = matcher.regex();
        groups_of(regex, self.text, found, |input, captures| {
            regex.search_captures_with(cache, input, captures);
        })
    }

    /// Returns whether `at` is between the two characters of a line ending.
    fn parts_ending(&self) -> bool {
        let (before, behind) = self.text.as_bytes().split_at(self.at);
        before.ends_with(b"\r") && behind.starts_with(b"\n")
    }

    /// Returns the byte range of the first match at or after `at`; `None` if there is none. Does
    /// not move `at`.
    fn search(&mut self) -> Option<Range<usize>> {
        if self.at > self.text.len() {
            return None;
        }
        let input = Input::new(self.text).range(self.at..);
        let regex = self.searcher.matcher.regex();
        let found = regex.search_with(&mut self.searcher.cache, &input)?;
        Some(found.range())
    }
}

impl Iterator for TextMatches<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let found = self.search()?;
            self.at = found.end;
            let is_none =
                found.is_empty() && (self.last_end == Some(self.at) || self.parts_ending());
            if !is_none {
                self.last_end = Some(self.at);
                return Some(found);
            }
            let next = self.text[self.at..].chars().next();
            self.at += next.map_or(1, char::len_utf8);
        }
    }
}

/// Returns the capture groups of a match by matching again at its position: anchors and word
/// borders see the surrounding text.
pub(super) fn groups_of(
    regex: &meta::Regex,
    text: &str,
    found: Range<usize>,
    search: impl FnOnce(&Input<'_>, &mut Captures),
) -> Groups {
    if regex.captures_len() < 2 {
        return Groups::default();
    }
    let start = found.start;
    let input = Input::new(text).range(found).anchored(Anchored::Yes);
    let mut captures = regex.create_captures();
    search(&input, &mut captures);
    Groups::of(&captures, start)
}

#[cfg(test)]
mod tests;
