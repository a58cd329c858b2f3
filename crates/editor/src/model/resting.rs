//! Pauses in typing: work that reads a whole text waits for one.

use std::time::Duration;

use gpui_kit::Context;
use ui::RestTimer;

use super::{DocumentModel, ModelEvent};

/// Duration of a pause. Longer than the gap between two keys of a slow typist.
const REST: Duration = Duration::from_millis(300);

/// Returns the timer of a document.
pub(super) fn timer() -> RestTimer<DocumentModel> {
    RestTimer::new(REST, |it| &mut it.rest, DocumentModel::rested)
}

impl DocumentModel {
    /// Returns whether the text was edited a moment ago, so that `ModelEvent::Rested` follows.
    pub fn is_being_edited(&self) -> bool {
        self.rest.is_running()
    }

    fn rested(&mut self, cx: &mut Context<Self>) {
        self.parse_at_rest(cx);
        self.compare_at_rest(cx);
        cx.emit(ModelEvent::Rested);
    }
}
