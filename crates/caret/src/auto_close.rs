//! The pairs that are closed automatically, and the kind of text that decides where.

use base::ByteOffset;
use syntax::{AutoClose, SyntaxScope};

use crate::context::CommandContext;

/// Auto-close pairs of a text without a language.
const PLAIN_PAIRS: &[AutoClose] = &[
    plain_pair("(", ")", true),
    plain_pair("[", "]", true),
    plain_pair("{", "}", true),
    plain_pair("\"", "\"", false),
];

const fn plain_pair(open: &'static str, close: &'static str, anywhere: bool) -> AutoClose {
    AutoClose {
        open,
        close,
        in_strings: anywhere,
        in_comments: anywhere,
    }
}

/// Returns the pairs that the language closes automatically. For plain text, returns common
/// brackets and quotes.
pub(crate) fn pairs(ctx: &CommandContext) -> &'static [AutoClose] {
    ctx.language
        .map_or(PLAIN_PAIRS, |language| language.config().auto_close)
}

/// Returns whether an offset is in code, a string or a comment. Without a syntax tree, returns
/// code.
pub(crate) fn scope(ctx: &CommandContext, offset: ByteOffset) -> SyntaxScope {
    ctx.syntax.map_or(SyntaxScope::Code, |syntax| {
        syntax.scope_at(ctx.snapshot, offset)
    })
}
