//! What two texts have in common apart from white space around lines and the look of punctuation.
//!
//! Every fold maps one char to one char, so that what was folded can be told apart again.

/// The ASCII look-alike of typographic punctuation and of special spaces; other chars as they are.
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

/// Kinds of punctuation that come mixed up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Quote,
    Dash,
    Space,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Quote, Self::Dash, Self::Space];

    /// The kind of a typographic sign; `None` for one that is plain.
    pub(crate) fn of(sign: char) -> Option<Self> {
        match plain(sign) {
            plain if plain == sign => None,
            '-' => Some(Self::Dash),
            ' ' => Some(Self::Space),
            _ => Some(Self::Quote),
        }
    }
}

/// Whether the two lines are the same apart from white space around them and punctuation.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim(), b.trim());
    a == b || (!(a.is_ascii() && b.is_ascii()) && a.chars().map(plain).eq(b.chars().map(plain)))
}

/// A hash of a line without white space around it, punctuation folded.
pub(crate) fn key(line: &str) -> u64 {
    let line = line.trim();
    let mut hash = Hash::new();
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

/// The white space that a line begins with.
pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The white space that a line ends with; all of a blank one.
pub(crate) fn tail(line: &str) -> &str {
    &line[line.trim_end().len()..]
}

pub(crate) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Whether a line says more than brackets do.
pub(crate) fn is_telling(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric)
}

/// How much a line says: its chars without white space around it, and a little for a blank one.
pub(crate) fn weight(line: &str) -> f32 {
    match line.trim().len() {
        0 => 0.25,
        length => length as f32,
    }
}

/// FNV-1a, 64 bits: stable over versions and machines, and short texts are what it is good at.
pub(crate) struct Hash(pub(crate) u64);

impl Hash {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests;
