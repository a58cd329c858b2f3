//! Random spellings of names, as volumes that ignore case and normal form take for the same.
//!
//! The table is written by hand, so that tests do not judge a folding by itself.

/// Characters, and others that such a volume does not distinguish from them.
const SAME: &[(&str, &[&str])] = &[
    ("ss", &["SS", "ß", "\u{1e9e}", "\u{17f}s"]),
    ("fi", &["FI", "\u{fb01}"]),
    ("ffl", &["FFL", "\u{fb04}"]),
    ("st", &["ST", "\u{fb06}", "\u{fb05}"]),
    ("\u{e9}", &["\u{c9}", "e\u{301}", "E\u{301}"]),
    (
        "\u{1ec7}",
        &["\u{1ec6}", "e\u{323}\u{302}", "e\u{302}\u{323}"],
    ),
    ("\u{fc}", &["\u{dc}", "u\u{308}", "U\u{308}"]),
    ("\u{ac00}", &["\u{1100}\u{1161}"]),
    ("k", &["K", "\u{212a}"]),
    ("s", &["S", "\u{17f}"]),
    ("\u{e5}", &["\u{c5}", "\u{212b}", "a\u{30a}"]),
    ("σ", &["Σ", "ς"]),
];

/// A generator of spellings; the same seed gives the same ones.
pub struct Spellings(u64);

impl Spellings {
    /// Creates a generator.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = (mixed ^ (mixed >> 31)) % (bound as u64);
        usize::try_from(mixed).unwrap_or(0)
    }

    /// Returns a random spelling of a name or path, which must be written in lower case and
    /// composed.
    pub fn of(&mut self, text: &str) -> String {
        let mut spelled = String::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let same = SAME.iter().filter(|(start, _)| rest.starts_with(start));
            let same: Vec<_> = same.collect();
            let ix = self.below(same.len() + 2);
            if let Some((start, others)) = same.get(ix) {
                spelled.push_str(others[self.below(others.len())]);
                rest = &rest[start.len()..];
            } else {
                if ix == same.len() && letter.is_ascii() {
                    spelled.push(letter.to_ascii_uppercase());
                } else {
                    spelled.push(letter);
                }
                rest = &rest[letter.len_utf8()..];
            }
        }
        spelled
    }
}

/// Returns the number of spellings to try: `usual`, or that of `BURIN_SPELLINGS`, which the soak
/// sets.
pub fn spelling_count(usual: usize) -> usize {
    let asked = std::env::var("BURIN_SPELLINGS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(usual)
}
