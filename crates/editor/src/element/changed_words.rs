//! Backgrounds of the words that a change under review added.

use gpui_kit::Hsla;

use super::layout::Decorator;
use super::ranges::{boxes, stretches};
use crate::editor::changed_words::words_in;

/// Corner radius of the backgrounds, in pixels.
const ROUND: f32 = 3.0;

impl Decorator<'_> {
    /// Adds the backgrounds of the words over those of their rows.
    pub(super) fn add_changed_words(&mut self, color: Hsla) {
        let (editor, layout) = (&*self.editor, &mut *self.layout);
        for span in words_in(editor, layout.span) {
            let found = stretches(span, layout.span, &layout.rows, &editor.display);
            let quads = boxes(&found, &layout.rows, &layout.geometry, color, ROUND);
            layout.grounds.extend(quads);
        }
    }
}
