//! Decodes the bytes of a file to text, and encodes the text to the same bytes.
//!
//! Invariant: `encode` applied to the result of `decode` writes the same bytes, unless
//! `Decoded::read_only` says why not. `detect` determines the encoding.

mod detect;
mod utf16;

use std::borrow::Cow;
use std::fmt;

use base::{ByteOffset, Row};
use encoding_rs::{Encoder, EncoderResult};

use crate::line_ending::LineEndings;
use crate::snapshot::Snapshot;

pub use crate::encoding::detect::{decode, decode_as, decode_text, looks_binary};

/// A character encoding that a file can be saved in: UTF-8, UTF-16 of either byte order, or one of
/// 36 legacy encodings. A byte order mark is not part of it, see `FileFormat`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoding(EncodingKind);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum EncodingKind {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// Never one of the above, and never one that cannot be written.
    Legacy(&'static encoding_rs::Encoding),
}

/// Legacy encodings offered to the user; `Encoding::named` also knows their aliases.
const LEGACY: [&encoding_rs::Encoding; 36] = [
    encoding_rs::WINDOWS_1252,
    encoding_rs::ISO_8859_2,
    encoding_rs::ISO_8859_3,
    encoding_rs::ISO_8859_4,
    encoding_rs::ISO_8859_5,
    encoding_rs::ISO_8859_6,
    encoding_rs::ISO_8859_7,
    encoding_rs::ISO_8859_8,
    encoding_rs::ISO_8859_8_I,
    encoding_rs::ISO_8859_10,
    encoding_rs::ISO_8859_13,
    encoding_rs::ISO_8859_14,
    encoding_rs::ISO_8859_15,
    encoding_rs::ISO_8859_16,
    encoding_rs::WINDOWS_874,
    encoding_rs::WINDOWS_1250,
    encoding_rs::WINDOWS_1251,
    encoding_rs::WINDOWS_1253,
    encoding_rs::WINDOWS_1254,
    encoding_rs::WINDOWS_1255,
    encoding_rs::WINDOWS_1256,
    encoding_rs::WINDOWS_1257,
    encoding_rs::WINDOWS_1258,
    encoding_rs::IBM866,
    encoding_rs::KOI8_R,
    encoding_rs::KOI8_U,
    encoding_rs::MACINTOSH,
    encoding_rs::X_MAC_CYRILLIC,
    encoding_rs::GBK,
    encoding_rs::GB18030,
    encoding_rs::BIG5,
    encoding_rs::EUC_JP,
    encoding_rs::SHIFT_JIS,
    encoding_rs::ISO_2022_JP,
    encoding_rs::EUC_KR,
    encoding_rs::X_USER_DEFINED,
];

impl Encoding {
    /// The default encoding, UTF-8.
    pub const UTF_8: Encoding = Encoding(EncodingKind::Utf8);
    /// UTF-16 with little-endian units.
    pub const UTF_16LE: Encoding = Encoding(EncodingKind::Utf16Le);
    /// UTF-16 with big-endian units.
    pub const UTF_16BE: Encoding = Encoding(EncodingKind::Utf16Be);

    /// Returns its usual name, such as `UTF-8` or `windows-1252`.
    pub fn name(&self) -> &'static str {
        match self.0 {
            EncodingKind::Utf8 => "UTF-8",
            EncodingKind::Utf16Le => "UTF-16LE",
            EncodingKind::Utf16Be => "UTF-16BE",
            EncodingKind::Legacy(encoding) => encoding.name(),
        }
    }

    /// Returns the encoding with this name or alias of the WHATWG encoding standard, such as
    /// `latin1`, regardless of case. `None` for unknown names and for encodings that a file cannot
    /// be saved in.
    pub fn named(name: &str) -> Option<Encoding> {
        Self::of(encoding_rs::Encoding::for_label(name.as_bytes())?)
    }

    /// Returns all encodings that a file can be saved in, UTF-8 first.
    pub fn all() -> Vec<Encoding> {
        [Encoding::UTF_8, Encoding::UTF_16LE, Encoding::UTF_16BE]
            .into_iter()
            .chain(LEGACY.into_iter().filter_map(Self::of))
            .collect()
    }

    /// Converts an encoding of the library; `None` if texts cannot be encoded in it.
    fn of(encoding: &'static encoding_rs::Encoding) -> Option<Encoding> {
        let kind = if encoding == encoding_rs::UTF_8 {
            EncodingKind::Utf8
        } else if encoding == encoding_rs::UTF_16LE {
            EncodingKind::Utf16Le
        } else if encoding == encoding_rs::UTF_16BE {
            EncodingKind::Utf16Be
        } else if encoding.output_encoding() == encoding {
            EncodingKind::Legacy(encoding)
        } else {
            return None;
        };
        Some(Encoding(kind))
    }

    /// Returns its byte order mark; empty if it has none.
    fn bom(&self) -> &'static [u8] {
        match self.0 {
            EncodingKind::Utf8 => b"\xef\xbb\xbf",
            EncodingKind::Utf16Le => b"\xff\xfe",
            EncodingKind::Utf16Be => b"\xfe\xff",
            EncodingKind::Legacy(_) => b"",
        }
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Encoding, byte order mark and line endings of a file: all that is needed besides the text to
/// write the file back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileFormat {
    /// Character encoding of the file.
    pub encoding: Encoding,
    /// Whether the file starts with a byte order mark.
    pub bom: bool,
    /// Line endings when the file was read; the text keeps its own endings.
    pub line_endings: LineEndings,
}

impl FileFormat {
    /// Format of new files: UTF-8 without a byte order mark, with line feeds.
    pub const NEW: FileFormat = FileFormat {
        encoding: Encoding::UTF_8,
        bom: false,
        line_endings: LineEndings::Lf,
    };
}

/// The decoded content of a file, with the format to write it back. Made by `decode` and
/// `decode_as`.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// Text without the byte order mark; borrowed if the file is UTF-8.
    pub text: Cow<'a, str>,
    /// Format that `encode` needs to write it back.
    pub format: FileFormat,
    /// Reason why the file must not be written back: `encode` would not restore the same bytes.
    pub read_only: Option<String>,
    /// Whether the content does not look like text.
    pub binary: bool,
}

/// Encodes a text in the given encoding, with a byte order mark if the format has one. Line endings
/// are written as they are in the text; those of the format are ignored.
///
/// # Errors
///
/// Fails at the first character that the encoding lacks.
pub fn encode(snapshot: &Snapshot, format: &FileFormat) -> Result<Vec<u8>, EncodeError> {
    let chunks = snapshot.chunks(snapshot.full_span());
    let mut bytes = Vec::with_capacity(snapshot.len().0 + 3);
    if format.bom {
        bytes.extend_from_slice(format.encoding.bom());
    }
    match format.encoding.0 {
        EncodingKind::Utf8 => chunks.for_each(|chunk| bytes.extend_from_slice(chunk.as_bytes())),
        EncodingKind::Utf16Le => {
            chunks.for_each(|chunk| utf16::encode(chunk, u16::to_le_bytes, &mut bytes))
        }
        EncodingKind::Utf16Be => {
            chunks.for_each(|chunk| utf16::encode(chunk, u16::to_be_bytes, &mut bytes))
        }
        EncodingKind::Legacy(encoding) => {
            let mut encoder = encoding.new_encoder();
            let mut start = 0;
            for chunk in chunks {
                encode_legacy(&mut encoder, chunk, &mut bytes, false).map_err(
                    |(at, character)| {
                        let offset = ByteOffset(start + at);
                        EncodeError {
                            encoding: format.encoding,
                            character,
                            offset,
                            row: snapshot.point_at(offset).row,
                        }
                    },
                )?;
                start += chunk.len();
            }
            // Some encodings need a closing escape sequence.
            if encode_legacy(&mut encoder, "", &mut bytes, true).is_err() {
                base::never!("no character, yet one that {} lacks", format.encoding);
            }
        }
    }
    Ok(bytes)
}

/// Encodes `text`. Fails with the first character that the encoding lacks, and its offset in
/// `text`.
fn encode_legacy(
    encoder: &mut Encoder,
    text: &str,
    bytes: &mut Vec<u8>,
    last: bool,
) -> Result<(), (usize, char)> {
    let mut read_in_all = 0;
    loop {
        let rest = &text[read_in_all..];
        // Enough for every encoding, including the closing sequence.
        bytes.reserve(rest.len() * 2 + 32);
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, bytes, last);
        read_in_all += read;
        match result {
            EncoderResult::InputEmpty => return Ok(()),
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(character) => {
                return Err((read_in_all - character.len_utf8(), character));
            }
        }
    }
}

/// The first character of a text that the requested encoding lacks, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// Requested encoding of the file.
    pub encoding: Encoding,
    /// First character that it lacks.
    pub character: char,
    /// Offset of that character.
    pub offset: ByteOffset,
    /// Row of that character.
    pub row: Row,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot write line {} as {}, which has no {:?}: choose UTF-8 or replace the character",
            self.row.0 + 1,
            self.encoding,
            self.character,
        )
    }
}

impl std::error::Error for EncodeError {}

#[cfg(test)]
mod tests;
