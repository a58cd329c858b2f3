//! The rewriting of lines by a formatter: the lines in which their text goes on, and its authors.
//!
//! Pure. A formatter takes no text from its author: a line that it writes has a share for every author
//! of the lines that it rewrote as that line.
//! Limitations: a formatter that changes more than white space, and the number of lines, counts as
//! one that joins all lines of the place.
//! Start at `Rewritings::of`.

use std::ops::Range;

use crate::change_history::ChangeId;

/// The share of an author in the text of a line that a formatter wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineShare {
    /// The agent's change that wrote the text; `None` for text of others.
    pub(super) written_by: Option<ChangeId>,
    /// Whether the user keeps it.
    pub(super) is_kept: bool,
}

/// Number of a rewriting: the change of the formatter, and a row that differs from those of the
/// change's other rewritings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RewritingId {
    pub(super) change: ChangeId,
    row: u32,
}

/// A line before an edit of a formatter.
pub(super) struct OldLine<'a> {
    pub(super) bytes: &'a [u8],
    /// The authors of its text.
    pub(super) shares: Vec<LineShare>,
}

/// The rewritings of an edit of a formatter.
#[derive(Default)]
pub(super) struct Rewritings {
    all: Vec<(RewritingId, Vec<LineShare>)>,
    /// For each old line the index of its rewriting.
    old: Vec<usize>,
    /// For each new line the index of the rewriting that made it.
    new: Vec<usize>,
}

impl Rewritings {
    /// Returns which lines of `old` became which lines of `new` in one edit of a formatter. `change` is the
    /// formatter's change, and `first_row` the row of the first new line.
    pub(super) fn of(change: ChangeId, first_row: u32, old: &[OldLine<'_>], new: &[&[u8]]) -> Self {
        let mut rewritings = Self::default();
        if old.is_empty() {
            return rewritings;
        }
        let texts: Vec<&[u8]> = old.iter().map(|line| line.bytes).collect();
        for (row, (old_part, new_part)) in (first_row..).zip(corresponding(&texts, new)) {
            let shares = shares_of(&old[old_part.clone()]);
            let index = rewritings.all.len();
            rewritings.all.push((RewritingId { change, row }, shares));
            rewritings.old.resize(old_part.end, index);
            rewritings.new.resize(new_part.end, index);
        }
        rewritings
    }

    /// The rewriting of an old line.
    pub(super) fn of_old(&self, at: usize) -> Option<RewritingId> {
        let index = self.old.get(at)?;
        self.all.get(*index).map(|it| it.0)
    }

    /// The rewriting that made a new line, with the authors of its text; these are empty if no
    /// agent wrote any of it, so that the line is the formatter's.
    pub(super) fn of_new(&self, at: usize) -> Option<(RewritingId, &[LineShare])> {
        let index = self.new.get(at)?;
        self.all.get(*index).map(|it| (it.0, &*it.1))
    }
}

/// The authors of the text of these lines. Blank lines count only among themselves.
fn shares_of(lines: &[OldLine<'_>]) -> Vec<LineShare> {
    let is_blank = |line: &&OldLine<'_>| line.bytes.iter().all(u8::is_ascii_whitespace);
    let has_text = !lines.iter().all(|line| is_blank(&line));
    let mut shares = Vec::new();
    for line in lines.iter().filter(|line| !(has_text && is_blank(line))) {
        for share in &line.shares {
            if !shares.contains(share) {
                shares.push(*share);
            }
        }
    }
    if shares.iter().all(|share| share.written_by.is_none()) {
        shares.clear();
    }
    shares
}

/// Splits an edit into the smallest parts that are certain to have the same text: where the text
/// apart from white space is the same before or behind. As many lines as before correspond one by
/// one, unless their text moved from line to line.
fn corresponding(old: &[&[u8]], new: &[&[u8]]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut parts = Vec::new();
    let (mut old_from, mut new_from) = (0, 0);
    for (old_to, new_to) in cuts(old, new) {
        let (old_part, new_part) = (old_from..old_to, new_from..new_to);
        (old_from, new_from) = (old_to, new_to);
        let text = |lines: &[&[u8]]| without_space(lines).0;
        let is_moved = || text(&old[old_part.clone()]) == text(&new[new_part.clone()]);
        if old_part.len() == new_part.len() && (old_part.len() == 1 || !is_moved()) {
            let lines = old_part.zip(new_part);
            parts.extend(lines.map(|(old, new)| (old..old + 1, new..new + 1)));
        } else {
            parts.push((old_part, new_part));
        }
    }
    parts
}

/// The numbers of old and new lines before each cut, ascending; the last one is the end. `old` is
/// not empty.
fn cuts(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    let (old_text, old_ends) = without_space(old);
    let (new_text, new_ends) = without_space(new);
    let pairs = || old_text.iter().zip(&new_text);
    let before = pairs().take_while(|(old, new)| old == new).count();
    let reversed = old_text.iter().rev().zip(new_text.iter().rev());
    let behind = reversed.take_while(|(old, new)| old == new).count();
    let mut cuts = Vec::new();
    let mut from = 0;
    for (new_at, new_end) in new_ends.iter().enumerate() {
        let new_rest = new_text.len() - new_end;
        let old_end = match old_text.len().checked_sub(new_rest) {
            _ if *new_end <= before => *new_end,
            Some(old_end) if new_rest <= behind => old_end,
            _ => continue,
        };
        let rest = &old_ends[from..old.len() - 1];
        let old_at = rest.partition_point(|end| *end < old_end);
        // White space alone, at the start or the end, goes with the text beside it.
        let is_text = *new_end > 0 && new_rest > 0;
        if is_text && rest.get(old_at) == Some(&old_end) {
            from += old_at + 1;
            cuts.push((from, new_at + 1));
        }
    }
    cuts.push((old.len(), new.len()));
    cuts
}

/// The text of lines without white space, and its length up to the end of each line.
fn without_space(lines: &[&[u8]]) -> (Vec<u8>, Vec<usize>) {
    let mut text = Vec::new();
    let mut ends = Vec::with_capacity(lines.len());
    for line in lines {
        text.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
        ends.push(text.len());
    }
    (text, ends)
}
