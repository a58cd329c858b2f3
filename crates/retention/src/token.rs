//! Tokens of a text: the units in which kept text is counted.

/// A token with its place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// A hash of its characters. Different tokens have different hashes, but for one pair in 2^64.
    pub(crate) symbol: u64,
    /// Offset of the first byte.
    pub(crate) start: usize,
    /// Offset after the last byte.
    pub(crate) end: usize,
}

/// Returns the tokens of a text that begins at `offset`, in order.
pub(crate) fn tokens(text: &str, offset: usize) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut rest = text.char_indices().peekable();
    while let Some((start, char)) = rest.next() {
        if char.is_whitespace() {
            continue;
        }
        let mut end = start + char.len_utf8();
        if is_word(char) {
            while let Some((at, next)) = rest.next_if(|(_, next)| is_word(*next)) {
                end = at + next.len_utf8();
            }
        }
        tokens.push(Token {
            symbol: symbol(&text[start..end]),
            start: offset + start,
            end: offset + end,
        });
    }
    tokens
}

/// Returns the symbols of tokens.
pub(crate) fn symbols(tokens: &[Token]) -> Vec<u64> {
    tokens.iter().map(|token| token.symbol).collect()
}

/// Returns whether a character joins its neighbours to a token.
pub(crate) fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Hashes a token by the function FNV-1a.
fn symbol(token: &str) -> u64 {
    token.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn words_and_single_marks_are_tokens() {
        let text = "let größe_2 = a.b();\n\t// 語";
        let found: Vec<&str> = tokens(text, 0)
            .iter()
            .map(|token| &text[token.start..token.end])
            .collect();
        let expected = [
            "let",
            "größe_2",
            "=",
            "a",
            ".",
            "b",
            "(",
            ")",
            ";",
            "/",
            "/",
            "語",
        ];
        assert_eq!(found, expected);
        assert_eq!(tokens(" \n", 7), []);
        assert_eq!(tokens(" x", 7)[0].start, 8);
    }
}
