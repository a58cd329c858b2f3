//! Code shared by several fuzz targets.

pub mod lsp;
#[cfg(feature = "sse")]
pub mod sse;

use patch::format::{EditFormat, FormatReader};

/// Reads `data` whole and in pieces, whose lengths come from its own bytes, and asserts equal
/// results.
pub fn read(format: EditFormat, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut whole = FormatReader::new(format);
    let mut events = whole.feed(text);
    events.extend(whole.finish());

    let mut reader = FormatReader::new(format);
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.bytes().next() {
        let mut cut = usize::from(first % 16 + 1).min(rest.len());
        while !rest.is_char_boundary(cut) {
            cut += 1;
        }
        pieces.extend(reader.feed(&rest[..cut]));
        rest = &rest[cut..];
    }
    pieces.extend(reader.finish());
    assert_eq!(pieces, events);
}

/// Returns `data` in pieces whose lengths come from its own bytes.
pub fn pieces(mut data: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while let Some(first) = data.first() {
        let (piece, rest) = data.split_at(usize::from(first % 16 + 1).min(data.len()));
        pieces.push(piece);
        data = rest;
    }
    pieces
}
