//! Positions in a text: bytes, rows, columns, spans, and the revision they belong to.
//!
//! Invariant: a `ByteOffset` lies on a char boundary of the revision it names; whoever makes one
//! answers for that. Start at `Span`.

use std::ops::{Add, AddAssign, Range, Sub, SubAssign};

/// A count of UTF-8 bytes from the start of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteOffset(pub usize);

/// A line of a text, counted from 0 by its line feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row(pub u32);

/// A count of UTF-8 bytes from the start of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(pub u32);

/// A row and a byte column in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// The line.
    pub row: Row,
    /// Bytes from the start of the line.
    pub column: Column,
}

/// A row and a column in UTF-16 code units, as the language-server protocol counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utf16Point {
    /// The line.
    pub row: u32,
    /// UTF-16 code units from the start of the line.
    pub column: u32,
}

/// A state of one buffer. Grows by one with every change and never repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

/// To which side of an insertion at the very same place a position clings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bias {
    /// Stays before text inserted there.
    Left,
    /// Moves behind text inserted there.
    Right,
}

/// The bytes from `start` up to `end`, which is never before `start`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: ByteOffset,
    /// One behind the last byte.
    pub end: ByteOffset,
}

impl Span {
    /// The span between two offsets, in either order.
    pub fn new(a: ByteOffset, b: ByteOffset) -> Self {
        Self {
            start: a.min(b),
            end: a.max(b),
        }
    }

    /// The empty span at one offset.
    pub fn at(offset: ByteOffset) -> Self {
        Self {
            start: offset,
            end: offset,
        }
    }

    /// Its length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.end.0.saturating_sub(self.start.0)
    }

    /// Whether it covers nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the byte at `offset` belongs to it.
    pub fn contains(&self, offset: ByteOffset) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Whether `other` lies wholly inside.
    pub fn covers(&self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the two share at least one byte.
    pub fn overlaps(&self, other: Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The smallest span that covers both.
    pub fn union(&self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The same span as a range of plain numbers, for indexing.
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
    /// The point at `column` bytes into `row`.
    pub fn new(row: u32, column: u32) -> Self {
        Self {
            row: Row(row),
            column: Column(column),
        }
    }
}

impl Revision {
    /// The revision that follows.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Adds a count, takes a count away (never below zero), and measures the distance of two positions.
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
