//! The words of a text: what queries, code and the lexical index are all cut into.
//!
//! Must not know: vocabularies, languages, files.
//! A word is an identifier, `[A-Za-z_][A-Za-z0-9_]*`. It is told in small letters, and after it its parts where
//! they say more than the whole does: `parse_HTTPHeader` gives `parse_httpheader`, `parse`, `http`, `header`.
//! Invariant: every word told is ASCII, in small letters and not empty.

/// Identifiers longer than this are data rather than names; what lies beyond is not looked at.
pub const LONGEST: usize = 96;

/// What [`each`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word<'a> {
    /// An identifier. `is_compound` says that its parts follow.
    Whole {
        /// In small letters.
        text: &'a str,
        /// Whether at least one [`Word::Part`] follows.
        is_compound: bool,
    },
    /// A part of the identifier before it, in small letters.
    Part(&'a str),
}

/// Calls `each` with every word of `text`: the identifier in small letters, then its parts where it has several.
/// Ends after `most` words.
pub fn each_word(text: &str, most: usize, mut each: impl FnMut(&str)) {
    self::each(text, most, |word| each(word.text()));
}

impl<'a> Word<'a> {
    /// Its letters.
    pub fn text(self) -> &'a str {
        match self {
            Word::Whole { text, .. } | Word::Part(text) => text,
        }
    }
}

/// Like [`each_word`], and says which words are parts of the one before. Answers how many there were.
pub fn each(text: &str, most: usize, mut each: impl FnMut(Word)) -> usize {
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
            &bytes[start..end.min(start + LONGEST)],
            &mut left,
            &mut each,
        );
        at = end;
    }
    most - left
}

fn starts(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn continues(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn identifier(name: &[u8], left: &mut usize, each: &mut impl FnMut(Word)) {
    let mut small = [0; LONGEST];
    let small = &mut small[..name.len()];
    for (small, byte) in small.iter_mut().zip(name) {
        *small = byte.to_ascii_lowercase();
    }
    // Underscores alone name nothing.
    let Ok(text) = std::str::from_utf8(small) else {
        return;
    };
    let Some(first) = next_part(name, 0) else {
        return;
    };
    let is_compound = first != (0, name.len());
    *left -= 1;
    each(Word::Whole { text, is_compound });
    let mut part = Some(first);
    while let Some((start, end)) = part.filter(|_| is_compound && *left > 0) {
        *left -= 1;
        each(Word::Part(&text[start..end]));
        part = next_part(name, end);
    }
}

/// The part that begins at `at` or behind it: underscores part, and so do changes between words in camel case,
/// acronyms and digits.
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
                // The last capital of an acronym belongs to the word behind it.
                _ if is_word => capitals - 1,
                _ => capitals,
            }
        }
    };
    Some((start, end))
}

#[cfg(test)]
mod tests;
