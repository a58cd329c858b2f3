//! Inlays: text shown between the bytes of the buffer without being part of it.

use std::sync::Arc;

use base::{Bias, ByteOffset};

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
    /// What it shows: its first line only, the rest is dropped. Empty text shows nothing.
    pub text: Arc<str>,
}
