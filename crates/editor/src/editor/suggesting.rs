//! The suggestion of a view: handed in from outside, taken along by every change of the text, and shown.
//!
//! Invariant: what is shown was made from a suggestion that stands in the text of now; a change that the suggestion
//! did not foresee takes it out of sight before anything is painted.
//! Invariant: only its inlays are in the display map, and they are never places for a caret. One that is given up stays
//! to be seen while a button is pressed, so that nothing moves under the pointer; it cannot be taken.
//! Start at `Editor::set_suggestion`; `Editor::refresh_suggestion` brings into the display map what is to be seen.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use autocomplete::{Fate, Part, Suggestion, SuggestionId};
use base::{Bias, ByteOffset, Revision, Row};
use display::{Inlay, InlayId};
use gpui_kit::{AppContext as _, Context, SharedString, Task, Window};
use text::{Change, Snapshot};

use super::{Editor, EditorEvent};
use crate::element::{RowHighlight, VisibleRow};
use crate::suggestion::{
    ColourJob, Coloured, InText, Look, Piece, Presentation, Sight, SuggestionPlace, present,
};

/// What is heard about suggestions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuggestionEvent {
    /// A part of it was taken, by this change. `Editor::last_taken` names the revision it led to, also to those who hear
    /// of the change before they hear of this.
    Taken {
        /// Which one.
        id: SuggestionId,
        /// How much of it.
        part: Part,
        /// What that did.
        change: Change,
    },
    /// The person does not want it.
    Dismissed(SuggestionId),
    /// One is asked for by hand.
    Requested,
    /// Another one for the same place is wanted.
    Cycled(Cycle),
    /// Words are wanted that may stand at the caret, for `Editor::write_words`.
    WordsWanted(Cycle),
    /// The caret was brought to where it begins.
    Jumped(SuggestionId),
    /// The file it changes is to be opened, with the suggestion in it.
    Entered(SuggestionId),
}

/// Which of several suggestions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycle {
    /// The next one.
    Next,
    /// The one before.
    Previous,
}

/// When suggestions are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuggestionMode {
    /// As soon as there is one.
    #[default]
    Eager,
    /// While Alt is held.
    Subtle,
}

/// How the letters of one inlay look.
#[derive(Clone, Debug)]
pub(crate) struct InlayLook {
    pub(crate) look: Look,
    /// Offsets in its text.
    pub(crate) colours: Option<Arc<[RowHighlight]>>,
}

/// How inlays look, those that have a look of their own.
pub(crate) type InlayLooks = Rc<HashMap<InlayId, InlayLook>>;

/// The first name of our inlays; they are numbered from here.
const FIRST_INLAY: u64 = 1 << 62;

/// What a view knows of its suggestion.
#[derive(Default)]
pub(crate) struct Suggesting {
    pub(super) offered: Option<Suggestion>,
    mode: SuggestionMode,
    /// Whether the key that shows subtle suggestions is held.
    pub(super) is_held: bool,
    pub(crate) note: Option<SharedString>,
    pub(crate) place: Option<SuggestionPlace>,
    /// Where the last jump led, and for which suggestion.
    pub(super) jumped: Option<(SuggestionId, ByteOffset)>,
    /// The revision that the last taking led to.
    pub(super) last_taken: Option<Revision>,
    /// What a frame showed last, and of which text.
    last_painted: Option<(SuggestionId, Revision)>,
    shown: Option<Presentation>,
    /// The text that `shown` was made for.
    shown_at: Option<Revision>,
    /// The inlays in the display map.
    inlays: Vec<InlayId>,
    pub(crate) looks: InlayLooks,
    /// What is in sight, as `shown` was made for it; none when it has to be made anew.
    made_for: Option<Sight>,
    /// The colours found last; they may be of the suggestion before, which often is how this one begins.
    coloured: Vec<Coloured>,
    colour_task: Option<Task<()>>,
}

impl Suggesting {
    /// Takes the suggestion along a change of the text.
    pub(super) fn follow(&mut self, change: &Change, after: &Snapshot) {
        self.made_for = None;
        self.jumped = None;
        let Some(offered) = &mut self.offered else {
            return;
        };
        // Who goes on typing here does not mean to go to another file.
        let is_over = offered.file.is_some()
            || matches!(
                offered.follow(change, after),
                Fate::Completed | Fate::Dropped
            );
        if is_over {
            self.forget();
        }
    }

    /// Nothing is offered any more.
    pub(super) fn forget(&mut self) {
        self.offered = None;
        self.jumped = None;
        self.note = None;
        self.place = None;
        self.made_for = None;
        self.colour_task = None;
    }

    /// For when it is not known any more how the text came to be, and the display map is another.
    pub(super) fn start_anew(&mut self) {
        self.forget();
        self.shown = None;
        self.inlays.clear();
        self.looks = InlayLooks::default();
    }

    /// What is shown has to be made anew.
    pub(super) fn touch(&mut self) {
        self.made_for = None;
    }

    /// Whether a jump has brought the caret here, for the suggestion of now.
    pub(super) fn has_jumped_to(&self, caret: ByteOffset) -> bool {
        let id = self.offered.as_ref().map(|offered| offered.id);
        self.jumped
            .is_some_and(|(of, at)| Some(of) == id && at == caret)
    }

    /// What is to be seen.
    pub(crate) fn shown(&self) -> Option<&Presentation> {
        self.shown.as_ref()
    }

    /// What is to be seen in the text.
    pub(crate) fn in_text(&self) -> Option<&InText> {
        match &self.shown {
            Some(Presentation::InText(shown)) => Some(shown),
            _ => None,
        }
    }

    /// What is known of the colours of a text, and of how many of its bytes.
    fn colours_of(&self, text: &str) -> Option<(Arc<[RowHighlight]>, usize)> {
        let known = self.coloured.iter().filter_map(|known| known.of_text(text));
        known.max_by_key(|(_, bytes)| *bytes)
    }
}

impl Editor {
    /// Offers a suggestion instead of the one before, or none. One made for an older text is taken along to the text of
    /// now; one that does not stand there is not shown, and `suggestion` tells so.
    pub fn set_suggestion(&mut self, suggestion: Option<Suggestion>, cx: &mut Context<Self>) {
        self.sync(cx);
        let suggestion = suggestion.and_then(|suggestion| self.brought_up(suggestion, cx));
        let is_same =
            |known: &Suggestion| suggestion.as_ref().is_some_and(|new| new.id == known.id);
        if !self.suggesting.offered.as_ref().is_some_and(is_same) {
            self.suggesting.forget();
        }
        self.suggesting.offered = suggestion;
        self.suggesting.touch();
        self.refresh_suggestion(cx);
        cx.notify();
    }

    /// The suggestion of now, as it stands in the text of now, whether it is to be seen or not.
    pub fn suggestion(&self) -> Option<&Suggestion> {
        self.suggesting.offered.as_ref()
    }

    /// Whether the person sees something of the suggestion: text, a change, or a sign that leads to it.
    pub fn shows_suggestion(&self) -> bool {
        self.suggesting.offered.is_some() && self.suggesting.shown.is_some()
    }

    /// A short note beside the suggestion of now, such as `2 of 5`. Goes with it.
    pub fn set_suggestion_note(&mut self, note: Option<SharedString>, cx: &mut Context<Self>) {
        self.suggesting.note = note;
        cx.notify();
    }

    /// What is known of the place of the suggestion of now, when it is for another file. Goes with it.
    pub fn set_suggestion_place(&mut self, place: Option<SuggestionPlace>, cx: &mut Context<Self>) {
        self.suggesting.place = place;
        cx.notify();
    }

    /// When suggestions are seen.
    pub fn set_suggestion_mode(&mut self, mode: SuggestionMode, cx: &mut Context<Self>) {
        self.suggesting.mode = mode;
        self.suggesting.touch();
        self.refresh_suggestion(cx);
        cx.notify();
    }

    /// The revision that the last taking led to. A change that ends there was made by taking a suggestion.
    pub fn last_taken(&self) -> Option<Revision> {
        self.suggesting.last_taken
    }

    /// The suggestion of which a frame showed something last, and the text that it stood in. What was offered and never
    /// painted nobody has seen.
    pub fn last_painted(&self) -> Option<(SuggestionId, Revision)> {
        self.suggesting.last_painted
    }

    /// Notes whether the frame that was laid out shows something of the suggestion.
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

    /// The caret was brought to where the suggestion of now begins, from another file: Tab takes it, as behind a jump.
    pub fn note_entered(&mut self, cx: &mut Context<Self>) {
        let offered = self.suggesting.offered.as_ref();
        let here = offered.filter(|offered| offered.file.is_none());
        self.suggesting.jumped = here.map(|offered| (offered.id, offered.start()));
        cx.notify();
    }

    /// The suggestion in the text of now, if it stands there.
    fn brought_up(&self, mut suggestion: Suggestion, cx: &Context<Self>) -> Option<Suggestion> {
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
            return matches!(fate, Fate::Moved | Fate::Consumed).then_some(suggestion);
        }
        suggestion.stands_in(&self.snapshot).then_some(suggestion)
    }

    /// Hears that a key like Alt is held or let go.
    pub(crate) fn note_held(&mut self, is_held: bool, cx: &mut Context<Self>) {
        if self.suggesting.is_held != is_held {
            self.suggesting.is_held = is_held;
            if self.suggesting.mode == SuggestionMode::Subtle && self.suggesting.offered.is_some() {
                self.suggesting.touch();
                self.refresh_suggestion(cx);
                cx.notify();
            }
        }
    }

    /// Makes what is to be seen of the suggestion, unless that is known, and puts it into the display map.
    pub(crate) fn refresh_suggestion(&mut self, cx: &mut Context<Self>) {
        if self.suggesting.offered.is_none() && self.suggesting.shown.is_none() {
            return;
        }
        // While a button is pressed nothing moves under it, unless the text does.
        if self.drag.is_some() && self.suggesting.shown_at == Some(self.snapshot.revision()) {
            return self.suggesting.touch();
        }
        let sight = self.sight();
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

    fn presentation(&self, sight: Sight, cx: &Context<Self>) -> Option<Presentation> {
        let suggesting = &self.suggesting;
        let suggestion = suggesting.offered.as_ref()?;
        let is_hidden = suggesting.mode == SuggestionMode::Subtle && !suggesting.is_held;
        let is_current = suggestion.file.is_some()
            || suggestion.revision == self.snapshot.revision()
                && suggestion.stands_in(&self.snapshot);
        if is_hidden || !is_current || self.unsuited(cx).is_some() {
            return None;
        }
        Some(present(suggestion, &self.snapshot, &self.selections, sight))
    }

    fn sight(&self) -> Sight {
        Sight {
            rows: self.rows_fully_in_sight(),
            hides_start: self.hides_suggestion(),
        }
    }

    /// Whether a fold or the edge of the window hides where the suggestion begins, though its row is in sight.
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
        // What stands at the caret is in sight, or will be.
        if start == self.selections.primary().head || start > self.snapshot.len() {
            return false;
        }
        let cell = self.display.to_display(start, Bias::Left).cell;
        let x = f64::from(cell) * f64::from(geometry.advance) - self.scroll.x;
        let width = f64::from(f32::from(geometry.text.size.width));
        !(0.0..width).contains(&x)
    }

    /// The rows that can be seen whole, the second one exclusive; also the caret's, when it is to be brought into sight.
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
            rows = match caret < rows.0 || caret >= rows.1 {
                true => (caret, caret + 1),
                false => rows,
            };
        }
        rows
    }

    /// Whether the display map holds what is shown, as it was put there.
    fn inlays_are_right(&self) -> bool {
        let shown = self.suggesting.in_text();
        let pieces = shown.map_or(&[][..], |shown| &shown.pieces);
        let wanted = self.suggesting.inlays.iter().zip(pieces);
        let wanted = wanted.map(|(id, piece)| (*id, piece.at));
        pieces.len() == self.suggesting.inlays.len() && self.own_inlays().into_iter().eq(wanted)
    }

    /// Our inlays in the display map and where they are now.
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

    fn use_looks(&mut self, pieces: &[Piece]) {
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

    /// Asks for the colours of what is put in, if some are missing.
    fn ask_for_colours(&mut self, cx: &mut Context<Self>) {
        let suggesting = &self.suggesting;
        let (Some(suggestion), Some(shown)) = (&suggesting.offered, suggesting.in_text()) else {
            return;
        };
        let is_known = |piece: &Piece| {
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
            // The view may be gone; then nobody looks.
            this.update(cx, |editor, cx| editor.take_colours(id, found, cx))
                .ok();
        }));
    }

    fn take_colours(&mut self, id: SuggestionId, found: Vec<Coloured>, cx: &mut Context<Self>) {
        if self.suggesting.offered.as_ref().map(|offered| offered.id) != Some(id) {
            return;
        }
        self.suggesting.coloured = found;
        let pieces = self
            .suggesting
            .in_text()
            .map(|shown| shown.pieces.clone())
            .unwrap_or_default();
        // What was typed meanwhile is in the text, but its inlays may not have followed yet.
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
            Cycle::Next,
        )));
    }

    pub(crate) fn previous_suggestion(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(EditorEvent::Suggestion(SuggestionEvent::Cycled(
            Cycle::Previous,
        )));
    }
}
