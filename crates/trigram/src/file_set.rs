//! A set of files by number.

/// A set of the files of a segment, one bit each, by their numbers from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSet {
    words: Vec<u64>,
    files: u32,
}

impl FileSet {
    /// Creates the empty set over this number of files.
    pub(crate) fn none(files: u32) -> Self {
        Self {
            words: vec![0; files.div_ceil(64) as usize],
            files,
        }
    }

    /// Creates the set of all files below this number.
    pub(crate) fn all(files: u32) -> Self {
        Self {
            words: vec![u64::MAX; files.div_ceil(64) as usize],
            files,
        }
    }

    /// Adds a file; numbers beyond the last file are ignored.
    pub(crate) fn insert(&mut self, file: u32) {
        if let Some(word) = self.words.get_mut(file as usize / 64) {
            *word |= 1 << (file % 64);
        }
    }

    /// Returns whether the set contains a file. Returns `false` for a number past the last file.
    pub(crate) fn contains(&self, file: u32) -> bool {
        let word = self.words.get(file as usize / 64);
        word.is_some_and(|word| word >> (file % 64) & 1 == 1)
    }

    /// Adds the files of another set, which must belong to the same segment.
    pub(crate) fn unite(&mut self, other: &Self) {
        debug_assert_eq!(self.files, other.files);
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Keeps only the files that are also in another set, which must belong to the same segment.
    pub(crate) fn intersect(&mut self, other: &Self) {
        debug_assert_eq!(self.files, other.files);
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// Returns the number of files in the set. For a set created by `all`, the result is rounded up
    /// to a multiple of 64.
    pub(crate) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }
}
