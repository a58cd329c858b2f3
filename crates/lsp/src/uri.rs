//! File URIs and paths.
//!
//! Servers spell one file in several ways (`%3A` or `:`, upper or lower case digits), so documents are
//! compared as paths, never as URIs.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use base::AbsPath;

/// Returns the URI of a file.
pub(crate) fn file_uri(path: &AbsPath) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.as_path().as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte));
            }
            _ => write!(uri, "%{byte:02X}").unwrap_or_default(),
        }
    }
    uri
}

/// Returns the path that a URI names; `None` for another scheme, another host, or a relative path.
///
/// Tolerates unescaped characters and incomplete escapes, which servers do send.
pub(crate) fn uri_path(uri: &str) -> Option<AbsPath> {
    let rest = strip_scheme(uri)?;
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    if !path.starts_with('/') {
        return None;
    }
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let bytes = unescape(&path.as_bytes()[..end]);
    if bytes.contains(&0) {
        return None;
    }
    AbsPath::new(OsString::from_vec(bytes))
}

fn strip_scheme(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    scheme.eq_ignore_ascii_case("file").then_some(rest)
}

/// Decodes percent escapes; an incomplete escape is kept literally.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let decoded = (first == b'%').then(|| hex_byte(after)).flatten();
        bytes.push(decoded.unwrap_or(first));
        rest = match decoded {
            Some(_) => &after[2..],
            None => after,
        };
    }
    bytes
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |ix: usize| {
        digits
            .get(ix)
            .and_then(|byte| char::from(*byte).to_digit(16))
    };
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use base::AbsPath;

    use super::{file_uri, uri_path};

    fn check(uri: &str, path: Option<&str>) {
        assert_eq!(uri_path(uri), path.and_then(AbsPath::new), "{uri}");
    }

    #[test]
    fn spellings_of_one_file_give_one_path() {
        for uri in [
            "file:///a/b%20c/%C3%A9.rs",
            "file:///a/b c/é.rs",
            "FILE://localhost/a/./b%20c/%c3%a9.rs",
            "file:/a/b%20c/é.rs#L3",
        ] {
            check(uri, Some("/a/b c/é.rs"));
        }
        check("file:///a/[x]%3a%zz%", Some("/a/[x]:%zz%"));
    }

    #[test]
    fn uris_that_name_no_local_file_have_no_path() {
        for uri in [
            "",
            "untitled:1",
            "file://host/a",
            "file:a",
            "jdt://x/y",
            "file:///a%00b",
        ] {
            check(uri, None);
        }
    }

    #[test]
    fn every_path_survives_the_uri() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        let name: Vec<u8> = (1..=255).filter(|byte| *byte != b'/').collect();
        let path = AbsPath::new("/x")
            .expect("absolute")
            .join(OsStr::from_bytes(&name));
        assert_eq!(uri_path(&file_uri(&path)), Some(path));
    }
}
