//! A sorted set of spans that follow the text; the cost of an edit does not grow with the set.
//!
//! Each entry stores its distance from the previous one, so that an edit touches only adjacent
//! entries. Start at `SpanSet::map`.
//! Invariant: entries are sorted by start, then by rank.

use std::cmp::Ordering;

use base::{Bias, ByteOffset, Span};
use sum_tree::{ContextLessSummary, Cursor, Item, SeekTarget, SumTree};

use crate::change::Change;

/// Payload of a span in a `SpanSet`: an inlay, a fold, an item of an outline.
pub trait SpanMark: Clone {
    /// Orders marks with equal start; unique for every mark.
    type Rank: Ord + Clone;
    /// Whether a mark remains when its span becomes empty.
    const STAYS_EMPTY: bool;
    /// Returns the order among marks with the same start.
    fn rank(&self) -> Self::Rank;
    /// Returns the biases of its start and its end.
    fn biases(&self) -> (Bias, Bias);
}

/// A mark with its current span.
#[derive(Clone, Debug)]
pub struct PlacedMark<T> {
    /// Current span of the mark.
    pub span: Span,
    /// The mark.
    pub mark: T,
}

/// A set of marks whose spans follow edits, ordered by start, then rank. Cheap to clone.
#[derive(Clone)]
pub struct SpanSet<T: SpanMark> {
    entries: SumTree<SpanEntry<T>>,
}

#[derive(Clone, Debug)]
struct SpanEntry<T> {
    /// Bytes from the start of the previous entry, or from 0.
    gap: usize,
    len: usize,
    mark: T,
}

#[derive(Clone, Copy, Debug, Default)]
struct SpanExtent {
    /// Bytes from the base to the last start.
    start: usize,
    /// Bytes from the base to the furthest end.
    end: usize,
}

impl ContextLessSummary for SpanExtent {
    fn zero() -> Self {
        Self::default()
    }

    fn add_summary(&mut self, next: &Self) {
        self.end = self.end.max(self.start + next.end);
        self.start += next.start;
    }
}

impl<T: SpanMark> Item for SpanEntry<T> {
    type Summary = SpanExtent;

    fn summary(&self, (): ()) -> SpanExtent {
        SpanExtent {
            start: self.gap,
            end: self.gap + self.len,
        }
    }
}

/// Seeks the entries that start at an offset.
struct StartAt(usize);

impl SeekTarget<'_, SpanExtent, SpanExtent> for StartAt {
    fn cmp(&self, place: &SpanExtent, (): ()) -> Ordering {
        self.0.cmp(&place.start)
    }
}

/// Seeks the first entry that ends at an offset or behind it.
struct EndFrom(usize);

impl SeekTarget<'_, SpanExtent, SpanExtent> for EndFrom {
    fn cmp(&self, place: &SpanExtent, (): ()) -> Ordering {
        self.0.cmp(&place.end)
    }
}

enum SpanEvent<R> {
    Remove(R),
    ShiftTo(isize),
}

impl<T: SpanMark> Default for SpanSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: SpanMark> SpanSet<T> {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self {
            entries: SumTree::new(()),
        }
    }

    /// Returns whether the set contains no mark.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all marks, in order. Takes time proportional to the size of the set.
    pub fn all(&self) -> Vec<PlacedMark<T>> {
        self.from(0).collect()
    }

    /// Iterates over the marks that start at or after `offset`, in order.
    pub fn from(&self, offset: usize) -> impl Iterator<Item = PlacedMark<T>> + '_ {
        let mut cursor = self.entries.cursor::<SpanExtent>(());
        cursor.seek(&StartAt(offset), sum_tree::Bias::Left);
        std::iter::from_fn(move || {
            let placed = placed_at(&cursor)?;
            cursor.next();
            Some(placed)
        })
    }

    /// Returns the marks that overlap the span or touch its ends, in order.
    pub fn touching(&self, span: Span) -> Vec<PlacedMark<T>> {
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

    /// Removes marks of the set, given as the set returned them. Takes time proportional to their
    /// number.
    pub fn remove(&mut self, marks: &[PlacedMark<T>]) {
        if marks.is_empty() {
            return;
        }
        let mut marks = marks.to_vec();
        sort(&mut marks);
        let events = marks
            .iter()
            .map(|placed| (placed.span.start.0, SpanEvent::Remove(placed.mark.rank())))
            .collect();
        self.apply(events);
    }

    /// Maps the marks through an edit. Removes marks whose text is deleted, unless the kind of mark
    /// stays when it is empty.
    pub fn map(&mut self, change: &Change) {
        if self.is_empty() || change.is_empty() {
            return;
        }
        let mut touched: Vec<PlacedMark<T>> = change
            .splices
            .iter()
            .flat_map(|splice| self.touching(splice.old))
            .collect();
        sort(&mut touched);
        touched.dedup_by(|a, b| a.mark.rank() == b.mark.rank());

        let mut events: Vec<(usize, SpanEvent<T::Rank>)> = touched
            .iter()
            .map(|placed| (placed.span.start.0, SpanEvent::Remove(placed.mark.rank())))
            .collect();
        for splice in &change.splices {
            let shift = splice.new.end.0 as isize - splice.old.end.0 as isize;
            events.push((splice.old.end.0, SpanEvent::ShiftTo(shift)));
        }
        events.sort_by_key(|(at, event)| (*at, matches!(event, SpanEvent::ShiftTo(_))));
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
            stays.then(|| PlacedMark {
                span: Span::new(start, end),
                mark: placed.mark,
            })
        });
        self.insert(mapped.collect());
    }

    /// Adds marks, given in any order. Their ranks must not occur in the set.
    pub fn insert(&mut self, mut marks: Vec<PlacedMark<T>>) {
        if marks.is_empty() {
            return;
        }
        sort(&mut marks);
        let entries = std::mem::replace(&mut self.entries, SumTree::new(()));
        let mut cursor = entries.cursor::<SpanExtent>(());
        cursor.next();
        let mut builder = SpanSetBuilder::new();
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

    /// Removes and returns the marks for which `is_wanted` is false. Takes time proportional to the
    /// size of the set.
    pub fn retain(
        &mut self,
        mut is_wanted: impl FnMut(&PlacedMark<T>) -> bool,
    ) -> Vec<PlacedMark<T>> {
        let (kept, removed): (Vec<_>, Vec<_>) =
            self.all().into_iter().partition(|placed| is_wanted(placed));
        if !removed.is_empty() {
            let mut last = 0;
            let entries = kept.into_iter().map(|placed| {
                let gap = placed.span.start.0 - last;
                last = placed.span.start.0;
                SpanEntry {
                    gap,
                    len: placed.span.len(),
                    mark: placed.mark,
                }
            });
            self.entries = SumTree::from_iter(entries, ());
        }
        removed
    }

    fn apply(&mut self, events: Vec<(usize, SpanEvent<T::Rank>)>) {
        let entries = std::mem::replace(&mut self.entries, SumTree::new(()));
        let mut cursor = entries.cursor::<SpanExtent>(());
        cursor.next();
        let mut builder = SpanSetBuilder::new();
        let mut shift = 0;
        for (at, event) in events {
            builder.copy_before(&mut cursor, at, shift);
            match event {
                SpanEvent::ShiftTo(next) => shift = next,
                SpanEvent::Remove(rank) => {
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

impl<T> PlacedMark<T> {
    fn shift(&mut self, by: isize) {
        self.span.start.0 = self.span.start.0.saturating_add_signed(by);
        self.span.end.0 = self.span.end.0.saturating_add_signed(by);
    }
}

fn sort<T: SpanMark>(marks: &mut [PlacedMark<T>]) {
    marks.sort_by(|a, b| {
        let by_start = a.span.start.cmp(&b.span.start);
        by_start.then_with(|| a.mark.rank().cmp(&b.mark.rank()))
    });
}

/// Returns the entry at the cursor with its span in the text; `None` at the end of the set.
fn placed_at<T: SpanMark>(
    cursor: &Cursor<'_, '_, SpanEntry<T>, SpanExtent>,
) -> Option<PlacedMark<T>> {
    let entry = cursor.item()?;
    base::count_work(base::Work::Entries, 1);
    let start = ByteOffset(cursor.start().start + entry.gap);
    Some(PlacedMark {
        span: Span::new(start, start + entry.len),
        mark: entry.mark.clone(),
    })
}

/// The first entry that ends at `end` or behind it, and all that follow it.
fn split_at_end_from<T: SpanMark>(
    entries: &SumTree<SpanEntry<T>>,
    end: usize,
) -> Option<(PlacedMark<T>, SumTree<SpanEntry<T>>)> {
    let mut cursor = entries.cursor::<SpanExtent>(());
    cursor.seek(&EndFrom(end), sum_tree::Bias::Left);
    let placed = placed_at(&cursor)?;
    cursor.next();
    Some((placed, cursor.suffix()))
}

/// Builds a set from left to right from single marks and runs of an older set.
struct SpanSetBuilder<T: SpanMark> {
    entries: SumTree<SpanEntry<T>>,
    last: usize,
}

impl<T: SpanMark> SpanSetBuilder<T> {
    fn new() -> Self {
        Self {
            entries: SumTree::new(()),
            last: 0,
        }
    }

    fn push(&mut self, placed: PlacedMark<T>) {
        let start = placed.span.start.0.max(self.last);
        let entry = SpanEntry {
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
        cursor: &mut Cursor<'_, '_, SpanEntry<T>, SpanExtent>,
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
