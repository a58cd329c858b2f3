//! Splits a text into words, numbers and punctuation.
//!
//! Must not know: languages. Blanks are not tokens, line breaks are.
//! Invariant: tokens are sorted, do not overlap, and lie on char boundaries.

use std::ops::Range;

/// Kind of a token: word, number, sign, or line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TokenKind {
    /// Letters, digits and underscores, not starting with a digit.
    Word,
    /// A literal that starts with a digit.
    Number,
    /// An operator or any other single character.
    Sign,
    /// One or more line breaks, with the indentation of the next line.
    Newline,
}

/// A token, as a byte range of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeToken {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: TokenKind,
}

impl CodeToken {
    /// Returns the byte range of the token in the text.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the token's part of `text`, the text from which the token was read. Returns an empty
    /// text if the range lies outside `text`.
    pub(crate) fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.range()).unwrap_or_default()
    }
}

/// Operators of more than one character, the longest first.
const OPERATORS: [&str; 34] = [
    "...", "..=", "===", "!==", "<<=", "\"\"\"", "'''", "**=", "::", "->", "=>", "==", "!=", "<=",
    ">=", "&&", "||", "..", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", ":=", "?.", "??", "++",
    "--", "//", "/*", "*/",
];

/// Whether a character belongs to words.
pub(crate) fn is_word_char(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

/// Iterator over the tokens of a text. The same simple rules apply to every language. Blanks do not
/// count as tokens.
pub(crate) struct CodeTokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> CodeTokens<'a> {
    /// Iterates over the tokens of a text from its start.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

/// Returns the tokens of a text, except line breaks.
pub(crate) fn solid_tokens(text: &str) -> Vec<CodeToken> {
    CodeTokens::new(text)
        .filter(|token| token.kind != TokenKind::Newline)
        .collect()
}

impl Iterator for CodeTokens<'_> {
    type Item = CodeToken;

    fn next(&mut self) -> Option<CodeToken> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|byte| is_blank(*byte)) {
            self.at += 1;
        }
        let start = self.at;
        let first = *bytes.get(start)?;
        let (end, kind) = match first {
            b'\n' => (newline_end(bytes, start), TokenKind::Newline),
            b'0'..=b'9' => (number_end(bytes, start), TokenKind::Number),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => (word_end(self.text, start), TokenKind::Word),
            0..128 => (sign_end(bytes, start), TokenKind::Sign),
            _ => self.wide(start),
        };
        self.at = end;
        Some(CodeToken { start, end, kind })
    }
}

impl CodeTokens<'_> {
    /// Returns the token that begins with a non-ASCII character.
    fn wide(&self, start: usize) -> (usize, TokenKind) {
        let first = self.text.get(start..).and_then(|rest| rest.chars().next());
        match first {
            Some(ch) if is_word_char(ch) => (word_end(self.text, start), TokenKind::Word),
            Some(ch) => (start + ch.len_utf8(), TokenKind::Sign),
            None => (self.text.len(), TokenKind::Sign),
        }
    }
}

/// Whether a byte is blank within a row: a space, a tab or a carriage return.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Returns the end of a line break, including blank lines and the indentation after them.
fn newline_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while bytes
        .get(at)
        .is_some_and(|byte| is_blank(*byte) || *byte == b'\n')
    {
        at += 1;
    }
    at
}

/// Returns the offset after the word chars that begin at `start`; `start` itself if there are none.
fn word_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        match bytes.get(at) {
            Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => at += 1,
            Some(byte) if *byte >= 128 => match text.get(at..).and_then(|it| it.chars().next()) {
                Some(ch) if is_word_char(ch) => at += ch.len_utf8(),
                _ => return at,
            },
            _ => return at,
        }
    }
}

/// Returns the offset after the number that begins at `start`. It includes letters, underscores and
/// each dot before a digit, so `1.5e3` and `0xff` are one number.
fn number_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        let is_digit = |ix: usize| bytes.get(ix).is_some_and(u8::is_ascii_digit);
        match bytes.get(at) {
            Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => at += 1,
            Some(b'.') if is_digit(at + 1) => at += 2,
            _ => return at,
        }
    }
}

/// Returns the offset after the longest operator at `start`. Without one, takes a single byte.
fn sign_end(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    let operator = OPERATORS
        .iter()
        .find(|operator| rest.starts_with(operator.as_bytes()));
    start + operator.map_or(1, |operator| operator.len())
}

#[cfg(test)]
mod tests;
