//! One reading of a hunk: the lines to find and the lines that take their place.
//!
//! Start at `Block::of`; readings without escapes come from `unescaped`.

mod escape;

use crate::edit::{Grain, Hunk};
use crate::outcome::{Difference, Doubt};

pub(crate) use self::escape::unescaped;

/// Lines to find and lines that take their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) old: Vec<String>,
    pub(crate) new: Vec<String>,
    /// Whether the hunk was written as whole lines.
    pub(crate) grain: Grain,
    /// Whether the file is to end with a line feed, where the hunk says so.
    pub(crate) final_feed: Option<bool>,
    /// In what this reading differs from what was written.
    pub(crate) differences: Vec<Difference>,
    /// Why `new` cannot be relied on.
    pub(crate) doubt: Option<Doubt>,
}

impl Block {
    /// The hunk as whole lines; `None` if it would join its last line with the one behind.
    pub(crate) fn of(hunk: &Hunk) -> Option<Self> {
        Self::new(&hunk.old, &hunk.new, hunk.grain, hunk.at_end)
    }

    pub(crate) fn new(old: &str, new: &str, grain: Grain, at_end: bool) -> Option<Self> {
        let (old_feeds, new_feeds) = (old.ends_with('\n'), new.ends_with('\n'));
        let differs = old_feeds != new_feeds && !old.is_empty() && !new.is_empty();
        let block = |old, new, final_feed| Self {
            old,
            new,
            grain,
            final_feed,
            differences: Vec::new(),
            doubt: None,
        };
        if grain == Grain::Lines || (at_end && differs) {
            let final_feed = (at_end && differs).then_some(new_feeds);
            return Some(block(lines(old), lines(new), final_feed));
        }
        if old_feeds {
            let is_whole = new_feeds || new.is_empty();
            return is_whole.then(|| block(lines(old), lines(new), None));
        }
        // The ending of the last line stays, so a line feed at the end of the new text adds one.
        let new = new.split('\n').map(without_return).collect();
        let old = old.split('\n').map(without_return).collect();
        Some(block(old, new, None))
    }
}

/// The lines of a text; its final line feed starts none.
pub(crate) fn lines(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(without_return).collect()
}

fn without_return(line: &str) -> String {
    line.strip_suffix('\r').unwrap_or(line).to_owned()
}
