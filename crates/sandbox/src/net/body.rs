//! Forwards request bodies up to their last byte and no further: the bytes after it would be
//! another request, unchecked.

use std::io::{self, BufRead, Read, Write};

use super::request::BodyLength;

/// Maximum length of a line between chunks, in bytes.
const MAX_LINE_BYTES: u64 = 4096;

/// Forwards a body from `from` to `to`.
pub(super) fn copy_body(
    body: BodyLength,
    from: &mut impl BufRead,
    to: &mut impl Write,
) -> io::Result<()> {
    match body {
        BodyLength::Length(length) => exactly(length, from, to),
        BodyLength::Chunks => chunks(from, to),
    }
}

/// Forwards exactly `length` bytes; fails with `UnexpectedEof` if `from` ends before.
fn exactly(length: u64, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    let copied = io::copy(&mut from.take(length), to)?;
    if copied == length {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Forwards a chunked body, rewritten without extensions and trailers.
fn chunks(from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    loop {
        let line = read_line(from)?;
        let digits = line.split(';').next().unwrap_or_default().trim_end();
        let is_plain = !digits.is_empty()
            && digits.len() <= 15
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let length = u64::from_str_radix(digits, 16).ok().filter(|_| is_plain);
        let length = length.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        write!(to, "{length:x}\r\n")?;
        if length == 0 {
            // Trailers end with an empty line.
            while !self::read_line(from)?.is_empty() {}
            return to.write_all(b"\r\n");
        }
        exactly(length, from, to)?;
        if !self::read_line(from)?.is_empty() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        to.write_all(b"\r\n")?;
    }
}

/// Reads a line without its CR LF.
fn read_line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    from.take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    let text = line.strip_suffix(b"\r\n").map(<[u8]>::to_vec);
    let text = text.and_then(|text| String::from_utf8(text).ok());
    text.filter(|text| !text.chars().any(char::is_control))
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}
