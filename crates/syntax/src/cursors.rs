//! Parsers and query cursors kept for reuse, one set per thread.
//!
//! Invariant: every taken parser and cursor is returned in its initial state.

use std::cell::RefCell;

use tree_sitter::{Parser, QueryCursor};

thread_local! {
    static CURSORS: RefCell<Vec<QueryCursor>> = const { RefCell::new(Vec::new()) };
    static PARSERS: RefCell<Vec<Parser>> = const { RefCell::new(Vec::new()) };
}

/// Matches in progress at once; beyond it the oldest are dropped, so that no text takes forever.
const MATCH_LIMIT: u32 = 256;

/// Number of parsers kept per thread.
const MAX_PARSERS: usize = 4;

/// Calls `body` with a query cursor from this thread's pool that is limited to a byte range, and
/// returns its result.
pub(crate) fn with_query_cursor<R>(
    range: std::ops::Range<usize>,
    body: impl FnOnce(&mut QueryCursor) -> R,
) -> R {
    let mut cursor = CURSORS.with_borrow_mut(Vec::pop).unwrap_or_default();
    cursor.set_match_limit(MATCH_LIMIT);
    cursor.set_max_start_depth(None);
    cursor.set_byte_range(range);
    let result = body(&mut cursor);
    CURSORS.with_borrow_mut(|kept| kept.push(cursor));
    result
}

/// Takes a parser of this thread, without a language. Return it with `return_parser`.
pub(crate) fn take_parser() -> Parser {
    PARSERS.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Returns a parser to this thread's pool and resets it.
pub(crate) fn return_parser(mut parser: Parser) {
    parser.reset();
    PARSERS.with_borrow_mut(|kept| {
        if kept.len() < MAX_PARSERS {
            kept.push(parser);
        }
    });
}
