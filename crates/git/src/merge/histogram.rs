//! Line diffs by git's histogram algorithm.
//!
//! The merge result depends on which common lines are matched and on where an ambiguous hunk is
//! placed, so both follow git exactly; an approximation would produce different conflicts. Lines
//! are interned as numbers: equal lines have equal numbers.

use std::collections::HashMap;
use std::ops::Range;

/// Maximum occurrences of a line on the old side; more frequent lines do not anchor a match.
const MAX_OCCURRENCES: u32 = 64;

/// A range of old lines replaced by a range of new lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffHunk {
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
}

/// Returns the hunks between two lists of lines, in order.
pub(super) fn hunks<'l>(before: &[&'l [u8]], after: &[&'l [u8]]) -> Vec<DiffHunk> {
    let mut known = HashMap::new();
    let mut numbers = |lines: &[&'l [u8]]| -> Vec<u32> {
        let mut number = |line: &&'l [u8]| {
            let next = known.len() as u32;
            *known.entry(*line).or_insert(next)
        };
        lines.iter().map(&mut number).collect()
    };
    let (before, after) = (numbers(before), numbers(after));
    let mut search = HistogramDiff {
        removed: vec![false; before.len()],
        added: vec![false; after.len()],
        before,
        after,
    };
    search.compare(0..search.before.len(), 0..search.after.len());
    let HistogramDiff {
        before,
        after,
        mut removed,
        mut added,
    } = search;
    compact(&before, &mut removed, &added);
    compact(&after, &mut added, &removed);
    script(&removed, &added)
}

struct HistogramDiff {
    before: Vec<u32>,
    after: Vec<u32>,
    removed: Vec<bool>,
    added: Vec<bool>,
}

/// Occurrences of the old side's lines, by line number: their count and the first position. `next`
/// links the positions of equal lines.
struct LineOccurrences {
    found: HashMap<u32, (u32, usize)>,
    next: Vec<Option<usize>>,
    start: usize,
}

/// The best run of common lines so far; ends are inclusive.
struct CommonRun {
    before: (usize, usize),
    after: (usize, usize),
}

impl HistogramDiff {
    fn compare(&mut self, mut before: Range<usize>, mut after: Range<usize>) {
        loop {
            if before.is_empty() || after.is_empty() {
                self.removed[before].fill(true);
                self.added[after].fill(true);
                return;
            }
            match self.best_run(&before, &after) {
                Err(TooCommon) => return self.compare_fallback(before, after),
                Ok(None) => {
                    self.removed[before].fill(true);
                    self.added[after].fill(true);
                    return;
                }
                Ok(Some(run)) => {
                    self.compare(before.start..run.before.0, after.start..run.after.0);
                    before.start = run.before.1 + 1;
                    after.start = run.after.1 + 1;
                }
            }
        }
    }

    /// Finds the longest run of common lines among those that contain the rarest line.
    fn best_run(
        &self,
        before: &Range<usize>,
        after: &Range<usize>,
    ) -> Result<Option<CommonRun>, TooCommon> {
        let index = self.index(before);
        let mut best: Option<CommonRun> = None;
        // The number of occurrences of the rarest line in the best run.
        let mut rarest = MAX_OCCURRENCES + 1;
        let mut has_common = false;
        let mut at = after.start;
        while at < after.end {
            let mut next_at = at + 1;
            let Some((count, first)) = index.found.get(&self.after[at]).copied() else {
                at = next_at;
                continue;
            };
            has_common = true;
            if count > rarest {
                at = next_at;
                continue;
            }
            let mut place = Some(first);
            while let Some(start) = place {
                let (run, count) = self.run_around((start, at), (before, after), (&index, count));
                next_at = next_at.max(run.after.1 + 1);
                let length = |run: &CommonRun| run.before.1 - run.before.0;
                let is_longer = best.as_ref().map_or(0, length) < length(&run);
                let end = run.before.1;
                if is_longer || count < rarest {
                    rarest = count;
                    best = Some(run);
                }
                place = index.next[start - index.start];
                while place.is_some_and(|it| it <= end) {
                    place = place.and_then(|it| index.next[it - index.start]);
                }
            }
            at = next_at;
        }
        if has_common && rarest > MAX_OCCURRENCES {
            Err(TooCommon)
        } else {
            Ok(best)
        }
    }

    /// Extends a pair of equal lines to all adjacent common lines; also returns the occurrences of
    /// the rarest.
    fn run_around(
        &self,
        (start, at): (usize, usize),
        (before, after): (&Range<usize>, &Range<usize>),
        (index, mut count): (&LineOccurrences, u32),
    ) -> (CommonRun, u32) {
        let (mut first, mut first_after) = (start, at);
        let mut rarer = |line: usize| {
            if count > 1 {
                let found = index.found.get(&self.before[line]);
                count = count.min(found.map_or(count, |found| found.0));
            }
        };
        while before.start < first
            && after.start < first_after
            && self.before[first - 1] == self.after[first_after - 1]
        {
            first -= 1;
            first_after -= 1;
            rarer(first);
        }
        let (mut last, mut last_after) = (start, at);
        while last + 1 < before.end
            && last_after + 1 < after.end
            && self.before[last + 1] == self.after[last_after + 1]
        {
            last += 1;
            last_after += 1;
            rarer(last);
        }
        let run = CommonRun {
            before: (first, last),
            after: (first_after, last_after),
        };
        (run, count)
    }

    fn index(&self, before: &Range<usize>) -> LineOccurrences {
        let mut index = LineOccurrences {
            found: HashMap::new(),
            next: vec![None; before.len()],
            start: before.start,
        };
        for line in before.clone().rev() {
            match index.found.get_mut(&self.before[line]) {
                Some((count, first)) => {
                    index.next[line - before.start] = Some(*first);
                    *count += 1;
                    *first = line;
                }
                None => {
                    index.found.insert(self.before[line], (1, line));
                }
            }
        }
        index
    }

    /// Diffs a range in which every common line is too frequent. Git falls back to its Myers diff
    /// here, and this fallback may match other lines.
    fn compare_fallback(&mut self, before: Range<usize>, after: Range<usize>) {
        let bytes = |numbers: &[u32]| -> Vec<[u8; 4]> {
            numbers.iter().map(|it| it.to_le_bytes()).collect()
        };
        let (old, new) = (
            bytes(&self.before[before.clone()]),
            bytes(&self.after[after.clone()]),
        );
        let old: Vec<&[u8]> = old.iter().map(<[u8; 4]>::as_slice).collect();
        let new: Vec<&[u8]> = new.iter().map(<[u8; 4]>::as_slice).collect();
        for hunk in text::diff_lines(&old, &new) {
            let at = |rows: text::RowSpan, start: usize| {
                start + rows.start.0 as usize..start + rows.end.0 as usize
            };
            self.removed[at(hunk.before, before.start)].fill(true);
            self.added[at(hunk.after, after.start)].fill(true);
        }
    }
}

/// Every common line exceeds the occurrence limit.
struct TooCommon;

/// Adjacent changed lines on one side; may be empty.
#[derive(Clone, Copy)]
struct ChangeGroup {
    start: usize,
    end: usize,
}

impl ChangeGroup {
    fn first(changed: &[bool]) -> Self {
        let mut group = Self { start: 0, end: 0 };
        group.grow(changed);
        group
    }

    fn grow(&mut self, changed: &[bool]) {
        while changed.get(self.end) == Some(&true) {
            self.end += 1;
        }
    }

    /// Returns whether the group has no lines.
    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Moves to the group after the next unchanged line. Returns false if there is no such line.
    fn next(&mut self, changed: &[bool]) -> bool {
        if self.end >= changed.len() {
            return false;
        }
        self.start = self.end + 1;
        self.end = self.start;
        self.grow(changed);
        true
    }

    fn previous(&mut self, changed: &[bool]) {
        if self.start == 0 {
            return;
        }
        self.end = self.start - 1;
        self.start = self.end;
        while self.start > 0 && changed[self.start - 1] {
            self.start -= 1;
        }
    }

    /// Moves the group one line down and joins it with a group that it meets. Returns false, and
    /// changes nothing, if it ends the text or the line after it differs from its first one.
    fn slide_down(&mut self, lines: &[u32], changed: &mut [bool]) -> bool {
        if self.end >= lines.len() || lines[self.start] != lines[self.end] {
            return false;
        }
        changed[self.start] = false;
        changed[self.end] = true;
        self.start += 1;
        self.end += 1;
        self.grow(changed);
        true
    }

    /// Moves the group one line up and joins it with a group that it meets. Returns false, and
    /// changes nothing, if it starts the text or the line before it differs from its last one.
    fn slide_up(&mut self, lines: &[u32], changed: &mut [bool]) -> bool {
        if self.start == 0 || lines[self.start - 1] != lines[self.end - 1] {
            return false;
        }
        self.start -= 1;
        self.end -= 1;
        changed[self.start] = true;
        changed[self.end] = false;
        while self.start > 0 && changed[self.start - 1] {
            self.start -= 1;
        }
        true
    }
}

/// Slides each group until it is aligned with a change of the other side, otherwise as far down as
/// possible; groups that meet are merged.
fn compact(lines: &[u32], changed: &mut [bool], other_changed: &[bool]) {
    let mut group = ChangeGroup::first(changed);
    let mut other = ChangeGroup::first(other_changed);
    loop {
        if !group.is_empty() {
            slide(lines, changed, other_changed, (&mut group, &mut other));
        }
        if !group.next(changed) {
            return;
        }
        other.next(other_changed);
    }
}

fn slide(
    lines: &[u32],
    changed: &mut [bool],
    other_changed: &[bool],
    (group, other): (&mut ChangeGroup, &mut ChangeGroup),
) {
    let (mut highest_end, mut beside_other);
    loop {
        let length = group.end - group.start;
        beside_other = false;
        while group.slide_up(lines, changed) {
            other.previous(other_changed);
        }
        highest_end = group.end;
        beside_other |= !other.is_empty();
        while group.slide_down(lines, changed) {
            other.next(other_changed);
            beside_other |= !other.is_empty();
        }
        if length == group.end - group.start {
            break;
        }
    }
    if group.end == highest_end || !beside_other {
        return;
    }
    while other.is_empty() && group.slide_up(lines, changed) {
        other.previous(other_changed);
    }
}

fn script(removed: &[bool], added: &[bool]) -> Vec<DiffHunk> {
    let mut hunks = Vec::new();
    let (mut before, mut after) = (0, 0);
    while before < removed.len() || after < added.len() {
        let start = (before, after);
        while removed.get(before) == Some(&true) {
            before += 1;
        }
        while added.get(after) == Some(&true) {
            after += 1;
        }
        if start != (before, after) {
            hunks.push(DiffHunk {
                before: start.0..before,
                after: start.1..after,
            });
        }
        // Both sides have the same line.
        before += 1;
        after += 1;
    }
    hunks
}

#[cfg(test)]
mod tests;
