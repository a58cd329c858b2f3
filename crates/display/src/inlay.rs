//! Inlays: text shown between the bytes of the buffer without being part of it.

use std::sync::Arc;

use base::{Bias, ByteOffset, Span};
use text::{PlacedMark, Snapshot, SpanMark};

/// Id of an inlay; chosen by the caller, unique in one map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InlayId(pub u64);

/// Text shown at an offset that is not part of the buffer, such as a type hint or ghost text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlay {
    /// Id of the inlay.
    pub id: InlayId,
    /// Offset in the buffer.
    pub at: ByteOffset,
    /// `Left` stays before text typed at its offset, `Right` moves after it.
    pub bias: Bias,
    /// The text to show. A line feed starts a new row, in which the text after the inlay continues;
    /// in an unwrapped line of many kilobytes it does not. Empty text shows nothing.
    pub text: Arc<str>,
}

/// Stored inlay; its position follows the text.
#[derive(Clone, Debug)]
pub(crate) struct InlayMark {
    pub(crate) id: InlayId,
    pub(crate) bias: Bias,
    pub(crate) text: Arc<str>,
    /// Increasing number that keeps inlays at one offset in insertion order.
    pub(crate) age: u64,
}

impl SpanMark for InlayMark {
    type Rank = (Bias, u64);
    const STAYS_EMPTY: bool = true;

    fn rank(&self) -> Self::Rank {
        (self.bias, self.age)
    }

    fn biases(&self) -> (Bias, Bias) {
        (self.bias, self.bias)
    }
}

impl InlayMark {
    /// Creates the mark of the inlay in `buffer`; `None` if it shows nothing.
    pub(crate) fn to_mark(inlay: &Inlay, age: u64, buffer: &Snapshot) -> Option<PlacedMark<Self>> {
        let text = shown_text(&inlay.text)?;
        let mark = Self {
            id: inlay.id,
            bias: inlay.bias,
            text,
            age,
        };
        Some(PlacedMark {
            span: Span::at(buffer.clip(inlay.at, Bias::Left)),
            mark,
        })
    }
}

/// Returns the text with control characters other than tabs and line feeds replaced by blanks.
fn shown_text(text: &Arc<str>) -> Option<Arc<str>> {
    let is_odd = |ch: char| ch.is_control() && ch != '\t' && ch != '\n';
    if text.is_empty() {
        return None;
    }
    if !text.contains(is_odd) {
        return Some(text.clone());
    }
    let blank = |ch: char| if is_odd(ch) { ' ' } else { ch };
    Some(text.chars().map(blank).collect::<String>().into())
}
