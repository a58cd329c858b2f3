//! Paths that Git writes in quotes, as C strings.

use std::path::PathBuf;

use crate::records::path;

/// Returns the path that Git wrote, in quotes if it contains control characters or quotes.
pub(crate) fn unquote(written: &[u8]) -> PathBuf {
    let body = written
        .strip_prefix(b"\"")
        .and_then(|body| body.strip_suffix(b"\""));
    let Some(body) = body else {
        return path(written);
    };
    let mut bytes = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let (byte, length) = escape(rest);
        bytes.push(byte);
        rest = rest.get(length..).unwrap_or_default();
    }
    path(&bytes)
}

/// Decodes the escape after a backslash; also returns its length.
fn escape(rest: &[u8]) -> (u8, usize) {
    if let [
        high @ b'0'..=b'3',
        middle @ b'0'..=b'7',
        low @ b'0'..=b'7',
        ..,
    ] = rest
    {
        return (
            ((high - b'0') << 6) | ((middle - b'0') << 3) | (low - b'0'),
            3,
        );
    }
    let byte = match rest.first() {
        Some(b'a') => 7,
        Some(b'b') => 8,
        Some(b't') => b'\t',
        Some(b'n') => b'\n',
        Some(b'v') => 11,
        Some(b'f') => 12,
        Some(b'r') => b'\r',
        Some(other) => *other,
        None => b'\\',
    };
    (byte, 1)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::unquote;

    #[test]
    fn quoted_paths_are_read() {
        for (written, expected) in [
            ("plain name", "plain name"),
            ("\"a\\tb\\\"c\\\\\"", "a\tb\"c\\"),
            ("\"\\303\\244\"", "ä"),
            ("\"", "\""),
            ("\"open", "\"open"),
            ("\"\\\"", "\\"),
        ] {
            assert_eq!(
                unquote(written.as_bytes()),
                PathBuf::from(expected),
                "{written}"
            );
        }
    }
}
