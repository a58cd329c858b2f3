//! The position of the cursor in the output, shared by the printers of events.

use std::io;

use crate::Streams;

/// Tracks whether the last printed text ended inside a line, so that a whole line never continues
/// an unfinished line of a model.
#[derive(Default)]
pub(crate) struct OutputCursor {
    is_mid_line: bool,
}

impl OutputCursor {
    /// Writes a piece of a model's text to the output unchanged, and flushes the output. The next
    /// piece continues the last line of this piece. An empty piece leaves the position unchanged.
    pub(crate) fn print_text(&mut self, text: &str, streams: &mut Streams<'_>) -> io::Result<()> {
        streams.output.write_all(text.as_bytes())?;
        if let Some(last) = text.chars().last() {
            self.is_mid_line = last != '\n';
        }
        streams.output.flush()
    }

    /// Ends an unfinished line, then writes each line of `text` after `indent`, and flushes the
    /// output.
    pub(crate) fn print_lines(
        &mut self,
        indent: &str,
        text: &str,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        self.end_line(streams)?;
        for line in text.lines() {
            writeln!(streams.output, "{indent}{line}")?;
        }
        streams.output.flush()
    }

    /// Writes a line feed if the output is inside a line; otherwise does nothing.
    pub(crate) fn end_line(&mut self, streams: &mut Streams<'_>) -> io::Result<()> {
        if std::mem::take(&mut self.is_mid_line) {
            streams.output.write_all(b"\n")
        } else {
            Ok(())
        }
    }
}
