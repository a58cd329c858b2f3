//! Finds documented functions in languages with braces: a comment directly above a function with a body.

use super::mask::{Comment, Dialect, Masked, is_name, mask};
use super::{Function, LONGEST_CODE};

/// Maximum length of a function's head, in bytes.
const LONGEST_HEAD: usize = 1_200;

/// Returns the documented functions of a text in a language with braces, in order.
pub(super) fn functions(text: &str, dialect: Dialect) -> Vec<Function> {
    let masked = mask(text, dialect);
    let found = masked.comments.iter().filter_map(|comment| {
        let is_doc = is_doc(&text[comment.start..], dialect);
        is_doc
            .then(|| function(text, &masked, *comment, dialect))
            .flatten()
    });
    found.collect()
}

/// Returns whether a comment, which starts at `comment`, may document the code below it.
fn is_doc(comment: &str, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Rust => {
            comment.starts_with("///") && !comment.starts_with("////")
                || comment.starts_with("/** ")
        }
        Dialect::Script => comment.starts_with("/**"),
        Dialect::Go => comment.starts_with("//") && !comment.starts_with("//go:"),
        Dialect::C => !comment.starts_with("////") && !comment.starts_with("/***"),
    }
}

/// Returns the function right below a comment, its code cut at `LONGEST_CODE` bytes. Returns `None`
/// if a blank line or anything but a function with a body follows.
fn function(text: &str, masked: &Masked, comment: Comment, dialect: Dialect) -> Option<Function> {
    let code = &masked.code;
    let start = skip_blanks(code, comment.end);
    // A blank line separates a comment from the code below it.
    let between = &code[comment.end..start];
    if between.iter().filter(|byte| **byte == b'\n').count() > 1 {
        return None;
    }
    let start = match dialect {
        Dialect::Rust => skip_attributes(code, start),
        Dialect::Script => skip_decorators(code, start),
        Dialect::Go | Dialect::C => start,
    };
    let head_end = (start + LONGEST_HEAD).min(code.len());
    let (name, open) = match dialect {
        Dialect::Rust => rust_head(&code[..head_end], start)?,
        Dialect::Go => go_head(&code[..head_end], start)?,
        Dialect::Script => script_head(&code[..head_end], start)?,
        Dialect::C => c_head(&code[..head_end], start)?,
    };
    let end = closing(code, open)?;
    let name = text.get(name.0..name.1)?.to_owned();
    let shown = (start..=end.min(start + LONGEST_CODE))
        .rev()
        .find(|end| text.is_char_boundary(*end))?;
    Some(Function {
        doc: text[comment.start..comment.end].to_owned(),
        name,
        code: text[start..shown].to_owned(),
    })
}

/// Returns the offset of the next byte that is not white space, `at` included; the end if there is
/// none.
fn skip_blanks(code: &[u8], at: usize) -> usize {
    let length = code[at..]
        .iter()
        .position(|byte| !byte.is_ascii_whitespace());
    length.map_or(code.len(), |length| at + length)
}

/// Returns the offset after Rust's outer attributes at `at`, and after the blanks behind them.
fn skip_attributes(code: &[u8], mut at: usize) -> usize {
    while code[at..].starts_with(b"#[") {
        let Some(end) = closing(code, at + 1) else {
            return at;
        };
        at = skip_blanks(code, end);
    }
    at
}

/// Returns the offset after decorators at `at`, with their arguments, and after the blanks behind
/// them.
fn skip_decorators(code: &[u8], mut at: usize) -> usize {
    while code.get(at) == Some(&b'@') {
        at = word(code, at + 1).1;
        if code.get(at) == Some(&b'(') {
            let Some(end) = closing(code, at) else {
                return at;
            };
            at = end;
        }
        at = skip_blanks(code, at);
    }
    at
}

/// Returns the offset after the bracket that closes the one at `open`; `None` if none does.
fn closing(code: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the start and end of the name at `at`, which may contain `$`; both are `at` if there is
/// none.
fn word(code: &[u8], at: usize) -> (usize, usize) {
    let length = code[at..].iter().position(|byte| !is_name(*byte));
    (at, length.map_or(code.len(), |length| at + length))
}

/// Returns the offset of the next `{` outside of brackets; `None` if a `;` or `}` comes first. If
/// the text before a `{` ends with one of `skips`, its braces belong to a type and are skipped.
fn body(code: &[u8], mut at: usize, skips: &[&[u8]]) -> Option<usize> {
    while at < code.len() {
        match code[at] {
            b'(' | b'[' => at = closing(code, at)?,
            b'{' => {
                let before = code[..at].trim_ascii_end();
                if skips.iter().any(|word| before.ends_with(word)) {
                    at = closing(code, at)?
                } else {
                    return Some(at);
                }
            }
            b';' | b'}' => return None,
            _ => at += 1,
        }
    }
    None
}

/// The start and end of a function's name, and the offset of the `{` of its body.
type Head = ((usize, usize), usize);

/// Returns the head of a Rust function at `at`; `None` if no function with a body begins there.
fn rust_head(code: &[u8], mut at: usize) -> Option<Head> {
    loop {
        let (start, end) = word(code, at);
        match &code[start..end] {
            b"fn" => break at = skip_blanks(code, end),
            b"pub" | b"const" | b"async" | b"unsafe" | b"extern" | b"default" => {
                at = skip_blanks(code, end);
                if code.get(at) == Some(&b'(') {
                    at = skip_blanks(code, closing(code, at)?);
                }
            }
            _ => return None,
        }
    }
    let name = word(code, at);
    (name.1 > name.0).then_some((name, body(code, name.1, &[])?))
}

/// Returns the head of a Go function or method at `at`; `None` if none with a body begins there.
fn go_head(code: &[u8], at: usize) -> Option<Head> {
    let (start, end) = word(code, at);
    if &code[start..end] != b"func" {
        return None;
    }
    let mut at = skip_blanks(code, end);
    if code.get(at) == Some(&b'(') {
        at = skip_blanks(code, closing(code, at)?);
    }
    let name = word(code, at);
    (name.1 > name.0).then_some((name, body(code, name.1, &[b"interface", b"struct"])?))
}

const SCRIPT_MARKS: &[&[u8]] = &[
    b"export",
    b"default",
    b"async",
    b"static",
    b"public",
    b"private",
    b"protected",
    b"readonly",
    b"override",
    b"get",
    b"set",
    b"function",
    b"const",
    b"let",
    b"var",
    b"declare",
];
const SCRIPT_STRANGERS: &[&[u8]] = &[
    b"if",
    b"for",
    b"while",
    b"switch",
    b"return",
    b"class",
    b"interface",
    b"type",
    b"enum",
    b"import",
    b"new",
    b"throw",
    b"abstract",
    b"namespace",
    b"module",
    b"catch",
    b"describe",
    b"it",
    b"test",
    b"define",
];

/// Returns the head of a function, method or named function value of JavaScript or TypeScript at
/// `at`. Returns `None` if none with a body begins there.
fn script_head(code: &[u8], mut at: usize) -> Option<Head> {
    let mut name;
    loop {
        if code.get(at) == Some(&b'*') || code.get(at) == Some(&b'#') {
            at = skip_blanks(code, at + 1);
        }
        name = word(code, at);
        let is_mark = SCRIPT_MARKS.contains(&&code[name.0..name.1]);
        let next = skip_blanks(code, name.1);
        let is_called_so = matches!(code.get(next), Some(b'(' | b':' | b'=' | b'.'));
        if !is_mark || is_called_so {
            break;
        }
        at = next;
    }
    if name.0 == name.1 || SCRIPT_STRANGERS.contains(&&code[name.0..name.1]) {
        return None;
    }
    at = name.1;
    while code.get(at) == Some(&b'.') {
        name = word(code, at + 1);
        at = name.1;
    }
    at = skip_blanks(code, at);
    match code.get(at)? {
        b'(' | b'<' => {}
        b'=' | b':' => at = function_value(code, skip_blanks(code, at + 1))?,
        _ => return None,
    }
    (name.1 > name.0).then_some((name, body(code, at, &[b":", b"|", b"&"])?))
}

/// Returns the start of the arguments of a function value: `function (…) {`, `async (…) => {`, `x => {`.
fn function_value(code: &[u8], at: usize) -> Option<usize> {
    let (start, mut end) = word(code, at);
    if &code[start..end] == b"async" {
        end = word(code, skip_blanks(code, end)).1;
    }
    let rest = &code[end.max(at)..];
    let is_function = code[at..end].ends_with(b"function");
    let line = &rest[..rest
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len())];
    let is_arrow = || {
        let after = match line.first() {
            Some(b'(') => {
                closing(code, end.max(at)).map(|close| &code[close..code.len().min(close + 80)])
            }
            _ => Some(line),
        };
        after.is_some_and(|after| after.windows(2).any(|pair| pair == b"=>"))
    };
    (is_function || is_arrow()).then_some(end.max(at))
}

const C_STRANGERS: &[&[u8]] = &[
    b"struct",
    b"class",
    b"enum",
    b"namespace",
    b"typedef",
    b"using",
    b"union",
    b"if",
    b"while",
    b"for",
    b"switch",
    b"return",
    b"else",
    b"do",
    b"case",
    b"public",
    b"private",
    b"protected",
    b"TEST",
    b"TEST_F",
    b"goto",
];

/// Returns the head of a C or C++ function at `start`; `None` if none with a body begins there.
fn c_head(code: &[u8], start: usize) -> Option<Head> {
    let first = word(code, start);
    let is_struct_value = || {
        let head = &code[start..];
        let end = head
            .iter()
            .position(|byte| matches!(byte, b'{' | b';'))
            .unwrap_or(head.len());
        matches!(&code[first.0..first.1], b"struct" | b"enum" | b"union")
            && head[..end].contains(&b'(')
    };
    if C_STRANGERS.contains(&&code[first.0..first.1]) && !is_struct_value() {
        return None;
    }
    let mut at = start;
    if &code[first.0..first.1] == b"template" {
        at += code[start..]
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'>'))?
            + 1;
    }
    let open = at
        + code[at..]
            .iter()
            .position(|byte| matches!(byte, b'(' | b'{' | b';' | b'='))?;
    if code[open] != b'(' || open == start {
        return None;
    }
    let end = code[..open].trim_ascii_end().len().max(start);
    let length = code[start..end]
        .iter()
        .rev()
        .position(|byte| !is_name(*byte))
        .unwrap_or(end - start);
    let name = (end - length, end);
    let is_named =
        name.0 > start && name.1 > name.0 && !C_STRANGERS.contains(&&code[name.0..name.1]);
    is_named.then_some((name, body(code, open, &[])?))
}
