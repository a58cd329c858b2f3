//! How lines end.

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
    /// The characters themselves.
    pub fn as_str(self) -> &'static str {
        match self {
            LineEnding::Lf => "\n",
            LineEnding::CrLf => "\r\n",
        }
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
