//! Parsers and query cursors kept for reuse, one set per thread.
//!
//! Invariant: what is taken goes back, and is as good as new.

use std::cell::RefCell;

use tree_sitter::{Parser, QueryCursor};

thread_local! {
    static CURSORS: RefCell<Vec<QueryCursor>> = const { RefCell::new(Vec::new()) };
    static PARSERS: RefCell<Vec<Parser>> = const { RefCell::new(Vec::new()) };
}

/// Matches in progress at once; beyond it the oldest are dropped, so that no text takes forever.
const MATCH_LIMIT: u32 = 256;

/// Parsers that one thread keeps.
const MOST_KEPT: usize = 4;

/// Lends a query cursor that is limited to a byte range.
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

/// A parser of this thread, in no particular language. `give_parser` puts it back.
pub(crate) fn take_parser() -> Parser {
    PARSERS.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Keeps a parser for the next one on this thread; what it was doing is given up.
pub(crate) fn give_parser(mut parser: Parser) {
    parser.reset();
    PARSERS.with_borrow_mut(|kept| {
        if kept.len() < MOST_KEPT {
            kept.push(parser);
        }
    });
}
