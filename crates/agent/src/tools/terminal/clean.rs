//! What a terminal would show, as plain text: control sequences gone, lines that were written over told once.

/// The longest line that is held back until it is complete, in bytes.
const LINE: usize = 16 << 10;

/// Takes control sequences out of an output that comes in pieces.
#[derive(Default)]
pub(super) struct Cleaner {
    state: State,
    /// The line that is being written.
    line: Vec<u8>,
    /// A carriage return came: the next char writes over the line, unless it is a line feed.
    has_returned: bool,
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
    pub(super) fn feed(&mut self, bytes: &[u8], clean: &mut Vec<u8>) {
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
    pub(super) fn flush(&mut self, clean: &mut Vec<u8>) {
        clean.append(&mut self.line);
    }

    fn text(&mut self, text: &[u8], clean: &mut Vec<u8>) {
        if self.has_returned {
            self.has_returned = false;
            self.line.clear();
        }
        self.line.extend_from_slice(text);
        if self.line.len() > LINE {
            clean.append(&mut self.line);
        }
    }

    fn sign(&mut self, byte: u8, clean: &mut Vec<u8>) {
        self.state = match (self.state, byte) {
            (State::Text, 0x1B) => State::Escape,
            (State::Text, _) => {
                self.control(byte, clean);
                State::Text
            }
            (State::Escape, b'[') => State::Control,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::Long,
            (State::Escape, 0x20..=0x2F) => State::Charset,
            (State::Escape | State::Charset, 0x1B) => State::Escape,
            (State::Escape | State::Charset, _) => State::Text,
            (State::Control, 0x40..=0x7E) => State::Text,
            (State::Control, 0x1B) => State::Escape,
            // A line feed within a sequence means that the sequence was torn.
            (State::Control, b'\n') => {
                self.control(byte, clean);
                State::Text
            }
            (State::Control, _) => State::Control,
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
                self.has_returned = false;
                clean.append(&mut self.line);
                clean.push(b'\n');
            }
            b'\r' => self.has_returned = true,
            b'\t' => self.text(b"\t", clean),
            0x08 => {
                // The whole char goes, however many bytes it has.
                while self.line.pop().is_some_and(|byte| byte & 0xC0 == 0x80) {}
            }
            _ => {}
        }
    }
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
