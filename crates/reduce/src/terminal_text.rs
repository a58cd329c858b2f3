//! Converts terminal output to plain text: removes control sequences and applies overwritten lines.
//!
//! Pure. A carriage return moves to the beginning of the line without erasing: the following text
//! overwrites the line character by character, and the rest of the line stays. Each character
//! counts as one column.
//! Written by hand rather than on the `vte` crate: a sequence that is torn by a line feed ends
//! there and loses no text, while `vte` goes on to take the next line's letters for its end.
//! Start at `plain`, or at `Cleaner` for output that arrives in chunks.

/// Maximum length of a line that is held back until it is complete, in bytes.
const LINE: usize = 16 << 10;
/// Maximum number of parameter bytes kept of a control sequence.
const PARAMETERS: usize = 16;

/// Returns an output as a terminal would show it in the end: without control sequences, and with
/// overwritten lines in their last state.
pub fn plain(output: &str) -> String {
    let mut cleaner = Cleaner::default();
    let mut clean = Vec::with_capacity(output.len());
    cleaner.feed(output.as_bytes(), &mut clean);
    cleaner.flush(&mut clean);
    String::from_utf8_lossy(&clean).into_owned()
}

/// Removes control sequences from output that arrives in chunks.
#[derive(Default)]
pub struct Cleaner {
    state: TerminalEscape,
    /// The line that is being written.
    line: Vec<u8>,
    /// Offset in the line of the next character, in bytes.
    cursor: usize,
    /// Whether the line was overwritten, so that trailing spaces are erased text.
    was_over: bool,
    /// Whether a part of the line was flushed and can no longer be overwritten.
    is_told: bool,
    /// The bytes between `ESC [` and the final byte of the sequence.
    parameters: Vec<u8>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum TerminalEscape {
    #[default]
    Text,
    /// After the ESC byte.
    Escape,
    /// After ESC and a byte that takes one more, such as `(`.
    Charset,
    /// Within a sequence that began with `ESC [`.
    Control,
    /// Within `ESC ]` and similar sequences, up to BEL or `ESC \`.
    Long,
    /// After ESC within such a sequence.
    LongEscape,
}

impl Cleaner {
    /// Takes a chunk, which may end anywhere, and appends the completed lines to `clean`. Holds
    /// back the last line until it is complete.
    pub fn feed(&mut self, bytes: &[u8], clean: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some((byte, behind)) = rest.split_first() {
            if self.state == TerminalEscape::Text && *byte >= 0x20 && *byte != 0x7F {
                let plain = rest
                    .iter()
                    .take_while(|byte| **byte >= 0x20 && **byte != 0x7F);
                let (text, more) = rest.split_at(plain.count());
                self.text(text, clean);
                rest = more;
            } else {
                self.sign(*byte, clean);
                rest = behind;
            }
        }
    }

    /// Appends the incomplete line to `clean`. Output that overwrites this line later has no effect
    /// on it.
    pub fn flush(&mut self, clean: &mut Vec<u8>) {
        self.rub_out();
        self.is_told |= !self.line.is_empty();
        clean.append(&mut self.line);
        self.cursor = 0;
    }

    fn text(&mut self, text: &[u8], clean: &mut Vec<u8>) {
        if self.cursor == self.line.len() {
            self.line.extend_from_slice(text);
            self.cursor = self.line.len();
        } else {
            self.was_over = true;
            // New characters replace the same number of old ones; the rest of a split character
            // replaces none.
            let letters = text.iter().filter(|byte| !is_inner(**byte)).count();
            let end = self.after(letters);
            self.line.splice(self.cursor..end, text.iter().copied());
            self.cursor += text.len();
        }
        if self.line.len() > LINE {
            self.flush(clean);
        }
    }

    /// Returns the offset `letters` characters after the cursor.
    fn after(&self, letters: usize) -> usize {
        let mut end = self.cursor;
        for _ in 0..letters {
            if end < self.line.len() {
                end += 1;
            }
            while self.line.get(end).is_some_and(|byte| is_inner(*byte)) {
                end += 1;
            }
        }
        end
    }

    fn sign(&mut self, byte: u8, clean: &mut Vec<u8>) {
        self.state = match (self.state, byte) {
            (TerminalEscape::Text, 0x1B) => TerminalEscape::Escape,
            (TerminalEscape::Text, _) => {
                self.control(byte, clean);
                TerminalEscape::Text
            }
            (TerminalEscape::Escape, b'[') => {
                self.parameters.clear();
                TerminalEscape::Control
            }
            (TerminalEscape::Escape, b']' | b'P' | b'X' | b'^' | b'_') => TerminalEscape::Long,
            (TerminalEscape::Escape, 0x20..=0x2F) => TerminalEscape::Charset,
            (TerminalEscape::Escape | TerminalEscape::Charset, 0x1B) => TerminalEscape::Escape,
            (TerminalEscape::Escape | TerminalEscape::Charset, _) => TerminalEscape::Text,
            (TerminalEscape::Control, 0x40..=0x7E) => {
                self.sequence(byte, clean);
                TerminalEscape::Text
            }
            (TerminalEscape::Control, 0x1B) => TerminalEscape::Escape,
            // A line feed within a sequence means that the sequence is incomplete.
            (TerminalEscape::Control, b'\n') => {
                self.control(byte, clean);
                TerminalEscape::Text
            }
            (TerminalEscape::Control, _) => {
                if self.parameters.len() < PARAMETERS {
                    self.parameters.push(byte);
                }
                TerminalEscape::Control
            }
            (TerminalEscape::Long, 0x07) => TerminalEscape::Text,
            (TerminalEscape::Long, 0x1B) => TerminalEscape::LongEscape,
            (TerminalEscape::Long, b'\n') => {
                self.control(byte, clean);
                TerminalEscape::Text
            }
            (TerminalEscape::Long, _) => TerminalEscape::Long,
            (TerminalEscape::LongEscape, b'\\') => TerminalEscape::Text,
            (TerminalEscape::LongEscape, 0x1B) => TerminalEscape::LongEscape,
            (TerminalEscape::LongEscape, _) => TerminalEscape::Long,
        };
    }

    fn control(&mut self, byte: u8, clean: &mut Vec<u8>) {
        match byte {
            b'\n' => {
                self.rub_out();
                clean.append(&mut self.line);
                clean.push(b'\n');
                (self.cursor, self.was_over, self.is_told) = (0, false, false);
            }
            b'\r' => self.go_back(clean),
            b'\t' => self.text(b"\t", clean),
            0x08 => {
                // A backspace removes the whole character, whatever its number of bytes.
                let mut begin = self.cursor;
                while begin > 0 {
                    begin -= 1;
                    if !is_inner(self.line[begin]) {
                        break;
                    }
                }
                self.line.drain(begin..self.cursor);
                self.cursor = begin;
            }
            _ => {}
        }
    }

    /// Applies the sequences that move within the line or erase it; others do not affect text.
    fn sequence(&mut self, byte: u8, clean: &mut Vec<u8>) {
        let number = std::str::from_utf8(&self.parameters).ok();
        let number = number.and_then(|text| text.parse::<usize>().ok());
        match (byte, number.unwrap_or_default()) {
            (b'K', 0) => self.line.truncate(self.cursor),
            (b'K', 2) => {
                let columns = self.columns();
                self.line.clear();
                self.line.resize(columns, b' ');
                (self.cursor, self.was_over) = (columns, true);
            }
            (b'G', 0 | 1) => self.go_back(clean),
            _ => {}
        }
    }

    /// Returns the number of characters before the cursor.
    fn columns(&self) -> usize {
        let before = self.line[..self.cursor].iter();
        before.filter(|byte| !is_inner(**byte)).count()
    }

    /// Moves to the beginning of the line. If a part of the line was flushed, the rest becomes a
    /// new line.
    fn go_back(&mut self, clean: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_told) {
            self.rub_out();
            clean.append(&mut self.line);
            clean.push(b'\n');
            self.was_over = false;
        }
        self.cursor = 0;
    }

    /// Removes trailing spaces from an overwritten line.
    fn rub_out(&mut self) {
        if self.was_over {
            let length = self.line.trim_ascii_end().len();
            self.line.truncate(length);
            self.cursor = self.cursor.min(length);
        }
    }
}

/// Returns whether a byte continues a multi-byte character.
fn is_inner(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: &str) {
        for size in [1, 2, 3, 1000] {
            let mut cleaner = Cleaner::default();
            let mut clean = Vec::new();
            for piece in output.as_bytes().chunks(size) {
                cleaner.feed(piece, &mut clean);
            }
            cleaner.flush(&mut clean);
            assert_eq!(
                String::from_utf8_lossy(&clean),
                expected,
                "{output:?} by {size}"
            );
        }
    }

    #[test]
    fn control_sequences_are_removed() {
        check("plain\ntext", "plain\ntext");
        check("\x1b[1;31merror\x1b[0m: no\n", "error: no\n");
        check(
            "\x1b]0;a title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n",
            "textlink\n",
        );
        check("\x1b(Bä€😀\x1b7\n", "ä€😀\n");
        check("a\x07b\x00c\x7fd\n", "abcd\n");
        check("torn \x1b[3\nnext\n", "torn \nnext\n");
        check("\x1b", "");
    }

    #[test]
    fn overwritten_lines_appear_once() {
        check("10%\r50%\r100%\ndone\n", "100%\ndone\n");
        check("one\r\ntwo\r\n", "one\ntwo\n");
        check("one\r\r\ntwo\r\n", "one\ntwo\n");
        check("abä\x08\x08c\n", "ac\n");
    }

    #[test]
    fn carriage_return_erases_nothing() {
        check("kept\r\n", "kept\n");
        check("kept\r", "kept");
        check("kept\r\r", "kept");
        check("50%\r\r\n", "50%\n");
        check("abcdef\rXY\n", "XYcdef\n");
        check("äöü\rß\n", "ßöü\n");
        check("a\rb\rc", "c");
    }

    #[test]
    fn erased_text_is_removed() {
        check("building\r        \rok\n", "ok\n");
        check("building\r\x1b[Kok\n", "ok\n");
        check("building\x1b[2K\x1b[1Gok\n", "ok\n");
        check("building\x1b[2K\rok\n", "ok\n");
        check("10%\x1b[1G20%\n", "20%\n");
        // Spaces at the end of a line that was not overwritten stay.
        check("a  \n", "a  \n");
    }

    #[test]
    fn flushed_text_is_not_overwritten() {
        let mut cleaner = Cleaner::default();
        let mut clean = Vec::new();
        cleaner.feed(b"10%", &mut clean);
        cleaner.flush(&mut clean);
        cleaner.feed(b"\r100%\r\n", &mut clean);
        assert_eq!(String::from_utf8_lossy(&clean), "10%\n100%\n");
    }

    #[test]
    fn a_whole_output_is_cleaned_at_once() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text), expected);
        check("a\nb\n", "a\nb\n");
        check("a\r\nb", "a\nb");
        check("10%\r50%\r100%\ndone", "100%\ndone");
        check("50%\r\r\n", "50%\n");
        check("\u{1b}[1;31merror\u{1b}[0m: x", "error: x");
        check("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\ y", "link y");
        check("ab\u{8}c", "ac");
        check("\u{1b}(Bx", "x");
        check("", "");
        check("\u{1b}[", "");
    }

    #[test]
    fn endless_line_is_flushed_at_the_limit() {
        let mut cleaner = Cleaner::default();
        let mut clean = Vec::new();
        for _ in 0..1000 {
            cleaner.feed(&[b'x'; 1000], &mut clean);
            assert!(cleaner.line.len() <= LINE + 1000);
        }
        assert!(clean.len() > 900_000);
    }
}
