//! Marks that follow the text: a sorted set of spans whose cost per edit does not grow with it.
//!
//! Each entry stores its distance from the one before, so that an edit touches only the entries
//! next to it. Start at `Marks::map`.
//! Invariant: entries are sorted by start, then by rank.

use std::cmp::Ordering;

use base::{Bias, ByteOffset, Span};
use sum_tree::{ContextLessSummary, Cursor, Item, SeekTarget, SumTree};
use text::Change;

/// What a mark says of itself.
pub(crate) trait Mark: Clone {
    /// Orders marks that start at one place; different for every mark.
    type Rank: Ord + Clone;
    /// Whether a mark stays when its span becomes empty.
    const STAYS_EMPTY: bool;
    /// Its place among those that start where it does.
    fn rank(&self) -> Self::Rank;
    /// To which side its start and its end cling.
    fn biases(&self) -> (Bias, Bias);
}

/// A mark and where it is now.
#[derive(Clone, Debug)]
pub(crate) struct Placed<T> {
    pub(crate) span: Span,
    pub(crate) mark: T,
}

/// A set of marks. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Marks<T: Mark> {
    entries: SumTree<Entry<T>>,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    /// Bytes from the start of the entry before, or from 0.
    gap: usize,
    len: usize,
    mark: T,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// Bytes from the base to the last start.
    start: usize,
    /// Bytes from the base to the furthest end.
    end: usize,
}

impl ContextLessSummary for Reach {
    fn zero() -> Self {
        Self::default()
    }

    fn add_summary(&mut self, next: &Self) {
        self.end = self.end.max(self.start + next.end);
        self.start += next.start;
    }
}

impl<T: Mark> Item for Entry<T> {
    type Summary = Reach;

    fn summary(&self, (): ()) -> Reach {
        Reach {
            start: self.gap,
            end: self.gap + self.len,
        }
    }
}

/// Seeks the entries that start at an offset.
struct StartAt(usize);

impl SeekTarget<'_, Reach, Reach> for StartAt {
    fn cmp(&self, place: &Reach, (): ()) -> Ordering {
        self.0.cmp(&place.start)
    }
}

/// Seeks the first entry that ends at an offset or behind it.
struct EndFrom(usize);

impl SeekTarget<'_, Reach, Reach> for EndFrom {
    fn cmp(&self, place: &Reach, (): ()) -> Ordering {
        self.0.cmp(&place.end)
    }
}

enum Event<R> {
    Remove(R),
    ShiftTo(isize),
}

impl<T: Mark> Marks<T> {
    pub(crate) fn new() -> Self {
        Self {
            entries: SumTree::new(()),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All marks, in order. Grows with the set.
    pub(crate) fn all(&self) -> Vec<Placed<T>> {
        self.from(0).collect()
    }

    /// The marks that start at `offset` or behind it, in order.
    pub(crate) fn from(&self, offset: usize) -> impl Iterator<Item = Placed<T>> + '_ {
        let mut cursor = self.entries.cursor::<Reach>(());
        cursor.seek(&StartAt(offset), sum_tree::Bias::Left);
        std::iter::from_fn(move || {
            let placed = placed_at(&cursor)?;
            cursor.next();
            Some(placed)
        })
    }

    /// The marks that share a byte with the closed span or touch it, in order.
    pub(crate) fn touching(&self, span: Span) -> Vec<Placed<T>> {
        let mut found = Vec::new();
        if self.entries.summary().end < span.start.0 {
            return found;
        }
        // Marks that start before the span and reach it: each search begins behind the last find.
        let mut rest = self.entries.clone();
        let mut base = 0;
        while base < span.start.0 {
            let Some((mut placed, tail)) = split_at_end_from(&rest, span.start.0 - base) else {
                break;
            };
            placed.shift(base as isize);
            if placed.span.start >= span.start {
                break;
            }
            base = placed.span.start.0;
            found.push(placed);
            rest = tail;
        }
        found.extend(
            self.from(span.start.0)
                .take_while(|placed| placed.span.start <= span.end),
        );
        found
    }

    /// Follows an edit.
    pub(crate) fn map(&mut self, change: &Change) {
        if self.is_empty() || change.is_empty() {
            return;
        }
        let mut touched: Vec<Placed<T>> = change
            .splices
            .iter()
            .flat_map(|splice| self.touching(splice.old))
            .collect();
        sort(&mut touched);
        touched.dedup_by(|a, b| a.mark.rank() == b.mark.rank());

        let mut events: Vec<(usize, Event<T::Rank>)> = touched
            .iter()
            .map(|placed| (placed.span.start.0, Event::Remove(placed.mark.rank())))
            .collect();
        for splice in &change.splices {
            let shift = splice.new.end.0 as isize - splice.old.end.0 as isize;
            events.push((splice.old.end.0, Event::ShiftTo(shift)));
        }
        events.sort_by_key(|(at, event)| (*at, matches!(event, Event::ShiftTo(_))));
        self.apply(events);

        let mapped = touched.into_iter().filter_map(|placed| {
            let (start_bias, end_bias) = placed.mark.biases();
            let start = change.map(placed.span.start, start_bias);
            let end = if placed.span.is_empty() {
                start
            } else {
                change.map(placed.span.end, end_bias).max(start)
            };
            let stays = T::STAYS_EMPTY || start < end;
            stays.then(|| Placed {
                span: Span::new(start, end),
                mark: placed.mark,
            })
        });
        self.insert(mapped.collect());
    }

    /// Adds marks, in any order.
    pub(crate) fn insert(&mut self, mut marks: Vec<Placed<T>>) {
        if marks.is_empty() {
            return;
        }
        sort(&mut marks);
        let entries = std::mem::replace(&mut self.entries, SumTree::new(()));
        let mut cursor = entries.cursor::<Reach>(());
        cursor.next();
        let mut builder = Builder::new();
        for placed in marks {
            builder.copy_before(&mut cursor, placed.span.start.0, 0);
            while let Some(other) = placed_at(&cursor)
                && other.span.start == placed.span.start
                && other.mark.rank() < placed.mark.rank()
            {
                builder.push(other);
                cursor.next();
            }
            builder.push(placed);
        }
        builder.copy_before(&mut cursor, usize::MAX, 0);
        self.entries = builder.entries;
    }

    /// Takes out the marks for which `is_wanted` is false, and returns them. Grows with the set.
    pub(crate) fn retain(
        &mut self,
        mut is_wanted: impl FnMut(&Placed<T>) -> bool,
    ) -> Vec<Placed<T>> {
        let (kept, removed): (Vec<_>, Vec<_>) =
            self.all().into_iter().partition(|placed| is_wanted(placed));
        if !removed.is_empty() {
            let mut last = 0;
            let entries = kept.into_iter().map(|placed| {
                let gap = placed.span.start.0 - last;
                last = placed.span.start.0;
                Entry {
                    gap,
                    len: placed.span.len(),
                    mark: placed.mark,
                }
            });
            self.entries = SumTree::from_iter(entries, ());
        }
        removed
    }

    fn apply(&mut self, events: Vec<(usize, Event<T::Rank>)>) {
        let entries = std::mem::replace(&mut self.entries, SumTree::new(()));
        let mut cursor = entries.cursor::<Reach>(());
        cursor.next();
        let mut builder = Builder::new();
        let mut shift = 0;
        for (at, event) in events {
            builder.copy_before(&mut cursor, at, shift);
            match event {
                Event::ShiftTo(next) => shift = next,
                Event::Remove(rank) => {
                    while let Some(mut placed) = placed_at(&cursor)
                        && placed.span.start.0 == at
                    {
                        cursor.next();
                        if placed.mark.rank() == rank {
                            break;
                        }
                        placed.shift(shift);
                        builder.push(placed);
                    }
                }
            }
        }
        builder.copy_before(&mut cursor, usize::MAX, shift);
        self.entries = builder.entries;
    }
}

impl<T> Placed<T> {
    fn shift(&mut self, by: isize) {
        self.span.start.0 = self.span.start.0.saturating_add_signed(by);
        self.span.end.0 = self.span.end.0.saturating_add_signed(by);
    }
}

fn sort<T: Mark>(marks: &mut [Placed<T>]) {
    marks.sort_by(|a, b| {
        let by_start = a.span.start.cmp(&b.span.start);
        by_start.then_with(|| a.mark.rank().cmp(&b.mark.rank()))
    });
}

fn placed_at<T: Mark>(cursor: &Cursor<'_, '_, Entry<T>, Reach>) -> Option<Placed<T>> {
    let entry = cursor.item()?;
    let start = ByteOffset(cursor.start().start + entry.gap);
    Some(Placed {
        span: Span::new(start, start + entry.len),
        mark: entry.mark.clone(),
    })
}

/// The first entry that ends at `end` or behind it, and all that follow it.
fn split_at_end_from<T: Mark>(
    entries: &SumTree<Entry<T>>,
    end: usize,
) -> Option<(Placed<T>, SumTree<Entry<T>>)> {
    let mut cursor = entries.cursor::<Reach>(());
    cursor.seek(&EndFrom(end), sum_tree::Bias::Left);
    let placed = placed_at(&cursor)?;
    cursor.next();
    Some((placed, cursor.suffix()))
}

/// Builds a set from left to right out of single marks and runs of an older set.
struct Builder<T: Mark> {
    entries: SumTree<Entry<T>>,
    last: usize,
}

impl<T: Mark> Builder<T> {
    fn new() -> Self {
        Self {
            entries: SumTree::new(()),
            last: 0,
        }
    }

    fn push(&mut self, placed: Placed<T>) {
        let start = placed.span.start.0.max(self.last);
        let entry = Entry {
            gap: start - self.last,
            len: placed.span.len(),
            mark: placed.mark,
        };
        self.entries.push(entry, ());
        self.last = start;
    }

    /// Copies what starts before `limit`. Only the first entry's distance changes.
    fn copy_before(
        &mut self,
        cursor: &mut Cursor<'_, '_, Entry<T>, Reach>,
        limit: usize,
        shift: isize,
    ) {
        let Some(mut first) = placed_at(cursor) else {
            return;
        };
        if first.span.start.0 >= limit {
            return;
        }
        first.shift(shift);
        self.push(first);
        cursor.next();
        let run = cursor.slice(&StartAt(limit), sum_tree::Bias::Left);
        self.last += run.summary().start;
        self.entries.append(run, ());
    }
}

#[cfg(test)]
mod tests;
