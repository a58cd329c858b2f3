//! Compares lines while ignoring surrounding white space and typographic punctuation.
//!
//! Every fold maps one char to one char, so positions are preserved.

/// Returns the ASCII equivalent of typographic punctuation and special spaces; other chars
/// unchanged.
pub(crate) fn plain(sign: char) -> char {
    match sign {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            ' '
        }
        sign => sign,
    }
}

/// Kinds of punctuation with typographic variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PunctuationKind {
    Quote,
    Dash,
    Space,
}

impl PunctuationKind {
    /// All kinds, in order of declaration.
    pub(crate) const ALL: [Self; 3] = [Self::Quote, Self::Dash, Self::Space];

    /// Returns the kind of a typographic character, or `None` for any other character.
    pub(crate) fn of(sign: char) -> Option<Self> {
        match plain(sign) {
            plain if plain == sign => None,
            '-' => Some(Self::Dash),
            ' ' => Some(Self::Space),
            _ => Some(Self::Quote),
        }
    }
}

/// Whether two lines are equal except for surrounding white space and typographic punctuation.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim(), b.trim());
    a == b || (!(a.is_ascii() && b.is_ascii()) && a.chars().map(plain).eq(b.chars().map(plain)))
}

/// Returns a hash of a trimmed line with plain punctuation. Lines for which `is_same` is true have
/// equal hashes.
pub(crate) fn key(line: &str) -> u64 {
    let line = line.trim();
    let mut hash = LineHash::new();
    if line.is_ascii() {
        hash.add(line.as_bytes());
    } else {
        let mut buffer = [0; 4];
        for sign in line.chars() {
            hash.add(plain(sign).encode_utf8(&mut buffer).as_bytes());
        }
    }
    hash.0
}

/// Returns the leading white space of a line.
pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Returns the trailing white space of a line; all of a blank one.
pub(crate) fn tail(line: &str) -> &str {
    &line[line.trim_end().len()..]
}

/// Whether a line has only white space.
pub(crate) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Whether a line contains letters or digits.
pub(crate) fn has_alphanumeric(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric)
}

/// Returns the weight of a line in a comparison: its length in bytes without surrounding white
/// space, or 0.25 for a blank line.
pub(crate) fn weight(line: &str) -> f32 {
    match line.trim().len() {
        0 => 0.25,
        length => length as f32,
    }
}

/// FNV-1a, 64 bits: stable across versions and machines, and well suited for short texts.
pub(crate) struct LineHash(pub(crate) u64);

impl LineHash {
    /// Creates the hash of an empty byte string.
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes to the hash.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests;
