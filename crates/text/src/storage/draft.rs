//! A storage with a buffer for the newest edits.
//!
//! Users and agents edit in runs: each edit touches the previous one. A run is buffered here as one
//! replaced range, so that a key press costs an append instead of a tree update, until an edit
//! elsewhere or a reader needs the text.
//!
//! Invariant: the text is `base` with `removed` bytes at `at` replaced by `run`; both ends of that
//! range lie on char boundaries.
//! Invariant: `settled`, if set, is exactly that text.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use super::Storage;

/// Maximum bytes of a run; a longer one is flushed to the storage.
const MAX_RUN: usize = 512;

/// The text of a buffer as a storage and one pending replacement in it, which collects a run of
/// edits at one position.
pub(crate) struct StorageDraft {
    base: Storage,
    at: usize,
    removed: usize,
    run: String,
    /// Created for the first reader since the last edit.
    settled: OnceLock<Storage>,
    /// Number of chars in `base` before the replaced range, and up to its end.
    chars: OnceLock<(usize, usize)>,
}

impl StorageDraft {
    /// Creates a draft of `base` without a pending replacement.
    pub(crate) fn new(base: Storage) -> Self {
        Self {
            base,
            at: 0,
            removed: 0,
            run: String::new(),
            settled: OnceLock::new(),
            chars: OnceLock::new(),
        }
    }

    /// Returns the length in bytes, the pending replacement included.
    pub(crate) fn len(&self) -> usize {
        self.base.len() - self.removed + self.run.len()
    }

    /// Returns the text for readers. The first call after an edit applies the pending replacement
    /// to a copy and keeps it.
    pub(crate) fn storage(&self) -> &Storage {
        if !self.has_run() {
            return &self.base;
        }
        self.settled.get_or_init(|| {
            let mut storage = self.base.clone();
            storage.replace(self.at..self.at + self.removed, &self.run);
            storage
        })
    }

    /// Applies the pending replacement and returns the storage, for edits other than `replace`.
    pub(crate) fn flush(&mut self) -> &mut Storage {
        if self.has_run() {
            match self.settled.take() {
                Some(settled) => self.base = settled,
                None => self
                    .base
                    .replace(self.at..self.at + self.removed, &self.run),
            }
            self.removed = 0;
            self.run.clear();
        }
        &mut self.base
    }

    /// Replaces `range`, which must lie on char boundaries, by `text`.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: &str) {
        if self.settled.get().is_some() {
            self.flush();
        }
        let end = self.at + self.run.len();
        let touches = self.has_run() && range.start <= end && range.end >= self.at;
        if !touches || self.run.len() + text.len() > MAX_RUN {
            self.flush();
            if text.len() > MAX_RUN {
                self.base.replace(range, text);
                return;
            }
            self.at = range.start;
            self.removed = range.len();
            self.run.push_str(text);
            self.chars.take();
            return;
        }
        if range.start == end && range.end == end {
            self.run.push_str(text);
            return;
        }
        let kept_from = range.start.max(self.at) - self.at;
        let kept_to = range.end.min(end) - self.at;
        if range.start < self.at || range.end > end {
            self.removed += self.at.saturating_sub(range.start) + range.end.saturating_sub(end);
            self.at = self.at.min(range.start);
            self.chars.take();
        }
        replace_in(&mut self.run, kept_from..kept_to, text);
    }

    /// Returns whether `offset` lies within the text and not inside a char.
    pub(crate) fn is_char_boundary(&self, offset: usize) -> bool {
        let end = self.at + self.run.len();
        if !self.has_run() || offset < self.at {
            self.base.is_char_boundary(offset)
        } else if offset <= end {
            self.run.is_char_boundary(offset - self.at)
        } else {
            self.base
                .is_char_boundary(offset - self.run.len() + self.removed)
        }
    }

    /// Returns the text of `range`, borrowed if it lies in one chunk.
    pub(crate) fn text(&self, range: Range<usize>) -> Cow<'_, str> {
        let end = self.at + self.run.len();
        if !self.has_run() || range.end <= self.at {
            self.base.text(range)
        } else if range.start >= end {
            let moved = |offset: usize| offset - self.run.len() + self.removed;
            self.base.text(moved(range.start)..moved(range.end))
        } else if range.start >= self.at && range.end <= end {
            Cow::Borrowed(&self.run[range.start - self.at..range.end - self.at])
        } else {
            self.storage().text(range)
        }
    }

    /// Returns the byte offset of the char with the number `index`, or the length if there are
    /// fewer.
    pub(crate) fn offset_at_char(&self, index: usize) -> usize {
        let in_base = |index: usize| {
            let all = self.base.char_len();
            if index >= all {
                return self.base.len();
            }
            self.base.offset_at_char(index)
        };
        if !self.has_run() {
            return in_base(index);
        }
        let (before, gone) = *self.chars.get_or_init(|| {
            let end = self.at + self.removed;
            (self.base.char_at(self.at), self.base.char_at(end))
        });
        let Some(behind) = index.checked_sub(before) else {
            return in_base(index);
        };
        if behind <= self.run.len() && self.run.is_ascii() {
            return self.at + behind;
        }
        match self.run.char_indices().nth(behind) {
            Some((offset, _)) => self.at + offset,
            None => {
                let chars = behind - self.run.chars().count();
                in_base(gone + chars) - self.removed + self.run.len()
            }
        }
    }

    /// Returns whether a replacement is pending.
    fn has_run(&self) -> bool {
        self.removed > 0 || !self.run.is_empty()
    }
}

/// Replaces a range of a string. Faster than `String::replace_range`, which moves bytes one by one,
/// unless text replaces other text.
pub(crate) fn replace_in(whole: &mut String, range: Range<usize>, text: &str) {
    if range.is_empty() {
        whole.insert_str(range.start, text);
    } else if !text.is_empty() {
        whole.replace_range(range, text);
    } else if range.end == whole.len() {
        whole.truncate(range.start);
    } else {
        whole.drain(range);
    }
}

#[cfg(test)]
mod tests;
