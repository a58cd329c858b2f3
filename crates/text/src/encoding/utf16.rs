//! UTF-16 in both byte orders.

/// Appends `text` as UTF-16 to `bytes`; `order` turns a unit into its two bytes. Adds no byte order
/// mark.
pub(super) fn encode(text: &str, order: fn(u16) -> [u8; 2], bytes: &mut Vec<u8>) {
    for unit in text.encode_utf16() {
        bytes.extend_from_slice(&order(unit));
    }
}

/// Decodes `bytes`, with U+FFFD for invalid units and for an odd last byte; also returns the byte
/// offset of the first of these. `order` makes a unit of two bytes.
pub(super) fn decode(bytes: &[u8], order: fn([u8; 2]) -> u16) -> (String, Option<usize>) {
    let pairs = bytes.chunks_exact(2);
    let mut problem = (!pairs.remainder().is_empty()).then(|| bytes.len() - 1);
    let units = pairs.map(|pair| order([pair[0], pair[1]]));
    let mut text = String::with_capacity(bytes.len() / 2 + bytes.len() / 8);
    let mut read = 0;
    for char in char::decode_utf16(units) {
        match char {
            Ok(char) => {
                text.push(char);
                read += char.len_utf16() * 2;
            }
            Err(_) => {
                problem = problem.map_or(Some(read), |first| Some(first.min(read)));
                text.push(char::REPLACEMENT_CHARACTER);
                read += 2;
            }
        }
    }
    if bytes.len() % 2 == 1 {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    (text, problem)
}

/// Guesses the byte order of a file without a byte order mark: in mostly Latin text, every other
/// byte is zero. `None` if the bytes do not look like UTF-16.
pub(super) fn looks_like(head: &[u8]) -> Option<super::Encoding> {
    let pairs = head.len() / 2;
    // Most files contain no zero, and a search for one is cheap.
    if pairs == 0 || memchr::memchr(0, head).is_none() {
        return None;
    }
    let zeros_at = |place: usize| {
        let bytes = head.chunks_exact(2).map(|pair| pair[place]);
        bytes.filter(|byte| *byte == 0).count()
    };
    let (even, odd) = (zeros_at(0), zeros_at(1));
    if odd * 2 > pairs && even * 20 <= odd {
        Some(super::Encoding::UTF_16LE)
    } else if even * 2 > pairs && odd * 20 <= even {
        Some(super::Encoding::UTF_16BE)
    } else {
        None
    }
}
