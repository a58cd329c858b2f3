//! Finding matches: windows of whole rows, or the rope's pieces through a cursor.
//!
//! Start at `Matcher::matches`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{ByteOffset, Span};
use regex_automata::meta;
use regex_syntax::hir::Hir;
use text::Snapshot;

use super::pieces::Pieces;

/// Bytes a window of rows aims at; it grows to hold the row it ends in.
const WINDOW: usize = 64 * 1024;

/// A window that would be larger is not copied: its rows are searched through the cursor.
const LARGEST_WINDOW: usize = 4 * 1024 * 1024;

/// Largest compiled pattern, in bytes.
const SIZE_LIMIT: usize = 16 * 1024 * 1024;

/// A compiled query. Cheap to clone, to be used from any thread.
#[derive(Clone, Debug)]
pub struct Matcher {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Searches contiguous text.
    regex: meta::Regex,
    /// Searches the rope's pieces.
    cursor_regex: regex_cursor::engines::meta::Regex,
    /// Whether matches stay within a row, so that rows can be searched apart.
    stays_in_row: bool,
}

/// The most matches to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub usize);

/// Whether a search that reaches the end goes on from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// It goes on.
    Around,
    /// It ends.
    Stop,
}

/// One match found from a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Where it lies.
    pub span: Span,
    /// Whether the search went past an end of the text to find it.
    pub has_wrapped: bool,
}

/// Matches that were collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The matches, sorted and disjoint.
    pub spans: Vec<Span>,
    /// Whether these are all there are: neither the limit nor the cancel flag ended the search.
    pub is_complete: bool,
}

/// How many matches there are, shown as `12` or, when more were left unsearched, `10000+`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The matches that were found.
    pub number: usize,
    /// Whether there may be more.
    pub is_capped: bool,
}

impl fmt::Display for Count {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.number, if self.is_capped { "+" } else { "" })
    }
}

impl Found {
    /// How many there are.
    pub fn count(&self) -> Count {
        Count {
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
        let regex = meta::Builder::new().configure(config).build_from_hir(hir).ok()?;
        let cursor_config = regex_cursor::engines::meta::Config::new()
            .nfa_size_limit(Some(SIZE_LIMIT))
            .hybrid_cache_capacity(SIZE_LIMIT / 4);
        let cursor_regex = regex_cursor::engines::meta::Builder::new()
            .configure(cursor_config)
            .build_from_hir::<&[u8]>(hir)
            .ok()?;
        let inner = Arc::new(Inner {
            regex,
            cursor_regex,
            stays_in_row,
        });
        Some(Matcher { inner })
    }

    /// The matches that lie wholly within a span, in order. What surrounds the span is seen by `^`,
    /// `$` and word boundaries.
    pub fn matches<'a>(&'a self, snapshot: &'a Snapshot, within: Span) -> Matches<'a> {
        todo!()
    }

    /// Collects the matches within some spans, which are sorted and disjoint, until all are found,
    /// there are `limit`, or `cancel` is set.
    pub fn find_all(
        &self,
        snapshot: &Snapshot,
        within: &[Span],
        limit: Limit,
        cancel: &AtomicBool,
    ) -> Found {
        todo!()
    }

    /// The first match behind what is selected, which is not the selection itself.
    pub fn next(
        &self,
        snapshot: &Snapshot,
        within: &[Span],
        selected: Span,
        wrap: Wrap,
    ) -> Option<Hit> {
        todo!()
    }

    /// The last match before what is selected.
    pub fn previous(
        &self,
        snapshot: &Snapshot,
        within: &[Span],
        selected: Span,
        wrap: Wrap,
    ) -> Option<Hit> {
        todo!()
    }
}

/// The matches within a span, one after the other.
pub struct Matches<'a> {
    matcher: &'a Matcher,
    snapshot: &'a Snapshot,
}

impl Iterator for Matches<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        todo!()
    }
}
