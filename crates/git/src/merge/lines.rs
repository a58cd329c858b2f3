//! Lines of two sides onto what both began from: which are taken from whom, and which are fought over.
//!
//! Follows git's own merge to the line: hunks that touch are fought over, lines that both sides changed alike are
//! not, a fight is narrowed to the lines in which the sides differ, and fights with at most three lines between
//! them become one.

use std::ops::Range;

use super::histogram;

/// A part of the merged text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// These lines of our side.
    Ours(Range<u32>),
    /// These lines of their side.
    Theirs(Range<u32>),
    /// Fought over.
    Both(Fight),
}

/// Lines that are fought over, in each version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fight {
    pub(super) base: Range<u32>,
    pub(super) ours: Range<u32>,
    pub(super) theirs: Range<u32>,
}

/// Fights with at most so many lines between them become one.
const NEAR: u32 = 3;

type Lines<'a> = [&'a [u8]];

/// The merged text, part by part.
pub(super) fn merge(base: &Lines<'_>, ours: &Lines<'_>, theirs: &Lines<'_>) -> Vec<Part> {
    let one = changes(base, ours);
    let two = changes(base, theirs);
    let spots = Walk {
        ours,
        theirs,
        // How much longer their text is than the base, for what only ours changed behind their last change.
        theirs_longer: theirs.len() as i64 - base.len() as i64,
        ours_longer: ours.len() as i64 - base.len() as i64,
        spots: Vec::new(),
    }
    .walk(&one, &two);
    let spots = join_near(refine(spots, ours, theirs));
    parts(&spots, ours.len())
}

/// Lines `start..start + len` of the base that became `side_start..side_start + side_len`.
#[derive(Clone, Copy, Debug)]
struct Change {
    start: i64,
    len: i64,
    side_start: i64,
    side_len: i64,
}

fn changes(base: &Lines<'_>, side: &Lines<'_>) -> Vec<Change> {
    let hunks = histogram::hunks(base, side);
    hunks
        .iter()
        .map(|hunk| Change {
            start: hunk.before.start as i64,
            len: hunk.before.len() as i64,
            side_start: hunk.after.start as i64,
            side_len: hunk.after.len() as i64,
        })
        .collect()
}

/// Whose lines stand at a changed spot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Ours,
    Theirs,
    Fought,
    /// Both sides have the same lines after all.
    Same,
}

/// A changed spot: start and length in each version.
#[derive(Clone, Copy, Debug)]
struct Spot {
    whose: Whose,
    base: (i64, i64),
    ours: (i64, i64),
    theirs: (i64, i64),
}

struct Walk<'a> {
    ours: &'a Lines<'a>,
    theirs: &'a Lines<'a>,
    theirs_longer: i64,
    ours_longer: i64,
    spots: Vec<Spot>,
}

impl Walk<'_> {
    fn walk(mut self, mut one: &[Change], mut two: &[Change]) -> Vec<Spot> {
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
                self.fight(a, b);
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
        self.spots
    }

    /// `offset` is by how much their lines are further down here than those of the base.
    fn take_ours(&mut self, a: &Change, offset: i64) {
        self.push(Spot {
            whose: Whose::Ours,
            base: (a.start, a.len),
            ours: (a.side_start, a.side_len),
            theirs: (a.start + offset, a.len),
        });
    }

    fn take_theirs(&mut self, b: &Change, offset: i64) {
        self.push(Spot {
            whose: Whose::Theirs,
            base: (b.start, b.len),
            ours: (b.start + offset, b.len),
            theirs: (b.side_start, b.side_len),
        });
    }

    fn is_same(&self, a: &Change, b: &Change) -> bool {
        let ours = &self.ours[a.side_start as usize..(a.side_start + a.side_len) as usize];
        let theirs = &self.theirs[b.side_start as usize..(b.side_start + b.side_len) as usize];
        (a.start, a.len) == (b.start, b.len) && ours == theirs
    }

    fn fight(&mut self, a: &Change, b: &Change) {
        let start = a.start.min(b.start);
        let end = (a.start + a.len).max(b.start + b.len);
        // Each side is widened by lines it left alone, until both cover the same lines of the base.
        let widened = |it: &Change| {
            let from = it.side_start - (it.start - start);
            let to = it.side_start + it.side_len + (end - it.start - it.len);
            (from, to - from)
        };
        self.push(Spot {
            whose: Whose::Fought,
            base: (start, end - start),
            ours: widened(a),
            theirs: widened(b),
        });
    }

    /// What touches the spot before becomes one with it.
    fn push(&mut self, spot: Spot) {
        let touches = |last: (i64, i64), next: (i64, i64)| next.0 <= last.0 + last.1;
        match self.spots.last_mut() {
            Some(last) if touches(last.ours, spot.ours) || touches(last.theirs, spot.theirs) => {
                if last.whose != spot.whose {
                    last.whose = Whose::Fought;
                }
                let join =
                    |last: &mut (i64, i64), next: (i64, i64)| last.1 = next.0 + next.1 - last.0;
                join(&mut last.base, spot.base);
                join(&mut last.ours, spot.ours);
                join(&mut last.theirs, spot.theirs);
            }
            _ => self.spots.push(spot),
        }
    }
}

/// Narrows fights to the lines in which the sides differ.
fn refine(spots: Vec<Spot>, ours: &Lines<'_>, theirs: &Lines<'_>) -> Vec<Spot> {
    let mut refined = Vec::new();
    for spot in spots {
        if spot.whose != Whose::Fought || spot.ours.1 == 0 || spot.theirs.1 == 0 {
            refined.push(spot);
            continue;
        }
        let cut = |lines, (start, len): (i64, i64)| -> &[&[u8]] {
            let lines: &[&[u8]] = lines;
            &lines[start as usize..(start + len) as usize]
        };
        let inner = changes(cut(ours, spot.ours), cut(theirs, spot.theirs));
        if inner.is_empty() {
            refined.push(Spot {
                whose: Whose::Same,
                ..spot
            });
        }
        refined.extend(inner.iter().map(|it| Spot {
            ours: (spot.ours.0 + it.start, it.len),
            theirs: (spot.theirs.0 + it.side_start, it.side_len),
            ..spot
        }));
    }
    refined
}

fn join_near(spots: Vec<Spot>) -> Vec<Spot> {
    let mut joined: Vec<Spot> = Vec::new();
    for spot in spots {
        match joined.last_mut() {
            Some(last)
                if last.whose == Whose::Fought
                    && spot.whose == Whose::Fought
                    && spot.ours.0 - (last.ours.0 + last.ours.1) <= i64::from(NEAR) =>
            {
                last.ours.1 = spot.ours.0 + spot.ours.1 - last.ours.0;
                last.theirs.1 = spot.theirs.0 + spot.theirs.1 - last.theirs.0;
                let base_end = (last.base.0 + last.base.1).max(spot.base.0 + spot.base.1);
                last.base.1 = base_end - last.base.0;
            }
            _ => joined.push(spot),
        }
    }
    joined
}

fn parts(spots: &[Spot], our_count: usize) -> Vec<Part> {
    let range = |(start, len): (i64, i64)| start.max(0) as u32..(start + len).max(0) as u32;
    let mut parts = Vec::new();
    let mut at = 0;
    for spot in spots {
        let ours = range(spot.ours);
        if spot.whose == Whose::Same || spot.whose == Whose::Ours {
            // Our side has it already.
            continue;
        }
        if at < ours.start {
            parts.push(Part::Ours(at..ours.start));
        }
        at = ours.end;
        match spot.whose {
            Whose::Theirs => parts.push(Part::Theirs(range(spot.theirs))),
            _ => parts.push(Part::Both(Fight {
                base: range(spot.base),
                ours,
                theirs: range(spot.theirs),
            })),
        }
    }
    if at < our_count as u32 {
        parts.push(Part::Ours(at..our_count as u32));
    }
    parts
}

#[cfg(test)]
mod tests;
