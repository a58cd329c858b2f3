//! Random texts for tests.

use base::ByteOffset;
use rand::Rng;
use rand::rngs::StdRng;

/// Parts of texts: line endings, wide chars, chars of several UTF-16 units, combining marks.
const PARTS: [&str; 14] = [
    "a", "bc ", "\t", "\n", "\r\n", "é", "語", "🦀", "e\u{301}", "word", "\u{feff}", "🇩🇪", "x\n",
    "\u{2028}",
];

/// Returns a text of at most `max` parts, whose carriage returns all belong to line endings.
pub(crate) fn text(rng: &mut StdRng, max: usize) -> String {
    let count = rng.random_range(0..=max);
    (0..count)
        .map(|_| PARTS[rng.random_range(0..PARTS.len())])
        .collect()
}

/// Returns a char boundary of a text, 0 and its length included.
pub(crate) fn boundary(rng: &mut StdRng, text: &str) -> ByteOffset {
    let offset = rng.random_range(0..=text.len());
    ByteOffset(text.floor_char_boundary(offset))
}

/// Returns a count for a random test: `soak` in a soak, `usual` otherwise.
pub(crate) fn rounds(usual: usize, soak: usize) -> usize {
    match std::env::var_os("BURIN_SOAK") {
        Some(_) => soak,
        None => usual,
    }
}
