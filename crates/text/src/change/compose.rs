//! Composes consecutive lists of splices.

use base::{ByteOffset, Span};
use smallvec::SmallVec;

use crate::change::Splice;

/// Composes `first` (text 0 to text 1) and `second` (text 1 to text 2) into splices from 0 to 2.
///
/// Splices that overlap or touch in text 1 are merged; text inserted and deleted again leaves no
/// trace.
pub(super) fn compose(first: &[Splice], second: &[Splice]) -> SmallVec<[Splice; 1]> {
    let mut result = SmallVec::new();
    let mut first = first.iter().peekable();
    let mut second = second.iter().peekable();
    // Length differences from the splices consumed so far: text 1 − text 0 and text 2 − text 1.
    let mut grown_first: isize = 0;
    let mut grown_second: isize = 0;
    loop {
        let next_first = first.peek().map(|splice| splice.new.start);
        let next_second = second.peek().map(|splice| splice.old.start);
        let Some(start) = earliest(next_first, next_second) else {
            return result;
        };
        let old_start = shift(start, -grown_first);
        let new_start = shift(start, grown_second);
        let mut end = start;
        loop {
            if let Some(splice) = first.next_if(|splice| splice.new.start <= end) {
                end = end.max(splice.new.end);
                grown_first += growth(splice);
            } else if let Some(splice) = second.next_if(|splice| splice.old.start <= end) {
                end = end.max(splice.old.end);
                grown_second += growth(splice);
            } else {
                break;
            }
        }
        let splice = Splice {
            old: Span::new(old_start, shift(end, -grown_first)),
            new: Span::new(new_start, shift(end, grown_second)),
        };
        if !splice.old.is_empty() || !splice.new.is_empty() {
            result.push(splice);
        }
    }
}

/// Composes any number of consecutive lists.
///
/// Composes pairwise by halves, so that many small changes cost no more than sorting them would.
pub(crate) fn compose_all(lists: &[impl AsRef<[Splice]>]) -> SmallVec<[Splice; 1]> {
    match lists {
        [] => SmallVec::new(),
        [list] => {
            let is_something = |splice: &&Splice| !splice.old.is_empty() || !splice.new.is_empty();
            list.as_ref().iter().filter(is_something).copied().collect()
        }
        _ => {
            let (first, second) = lists.split_at(lists.len() / 2);
            compose(&compose_all(first), &compose_all(second))
        }
    }
}

/// Returns the lower offset, or the only one; `None` if there is neither.
fn earliest(a: Option<ByteOffset>, b: Option<ByteOffset>) -> Option<ByteOffset> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn growth(splice: &Splice) -> isize {
    splice.new.len() as isize - splice.old.len() as isize
}

fn shift(offset: ByteOffset, by: isize) -> ByteOffset {
    ByteOffset(offset.0.saturating_add_signed(by))
}
