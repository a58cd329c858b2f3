//! Readings of a hunk whose text was escaped once too often.
//!
//! Whether the new text was escaped as well is told by what escaped text cannot hold: a bare quote,
//! a bare `<`. Where it can be read both ways the reading carries a doubt.

use std::borrow::Cow;

use crate::edit::Hunk;
use crate::outcome::{Difference, Doubt};

use super::Block;

const ENTITIES: [(&str, &str); 6] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&apos;", "'"),
    // Last, so that what it gives is not decoded again.
    ("&amp;", "&"),
];

/// The readings of a hunk in which escapes are taken off, those that change least first.
pub(crate) fn unescaped(hunk: &Hunk) -> Vec<Block> {
    let mut blocks = Vec::new();
    for escape in [Escape::Entities, Escape::Quotes, Escape::Backslashes] {
        let Cow::Owned(old) = escape.undo(&hunk.old) else {
            continue;
        };
        if old == hunk.old {
            continue;
        }
        let undone = escape.undo(&hunk.new);
        let is_changed = *undone != hunk.new;
        let is_bare = escape.is_bare(&hunk.old, &hunk.new);
        let new = match is_bare {
            true => Cow::Borrowed(hunk.new.as_str()),
            false => undone,
        };
        if let Some(mut block) = Block::new(&old, &new, hunk.grain, hunk.at_end) {
            block.differences.push(escape.difference());
            block.doubt = (is_changed && is_bare).then_some(Doubt::Escapes);
            blocks.push(block);
        }
    }
    blocks
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    Entities,
    Quotes,
    Backslashes,
}

impl Escape {
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

    /// Whether `new` holds what it could not hold if it were escaped as `old` is.
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

    fn difference(self) -> Difference {
        match self {
            Self::Entities => Difference::Entities,
            Self::Quotes | Self::Backslashes => Difference::Escapes,
        }
    }
}

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
