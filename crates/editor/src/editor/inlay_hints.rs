//! Inlay hints of a view: the hints of its document around the visible rows, as inlays of the
//! display map.
//!
//! Invariant: only hints in the window around the visible rows are in the display map, so that their
//! number does not grow with the text.
//! Invariant: an edit shifts the inlays in the same way as the hints of the document, so a key does not compare the two.
//! Start at `update`; the layout calls `note_visible`.

use std::collections::HashMap;
use std::time::Duration;

use base::{ByteOffset, LineFeeds, Row, Span, printable};
use display::{Inlay, InlayId};
use gpui_kit::{Context, Modifiers, Task, Window};
use lsp::InlayHint;
use text::Change;

use super::Editor;
use crate::model::{PlacedHint, hint_bias, map_window};

/// First id of the inlays of hints; they are numbered from here. Those of suggestions are higher.
const FIRST_INLAY: u64 = 1 << 61;
/// Time after a scroll until the window moves.
const REST: Duration = Duration::from_millis(50);
/// Time for which `Ctrl` and `Alt` are held until they show or hide the hints: a shortcut with them takes less.
const HOLD: Duration = Duration::from_millis(400);
/// Minimum number of rows in the window before and after the visible ones.
const MIN_MARGIN: u32 = 20;
/// Maximum number of rows in the window: a fold may hide any number of them.
const MAX_ROWS: u32 = 1_000;

/// Maximum length of a hint, in characters; the rest is cut.
const MAX_CHARS: usize = 60;

/// The hints that a view shows.
#[derive(Default)]
pub(crate) struct ShownHints {
    /// Whether the user turned hints on or off in this view; `None` follows the settings.
    is_on: Option<bool>,
    /// The inlays in the display map.
    inlays: HashMap<InlayId, HintPadding>,
    /// The span around the visible rows; `None` while hints are off.
    window: Option<Span>,
    /// Window and number of the document's hints for which `inlays` was computed.
    made_for: Option<(Span, u64)>,
    /// Waits until the window moves.
    rest: Option<Task<()>>,
    /// Whether held keys hide what is shown otherwise, or show what is hidden.
    is_inverted: bool,
    /// Waits until the keys were held long enough.
    hold: Option<Task<()>>,
}

/// The cells around the text of a hint that have no background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HintPadding {
    pub(crate) before: u32,
    pub(crate) after: u32,
}

impl ShownHints {
    /// Moves the window with a change.
    pub(super) fn follow(&mut self, change: &Change) {
        let map = |span: Span| map_window(change, span);
        self.window = self.window.map(map);
        self.made_for = self.made_for.map(|(span, version)| (map(span), version));
    }

    /// Forgets the inlays when the display map is new.
    pub(super) fn reset(&mut self) {
        *self = Self {
            is_on: self.is_on,
            is_inverted: self.is_inverted,
            ..Self::default()
        };
    }

    /// Returns the padding of an inlay; `None` if it shows no hint.
    pub(crate) fn padding(&self, id: InlayId) -> Option<HintPadding> {
        self.inlays.get(&id).copied()
    }
}

/// Returns whether the view shows hints.
fn is_on(editor: &Editor) -> bool {
    let is_on = editor.hints.is_on.unwrap_or(editor.settings.inlay_hints);
    is_on != editor.hints.is_inverted && editor.excerpts.is_none()
}

/// Shows hidden hints, or hides shown ones, while `Ctrl` and `Alt` alone are held.
pub(crate) fn note_held(editor: &mut Editor, held: Modifiers, cx: &mut Context<Editor>) {
    let wanted = Modifiers {
        control: true,
        alt: true,
        ..Modifiers::default()
    };
    if held != wanted {
        end_hold(editor, cx);
        return;
    }
    if editor.hints.hold.is_some() || editor.hints.is_inverted {
        return;
    }
    editor.hints.hold = Some(cx.spawn(async move |this, cx| {
        cx.background_executor().timer(HOLD).await;
        let invert = |editor: &mut Editor, cx: &mut Context<Editor>| {
            editor.hints.hold = None;
            editor.hints.is_inverted = true;
            move_window(editor, cx);
        };
        // The view may have been closed.
        this.update(cx, invert).ok();
    }));
}

/// Ends the effect of held keys, also when the view loses the focus or the keys belong to a shortcut.
pub(super) fn end_hold(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.hints.hold = None;
    if std::mem::take(&mut editor.hints.is_inverted) {
        move_window(editor, cx);
    }
}

/// Handler of an action: shows the hints in this view or, if they are shown, hides them. Overrides
/// the settings.
pub(crate) fn toggle_inlay_hints(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.hints.is_on = Some(!is_on(editor));
    editor.hints.is_inverted = false;
    move_window(editor, cx);
}

/// Notes the rows of a layout: the window moves soon if it does not contain them.
pub(crate) fn note_visible(editor: &mut Editor, cx: &Context<Editor>) {
    let is_current = match editor.hints.window {
        Some(window) => {
            is_on(editor) && rows_around(editor, 0).is_none_or(|rows| window.covers(rows))
        }
        None => !is_on(editor),
    };
    if !is_current && editor.hints.rest.is_none() {
        editor.hints.rest = Some(move_window_soon(cx));
    }
}

fn move_window_soon(cx: &Context<Editor>) -> Task<()> {
    cx.spawn(async move |this, cx| {
        cx.background_executor().timer(REST).await;
        // The view may have been closed.
        this.update(cx, move_window).ok();
    })
}

/// Moves the window to the visible rows, and shows and requests the hints in it.
pub(super) fn move_window(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.sync(cx);
    editor.hints.rest = None;
    editor.hints.window = if is_on(editor) {
        let rows = editor.page_rows().max(MIN_MARGIN);
        rows_around(editor, rows)
    } else {
        None
    };
    update(editor, cx);
}

/// Returns the visible rows with a margin, from the start of the first to the end of the last one.
pub(super) fn rows_around(editor: &Editor, margin: u32) -> Option<Span> {
    let rows = editor.visible_rows()?;
    let last_row = editor.snapshot.last_row().0;
    let first = rows.start.0.saturating_sub(margin).min(last_row);
    let last = rows.end.0.saturating_sub(1).saturating_add(margin);
    let last = last.clamp(first, last_row).min(first + MAX_ROWS);
    let start = editor.snapshot.row_start(Row(first));
    Some(Span::new(start, editor.snapshot.row_end(Row(last))))
}

/// Shows the hints of the document in the window, and requests those that are not known unless the
/// text is being edited.
pub(super) fn update(editor: &mut Editor, cx: &mut Context<Editor>) {
    // Nothing may move under a pressed pointer.
    if editor.mouse.drag.is_some() {
        editor.hints.rest = Some(move_window_soon(cx));
        return;
    }
    show(editor, cx);
    let Some(window) = editor.hints.window else {
        return;
    };
    if !editor.model.read(cx).is_being_edited() {
        let model = editor.model.clone();
        model.update(cx, |model, cx| model.want_inlay_hints(window, cx));
    }
}

/// Makes the inlays in the display map those of the hints in the window. Takes constant time unless
/// hints were added or removed, or the window moved.
pub(super) fn show(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let model = editor.model.read(cx);
    let made_for = editor
        .hints
        .window
        .map(|it| (it, model.inlay_hint_version()));
    if made_for == editor.hints.made_for {
        return;
    }
    editor.hints.made_for = made_for;
    let window = editor.hints.window;
    let wanted = window.map_or_else(Vec::new, |window| model.inlay_hints_in(window));
    // The map may have combined edits that the document followed one by one, so places count too.
    let wanted_places = wanted.iter().map(|hint| (id_of(hint), hint.hint.at));
    let wanted_places: HashMap<InlayId, ByteOffset> = wanted_places.collect();
    let mut places: HashMap<InlayId, ByteOffset> = editor.map.inlay_offsets().into_iter().collect();
    places.retain(|id, _| editor.hints.inlays.contains_key(id));
    let added = wanted.iter().map(|hint| (id_of(hint), &hint.hint));
    let added = added.filter(|(id, hint)| places.get(id) != Some(&hint.at));
    let added: Vec<(InlayId, &InlayHint)> = added.collect();
    places.retain(|id, at| wanted_places.get(id) != Some(at));
    if !places.is_empty() || !added.is_empty() {
        put_inlays(editor, &places, &added, cx);
    }
}

fn id_of(placed: &PlacedHint) -> InlayId {
    InlayId(FIRST_INLAY + placed.id)
}

fn put_inlays(
    editor: &mut Editor,
    gone: &HashMap<InlayId, ByteOffset>,
    added: &[(InlayId, &InlayHint)],
    cx: &mut Context<Editor>,
) {
    let places = gone.values().copied();
    let places = places.chain(added.iter().map(|(_, hint)| hint.at));
    let mut rows: Vec<Row> = places.map(|at| editor.snapshot.point_at(at).row).collect();
    rows.sort_unstable();
    rows.dedup();
    let inlays = added.iter().map(|(id, hint)| Inlay {
        id: *id,
        at: hint.at,
        bias: hint_bias(hint),
        text: shown_text(hint).into(),
    });
    let inlays: Vec<Inlay> = inlays.collect();
    let removed: Vec<InlayId> = gone.keys().copied().collect();
    editor.map.splice_inlays(&removed, inlays);
    editor.display = editor.map.snapshot();
    editor.hints.inlays.retain(|id, _| !gone.contains_key(id));
    let paddings = added.iter().map(|(id, hint)| (*id, padding_of(hint)));
    editor.hints.inlays.extend(paddings);
    rows.iter()
        .for_each(|row| editor.rows.forget_shapes_of(*row));
    if editor.map.is_wrapping() {
        editor.wrap_in_background(cx);
    }
    cx.notify();
}

fn padding_of(hint: &InlayHint) -> HintPadding {
    HintPadding {
        before: hint.padding_before.into(),
        after: hint.padding_after.into(),
    }
}

/// Returns the text of the inlay, with a blank for each cell of padding.
fn shown_text(hint: &InlayHint) -> String {
    let blank = |is_wanted| if is_wanted { " " } else { "" };
    let (before, after) = (blank(hint.padding_before), blank(hint.padding_after));
    let label = printable(&hint.label, LineFeeds::Escape);
    match label.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{before}{}\u{2026}{after}", &label[..end]),
        None => format!("{before}{label}{after}"),
    }
}
