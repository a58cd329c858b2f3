//! One view of a text: carets, folds, scroll position, find.
//!
//! Invariant: `sync` comes before anything that uses an offset; afterwards `snapshot`, `selections`, the
//! display map, the scroll position and what find found all mean the same revision as the document.
//! Start at `Editor::run`, which every caret command passes through.

mod bracketing;
mod clipboard;
mod commands;
mod excerpted;
mod expanding;
mod finding;
mod folding;
mod gliding;
mod highlighting;
mod hunks;
mod inline_review;
mod input;
mod menu;
mod options;
mod render;
mod scene;
mod scrolling;
mod suggesting;
mod taking;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base::{Bias, ByteOffset, Point, Revision, Row, Span};
use caret::{CaretOptions, Memory, history::CaretHistory};
use display::{BlockId, BlockSpec, DisplayMap, DisplaySnapshot, Inlay, InlayId};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, FocusHandle, Focusable, Subscription,
    Task, Window,
};
use settings::{EditorSettings, Settings};
use text::{Change, Selection, SelectionSet, Snapshot};

use crate::block_view::{BlockView, BlockViews};
use crate::comparison::Comparison;
use crate::element::{Area, Geometry, Palette, RowCache, StickyCache, Words};
use crate::excerpts::Excerpts;
use crate::find::FindState;
use crate::find_bar::FindBar;
use crate::model::{DocumentModel, ModelEvent};
use crate::mouse::Drag;
use crate::scroll::{Follow, Scroll};

pub use inline_review::ReviewMark;
pub use scene::Unsuited;
pub use suggesting::{Cycle, SuggestionEvent, SuggestionMode};
pub(crate) use suggesting::{InlayLook, InlayLooks};

/// What a panel hears from a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditorEvent {
    /// The carets moved, or the text did under them.
    SelectionsChanged,
    /// The text was edited from this view.
    Edited,
    /// The view was scrolled.
    Scrolled,
    /// Something cannot be done, for this reason: a sentence for the user.
    Refused(String),
    /// The keyboard came to this view.
    Focused,
    /// Something about its suggestion.
    Suggestion(SuggestionEvent),
}

/// How a place is brought into sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reveal {
    /// Scrolls as little as possible.
    Nearest,
    /// Brings it to the middle.
    Center,
}

/// What is kept of a view between sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewState {
    /// The selections, as anchor and head, the newest last.
    pub selections: Vec<(usize, usize)>,
    /// The text at the top of the window, as an offset, and the line heights below it.
    pub scroll: (usize, f64),
    /// What is folded away.
    pub folds: Vec<(usize, usize)>,
}

/// The rows in sight where folds begin, for a text, its tree and the rows.
type FoldableRows = (
    (Revision, Option<Revision>, std::ops::Range<Row>),
    Arc<[Row]>,
);

/// One view of a text.
pub struct Editor {
    pub(crate) model: Entity<DocumentModel>,
    pub(crate) focus: FocusHandle,
    /// The settings for the language, and where they came from.
    pub(crate) settings: EditorSettings,
    settings_source: Arc<Settings>,
    /// The language whose settings hold.
    settings_language: Option<&'static str>,
    pub(crate) overrides: options::Overrides,
    /// The text that everything below means.
    pub(crate) snapshot: Snapshot,
    pub(crate) selections: SelectionSet,
    memory: Memory,
    trail: CaretHistory,
    pub(crate) caret_options: CaretOptions,
    pub(crate) map: DisplayMap,
    pub(crate) display: DisplaySnapshot,
    pub(crate) scroll: Scroll,
    /// What is to be brought into sight at the next layout.
    pub(crate) follow: Option<Follow>,
    pub(crate) glide: Option<gliding::Glide>,
    /// Whether each frame is drawn by the CPU, so that nothing should move by itself.
    is_still: bool,
    /// What an input method is composing, one span for each caret; empty when it is not.
    pub(crate) marked: Vec<Span>,
    pub(crate) find: FindState,
    pub(crate) find_bar: Option<Entity<FindBar>>,
    /// The next right click comes from a key and moves no caret.
    pub(crate) menu_at_caret: bool,
    pub(crate) rows: RowCache,
    pub(crate) sticky: StickyCache,
    pub(crate) words: RefCell<Words>,
    pub(crate) palette: Option<Rc<Palette>>,
    /// How the text was laid out last.
    pub(crate) geometry: Option<Geometry>,
    pub(crate) brackets: bracketing::Brackets,
    pub(crate) foldable_cache: Option<FoldableRows>,
    lost_folds: folding::LostFolds,
    /// Whether the pointer is over the gutter, which shows its arrows then.
    pub(crate) gutter_hovered: bool,
    /// The scrollbar under the pointer.
    pub(crate) hovered: Option<Area>,
    pub(crate) drag: Option<Drag>,
    pub(crate) drag_task: Option<Task<()>>,
    /// Text is dragged, and the pointer is over this view.
    pub(crate) shows_drop_place: bool,
    pub(crate) blocks: BlockViews,
    pub(crate) review: inline_review::Review,
    pub(crate) suggesting: suggesting::Suggesting,
    expanding: Option<expanding::Expanding>,
    /// Where the rows come from, when they are those of other texts.
    pub(crate) excerpts: Option<Entity<Excerpts>>,
    pub(crate) caret_shown: bool,
    blink_task: Option<Task<()>>,
    wrap_task: Option<Task<()>>,
    highlight_task: Option<Task<()>>,
    find_task: Option<Task<()>>,
    step_task: Option<Task<()>>,
    pub(crate) comparison: bool,
    comparison_entity: Option<Entity<Comparison>>,
    /// Where the pointer was seen last.
    pub(crate) pointer: gpui_kit::Point<gpui_kit::Pixels>,
    _subscriptions: Vec<Subscription>,
}

impl EventEmitter<EditorEvent> for Editor {}

impl Focusable for Editor {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl Editor {
    /// A view at the top of a text.
    pub fn new(model: Entity<DocumentModel>, window: &mut Window, cx: &mut Context<Self>) -> Self {
        let focus = cx.focus_handle().tab_stop(true);
        let subscriptions = vec![
            cx.subscribe(&model, Self::on_model_event),
            cx.on_focus(&focus, window, |editor, window, cx| {
                editor.on_focus(window, cx)
            }),
            cx.on_blur(&focus, window, |editor, window, cx| {
                editor.on_blur(window, cx)
            }),
        ];
        let snapshot = model.read(cx).snapshot();
        let map = DisplayMap::new(snapshot.clone(), Default::default());
        let mut editor = Self {
            focus,
            settings: EditorSettings::default(),
            settings_source: Arc::default(),
            settings_language: None,
            overrides: Default::default(),
            selections: SelectionSet::single(Selection::caret(ByteOffset(0))),
            memory: Memory::default(),
            trail: CaretHistory::new(),
            caret_options: options::caret_options(&EditorSettings::default(), &model, cx),
            display: map.snapshot(),
            map,
            scroll: Scroll::new(),
            follow: None,
            glide: None,
            is_still: window
                .gpu_specs()
                .is_some_and(|gpu| gpu.is_software_emulated),
            marked: Vec::new(),
            find: FindState::default(),
            find_bar: None,
            menu_at_caret: false,
            rows: RowCache::default(),
            sticky: StickyCache::default(),
            words: RefCell::default(),
            palette: None,
            geometry: None,
            brackets: bracketing::Brackets::default(),
            foldable_cache: None,
            lost_folds: folding::LostFolds::default(),
            gutter_hovered: false,
            hovered: None,
            drag: None,
            drag_task: None,
            shows_drop_place: false,
            blocks: BlockViews::default(),
            review: inline_review::Review::default(),
            suggesting: suggesting::Suggesting::default(),
            expanding: None,
            excerpts: None,
            caret_shown: true,
            blink_task: None,
            wrap_task: None,
            highlight_task: None,
            find_task: None,
            step_task: None,
            comparison: false,
            comparison_entity: None,
            pointer: Default::default(),
            snapshot,
            model,
            _subscriptions: subscriptions,
        };
        editor.use_settings(cx);
        editor
    }

    /// An entity of such a view.
    pub fn open(model: Entity<DocumentModel>, window: &mut Window, cx: &mut App) -> Entity<Self> {
        cx.new(|cx| Self::new(model, window, cx))
    }

    /// The text and what its views share.
    pub fn model(&self) -> &Entity<DocumentModel> {
        &self.model
    }

    /// The selections, after what other views did meanwhile.
    pub fn selections(&mut self, cx: &mut Context<Self>) -> &SelectionSet {
        self.sync(cx);
        &self.selections
    }

    /// Row and byte column of the newest caret.
    pub fn caret_point(&mut self, cx: &mut Context<Self>) -> Point {
        self.sync(cx);
        self.snapshot.point_at(self.selections.primary().head)
    }

    /// The text of the newest selection; empty for a mere caret.
    pub fn selected_text(&mut self, cx: &mut Context<Self>) -> String {
        self.sync(cx);
        self.snapshot
            .text(self.selections.primary().span())
            .into_owned()
    }

    /// How the text is shown now.
    pub fn display(&mut self, cx: &mut Context<Self>) -> &DisplaySnapshot {
        self.sync(cx);
        &self.display
    }

    /// Puts the only caret at an offset, brings it into sight, and notes where one came from.
    pub fn go_to(&mut self, offset: ByteOffset, reveal: Reveal, cx: &mut Context<Self>) {
        self.select(vec![Span::at(offset)], reveal, cx);
    }

    /// Puts the only caret at a row and byte column, which are clipped into the text.
    pub fn go_to_point(&mut self, point: Point, reveal: Reveal, cx: &mut Context<Self>) {
        self.sync(cx);
        let offset = self.snapshot.offset_at(point);
        self.go_to(offset, reveal, cx);
    }

    /// Selects spans, the last being the newest.
    pub fn select(&mut self, spans: Vec<Span>, reveal: Reveal, cx: &mut Context<Self>) {
        self.sync(cx);
        let clip = |offset: ByteOffset| self.snapshot.clip(offset, Bias::Left);
        let selections: Vec<Selection> = spans
            .iter()
            .map(|span| Selection::new(clip(span.start), clip(span.end)))
            .collect();
        let newest = selections.len().saturating_sub(1);
        self.set_selections(SelectionSet::new(selections, newest), cx);
        self.unfold_at_carets(cx);
        self.follow = Some(match reveal {
            Reveal::Nearest => Follow::Fit,
            Reveal::Center => Follow::Center,
        });
    }

    /// Replaces the selections, noting where they were.
    pub(crate) fn set_selections(&mut self, selections: SelectionSet, cx: &mut Context<Self>) {
        if selections == self.selections {
            return;
        }
        self.trail
            .record(self.snapshot.revision(), &self.selections);
        self.selections = selections;
        self.memory = Memory::default();
        self.after_selections(cx);
    }

    /// Says that the selections are others now.
    pub(crate) fn after_selections(&mut self, cx: &mut Context<Self>) {
        self.show_caret(cx);
        self.suggesting.touch();
        self.refresh_suggestion(cx);
        cx.emit(EditorEvent::SelectionsChanged);
        cx.notify();
    }

    /// What to keep of this view between sessions.
    pub fn view_state(&mut self, cx: &mut Context<Self>) -> ViewState {
        self.sync(cx);
        let newest = self.selections.primary_ix();
        let mut selections: Vec<_> = self
            .selections
            .iter()
            .map(|selection| (selection.anchor.0, selection.head.0))
            .collect();
        let primary = selections.remove(newest);
        selections.push(primary);
        let (anchor, below) = self.scroll.parts();
        ViewState {
            selections,
            scroll: (anchor.0, below),
            folds: self
                .map
                .folds()
                .iter()
                .map(|span| (span.start.0, span.end.0))
                .collect(),
        }
    }

    /// Brings a view back to where it was. Offsets beyond the text are taken as its end.
    pub fn restore_view_state(&mut self, state: &ViewState, cx: &mut Context<Self>) {
        self.sync(cx);
        let clip = |offset: usize| self.snapshot.clip(ByteOffset(offset), Bias::Left);
        let selections: Vec<Selection> = state
            .selections
            .iter()
            .map(|(anchor, head)| Selection::new(clip(*anchor), clip(*head)))
            .collect();
        let folds: Vec<Span> = state
            .folds
            .iter()
            .map(|(start, end)| Span::new(clip(*start), clip(*end)))
            .collect();
        let scroll = Scroll::from_parts(clip(state.scroll.0), state.scroll.1.max(0.0));
        let newest = selections.len().saturating_sub(1);
        self.selections = SelectionSet::new(selections, newest);
        self.change_map(cx, |map| map.fold(&folds));
        self.scroll = scroll;
        self.follow = None;
        self.after_selections(cx);
    }

    /// Makes room between two rows and draws `view` there.
    pub fn insert_block(
        &mut self,
        spec: BlockSpec,
        view: BlockView,
        cx: &mut Context<Self>,
    ) -> BlockId {
        self.sync(cx);
        let id = self.map.insert_block(spec);
        self.blocks.insert(id, Rc::new(view));
        self.map_changed(cx);
        id
    }

    /// Takes a block away.
    pub fn remove_block(&mut self, id: BlockId, cx: &mut Context<Self>) {
        self.blocks.remove(&id);
        self.change_map(cx, |map| map.remove_block(id));
    }

    /// Gives a block another height, in line heights.
    pub fn resize_block(&mut self, id: BlockId, height: f32, cx: &mut Context<Self>) {
        self.change_map(cx, |map| map.resize_block(id, height));
    }

    /// Removes some inlays and adds others.
    pub fn splice_inlays(&mut self, remove: &[InlayId], add: Vec<Inlay>, cx: &mut Context<Self>) {
        self.change_map(cx, |map| map.splice_inlays(remove, add));
    }

    /// The rows in sight, as they were painted last.
    pub fn visible_rows(&self) -> Option<std::ops::Range<Row>> {
        let geometry = self.geometry.as_ref()?;
        Some(geometry.buffer_rows.clone())
    }

    /// Changes the display map and everything that follows from it.
    pub(crate) fn change_map<R>(
        &mut self,
        cx: &mut Context<Self>,
        change: impl FnOnce(&mut DisplayMap) -> R,
    ) -> R {
        self.sync(cx);
        let result = change(&mut self.map);
        self.map_changed(cx);
        result
    }

    fn map_changed(&mut self, cx: &mut Context<Self>) {
        self.display = self.map.snapshot();
        self.rows.forget_shapes();
        self.wrap_in_background(cx);
        cx.notify();
    }

    /// Brings everything that means a place in the text up to the document.
    pub(crate) fn sync(&mut self, cx: &mut Context<Self>) {
        let model = self.model.read(cx);
        let buffer = model.document().buffer();
        let revision = self.snapshot.revision();
        if buffer.revision() == revision {
            return;
        }
        let after = buffer.snapshot();
        match buffer.changes_since(revision) {
            Some(change) => self.apply_change(after, &change),
            None => self.start_anew(after),
        }
        self.refresh_suggestion(cx);
        self.find_again(cx);
        self.wrap_in_background(cx);
        self.highlight_in_background(cx);
    }

    fn apply_change(&mut self, after: Snapshot, change: &Change) {
        let before = std::mem::replace(&mut self.snapshot, after);
        self.map.sync(&self.snapshot, change);
        self.display = self.map.snapshot();
        self.selections = self.selections.map(change);
        self.scroll.follow(change);
        self.rows.follow(&before, &self.snapshot, change);
        self.find.follow(change);
        self.review.follow(change);
        self.suggesting.follow(change, &self.snapshot);
        for span in &mut self.marked {
            *span = change.map_span(*span);
        }
        if let Some(drag) = &mut self.drag {
            drag.follow(change);
        }
    }

    /// For when it is not known any more how the text came to be.
    fn start_anew(&mut self, after: Snapshot) {
        let clip = |offset: ByteOffset| after.clip(offset, Bias::Left);
        self.selections = self
            .selections
            .transform(|selection| Selection::new(clip(selection.anchor), clip(selection.head)));
        self.scroll = Scroll::from_parts(clip(self.scroll.parts().0), 0.0);
        self.map = DisplayMap::new(after.clone(), self.map.options());
        self.display = self.map.snapshot();
        self.rows.clear();
        self.marked.clear();
        self.blocks.clear();
        self.review = inline_review::Review::default();
        self.suggesting.start_anew();
        self.snapshot = after;
    }

    fn on_model_event(
        &mut self,
        _: Entity<DocumentModel>,
        event: &ModelEvent,
        cx: &mut Context<Self>,
    ) {
        match event {
            ModelEvent::Edited(_) => {
                let before = self.snapshot.revision();
                self.sync(cx);
                if before != self.snapshot.revision() {
                    cx.emit(EditorEvent::SelectionsChanged);
                }
            }
            ModelEvent::SyntaxUpdated => {
                self.sync(cx);
                self.follow_text(cx);
                self.highlight_in_background(cx);
            }
            ModelEvent::StateChanged => {
                self.suggesting.touch();
                self.comparison &= self.model.read(cx).document().conflict().is_some();
            }
            ModelEvent::Saved | ModelEvent::HunksUpdated => {}
        }
        cx.notify();
    }

    fn on_focus(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.show_caret(cx);
        cx.emit(EditorEvent::Focused);
        cx.notify();
    }

    fn on_blur(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.blink_task = None;
        self.caret_shown = true;
        cx.notify();
    }
}

#[cfg(test)]
mod tests;
