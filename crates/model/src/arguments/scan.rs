//! State machine of the reader. Consumes char by char, and runs of chars within strings.

use serde_json::Value;

use super::{ArgumentEvent, ArgumentReader, ArgumentStep, Container, MAX_DEPTH, ProblemKind};

type Sink<'a> = dyn FnMut(&[ArgumentStep], ArgumentEvent<'_>) + 'a;

/// The syntax expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanState {
    /// A value of any kind.
    Value,
    /// A key, or the end of a still empty object.
    FirstKey,
    /// A key after a comma.
    Key,
    /// The rest of a key.
    InKey,
    /// The colon after a key.
    Colon,
    /// A value, or the end of a still empty array.
    FirstItem,
    /// An array element after a comma.
    Item,
    /// The rest of a string.
    InText,
    /// The rest of a number or word.
    Token,
    /// A comma, or the end of the container.
    AfterValue,
    /// Nothing: the JSON is complete.
    Done,
    /// Nothing: parsing has stopped at an error.
    Broken,
}

/// Position within a string, which may be inside an escape sequence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StringState {
    escape: EscapeState,
    /// A high surrogate whose low surrogate should follow.
    high: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EscapeState {
    #[default]
    None,
    Backslash,
    Hex {
        digits: u8,
        value: u16,
    },
}

impl ArgumentReader {
    /// Consumes the next unit of `rest`, at least one char, and returns its length in bytes.
    pub(super) fn take(&mut self, rest: &str, sink: &mut Sink<'_>) -> usize {
        let Some(c) = rest.chars().next() else {
            return 0;
        };
        match self.state {
            ScanState::InText | ScanState::InKey => return self.take_text(rest, c, sink),
            ScanState::Token if c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_') => {
                self.token.push(c);
                return c.len_utf8();
            }
            // The char after a number ends it and is consumed separately.
            ScanState::Token => {
                self.end_token(sink);
                return 0;
            }
            _ => {}
        }
        if !matches!(c, ' ' | '\t' | '\n' | '\r') {
            self.take_mark(c, sink);
        }
        c.len_utf8()
    }

    fn take_mark(&mut self, c: char, sink: &mut Sink<'_>) {
        match (self.state, c) {
            (ScanState::FirstItem, ']') | (ScanState::FirstKey, '}') => self.close(sink),
            (ScanState::Item, ']') | (ScanState::Key, '}') => {
                self.note(ProblemKind::TrailingComma);
                self.close(sink);
            }
            (ScanState::FirstKey | ScanState::Key, '"') => {
                self.token.clear();
                self.text = StringState::default();
                self.state = ScanState::InKey;
            }
            (ScanState::FirstKey | ScanState::Key, c) => {
                self.fail(ProblemKind::Unexpected(c, "a key"))
            }
            (ScanState::Colon, ':') => self.state = ScanState::Value,
            (ScanState::Colon, c) => self.fail(ProblemKind::Unexpected(c, "a colon")),
            (ScanState::AfterValue, ',') => self.next(),
            (ScanState::AfterValue, '}' | ']') => {
                let expected = match self.frames.last() {
                    Some(Container::Object) => '}',
                    _ => ']',
                };
                if c == expected {
                    self.path.pop();
                    self.close(sink);
                } else {
                    self.fail(ProblemKind::Unexpected(c, "a comma or the other bracket"));
                }
            }
            (ScanState::AfterValue, c) => self.fail(ProblemKind::Unexpected(c, "a comma")),
            (ScanState::FirstItem, c) => {
                self.path.push(ArgumentStep::Index(0));
                self.begin_value(c, sink);
            }
            (ScanState::Item | ScanState::Value, c) => self.begin_value(c, sink),
            // Trailing text is reported once.
            (ScanState::Done, _) => {
                let is_noted = |kind: &ProblemKind| *kind == ProblemKind::TrailingText;
                if !self
                    .problems
                    .last()
                    .is_some_and(|last| is_noted(&last.kind))
                {
                    self.note(ProblemKind::TrailingText);
                }
            }
            (ScanState::InKey | ScanState::InText | ScanState::Token | ScanState::Broken, _) => {}
        }
    }

    /// Continues after a comma.
    fn next(&mut self) {
        match self.frames.last() {
            Some(Container::Object) => {
                self.path.pop();
                self.state = ScanState::Key;
            }
            _ => {
                if let Some(ArgumentStep::Index(index)) = self.path.last_mut() {
                    *index += 1;
                }
                self.state = ScanState::Item;
            }
        }
    }

    fn begin_value(&mut self, c: char, sink: &mut Sink<'_>) {
        match c {
            '{' => self.open(Container::Object, sink),
            '[' => self.open(Container::Array, sink),
            '"' => {
                self.text = StringState::default();
                self.state = ScanState::InText;
            }
            c if c.is_ascii_alphanumeric() || c == '-' => {
                self.token.clear();
                self.token.push(c);
                self.state = ScanState::Token;
            }
            c => self.fail(ProblemKind::Unexpected(c, "a value")),
        }
    }

    fn open(&mut self, container: Container, sink: &mut Sink<'_>) {
        if self.frames.len() >= MAX_DEPTH {
            return self.fail(ProblemKind::TooDeep);
        }
        self.frames.push(container);
        sink(&self.path, ArgumentEvent::Open(container));
        self.state = match container {
            Container::Object => ScanState::FirstKey,
            Container::Array => ScanState::FirstItem,
        };
    }

    /// The path no longer contains the step into the container.
    fn close(&mut self, sink: &mut Sink<'_>) {
        if self.state == ScanState::Item {
            self.path.pop();
        }
        if let Some(container) = self.frames.pop() {
            sink(&self.path, ArgumentEvent::Close(container));
        }
        self.end_value();
    }

    fn end_value(&mut self) {
        self.state = if self.frames.is_empty() {
            ScanState::Done
        } else {
            ScanState::AfterValue
        };
    }

    /// Ends a number or word: emits its value, or stops parsing if it is invalid. A Python literal
    /// is read as its JSON equivalent and noted.
    pub(super) fn end_token(&mut self, sink: &mut Sink<'_>) {
        let token = std::mem::take(&mut self.token);
        let foreign = match token.as_str() {
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            "None" => Some(Value::Null),
            _ => None,
        };
        let value = match foreign {
            Some(value) => {
                self.note(ProblemKind::ForeignWord(token));
                value
            }
            None => match serde_json::from_str(&token) {
                Ok(value) => value,
                Err(_) => return self.fail(ProblemKind::BadToken(token)),
            },
        };
        sink(&self.path, ArgumentEvent::Value(value));
        self.end_value();
    }

    /// Takes the next part of a string: a part of an escape, the closing quote, a control character
    /// or a run of other characters. `rest` begins with `c`. Returns the number of bytes taken; 0
    /// if `c` ended an escape and is to be read again.
    fn take_text(&mut self, rest: &str, c: char, sink: &mut Sink<'_>) -> usize {
        match self.text.escape {
            EscapeState::None => {}
            EscapeState::Backslash => {
                self.escaped(c, sink);
                return c.len_utf8();
            }
            EscapeState::Hex { digits, value } => return self.hex(c, digits, value, sink),
        }
        if c == '\\' {
            self.text.escape = EscapeState::Backslash;
            return 1;
        }
        self.end_pair(sink);
        if c == '"' {
            self.end_text(sink);
            return 1;
        }
        if c < ' ' {
            self.note(ProblemKind::BareControl(c));
            self.write(c.encode_utf8(&mut [0; 4]), sink);
            return c.len_utf8();
        }
        let run = rest
            .bytes()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))
            .unwrap_or(rest.len());
        self.write(&rest[..run], sink);
        run
    }

    fn escaped(&mut self, c: char, sink: &mut Sink<'_>) {
        if c == 'u' {
            self.text.escape = EscapeState::Hex {
                digits: 0,
                value: 0,
            };
            return;
        }
        self.text.escape = EscapeState::None;
        self.end_pair(sink);
        let plain = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            _ => {
                self.note(ProblemKind::BadEscape(c));
                self.write("\\", sink);
                c
            }
        };
        self.write(plain.encode_utf8(&mut [0; 4]), sink);
    }

    /// Adds a hexadecimal digit to a `\u` escape. Any other char ends the escape as invalid, which
    /// writes U+FFFD. Returns whether `c` was consumed: 1, or 0 if the caller reads it again.
    fn hex(&mut self, c: char, digits: u8, value: u16, sink: &mut Sink<'_>) -> usize {
        let Some(digit) = c.to_digit(16) else {
            self.text.escape = EscapeState::None;
            self.end_pair(sink);
            self.note(ProblemKind::BadEscape('u'));
            self.write("\u{fffd}", sink);
            return 0;
        };
        let value = value << 4 | digit as u16;
        if digits < 3 {
            self.text.escape = EscapeState::Hex {
                digits: digits + 1,
                value,
            };
            return 1;
        }
        self.text.escape = EscapeState::None;
        self.unit(value, sink);
        1
    }

    /// Handles a complete UTF-16 code unit.
    fn unit(&mut self, unit: u16, sink: &mut Sink<'_>) {
        if let (Some(high), 0xdc00..0xe000) = (self.text.high, unit) {
            self.text.high = None;
            let scalar = 0x10000 + (u32::from(high) - 0xd800) * 0x400 + (u32::from(unit) - 0xdc00);
            let c = char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
            return self.write(c.encode_utf8(&mut [0; 4]), sink);
        }
        self.end_pair(sink);
        match unit {
            0xd800..0xdc00 => self.text.high = Some(unit),
            _ => match char::from_u32(u32::from(unit)) {
                Some(c) => self.write(c.encode_utf8(&mut [0; 4]), sink),
                None => {
                    self.note(ProblemKind::LoneSurrogate);
                    self.write("\u{fffd}", sink);
                }
            },
        }
    }

    /// Flushes a pending high surrogate: the next unit does not complete it.
    fn end_pair(&mut self, sink: &mut Sink<'_>) {
        if self.text.high.take().is_some() {
            self.note(ProblemKind::LoneSurrogate);
            self.write("\u{fffd}", sink);
        }
    }

    fn write(&mut self, text: &str, sink: &mut Sink<'_>) {
        match self.state {
            ScanState::InKey => self.token.push_str(text),
            _ => sink(&self.path, ArgumentEvent::Text(text)),
        }
    }

    fn end_text(&mut self, sink: &mut Sink<'_>) {
        if self.state == ScanState::InKey {
            let key = std::mem::take(&mut self.token);
            self.path.push(ArgumentStep::Key(key));
            self.state = ScanState::Colon;
        } else {
            sink(&self.path, ArgumentEvent::TextEnd);
            self.end_value();
        }
    }
}
