//! The rows that are rewritten, and the differences between them and an answer.

use std::ops::Range;

use base::{Row, Span};
use text::{Edit, LineEnding, RowHunk, RowSpan, Snapshot};

use crate::progress::AnswerProgress;

/// Maximum size of the text before and after the rows that a request contains, in bytes.
const CONTEXT_BYTES: Range<usize> = 12_000..24_000;

/// Rows of a text to be rewritten, with the text around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewriteRegion {
    rows: RowSpan,
    /// Without line endings.
    lines: Vec<String>,
    /// Whole rows.
    before: String,
    /// Whole rows.
    after: String,
    ending: LineEnding,
}

impl RewriteRegion {
    /// Takes rows of a text, at least one, whose new lines get the line ending `ending`. An empty
    /// last row that is only the end of the line before it is left out of several rows.
    pub fn new(text: &Snapshot, rows: RowSpan, ending: LineEnding) -> Self {
        let start = rows.start.min(text.last_row());
        let mut end = Row(rows.end.0.clamp(start.0 + 1, text.row_count()));
        if end.0 > start.0 + 1 && text.row_start(end - 1) == text.len() {
            end -= 1;
        }
        let rows = RowSpan { start, end };
        let line = |row: u32| text.row_text(Row(row)).into_owned();
        let (from, to) = (text.row_start(start), text.row_start(end));
        Self {
            lines: (start.0..end.0).map(line).collect(),
            before: tail(
                &text.text(Span::new(base::ByteOffset(0), from)),
                CONTEXT_BYTES.end,
            ),
            after: head(&text.text(Span::new(to, text.len())), CONTEXT_BYTES.start),
            rows,
            ending,
        }
    }

    /// Returns the rows in the text that `new` was given.
    pub fn rows(&self) -> RowSpan {
        self.rows
    }

    /// Returns the lines without their endings.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns whether there is no text to rewrite, so that new text is inserted.
    pub fn is_blank(&self) -> bool {
        self.lines.iter().all(|line| line.trim().is_empty())
    }

    /// Returns the size of the lines in bytes.
    pub fn byte_len(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 1).sum()
    }

    pub(crate) fn before(&self) -> &str {
        &self.before
    }

    pub(crate) fn after(&self) -> &str {
        &self.after
    }

    /// Returns the lines as one text.
    pub(crate) fn text(&self) -> String {
        joined(&self.lines)
    }

    /// Returns the differences to the lines of an answer, in order; rows count from the start of
    /// the region. Rows that a partial answer has not reached yet count as kept.
    pub fn hunks(&self, lines: &[String], progress: AnswerProgress) -> Vec<RowHunk> {
        let mut hunks = Snapshot::new(&self.text()).diff_rows(&Snapshot::new(&joined(lines)));
        let end = Row(self.lines.len() as u32);
        if progress == AnswerProgress::Partial
            && let Some(last) = hunks.last_mut()
            && last.before.end == end
        {
            let replaced = last.after.len().min(last.before.len());
            last.before.end = last.before.start + replaced;
            if last.before.is_empty() && last.after.is_empty() {
                hunks.pop();
            }
        }
        hunks
    }

    /// Returns the edits that replace the rows by the lines of a complete answer. `first` is the
    /// row of `text` where the region, unchanged, begins now. Lines that the answer keeps are not
    /// touched.
    pub fn edits(&self, text: &Snapshot, first: Row, lines: &[String]) -> Vec<Edit> {
        let ending = self.ending.as_str();
        let hunks = self.hunks(lines, AnswerProgress::Complete);
        let edits = hunks.into_iter().map(|hunk| {
            let rows = first + hunk.before.start.0..first + hunk.before.end.0;
            let added = &lines[hunk.after.start.0 as usize..hunk.after.end.0 as usize];
            let mut added = added.join(ending);
            if rows.end <= text.last_row() {
                let span = Span::new(text.row_start(rows.start), text.row_start(rows.end));
                if !hunk.after.is_empty() {
                    added.push_str(ending);
                }
                return Edit::new(span, added);
            }
            if rows.start > text.last_row() {
                // The text has no line feed at its end.
                return Edit::new(Span::at(text.len()), format!("{ending}{added}"));
            }
            let span = Span::new(text.row_start(rows.start), text.len());
            if span.is_empty() && !hunk.after.is_empty() {
                // A new last line gets a line feed, as those before it have.
                added.push_str(ending);
            }
            Edit::new(span, added)
        });
        edits.collect()
    }
}

/// Joins lines to a text in which each line ends with a line feed.
pub(crate) fn joined(lines: &[String]) -> String {
    lines
        .iter()
        .flat_map(|line| [line.as_str(), "\n"])
        .collect()
}

/// Returns the whole rows at the end of `text` that fit into `bytes`, with line feeds alone.
fn tail(text: &str, bytes: usize) -> String {
    let start = text.len().saturating_sub(bytes);
    let start = match start {
        0 => 0,
        _ => {
            let start = (start..=text.len()).find(|at| text.is_char_boundary(*at));
            let start = start.unwrap_or(text.len());
            text[start..]
                .find('\n')
                .map_or(text.len(), |at| start + at + 1)
        }
    };
    text[start..].replace("\r\n", "\n")
}

/// Returns the whole rows at the start of `text` that fit into `bytes`, with line feeds alone.
fn head(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.replace("\r\n", "\n");
    }
    let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at));
    let text = &text[..end.unwrap_or(0)];
    let end = text.rfind('\n').map_or(0, |at| at + 1);
    text[..end].replace("\r\n", "\n")
}
