//! The keys that a user typed into an agent's command, in readable form.
//!
//! Invariant: input that the program hid, such as a password, is counted and not kept.

/// Maximum size of the kept keys in bytes.
const MAX_KEPT: usize = 4 << 10;

/// The typed keys since the command was taken over.
#[derive(Debug, Default)]
pub(super) struct TypedKeys {
    text: String,
    /// Number of keys, hidden ones included.
    count: u64,
    /// Number of keys that are not in the text because the program hid them.
    hidden: u64,
    /// Number of keys that are not in the text because it is full.
    left_out: u64,
}

/// The keys that were typed until a command was given back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypedReport {
    /// Number of keys.
    pub(crate) count: u64,
    /// The keys as the agent reads them, over several lines.
    pub(crate) text: String,
}

/// A key of an input.
enum TypedKey {
    Text(char),
    Named(&'static str),
    Control(u8),
    /// A report of the terminal, such as of the mouse, or a mark of pasted text.
    Report,
}

impl TypedKeys {
    /// Adds bytes that the program was sent.
    pub(super) fn push(&mut self, bytes: &[u8], is_hidden: bool) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (key, length) = next_key(rest);
            rest = &rest[length.clamp(1, rest.len())..];
            self.add(&key, is_hidden);
        }
    }

    fn add(&mut self, key: &TypedKey, is_hidden: bool) {
        if matches!(key, TypedKey::Report) {
            return;
        }
        self.count += 1;
        if is_hidden {
            self.hidden += 1;
        } else if self.text.len() >= MAX_KEPT {
            self.left_out += 1;
        } else {
            match key {
                TypedKey::Text(letter) => self.text.push(*letter),
                TypedKey::Named(name) => self.text.push_str(&format!("<{name}>")),
                TypedKey::Control(byte) => {
                    let letter = char::from(byte + 0x40);
                    self.text.push_str(&format!("<Ctrl+{letter}>"));
                }
                TypedKey::Report => {}
            }
        }
    }

    /// Returns the report, and begins a new one.
    pub(super) fn take_report(&mut self) -> TypedReport {
        let Self {
            text,
            count,
            hidden,
            left_out,
        } = std::mem::take(self);
        let mut lines = Vec::new();
        if count == 0 {
            lines.push("They typed nothing.".to_owned());
        }
        if !text.is_empty() {
            lines.push(format!(
                "They typed, with names of keys in angle brackets:\n{text}"
            ));
        }
        if left_out > 0 {
            lines.push(format!("[and {left_out} more keys]"));
        }
        if hidden > 0 {
            lines.push(format!(
                "[{hidden} keys were typed while the program hid its input, such as a password; they are not shown]"
            ));
        }
        TypedReport {
            count,
            text: lines.join("\n"),
        }
    }
}

/// Returns the first key of an input, and its length in bytes.
fn next_key(bytes: &[u8]) -> (TypedKey, usize) {
    match bytes[0] {
        b'\r' | b'\n' => (TypedKey::Named("Enter"), 1),
        b'\t' => (TypedKey::Named("Tab"), 1),
        0x7f | 0x08 => (TypedKey::Named("Backspace"), 1),
        0x1b => escaped_key(bytes),
        byte @ 0..0x20 => (TypedKey::Control(byte), 1),
        _ => {
            let length = bytes.len().min(4);
            let letter = bytes[..length].utf8_chunks().next();
            let letter = letter.and_then(|chunk| chunk.valid().chars().next());
            let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
            let is_lost = letter == char::REPLACEMENT_CHARACTER;
            let length = if is_lost { 1 } else { letter.len_utf8() };
            (TypedKey::Text(letter), length)
        }
    }
}

/// Returns the key of an escape sequence, and its length in bytes.
fn escaped_key(bytes: &[u8]) -> (TypedKey, usize) {
    let (parameters, last, length) = match bytes.get(1) {
        Some(b'[') => {
            let Some(end) = bytes[2..].iter().position(|it| (0x40..=0x7e).contains(it)) else {
                return (TypedKey::Report, bytes.len());
            };
            (&bytes[2..2 + end], bytes[2 + end], end + 3)
        }
        Some(b'O') if bytes.len() > 2 => (&bytes[2..2], bytes[2], 3),
        Some(_) | None => return (TypedKey::Named("Escape"), 1),
    };
    let first = parameters.split(|it| *it == b';').next();
    let name = match (last, first.unwrap_or_default()) {
        (b'A', _) => "Up",
        (b'B', _) => "Down",
        (b'C', _) => "Right",
        (b'D', _) => "Left",
        (b'H', _) | (b'~', b"1" | b"7") => "Home",
        (b'F', _) | (b'~', b"4" | b"8") => "End",
        (b'~', b"2") => "Insert",
        (b'~', b"3") => "Delete",
        (b'~', b"5") => "Page Up",
        (b'~', b"6") => "Page Down",
        (b'Z', _) => "Shift+Tab",
        // Marks of pasted text, the mouse and the focus.
        (b'~', b"200" | b"201") | (b'M' | b'm' | b'I' | b'O', _) => {
            return (TypedKey::Report, length);
        }
        _ => "another key",
    };
    (TypedKey::Named(name), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_and_hidden_ones_are_only_counted() {
        let check = |typed: &[u8], expected: &str, count: u64| {
            let mut keys = TypedKeys::default();
            keys.push(typed, false);
            assert_eq!(keys.text, expected);
            assert_eq!(keys.count, count);
        };
        check("yes \u{e4}\r".as_bytes(), "yes \u{e4}<Enter>", 6);
        check(
            b"\x03\x1b[A\x1bOB\x1b[3~\x1b",
            "<Ctrl+C><Up><Down><Delete><Escape>",
            5,
        );
        check(b"\x1b[200~a\x1b[201~\x1b[<0;1;1M", "a", 1);
        check(b"\xff\x1b[", "\u{fffd}", 1);
        let mut keys = TypedKeys::default();
        keys.push(b"secret", true);
        keys.push(b"y", false);
        let report = keys.take_report();
        assert_eq!(report.count, 7);
        assert!(
            report.text.contains("brackets:\ny\n[6 keys"),
            "{}",
            report.text
        );
        assert!(!report.text.contains("secret"));
        assert_eq!(keys.take_report().text, "They typed nothing.");
    }

    #[test]
    fn long_input_is_bounded() {
        let mut keys = TypedKeys::default();
        keys.push(&vec![b'x'; 3 * MAX_KEPT], false);
        let report = keys.take_report();
        assert_eq!(report.count, 3 * MAX_KEPT as u64);
        assert!(report.text.len() < MAX_KEPT + 200);
        assert!(report.text.ends_with("[and 8192 more keys]"));
    }
}
