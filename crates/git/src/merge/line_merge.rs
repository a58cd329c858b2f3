//! Merges the lines of two sides with their merge base.
//!
//! Follows git's merge exactly: touching hunks conflict, identical changes of both sides do not, a
//! conflict is narrowed to the lines in which the sides differ, and conflicts separated by at most
//! three lines are joined.

use std::ops::Range;

use super::histogram;

/// A part of the merged text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MergePart {
    /// Lines of our side.
    Ours(Range<u32>),
    /// Lines of their side.
    Theirs(Range<u32>),
    /// Lines in conflict between the sides.
    Conflict(ConflictRegion),
}

/// Line ranges of a conflict in each version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConflictRegion {
    pub(super) base: Range<u32>,
    pub(super) ours: Range<u32>,
    pub(super) theirs: Range<u32>,
}

/// Conflicts separated by at most this many lines are joined.
const NEAR: u32 = 3;

type Lines<'a> = [&'a [u8]];

/// Returns the merged text as a list of parts.
pub(super) fn merge(base: &Lines<'_>, ours: &Lines<'_>, theirs: &Lines<'_>) -> Vec<MergePart> {
    let one = changes(base, ours);
    let two = changes(base, theirs);
    let regions = MergeWalk {
        ours,
        theirs,
        // Length difference to the base; it offsets our changes after their last one.
        theirs_longer: theirs.len() as i64 - base.len() as i64,
        ours_longer: ours.len() as i64 - base.len() as i64,
        regions: Vec::new(),
    }
    .walk(&one, &two);
    let regions = join_near(refine(regions, ours, theirs));
    merge_parts(&regions, ours.len())
}

/// A hunk: lines `start..start + len` of the base became `side_start..side_start + side_len`.
#[derive(Clone, Copy, Debug)]
struct LineChange {
    start: i64,
    len: i64,
    side_start: i64,
    side_len: i64,
}

fn changes(base: &Lines<'_>, side: &Lines<'_>) -> Vec<LineChange> {
    let hunks = histogram::hunks(base, side);
    hunks
        .iter()
        .map(|hunk| LineChange {
            start: hunk.before.start as i64,
            len: hunk.before.len() as i64,
            side_start: hunk.after.start as i64,
            side_len: hunk.after.len() as i64,
        })
        .collect()
}

/// Side that provides the lines of a changed region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegionSide {
    Ours,
    Theirs,
    Conflict,
    /// Both sides made the same change.
    Same,
}

/// A changed region: start and length in each version.
#[derive(Clone, Copy, Debug)]
struct ChangedRegion {
    side: RegionSide,
    base: (i64, i64),
    ours: (i64, i64),
    theirs: (i64, i64),
}

struct MergeWalk<'a> {
    ours: &'a Lines<'a>,
    theirs: &'a Lines<'a>,
    theirs_longer: i64,
    ours_longer: i64,
    regions: Vec<ChangedRegion>,
}

impl MergeWalk<'_> {
    fn walk(mut self, mut one: &[LineChange], mut two: &[LineChange]) -> Vec<ChangedRegion> {
        while let (Some(a), Some(b)) = (one.first(), two.first()) {
            if a.start + a.len < b.start {
                self.take_ours(a, b.side_start - b.start);
                one = &one[1..];
                continue;
            }
            if b.start + b.len < a.start {
                self.take_theirs(b, a.side_start - a.start);
                two = &two[1..];
                continue;
            }
            if !self.is_same(a, b) {
                self.push_conflict(a, b);
            }
            let (a_end, b_end) = (a.start + a.len, b.start + b.len);
            if a_end >= b_end {
                two = &two[1..];
            }
            if b_end >= a_end {
                one = &one[1..];
            }
        }
        for a in one {
            self.take_ours(a, self.theirs_longer);
        }
        for b in two {
            self.take_theirs(b, self.ours_longer);
        }
        self.regions
    }

    /// Records a change of ours only; `offset` is the distance from base line numbers to theirs.
    fn take_ours(&mut self, a: &LineChange, offset: i64) {
        self.push(ChangedRegion {
            side: RegionSide::Ours,
            base: (a.start, a.len),
            ours: (a.side_start, a.side_len),
            theirs: (a.start + offset, a.len),
        });
    }

    fn take_theirs(&mut self, b: &LineChange, offset: i64) {
        self.push(ChangedRegion {
            side: RegionSide::Theirs,
            base: (b.start, b.len),
            ours: (b.start + offset, b.len),
            theirs: (b.side_start, b.side_len),
        });
    }

    /// Returns whether both sides replace the same lines of the base by equal lines.
    fn is_same(&self, a: &LineChange, b: &LineChange) -> bool {
        let ours = &self.ours[a.side_start as usize..(a.side_start + a.side_len) as usize];
        let theirs = &self.theirs[b.side_start as usize..(b.side_start + b.side_len) as usize];
        (a.start, a.len) == (b.start, b.len) && ours == theirs
    }

    fn push_conflict(&mut self, a: &LineChange, b: &LineChange) {
        let start = a.start.min(b.start);
        let end = (a.start + a.len).max(b.start + b.len);
        // Widen each side by unchanged lines until both cover the same lines of the base.
        let widened = |it: &LineChange| {
            let from = it.side_start - (it.start - start);
            let to = it.side_start + it.side_len + (end - it.start - it.len);
            (from, to - from)
        };
        self.push(ChangedRegion {
            side: RegionSide::Conflict,
            base: (start, end - start),
            ours: widened(a),
            theirs: widened(b),
        });
    }

    /// Appends a region, joining it with the previous one if they touch.
    fn push(&mut self, region: ChangedRegion) {
        let touches = |last: (i64, i64), next: (i64, i64)| next.0 <= last.0 + last.1;
        match self.regions.last_mut() {
            Some(last)
                if touches(last.ours, region.ours) || touches(last.theirs, region.theirs) =>
            {
                if last.side != region.side {
                    last.side = RegionSide::Conflict;
                }
                let join =
                    |last: &mut (i64, i64), next: (i64, i64)| last.1 = next.0 + next.1 - last.0;
                join(&mut last.base, region.base);
                join(&mut last.ours, region.ours);
                join(&mut last.theirs, region.theirs);
            }
            _ => self.regions.push(region),
        }
    }
}

/// Narrows conflicts to the lines in which the sides differ.
fn refine(regions: Vec<ChangedRegion>, ours: &Lines<'_>, theirs: &Lines<'_>) -> Vec<ChangedRegion> {
    let mut refined = Vec::new();
    for region in regions {
        if region.side != RegionSide::Conflict || region.ours.1 == 0 || region.theirs.1 == 0 {
            refined.push(region);
            continue;
        }
        let cut = |lines, (start, len): (i64, i64)| -> &[&[u8]] {
            let lines: &[&[u8]] = lines;
            &lines[start as usize..(start + len) as usize]
        };
        let inner = changes(cut(ours, region.ours), cut(theirs, region.theirs));
        if inner.is_empty() {
            refined.push(ChangedRegion {
                side: RegionSide::Same,
                ..region
            });
        }
        refined.extend(inner.iter().map(|it| ChangedRegion {
            ours: (region.ours.0 + it.start, it.len),
            theirs: (region.theirs.0 + it.side_start, it.side_len),
            ..region
        }));
    }
    refined
}

fn join_near(regions: Vec<ChangedRegion>) -> Vec<ChangedRegion> {
    let mut joined: Vec<ChangedRegion> = Vec::new();
    for region in regions {
        match joined.last_mut() {
            Some(last)
                if last.side == RegionSide::Conflict
                    && region.side == RegionSide::Conflict
                    && region.ours.0 - (last.ours.0 + last.ours.1) <= i64::from(NEAR) =>
            {
                last.ours.1 = region.ours.0 + region.ours.1 - last.ours.0;
                last.theirs.1 = region.theirs.0 + region.theirs.1 - last.theirs.0;
                let base_end = (last.base.0 + last.base.1).max(region.base.0 + region.base.1);
                last.base.1 = base_end - last.base.0;
            }
            _ => joined.push(region),
        }
    }
    joined
}

fn merge_parts(regions: &[ChangedRegion], our_count: usize) -> Vec<MergePart> {
    let range = |(start, len): (i64, i64)| start.max(0) as u32..(start + len).max(0) as u32;
    let mut parts = Vec::new();
    let mut at = 0;
    for region in regions {
        let ours = range(region.ours);
        if region.side == RegionSide::Same || region.side == RegionSide::Ours {
            // Our side already contains this change.
            continue;
        }
        if at < ours.start {
            parts.push(MergePart::Ours(at..ours.start));
        }
        at = ours.end;
        match region.side {
            RegionSide::Theirs => parts.push(MergePart::Theirs(range(region.theirs))),
            _ => parts.push(MergePart::Conflict(ConflictRegion {
                base: range(region.base),
                ours,
                theirs: range(region.theirs),
            })),
        }
    }
    if at < our_count as u32 {
        parts.push(MergePart::Ours(at..our_count as u32));
    }
    parts
}

#[cfg(test)]
mod tests;
