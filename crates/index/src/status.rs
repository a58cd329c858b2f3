//! What the index is at.

/// How far the index is. Cheap to ask for at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it does now.
    pub phase: Phase,
    /// Whether it waits until it is told to go on.
    pub is_paused: bool,
    /// Files that are in, of `files`.
    pub done: usize,
    /// Files that are to be in.
    pub files: usize,
    /// Files that were left out, by reason.
    pub left_out: LeftOut,
    /// Chunks in sight.
    pub chunks: u32,
    /// Files whose content was cut and embedded since it was opened; the others were known.
    pub embedded: usize,
    /// Bytes that its files take.
    pub disk_bytes: u64,
    /// Bytes of memory that it takes, about.
    pub memory_bytes: u64,
    /// What a person should know, as sentences.
    pub notes: Vec<String>,
}

/// What the index does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It looks which files there are.
    Walking,
    /// It counts words, so that there are answers soon.
    Reading,
    /// It cuts and embeds; every file can be found by its words.
    Embedding,
    /// Everything is in.
    Ready,
    /// There is none, and this is why.
    Off(String),
}

/// How many files were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Their names say that they hold secrets.
    pub secret: usize,
    /// They are larger than a mebibyte.
    pub large: usize,
    /// They are no text in UTF-8.
    pub binary: usize,
    /// A program wrote them.
    pub generated: usize,
    /// They cannot be read.
    pub unreadable: usize,
}

impl Status {
    /// Before anything is known.
    pub(crate) fn new() -> Self {
        Self {
            phase: Phase::Walking,
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

    /// Whether everything is in.
    pub fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
    }
}
