//! Text positions: bytes, rows, columns, spans, and the revisions they refer to.
//!
//! Invariant: a `ByteOffset` lies on a char boundary of its revision; its creator guarantees that.
//! Start at `Span`.

use std::ops::{Add, AddAssign, Range, Sub, SubAssign};

/// A position in a text, as the count of UTF-8 bytes before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteOffset(pub usize);

/// A line of a text, counted from 0; lines are separated by line feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row(pub u32);

/// A count of UTF-8 bytes from the start of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(pub u32);

/// A position in a text as row and byte column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Row of the position.
    pub row: Row,
    /// Bytes from the start of the row.
    pub column: Column,
}

/// A position as row and UTF-16 column, as in the Language Server Protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utf16Point {
    /// Row of the position.
    pub row: u32,
    /// UTF-16 code units from the start of the row.
    pub column: u32,
}

/// A state of one buffer. Increases by one with every change and never repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

/// The side to which a position sticks when text is inserted at its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bias {
    /// Stays before the inserted text.
    Left,
    /// Moves after the inserted text.
    Right,
}

/// The byte range from `start` to `end` of a text, where `start <= end`; empty for a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: ByteOffset,
    /// Offset after the last byte.
    pub end: ByteOffset,
}

impl Span {
    /// Returns the span between two offsets, in either order.
    pub fn new(a: ByteOffset, b: ByteOffset) -> Self {
        Self {
            start: a.min(b),
            end: a.max(b),
        }
    }

    /// Returns the empty span at an offset.
    pub fn at(offset: ByteOffset) -> Self {
        Self {
            start: offset,
            end: offset,
        }
    }

    /// Returns the length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.end.0.saturating_sub(self.start.0)
    }

    /// Returns whether the span is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the span contains the byte at `offset`; never for its end.
    pub fn contains(&self, offset: ByteOffset) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Returns whether `other` lies inside the span or is equal to it.
    pub fn covers(&self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Returns whether the spans share at least one byte.
    pub fn overlaps(&self, other: Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Returns the smallest span that covers both, with the gap between them.
    pub fn union(&self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Returns the span as a plain range, for indexing.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start.0..self.end.0
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Span::new(ByteOffset(range.start), ByteOffset(range.end))
    }
}

impl Point {
    /// Returns the point at byte `column` of `row`, both counted from 0.
    pub fn new(row: u32, column: u32) -> Self {
        Self {
            row: Row(row),
            column: Column(column),
        }
    }
}

impl Revision {
    /// Returns the following revision.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Implements adding a count, subtracting a count (saturating at zero), and the distance of two
/// positions.
macro_rules! arithmetic {
    ($name:ident, $inner:ty) => {
        impl Add<$inner> for $name {
            type Output = Self;
            fn add(self, count: $inner) -> Self {
                Self(self.0 + count)
            }
        }
        impl AddAssign<$inner> for $name {
            fn add_assign(&mut self, count: $inner) {
                self.0 += count;
            }
        }
        impl Sub<$inner> for $name {
            type Output = Self;
            fn sub(self, count: $inner) -> Self {
                Self(self.0.saturating_sub(count))
            }
        }
        impl SubAssign<$inner> for $name {
            fn sub_assign(&mut self, count: $inner) {
                self.0 = self.0.saturating_sub(count);
            }
        }
        impl Sub for $name {
            type Output = $inner;
            fn sub(self, other: Self) -> $inner {
                self.0.saturating_sub(other.0)
            }
        }
        impl From<$inner> for $name {
            fn from(count: $inner) -> Self {
                Self(count)
            }
        }
    };
}

arithmetic!(ByteOffset, usize);
arithmetic!(Row, u32);
arithmetic!(Column, u32);
