//! How lines end.

use crate::edit::Edit;
use crate::snapshot::Snapshot;

/// What ends a line that is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnding {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

/// How the lines of a file end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEndings {
    /// All with `\n`, or there is but one line.
    Lf,
    /// All with `\r\n`.
    CrLf,
    /// Some with the one, some with the other.
    Mixed,
}

impl LineEnding {
    /// The one that most lines of a text have.
    pub fn of(text: &str) -> Self {
        EndingCount::of(text.as_bytes()).dominant()
    }

    /// The characters themselves.
    pub fn as_str(self) -> &'static str {
        match self {
            LineEnding::Lf => "\n",
            LineEnding::CrLf => "\r\n",
        }
    }
}

impl Snapshot {
    /// How the lines end now. Reads the whole text.
    pub fn line_endings(&self) -> LineEndings {
        let mut count = EndingCount::default();
        // No piece parts a carriage return from its line feed.
        for chunk in self.chunks(self.full_span()) {
            count.add(chunk.as_bytes());
        }
        count.endings()
    }

    /// The edits after which every line ends with `ending`. Reads the whole text.
    pub fn edits_to_line_ending(&self, ending: LineEnding) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut start = 0;
        for chunk in self.chunks(self.full_span()) {
            for feed in memchr::memchr_iter(b'\n', chunk.as_bytes()) {
                let has_return = chunk[..feed].ends_with('\r');
                let at = start + feed;
                match ending {
                    LineEnding::Lf if has_return => edits.push(Edit::new((at - 1..at).into(), "")),
                    LineEnding::CrLf if !has_return => edits.push(Edit::new((at..at).into(), "\r")),
                    _ => {}
                }
            }
            start += chunk.len();
        }
        edits
    }
}

/// How many line feeds a text has, and how many of them follow a carriage return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndingCount {
    pub(crate) feeds: usize,
    pub(crate) pairs: usize,
}

impl EndingCount {
    pub(crate) fn of(text: &[u8]) -> Self {
        Self {
            feeds: memchr::memchr_iter(b'\n', text).count(),
            pairs: memchr::memmem::find_iter(text, b"\r\n").count(),
        }
    }

    /// Counts on, in a piece of text that does not part a carriage return from its line feed.
    pub(crate) fn add(&mut self, text: &[u8]) {
        let more = Self::of(text);
        self.feeds += more.feeds;
        self.pairs += more.pairs;
    }

    pub(crate) fn endings(self) -> LineEndings {
        if self.pairs == 0 {
            LineEndings::Lf
        } else if self.pairs == self.feeds {
            LineEndings::CrLf
        } else {
            LineEndings::Mixed
        }
    }

    /// The more frequent of the two.
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
