//! Decodes files with the attribute `working-tree-encoding`.
//!
//! Limitation: only UTF-16 and ISO-8859-1 are decoded here, where every decoder agrees with the one
//! of git; other encodings are left to the program.

use std::borrow::Cow;

use super::CleanError;
use crate::capabilities::GitFeature;

const LITTLE_ENDIAN_MARK: &[u8] = b"\xff\xfe";
const BIG_ENDIAN_MARK: &[u8] = b"\xfe\xff";

/// Converts `raw` from the named encoding to UTF-8. An empty file stays empty in every encoding.
pub(super) fn to_utf8<'b>(name: &str, raw: &'b [u8]) -> Result<Cow<'b, [u8]>, CleanError> {
    let has_mark = raw.starts_with(LITTLE_ENDIAN_MARK) || raw.starts_with(BIG_ENDIAN_MARK);
    let undecodable = || CleanError::Undecodable(name.to_owned());
    let text = match name.to_ascii_uppercase().as_str() {
        "UTF-8" | "UTF8" => return Ok(Cow::Borrowed(raw)),
        _ if raw.is_empty() => return Ok(Cow::Borrowed(raw)),
        "UTF-16" | "UTF-16LE-BOM" if raw.starts_with(LITTLE_ENDIAN_MARK) => {
            from_utf16(&raw[2..], u16::from_le_bytes)
        }
        "UTF-16" if raw.starts_with(BIG_ENDIAN_MARK) => from_utf16(&raw[2..], u16::from_be_bytes),
        // Git requires the mark here, and forbids it below.
        "UTF-16" => None,
        "UTF-16LE" | "UTF-16BE" if has_mark => None,
        "UTF-16LE" => from_utf16(raw, u16::from_le_bytes),
        "UTF-16BE" => from_utf16(raw, u16::from_be_bytes),
        "ISO-8859-1" | "ISO8859-1" | "LATIN1" => {
            Some(raw.iter().map(|byte| char::from(*byte)).collect())
        }
        _ => {
            let feature = GitFeature::Encoding(name.to_owned());
            return Err(CleanError::Program(feature));
        }
    };
    let text: String = text.ok_or_else(undecodable)?;
    Ok(Cow::Owned(text.into_bytes()))
}

/// Decodes UTF-16; `None` if it is invalid. `order` makes a unit of two bytes.
fn from_utf16(bytes: &[u8], order: fn([u8; 2]) -> u16) -> Option<String> {
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let units = pairs.map(|pair| order([pair[0], pair[1]]));
    char::decode_utf16(units)
        .collect::<Result<String, _>>()
        .ok()
}
