//! Swatches before the colours that a text names, as inlays of the display map.
//!
//! Invariant: only colours in the window around the visible rows have inlays, so that their number does not grow with
//! the text.
//! Start at `show`.

use std::collections::{HashMap, HashSet};

use base::{Bias, ByteOffset, Row, Span};
use display::{Inlay, InlayId};
use gpui_kit::Context;
use lsp::ColorValue;
use text::Change;

use super::Editor;
use crate::model::map_window;

/// First id of the inlays of swatches; they are numbered from here. Those of inlay hints are higher.
const FIRST_INLAY: u64 = 1 << 60;
/// Text under a swatch.
const BLANK: &str = "  ";
/// Maximum number of swatches in the window.
const MAX_SWATCHES: usize = 2_000;

/// The swatches that a view shows.
#[derive(Default)]
pub(crate) struct ShownColors {
    /// The inlays in the display map.
    inlays: HashMap<InlayId, ColorValue>,
    /// Number of inlays made so far.
    made: u64,
    /// Window and number of the document's colours for which `inlays` was computed; `None` after a deletion.
    made_for: Option<(Option<Span>, u64)>,
}

impl ShownColors {
    /// Notes a change, which may delete colours.
    pub(super) fn follow(&mut self, change: &Change) {
        let deletes = change.splices.iter().any(|splice| !splice.old.is_empty());
        if deletes && !self.inlays.is_empty() {
            self.made_for = None;
        } else if let Some((Some(window), _)) = &mut self.made_for {
            *window = map_window(change, *window);
        }
    }

    /// Forgets the inlays when the display map is new.
    pub(super) fn reset(&mut self) {
        self.inlays.clear();
        self.made_for = None;
    }

    /// Returns the colour of an inlay; `None` if it shows no swatch.
    pub(crate) fn color(&self, id: InlayId) -> Option<ColorValue> {
        self.inlays.get(&id).copied()
    }
}

/// Makes the swatches in the display map those of the colours in `window`; none without a window. Takes constant time
/// unless colours were added or removed, or the window moved.
pub(super) fn show(editor: &mut Editor, window: Option<Span>, cx: &mut Context<Editor>) {
    let model = editor.model.read(cx);
    let made_for = (window, model.annotation_version::<ColorValue>());
    if editor.colors.made_for == Some(made_for) {
        return;
    }
    editor.colors.made_for = Some(made_for);
    let colors = window.map_or_else(Vec::new, |it| model.annotations_in::<ColorValue>(it));
    let colors = colors.into_iter().take(MAX_SWATCHES);
    let mut wanted: HashSet<(usize, [u8; 4])> =
        colors.map(|(span, color)| key(span.start, color)).collect();
    let mut gone = Vec::new();
    for (id, at) in editor.map.inlay_offsets() {
        if let Some(color) = editor.colors.color(id)
            && !wanted.remove(&key(at, color))
        {
            gone.push((id, at));
        }
    }
    if !gone.is_empty() || !wanted.is_empty() {
        put_inlays(editor, &gone, wanted, cx);
    }
}

fn key(at: ByteOffset, color: ColorValue) -> (usize, [u8; 4]) {
    (at.0, [color.red, color.green, color.blue, color.alpha])
}

fn put_inlays(
    editor: &mut Editor,
    gone: &[(InlayId, ByteOffset)],
    added: HashSet<(usize, [u8; 4])>,
    cx: &mut Context<Editor>,
) {
    let places = gone.iter().map(|(_, at)| *at);
    let places = places.chain(added.iter().map(|(at, _)| ByteOffset(*at)));
    let mut rows: Vec<Row> = places.map(|at| editor.snapshot.point_at(at).row).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut inlays = Vec::with_capacity(added.len());
    for (at, [red, green, blue, alpha]) in added {
        let id = InlayId(FIRST_INLAY + editor.colors.made);
        editor.colors.made += 1;
        inlays.push(Inlay {
            id,
            at: ByteOffset(at),
            // Text typed before the colour becomes part of it.
            bias: Bias::Left,
            text: BLANK.into(),
        });
        let color = ColorValue {
            red,
            green,
            blue,
            alpha,
        };
        editor.colors.inlays.insert(id, color);
    }
    let removed: Vec<InlayId> = gone.iter().map(|(id, _)| *id).collect();
    removed.iter().for_each(|id| {
        editor.colors.inlays.remove(id);
    });
    editor.map.splice_inlays(&removed, inlays);
    editor.display = editor.map.snapshot();
    rows.iter()
        .for_each(|row| editor.rows.forget_shapes_of(*row));
    if editor.map.is_wrapping() {
        editor.wrap_in_background(cx);
    }
    cx.notify();
}
