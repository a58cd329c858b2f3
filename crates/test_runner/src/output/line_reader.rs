//! Splits output into lines without control sequences.

/// Joins chunks of bytes to lines.
pub(super) struct LineReader {
    /// The incomplete line, up to the maximum length.
    partial: Vec<u8>,
    max_line: usize,
}

impl LineReader {
    /// Creates a reader that drops what exceeds `max_line` bytes of a line.
    pub(super) fn new(max_line: usize) -> Self {
        Self {
            partial: Vec::new(),
            max_line,
        }
    }

    /// Returns the lines that a chunk completes.
    pub(super) fn feed(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut parts = chunk.split(|byte| *byte == b'\n');
        let mut part = parts.next();
        while let Some(bytes) = part {
            let room = self.max_line - self.partial.len();
            self.partial
                .extend_from_slice(&bytes[..bytes.len().min(room)]);
            part = parts.next();
            if part.is_some() {
                lines.push(text_of(&std::mem::take(&mut self.partial)));
            }
        }
        lines
    }

    /// Returns the last line if it has no line feed.
    pub(super) fn finish(&mut self) -> Option<String> {
        let partial = std::mem::take(&mut self.partial);
        (!partial.is_empty()).then(|| text_of(&partial))
    }
}

/// Returns a line as text without escape sequences and without its carriage return.
fn text_of(bytes: &[u8]) -> String {
    let line = String::from_utf8_lossy(bytes);
    let line = line.trim_end_matches('\r');
    if !line.contains('\x1b') {
        return line.to_owned();
    }
    without_escapes(line)
}

/// Removes the escape sequences of terminals.
pub(super) fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\x1b' {
            plain.push(char);
            continue;
        }
        match chars.next() {
            // A control sequence ends with a letter.
            Some('[') => while chars.next().is_some_and(|it| !matches!(it, '@'..='~')) {},
            // A command of the system ends with BEL or ST.
            Some(']') => while chars.next().is_some_and(|it| !matches!(it, '\x07' | '\\')) {},
            _ => {}
        }
    }
    plain
}
