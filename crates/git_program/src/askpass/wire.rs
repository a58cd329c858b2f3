//! The messages between the client and the server: parts with a length of four bytes, the least significant first.

use std::io::{self, ErrorKind, Read, Write};

use zeroize::Zeroizing;

/// Maximum length of a part in bytes; prompts and answers are far shorter.
pub(super) const MAX_PART_BYTES: usize = 64 << 10;

/// The variable with the path of the socket.
pub(super) const SOCKET: &str = "BURIN_ASKPASS_SOCKET";
/// The variable with the token of the call.
pub(super) const TOKEN: &str = "BURIN_ASKPASS_TOKEN";

/// First byte of a reply with an answer.
pub(super) const ANSWERED: u8 = b'+';
/// First byte of a refusal.
pub(super) const REFUSED: u8 = b'-';

pub(super) fn write_part(stream: &mut impl Write, part: &[u8]) -> io::Result<()> {
    let length = u32::try_from(part.len())
        .ok()
        .filter(|_| part.len() <= MAX_PART_BYTES)
        .ok_or(ErrorKind::InvalidInput)?;
    stream.write_all(&length.to_le_bytes())?;
    stream.write_all(part)
}

/// Reads a part. Fails if it is longer than `MAX_PART_BYTES`.
pub(super) fn read_part(stream: &mut impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_PART_BYTES {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut part = Zeroizing::new(vec![0; length]);
    stream.read_exact(&mut part)?;
    Ok(part)
}
