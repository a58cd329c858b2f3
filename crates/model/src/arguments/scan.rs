//! The state machine of the reader, char by char, strings by runs.

use serde_json::Value;

use super::{ArgumentEvent, ArgumentReader, ArgumentStep, Container, MOST_DEPTH, ProblemKind};

type Sink<'a> = dyn FnMut(&[ArgumentStep], ArgumentEvent<'_>) + 'a;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A value.
    Value,
    /// A key, or the end of an object that is empty so far.
    FirstKey,
    /// A key behind a comma.
    Key,
    /// More of a key.
    InKey,
    /// A colon.
    Colon,
    /// A value, or the end of an array that is empty so far.
    FirstItem,
    /// A value of an array behind a comma.
    Item,
    /// More of a string.
    InText,
    /// More of a number or a word.
    Token,
    /// A comma or an end.
    AfterValue,
    /// Nothing: the JSON is complete.
    Done,
    /// Nothing can be read any more.
    Broken,
}

/// How far a string has been read, where that is in the middle of an escape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Text {
    escape: Escape,
    /// The first half of a pair of surrogates, whose second should follow.
    high: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Backslash,
    Hex {
        digits: u8,
        value: u16,
    },
}

impl ArgumentReader {
    /// Takes as much of `rest` as belongs together, at least one char, and returns its length in bytes.
    pub(super) fn take(&mut self, rest: &str, sink: &mut Sink<'_>) -> usize {
        let Some(c) = rest.chars().next() else {
            return 0;
        };
        match self.state {
            State::InText | State::InKey => return self.take_text(rest, c, sink),
            State::Token if c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_') => {
                self.token.push(c);
                return c.len_utf8();
            }
            // The char behind a number ends it and is read again in its own right.
            State::Token => {
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
            (State::FirstItem, ']') | (State::FirstKey, '}') => self.close(sink),
            (State::Item, ']') | (State::Key, '}') => {
                self.note(ProblemKind::TrailingComma);
                self.close(sink);
            }
            (State::FirstKey | State::Key, '"') => {
                self.token.clear();
                self.text = Text::default();
                self.state = State::InKey;
            }
            (State::FirstKey | State::Key, c) => self.fail(ProblemKind::Unexpected(c, "a key")),
            (State::Colon, ':') => self.state = State::Value,
            (State::Colon, c) => self.fail(ProblemKind::Unexpected(c, "a colon")),
            (State::AfterValue, ',') => self.next(),
            (State::AfterValue, '}' | ']') => {
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
            (State::AfterValue, c) => self.fail(ProblemKind::Unexpected(c, "a comma")),
            (State::FirstItem, c) => {
                self.path.push(ArgumentStep::Index(0));
                self.begin(c, sink);
            }
            (State::Item | State::Value, c) => self.begin(c, sink),
            // What follows the end is noted once.
            (State::Done, _) => {
                let is_noted = |kind: &ProblemKind| *kind == ProblemKind::TrailingText;
                if !self
                    .problems
                    .last()
                    .is_some_and(|last| is_noted(&last.kind))
                {
                    self.note(ProblemKind::TrailingText);
                }
            }
            (State::InKey | State::InText | State::Token | State::Broken, _) => {}
        }
    }

    /// Behind a comma.
    fn next(&mut self) {
        match self.frames.last() {
            Some(Container::Object) => {
                self.path.pop();
                self.state = State::Key;
            }
            _ => {
                if let Some(ArgumentStep::Index(index)) = self.path.last_mut() {
                    *index += 1;
                }
                self.state = State::Item;
            }
        }
    }

    fn begin(&mut self, c: char, sink: &mut Sink<'_>) {
        match c {
            '{' => self.open(Container::Object, sink),
            '[' => self.open(Container::Array, sink),
            '"' => {
                self.text = Text::default();
                self.state = State::InText;
            }
            c if c.is_ascii_alphanumeric() || c == '-' => {
                self.token.clear();
                self.token.push(c);
                self.state = State::Token;
            }
            c => self.fail(ProblemKind::Unexpected(c, "a value")),
        }
    }

    fn open(&mut self, container: Container, sink: &mut Sink<'_>) {
        if self.frames.len() >= MOST_DEPTH {
            return self.fail(ProblemKind::TooDeep);
        }
        self.frames.push(container);
        sink(&self.path, ArgumentEvent::Open(container));
        self.state = match container {
            Container::Object => State::FirstKey,
            Container::Array => State::FirstItem,
        };
    }

    /// The step into the container has been taken back where there was one.
    fn close(&mut self, sink: &mut Sink<'_>) {
        if self.state == State::Item {
            self.path.pop();
        }
        if let Some(container) = self.frames.pop() {
            sink(&self.path, ArgumentEvent::Close(container));
        }
        self.end_value();
    }

    fn end_value(&mut self) {
        self.state = match self.frames.is_empty() {
            true => State::Done,
            false => State::AfterValue,
        };
    }

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

    fn take_text(&mut self, rest: &str, c: char, sink: &mut Sink<'_>) -> usize {
        match self.text.escape {
            Escape::None => {}
            Escape::Backslash => {
                self.escaped(c, sink);
                return c.len_utf8();
            }
            Escape::Hex { digits, value } => return self.hex(c, digits, value, sink),
        }
        if c == '\\' {
            self.text.escape = Escape::Backslash;
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
            self.text.escape = Escape::Hex {
                digits: 0,
                value: 0,
            };
            return;
        }
        self.text.escape = Escape::None;
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

    /// A digit of `\u`. A char that is none ends the escape and is read again in its own right.
    fn hex(&mut self, c: char, digits: u8, value: u16, sink: &mut Sink<'_>) -> usize {
        let Some(digit) = c.to_digit(16) else {
            self.text.escape = Escape::None;
            self.end_pair(sink);
            self.note(ProblemKind::BadEscape('u'));
            self.write("\u{fffd}", sink);
            return 0;
        };
        let value = value << 4 | digit as u16;
        if digits < 3 {
            self.text.escape = Escape::Hex {
                digits: digits + 1,
                value,
            };
            return 1;
        }
        self.text.escape = Escape::None;
        self.unit(value, sink);
        1
    }

    /// A unit of UTF-16 is complete.
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

    /// Whatever comes now is not the second half of a pair.
    fn end_pair(&mut self, sink: &mut Sink<'_>) {
        if self.text.high.take().is_some() {
            self.note(ProblemKind::LoneSurrogate);
            self.write("\u{fffd}", sink);
        }
    }

    fn write(&mut self, text: &str, sink: &mut Sink<'_>) {
        match self.state {
            State::InKey => self.token.push_str(text),
            _ => sink(&self.path, ArgumentEvent::Text(text)),
        }
    }

    fn end_text(&mut self, sink: &mut Sink<'_>) {
        if self.state == State::InKey {
            let key = std::mem::take(&mut self.token);
            self.path.push(ArgumentStep::Key(key));
            self.state = State::Colon;
        } else {
            sink(&self.path, ArgumentEvent::TextEnd);
            self.end_value();
        }
    }
}
