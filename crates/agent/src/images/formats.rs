//! The structures of PNG, JPEG, GIF and WebP, as far as needed to find an image's end, its size and
//! whether it is animated.

use super::ImageDefect;

/// The result of parsing an image's structure: width and height in pixels, and the number of
/// frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ImageStructure {
    pub(super) size: (u32, u32),
    /// Number of frames in the file.
    pub(super) frames: u32,
}

const CUT: ImageDefect = ImageDefect::Truncated;
const DAMAGED: ImageDefect = ImageDefect::Damaged;

/// Detects the media type from the first bytes and parses the image to its end. Returns `None` for
/// other formats.
pub(super) fn walk(bytes: &[u8]) -> Option<(&'static str, Result<ImageStructure, ImageDefect>)> {
    if let Some(rest) = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n") {
        return Some(("image/png", png(rest)));
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some(("image/jpeg", jpeg(bytes)));
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        return Some(("image/gif", gif(bytes)));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some(("image/webp", webp(bytes)));
    }
    None
}

/// Reads forward; a read past the end means a truncated file.
struct ImageReader<'a> {
    rest: &'a [u8],
}

impl<'a> ImageReader<'a> {
    /// Returns the next `count` bytes and moves past them; fails with `CUT` and stays in place if
    /// fewer are left.
    fn take(&mut self, count: usize) -> Result<&'a [u8], ImageDefect> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(CUT)?;
        self.rest = rest;
        Ok(head)
    }

    /// Reads one byte; fails with `CUT` at the end.
    fn byte(&mut self) -> Result<u8, ImageDefect> {
        Ok(self.take(1)?[0])
    }

    /// Reads two bytes, the most significant first; fails with `CUT` if fewer are left.
    fn u16_be(&mut self) -> Result<u16, ImageDefect> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// Reads two bytes, the least significant first; fails with `CUT` if fewer are left.
    fn u16_le(&mut self) -> Result<u16, ImageDefect> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Reads four bytes, the most significant first; fails with `CUT` if fewer are left.
    fn u32_be(&mut self) -> Result<u32, ImageDefect> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads four bytes, the least significant first; fails with `CUT` if fewer are left.
    fn u32_le(&mut self) -> Result<u32, ImageDefect> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads three bytes, the least significant first; fails with `CUT` if fewer are left.
    fn u24_le(&mut self) -> Result<u32, ImageDefect> {
        let bytes = self.take(3)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
    }
}

/// Parses the chunks of a PNG, which follow its signature, up to `IEND`; checksums are not
/// verified. Fails with `DAMAGED` if `IHDR` is not the first chunk, occurs again, or no `IDAT`
/// precedes `IEND`, and with `CUT` if the bytes end before.
fn png(bytes: &[u8]) -> Result<ImageStructure, ImageDefect> {
    let mut reader = ImageReader { rest: bytes };
    let mut walked = ImageStructure::default();
    let mut is_first = true;
    let mut has_data = false;
    loop {
        let length = reader.u32_be()? as usize;
        let kind = reader.take(4)?;
        let mut body = ImageReader {
            rest: reader.take(length)?,
        };
        reader.take(4)?;
        if is_first != (kind == b"IHDR") {
            return Err(DAMAGED);
        }
        is_first = false;
        match kind {
            b"IHDR" => walked.size = (body.u32_be()?, body.u32_be()?),
            b"acTL" => walked.frames = body.u32_be()?,
            b"IDAT" => has_data = true,
            b"IEND" if has_data => {
                walked.frames = walked.frames.max(1);
                return Ok(walked);
            }
            b"IEND" => return Err(DAMAGED),
            _ => {}
        }
    }
}

/// Parses the segments of a JPEG, from its first marker to the end-of-image marker. It counts as
/// one frame. Fails with `DAMAGED` if a marker or a length is invalid or no segment gives the size,
/// and with `CUT` if the bytes end before.
fn jpeg(bytes: &[u8]) -> Result<ImageStructure, ImageDefect> {
    let mut reader = ImageReader { rest: bytes };
    reader.take(2)?;
    let mut size = None;
    loop {
        if reader.byte()? != 0xff {
            return Err(DAMAGED);
        }
        let mut marker = reader.byte()?;
        // Any number of fill bytes may precede a marker.
        while marker == 0xff {
            marker = reader.byte()?;
        }
        match marker {
            0xd9 => break,
            0x01 | 0xd0..=0xd7 => continue,
            _ => {}
        }
        let length = usize::from(reader.u16_be()?);
        let body = reader.take(length.checked_sub(2).ok_or(DAMAGED)?)?;
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            let mut body = ImageReader { rest: body };
            body.byte()?;
            let height = body.u16_be()?;
            let width = body.u16_be()?;
            size = Some((u32::from(width), u32::from(height)));
        }
        if marker == 0xda {
            skip_scan(&mut reader)?;
        }
    }
    Ok(ImageStructure {
        size: size.ok_or(DAMAGED)?,
        frames: 1,
    })
}

/// Skips entropy-coded data up to the next marker.
fn skip_scan(reader: &mut ImageReader<'_>) -> Result<(), ImageDefect> {
    let marker = reader
        .rest
        .windows(2)
        .position(|pair| pair[0] == 0xff && !matches!(pair[1], 0x00 | 0xff | 0xd0..=0xd7));
    reader.take(marker.ok_or(CUT)?)?;
    Ok(())
}

/// Parses the blocks of a GIF, from its signature to the trailer. Fails with `DAMAGED` for an
/// unknown block or a trailer without a frame before it, and with `CUT` if the bytes end before.
fn gif(bytes: &[u8]) -> Result<ImageStructure, ImageDefect> {
    let mut reader = ImageReader { rest: bytes };
    reader.take(6)?;
    let size = (u32::from(reader.u16_le()?), u32::from(reader.u16_le()?));
    let flags = reader.byte()?;
    reader.take(2)?;
    skip_colors(&mut reader, flags)?;
    let mut frames = 0;
    loop {
        match reader.byte()? {
            0x3b if frames > 0 => return Ok(ImageStructure { size, frames }),
            0x21 => {
                reader.byte()?;
                skip_blocks(&mut reader)?;
            }
            0x2c => {
                frames += 1;
                reader.take(8)?;
                let flags = reader.byte()?;
                skip_colors(&mut reader, flags)?;
                reader.byte()?;
                skip_blocks(&mut reader)?;
            }
            _ => return Err(DAMAGED),
        }
    }
}

/// Skips the colour table that `flags`, of an image or of the screen, announces; nothing if there
/// is none. Fails with `CUT` if the bytes end before.
fn skip_colors(reader: &mut ImageReader<'_>, flags: u8) -> Result<(), ImageDefect> {
    if flags & 0x80 != 0 {
        reader.take(3 << ((flags & 7) + 1))?;
    }
    Ok(())
}

/// Skips data blocks up to and including the empty one. Fails with `CUT` if the bytes end before.
fn skip_blocks(reader: &mut ImageReader<'_>) -> Result<(), ImageDefect> {
    loop {
        match reader.byte()? {
            0 => return Ok(()),
            length => reader.take(usize::from(length))?,
        };
    }
}

/// Parses the chunks of a WebP, from `RIFF` to the length given there. The size is that of the
/// first chunk that has one; the header of an animation counts as a frame. Fails with `DAMAGED` if
/// there is no frame or an image header is invalid, and with `CUT` if the bytes end before.
fn webp(bytes: &[u8]) -> Result<ImageStructure, ImageDefect> {
    let mut reader = ImageReader { rest: bytes };
    reader.take(4)?;
    let length = reader.u32_le()? as usize;
    let mut reader = ImageReader {
        rest: reader.take(length)?,
    };
    reader.take(4)?;
    let mut walked = ImageStructure::default();
    let mut has_size = false;
    while !reader.rest.is_empty() {
        let kind = reader.take(4)?;
        let length = reader.u32_le()? as usize;
        let mut body = ImageReader {
            rest: reader.take(length)?,
        };
        if length % 2 == 1 && !reader.rest.is_empty() {
            reader.take(1)?;
        }
        let size = match kind {
            b"VP8X" => {
                body.take(4)?;
                Some((body.u24_le()? + 1, body.u24_le()? + 1))
            }
            b"VP8L" => {
                walked.frames = walked.frames.max(1);
                Some(lossless(&mut body)?)
            }
            b"VP8 " => {
                walked.frames = walked.frames.max(1);
                Some(lossy(&mut body)?)
            }
            // Providers reject even an animation of one frame, so its header counts as a frame.
            b"ANIM" | b"ANMF" => {
                walked.frames += 1;
                None
            }
            _ => None,
        };
        if let (Some(size), false) = (size, has_size) {
            walked.size = size;
            has_size = true;
        }
    }
    match walked.frames {
        0 => Err(DAMAGED),
        _ => Ok(walked),
    }
}

/// Returns width and height in pixels from the header of a `VP8L` chunk. Fails with `DAMAGED` for a
/// wrong signature, and with `CUT` if the bytes end before.
fn lossless(body: &mut ImageReader<'_>) -> Result<(u32, u32), ImageDefect> {
    if body.byte()? != 0x2f {
        return Err(DAMAGED);
    }
    let bits = body.u32_le()?;
    Ok(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
}

/// Returns width and height in pixels from the header of a `VP8 ` chunk. Fails with `DAMAGED` for a
/// wrong start code, and with `CUT` if the bytes end before.
fn lossy(body: &mut ImageReader<'_>) -> Result<(u32, u32), ImageDefect> {
    body.take(3)?;
    if body.take(3)? != b"\x9d\x01\x2a" {
        return Err(DAMAGED);
    }
    let width = body.u16_le()? & 0x3fff;
    let height = body.u16_le()? & 0x3fff;
    Ok((u32::from(width), u32::from(height)))
}
