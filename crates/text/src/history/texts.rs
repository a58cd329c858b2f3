//! The texts that undo and redo need, kept cheaply.
//!
//! Short ones lie one after the other in one string; long ones are parts of the buffer's own
//! store, which share its memory.

use crate::storage::{Storage, replace_in};

/// From this length in bytes on a text is kept as a part of the store.
pub(crate) const LONG: usize = 1024;

/// A kept text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// Where it starts in `short`, or its index in `long`.
    start: u32,
    /// Its length in bytes; `IN_LONG` for a long one.
    len: u32,
}

const IN_LONG: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Texts {
    short: String,
    long: Vec<Storage>,
}

impl Fragment {
    pub(super) const EMPTY: Fragment = Fragment { start: 0, len: 0 };

    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl Texts {
    pub(super) fn keep(&mut self, text: &str) -> Fragment {
        if text.is_empty() {
            return Fragment::EMPTY;
        }
        let start = self.short.len();
        let Ok(start) = u32::try_from(start) else {
            return self.keep_part(Storage::new(text));
        };
        self.short.push_str(text);
        Fragment {
            start,
            len: text.len() as u32,
        }
    }

    pub(super) fn keep_part(&mut self, part: Storage) -> Fragment {
        self.long.push(part);
        Fragment {
            start: self.long.len() as u32 - 1,
            len: IN_LONG,
        }
    }

    pub(super) fn len(&self, fragment: Fragment) -> usize {
        match fragment.len {
            IN_LONG => self.long[fragment.start as usize].len(),
            len => len as usize,
        }
    }

    pub(super) fn is_long(&self, fragment: Fragment) -> bool {
        fragment.len == IN_LONG
    }

    /// Whether it is the last of the short ones, so that it may still be changed.
    pub(super) fn is_last(&self, fragment: Fragment) -> bool {
        fragment.len != IN_LONG
            && fragment.len != 0
            && fragment.start as usize + fragment.len as usize == self.short.len()
    }

    /// Puts `text` in place of a range of the last short one. It may not become too long to be short.
    pub(super) fn rewrite(&mut self, fragment: &mut Fragment, range: [usize; 2], text: &str) {
        let start = fragment.start as usize;
        if range[0] == range[1] && start + range[0] == self.short.len() {
            self.short.push_str(text);
        } else {
            replace_in(&mut self.short, start + range[0]..start + range[1], text);
        }
        fragment.len = (self.short.len() - start) as u32;
    }

    pub(super) fn ends_with_space(&self, fragment: Fragment) -> bool {
        self.is_last(fragment) && self.short.ends_with(char::is_whitespace)
    }

    /// Puts a kept text into a store.
    pub(super) fn insert_into(&self, storage: &mut Storage, at: usize, fragment: Fragment) {
        let done = if fragment.len == IN_LONG {
            storage.insert_all(at, &self.long[fragment.start as usize])
        } else {
            let start = fragment.start as usize;
            storage.insert(at, &self.short[start..start + fragment.len as usize])
        };
        if done.is_none() {
            base::never!("a step does not fit the text it belongs to");
        }
    }
}
