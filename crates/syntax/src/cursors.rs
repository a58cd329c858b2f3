//! Parsers and query cursors kept for reuse, one set per thread.
//!
//! Invariant: every taken parser and cursor is returned in its initial state.

use std::cell::RefCell;
use std::ops::ControlFlow;

use base::{Work, count_work};
use tree_sitter::{
    Node, Parser, Query, QueryCursor, QueryCursorOptions, QueryCursorState, QueryMatches,
    TextProvider,
};

use crate::stall_guard::STEPS_A_CALLBACK;

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

/// Returns the matches of a query below `node`, within the range of the cursor. `text` returns the
/// bytes of a node for predicates. Counts the steps in builds with debug assertions.
pub(crate) fn matches<'query, 'tree, T: TextProvider<I>, I: AsRef<[u8]>>(
    cursor: &'query mut QueryCursor,
    query: &'query Query,
    node: Node<'tree>,
    text: T,
) -> QueryMatches<'query, 'tree, T, I> {
    if cfg!(not(debug_assertions)) {
        return cursor.matches(query, node, text);
    }
    // A closure without captures: nothing is allocated, so nothing leaks.
    let count = Box::leak(Box::new(|_: &QueryCursorState| {
        count_work(Work::TreeSteps, STEPS_A_CALLBACK);
        ControlFlow::Continue(())
    }));
    let options = QueryCursorOptions::new().progress_callback(count);
    cursor.matches_with_options(query, node, text, options)
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
