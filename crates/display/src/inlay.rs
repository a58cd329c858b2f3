//! Inlays: text shown between the bytes of the buffer without being part of it.

use std::sync::Arc;

use base::{Bias, ByteOffset, Span};
use text::Snapshot;

use crate::marks::{Mark, Placed};

/// Names an inlay; chosen by whoever puts it in, unique in one map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InlayId(pub u64);

/// Text shown at an offset, such as a type hint or a ghost text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlay {
    /// Its name.
    pub id: InlayId,
    /// Where it stands.
    pub at: ByteOffset,
    /// `Left` stays before text typed at its place, `Right` moves behind it.
    pub bias: Bias,
    /// What it shows. Behind a line feed it goes on in a row of its own, and so does the text behind the inlay; in
    /// lines of many kilobytes that do not wrap it stays in one row. Empty text shows nothing.
    pub text: Arc<str>,
}

/// An inlay as it is kept: its place follows the text.
#[derive(Clone, Debug)]
pub(crate) struct InlayMark {
    pub(crate) id: InlayId,
    pub(crate) bias: Bias,
    pub(crate) text: Arc<str>,
    /// Counts up, so that inlays at one place stay in the order they were given.
    pub(crate) age: u64,
}

impl Mark for InlayMark {
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
    /// The inlay as a mark in `buffer`; `None` if it shows nothing.
    pub(crate) fn place(inlay: &Inlay, age: u64, buffer: &Snapshot) -> Option<Placed<Self>> {
        let text = shown_text(&inlay.text)?;
        let mark = Self {
            id: inlay.id,
            bias: inlay.bias,
            text,
            age,
        };
        Some(Placed {
            span: Span::at(buffer.clip(inlay.at, Bias::Left)),
            mark,
        })
    }
}

/// The text, with blanks for control characters other than tabs and line feeds.
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
