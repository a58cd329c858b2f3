//! Line-based interpretation of a hunk: the lines to find and their replacement.
//!
//! Start at `LineBlock::of`; `unescaped` returns the interpretations with escapes removed.

mod escape;

use crate::edit::{Grain, PatchHunk};
use crate::outcome::{Ambiguity, HunkDifference};

pub(crate) use self::escape::unescaped;

/// A hunk interpreted as whole lines: lines to find and the lines that replace them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineBlock {
    pub(crate) old: Vec<String>,
    pub(crate) new: Vec<String>,
    /// Whether the hunk consists of whole lines.
    pub(crate) grain: Grain,
    /// Whether the file must end with a line feed, if the hunk says so.
    pub(crate) final_feed: Option<bool>,
    /// Differences between this interpretation and the hunk as written.
    pub(crate) differences: Vec<HunkDifference>,
    /// Reason why `new` is ambiguous.
    pub(crate) doubt: Option<Ambiguity>,
}

impl LineBlock {
    /// Interprets the hunk as whole lines; `None` if it would join its last line with the following
    /// one.
    pub(crate) fn of(hunk: &PatchHunk) -> Option<Self> {
        Self::new(&hunk.old, &hunk.new, hunk.grain, hunk.at_end)
    }

    /// Interprets texts as whole lines. Returns `None` if the last line of the replacement would be
    /// joined with the line after it. `at_end` indicates whether the old text is at the end of the
    /// file.
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
            return Some(block(split_lines(old), split_lines(new), final_feed));
        }
        if old_feeds {
            let is_whole = new_feeds || new.is_empty();
            return is_whole.then(|| block(split_lines(old), split_lines(new), None));
        }
        // The ending of the last line stays, so a line feed at the end of the new text adds a line.
        let new = new.split('\n').map(without_return).collect();
        let old = old.split('\n').map(without_return).collect();
        Some(block(old, new, None))
    }
}

/// Splits a text into lines without endings. A line feed at the end does not start another line. An
/// empty text yields no lines.
pub(crate) fn split_lines(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(without_return).collect()
}

fn without_return(line: &str) -> String {
    line.strip_suffix('\r').unwrap_or(line).to_owned()
}
