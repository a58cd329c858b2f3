//! Values of string literals.

/// Returns the value of a JavaScript string with its quotes.
pub(super) fn javascript_string(literal: &str) -> String {
    unescape(within_quotes(literal))
}

/// Returns the text of a template with its backquotes, and whether it has substitutions, which are kept as written.
pub(super) fn template_text(literal: &str) -> (String, bool) {
    let text = within_quotes(literal);
    (unescape(text), text.contains("${"))
}

/// Returns the value of a Go string with its quotes; within backquotes, nothing is escaped.
pub(super) fn go_string(literal: &str) -> String {
    if literal.starts_with('`') {
        within_quotes(literal).to_owned()
    } else {
        unescape(within_quotes(literal))
    }
}

/// Returns the text between the first and the last char; the last one may be cut off.
fn within_quotes(literal: &str) -> &str {
    let mut chars = literal.chars();
    let quote = chars.next();
    let text = chars.as_str();
    match quote {
        Some(quote) => text.strip_suffix(quote).unwrap_or(text),
        None => text,
    }
}

/// Replaces the escapes that JavaScript and Go share; any other escaped char is kept without its backslash.
fn unescape(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        value.push_str(before);
        let mut chars = after.chars();
        let Some(escaped) = chars.next() else {
            return value;
        };
        rest = chars.as_str();
        match escaped {
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'r' => value.push('\r'),
            // A line that goes on.
            '\n' => {}
            'x' => rest = push_code(&mut value, rest, 2),
            'u' => rest = push_code(&mut value, rest, 4),
            other => value.push(other),
        }
    }
    value.push_str(rest);
    value
}

/// Appends the char of a code of `digits` hexadecimal digits or within braces, and returns the rest; an invalid code is
/// omitted.
fn push_code<'a>(value: &mut String, rest: &'a str, digits: usize) -> &'a str {
    let braced = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let (code, rest) = match braced {
        Some(parts) => parts,
        None => match rest.split_at_checked(digits) {
            Some(parts) => parts,
            None => return rest,
        },
    };
    let code = u32::from_str_radix(code, 16).ok();
    value.extend(code.and_then(char::from_u32));
    rest
}
