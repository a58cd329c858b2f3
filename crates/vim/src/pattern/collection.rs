//! Classes and collections of characters: `\s`, `[a-z[:digit:]]`.
//!
//! Start at `parse`.

/// A translated collection.
pub(super) struct Collection {
    pub(super) regex: String,
    /// Characters behind the opening bracket, with the closing one.
    pub(super) length: usize,
    pub(super) has_capital: bool,
    /// Whether `\n` is in it.
    pub(super) has_line_end: bool,
}

/// Returns the class of a letter after a backslash, for the engine. No class contains a line end.
// tidy: table
pub(super) fn class(letter: char) -> Option<&'static str> {
    Some(match letter {
        'i' => r"[0-9A-Za-z_\xb5\xc0-\xff]",
        'I' => r"[A-Za-z_\xb5\xc0-\xff]",
        'k' => r"\w",
        'K' => r"[\w--\d]",
        'f' => r"[0-9A-Za-z/._+,#$%~=\-\xc0-\xff]",
        'F' => r"[A-Za-z/._+,#$%~=\-\xc0-\xff]",
        'p' => r"[^\x00-\x1f\x7f-\x9f]",
        'P' => r"[^\x00-\x1f\x7f-\x9f0-9]",
        's' => r"[ \t]",
        'S' => r"[^ \t\n\r]",
        'd' => "[0-9]",
        'D' => r"[^0-9\n\r]",
        'x' => "[0-9A-Fa-f]",
        'X' => r"[^0-9A-Fa-f\n\r]",
        'o' => "[0-7]",
        'O' => r"[^0-7\n\r]",
        'w' => "[0-9A-Za-z_]",
        'W' => r"[^0-9A-Za-z_\n\r]",
        'h' => "[A-Za-z_]",
        'H' => r"[^A-Za-z_\n\r]",
        'a' => "[A-Za-z]",
        'A' => r"[^A-Za-z\n\r]",
        'l' => "[a-z]",
        'L' => r"[^a-z\n\r]",
        'u' => "[A-Z]",
        'U' => r"[^A-Z\n\r]",
        _ => return None,
    })
}

/// Returns the regular expression of a literal character.
pub(super) fn escaped(char: char) -> String {
    match char {
        '\n' => r"\n".to_owned(),
        '\0' => r"\x00".to_owned(),
        _ if char.is_ascii_punctuation() || char == ' ' => format!("\\x{:02x}", char as u32),
        _ => char.to_string(),
    }
}

/// Reads the number of a character: decimal after `d`, hexadecimal after `x`, `u` and `U`, octal
/// after `o`. Returns the character and the number of digits.
pub(super) fn code(kind: char, rest: &[char]) -> Option<(char, usize)> {
    let (radix, most) = match kind {
        'd' => (10, 10),
        'x' => (16, 2),
        'u' => (16, 4),
        'U' => (16, 8),
        'o' => (8, 4),
        _ => return None,
    };
    let digits: String = rest
        .iter()
        .take(most)
        .take_while(|char| char.is_digit(radix))
        .collect();
    let number = u32::from_str_radix(&digits, radix).ok()?;
    Some((char::from_u32(number)?, digits.len()))
}

/// Parses a collection from behind its opening bracket; `None` if it is not closed.
pub(super) fn parse(rest: &[char]) -> Option<Collection> {
    let mut parser = CollectionParser {
        rest,
        ix: 0,
        regex: String::from("["),
        has_capital: false,
        has_line_end: false,
    };
    let is_negated = parser.rest.first() == Some(&'^');
    if is_negated {
        parser.ix = 1;
        parser.regex.push('^');
    }
    let first = parser.ix;
    loop {
        match parser.rest.get(parser.ix)? {
            ']' if parser.ix > first => break,
            _ => parser.member()?,
        }
    }
    if is_negated {
        parser.regex.push_str(r"\n\r");
    }
    parser.regex.push(']');
    Some(Collection {
        regex: parser.regex,
        length: parser.ix + 1,
        has_capital: parser.has_capital,
        has_line_end: parser.has_line_end && !is_negated,
    })
}

struct CollectionParser<'a> {
    rest: &'a [char],
    ix: usize,
    regex: String,
    has_capital: bool,
    has_line_end: bool,
}

impl CollectionParser<'_> {
    /// Reads a class, a range or a character.
    fn member(&mut self) -> Option<()> {
        if let Some((class, length)) = named_class(&self.rest[self.ix..]) {
            self.regex.push_str(class);
            self.ix += length;
            return Some(());
        }
        let Some(low) = self.char()? else {
            self.has_line_end = true;
            return Some(());
        };
        let is_range = self.rest.get(self.ix) == Some(&'-')
            && self.rest.get(self.ix + 1).is_some_and(|char| *char != ']');
        if !is_range {
            self.push(low);
            return Some(());
        }
        self.ix += 1;
        match self.char()? {
            Some(high) if low <= high => {
                self.push(low);
                self.regex.push('-');
                self.push(high);
            }
            // A reversed range is an error in Vim; here it matches its ends.
            Some(high) => {
                self.push(low);
                self.push(high);
            }
            None => {
                self.push(low);
                self.push('-');
                self.has_line_end = true;
            }
        }
        Some(())
    }

    fn push(&mut self, char: char) {
        self.has_capital |= char.is_uppercase();
        self.regex.push_str(&escaped(char));
    }

    /// Reads a character; `Some(None)` is a line end.
    fn char(&mut self) -> Option<Option<char>> {
        let char = *self.rest.get(self.ix)?;
        self.ix += 1;
        if char != '\\' {
            return Some(Some(char));
        }
        let next = *self.rest.get(self.ix)?;
        let meant = match next {
            'e' => '\u{1b}',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            '\\' | ']' | '^' | '-' => next,
            'n' => {
                self.ix += 1;
                return Some(None);
            }
            _ => match code(next, &self.rest[self.ix + 1..]) {
                Some((char, digits)) => {
                    self.ix += digits;
                    char
                }
                None => return Some(Some('\\')),
            },
        };
        self.ix += 1;
        Some(Some(meant))
    }
}

/// Reads a class such as `[:alpha:]`, with its length.
fn named_class(rest: &[char]) -> Option<(&'static str, usize)> {
    if rest.first() != Some(&'[') || rest.get(1) != Some(&':') {
        return None;
    }
    let name: String = rest[2..]
        .iter()
        .take(12)
        .take_while(|char| char.is_ascii_alphabetic())
        .collect();
    let end = 2 + name.len();
    if rest.get(end) != Some(&':') || rest.get(end + 1) != Some(&']') {
        return None;
    }
    let class = match name.as_str() {
        "alpha" => "[:alpha:]",
        "digit" => "0-9",
        "alnum" => "[:alnum:]",
        "lower" => r"\p{Ll}",
        "upper" => r"\p{Lu}",
        "punct" => "[:punct:]",
        "space" => r" \t\x0b\x0c",
        "blank" => r" \t",
        "xdigit" => "[:xdigit:]",
        "cntrl" => r"\x00-\x09\x0b\x0c\x0e-\x1f\x7f",
        "print" => r"[^\x00-\x1f\x7f]",
        "graph" => "[:graph:]",
        "return" => r"\r",
        "tab" => r"\t",
        "escape" => r"\x1b",
        "backspace" => r"\x08",
        "ident" | "keyword" => r"\w",
        "fname" => r"\w/._+,#$%~=\-",
        _ => return None,
    };
    Some((class, end + 2))
}
