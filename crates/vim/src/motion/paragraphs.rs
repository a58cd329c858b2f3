//! Motions by paragraphs and sections.

use crate::lines::{Lines, Pos, prev_grapheme};

/// Whether a paragraph or section starts at a line: it is empty, begins with a form feed, or with
/// `section`, or, with `closing`, with a closing brace.
fn starts(lines: &Lines, row: u32, section: Option<char>, closing: bool) -> bool {
    let line = lines.line(row);
    match line.chars().next() {
        None => section.is_none(),
        Some('\u{c}') => true,
        Some(char) => section == Some(char) || closing && char == '}',
    }
}

/// Whether a paragraph starts at a line.
pub(crate) fn starts_paragraph(lines: &Lines, row: u32) -> bool {
    starts(lines, row, None, false)
}

/// The place reached, and whether the character there is included.
pub(crate) struct ParagraphEnd {
    pub(crate) pos: Pos,
    pub(crate) is_inclusive: bool,
}

/// Goes to a border of paragraphs; `section` makes it one of sections that begin with the
/// character. `closing` accepts closing braces, too. `fold` returns the rows of a closed fold.
pub(crate) fn travel(
    lines: &Lines,
    at: Pos,
    count: u32,
    is_forward: bool,
    section: Option<char>,
    closing: bool,
) -> Option<ParagraphEnd> {
    let mut row = at.row;
    for left in (0..count).rev() {
        let mut is_first = true;
        let mut has_text = false;
        loop {
            has_text |= !lines.is_empty(row);
            if !is_first && has_text && starts(lines, row, section, closing) {
                break;
            }
            let next = if is_forward {
                Some(row + 1).filter(|row| *row < lines.count())
            } else {
                row.checked_sub(1)
            };
            match next {
                Some(next) => row = next,
                None if left > 0 => return None,
                None => break,
            }
            is_first = false;
        }
    }
    if closing && lines.line(row).starts_with('}') {
        row = (row + 1).min(lines.last());
    }
    if row == lines.last() && section != Some('}') && is_forward {
        let line = lines.line(row);
        return Some(ParagraphEnd {
            pos: Pos::new(row, prev_grapheme(&line, line.len())),
            is_inclusive: !line.is_empty(),
        });
    }
    Some(ParagraphEnd {
        pos: Pos::new(row, 0),
        is_inclusive: false,
    })
}
