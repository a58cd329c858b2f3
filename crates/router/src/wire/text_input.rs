//! Extracts a tool's text from `{"input":"…"}` while it streams, for wires without free-text tools.

use serde_json::Value;

/// The member that contains the text.
pub(crate) const MEMBER: &str = "input";

/// Unwraps one call's arguments.
#[derive(Debug, Default)]
pub(crate) struct TextInput {
    state: TextInputState,
    /// Input whose format is not determined yet.
    held: String,
    /// An incomplete escape sequence.
    escape: String,
    /// A pending high surrogate.
    high: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TextInputState {
    /// Before the text's opening quote.
    #[default]
    Head,
    /// Inside the quoted text.
    Body,
    /// After its closing quote.
    Tail,
    /// A different format, parsed as a whole at the end.
    Other,
}

/// Final state of the arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputEnd {
    /// Complete, with the rest of the text.
    Complete(String),
    /// Truncated within the text or before it.
    Cut,
}

impl TextInput {
    /// Processes a fragment of JSON and returns the text that it adds, with escapes decoded.
    /// Returns an empty text until the arguments are known to have this form.
    pub(crate) fn feed(&mut self, fragment: &str) -> String {
        let mut text = String::new();
        match self.state {
            TextInputState::Head => {
                self.held.push_str(fragment);
                match head(&self.held) {
                    HeadMatch::Partial => {}
                    HeadMatch::Other => self.state = TextInputState::Other,
                    HeadMatch::Ends(at) => {
                        self.state = TextInputState::Body;
                        let rest = self.held.split_off(at);
                        self.body(&rest, &mut text);
                    }
                }
            }
            TextInputState::Body => self.body(fragment, &mut text),
            TextInputState::Tail => {}
            TextInputState::Other => self.held.push_str(fragment),
        }
        text
    }

    /// Processes the end of the arguments, as stated by the provider.
    pub(crate) fn finish(&mut self) -> InputEnd {
        match self.state {
            TextInputState::Tail => InputEnd::Complete(String::new()),
            TextInputState::Body => InputEnd::Cut,
            TextInputState::Head | TextInputState::Other => {
                let held = std::mem::take(&mut self.held);
                if held.trim().is_empty() {
                    return InputEnd::Complete(held);
                }
                match serde_json::from_str::<Value>(&held) {
                    Ok(Value::String(text)) => InputEnd::Complete(text),
                    Ok(Value::Object(members)) => match members.get(MEMBER) {
                        Some(Value::String(text)) => InputEnd::Complete(text.clone()),
                        _ => InputEnd::Complete(held),
                    },
                    // The model omitted the wrapping and wrote the text itself.
                    Err(_) if !held.trim_start().starts_with('{') => InputEnd::Complete(held),
                    Ok(_) => InputEnd::Complete(held),
                    Err(_) => InputEnd::Cut,
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
                    self.state = TextInputState::Tail;
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
                // Not a JSON escape: the model meant the backslash.
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

enum HeadMatch {
    /// More input is needed.
    Partial,
    /// Does not start with `{"input":"`.
    Other,
    /// The text starts at this offset.
    Ends(usize),
}

fn head(held: &str) -> HeadMatch {
    let mut rest = held;
    for piece in ["{", "\"input\"", ":", "\""] {
        rest = rest.trim_start_matches([' ', '\n', '\r', '\t']);
        if let Some(after) = rest.strip_prefix(piece) {
            rest = after;
        } else if piece.starts_with(rest) {
            return HeadMatch::Partial;
        } else {
            return HeadMatch::Other;
        }
    }
    HeadMatch::Ends(held.len() - rest.len())
}

#[cfg(test)]
mod tests;
