//! Bodies of requests, handed on to their last byte and no further: what follows would be another request, which
//! nobody judged.

use std::io::{self, BufRead, Read, Write};

use super::request::Body;

/// Longest line between chunks.
const LONGEST_LINE: u64 = 4096;

/// Hands a body on.
pub(super) fn hand_on(body: Body, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    match body {
        Body::Length(length) => exactly(length, from, to),
        Body::Chunks => chunks(from, to),
    }
}

fn exactly(length: u64, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    let copied = io::copy(&mut from.take(length), to)?;
    match copied == length {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Chunks are read and written anew, without their extensions and without trailers.
fn chunks(from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    loop {
        let line = line(from)?;
        let digits = line.split(';').next().unwrap_or_default().trim_end();
        let is_plain = !digits.is_empty()
            && digits.len() <= 15
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let length = u64::from_str_radix(digits, 16).ok().filter(|_| is_plain);
        let length = length.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        write!(to, "{length:x}\r\n")?;
        if length == 0 {
            // Trailers end with an empty line.
            while !self::line(from)?.is_empty() {}
            return to.write_all(b"\r\n");
        }
        exactly(length, from, to)?;
        if !self::line(from)?.is_empty() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        to.write_all(b"\r\n")?;
    }
}

/// A line without its end, which is CR LF.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    from.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    let text = line.strip_suffix(b"\r\n").map(<[u8]>::to_vec);
    let text = text.and_then(|text| String::from_utf8(text).ok());
    text.filter(|text| !text.chars().any(char::is_control))
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}
