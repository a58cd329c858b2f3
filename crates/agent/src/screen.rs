//! What a terminal would show, as plain text: control sequences gone, lines that were written over told once.
//!
//! Pure. A carriage return goes back to the beginning of the line and takes nothing away: what comes next writes over
//! what stands there, letter by letter, and the rest of the line stays. Letters count as one column each.
//! Start at `plain`, or at `Cleaner` where an output comes in pieces.

/// The longest line that is held back until it is complete, in bytes.
const LINE: usize = 16 << 10;
/// The most digits of a control sequence that are kept.
const PARAMETERS: usize = 16;

/// An output as a terminal would show it.
pub(crate) fn plain(output: &str) -> String {
    let mut cleaner = Cleaner::default();
    let mut clean = Vec::with_capacity(output.len());
    cleaner.feed(output.as_bytes(), &mut clean);
    cleaner.flush(&mut clean);
    String::from_utf8_lossy(&clean).into_owned()
}

/// Takes control sequences out of an output that comes in pieces.
#[derive(Default)]
pub(crate) struct Cleaner {
    state: State,
    /// The line that is being written.
    line: Vec<u8>,
    /// Where in the line the next letter goes, in bytes.
    cursor: usize,
    /// Whether the line was written over, so that blanks at its end are what was rubbed out.
    was_over: bool,
    /// Whether a part of the line was handed over, which cannot be written over any more.
    is_told: bool,
    /// What stands between `ESC [` and the letter that ends the sequence.
    parameters: Vec<u8>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// Behind ESC.
    Escape,
    /// Behind ESC and a byte that wants one more, such as `(`.
    Charset,
    /// Within `ESC [`.
    Control,
    /// Within `ESC ]` and the like, up to BEL or `ESC \`.
    Long,
    /// Within one of these, behind ESC.
    LongEscape,
}

impl Cleaner {
    /// Takes a piece, cut anywhere; complete lines go to `clean`.
    pub(crate) fn feed(&mut self, bytes: &[u8], clean: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some((byte, behind)) = rest.split_first() {
            if self.state == State::Text && *byte >= 0x20 && *byte != 0x7F {
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

    /// Hands over the line that is not complete.
    pub(crate) fn flush(&mut self, clean: &mut Vec<u8>) {
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
            // As many letters go as come; of one that was cut, the rest replaces nothing.
            let letters = text.iter().filter(|byte| !is_inner(**byte)).count();
            let end = self.after(letters);
            self.line.splice(self.cursor..end, text.iter().copied());
            self.cursor += text.len();
        }
        if self.line.len() > LINE {
            self.flush(clean);
        }
    }

    /// The place so many letters behind the cursor.
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
            (State::Text, 0x1B) => State::Escape,
            (State::Text, _) => {
                self.control(byte, clean);
                State::Text
            }
            (State::Escape, b'[') => {
                self.parameters.clear();
                State::Control
            }
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::Long,
            (State::Escape, 0x20..=0x2F) => State::Charset,
            (State::Escape | State::Charset, 0x1B) => State::Escape,
            (State::Escape | State::Charset, _) => State::Text,
            (State::Control, 0x40..=0x7E) => {
                self.sequence(byte, clean);
                State::Text
            }
            (State::Control, 0x1B) => State::Escape,
            // A line feed within a sequence means that the sequence was torn.
            (State::Control, b'\n') => {
                self.control(byte, clean);
                State::Text
            }
            (State::Control, _) => {
                if self.parameters.len() < PARAMETERS {
                    self.parameters.push(byte);
                }
                State::Control
            }
            (State::Long, 0x07) => State::Text,
            (State::Long, 0x1B) => State::LongEscape,
            (State::Long, b'\n') => {
                self.control(byte, clean);
                State::Text
            }
            (State::Long, _) => State::Long,
            (State::LongEscape, b'\\') => State::Text,
            (State::LongEscape, 0x1B) => State::LongEscape,
            (State::LongEscape, _) => State::Long,
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
                // The whole char goes, however many bytes it has.
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

    /// Those that move within the line or rub it out; the others change nothing that is text.
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

    /// Letters before the cursor.
    fn columns(&self) -> usize {
        let before = self.line[..self.cursor].iter();
        before.filter(|byte| !is_inner(**byte)).count()
    }

    /// To the beginning of the line. What was handed over of it stays, so the rest is a line of its own.
    fn go_back(&mut self, clean: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_told) {
            self.rub_out();
            clean.append(&mut self.line);
            clean.push(b'\n');
            self.was_over = false;
        }
        self.cursor = 0;
    }

    /// Takes blanks off the end of a line that was written over.
    fn rub_out(&mut self) {
        if self.was_over {
            let length = self.line.trim_ascii_end().len();
            self.line.truncate(length);
            self.cursor = self.cursor.min(length);
        }
    }
}

/// Whether a byte continues a letter of several.
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
    fn sequences_go_and_text_stays() {
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
    fn lines_written_over_are_told_once() {
        check("10%\r50%\r100%\ndone\n", "100%\ndone\n");
        check("one\r\ntwo\r\n", "one\ntwo\n");
        check("one\r\r\ntwo\r\n", "one\ntwo\n");
        check("abä\x08\x08c\n", "ac\n");
    }

    #[test]
    fn a_carriage_return_takes_nothing_away() {
        check("kept\r\n", "kept\n");
        check("kept\r", "kept");
        check("kept\r\r", "kept");
        check("50%\r\r\n", "50%\n");
        check("abcdef\rXY\n", "XYcdef\n");
        check("äöü\rß\n", "ßöü\n");
        check("a\rb\rc", "c");
    }

    #[test]
    fn what_is_rubbed_out_is_gone() {
        check("building\r        \rok\n", "ok\n");
        check("building\r\x1b[Kok\n", "ok\n");
        check("building\x1b[2K\x1b[1Gok\n", "ok\n");
        check("building\x1b[2K\rok\n", "ok\n");
        check("10%\x1b[1G20%\n", "20%\n");
        // Blanks that nothing was written over stay.
        check("a  \n", "a  \n");
    }

    #[test]
    fn what_was_handed_over_is_not_written_over() {
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
    fn a_line_without_end_is_not_held_back_for_ever() {
        let mut cleaner = Cleaner::default();
        let mut clean = Vec::new();
        for _ in 0..1000 {
            cleaner.feed(&[b'x'; 1000], &mut clean);
            assert!(cleaner.line.len() <= LINE + 1000);
        }
        assert!(clean.len() > 900_000);
    }
}
