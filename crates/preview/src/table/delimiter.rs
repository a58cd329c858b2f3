//! The character between two fields.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// The character between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delimiter {
    /// `,`
    Comma,
    /// A tab.
    Tab,
    /// `;`, where a comma is the decimal point.
    Semicolon,
    /// `|`
    Pipe,
}

/// Rows from which a delimiter is judged.
const JUDGED_ROWS: usize = 64;

impl Delimiter {
    /// All delimiters, in the order in which the user chooses among them.
    pub const ALL: [Self; 4] = [Self::Comma, Self::Tab, Self::Semicolon, Self::Pipe];

    /// Returns the character.
    pub fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Tab => b'\t',
            Self::Semicolon => b';',
            Self::Pipe => b'|',
        }
    }

    /// Returns the name that the user reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Comma => "Comma",
            Self::Tab => "Tab",
            Self::Semicolon => "Semicolon",
            Self::Pipe => "Pipe",
        }
    }

    /// Returns the delimiter that divides the beginning of a file into the most rows of one length. The name decides
    /// for `.tsv` and `.tab`.
    pub(super) fn guess(name: &str, sample: &[u8]) -> Self {
        let extension = name.rsplit('.').next().unwrap_or_default();
        if ["tsv", "tab"].contains(&extension.to_ascii_lowercase().as_str()) {
            return Self::Tab;
        }
        let judged = Self::ALL.map(|it| (it.score(sample), it));
        // The first of several equal ones wins, so that a list of single values has commas.
        let best = judged.into_iter().rev().max_by_key(|(score, _)| *score);
        best.map_or(Self::Comma, |(_, it)| it)
    }

    /// Returns a parser of records.
    pub(super) fn reader(self) -> Reader {
        ReaderBuilder::new().delimiter(self.byte()).build()
    }

    /// Returns the number of rows with the most frequent number of fields, times that number; 0 if it is one.
    fn score(self, sample: &[u8]) -> usize {
        let mut counts: Vec<usize> = Vec::new();
        let (mut reader, mut at, mut fields) = (self.reader(), 0, 0);
        let (mut output, mut ends) = ([0; 1024], [0; 64]);
        while counts.len() < JUDGED_ROWS && at < sample.len() {
            let (result, read, _, ended) =
                reader.read_record(&sample[at..], &mut output, &mut ends);
            (at, fields) = (at + read, fields + ended);
            match result {
                ReadRecordResult::Record => counts.push(std::mem::take(&mut fields)),
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
                ReadRecordResult::InputEmpty | ReadRecordResult::End => break,
            }
        }
        if counts.is_empty() {
            // The sample is a part of one row.
            counts.push(fields + 1);
        }
        counts.sort_unstable();
        let groups = counts.chunk_by(|a, b| a == b);
        let groups = groups.filter(|group| group[0] > 1);
        let score = |group: &[usize]| group.len() * (group.len() + 1) * group[0].min(64);
        groups.map(score).max().unwrap_or_default()
    }
}
