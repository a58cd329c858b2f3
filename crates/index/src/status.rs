//! The progress of an index.

/// A snapshot of the progress and size of an index. Cheap to query at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStatus {
    /// The current phase of indexing.
    pub phase: IndexPhase,
    /// Whether it is paused.
    pub is_paused: bool,
    /// Number of indexed files, out of `files`.
    pub done: usize,
    /// Number of files to index.
    pub files: usize,
    /// Number of skipped files by reason.
    pub left_out: LeftOut,
    /// Number of visible chunks.
    pub chunks: u32,
    /// Number of files chunked and embedded since the index was opened; the others were known.
    pub embedded: usize,
    /// Size of its files in bytes.
    pub disk_bytes: u64,
    /// Approximate memory use in bytes.
    pub memory_bytes: u64,
    /// Notes for the user, as sentences.
    pub notes: Vec<String>,
}

/// The phase of an index, from the walk of its files to readiness, or the reason why it is
/// unavailable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexPhase {
    /// Listing the files of the root.
    Walking,
    /// Counting words for preliminary answers.
    Reading,
    /// Chunking and embedding; every file can be found by its words.
    Embedding,
    /// Every file is indexed.
    Ready,
    /// The index is unavailable for this reason.
    Off(String),
}

/// Number of files that are not indexed, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Their names indicate secrets.
    pub secret: usize,
    /// They are larger than one mebibyte.
    pub large: usize,
    /// They are not UTF-8 text.
    pub binary: usize,
    /// They are generated code.
    pub generated: usize,
    /// They are unreadable or no regular files.
    pub unreadable: usize,
}

impl IndexStatus {
    /// Returns the status before the first pass.
    pub(crate) fn new() -> Self {
        Self {
            phase: IndexPhase::Walking,
            is_paused: false,
            done: 0,
            files: 0,
            left_out: LeftOut::default(),
            chunks: 0,
            embedded: 0,
            disk_bytes: 0,
            memory_bytes: 0,
            notes: Vec::new(),
        }
    }

    /// Returns whether every file is indexed.
    pub fn is_ready(&self) -> bool {
        self.phase == IndexPhase::Ready
    }
}
