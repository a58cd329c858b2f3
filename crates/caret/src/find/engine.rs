//! Finds matches: in windows of whole rows, or in the rope's pieces through a cursor.
//!
//! Start at `Matcher::matches`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Bias, ByteOffset, Span};
use regex_automata::meta;
use regex_syntax::hir::Hir;
use text::Snapshot;

use super::piece_walker::PieceWalker;

/// Bytes a window of rows aims at; it grows to hold the row it ends in.
const WINDOW: usize = 64 * 1024;

/// A window that would be larger is not copied: its rows are searched through the cursor.
const LARGEST_WINDOW: usize = 4 * 1024 * 1024;

/// Largest compiled pattern, in bytes.
const SIZE_LIMIT: usize = 16 * 1024 * 1024;

/// A compiled query, for searching texts. Cheap to clone, and usable from any thread.
#[derive(Clone, Debug)]
pub struct Matcher {
    inner: Arc<CompiledRegex>,
}

#[derive(Debug)]
struct CompiledRegex {
    /// Engine for contiguous text.
    regex: meta::Regex,
    /// Searches the rope's pieces.
    cursor_regex: regex_cursor::engines::meta::Regex,
    /// Whether matches stay within a row, so that rows can be searched apart.
    stays_in_row: bool,
}

/// Maximum number of matches to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchLimit(pub usize);

/// Whether a search wraps around at the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchWrap {
    /// Continue at the start.
    Around,
    /// Stop at the end.
    Stop,
}

/// A match found from an offset, and whether the search wrapped around for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindMatch {
    /// Span of the match.
    pub span: Span,
    /// Whether the search went past an end of the text to find it.
    pub has_wrapped: bool,
}

/// The spans of collected matches, and whether they are all matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchList {
    /// The matches, sorted and disjoint.
    pub spans: Vec<Span>,
    /// Whether the matches are complete: neither the limit nor the cancel flag ended the search.
    pub is_complete: bool,
}

/// Number of matches, formatted as `12`, or as `10000+` if the search was incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchCount {
    /// Number of matches found.
    pub number: usize,
    /// Whether there may be more.
    pub is_capped: bool,
}

impl fmt::Display for MatchCount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}{}",
            self.number,
            if self.is_capped { "+" } else { "" }
        )
    }
}

impl MatchList {
    /// Returns the number of matches.
    pub fn count(&self) -> MatchCount {
        MatchCount {
            number: self.spans.len(),
            is_capped: !self.is_complete,
        }
    }
}

impl Matcher {
    /// Compiles a parsed pattern; `None` when it is too large.
    pub(super) fn new(hir: &Hir, stays_in_row: bool) -> Option<Matcher> {
        let config = meta::Config::new()
            .nfa_size_limit(Some(SIZE_LIMIT))
            .hybrid_cache_capacity(SIZE_LIMIT / 4);
        let regex = meta::Builder::new()
            .configure(config)
            .build_from_hir(hir)
            .ok()?;
        let cursor_config = regex_cursor::engines::meta::Config::new()
            .nfa_size_limit(Some(SIZE_LIMIT))
            .hybrid_cache_capacity(SIZE_LIMIT / 4);
        let cursor_regex = regex_cursor::engines::meta::Builder::new()
            .configure(cursor_config)
            .build_from_hir::<&[u8]>(hir)
            .ok()?;
        let inner = Arc::new(CompiledRegex {
            regex,
            cursor_regex,
            stays_in_row,
        });
        Some(Matcher { inner })
    }

    /// Iterates over the matches that lie wholly within a span, in order. `^`, `$` and word
    /// boundaries take the text around the span into account.
    pub fn matches<'a>(&'a self, snapshot: &'a Snapshot, within: Span) -> Matches<'a> {
        Matches::new(self, snapshot, within, None)
    }

    /// Collects the matches within some spans, which are sorted and disjoint, until all are found,
    /// there are `limit`, or `cancel` is set.
    pub fn find_all(
        &self,
        snapshot: &Snapshot,
        within: &[Span],
        limit: MatchLimit,
        cancel: &AtomicBool,
    ) -> MatchList {
        let mut spans: Vec<Span> = Vec::new();
        for span in within {
            for found in Matches::new(self, snapshot, *span, Some(cancel)) {
                if spans.len() == limit.0 {
                    return MatchList {
                        spans,
                        is_complete: false,
                    };
                }
                // An empty match on the border of two touching spans is found in both.
                if spans.last() != Some(&found) {
                    spans.push(found);
                }
            }
        }
        MatchList {
            spans,
            is_complete: !cancel.load(Ordering::Relaxed),
        }
    }

    /// Returns the first match within `within` (sorted and disjoint spans) that starts at or after
    /// the end of the selection and is not the selection itself. With `SearchWrap::Around`,
    /// continues at the start of the spans. Returns `None` if there is no such match.
    pub fn next(
        &self,
        snapshot: &Snapshot,
        within: &[Span],
        selected: Span,
        wrap: SearchWrap,
    ) -> Option<FindMatch> {
        let found = self.first_from(snapshot, within, selected.end, |found| *found != selected);
        if let Some(span) = found {
            return Some(FindMatch {
                span,
                has_wrapped: false,
            });
        }
        if wrap == SearchWrap::Stop {
            return None;
        }
        let span = self.first_from(snapshot, within, ByteOffset(0), |_| true)?;
        Some(FindMatch {
            span,
            has_wrapped: true,
        })
    }

    /// Returns the last match within `within` (sorted and disjoint spans) that ends at or before
    /// the start of the selection and is not the selection itself. With `SearchWrap::Around`,
    /// continues at the end of the spans. Returns `None` if there is no such match.
    pub fn previous(
        &self,
        snapshot: &Snapshot,
        within: &[Span],
        selected: Span,
        wrap: SearchWrap,
    ) -> Option<FindMatch> {
        let found = self.last_until(snapshot, within, selected.start, |found| *found != selected);
        if let Some(span) = found {
            return Some(FindMatch {
                span,
                has_wrapped: false,
            });
        }
        if wrap == SearchWrap::Stop {
            return None;
        }
        let span = self.last_until(snapshot, within, snapshot.len(), |_| true)?;
        Some(FindMatch {
            span,
            has_wrapped: true,
        })
    }

    /// The regular expression for contiguous text, to find groups with.
    pub(super) fn regex(&self) -> &meta::Regex {
        &self.inner.regex
    }

    /// Returns the first match that starts at or after an offset.
    fn first_from(
        &self,
        snapshot: &Snapshot,
        within: &[Span],
        from: ByteOffset,
        accept: impl Fn(&Span) -> bool,
    ) -> Option<Span> {
        // If matches stay within rows, a search from the start of the row finds the same matches as
        // one from the start of the text. Otherwise the search starts at `from`.
        let sync = if self.inner.stays_in_row {
            snapshot.row_start(snapshot.point_at(from).row)
        } else {
            from
        };
        within
            .iter()
            .filter(|span| span.end >= from)
            .flat_map(|span| {
                let start = span.start.max(sync).min(span.end);
                self.matches(snapshot, Span::new(start, span.end))
            })
            .find(|found| found.start >= from && accept(found))
    }

    /// Returns the last match that ends at or before an offset. Patterns that span rows are
    /// searched from the start of the span, so the cost grows with the text.
    fn last_until(
        &self,
        snapshot: &Snapshot,
        within: &[Span],
        until: ByteOffset,
        accept: impl Fn(&Span) -> bool,
    ) -> Option<Span> {
        within
            .iter()
            .rev()
            .filter(|span| span.start <= until)
            .find_map(|span| {
                let mut end = span.end.min(until);
                if !self.inner.stays_in_row {
                    let matches = self.matches(snapshot, *span);
                    return matches
                        .take_while(|found| found.start <= end)
                        .filter(|found| found.end <= end && accept(found))
                        .last();
                }
                loop {
                    let back = snapshot.clip(end - WINDOW, Bias::Left);
                    let start = snapshot
                        .row_start(snapshot.point_at(back).row)
                        .max(span.start);
                    let rows_end = snapshot.row_end(snapshot.point_at(end).row).min(span.end);
                    let matches = self.matches(snapshot, Span::new(start, rows_end.max(end)));
                    let last = matches
                        .filter(|found| found.end <= end && accept(found))
                        .last();
                    if last.is_some() || start <= span.start {
                        return last;
                    }
                    end = start;
                }
            })
    }
}

/// Iterator over the spans of the matches within a span. It ends early if the search is cancelled.
pub struct Matches<'a> {
    matcher: &'a Matcher,
    snapshot: &'a Snapshot,
    cancel: Option<&'a AtomicBool>,
    /// Offset at which the next search starts.
    at: usize,
    /// Offset that no match may exceed.
    end: usize,
    /// End of the last match: no empty match may follow there.
    last_end: Option<usize>,
    is_done: bool,
    way: TextAccess,
}

/// Access to the text during a search.
enum TextAccess {
    Windows {
        cache: Box<meta::Cache>,
        window: RowWindow,
    },
    Pieces {
        cache: Box<regex_cursor::engines::meta::Cache>,
    },
}

/// Whole rows, copied into one string.
#[derive(Default)]
struct RowWindow {
    text: String,
    start: usize,
    /// Whether the search ends in this window.
    is_last: bool,
}

impl RowWindow {
    /// Returns the byte offset in the whole text at which the window ends, exclusive.
    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

impl<'a> Matches<'a> {
    fn new(
        matcher: &'a Matcher,
        snapshot: &'a Snapshot,
        within: Span,
        cancel: Option<&'a AtomicBool>,
    ) -> Self {
        let end = within.end.min(snapshot.len()).0;
        let way = if matcher.inner.stays_in_row {
            TextAccess::Windows {
                cache: Box::new(matcher.inner.regex.create_cache()),
                window: RowWindow::default(),
            }
        } else {
            pieces_way(matcher)
        };
        let mut matches = Matches {
            matcher,
            snapshot,
            cancel,
            at: within.start.0.min(end),
            end,
            last_end: None,
            is_done: false,
            way,
        };
        matches.fill_window();
        matches
    }

    /// Copies the rows from the one at `at`, or turns to the pieces when they are too long.
    fn fill_window(&mut self) {
        let TextAccess::Windows { window, .. } = &mut self.way else {
            return;
        };
        let snapshot = self.snapshot;
        let target = self.at.saturating_add(WINDOW).min(self.end);
        let first = snapshot.point_at(ByteOffset(self.at)).row;
        let last = snapshot
            .point_at(snapshot.clip(ByteOffset(target), Bias::Left))
            .row;
        let start = snapshot.row_start(first);
        // The row of the target is taken whole, so that what follows the last match is seen.
        let span = Span::new(start, snapshot.row_span_with_ending(last).end);
        if span.len() > LARGEST_WINDOW {
            self.way = pieces_way(self.matcher);
            return;
        }
        window.start = start.0;
        window.text.clear();
        snapshot
            .chunks(span)
            .for_each(|piece| window.text.push_str(piece));
        window.is_last = window.end() > self.end || window.end() == snapshot.len().0;
    }

    /// Returns the next match from `at` on, in the current window or after it.
    fn search(&mut self) -> Option<Span> {
        loop {
            if self
                .cancel
                .is_some_and(|cancel| cancel.load(Ordering::Relaxed))
            {
                return None;
            }
            match &mut self.way {
                TextAccess::Pieces { cache } => {
                    let pieces = PieceWalker::at(self.snapshot, ByteOffset(self.at), self.cancel);
                    let mut input = regex_cursor::Input::new(pieces).range(self.at..self.end);
                    let regex = &self.matcher.inner.cursor_regex;
                    let found = regex.search_with(cache, &mut input)?;
                    return Some(Span::from(found.start()..found.end()));
                }
                TextAccess::Windows { cache, window } => {
                    let bound = window.end().min(self.end);
                    let range = self.at - window.start..bound - window.start;
                    let input = regex_automata::Input::new(&window.text).range(range);
                    let found = self.matcher.inner.regex.search_with(cache, &input);
                    // The end of a window is not the end of the text: a match there is left to the
                    // next window.
                    let found = found
                        .filter(|found| window.is_last || found.start() + window.start < bound);
                    match found {
                        Some(found) => {
                            return Some(Span::from(
                                found.start() + window.start..found.end() + window.start,
                            ));
                        }
                        None if window.is_last => return None,
                        None => self.at = bound,
                    }
                }
            }
            self.fill_window();
        }
    }
}

fn pieces_way(matcher: &Matcher) -> TextAccess {
    TextAccess::Pieces {
        cache: Box::new(matcher.inner.cursor_regex.create_cache()),
    }
}

impl Iterator for Matches<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        while !self.is_done {
            let Some(found) = self.search() else {
                break;
            };
            self.at = found.end.0;
            // An empty match may not touch the match before it, or a search would never end.
            let is_none = found.is_empty()
                && (self.last_end == Some(self.at) || parts_ending(self.snapshot, found.end));
            if !is_none {
                self.last_end = Some(self.at);
                return Some(found);
            }
            let next = self.snapshot.chars_at(found.end).next();
            self.at += next.map_or(1, char::len_utf8);
            self.is_done = self.at > self.end;
        }
        self.is_done = true;
        None
    }
}

/// Returns whether an offset is between the two characters of a line ending, where no row begins or
/// ends.
fn parts_ending(snapshot: &Snapshot, offset: ByteOffset) -> bool {
    snapshot.chars_at(offset).next() == Some('\n')
        && snapshot.chars_before(offset).next() == Some('\r')
}

#[cfg(test)]
mod tests;
