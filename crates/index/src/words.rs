//! The words of a text: the common unit of queries, code and the lexical index.
//!
//! Must not know: vocabularies, languages, files.
//! A word is an identifier, `[A-Za-z_][A-Za-z0-9_]*`. It is reported in lower case, followed by its
//! parts if they add information: `parse_HTTPHeader` gives `parse_httpheader`, `parse`, `http`,
//! `header`.
//! Invariant: every reported word is ASCII, lower-case and not empty.

/// Maximum length of an identifier, in bytes. Longer identifiers are data rather than names, and
/// the bytes after this limit are ignored.
pub const MAX_IDENTIFIER_BYTES: usize = 96;

/// A word as reported by [`each`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitWord<'a> {
    /// An identifier; `is_compound` says that its parts follow.
    Whole {
        /// The word in lower case.
        text: &'a str,
        /// Whether at least one [`SplitWord::Part`] follows.
        is_compound: bool,
    },
    /// A part of the preceding identifier, in lower case.
    Part(&'a str),
}

/// Calls `each` with every word of `text`: the identifier in lower case, then its parts if it has
/// several. Stops after `most` words.
pub fn each_word(text: &str, most: usize, mut each: impl FnMut(&str)) {
    self::each(text, most, |word| each(word.text()));
}

impl<'a> SplitWord<'a> {
    /// Returns the word's text.
    pub fn text(self) -> &'a str {
        match self {
            SplitWord::Whole { text, .. } | SplitWord::Part(text) => text,
        }
    }
}

/// Calls `each` like [`each_word`], but distinguishes identifiers from their parts. Stops after
/// `most` words, and returns the number of words.
pub fn each(text: &str, most: usize, mut each: impl FnMut(SplitWord)) -> usize {
    let bytes = text.as_bytes();
    let mut left = most;
    let mut at = 0;
    while left > 0 {
        let Some(start) = bytes[at..].iter().position(|byte| starts(*byte)) else {
            break;
        };
        let start = at + start;
        let length = bytes[start..].iter().position(|byte| !continues(*byte));
        let end = length.map_or(bytes.len(), |length| start + length);
        identifier(
            &bytes[start..end.min(start + MAX_IDENTIFIER_BYTES)],
            &mut left,
            &mut each,
        );
        at = end;
    }
    most - left
}

/// Whether a byte can begin an identifier.
fn starts(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether a byte can occur after the first one of an identifier.
fn continues(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn identifier(name: &[u8], left: &mut usize, each: &mut impl FnMut(SplitWord)) {
    let mut small = [0; MAX_IDENTIFIER_BYTES];
    let small = &mut small[..name.len()];
    for (small, byte) in small.iter_mut().zip(name) {
        *small = byte.to_ascii_lowercase();
    }
    // Underscores alone are not a word.
    let Ok(text) = std::str::from_utf8(small) else {
        return;
    };
    let Some(first) = next_part(name, 0) else {
        return;
    };
    let is_compound = first != (0, name.len());
    *left -= 1;
    each(SplitWord::Whole { text, is_compound });
    let mut part = Some(first);
    while let Some((start, end)) = part.filter(|_| is_compound && *left > 0) {
        *left -= 1;
        each(SplitWord::Part(&text[start..end]));
        part = next_part(name, end);
    }
}

/// Returns the part that begins at or after `at`: parts are separated by underscores, and by
/// transitions in camel case, acronyms and digits.
fn next_part(name: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = at + name[at..].iter().position(|byte| *byte != b'_')?;
    let run = |from: usize, is_in: fn(&u8) -> bool| {
        let length = name[from..].iter().position(|byte| !is_in(byte));
        length.map_or(name.len(), |length| from + length)
    };
    let end = match name[start] {
        b'0'..=b'9' => run(start, u8::is_ascii_digit),
        b'a'..=b'z' => run(start, u8::is_ascii_lowercase),
        _ => {
            let capitals = run(start, u8::is_ascii_uppercase);
            let is_word = name.get(capitals).is_some_and(u8::is_ascii_lowercase);
            match capitals - start {
                1 if is_word => run(capitals, u8::is_ascii_lowercase),
                // The last capital of an acronym belongs to the following word.
                _ if is_word => capitals - 1,
                _ => capitals,
            }
        }
    };
    Some((start, end))
}

#[cfg(test)]
mod tests;
