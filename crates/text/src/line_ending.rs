//! Line endings of typed lines and of files.

use crate::snapshot::Snapshot;

/// The line ending used for typed lines: `\n` or `\r\n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnding {
    /// Line feed: `\n` alone.
    Lf,
    /// Carriage return and line feed: `\r\n`.
    CrLf,
}

/// The line endings found in a file: all `\n`, all `\r\n`, or mixed. A carriage return alone is not
/// an ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEndings {
    /// Every line ends with `\n`, or there is only one line.
    Lf,
    /// Every line ends with `\r\n`.
    CrLf,
    /// Both kinds of line endings occur.
    Mixed,
}

impl LineEnding {
    /// Returns the more frequent line ending of a text; `Lf` if both are equally frequent or there
    /// is none.
    pub fn of(text: &str) -> Self {
        EndingCount::of(text.as_bytes()).dominant()
    }

    /// Returns the characters of the ending.
    pub fn as_str(self) -> &'static str {
        match self {
            LineEnding::Lf => "\n",
            LineEnding::CrLf => "\r\n",
        }
    }
}

impl Snapshot {
    /// Returns the line endings that the text has now; `Lf` for a text of one line. Reads the whole
    /// text.
    pub fn line_endings(&self) -> LineEndings {
        let mut count = EndingCount::default();
        // No chunk separates a carriage return from its line feed.
        for chunk in self.chunks(self.full_span()) {
            count.add(chunk.as_bytes());
        }
        count.endings()
    }
}

/// Number of line feeds in a text, and of those after a carriage return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndingCount {
    pub(crate) feeds: usize,
    pub(crate) pairs: usize,
}

impl EndingCount {
    /// Counts the endings of a text in UTF-8.
    pub(crate) fn of(text: &[u8]) -> Self {
        Self {
            feeds: memchr::memchr_iter(b'\n', text).count(),
            pairs: memchr::memmem::find_iter(text, b"\r\n").count(),
        }
    }

    /// Adds a chunk that does not separate a carriage return from its line feed.
    pub(crate) fn add(&mut self, text: &[u8]) {
        let more = Self::of(text);
        self.feeds += more.feeds;
        self.pairs += more.pairs;
    }

    /// Classifies the counted endings; `Lf` if there is none.
    pub(crate) fn endings(self) -> LineEndings {
        if self.pairs == 0 {
            LineEndings::Lf
        } else if self.pairs == self.feeds {
            LineEndings::CrLf
        } else {
            LineEndings::Mixed
        }
    }

    /// Returns the more frequent of the two endings; `Lf` if they are equally frequent.
    pub(crate) fn dominant(self) -> LineEnding {
        if self.pairs * 2 > self.feeds {
            LineEnding::CrLf
        } else {
            LineEnding::Lf
        }
    }
}

#[cfg(test)]
mod tests;
