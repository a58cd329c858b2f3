//! Compact storage of the texts that undo and redo need.
//!
//! Short texts are concatenated in one string; long ones are slices of the buffer's storage, which
//! share its memory.

use crate::storage::{Storage, replace_in};

/// Texts of at least this many bytes are kept as slices of the storage.
pub(crate) const LONG_TEXT_BYTES: usize = 1024;

/// A reference to a text in a `FragmentStore`, valid only there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextFragment {
    /// Start in `short`, or index into `long`.
    start: u32,
    /// Length in bytes; `IN_LONG` for a long one.
    len: u32,
}

const IN_LONG: u32 = u32::MAX;

/// The removed and inserted texts of all steps: short ones in one string, long ones as slices of
/// storages. Texts are never dropped.
#[derive(Default)]
pub(crate) struct FragmentStore {
    short: String,
    long: Vec<Storage>,
}

impl TextFragment {
    /// The empty text, which takes no room in the store.
    pub(super) const EMPTY: TextFragment = TextFragment { start: 0, len: 0 };

    /// Returns whether the text is empty.
    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl FragmentStore {
    /// Stores a copy of `text` and returns its reference.
    pub(super) fn add(&mut self, text: &str) -> TextFragment {
        if text.is_empty() {
            return TextFragment::EMPTY;
        }
        let start = self.short.len();
        let Ok(start) = u32::try_from(start) else {
            return self.add_slice(Storage::new(text));
        };
        self.short.push_str(text);
        TextFragment {
            start,
            len: text.len() as u32,
        }
    }

    /// Stores a slice of a storage, which shares its memory.
    pub(super) fn add_slice(&mut self, part: Storage) -> TextFragment {
        self.long.push(part);
        TextFragment {
            start: self.long.len() as u32 - 1,
            len: IN_LONG,
        }
    }

    /// Returns the length of a stored text in bytes.
    pub(super) fn len(&self, fragment: TextFragment) -> usize {
        match fragment.len {
            IN_LONG => self.long[fragment.start as usize].len(),
            len => len as usize,
        }
    }

    /// Returns whether the text is stored as a slice of a storage.
    pub(super) fn is_long(&self, fragment: TextFragment) -> bool {
        fragment.len == IN_LONG
    }

    /// Returns whether it is the last of the short texts, so that it may still change.
    pub(super) fn is_last(&self, fragment: TextFragment) -> bool {
        fragment.len != IN_LONG
            && fragment.len != 0
            && fragment.start as usize + fragment.len as usize == self.short.len()
    }

    /// Replaces `range`, relative to the fragment, of the last short text and updates the
    /// fragment's length. The result must still be short.
    pub(super) fn rewrite(&mut self, fragment: &mut TextFragment, range: [usize; 2], text: &str) {
        let start = fragment.start as usize;
        if range[0] == range[1] && start + range[0] == self.short.len() {
            self.short.push_str(text);
        } else {
            replace_in(&mut self.short, start + range[0]..start + range[1], text);
        }
        fragment.len = (self.short.len() - start) as u32;
    }

    /// Returns whether the fragment is the last short text and ends with white space.
    pub(super) fn ends_with_space(&self, fragment: TextFragment) -> bool {
        self.is_last(fragment) && self.short.ends_with(char::is_whitespace)
    }

    /// Inserts a stored text into a storage at byte `at`. An offset that does not fit has no effect
    /// and fails in debug builds.
    pub(super) fn insert_into(&self, storage: &mut Storage, at: usize, fragment: TextFragment) {
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
