//! Interpretations of a hunk whose text was escaped once too often.
//!
//! An unescaped quote or `<` in the new text shows that only the old text was escaped. If both
//! interpretations are possible, the block carries a doubt.

use std::borrow::Cow;

use crate::edit::PatchHunk;
use crate::outcome::{Ambiguity, HunkDifference};

use super::LineBlock;

const ENTITIES: [(&str, &str); 6] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&apos;", "'"),
    // Decoded last, so that its result is not decoded again.
    ("&amp;", "&"),
];

/// Returns the interpretations of a hunk with HTML entities or backslash escapes removed, the
/// smallest change first. Returns an empty list if the hunk contains neither.
pub(crate) fn unescaped(hunk: &PatchHunk) -> Vec<LineBlock> {
    let mut blocks = Vec::new();
    for escape in [
        EscapeStyle::Entities,
        EscapeStyle::Quotes,
        EscapeStyle::Backslashes,
    ] {
        let Cow::Owned(old) = escape.undo(&hunk.old) else {
            continue;
        };
        if old == hunk.old {
            continue;
        }
        let undone = escape.undo(&hunk.new);
        let is_changed = *undone != hunk.new;
        let is_bare = escape.is_bare(&hunk.old, &hunk.new);
        let new = if is_bare {
            Cow::Borrowed(hunk.new.as_str())
        } else {
            undone
        };
        if let Some(mut block) = LineBlock::new(&old, &new, hunk.grain, hunk.at_end) {
            block.differences.push(escape.difference());
            block.doubt = (is_changed && is_bare).then_some(Ambiguity::Escapes);
            blocks.push(block);
        }
    }
    blocks
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeStyle {
    Entities,
    Quotes,
    Backslashes,
}

impl EscapeStyle {
    fn undo(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Entities if text.contains('&') => {
                let mut text = text.to_owned();
                for (entity, sign) in ENTITIES {
                    text = text.replace(entity, sign);
                }
                text.into()
            }
            Self::Quotes if text.contains('\\') => {
                text.replace("\\\"", "\"").replace("\\'", "'").into()
            }
            Self::Backslashes if text.contains('\\') => without_backslashes(text).into(),
            _ => text.into(),
        }
    }

    /// Whether `new` contains text that it could not contain if it were escaped like `old`.
    fn is_bare(self, old: &str, new: &str) -> bool {
        match self {
            Self::Entities => {
                let lacks = |entity, sign| old.contains(entity) && new.contains(sign);
                ENTITIES[..3]
                    .iter()
                    .any(|(entity, sign)| lacks(*entity, *sign))
            }
            Self::Quotes | Self::Backslashes => {
                let has_bare_quote = ['"', '\'']
                    .into_iter()
                    .any(|quote| old.contains(&format!("\\{quote}")) && has_bare(new, quote));
                let has_bare_feed = old.contains("\\n")
                    && !old.trim_end().contains('\n')
                    && new.trim_end().contains('\n');
                has_bare_quote || (self == Self::Backslashes && has_bare_feed)
            }
        }
    }

    fn difference(self) -> HunkDifference {
        match self {
            Self::Entities => HunkDifference::Entities,
            Self::Quotes | Self::Backslashes => HunkDifference::Escapes,
        }
    }
}

/// Whether a text contains `quote` without a backslash directly before it.
fn has_bare(text: &str, quote: char) -> bool {
    let mut before = ' ';
    text.chars().any(|sign| {
        let is_bare = sign == quote && before != '\\';
        before = sign;
        is_bare
    })
}

fn without_backslashes(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            result.push(sign);
            continue;
        }
        match signs.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => {}
            Some(sign @ ('"' | '\'' | '\\' | '/')) => result.push(sign),
            Some(sign) => result.extend(['\\', sign]),
            None => result.push('\\'),
        }
    }
    result
}
