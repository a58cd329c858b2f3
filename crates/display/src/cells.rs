//! Cell widths of characters, and stand-ins for characters without a visible glyph.
//!
//! Start at `Meter`. Limitation: an emoji made wide by a variation selector alone counts as narrow.

use unicode_width::UnicodeWidthChar;

const JOINER: char = '\u{200D}';
const EMOJI_SELECTOR: char = '\u{FE0F}';

/// Measures the widths of characters of a row from left to right, in cells. The widths of tabs and
/// joined emoji depend on the preceding text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    /// Cells from the left edge so far.
    pub(crate) cell: u32,
    tab_width: u32,
    prior: PrecedingText,
}

/// Preceding text, as far as it affects the width of the next character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrecedingText {
    Other,
    Wide,
    Joiner,
    Regional,
}

impl Meter {
    /// Starts at `cell`, which must be at the start of a row or after a character that does not
    /// join with the next one.
    pub(crate) fn new(cell: u32, tab_width: u32) -> Self {
        Self {
            cell,
            tab_width: tab_width.max(1),
            prior: PrecedingText::Other,
        }
    }

    /// Advances over one character and returns the number of cells it covers.
    pub(crate) fn advance(&mut self, ch: char) -> u32 {
        let cells = match ch {
            ' '..='~' => {
                self.prior = PrecedingText::Other;
                1
            }
            '\t' => {
                self.prior = PrecedingText::Other;
                self.tab_width - self.cell % self.tab_width
            }
            // Only inlays have line feeds within a line: the following text is in the next row.
            '\n' => {
                self.prior = PrecedingText::Other;
                0
            }
            // Kana, ideographs and hangul, which texts have many of.
            '\u{3041}'..='\u{3096}'
            | '\u{30A1}'..='\u{30FA}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}'
                if self.prior != PrecedingText::Joiner =>
            {
                self.prior = PrecedingText::Wide;
                2
            }
            _ => self.advance_rare(ch),
        };
        self.cell = self.cell.saturating_add(cells);
        cells
    }

    /// Advances over a text.
    pub(crate) fn advance_text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let plain = plain_prefix(rest.as_bytes());
            if plain > 0 {
                self.pass(plain, PrecedingText::Other);
                rest = &rest[plain..];
            }
            let wide = match self.prior {
                PrecedingText::Joiner => 0,
                _ => wide_prefix(rest.as_bytes()),
            };
            if wide > 0 {
                self.pass(wide / 3 * 2, PrecedingText::Wide);
                rest = &rest[wide..];
            }
            // The remaining characters are rare, and occur in groups.
            let mut passed = rest.len();
            for (ix, ch) in rest.char_indices() {
                self.advance(ch);
                let next = ix + ch.len_utf8();
                if matches!(rest.as_bytes().get(next), Some(..0x80 | 0xE5..=0xEC)) {
                    passed = next;
                    break;
                }
            }
            rest = &rest[passed..];
        }
    }

    fn pass(&mut self, cells: usize, prior: PrecedingText) {
        let cells = u32::try_from(cells).unwrap_or(u32::MAX);
        self.cell = self.cell.saturating_add(cells);
        self.prior = prior;
    }

    /// Returns the width of a character in cells after the preceding text, which this updates;
    /// `advance` adds the width to `cell`. A character that joins the previous one, such as an
    /// accent, has 0.
    fn advance_rare(&mut self, ch: char) -> u32 {
        if let Some(cells) = stand_in_cells(ch) {
            self.prior = PrecedingText::Other;
            return cells;
        }
        match ch {
            JOINER => {
                self.prior = match self.prior {
                    PrecedingText::Wide => PrecedingText::Joiner,
                    _ => PrecedingText::Other,
                };
                return 0;
            }
            EMOJI_SELECTOR => {
                self.prior = PrecedingText::Wide;
                return 0;
            }
            '\u{1F3FB}'..='\u{1F3FF}' if self.prior == PrecedingText::Wide => return 0,
            '\u{1F1E6}'..='\u{1F1FF}' => {
                if self.prior == PrecedingText::Regional {
                    self.prior = PrecedingText::Wide;
                    return 0;
                }
                self.prior = PrecedingText::Regional;
                return 2;
            }
            _ => {}
        }
        let width = ch.width().unwrap_or(1) as u32;
        match width {
            0 => {
                // A joiner joins only what follows it at once.
                if self.prior == PrecedingText::Joiner {
                    self.prior = PrecedingText::Wide;
                }
                0
            }
            2 if self.prior == PrecedingText::Joiner => {
                self.prior = PrecedingText::Wide;
                0
            }
            2 => {
                self.prior = PrecedingText::Wide;
                2
            }
            _ => {
                self.prior = PrecedingText::Other;
                width
            }
        }
    }
}

/// Returns whether the width of `ch` is determined by `ch` and `prior`, the previous character,
/// regardless of the text before them.
pub(crate) fn has_fixed_width(prior: char, ch: char) -> bool {
    match ch {
        ' '..='~' | '\t' => true,
        '\u{1F3FB}'..='\u{1F3FF}' | '\u{1F1E6}'..='\u{1F1FF}' => false,
        _ => stand_in_cells(ch).is_some() || prior != JOINER && ch.width().unwrap_or(1) > 0,
    }
}

/// Returns the number of leading bytes that are printable ASCII, of one cell each.
pub(crate) fn plain_prefix(bytes: &[u8]) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut count = 0;
    let (words, _) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_ne_bytes(*word);
        // Eight at a time: no high bit, none below 0x20, none equal to 0x7F.
        let plain = word & HIGH == 0
            && word.wrapping_add(0x6060_6060_6060_6060) & HIGH == HIGH
            && word.wrapping_add(0x0101_0101_0101_0101) & HIGH == 0;
        if !plain {
            break;
        }
        count += 8;
    }
    count
        + bytes[count..]
            .iter()
            .take_while(|byte| (0x20..0x7F).contains(*byte))
            .count()
}

/// Returns the number of leading bytes that are common ideographs and hangul, of three bytes and
/// two cells each: those identified by their lead byte, U+5000 to U+9FFF and U+B000 to U+CFFF.
fn wide_prefix(bytes: &[u8]) -> usize {
    let (chars, _) = bytes.as_chunks::<3>();
    let is_wide = |ch: &&[u8; 3]| matches!(ch[0], 0xE5..=0xE9 | 0xEB | 0xEC);
    3 * chars.iter().take_while(is_wide).count()
}

/// Returns the text painted in place of a character that is a control character, is invisible or
/// reorders text, such as `^A` or `<200B>`. Returns `None` for all other characters.
pub(crate) fn stand_in(ch: char) -> Option<String> {
    stand_in_cells(ch)?;
    Some(match ch {
        '\0'..='\x1F' => format!("^{}", char::from(ch as u8 + b'@')),
        '\x7F' => "^?".to_owned(),
        _ => format!("<{:X}>", u32::from(ch)),
    })
}

/// Returns the width of `stand_in` without building it; `None` for a tab, which is painted as
/// spaces, and for a line feed.
fn stand_in_cells(ch: char) -> Option<u32> {
    match ch {
        '\t' | '\n' => None,
        '\0'..='\x1F' | '\x7F' => Some(2),
        '\u{80}'..='\u{9F}' => Some(4),
        // Directions and widths that would make the text look like another.
        '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' => Some(6),
        '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' => Some(6),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
