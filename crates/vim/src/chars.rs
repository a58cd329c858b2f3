//! Classes of characters, which words consist of, and their widths in cells.
//!
//! Start at `class`.

use unicode_width::UnicodeWidthChar as _;

/// Class of blanks; an empty line and the end of a line have it too.
pub(crate) const BLANK: u32 = 0;
/// Class of punctuation.
pub(crate) const PUNCTUATION: u32 = 1;
/// Class of letters, digits and the underscore.
pub(crate) const KEYWORD: u32 = 2;

const EMOJI: u32 = 3;
const KANJI: u32 = 0x4e00;

/// Ranges outside Latin-1 that are no ordinary letters, sorted, with their classes.
const RANGES: &[(u32, u32, u32)] = &[
    (0x037e, 0x037e, PUNCTUATION),
    (0x0387, 0x0387, PUNCTUATION),
    (0x055a, 0x055f, PUNCTUATION),
    (0x0589, 0x0589, PUNCTUATION),
    (0x05be, 0x05be, PUNCTUATION),
    (0x05c0, 0x05c0, PUNCTUATION),
    (0x05c3, 0x05c3, PUNCTUATION),
    (0x05f3, 0x05f4, PUNCTUATION),
    (0x060c, 0x060c, PUNCTUATION),
    (0x061b, 0x061b, PUNCTUATION),
    (0x061f, 0x061f, PUNCTUATION),
    (0x066a, 0x066d, PUNCTUATION),
    (0x06d4, 0x06d4, PUNCTUATION),
    (0x0964, 0x0965, PUNCTUATION),
    (0x0970, 0x0970, PUNCTUATION),
    (0x0e4f, 0x0e4f, PUNCTUATION),
    (0x1680, 0x1680, BLANK),
    (0x2000, 0x200b, BLANK),
    (0x200c, 0x2027, PUNCTUATION),
    (0x2028, 0x2029, BLANK),
    (0x202a, 0x202e, PUNCTUATION),
    (0x202f, 0x202f, BLANK),
    (0x2030, 0x205e, PUNCTUATION),
    (0x205f, 0x205f, BLANK),
    (0x2060, 0x206f, PUNCTUATION),
    (0x2070, 0x207f, 0x2070),
    (0x2080, 0x2094, 0x2080),
    (0x20a0, 0x27ff, PUNCTUATION),
    (0x2800, 0x28ff, 0x2800),
    (0x2900, 0x2998, PUNCTUATION),
    (0x29d8, 0x29db, PUNCTUATION),
    (0x29fc, 0x29fd, PUNCTUATION),
    (0x2e00, 0x2e7f, PUNCTUATION),
    (0x3000, 0x3000, BLANK),
    (0x3001, 0x3020, PUNCTUATION),
    (0x3021, 0x3029, KANJI),
    (0x3030, 0x3030, PUNCTUATION),
    (0x303d, 0x303d, PUNCTUATION),
    (0x3040, 0x309f, 0x3040),
    (0x30a0, 0x30ff, 0x30a0),
    (0x3300, 0x9fff, KANJI),
    (0xac00, 0xd7a3, 0xac00),
    (0xf900, 0xfaff, KANJI),
    (0xfd3e, 0xfd3f, PUNCTUATION),
    (0xfe30, 0xfe6b, PUNCTUATION),
    (0xff00, 0xff0f, PUNCTUATION),
    (0xff1a, 0xff20, PUNCTUATION),
    (0xff3b, 0xff40, PUNCTUATION),
    (0xff5b, 0xff65, PUNCTUATION),
    (0x1d000, 0x1d24f, PUNCTUATION),
    (0x1d400, 0x1d7ff, PUNCTUATION),
    (0x1f000, 0x1f2ff, PUNCTUATION),
    (0x1f300, 0x1faff, EMOJI),
    (0x20000, 0x2fa1f, KANJI),
];

/// Returns the class of a character: a word is a run of characters of one class.
pub(crate) fn class(char: char) -> u32 {
    match char {
        ' ' | '\t' | '\0' | '\u{a0}' => BLANK,
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => KEYWORD,
        '\u{b5}' | '\u{c0}'..='\u{ff}' => KEYWORD,
        '\0'..='\u{ff}' => PUNCTUATION,
        _ => {
            let code = char as u32;
            let ix = RANGES.partition_point(|(_, last, _)| *last < code);
            let range = RANGES.get(ix).filter(|(first, _, _)| *first <= code);
            range.map_or(KEYWORD, |(_, _, class)| *class)
        }
    }
}

/// Returns whether a character belongs to identifiers.
pub(crate) fn is_keyword(char: char) -> bool {
    class(char) >= KEYWORD
}

/// Returns whether a character is a space or a tab.
pub(crate) fn is_blank(char: char) -> bool {
    matches!(char, ' ' | '\t')
}

/// Returns the cells of a character that starts at a cell.
pub(crate) fn cells(char: char, at: u32, tab_width: u32) -> u32 {
    match char {
        '\t' => tab_width - at % tab_width,
        ' '..='~' => 1,
        '\0'..='\u{1f}' | '\u{7f}' => 2,
        '\u{80}'..='\u{9f}' => 4,
        _ => char.width().unwrap_or(0) as u32,
    }
}
