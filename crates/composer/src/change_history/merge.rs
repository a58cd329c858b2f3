//! Three-way merge of texts by lines.
//!
//! Pure. Adjacent edits do not conflict. Edits of the same line conflict, as do two insertions at
//! the same position.

use std::ops::Range;

use ::text::{RowHunk, Snapshot};

/// A range of the base that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EditedRange {
    /// Replaced rows of the base.
    base: Range<usize>,
    /// Replacing rows of the other text.
    other: Range<usize>,
}

/// A position at which both sides made conflicting edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineConflict {
    /// Rows of our side, from 0.
    pub(crate) ours: Range<usize>,
}

/// Merges both sides' edits of `base`, or returns all conflicts. Line endings count as part of a
/// line.
pub(crate) fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, Vec<LineConflict>> {
    if ours == theirs || base == theirs {
        return Ok(ours.to_owned());
    }
    if base == ours {
        return Ok(theirs.to_owned());
    }
    let (base_lines, our_lines, their_lines) =
        (split_lines(base), split_lines(ours), split_lines(theirs));
    let (our_parts, their_parts) = (edited_ranges(base, ours), edited_ranges(base, theirs));
    let mut clashes = Vec::new();
    // Edits of theirs that ours already contains.
    let mut done = vec![false; their_parts.len()];
    for (ix, their) in their_parts.iter().enumerate() {
        for our in our_parts
            .iter()
            .filter(|our| overlaps(&our.base, &their.base))
        {
            let is_same = our.base == their.base
                && our_lines[our.other.clone()] == their_lines[their.other.clone()];
            if is_same {
                done[ix] = true
            } else {
                clashes.push(LineConflict {
                    ours: our.other.clone(),
                })
            }
        }
    }
    if !clashes.is_empty() {
        clashes.dedup();
        return Err(clashes);
    }
    let their_parts = their_parts.iter().zip(done).filter(|(_, done)| !done);
    let mut all: Vec<(&EditedRange, &[&str])> =
        our_parts.iter().map(|it| (it, &our_lines[..])).collect();
    all.extend(their_parts.map(|(it, _)| (it, &their_lines[..])));
    // Insertions come before the lines at their position.
    all.sort_by_key(|(part, _)| (part.base.start, part.base.end));
    let mut merged = String::with_capacity(ours.len().max(theirs.len()));
    let mut at = 0;
    for (part, lines) in all {
        merged.extend(base_lines[at..part.base.start].iter().copied());
        merged.extend(lines[part.other.clone()].iter().copied());
        at = part.base.end;
    }
    merged.extend(base_lines[at..].iter().copied());
    Ok(merged)
}

/// Whether two ranges of a base cannot both be replaced.
fn overlaps(one: &Range<usize>, two: &Range<usize>) -> bool {
    match (one.is_empty(), two.is_empty()) {
        (true, true) => one.start == two.start,
        (true, false) => two.start < one.start && one.start < two.end,
        (false, true) => one.start < two.start && two.start < one.end,
        (false, false) => one.start < two.end && two.start < one.end,
    }
}

fn edited_ranges(base: &str, other: &str) -> Vec<EditedRange> {
    let hunks = hunks(base, other);
    let parts = hunks.iter().map(|hunk| EditedRange {
        base: hunk.before.start.0 as usize..hunk.before.end.0 as usize,
        other: hunk.after.start.0 as usize..hunk.after.end.0 as usize,
    });
    parts.collect()
}

/// Returns the row diff from one text to another.
pub(crate) fn hunks(before: &str, after: &str) -> Vec<RowHunk> {
    Snapshot::new(before).diff_rows(&Snapshot::new(after))
}

/// Splits a text into lines, keeping their line endings.
pub(crate) fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::merge;

    fn check(base: &str, ours: &str, theirs: &str, merged: Option<&str>) {
        let text = |words: &str| {
            words
                .split(' ')
                .map(|it| format!("{it}\n"))
                .collect::<String>()
        };
        let (base, ours, theirs) = (text(base), text(ours), text(theirs));
        let merged = merged.map(text);
        assert_eq!(
            merge(&base, &ours, &theirs).ok(),
            merged,
            "{base} {ours} {theirs}"
        );
        assert_eq!(
            merge(&base, &theirs, &ours).ok(),
            merged,
            "{base} {theirs} {ours}"
        );
    }

    #[test]
    fn both_are_kept_or_neither() {
        for (base, ours, theirs, merged) in [
            ("a b c", "a b c", "a x c", Some("a x c")),
            ("a b c", "a b c d", "x b c", Some("x b c d")),
            ("a b c", "a x c", "a x c", Some("a x c")),
            ("a b c", "a x c", "a y c", None),
            ("a b c d", "a x c d", "a b y d", Some("a x y d")),
            ("a b c", "a x b c", "a y b c", None),
            ("a b c", "a x b c", "a x b c y", Some("a x b c y")),
            ("a b c d e", "a e", "a b x d e", None),
            ("a b c d e", "a e", "a b c d e f", Some("a e f")),
        ] {
            check(base, ours, theirs, merged);
        }
    }

    #[test]
    fn a_last_line_without_an_ending_is_a_line() {
        assert_eq!(merge("a\nb", "x\na\nb", "a\nc"), Ok("x\na\nc".to_owned()));
        assert_eq!(merge("", "a\n", ""), Ok("a\n".to_owned()));
        assert!(merge("", "a\n", "b\n").is_err());
    }
}
