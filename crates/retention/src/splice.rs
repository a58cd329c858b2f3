//! Changes of a text in whole tokens.
//!
//! Invariant: the splices of a change are sorted and do not overlap; their ends lie between tokens of both texts.

use std::ops::Range;

use base::{ByteOffset, Span};
use text::{Snapshot, Splice};

use crate::alignment;
use crate::token::{Token, is_word, symbols, tokens};

/// A replaced part of a text. Parts without tokens on either side change white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenSplice {
    /// The replaced bytes of the text before.
    pub(crate) old: Range<usize>,
    /// The replacing bytes of the text after.
    pub(crate) new: Range<usize>,
    /// The tokens that were replaced.
    pub(crate) removed: Vec<Token>,
    /// The tokens that replace them.
    pub(crate) inserted: Vec<Token>,
}

/// Returns the splices of an edit, given as replaced spans.
pub(crate) fn of_edit(before: &Snapshot, after: &Snapshot, edit: &[Splice]) -> Vec<TokenSplice> {
    let mut regions: Vec<Splice> = Vec::with_capacity(edit.len());
    for (ix, splice) in edit.iter().enumerate() {
        // Beyond the neighbours, the texts differ.
        let start = ix.checked_sub(1).map_or(0, |ix| edit[ix].old.end.0);
        let end = edit
            .get(ix + 1)
            .map_or(before.len().0, |next| next.old.start.0);
        let room = (splice.old.start.0 - start, end - splice.old.end.0);
        let wide = widened((before, after), splice, room);
        match regions.last_mut() {
            Some(last) if wide.old.start <= last.old.end => {
                last.old = last.old.union(wide.old);
                last.new = last.new.union(wide.new);
            }
            _ => regions.push(wide),
        }
    }
    of_regions(before, after, &regions)
}

/// Returns the splices between two texts of which only the contents are known.
pub(crate) fn of_texts(before: &Snapshot, after: &Snapshot) -> Vec<TokenSplice> {
    let hunks = before.diff_rows(after);
    let regions = hunks.iter().map(|hunk| Splice {
        old: before.span_of(hunk.before),
        new: after.span_of(hunk.after),
    });
    of_regions(before, after, &regions.collect::<Vec<_>>())
}

/// Extends a splice over the words that it cuts or joins, in both texts, by at most `room` bytes on each side.
fn widened(
    (before, after): (&Snapshot, &Snapshot),
    splice: &Splice,
    room: (usize, usize),
) -> Splice {
    let (old, new) = (splice.old, splice.new);
    let first = |text: &Snapshot, at| text.chars_at(at).next().is_some_and(is_word);
    let last = |text: &Snapshot, at| text.chars_before(at).next().is_some_and(is_word);
    let mut left = 0;
    if first(before, old.start) || first(after, new.start) {
        left = word_length(before.chars_before(old.start), room.0);
    }
    let mut right = 0;
    if last(before, old.end) || last(after, new.end) {
        right = word_length(before.chars_at(old.end), room.1);
    }
    let wide = |span: Span| {
        let start = ByteOffset(span.start.0.saturating_sub(left));
        Span::new(start, ByteOffset(span.end.0 + right))
    };
    Splice {
        old: wide(old),
        new: wide(new),
    }
}

/// Returns the length in bytes of the word with which these characters begin, up to `most`.
fn word_length(chars: impl Iterator<Item = char>, most: usize) -> usize {
    let word = chars.take_while(|char| is_word(*char)).map(char::len_utf8);
    let ends = word.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    ends.take_while(|end| *end <= most).last().unwrap_or(0)
}

/// Aligns the tokens of each region and returns the parts that differ.
fn of_regions(before: &Snapshot, after: &Snapshot, regions: &[Splice]) -> Vec<TokenSplice> {
    let mut splices = Vec::with_capacity(regions.len());
    for region in regions {
        let old = tokens(&before.text(region.old), region.old.start.0);
        let new = tokens(&after.text(region.new), region.new.start.0);
        let (mut one, mut two) = (0, 0);
        let (mut old_start, mut new_start) = (region.old.start.0, region.new.start.0);
        let ends = (old.len(), new.len());
        for (one_next, two_next) in alignment::pairs(&symbols(&old), &symbols(&new))
            .into_iter()
            .chain([ends])
        {
            let old_end = old.get(one_next).map_or(region.old.end.0, |it| it.start);
            let new_end = new.get(two_next).map_or(region.new.end.0, |it| it.start);
            let splice = TokenSplice {
                old: old_start..old_end,
                new: new_start..new_end,
                removed: old[one..one_next].to_vec(),
                inserted: new[two..two_next].to_vec(),
            };
            if splice.is_change() {
                splices.push(splice);
            }
            old_start = old.get(one_next).map_or(old_end, |it| it.end);
            new_start = new.get(two_next).map_or(new_end, |it| it.end);
            (one, two) = (one_next + 1, two_next + 1);
        }
    }
    splices
}

impl TokenSplice {
    /// Returns whether tokens differ or later text moves.
    fn is_change(&self) -> bool {
        !self.removed.is_empty() || !self.inserted.is_empty() || self.old.len() != self.new.len()
    }
}

#[cfg(test)]
mod tests {
    use base::{ByteOffset, Span};
    use text::{Snapshot, Splice};

    use super::{TokenSplice, of_edit, of_texts};
    use crate::token::Token;

    /// Writes the splices as `removed>inserted`, separated by commas.
    fn written(before: &str, after: &str, splices: &[TokenSplice]) -> String {
        let words = |text: &str, tokens: &[Token]| {
            let words = tokens.iter().map(|it| text[it.start..it.end].to_owned());
            words.collect::<Vec<_>>().join(" ")
        };
        let splices = splices.iter().map(|it| {
            format!(
                "{}>{}",
                words(before, &it.removed),
                words(after, &it.inserted)
            )
        });
        splices.collect::<Vec<_>>().join(",")
    }

    /// Replaces a range of `before` by a text and checks the splices.
    fn check_edit(before: &str, range: std::ops::Range<usize>, text: &str, expected: &str) {
        let after = format!("{}{text}{}", &before[..range.start], &before[range.end..]);
        let start = ByteOffset(range.start);
        let splice = Splice {
            old: Span::from(range.clone()),
            new: Span::new(start, start + text.len()),
        };
        let splices = of_edit(&Snapshot::new(before), &Snapshot::new(&after), &[splice]);
        assert_eq!(
            written(before, &after, &splices),
            expected,
            "{before} {after}"
        );
    }

    #[test]
    fn edits_within_words_replace_the_words() {
        check_edit("one two", 3..4, "", "one two>onetwo");
        check_edit("one two", 3..3, "s", "one>ones");
        check_edit("one two", 2..6, "", "one two>ono");
        check_edit("f(a)", 3..3, ", b", ">, b");
        check_edit("f(a)", 2..3, "ab", "a>ab");
        check_edit("a b", 1..2, "\n\t", ">");
        check_edit("one two", 4..4, "and ", ">and");
    }

    #[test]
    fn edits_of_one_word_are_one_splice() {
        let before = Snapshot::new("a xooxy b");
        let after = Snapshot::new("a 12oo3y b");
        let splice = |old: std::ops::Range<usize>, new: std::ops::Range<usize>| Splice {
            old: Span::from(old),
            new: Span::from(new),
        };
        let splices = of_edit(&before, &after, &[splice(2..3, 2..4), splice(5..6, 6..7)]);
        assert_eq!(written("a xooxy b", "a 12oo3y b", &splices), "xooxy>12oo3y");
    }

    #[test]
    fn a_replaced_text_is_compared_by_tokens() {
        check_edit("f(a,b)", 0..6, "f(a, b)", ">");
        check_edit(
            "call(first, second)",
            0..19,
            "call(first, third)",
            "second>third",
        );
    }

    #[test]
    fn texts_are_compared_by_rows_and_tokens() {
        let check = |before: &str, after: &str, expected: &str| {
            let splices = of_texts(&Snapshot::new(before), &Snapshot::new(after));
            assert_eq!(written(before, after, &splices), expected);
        };
        check("a\nb\nc\n", "a\nx y\nb\nc\n", ">x y");
        check("a\nb\nc\n", "a\nc\n", "b>");
        check("let a = 1;\nz\n", "let b = 1;\nz\n", "a>b");
        check("if a {\nb();\n}\n", "if a {\n    b();\n}\n", ">");
        check("", "new file\n", ">new file");
    }
}
