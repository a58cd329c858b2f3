//! Three texts made one, line by line: what two did to the same text, both kept.
//!
//! Pure. Lines that touch are not in each other's way; lines that both changed, and two texts put in at the same place,
//! are.

use std::ops::Range;

use ::text::{RowHunk, Snapshot};

/// A part of a text that became other lines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// Lines of the base.
    base: Range<usize>,
    /// Lines of the other text.
    other: Range<usize>,
}

/// A place at which both sides did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clash {
    /// The lines of our side, from 0.
    pub(crate) ours: Range<usize>,
}

/// What both sides made of `base`, or every place at which they are in each other's way.
pub(crate) fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, Vec<Clash>> {
    if ours == theirs || base == theirs {
        return Ok(ours.to_owned());
    }
    if base == ours {
        return Ok(theirs.to_owned());
    }
    let (base_lines, our_lines, their_lines) = (lines(base), lines(ours), lines(theirs));
    let (our_parts, their_parts) = (parts(base, ours), parts(base, theirs));
    let mut clashes = Vec::new();
    // Parts of theirs that ours already holds.
    let mut done = vec![false; their_parts.len()];
    for (ix, their) in their_parts.iter().enumerate() {
        for our in our_parts
            .iter()
            .filter(|our| is_in_the_way(&our.base, &their.base))
        {
            let is_same = our.base == their.base
                && our_lines[our.other.clone()] == their_lines[their.other.clone()];
            match is_same {
                true => done[ix] = true,
                false => clashes.push(Clash {
                    ours: our.other.clone(),
                }),
            }
        }
    }
    if !clashes.is_empty() {
        clashes.dedup();
        return Err(clashes);
    }
    let their_parts = their_parts.iter().zip(done).filter(|(_, done)| !done);
    let mut all: Vec<(&Part, &[&str])> = our_parts.iter().map(|it| (it, &our_lines[..])).collect();
    all.extend(their_parts.map(|(it, _)| (it, &their_lines[..])));
    // What is put in at a place comes before the lines that stood there.
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

/// Whether two parts of a base cannot both be replaced.
fn is_in_the_way(one: &Range<usize>, two: &Range<usize>) -> bool {
    match (one.is_empty(), two.is_empty()) {
        (true, true) => one.start == two.start,
        (true, false) => two.start < one.start && one.start < two.end,
        (false, true) => one.start < two.start && two.start < one.end,
        (false, false) => one.start < two.end && two.start < one.end,
    }
}

fn parts(base: &str, other: &str) -> Vec<Part> {
    let hunks = hunks(base, other);
    let parts = hunks.iter().map(|hunk| Part {
        base: hunk.before.start.0 as usize..hunk.before.end.0 as usize,
        other: hunk.after.start.0 as usize..hunk.after.end.0 as usize,
    });
    parts.collect()
}

/// How one text became another, in rows.
pub(crate) fn hunks(before: &str, after: &str) -> Vec<RowHunk> {
    Snapshot::new(before).diff_rows(&Snapshot::new(after))
}

/// A text's lines with their endings.
pub(crate) fn lines(text: &str) -> Vec<&str> {
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
