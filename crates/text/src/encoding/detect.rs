//! Detects the encoding of a file.
//!
//! Checks in this order: a byte order mark; UTF-16 without one; valid UTF-8; UTF-8 with a few
//! invalid bytes (read-only); binary (read-only); else the most likely legacy encoding, read-only
//! if it would not restore the same bytes. UTF-8 takes one pass and no copy.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use super::{Decoded, Encoding, EncodingKind, FileFormat, utf16};
use crate::line_ending::EndingCount;

/// Bytes at the start that decide whether a file is binary or UTF-16.
const HEAD_BYTES: usize = 8 * 1024;
/// Bytes, from the first one beyond ASCII on, that decide on the legacy encoding.
const SAMPLE_BYTES: usize = 256 * 1024;

/// Detects the encoding of a file's `bytes` and decodes them. Never fails: bytes that do not fit
/// become U+FFFD, and `Decoded::read_only` then says why the file must not be saved.
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    detect(bytes).finish()
}

/// Decodes as `decode` does, but without examining the line endings; `None` if the file is binary.
pub fn decode_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    // Nearly all files are UTF-8 without a mark.
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if !has_mark(head) && utf16::looks_like(head).is_none() {
        if is_noise(head) {
            return None;
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Some(Cow::Borrowed(text));
        }
    }
    let detected = detect(bytes);
    (!detected.is_binary()).then_some(detected.text)
}

fn has_mark(head: &[u8]) -> bool {
    let encodings = [Encoding::UTF_8, Encoding::UTF_16LE, Encoding::UTF_16BE];
    encodings
        .iter()
        .any(|encoding| head.starts_with(encoding.bom()))
}

fn detect(bytes: &[u8]) -> Detected<'_> {
    for encoding in [Encoding::UTF_8, Encoding::UTF_16LE, Encoding::UTF_16BE] {
        if bytes.starts_with(encoding.bom()) {
            return Detected::with(bytes, encoding);
        }
    }
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if let Some(encoding) = utf16::looks_like(head) {
        let decoded = Detected::with(bytes, encoding);
        if decoded.problem.is_none() && !decoded.is_binary() {
            return decoded;
        }
    }
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Detected::whole(bytes, Cow::Borrowed(text), Encoding::UTF_8),
        Err(error) => error,
    };
    let sample = sample(bytes);
    if is_noise(head) || is_mostly_utf8(sample, error.valid_up_to(), bytes) {
        return Detected::with(bytes, Encoding::UTF_8);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == bytes.len());
    let guess = detector.guess(None, Utf8Detection::Deny);
    if let Some(encoding) = Encoding::of(guess)
        && let (text, None) = legacy(bytes, guess)
    {
        return Detected::whole(bytes, text, encoding);
    }
    // This encoding has a character for every byte, so nothing is lost.
    Detected::with(
        bytes,
        Encoding(EncodingKind::Legacy(encoding_rs::WINDOWS_1252)),
    )
}

/// Returns whether a file that starts with these bytes is certainly binary; `false` for an empty
/// file. Reads the first 8 KiB at most. Cheaper than `decode` if only this matters.
pub fn looks_binary(head: &[u8]) -> bool {
    let head = &head[..head.len().min(HEAD_BYTES)];
    let has_mark = [Encoding::UTF_16LE, Encoding::UTF_16BE]
        .iter()
        .any(|encoding| head.starts_with(encoding.bom()));
    !has_mark && utf16::looks_like(head).is_none() && is_noise(head)
}

/// Decodes `bytes` in an encoding chosen by the user, without detection; a byte order mark of that
/// encoding is removed. Never fails; see `Decoded::read_only`.
pub fn decode_as(bytes: &[u8], encoding: Encoding) -> Decoded<'_> {
    Detected::with(bytes, encoding).finish()
}

/// A decoded text, not yet examined further.
struct Detected<'a> {
    /// The file without its byte order mark.
    body: &'a [u8],
    text: Cow<'a, str>,
    encoding: Encoding,
    bom: bool,
    /// Offset in `body` of the first bytes that the text would not restore.
    problem: Option<usize>,
}

impl<'a> Detected<'a> {
    /// A text without a byte order mark from which the bytes can be restored.
    fn whole(body: &'a [u8], text: Cow<'a, str>, encoding: Encoding) -> Self {
        Self {
            body,
            text,
            encoding,
            bom: false,
            problem: None,
        }
    }

    fn with(bytes: &'a [u8], encoding: Encoding) -> Self {
        let mark = encoding.bom();
        let bom = !mark.is_empty() && bytes.starts_with(mark);
        let body = if bom { &bytes[mark.len()..] } else { bytes };
        let (text, problem) = match encoding.0 {
            EncodingKind::Utf8 => match std::str::from_utf8(body) {
                Ok(text) => (Cow::Borrowed(text), None),
                Err(error) => (String::from_utf8_lossy(body), Some(error.valid_up_to())),
            },
            EncodingKind::Utf16Le => owned(utf16::decode(body, u16::from_le_bytes)),
            EncodingKind::Utf16Be => owned(utf16::decode(body, u16::from_be_bytes)),
            EncodingKind::Legacy(legacy_encoding) => legacy(body, legacy_encoding),
        };
        Self {
            body,
            text,
            encoding,
            bom,
            problem,
        }
    }

    fn is_binary(&self) -> bool {
        let kind = self.encoding.0;
        let is_utf16 = matches!(kind, EncodingKind::Utf16Le | EncodingKind::Utf16Be);
        let head = if is_utf16 {
            self.text.as_bytes()
        } else {
            self.body
        };
        is_noise(&head[..head.len().min(HEAD_BYTES)])
    }

    fn finish(self) -> Decoded<'a> {
        let binary = self.is_binary();
        let format = FileFormat {
            encoding: self.encoding,
            bom: self.bom,
            line_endings: EndingCount::of(self.text.as_bytes()).endings(),
        };
        let reason_at = |at| reason(self.body, at, self.encoding, binary);
        Decoded {
            read_only: self.problem.map(reason_at),
            text: self.text,
            format,
            binary,
        }
    }
}

/// Wraps an owned text; the offset is passed through.
fn owned((text, problem): (String, Option<usize>)) -> (Cow<'static, str>, Option<usize>) {
    (Cow::Owned(text), problem)
}

/// Decodes legacy bytes; also returns the offset of the first bytes that the text would not
/// restore.
fn legacy<'a>(
    bytes: &'a [u8],
    encoding: &'static encoding_rs::Encoding,
) -> (Cow<'a, str>, Option<usize>) {
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    let (again, _, _) = encoding.encode(&text);
    let problem = (*again != *bytes).then(|| {
        let same = again.iter().zip(bytes).take_while(|(a, b)| a == b);
        same.count().min(bytes.len().saturating_sub(1))
    });
    (text, problem)
}

/// Returns a message that says which bytes would be lost, and where.
fn reason(body: &[u8], at: usize, encoding: Encoding, binary: bool) -> String {
    if binary {
        return "this is not a text file; it is shown read-only".to_owned();
    }
    let line = memchr::memchr_iter(b'\n', &body[..at]).count() + 1;
    let byte = body.get(at).copied().unwrap_or_default();
    format!(
        "line {line} is not valid {encoding} (byte 0x{byte:02X} at {at}); \
         the file is read-only, because saving would change it"
    )
}

/// Returns up to `SAMPLE_BYTES` bytes, from two bytes before the first one beyond ASCII on or, if
/// all are ASCII, from the start on.
fn sample(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
    // The detector also looks at the two bytes before.
    let start = start.saturating_sub(2);
    &bytes[start..bytes.len().min(start + SAMPLE_BYTES)]
}

/// Returns whether a sample has more than four characters beyond ASCII in UTF-8 for each invalid
/// sequence. `sample` begins up to two bytes before the first byte of `bytes` beyond ASCII; it is
/// not the start of the file. `first_error` is the length of the valid start of `bytes`: if that
/// start has characters beyond ASCII, more than two for each invalid sequence are enough.
fn is_mostly_utf8(sample: &[u8], first_error: usize, bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in sample.utf8_chunks() {
        good += chunk
            .valid()
            .chars()
            .filter(|char| !char.is_ascii())
            .count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    let first_is_late = !bytes[..first_error.min(bytes.len())].is_ascii();
    good > 4 * bad || first_is_late && good > bad * 2
}

/// Returns whether there are zeros, or more control characters than escape sequences, form feeds
/// and record separators explain.
fn is_noise(head: &[u8]) -> bool {
    let is_control = |byte: u8| matches!(byte, 1..=6 | 14..=26 | 127);
    let count = |bytes: &[u8]| bytes.iter().filter(|byte| is_control(**byte)).count();
    let (blocks, rest) = head.as_chunks::<64>();
    // Text has hardly any such bytes; the compiler turns this test into one of many bytes at once.
    let may_hold = |block: &&[u8; 64]| {
        let is_low = |byte: u8| (byte < 32 && !(9..=13).contains(&byte)) || byte == 127;
        block.iter().fold(false, |any, byte| any | is_low(*byte))
    };
    let counted = blocks.iter().filter(may_hold).map(|block| count(block));
    memchr::memchr(0, head).is_some() || (counted.sum::<usize>() + count(rest)) * 8 > head.len()
}
