//! Matches a typed word with the filter texts of completion items.
//!
//! Invariant: matching ASCII texts allocates nothing; a text without all letters of the query is rejected by
//! its mask alone.
//! Start at `match_quality`.

/// Quality of a match, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MatchQuality {
    /// The text equals the query.
    Exact,
    /// The text begins with the query, in the same case.
    CasePrefix,
    /// The text begins with the query.
    Prefix,
    /// Each part of the query begins a word of the text, as `fb` in `fooBar`.
    WordStarts,
    /// The characters of the query occur in order, the first one at the start of a word.
    Subsequence,
}

/// Maximum steps of the search for word starts; a longer search counts as no match.
const MAX_STEPS: u32 = 256;

/// Returns a set of bits for the characters of a text, ignoring case.
pub(crate) fn letter_mask(text: &str) -> u64 {
    if text.is_ascii() {
        return text.bytes().fold(0, |mask, byte| mask | byte_bit(byte));
    }
    text.chars()
        .flat_map(char::to_lowercase)
        .fold(0, |mask, char| {
            mask | u8::try_from(char)
                .ok()
                .filter(u8::is_ascii)
                .map_or(1 << 38, byte_bit)
        })
}

fn byte_bit(byte: u8) -> u64 {
    match byte {
        b'a'..=b'z' => 1 << (byte - b'a'),
        b'A'..=b'Z' => 1 << (byte - b'A'),
        b'0'..=b'9' => 1 << (26 + (byte - b'0')),
        b'_' => 1 << 36,
        _ => 1 << 37,
    }
}

/// Returns how well `text` matches `query`. Returns `None` if it does not match. Every text matches
/// the empty query as a prefix.
pub(crate) fn match_quality(query: &str, text: &str) -> Option<MatchQuality> {
    if let Some(rest) = text.strip_prefix(query) {
        let is_whole = rest.is_empty() && !query.is_empty();
        return Some(if is_whole {
            MatchQuality::Exact
        } else {
            MatchQuality::CasePrefix
        });
    }
    if has_prefix(query, text) {
        return Some(MatchQuality::Prefix);
    }
    let is_at_starts = if query.is_ascii() && text.is_ascii() {
        let mut steps = MAX_STEPS;
        ascii_word_starts(query.as_bytes(), text.as_bytes(), 0, &mut steps)
    } else {
        let mut positions = Vec::new();
        char_word_starts(query, text, &mut positions)
    };
    if is_at_starts {
        return Some(MatchQuality::WordStarts);
    }
    is_subsequence(query, text).then_some(MatchQuality::Subsequence)
}

/// Returns the offsets of the characters in `text` that match the query, for highlights.
pub(crate) fn matched_bytes(query: &str, text: &str) -> Vec<usize> {
    if query.is_empty() {
        return Vec::new();
    }
    if has_prefix(query, text) {
        let count = query.chars().count();
        return text.char_indices().map(|(at, _)| at).take(count).collect();
    }
    let mut positions = Vec::new();
    if char_word_starts(query, text, &mut positions) {
        return positions;
    }
    positions.clear();
    subsequence_positions(query, text, &mut positions);
    positions
}

fn is_same_letter(a: char, b: char) -> bool {
    a == b || a.eq_ignore_ascii_case(&b) || !a.is_ascii() && a.to_lowercase().eq(b.to_lowercase())
}

fn has_prefix(query: &str, text: &str) -> bool {
    if query.is_ascii() {
        let head = text.as_bytes().get(..query.len());
        return head.is_some_and(|head| head.eq_ignore_ascii_case(query.as_bytes()));
    }
    let mut chars = text.chars();
    query.chars().all(|char| {
        chars
            .next()
            .is_some_and(|other| is_same_letter(char, other))
    })
}

/// Returns whether a word starts at a byte: the first one, one after a separator, or an upper-case
/// letter after a lower-case one.
fn starts_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| text[at]) else {
        return true;
    };
    let byte = text[at];
    let is_letter = byte.is_ascii_alphanumeric();
    let after_separator = is_letter && !before.is_ascii_alphanumeric();
    let is_hump = byte.is_ascii_uppercase()
        && (!before.is_ascii_uppercase() || text.get(at + 1).is_some_and(u8::is_ascii_lowercase));
    let is_number = byte.is_ascii_digit() && !before.is_ascii_digit();
    after_separator || is_hump || is_number
}

/// Returns whether each part of `query` begins a word of `text[from..]`.
fn ascii_word_starts(query: &[u8], text: &[u8], from: usize, steps: &mut u32) -> bool {
    let Some(first) = query.first() else {
        return true;
    };
    for at in from..text.len() {
        if !text[at].eq_ignore_ascii_case(first) || !starts_word(text, at) {
            continue;
        }
        // The longest run first: it is the usual one.
        let run = query
            .iter()
            .zip(&text[at..])
            .take_while(|(a, b)| a.eq_ignore_ascii_case(b))
            .count();
        for len in (1..=run).rev() {
            *steps = steps.saturating_sub(1);
            if *steps == 0 {
                return false;
            }
            if ascii_word_starts(&query[len..], text, at + len, steps) {
                return true;
            }
        }
    }
    false
}

/// Like `ascii_word_starts`, for any text; `positions` receives the matched offsets.
fn char_word_starts(query: &str, text: &str, positions: &mut Vec<usize>) -> bool {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let query: Vec<char> = query.chars().collect();
    let mut steps = MAX_STEPS;
    search_starts(&query, &chars, 0, positions, &mut steps)
}

fn search_starts(
    query: &[char],
    text: &[(usize, char)],
    from: usize,
    positions: &mut Vec<usize>,
    steps: &mut u32,
) -> bool {
    let Some(first) = query.first() else {
        return true;
    };
    for at in from..text.len() {
        if !is_same_letter(text[at].1, *first) || !starts_word_at(text, at) {
            continue;
        }
        let run = query
            .iter()
            .zip(&text[at..])
            .take_while(|(a, (_, b))| is_same_letter(**a, *b))
            .count();
        for len in (1..=run).rev() {
            *steps = steps.saturating_sub(1);
            if *steps == 0 {
                return false;
            }
            let known = positions.len();
            positions.extend(text[at..at + len].iter().map(|(offset, _)| *offset));
            if search_starts(&query[len..], text, at + len, positions, steps) {
                return true;
            }
            positions.truncate(known);
        }
    }
    false
}

fn starts_word_at(text: &[(usize, char)], at: usize) -> bool {
    let Some((_, before)) = at.checked_sub(1).map(|at| text[at]) else {
        return true;
    };
    let char = text[at].1;
    let next_is_lower = text
        .get(at + 1)
        .is_some_and(|(_, next)| next.is_lowercase());
    let is_hump = char.is_uppercase() && (!before.is_uppercase() || next_is_lower);
    let is_number = char.is_ascii_digit() && !before.is_ascii_digit();
    char.is_alphanumeric() && !before.is_alphanumeric() || is_hump || is_number
}

fn is_subsequence(query: &str, text: &str) -> bool {
    if !(query.is_ascii() && text.is_ascii()) {
        return subsequence_positions(query, text, &mut Vec::new());
    }
    let (query, text) = (query.as_bytes(), text.as_bytes());
    let Some((first, rest)) = query.split_first() else {
        return true;
    };
    let starts = |at: &usize| text[*at].eq_ignore_ascii_case(first) && starts_word(text, *at);
    // The first possible start leaves the most text for the rest.
    let Some(start) = (0..text.len()).find(starts) else {
        return false;
    };
    let mut bytes = text[start + 1..].iter();
    rest.iter()
        .all(|byte| bytes.any(|other| other.eq_ignore_ascii_case(byte)))
}

fn subsequence_positions(query: &str, text: &str, positions: &mut Vec<usize>) -> bool {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut query = query.chars();
    let Some(first) = query.next() else {
        return true;
    };
    let starts = |at: &usize| is_same_letter(chars[*at].1, first) && starts_word_at(&chars, *at);
    let Some(start) = (0..chars.len()).find(starts) else {
        return false;
    };
    positions.push(chars[start].0);
    let mut rest = chars[start + 1..].iter();
    for char in query {
        match rest.find(|(_, other)| is_same_letter(*other, char)) {
            Some((offset, _)) => positions.push(*offset),
            None => return false,
        }
    }
    true
}
