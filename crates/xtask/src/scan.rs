//! A scanner that separates Rust source into code, comments and string literals.

/// The kind of a piece of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Code,
    Comment,
    /// A string literal with its quotes, raw ones and byte strings included.
    Literal,
}

/// A piece of source. The pieces of a text follow each other without gaps.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourcePiece<'a> {
    pub(crate) kind: PieceKind,
    /// The line of its first byte, counted from 1.
    pub(crate) line: usize,
    pub(crate) text: &'a str,
}

/// Splits `text` into its pieces.
pub(crate) fn pieces(text: &str) -> Vec<SourcePiece<'_>> {
    let mut pieces = Vec::new();
    let (mut code, mut at, mut line) = (0, 0, 1);
    let mut push = |kind, from: usize, to: usize| {
        if from < to {
            let text = &text[from..to];
            pieces.push(SourcePiece { kind, line, text });
            line += text.matches('\n').count();
        }
    };
    while at < text.len() {
        let rest = &text[at..];
        let special = if rest.starts_with("//") {
            Some((PieceKind::Comment, rest.find('\n').unwrap_or(rest.len())))
        } else if rest.starts_with("/*") {
            Some((PieceKind::Comment, block_comment(rest)))
        } else {
            literal(&text[..at], rest).map(|length| (PieceKind::Literal, length))
        };
        match special {
            Some((kind, length)) => {
                push(PieceKind::Code, code, at);
                push(kind, at, at + length);
                at += length;
                code = at;
            }
            None => at += character(rest),
        }
    }
    push(PieceKind::Code, code, at);
    pieces
}

/// Returns `text` with the pieces of the given kinds blanked; lines keep their numbers.
pub(crate) fn without(text: &str, kinds: &[PieceKind]) -> String {
    let mut left = String::with_capacity(text.len());
    for piece in pieces(text) {
        if kinds.contains(&piece.kind) {
            left.extend(piece.text.chars().map(|c| if c == '\n' { c } else { ' ' }));
        } else {
            left.push_str(piece.text);
        }
    }
    left
}

/// Returns the identifiers and keywords in `code`.
pub(crate) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// Returns the length of the string literal at the start of `rest`, if there is one.
fn literal(before: &str, rest: &str) -> Option<usize> {
    let is_word_before = before
        .chars()
        .next_back()
        .is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let prefix = ["br", "cr", "r", "b", "c", ""]
        .into_iter()
        .find(|prefix| rest.starts_with(prefix) && (prefix.is_empty() || !is_word_before))?;
    let body = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        if !body[hashes..].starts_with('"') {
            return None;
        }
        let close = format!("\"{}", &body[..hashes]);
        let start = prefix.len() + hashes + 1;
        let end = rest[start..].find(&close)?;
        return Some(start + end + close.len());
    }
    if !body.starts_with('"') {
        return None;
    }
    let mut is_escaped = false;
    for (ix, letter) in body.char_indices().skip(1) {
        match letter {
            '"' if !is_escaped => return Some(prefix.len() + ix + 1),
            _ => is_escaped = letter == '\\' && !is_escaped,
        }
    }
    Some(rest.len())
}

/// Returns the length of the character of code at the start of `rest`. A char literal counts as one character, so
/// that its quote does not open a string.
fn character(rest: &str) -> usize {
    let mut letters = rest.char_indices();
    let (_, first) = letters.next().unwrap_or((0, ' '));
    if first != '\'' {
        return first.len_utf8();
    }
    let close = match letters.next() {
        Some((_, '\\')) => rest[2..]
            .char_indices()
            .skip(1)
            .find(|(_, letter)| *letter == '\'')
            .map(|(ix, _)| ix + 3),
        Some(_) => letters
            .next()
            .filter(|(_, letter)| *letter == '\'')
            .map(|(ix, _)| ix + 1),
        None => None,
    };
    close.unwrap_or(1)
}

#[test]
fn code_comments_and_literals_are_told_apart() {
    let kinds = |text| {
        let pieces = pieces(text).into_iter();
        let pieces = pieces.filter(|piece| piece.kind != PieceKind::Code);
        pieces
            .map(|piece| (piece.line, piece.text.to_owned()))
            .collect::<Vec<_>>()
    };
    let owned = |pieces: &[(usize, &str)]| {
        let pieces = pieces.iter();
        pieces
            .map(|(line, text)| (*line, (*text).to_owned()))
            .collect::<Vec<_>>()
    };
    for (text, expected) in [
        (
            "let a = \"x // y\"; // z",
            &[(1, "\"x // y\""), (1, "// z")][..],
        ),
        (
            "r#\"a\"b\"# + br\"\\\"",
            &[(1, "r#\"a\"b\"#"), (1, "br\"\\\"")],
        ),
        ("'\"' '\\'' '\\\\' \"s\"", &[(1, "\"s\"")]),
        ("fn a<'b>(c: &'b str) {}\n\"\\\"\"", &[(2, "\"\\\"\"")]),
        ("/* a /* b */ \" */ 1", &[(1, "/* a /* b */ \" */")]),
        ("for r in \"a\" {}", &[(1, "\"a\"")]),
    ] {
        assert_eq!(kinds(text), owned(expected), "{text}");
    }
    assert_eq!(
        without("a /* b\nc */ \"d\"", &[PieceKind::Comment]),
        "a     \n     \"d\""
    );
}
