//! Matching brackets and comments.
//!
//! Brackets in a string do not count if the line has an even number of quotes, unless the search
//! began in a string. Start at `matching`.

use crate::lines::{Advance, Lines, Pos, Walker, next_grapheme, prev_grapheme};

/// The pairs that `%` matches.
const PAIRS: [(char, char); 3] = [('(', ')'), ('{', '}'), ('[', ']')];

/// The other bracket of a pair, and whether it lies before.
pub(crate) fn mate_of(char: char) -> Option<(char, bool)> {
    PAIRS.iter().find_map(|(open, close)| {
        if *open == char {
            Some((*close, false))
        } else if *close == char {
            Some((*open, true))
        } else {
            None
        }
    })
}

/// Returns the mate of the bracket at a position or behind it in the line, or the other end of a
/// comment or a conditional of the C preprocessor.
pub(crate) fn matching(lines: &Lines, at: Pos) -> Option<Pos> {
    let line = lines.line(at.row);
    let indent = line.len() - line.trim_start().len();
    if directive(&line).is_some() && at.col <= indent {
        return matching_directive(lines, at.row);
    }
    if let Some(pos) = matching_comment(lines, at, &line) {
        return Some(pos);
    }
    let mut col = at.col.min(line.len());
    if col == line.len() && col > 0 {
        col = prev_grapheme(&line, col);
    }
    while col < line.len() {
        let char = line[col..].chars().next()?;
        if let Some((mate, is_back)) = mate_of(char) {
            let search = MateSearch {
                own: char,
                wanted: mate,
                is_back,
                is_escaped: is_escaped(&line, col),
                sees_quotes: true,
            };
            return search.run(lines, Pos::new(at.row, col));
        }
        col = next_grapheme(&line, col);
    }
    directive(&line).and_then(|_| matching_directive(lines, at.row))
}

/// Returns the nearest bracket without a mate between it and the position. `sees_quotes` decides
/// whether brackets in strings are ignored.
pub(crate) fn unmatched(
    lines: &Lines,
    at: Pos,
    (bracket, mate): (char, char),
    is_back: bool,
    sees_quotes: bool,
) -> Option<Pos> {
    let search = MateSearch {
        own: mate,
        wanted: bracket,
        is_back,
        is_escaped: false,
        sees_quotes,
    };
    search.run(lines, at)
}

/// Returns the nearest start of a comment before a position, or the nearest end behind it.
pub(crate) fn comment_edge(lines: &Lines, at: Pos, is_forward: bool) -> Option<Pos> {
    if is_forward {
        let mut col = (at.col + 1).min(lines.len(at.row));
        for row in at.row..lines.count() {
            let line = lines.line(row);
            if let Some(found) = line.get(col..).and_then(|rest| rest.find("*/")) {
                return Some(Pos::new(row, col + found + 1));
            }
            col = 0;
        }
        return None;
    }
    let mut end = at.col;
    for row in (0..=at.row).rev() {
        let line = lines.line(row);
        if let Some(found) = line.get(..end).and_then(|before| before.rfind("/*")) {
            return Some(Pos::new(row, found));
        }
        end = lines.len(row.saturating_sub(1));
    }
    None
}

/// Whether an odd number of backslashes precedes a byte of a line.
fn is_escaped(line: &str, col: usize) -> bool {
    let before = &line[..col];
    let backslashes = before.len() - before.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

/// A search for the mate of a bracket.
struct MateSearch {
    /// The bracket that nests.
    own: char,
    wanted: char,
    is_back: bool,
    /// Whether escaped brackets count instead of others.
    is_escaped: bool,
    sees_quotes: bool,
}

impl MateSearch {
    fn run(&self, lines: &Lines, from: Pos) -> Option<Pos> {
        let mut walker = Walker::new(lines, from);
        let mut quotes = QuoteState::default();
        let mut depth = 0_u32;
        loop {
            let step = if self.is_back {
                walker.backward()
            } else {
                walker.forward()
            };
            match step {
                Advance::Blocked => return None,
                Advance::OtherLine => quotes.has_seen_line = false,
                _ => {}
            }
            if !quotes.has_seen_line && self.sees_quotes {
                quotes.read_line(lines, walker.pos, self.is_back);
            }
            let Some(char) = walker.char() else {
                quotes.end_line(walker.line());
                continue;
            };
            if self.sees_quotes {
                if char == '"' {
                    quotes.toggle(walker.line(), walker.pos.col);
                } else if char == '\'' && self.skip_char_literal(&mut walker) {
                    continue;
                }
            }
            let counts = !quotes.is_inside || quotes.began_inside == Some(true);
            if !counts || is_escaped(walker.line(), walker.pos.col) != self.is_escaped {
                continue;
            }
            if char == self.wanted {
                if depth == 0 {
                    return Some(walker.pos);
                }
                depth -= 1;
            } else if char == self.own {
                depth += 1;
            }
        }
    }

    /// Skips a literal such as `'('`. Returns whether there was one.
    fn skip_char_literal(&self, walker: &mut Walker) -> bool {
        let line = walker.line();
        let col = walker.pos.col;
        let bytes = line.as_bytes();
        let at = |ix: Option<usize>| ix.and_then(|ix| bytes.get(ix)).copied();
        let skipped = if self.is_back {
            if col > 1 && at(col.checked_sub(2)) == Some(b'\'') {
                Some(col - 2)
            } else if col > 2
                && at(col.checked_sub(2)) == Some(b'\\')
                && at(col.checked_sub(3)) == Some(b'\'')
            {
                Some(col - 3)
            } else {
                None
            }
        } else if at(Some(col + 1)) == Some(b'\\') && at(Some(col + 3)) == Some(b'\'') {
            Some(col + 3)
        } else if at(Some(col + 1)).is_some() && at(Some(col + 2)) == Some(b'\'') {
            Some(col + 2)
        } else {
            None
        };
        let Some(to) = skipped.filter(|to| line.is_char_boundary(*to)) else {
            return false;
        };
        walker.go_to(Pos::new(walker.pos.row, to));
        true
    }
}

/// Whether the search is inside a string.
#[derive(Default)]
struct QuoteState {
    has_seen_line: bool,
    /// Whether quotes of the line count: there is an even number of them.
    counts: bool,
    is_inside: bool,
    /// Whether the search began in a string; `None` until it is known.
    began_inside: Option<bool>,
}

impl QuoteState {
    /// Counts the quotes of the line of a position.
    fn read_line(&mut self, lines: &Lines, pos: Pos, is_back: bool) {
        self.has_seen_line = true;
        let line = lines.line(pos.row);
        let bytes = line.as_bytes();
        let here = pos.col + usize::from(is_back);
        let mut count = 0_u32;
        let mut at_start = false;
        let mut ix = 0;
        while ix < bytes.len() {
            if ix == here {
                at_start = count % 2 == 1;
            }
            let is_literal = ix > 0 && bytes[ix - 1] == b'\'' && bytes.get(ix + 1) == Some(&b'\'');
            if bytes[ix] == b'"' && !is_literal {
                count += 1;
            }
            if bytes[ix] == b'\\' && ix + 1 < bytes.len() {
                ix += 1;
            }
            ix += 1;
        }
        self.counts = count.is_multiple_of(2);
        if !self.counts {
            self.is_inside = false;
            if line.ends_with('\\') {
                self.counts = true;
                if self.began_inside.is_none() {
                    self.is_inside = true;
                    self.began_inside = Some(true);
                } else if is_back {
                    self.is_inside = true;
                }
            }
            if pos.row > 0 && lines.line(pos.row - 1).ends_with('\\') {
                self.counts = true;
                if self.began_inside.is_none() {
                    self.is_inside = at_start;
                    if at_start {
                        self.began_inside = Some(true);
                    }
                } else if !is_back {
                    self.is_inside = true;
                }
            }
        }
        if self.began_inside.is_none() {
            self.began_inside = Some(false);
        }
    }

    fn end_line(&mut self, line: &str) {
        if !line.ends_with('\\') {
            self.is_inside = false;
            self.began_inside = Some(false);
        }
    }

    fn toggle(&mut self, line: &str, col: usize) {
        if self.counts && !is_escaped(line, col) {
            self.is_inside = !self.is_inside;
            self.began_inside = Some(false);
        }
    }
}

/// The other end of the comment whose delimiter is at a position.
fn matching_comment(lines: &Lines, at: Pos, line: &str) -> Option<Pos> {
    let bytes = line.as_bytes();
    let here = *bytes.get(at.col)?;
    let before = at.col.checked_sub(1).map(|ix| bytes[ix]);
    let behind = bytes.get(at.col + 1).copied();
    match (before, here, behind) {
        (_, b'/', Some(b'*')) => comment_edge(lines, Pos::new(at.row, at.col + 1), true),
        (Some(b'/'), b'*', next) if next != Some(b'/') => comment_edge(lines, at, true),
        (_, b'*', Some(b'/')) => comment_start(lines, at),
        (Some(b'*'), b'/', _) => comment_start(lines, Pos::new(at.row, at.col - 1)),
        _ => None,
    }
}

/// The first opening delimiter before a position that no closing one follows.
fn comment_start(lines: &Lines, at: Pos) -> Option<Pos> {
    let mut found = None;
    let mut pos = at;
    while let Some(start) = comment_edge(lines, pos, false) {
        let is_closed = match found {
            None => false,
            Some(_) => {
                let between = lines.text().text(lines.span(start, pos));
                between.contains("*/")
            }
        };
        if is_closed {
            break;
        }
        found = Some(start);
        pos = start;
    }
    found
}

/// The word of a conditional of the C preprocessor.
fn directive(line: &str) -> Option<&str> {
    let word = line.trim_start().strip_prefix('#')?.trim_start();
    ["if", "el", "endif"]
        .into_iter()
        .find(|kind| word.starts_with(kind))
}

/// The next branch of a conditional, or its start from its end.
fn matching_directive(lines: &Lines, row: u32) -> Option<Pos> {
    let own = directive(&lines.line(row))?.to_owned();
    let at = |row| Pos::new(row, 0);
    let mut depth = 0_u32;
    if own == "endif" {
        for row in (0..row).rev() {
            match directive(&lines.line(row)) {
                Some("endif") => depth += 1,
                Some("if") if depth == 0 => return Some(at(row)),
                Some("if") => depth -= 1,
                _ => {}
            }
        }
        return None;
    }
    for row in row + 1..lines.count() {
        match directive(&lines.line(row)) {
            Some("if") => depth += 1,
            Some("endif") if depth > 0 => depth -= 1,
            Some("endif") => return Some(at(row)),
            Some("el") if depth == 0 => return Some(at(row)),
            _ => {}
        }
    }
    None
}
