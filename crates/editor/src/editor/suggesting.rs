//! The suggestion of a view: set from outside, mapped through every text change, and shown.
//!
//! Invariant: the shown suggestion applies to the current text; a change that diverges from it
//! removes it before the next paint.
//! Invariant: only its inlays are in the display map, and the caret never stops inside them. A
//! dropped suggestion stays visible while a mouse button is pressed, so that nothing moves under
//! the pointer, but cannot be accepted.
//! Start at `Editor::set_suggestion`; `Editor::refresh_suggestion` updates the display map.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use autocomplete::{AcceptGranularity, FollowResult, Suggestion, SuggestionId};
use base::{Bias, ByteOffset, Revision, Row};
use display::{Inlay, InlayId};
use gpui_kit::{AppContext as _, Context, SharedString, Task, Window};
use text::{Change, Snapshot};

use super::{Editor, EditorEvent};
use crate::element::{RowHighlight, VisibleRow};
use crate::suggestion::{
    ColourJob, HighlightedText, InText, InsertedText, Presentation, SuggestionPlace,
    SuggestionStyle, VisibleRange, present,
};

/// An event about a suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuggestionEvent {
    /// A part was accepted by this change. `Editor::last_taken` names the resulting revision, also
    /// for observers that see the change before this event.
    Taken {
        /// Id of the suggestion.
        id: SuggestionId,
        /// The part that was accepted.
        part: AcceptGranularity,
        /// Change of the text.
        change: Change,
    },
    /// The user dismissed the suggestion.
    Dismissed(SuggestionId),
    /// The user requested a suggestion.
    Requested,
    /// The user requested an alternative at the same location.
    Cycled(CycleDirection),
    /// The user requested candidate words at the caret, to pass to `Editor::write_words`.
    WordsWanted(CycleDirection),
    /// The caret jumped to the start of the suggestion.
    Jumped(SuggestionId),
    /// The file of the suggestion must be opened, to show the suggestion there.
    Entered(SuggestionId),
}

/// Direction for cycling through alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleDirection {
    /// To the next alternative.
    Next,
    /// To the previous alternative.
    Previous,
}

/// Condition for showing suggestions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuggestionMode {
    /// Show them without a key.
    #[default]
    Eager,
    /// Show them while Alt is held.
    Subtle,
}

/// Style of one inlay.
#[derive(Clone, Debug)]
pub(crate) struct InlayLook {
    pub(crate) look: SuggestionStyle,
    /// Highlights of its text, with offsets into it.
    pub(crate) colours: Option<Arc<[RowHighlight]>>,
}

/// Styles of the inlays that have one.
pub(crate) type InlayLooks = Rc<HashMap<InlayId, InlayLook>>;

/// First id of suggestion inlays; they are numbered from here.
const FIRST_INLAY: u64 = 1 << 62;

/// Suggestion state of a view.
#[derive(Default)]
pub(crate) struct SuggestionState {
    pub(super) offered: Option<Suggestion>,
    mode: SuggestionMode,
    /// Whether the key that shows subtle suggestions is held.
    pub(super) is_held: bool,
    pub(crate) note: Option<SharedString>,
    pub(crate) place: Option<SuggestionPlace>,
    /// Target of the last jump and its suggestion.
    pub(super) jumped: Option<(SuggestionId, ByteOffset)>,
    /// Revision created by the last accepted part, and the amount that was accepted.
    pub(super) last_taken: Option<(Revision, AcceptGranularity)>,
    /// The suggestion painted last, and the revision of its text.
    last_painted: Option<(SuggestionId, Revision)>,
    shown: Option<Presentation>,
    /// Revision that `shown` was built for.
    shown_at: Option<Revision>,
    /// Inlays in the display map.
    inlays: Vec<InlayId>,
    pub(crate) looks: InlayLooks,
    /// Visible range that `shown` was built for; `None` if it must be rebuilt.
    made_for: Option<VisibleRange>,
    /// Last computed highlights; they may belong to the previous suggestion, which often has the
    /// same prefix.
    coloured: Vec<HighlightedText>,
    colour_task: Option<Task<()>>,
}

impl SuggestionState {
    /// Maps the suggestion through a change of the text.
    pub(super) fn follow(&mut self, change: &Change, after: &Snapshot) {
        self.made_for = None;
        self.jumped = None;
        let Some(offered) = &mut self.offered else {
            return;
        };
        // Typing here means that the user does not go to another file.
        let is_over = offered.file.is_some()
            || matches!(
                offered.follow(change, after),
                FollowResult::Completed | FollowResult::Dropped
            );
        if is_over {
            self.forget();
        }
    }

    /// Drops the suggestion and its presentation.
    pub(super) fn forget(&mut self) {
        self.offered = None;
        self.jumped = None;
        self.note = None;
        self.place = None;
        self.made_for = None;
        self.colour_task = None;
    }

    /// Resets the state when the edits leading to the text are unknown and the display map is new.
    pub(super) fn reset(&mut self) {
        self.forget();
        self.shown = None;
        self.inlays.clear();
        self.looks = InlayLooks::default();
    }

    /// Marks the presentation for rebuilding.
    pub(super) fn invalidate(&mut self) {
        self.made_for = None;
    }

    /// Returns whether a jump for the current suggestion brought the caret here.
    pub(super) fn has_jumped_to(&self, caret: ByteOffset) -> bool {
        let id = self.offered.as_ref().map(|offered| offered.id);
        self.jumped
            .is_some_and(|(of, at)| Some(of) == id && at == caret)
    }

    /// Returns the presentation that is shown.
    pub(crate) fn shown_presentation(&self) -> Option<&Presentation> {
        self.shown.as_ref()
    }

    /// Returns the part of the presentation inside the text.
    pub(crate) fn in_text(&self) -> Option<&InText> {
        match &self.shown {
            Some(Presentation::InText(shown)) => Some(shown),
            _ => None,
        }
    }

    /// Returns the known highlights of a text, and the number of bytes they cover.
    fn colours_of(&self, text: &str) -> Option<(Arc<[RowHighlight]>, usize)> {
        let known = self.coloured.iter().filter_map(|known| known.of_text(text));
        known.max_by_key(|(_, bytes)| *bytes)
    }
}

impl Editor {
    /// Replaces the suggestion, or clears it. A suggestion for an older revision is mapped to the
    /// current text; if it does not apply there, it is not shown and `suggestion` returns `None`.
    pub fn set_suggestion(&mut self, suggestion: Option<Suggestion>, cx: &mut Context<Self>) {
        self.sync(cx);
        let suggestion = suggestion.and_then(|suggestion| self.updated(suggestion, cx));
        let is_same =
            |known: &Suggestion| suggestion.as_ref().is_some_and(|new| new.id == known.id);
        if !self.suggesting.offered.as_ref().is_some_and(is_same) {
            self.suggesting.forget();
        }
        self.suggesting.offered = suggestion;
        self.suggesting.invalidate();
        self.refresh_suggestion(cx);
        cx.notify();
    }

    /// Returns the current suggestion, mapped to the current text, whether it is visible or not.
    pub fn suggestion(&self) -> Option<&Suggestion> {
        self.suggesting.offered.as_ref()
    }

    /// Returns whether any part of the suggestion is visible: text, a change, or a jump sign.
    pub fn shows_suggestion(&self) -> bool {
        self.suggesting.offered.is_some() && self.suggesting.shown.is_some()
    }

    /// Sets a short note beside the current suggestion, such as `2 of 5`. Removed with the
    /// suggestion.
    pub fn set_suggestion_note(&mut self, note: Option<SharedString>, cx: &mut Context<Self>) {
        self.suggesting.note = note;
        cx.notify();
    }

    /// Sets the location of the current suggestion, if it is in another file. Removed with the
    /// suggestion.
    pub fn set_suggestion_place(&mut self, place: Option<SuggestionPlace>, cx: &mut Context<Self>) {
        self.suggesting.place = place;
        cx.notify();
    }

    /// Sets the condition for showing suggestions.
    pub fn set_suggestion_mode(&mut self, mode: SuggestionMode, cx: &mut Context<Self>) {
        self.suggesting.mode = mode;
        self.suggesting.invalidate();
        self.refresh_suggestion(cx);
        cx.notify();
    }

    /// Returns the revision created by the last accepted part, and the amount that was accepted. A
    /// change ending there accepted a suggestion.
    pub fn last_taken(&self) -> Option<(Revision, AcceptGranularity)> {
        self.suggesting.last_taken
    }

    /// Returns the suggestion painted last and the revision of its text. The user has never seen a
    /// suggestion that was not painted.
    pub fn last_painted(&self) -> Option<(SuggestionId, Revision)> {
        self.suggesting.last_painted
    }

    /// Records whether the laid-out frame shows any part of the suggestion.
    pub(crate) fn note_painted(&mut self, rows: &[VisibleRow]) {
        let is_put_in = |row: &VisibleRow| {
            let mut parts = row.shape.inlays.iter();
            parts.any(|part| part.id.0 >= FIRST_INLAY && part.cells > 0)
        };
        let is_seen = match &self.suggesting.shown {
            Some(Presentation::InText(shown)) => {
                let goes = !shown.struck.is_empty() || !shown.gone_rows.is_empty();
                goes || rows.iter().any(is_put_in)
            }
            Some(Presentation::Jump(_) | Presentation::Portal) => true,
            None => false,
        };
        if let Some(offered) = self.suggesting.offered.as_ref().filter(|_| is_seen) {
            self.suggesting.last_painted = Some((offered.id, self.snapshot.revision()));
        }
    }

    /// Records that the caret entered from another file at the start of the suggestion: Tab accepts
    /// it, as after a jump.
    pub fn note_entered(&mut self, cx: &mut Context<Self>) {
        let offered = self.suggesting.offered.as_ref();
        let here = offered.filter(|offered| offered.file.is_none());
        self.suggesting.jumped = here.map(|offered| (offered.id, offered.start()));
        cx.notify();
    }

    /// Maps the suggestion to the current text; `None` if it does not apply.
    fn updated(&self, mut suggestion: Suggestion, cx: &Context<Self>) -> Option<Suggestion> {
        let document = self.model.read(cx).document();
        if suggestion.file.is_some() && suggestion.file.as_ref() == document.path() {
            suggestion.file = None;
        }
        if suggestion.file.is_some() {
            return Some(suggestion);
        }
        if suggestion.revision != self.snapshot.revision() {
            let change = document.buffer().changes_since(suggestion.revision)?;
            let fate = suggestion.follow(&change, &self.snapshot);
            return matches!(fate, FollowResult::Moved | FollowResult::Consumed)
                .then_some(suggestion);
        }
        suggestion.applies_to(&self.snapshot).then_some(suggestion)
    }

    /// Records whether the key for subtle suggestions is held.
    pub(crate) fn note_held(&mut self, is_held: bool, cx: &mut Context<Self>) {
        if self.suggesting.is_held != is_held {
            self.suggesting.is_held = is_held;
            if self.suggesting.mode == SuggestionMode::Subtle && self.suggesting.offered.is_some() {
                self.suggesting.invalidate();
                self.refresh_suggestion(cx);
                cx.notify();
            }
        }
    }

    /// Rebuilds the presentation if necessary and updates the display map.
    pub(crate) fn refresh_suggestion(&mut self, cx: &mut Context<Self>) {
        if self.suggesting.offered.is_none() && self.suggesting.shown.is_none() {
            return;
        }
        // While a mouse button is pressed, nothing may move under it unless the text changes.
        if self.drag.is_some() && self.suggesting.shown_at == Some(self.snapshot.revision()) {
            return self.suggesting.invalidate();
        }
        let sight = self.visible_range();
        if self.suggesting.made_for == Some(sight) {
            return;
        }
        self.suggesting.made_for = Some(sight);
        let shown = self.presentation(sight, cx);
        self.suggesting.shown_at = Some(self.snapshot.revision());
        if shown == self.suggesting.shown && self.inlays_are_right() {
            return;
        }
        self.suggesting.shown = shown;
        self.put_inlays(cx);
        self.ask_for_colours(cx);
    }

    fn presentation(&self, sight: VisibleRange, cx: &Context<Self>) -> Option<Presentation> {
        let suggesting = &self.suggesting;
        let suggestion = suggesting.offered.as_ref()?;
        let is_hidden = suggesting.mode == SuggestionMode::Subtle && !suggesting.is_held;
        let is_current = suggestion.file.is_some()
            || suggestion.revision == self.snapshot.revision()
                && suggestion.applies_to(&self.snapshot);
        if is_hidden || !is_current || self.suggestion_blocker(cx).is_some() {
            return None;
        }
        Some(present(suggestion, &self.snapshot, &self.selections, sight))
    }

    fn visible_range(&self) -> VisibleRange {
        VisibleRange {
            rows: self.rows_fully_in_sight(),
            hides_start: self.hides_suggestion(),
        }
    }

    /// Returns whether a fold or the window edge hides the start of the suggestion although its row
    /// is visible.
    fn hides_suggestion(&self) -> bool {
        let here = self
            .suggesting
            .offered
            .as_ref()
            .filter(|offered| offered.file.is_none());
        let Some(start) = here.map(Suggestion::start) else {
            return false;
        };
        let fold = self.display.fold_containing(start);
        if fold.is_some_and(|fold| fold.start < start) {
            return true;
        }
        let is_unwrapped = self.map.options().wrap.is_none();
        let Some(geometry) = self.geometry.as_ref().filter(|_| is_unwrapped) else {
            return false;
        };
        // A suggestion at the caret is visible, or will be.
        if start == self.selections.primary().head || start > self.snapshot.len() {
            return false;
        }
        let cell = self.display.to_display(start, Bias::Left).cell;
        let x = f64::from(cell) * f64::from(geometry.advance) - self.scroll.x;
        let width = f64::from(f32::from(geometry.text.size.width));
        !(0.0..width).contains(&x)
    }

    /// Returns the fully visible rows, end exclusive; includes the row of the caret if it will be
    /// revealed.
    pub(super) fn rows_fully_in_sight(&self) -> (Row, Row) {
        let headers = self
            .geometry
            .as_ref()
            .map_or(0, |geometry| geometry.sticky_rows);
        let top = self.scroll.top(&self.display);
        let first = self.display.row_at_y(top + headers as f64 + 0.01);
        let last = self
            .display
            .row_at_y((top + self.viewport().rows - 0.99).max(top));
        let first = self.display.buffer_row(first).0;
        let last = self.display.buffer_row(last).0.max(first);
        let mut rows = (first, last + 1);
        if self.follow.is_some() {
            let caret = self.snapshot.point_at(self.selections.primary().head).row;
            rows = if caret < rows.0 || caret >= rows.1 {
                (caret, caret + 1)
            } else {
                rows
            };
        }
        rows
    }

    /// Returns whether the display map contains the shown inlays unchanged.
    fn inlays_are_right(&self) -> bool {
        let shown = self.suggesting.in_text();
        let pieces = shown.map_or(&[][..], |shown| &shown.pieces);
        let wanted = self.suggesting.inlays.iter().zip(pieces);
        let wanted = wanted.map(|(id, piece)| (*id, piece.at));
        pieces.len() == self.suggesting.inlays.len() && self.own_inlays().into_iter().eq(wanted)
    }

    /// Returns the suggestion's inlays in the display map and their offsets.
    fn own_inlays(&self) -> Vec<(InlayId, ByteOffset)> {
        if self.suggesting.inlays.is_empty() {
            return Vec::new();
        }
        let mut inlays = self.map.inlay_offsets();
        inlays.retain(|(id, _)| id.0 >= FIRST_INLAY);
        inlays
    }

    fn put_inlays(&mut self, cx: &mut Context<Self>) {
        let places = self.own_inlays();
        let gone = std::mem::take(&mut self.suggesting.inlays);
        let pieces = self.suggesting.in_text().map(|shown| shown.pieces.clone());
        let pieces = pieces.unwrap_or_default();
        if gone.is_empty() && pieces.is_empty() {
            return;
        }
        let places = places.iter().map(|(_, at)| *at);
        let places = places.chain(pieces.iter().map(|piece| piece.at));
        let touched: Vec<Row> = places.map(|at| self.snapshot.point_at(at).row).collect();
        let ids = (FIRST_INLAY..).map(InlayId);
        let inlays = ids.zip(&pieces).map(|(id, piece)| Inlay {
            id,
            at: piece.at,
            bias: Bias::Right,
            text: piece.text.clone(),
        });
        let inlays: Vec<Inlay> = inlays.collect();
        self.suggesting.inlays = inlays.iter().map(|inlay| inlay.id).collect();
        self.map.splice_inlays(&gone, inlays);
        self.display = self.map.snapshot();
        self.use_looks(&pieces);
        touched
            .iter()
            .for_each(|row| self.rows.forget_shapes_of(*row));
        if self.map.is_wrapping() {
            self.wrap_in_background(cx);
        }
    }

    fn use_looks(&mut self, pieces: &[InsertedText]) {
        let looks = self
            .suggesting
            .inlays
            .iter()
            .zip(pieces)
            .map(|(id, piece)| {
                let look = InlayLook {
                    look: piece.look,
                    colours: self
                        .suggesting
                        .colours_of(&piece.text)
                        .map(|(colours, _)| colours),
                };
                (*id, look)
            });
        self.suggesting.looks = Rc::new(looks.collect());
    }

    /// Computes missing highlights of inserted text.
    fn ask_for_colours(&mut self, cx: &mut Context<Self>) {
        let suggesting = &self.suggesting;
        let (Some(suggestion), Some(shown)) = (&suggesting.offered, suggesting.in_text()) else {
            return;
        };
        let is_known = |piece: &InsertedText| {
            let known = suggesting.colours_of(&piece.text);
            known.is_some_and(|(_, bytes)| bytes == piece.text.len())
        };
        let Some(language) = self.model.read(cx).language() else {
            return;
        };
        if shown.pieces.iter().all(is_known) {
            return;
        }
        let id = suggestion.id;
        let job = ColourJob::new(
            language,
            self.snapshot.clone(),
            suggestion.clone(),
            shown.pieces.clone(),
        );
        let found = cx.background_spawn(async move { job.run() });
        self.suggesting.colour_task = Some(cx.spawn(async move |this, cx| {
            let found = found.await;
            // The view may have been closed.
            this.update(cx, |editor, cx| editor.take_colours(id, found, cx))
                .ok();
        }));
    }

    fn take_colours(
        &mut self,
        id: SuggestionId,
        found: Vec<HighlightedText>,
        cx: &mut Context<Self>,
    ) {
        if self.suggesting.offered.as_ref().map(|offered| offered.id) != Some(id) {
            return;
        }
        self.suggesting.coloured = found;
        let pieces = self
            .suggesting
            .in_text()
            .map(|shown| shown.pieces.clone())
            .unwrap_or_default();
        // Text typed in the meantime is in the buffer, but the inlays may not be updated yet.
        if pieces.len() != self.suggesting.inlays.len() {
            return;
        }
        self.use_looks(&pieces);
        for piece in &pieces {
            let at = piece.at.min(self.snapshot.len());
            self.rows.forget_shapes_of(self.snapshot.point_at(at).row);
        }
        cx.notify();
    }

    pub(crate) fn dismiss_suggestion(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let shown = self
            .suggesting
            .offered
            .as_ref()
            .filter(|_| self.shows_suggestion());
        let Some(id) = shown.map(|suggestion| suggestion.id) else {
            return cx.propagate();
        };
        self.set_suggestion(None, cx);
        cx.emit(EditorEvent::Suggestion(SuggestionEvent::Dismissed(id)));
    }

    pub(crate) fn request_suggestion(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(EditorEvent::Suggestion(SuggestionEvent::Requested));
    }

    pub(crate) fn next_suggestion(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(EditorEvent::Suggestion(SuggestionEvent::Cycled(
            CycleDirection::Next,
        )));
    }

    pub(crate) fn previous_suggestion(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(EditorEvent::Suggestion(SuggestionEvent::Cycled(
            CycleDirection::Previous,
        )));
    }
}
