//! Alignment of two sequences of tokens: which of one are which of the other.
//!
//! The alignment is a longest common subsequence without accidental matches: a few equal tokens between larger
//! differences, such as the parentheses of two unrelated lines, are taken as different.

use text::diff_lines;

/// Maximum number of pairs of tokens that are compared one by one; longer sequences are aligned by a faster
/// algorithm, whose subsequence may be shorter.
const MAX_CELLS: usize = 1_000_000;
/// Maximum number of passes that look for accidental matches.
const MAX_PASSES: usize = 16;

/// Equal tokens in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Island {
    before: usize,
    after: usize,
    len: usize,
}

/// Returns the pairs of indices of tokens that are the same, ascending in both sequences.
pub(crate) fn pairs(before: &[u64], after: &[u64]) -> Vec<(usize, usize)> {
    let is_equal = |(one, two): &(&u64, &u64)| one == two;
    let first = before.iter().zip(after).take_while(is_equal).count();
    let rest = (&before[first..], &after[first..]);
    let backwards = rest.0.iter().rev().zip(rest.1.iter().rev());
    let last = backwards.take_while(is_equal).count();
    let inner = (
        &rest.0[..rest.0.len() - last],
        &rest.1[..rest.1.len() - last],
    );
    let mut pairs: Vec<(usize, usize)> = (0..first).map(|ix| (ix, ix)).collect();
    for island in islands(inner.0, inner.1) {
        let place = |ix| (first + island.before + ix, first + island.after + ix);
        pairs.extend((0..island.len).map(place));
    }
    let ends = (before.len() - last, after.len() - last);
    pairs.extend((0..last).map(|ix| (ends.0 + ix, ends.1 + ix)));
    pairs
}

/// Returns the equal parts of sequences whose first and last tokens differ.
fn islands(before: &[u64], after: &[u64]) -> Vec<Island> {
    if before.is_empty() || after.is_empty() {
        return Vec::new();
    }
    let islands = if before.len() * after.len() <= MAX_CELLS {
        common_subsequence(before, after)
    } else {
        by_histogram(before, after)
    };
    without_accidents(islands, (before.len(), after.len()))
}

/// Finds a longest common subsequence by comparing all pairs.
fn common_subsequence(before: &[u64], after: &[u64]) -> Vec<Island> {
    let width = after.len() + 1;
    // The length of the longest common subsequence of the rests from each pair on.
    let mut lengths = vec![0_u32; (before.len() + 1) * width];
    for one in (0..before.len()).rev() {
        for two in (0..after.len()).rev() {
            let here = one * width + two;
            lengths[here] = if before[one] == after[two] {
                lengths[here + width + 1] + 1
            } else {
                lengths[here + width].max(lengths[here + 1])
            };
        }
    }
    let mut islands = Vec::new();
    let (mut one, mut two) = (0, 0);
    while one < before.len() && two < after.len() {
        let here = one * width + two;
        if before[one] == after[two] {
            add_pair(&mut islands, one, two);
            (one, two) = (one + 1, two + 1);
        } else if lengths[here + width] >= lengths[here + 1] {
            one += 1;
        } else {
            two += 1;
        }
    }
    islands
}

/// Finds a common subsequence in nearly linear time.
fn by_histogram(before: &[u64], after: &[u64]) -> Vec<Island> {
    let (one, two) = (bytes(before), bytes(after));
    let one: Vec<&[u8]> = one.iter().map(<[u8; 8]>::as_slice).collect();
    let two: Vec<&[u8]> = two.iter().map(<[u8; 8]>::as_slice).collect();
    let mut islands = Vec::new();
    let mut at = (0, 0);
    let mut add = |at: (usize, usize), end: usize| {
        (at.0..end).for_each(|ix| add_pair(&mut islands, ix, at.1 + ix - at.0));
    };
    for hunk in diff_lines(&one, &two) {
        add(at, hunk.before.start.0 as usize);
        at = (hunk.before.end.0 as usize, hunk.after.end.0 as usize);
    }
    add(at, before.len());
    islands
}

/// Returns symbols as the lines that the row diff compares.
fn bytes(symbols: &[u64]) -> Vec<[u8; 8]> {
    symbols.iter().map(|symbol| symbol.to_le_bytes()).collect()
}

fn add_pair(islands: &mut Vec<Island>, before: usize, after: usize) {
    match islands.last_mut() {
        Some(last) if last.before + last.len == before && last.after + last.len == after => {
            last.len += 1;
        }
        _ => islands.push(Island {
            before,
            after,
            len: 1,
        }),
    }
}

/// Removes islands that are shorter than the differences on both of their sides.
fn without_accidents(mut islands: Vec<Island>, ends: (usize, usize)) -> Vec<Island> {
    for _ in 0..MAX_PASSES {
        let count = islands.len();
        let mut kept: Vec<Island> = Vec::with_capacity(count);
        for (ix, island) in islands.iter().enumerate() {
            let start = kept
                .last()
                .map_or((0, 0), |it| (it.before + it.len, it.after + it.len));
            let next = islands.get(ix + 1).map_or(ends, |it| (it.before, it.after));
            let left = (island.before - start.0).min(island.after - start.1);
            let end = (island.before + island.len, island.after + island.len);
            let right = (next.0 - end.0).min(next.1 - end.1);
            if island.len >= left.min(right) {
                kept.push(*island);
            }
        }
        islands = kept;
        if islands.len() == count {
            break;
        }
    }
    islands
}

#[cfg(test)]
mod tests {
    use super::{by_histogram, common_subsequence, pairs};

    fn letters(text: &str) -> Vec<u64> {
        text.bytes().map(u64::from).collect()
    }

    /// Checks the common letters of two texts, written as the letters of the first.
    fn check(before: &str, after: &str, common: &str) {
        let (one, two) = (letters(before), letters(after));
        let found = pairs(&one, &two);
        let text: String = found.iter().map(|(ix, _)| &before[*ix..=*ix]).collect();
        assert_eq!(text, common, "{before} {after}");
        assert!(
            found
                .iter()
                .all(|(one_ix, two_ix)| one[*one_ix] == two[*two_ix])
        );
        assert!(found.is_sorted());
    }

    #[test]
    fn equal_tokens_are_paired() {
        check("abc", "abc", "abc");
        check("abc", "", "");
        check("abc", "abxc", "abc");
        check("abcdefgh", "abcXefgh", "abcefgh");
        check("XabcdefY", "ZabcdefW", "abcdef");
    }

    #[test]
    fn accidental_matches_are_dropped() {
        // One common letter between longer differences says nothing.
        check("abcdxefgh", "ijklxmnop", "");
        check("abcdxyzuefgh", "ijklxyzumnop", "xyzu");
        check("abcdxyzefgh", "ijklxyzmnop", "");
        // A token between changes of one token stays.
        check("axb", "cxd", "x");
        check("aaxbb", "ccxdd", "");
    }

    #[test]
    fn long_sequences_are_aligned_as_short_ones() {
        let mut before: Vec<u64> = (0..900).collect();
        let mut after = before.clone();
        before.splice(100..140, 2000..2010);
        after.splice(500..505, 3000..3020);
        let pairs_of = |islands: Vec<super::Island>| islands.iter().map(|it| it.len).sum::<usize>();
        let exact = pairs_of(common_subsequence(&before, &after));
        let fast = pairs_of(by_histogram(&before, &after));
        assert_eq!((exact, fast), (855, 855));
        assert_eq!(pairs(&before, &after).len(), 855);
    }
}
