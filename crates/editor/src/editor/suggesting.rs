//! The suggestion of a view: set from outside, mapped through every text change, and shown.
//!
//! Invariant: the shown suggestion applies to the current text; a change that diverges from it
//! removes it before the next paint.
//! Invariant: only its inlays are in the display map, and the caret never stops inside them. A
//! dropped suggestion stays visible while a mouse button is pressed, so that nothing moves under
//! the pointer, but cannot be accepted.
//! Start at `Editor::set_suggestion`; `Editor::refresh_suggestion` updates the display map.

use std::rc::Rc;
use std::sync::Arc;

use autocomplete::{AcceptGranularity, FollowResult, Suggestion, SuggestionId};
use base::{Bias, ByteOffset, Revision, Row};
use display::{DisplayMap, Inlay, InlayId};
use gpui_kit::{AppContext as _, Context, SharedString, Task, Window};
use text::{Change, Snapshot};

use super::{Editor, EditorEvent};
use crate::frame::{InlayLook, InlayLooks, RowHighlight, ShapedRow};
use crate::suggestion::{
    ColourJob, HighlightedText, InText, InsertedText, Presentation, SuggestionPlace, VisibleRange,
    present,
};

/// An event about the suggestion of a view, for the Tab engine: accepted, dismissed, requested, or
/// cycled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuggestionEvent {
    /// A part was accepted by this change. `Editor::last_taken` returns the resulting revision,
    /// even to observers that see the change before this event.
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

/// Direction for cycling through alternatives: next or previous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleDirection {
    /// To the next alternative.
    Next,
    /// To the previous alternative.
    Previous,
}

/// Condition for showing suggestions: always, or while Alt is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuggestionMode {
    /// Show them without a key.
    #[default]
    Eager,
    /// Show them while Alt is held.
    Subtle,
}

/// First id of suggestion inlays; they are numbered from here.
const FIRST_INLAY: u64 = 1 << 62;

/// Suggestion state of a view: the offered suggestion, how it is shown, and what was accepted of
/// it.
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

    /// Returns the form in which the suggestion is shown. Returns `None` if the suggestion is not
    /// shown.
    pub(crate) fn shown_presentation(&self) -> Option<&Presentation> {
        self.shown.as_ref()
    }

    /// Returns the form in which the suggestion is shown within the text. Returns `None` if the
    /// suggestion is not shown, or is shown only as a jump sign.
    pub(crate) fn in_text(&self) -> Option<&InText> {
        match &self.shown {
            Some(Presentation::InText(shown)) => Some(shown),
            _ => None,
        }
    }

    /// Records whether a frame with these rows shows any part of the suggestion.
    pub(crate) fn note_painted<'a>(
        &mut self,
        mut rows: impl Iterator<Item = &'a ShapedRow>,
        revision: Revision,
    ) {
        let is_put_in = |row: &ShapedRow| {
            let mut parts = row.inlays.iter();
            parts.any(|part| part.id.0 >= FIRST_INLAY && part.cells > 0)
        };
        let is_seen = match &self.shown {
            Some(Presentation::InText(shown)) => {
                let goes = !shown.struck.is_empty() || !shown.gone_rows.is_empty();
                goes || rows.any(is_put_in)
            }
            Some(Presentation::Jump(_) | Presentation::Portal) => true,
            None => false,
        };
        if let Some(offered) = self.offered.as_ref().filter(|_| is_seen) {
            self.last_painted = Some((offered.id, revision));
        }
    }

    /// Returns whether the display map contains the shown inlays unchanged.
    fn inlays_are_current(&self, map: &DisplayMap) -> bool {
        let pieces = self.in_text().map_or(&[][..], |shown| &shown.pieces);
        let wanted = self.inlays.iter().zip(pieces);
        let wanted = wanted.map(|(id, piece)| (*id, piece.at));
        pieces.len() == self.inlays.len() && self.own_inlays(map).into_iter().eq(wanted)
    }

    /// Returns the suggestion's inlays in the display map and their offsets.
    fn own_inlays(&self, map: &DisplayMap) -> Vec<(InlayId, ByteOffset)> {
        if self.inlays.is_empty() {
            return Vec::new();
        }
        let mut inlays = map.inlay_offsets();
        inlays.retain(|(id, _)| id.0 >= FIRST_INLAY);
        inlays
    }

    /// Sets the styles of the inlays that show `pieces`.
    fn set_looks(&mut self, pieces: &[InsertedText]) {
        let looks = self.inlays.iter().zip(pieces).map(|(id, piece)| {
            let colours = self.colours_of(&piece.text).map(|(colours, _)| colours);
            let look = InlayLook {
                look: piece.look,
                colours,
            };
            (*id, look)
        });
        self.looks = Rc::new(looks.collect());
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
        let suggestion = suggestion.and_then(|suggestion| updated(self, suggestion, cx));
        let is_same =
            |known: &Suggestion| suggestion.as_ref().is_some_and(|new| new.id == known.id);
        if !self.suggestion.offered.as_ref().is_some_and(is_same) {
            self.suggestion.forget();
        }
        if suggestion.as_ref().is_some_and(|it| it.file.is_none()) {
            self.yield_completions();
        }
        self.suggestion.offered = suggestion;
        self.suggestion.invalidate();
        self.refresh_suggestion(cx);
        cx.notify();
    }

    /// Returns the current suggestion, visible or hidden, mapped to the current text. Returns
    /// `None` if the view has no suggestion.
    pub fn suggestion(&self) -> Option<&Suggestion> {
        self.suggestion.offered.as_ref()
    }

    /// Returns whether any part of the suggestion is visible: text, a change, or a jump sign.
    pub fn shows_suggestion(&self) -> bool {
        self.suggestion.offered.is_some() && self.suggestion.shown.is_some()
    }

    /// Sets a short note beside the current suggestion, such as `2 of 5`. Removed with the
    /// suggestion.
    pub fn set_suggestion_note(&mut self, note: Option<SharedString>, cx: &mut Context<Self>) {
        self.suggestion.note = note;
        cx.notify();
    }

    /// Sets the location of the current suggestion, if it is in another file. Removed with the
    /// suggestion.
    pub fn set_suggestion_place(&mut self, place: Option<SuggestionPlace>, cx: &mut Context<Self>) {
        self.suggestion.place = place;
        cx.notify();
    }

    /// Sets the condition for showing suggestions, and applies it to the current suggestion.
    pub fn set_suggestion_mode(&mut self, mode: SuggestionMode, cx: &mut Context<Self>) {
        self.suggestion.mode = mode;
        self.suggestion.invalidate();
        self.refresh_suggestion(cx);
        cx.notify();
    }

    /// Returns the revision created by the last accepted part, and the amount that was accepted. A
    /// text change that ends at this revision is the acceptance of a suggestion. Returns `None`
    /// before the first acceptance.
    pub fn last_taken(&self) -> Option<(Revision, AcceptGranularity)> {
        self.suggestion.last_taken
    }

    /// Returns the suggestion painted last and the revision of its text. Only a painted suggestion
    /// was visible to the user. Returns `None` before any suggestion is painted.
    pub fn last_painted(&self) -> Option<(SuggestionId, Revision)> {
        self.suggestion.last_painted
    }

    /// Records that the caret entered from another file at the start of the suggestion: Tab accepts
    /// it, as after a jump.
    pub fn note_entered(&mut self, cx: &mut Context<Self>) {
        let offered = self.suggestion.offered.as_ref();
        let here = offered.filter(|offered| offered.file.is_none());
        self.suggestion.jumped = here.map(|offered| (offered.id, offered.start()));
        cx.notify();
    }

    /// Rebuilds the form in which the suggestion is shown, and updates the inlays, if text, carets
    /// or visible rows changed. Otherwise returns at once.
    pub(crate) fn refresh_suggestion(&mut self, cx: &mut Context<Self>) {
        if self.suggestion.offered.is_none() && self.suggestion.shown.is_none() {
            return;
        }
        // While a mouse button is pressed, nothing may move under it unless the text changes.
        if self.mouse.drag.is_some() && self.suggestion.shown_at == Some(self.snapshot.revision()) {
            return self.suggestion.invalidate();
        }
        let sight = visible_range(self);
        if self.suggestion.made_for == Some(sight) {
            return;
        }
        self.suggestion.made_for = Some(sight);
        let shown = presentation(self, sight, cx);
        self.suggestion.shown_at = Some(self.snapshot.revision());
        if shown == self.suggestion.shown && self.suggestion.inlays_are_current(&self.map) {
            return;
        }
        self.suggestion.shown = shown;
        put_inlays(self, cx);
        ask_for_colours(self, cx);
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
}

/// Maps the suggestion to the current text; `None` if it does not apply.
fn updated(
    editor: &Editor,
    mut suggestion: Suggestion,
    cx: &Context<Editor>,
) -> Option<Suggestion> {
    let document = editor.model.read(cx).document();
    if suggestion.file.is_some() && suggestion.file.as_ref() == document.path() {
        suggestion.file = None;
    }
    if suggestion.file.is_some() {
        return Some(suggestion);
    }
    if suggestion.revision != editor.snapshot.revision() {
        let change = document.buffer().changes_since(suggestion.revision)?;
        let result = suggestion.follow(&change, &editor.snapshot);
        return matches!(result, FollowResult::Moved | FollowResult::Consumed)
            .then_some(suggestion);
    }
    suggestion
        .applies_to(&editor.snapshot)
        .then_some(suggestion)
}

/// Records whether the key for subtle suggestions is held.
pub(crate) fn note_held(editor: &mut Editor, is_held: bool, cx: &mut Context<Editor>) {
    if editor.suggestion.is_held != is_held {
        editor.suggestion.is_held = is_held;
        if editor.suggestion.mode == SuggestionMode::Subtle && editor.suggestion.offered.is_some() {
            editor.suggestion.invalidate();
            editor.refresh_suggestion(cx);
            cx.notify();
        }
    }
}

/// Returns how the offered suggestion is drawn within the visible range. Returns `None` if none is
/// offered, it does not apply to the current text, a blocker forbids suggestions, the completion list
/// is shown, or the mode is subtle and its key is not held.
fn presentation(
    editor: &Editor,
    sight: VisibleRange,
    cx: &Context<Editor>,
) -> Option<Presentation> {
    let suggesting = &editor.suggestion;
    let suggestion = suggesting.offered.as_ref()?;
    let is_hidden = suggesting.mode == SuggestionMode::Subtle && !suggesting.is_held;
    let is_current = suggestion.file.is_some()
        || suggestion.revision == editor.snapshot.revision()
            && suggestion.applies_to(&editor.snapshot);
    let is_blocked = editor.shows_completions() || editor.suggestion_blocker(cx).is_some();
    if is_hidden || !is_current || is_blocked {
        return None;
    }
    Some(present(
        suggestion,
        &editor.snapshot,
        &editor.selections,
        sight,
    ))
}

fn visible_range(editor: &Editor) -> VisibleRange {
    VisibleRange {
        rows: editor.rows_fully_in_sight(),
        hides_start: hides_suggestion(editor),
    }
}

/// Returns whether a fold or the window edge hides the start of the suggestion although its row
/// is visible.
fn hides_suggestion(editor: &Editor) -> bool {
    let here = editor
        .suggestion
        .offered
        .as_ref()
        .filter(|offered| offered.file.is_none());
    let Some(start) = here.map(Suggestion::start) else {
        return false;
    };
    let fold = editor.display.fold_containing(start);
    if fold.is_some_and(|fold| fold.start < start) {
        return true;
    }
    let is_unwrapped = editor.map.options().wrap.is_none();
    let Some(geometry) = editor.geometry.as_ref().filter(|_| is_unwrapped) else {
        return false;
    };
    // A suggestion at the caret is visible, or will be.
    if start == editor.selections.primary().head || start > editor.snapshot.len() {
        return false;
    }
    let cell = editor.display.to_display(start, Bias::Left).cell;
    let x = f64::from(cell) * f64::from(geometry.advance) - editor.scroll.x;
    let width = f64::from(f32::from(geometry.text.size.width));
    !(0.0..width).contains(&x)
}

fn put_inlays(editor: &mut Editor, cx: &mut Context<Editor>) {
    let places = editor.suggestion.own_inlays(&editor.map);
    let gone = std::mem::take(&mut editor.suggestion.inlays);
    let pieces = editor
        .suggestion
        .in_text()
        .map(|shown| shown.pieces.clone());
    let pieces = pieces.unwrap_or_default();
    if gone.is_empty() && pieces.is_empty() {
        return;
    }
    let places = places.iter().map(|(_, at)| *at);
    let places = places.chain(pieces.iter().map(|piece| piece.at));
    let touched: Vec<Row> = places.map(|at| editor.snapshot.point_at(at).row).collect();
    let ids = (FIRST_INLAY..).map(InlayId);
    let inlays = ids.zip(&pieces).map(|(id, piece)| Inlay {
        id,
        at: piece.at,
        bias: Bias::Right,
        text: piece.text.clone(),
    });
    let inlays: Vec<Inlay> = inlays.collect();
    editor.suggestion.inlays = inlays.iter().map(|inlay| inlay.id).collect();
    editor.map.splice_inlays(&gone, inlays);
    editor.display = editor.map.snapshot();
    editor.suggestion.set_looks(&pieces);
    touched
        .iter()
        .for_each(|row| editor.rows.forget_shapes_of(*row));
    if editor.map.is_wrapping() {
        editor.wrap_in_background(cx);
    }
}

/// Computes missing highlights of inserted text.
fn ask_for_colours(editor: &mut Editor, cx: &mut Context<Editor>) {
    let suggesting = &editor.suggestion;
    let (Some(suggestion), Some(shown)) = (&suggesting.offered, suggesting.in_text()) else {
        return;
    };
    let is_known = |piece: &InsertedText| {
        let known = suggesting.colours_of(&piece.text);
        known.is_some_and(|(_, bytes)| bytes == piece.text.len())
    };
    let model = editor.model.read(cx);
    let Some(language) = model.language() else {
        return;
    };
    if shown.pieces.iter().all(is_known) {
        return;
    }
    let id = suggestion.id;
    let job = ColourJob::new(
        language,
        (editor.snapshot.clone(), model.syntax().cloned()),
        suggestion.clone(),
        shown.pieces.clone(),
    );
    let found = cx.background_spawn(async move { job.run() });
    editor.suggestion.colour_task = Some(cx.spawn(async move |this, cx| {
        let found = found.await;
        // The view may have been closed.
        this.update(cx, |editor, cx| take_colours(editor, id, found, cx))
            .ok();
    }));
}

fn take_colours(
    editor: &mut Editor,
    id: SuggestionId,
    found: Vec<HighlightedText>,
    cx: &mut Context<Editor>,
) {
    if editor.suggestion.offered.as_ref().map(|offered| offered.id) != Some(id) {
        return;
    }
    editor.suggestion.coloured = found;
    let pieces = editor
        .suggestion
        .in_text()
        .map(|shown| shown.pieces.clone())
        .unwrap_or_default();
    // Text typed in the meantime is in the buffer, but the inlays may not be updated yet.
    if pieces.len() != editor.suggestion.inlays.len() {
        return;
    }
    editor.suggestion.set_looks(&pieces);
    for piece in &pieces {
        let at = piece.at.min(editor.snapshot.len());
        editor
            .rows
            .forget_shapes_of(editor.snapshot.point_at(at).row);
    }
    cx.notify();
}

/// Handler of an action: dismisses the shown suggestion. If no suggestion is shown, passes the key
/// on to other handlers.
pub(crate) fn dismiss_suggestion(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let shown = editor
        .suggestion
        .offered
        .as_ref()
        .filter(|_| editor.shows_suggestion());
    let Some(id) = shown.map(|suggestion| suggestion.id) else {
        return cx.propagate();
    };
    editor.set_suggestion(None, cx);
    cx.emit(EditorEvent::Suggestion(SuggestionEvent::Dismissed(id)));
}

/// Handler of an action: emits an event that requests a suggestion from the Tab engine.
pub(crate) fn request_suggestion(_: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    cx.emit(EditorEvent::Suggestion(SuggestionEvent::Requested));
}

/// Handler of an action: emits an event that requests the next alternative.
pub(crate) fn next_suggestion(_: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    cx.emit(EditorEvent::Suggestion(SuggestionEvent::Cycled(
        CycleDirection::Next,
    )));
}

/// Handler of an action: emits an event that requests the previous alternative.
pub(crate) fn previous_suggestion(_: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    cx.emit(EditorEvent::Suggestion(SuggestionEvent::Cycled(
        CycleDirection::Previous,
    )));
}
