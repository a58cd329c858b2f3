//! A reversible text form of paths: any bytes a file system allows, as text that can be typed and
//! displayed.
//!
//! Paths are bytes. Fields, JSON stores and lists of names hold text, so a path stored there is
//! written with [`path_text`] and read with [`text_path`]. Must not know: the disk.
//! Invariant: `text_path(&path_text(path)) == path` for every path.
//! Invariant: the text form of a path of printable characters is that path unchanged.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::printable::is_hidden;

/// Writes `path` as text: bytes outside UTF-8 become `\xE9`, control, direction and invisible characters `\u{202E}`.
///
/// A backslash is written as `\x5C` only if it would otherwise start such an escape.
pub fn path_text(path: impl AsRef<Path>) -> String {
    let bytes = path.as_ref().as_os_str().as_bytes();
    let mut text = String::with_capacity(bytes.len());
    let mut previous = None;
    for chunk in bytes.utf8_chunks() {
        for (at, char) in chunk.valid().char_indices() {
            push(&mut text, &chunk.valid()[at..], previous, char);
            previous = Some(char);
        }
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02X}").unwrap_or_default();
            previous = None;
        }
    }
    text
}

/// Appends `char`, the first character of `rest`, escaped if necessary.
fn push(text: &mut String, rest: &str, previous: Option<char>, char: char) {
    if char == '\\' && read_escape(rest).is_some() {
        text.push_str("\\x5C");
    } else if is_hidden(previous, char) {
        write!(text, "\\u{{{:X}}}", u32::from(char)).unwrap_or_default();
    } else {
        text.push(char);
    }
}

/// Reads the text form of a path, in which backslash escapes stand for bytes that are not UTF-8 and
/// for hidden characters. A backslash that starts no escape is kept literally.
pub fn text_path(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        let length = match read_escape(rest) {
            Some((Escaped::Byte(byte), length)) => {
                bytes.push(byte);
                length
            }
            Some((Escaped::Char(char), length)) => {
                bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                length
            }
            None => {
                bytes.push(b'\\');
                1
            }
        };
        rest = &rest[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    PathBuf::from(OsString::from_vec(bytes))
}

/// The decoded content of an escape.
enum Escaped {
    Byte(u8),
    Char(char),
}

/// Decodes the escape at the start of `text`; also returns its length in bytes.
fn read_escape(text: &str) -> Option<(Escaped, usize)> {
    let body = text.strip_prefix('\\')?;
    if let Some(digits) = body.strip_prefix('x') {
        let digits = digits.get(..2).filter(|it| is_hex(it))?;
        let byte = u8::from_str_radix(digits, 16).ok()?;
        return Some((Escaped::Byte(byte), 4));
    }
    let (digits, _) = body.strip_prefix("u{")?.split_once('}')?;
    let digits = Some(digits).filter(|it| is_hex(it))?;
    let char = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    Some((Escaped::Char(char), digits.len() + 4))
}

/// Returns whether a text consists of one or more hexadecimal digits, in either case.
fn is_hex(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
