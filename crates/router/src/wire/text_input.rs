//! Takes a tool's text out of `{"input":"…"}` while it streams, for wires without tools of free text.

use serde_json::Value;

/// The member that holds the text.
pub(crate) const MEMBER: &str = "input";

/// Unwraps one call's arguments.
#[derive(Debug, Default)]
pub(crate) struct TextInput {
    state: State,
    /// What came while it is not known to be of the expected shape.
    held: String,
    /// An escape that is not complete.
    escape: String,
    /// The first half of a pair of escapes that make one letter.
    high: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the text's opening quote.
    #[default]
    Head,
    /// Inside the text.
    Body,
    /// Behind its closing quote.
    Tail,
    /// Of another shape: judged at the end, as a whole.
    Other,
}

/// How arguments ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Complete; this is the rest of the text.
    Complete(String),
    /// Cut inside the text or before it.
    Cut,
}

impl TextInput {
    /// Takes a fragment of JSON; gives the text it adds.
    pub(crate) fn feed(&mut self, fragment: &str) -> String {
        let mut text = String::new();
        match self.state {
            State::Head => {
                self.held.push_str(fragment);
                match head(&self.held) {
                    Head::Partial => {}
                    Head::Other => self.state = State::Other,
                    Head::Ends(at) => {
                        self.state = State::Body;
                        let rest = self.held.split_off(at);
                        self.body(&rest, &mut text);
                    }
                }
            }
            State::Body => self.body(fragment, &mut text),
            State::Tail => {}
            State::Other => self.held.push_str(fragment),
        }
        text
    }

    /// The arguments are complete, the provider says.
    pub(crate) fn finish(&mut self) -> Ending {
        match self.state {
            State::Tail => Ending::Complete(String::new()),
            State::Body => Ending::Cut,
            State::Head | State::Other => {
                let held = std::mem::take(&mut self.held);
                if held.trim().is_empty() {
                    return Ending::Complete(held);
                }
                match serde_json::from_str::<Value>(&held) {
                    Ok(Value::String(text)) => Ending::Complete(text),
                    Ok(Value::Object(members)) => match members.get(MEMBER) {
                        Some(Value::String(text)) => Ending::Complete(text.clone()),
                        _ => Ending::Complete(held),
                    },
                    // A model that forgot the wrapping wrote the text itself.
                    Err(_) if !held.trim_start().starts_with('{') => Ending::Complete(held),
                    Ok(_) => Ending::Complete(held),
                    Err(_) => Ending::Cut,
                }
            }
        }
    }

    fn body(&mut self, fragment: &str, text: &mut String) {
        for letter in fragment.chars() {
            if !self.escape.is_empty() {
                self.escape.push(letter);
                self.try_escape(text);
            } else if letter == '\\' {
                self.escape.push(letter);
            } else {
                self.flush_high(text);
                if letter == '"' {
                    self.state = State::Tail;
                    return;
                }
                text.push(letter);
            }
        }
    }

    fn try_escape(&mut self, text: &mut String) {
        let mut letters = self.escape.chars().skip(1);
        let Some(kind) = letters.next() else { return };
        let plain = match kind {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '"' | '\\' | '/' => kind,
            'u' => return self.try_unicode(text),
            _ => {
                // Not an escape of JSON: the model meant the backslash.
                self.flush_high(text);
                text.push_str(&std::mem::take(&mut self.escape));
                return;
            }
        };
        self.flush_high(text);
        self.escape.clear();
        text.push(plain);
    }

    fn try_unicode(&mut self, text: &mut String) {
        let digits = &self.escape[2..];
        if !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
            self.flush_high(text);
            text.push_str(&std::mem::take(&mut self.escape));
            return;
        }
        if digits.len() < 4 {
            return;
        }
        let unit = u32::from_str_radix(digits, 16).unwrap_or(0xfffd);
        self.escape.clear();
        match (self.high.take(), unit) {
            (Some(high), 0xdc00..=0xdfff) => {
                let code = 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            (before, unit) => {
                if before.is_some() {
                    text.push('\u{fffd}');
                }
                if (0xd800..=0xdbff).contains(&unit) {
                    self.high = Some(unit);
                } else {
                    text.push(char::from_u32(unit).unwrap_or('\u{fffd}'));
                }
            }
        }
    }

    fn flush_high(&mut self, text: &mut String) {
        if self.high.take().is_some() {
            text.push('\u{fffd}');
        }
    }
}

enum Head {
    /// More must come.
    Partial,
    /// Not `{"input":"`.
    Other,
    /// The text begins here.
    Ends(usize),
}

fn head(held: &str) -> Head {
    let mut rest = held;
    for piece in ["{", "\"input\"", ":", "\""] {
        rest = rest.trim_start_matches([' ', '\n', '\r', '\t']);
        if let Some(after) = rest.strip_prefix(piece) {
            rest = after;
        } else if piece.starts_with(rest) {
            return Head::Partial;
        } else {
            return Head::Other;
        }
    }
    Head::Ends(held.len() - rest.len())
}

#[cfg(test)]
mod tests;
