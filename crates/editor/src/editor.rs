//! A view of a text: carets, folds, scroll position, find.
//!
//! Invariant: `sync` precedes every use of an offset; afterwards `snapshot`, `selections`, the
//! display map, the scroll position and the find matches all refer to the document's revision.
//! Start at `Editor::run`, which handles every caret command.

pub(crate) mod accepting;
pub(crate) mod annotations;
mod blink;
pub(crate) mod bracketing;
mod caret_rest;
pub(crate) mod changed_words;
pub(crate) mod clipboard;
mod colors;
pub(crate) mod commands;
pub(crate) mod completing;
pub(crate) mod diagnostics;
pub(crate) mod document_highlights;
mod events;
pub(crate) mod excerpted;
pub(crate) mod expanding;
mod find_bar;
pub(crate) mod finding;
pub(crate) mod folding;
pub(crate) mod folding_ranges;
mod format_on_type;
pub(crate) mod highlighting;
pub(crate) mod hover;
pub(crate) mod hunks;
pub(crate) mod inlay_hints;
mod inline_review;
mod input;
mod key_context;
mod language_sources;
pub(crate) mod lenses;
pub(crate) mod light_bulb;
pub(crate) mod line_authors;
mod linked_editing;
pub(crate) mod links;
pub(crate) mod menu;
pub(crate) mod options;
mod positions;
pub(crate) mod proposal;
mod scene;
pub(crate) mod scrolling;
mod selection_ranges;
pub(crate) mod signature;
pub(crate) mod smooth_scroll;
pub(crate) mod snippets;
pub(crate) mod suggesting;
pub(crate) mod vim_mode;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base::{Bias, ByteOffset, Point, Row, Span};
use caret::{CaretOptions, CommandMemory, history::CaretHistory};
use display::{BlockId, BlockSpec, DisplayMap, DisplaySnapshot};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, FocusHandle, Focusable, Subscription,
    Task, Window,
};
use lsp::{DocumentLink, ServerCommand};
use settings::{EditorSettings, Settings};
use snippet::SnippetSession;
use text::{Change, Selection, SelectionSet, Snapshot};

use crate::block_view::{BlockView, BlockViews};
use crate::comparison::Comparison;
use crate::excerpts::Excerpts;
use crate::find::FindState;
use crate::frame::{DiagnosedRows, Geometry, Palette, RowCache, StickyCache, WordShapes};
use crate::model::{AnnotationsChanged, DocumentModel, InlayHintsChanged};
use crate::pointer::Mouse;
use crate::scroll::{Scroll, ScrollMargin};

pub use changed_words::show_changed_words;
pub use document_highlights::HighlightSource;
pub use format_on_type::{TypeFormatQuery, TypeFormatter};
pub use hover::{HoverSource, HoverText, show_card};
pub use inline_review::{ReviewMark, reviewed_rows, show_moved_rows, show_removed_rows};
pub use language_sources::LanguageSources;
pub use light_bulb::CodeActionSource;
pub use line_authors::{LineAuthorDisplay, show_line_authors};
pub use linked_editing::LinkedSpanSource;
pub use menu::MenuSection;
pub use options::set_unwrapped;
pub use proposal::{ProposedChange, show_proposal};
pub use scene::SuggestionBlocker;
pub use scrolling::{
    ScrollPosition, reveal_block_above, reveal_block_below, scroll_position, scroll_to,
};
pub use selection_ranges::SelectionRangeSource;
pub use signature::{SignatureAnswer, SignatureQuery, SignatureSource};
pub use snippets::SnippetInsertion;
pub use suggesting::{CycleDirection, SuggestionEvent, SuggestionMode};
pub use vim_mode::{VimEvent, VimStatus, configure_vim, vim_status};

/// An event of an editor view, for the window around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditorEvent {
    /// The selections changed, or the text under them did.
    SelectionsChanged,
    /// The text was edited from this view.
    Edited,
    /// The view was scrolled.
    Scrolled,
    /// An operation was refused; the string is a message for the user.
    Refused(String),
    /// The view gained the focus.
    Focused,
    /// An event about the suggestion of the view.
    Suggestion(SuggestionEvent),
    /// The user clicked a link.
    LinkClicked(Arc<DocumentLink>),
    /// The user asked to run a code lens.
    LensClicked(Arc<ServerCommand>),
    /// The user asked for the definition of the symbol at the caret with the mouse.
    DefinitionRequested,
    /// The user asked for the code actions of the selection with the mouse.
    CodeActionsRequested,
    /// The user clicked the mark in the gutter with this key.
    GutterMarkClicked(usize),
    /// The user clicked the author of a line with this key.
    LineAuthorClicked(usize),
    /// The caret rests in a view that shows the authors of lines.
    LineAuthorsWanted,
    /// About Vim's keys.
    Vim(VimEvent),
}

/// Scroll strategy for revealing a location: as little as possible, or centred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reveal {
    /// Scrolls as little as possible.
    Nearest,
    /// Scrolls the location to the middle.
    Center,
}

/// State of a view (selections, scroll position, folds) that is stored between sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewState {
    /// Selections as pairs of anchor and head, newest last.
    pub selections: Vec<(usize, usize)>,
    /// Offset at the top of the window, and the line heights below it.
    pub scroll: (usize, f64),
    /// Folded spans, in bytes.
    pub folds: Vec<(usize, usize)>,
}

/// The side-by-side view of the two sides of a conflict.
#[derive(Default)]
pub(crate) struct ConflictComparison {
    pub(crate) is_shown: bool,
    /// Created when it is first shown.
    pub(crate) view: Option<Entity<Comparison>>,
}

/// A view of a text: selections, scroll position, folds and search over a `DocumentModel`, which
/// may have several views.
pub struct Editor {
    pub(crate) model: Entity<DocumentModel>,
    pub(crate) focus: FocusHandle,
    /// Settings for the language of the text.
    pub(crate) settings: EditorSettings,
    settings_source: Arc<Settings>,
    /// The language whose settings are in use.
    settings_language: Option<&'static str>,
    pub(crate) overrides: options::Overrides,
    /// The snapshot to which all offsets below refer.
    pub(crate) snapshot: Snapshot,
    pub(crate) selections: SelectionSet,
    memory: CommandMemory,
    caret_history: CaretHistory,
    pub(crate) caret_options: CaretOptions,
    pub(crate) map: DisplayMap,
    pub(crate) display: DisplaySnapshot,
    pub(crate) scroll: Scroll,
    /// Pending request to reveal the caret in the next layout.
    pub(crate) follow: Option<ScrollMargin>,
    pub(crate) glide: Option<smooth_scroll::Glide>,
    /// Spans being composed by an input method, one per caret; empty without composition.
    pub(crate) marked: Vec<Span>,
    pub(crate) find: FindState,
    pub(crate) find_session: finding::FindSession,
    pub(crate) mouse: Mouse,
    pub(crate) rows: RowCache,
    pub(crate) sticky: StickyCache,
    pub(crate) words: RefCell<WordShapes>,
    pub(crate) diagnosed_rows: DiagnosedRows,
    pub(crate) palette: Option<Rc<Palette>>,
    /// Geometry of the last layout.
    pub(crate) geometry: Option<Geometry>,
    pub(crate) brackets: bracketing::Brackets,
    pub(crate) folding: folding::Folding,
    light_bulb: light_bulb::LightBulb,
    format_on_type: format_on_type::FormatOnType,
    selection_ranges: selection_ranges::SelectionRanges,
    pub(crate) blocks: BlockViews,
    pub(crate) review: inline_review::ShownReview,
    pub(crate) proposal: proposal::ShownProposal,
    pub(crate) suggestion: suggesting::SuggestionState,
    pub(crate) completions: completing::Completions,
    word_expansion: Option<expanding::WordExpansion>,
    /// The snippet whose tab stops are being filled in.
    snippet: Option<SnippetSession>,
    /// Source of the rows, if they are excerpts of other texts.
    pub(crate) excerpts: Option<Entity<Excerpts>>,
    pub(crate) blink: blink::CaretBlink,
    wrap_task: Option<Task<()>>,
    highlighting: highlighting::Highlighting,
    /// Whether a tree arrived for which no frame was requested.
    has_unseen_tree: bool,
    pub(crate) comparison: ConflictComparison,
    pub(crate) hover: hover::HoverState,
    /// Adds the entries of the owner to the context menu.
    menu_section: Option<menu::MenuSection>,
    highlights: document_highlights::DocumentHighlights,
    linked: linked_editing::LinkedEditing,
    signature: signature::SignatureState,
    pub(crate) hints: inlay_hints::ShownHints,
    annotations: annotations::ShownAnnotations,
    pub(crate) link: links::HoveredLink,
    pub(crate) colors: colors::ShownColors,
    lenses: lenses::ShownLenses,
    pub(crate) line_authors: line_authors::ShownLineAuthors,
    vim: Option<Box<vim_mode::VimView>>,
    _subscriptions: Vec<Subscription>,
}

impl EventEmitter<EditorEvent> for Editor {}

impl Focusable for Editor {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl Editor {
    /// Creates a view with the caret at the start of the text, scrolled to its top. It follows the
    /// model until it is dropped.
    pub fn new(model: Entity<DocumentModel>, window: &mut Window, cx: &mut Context<Self>) -> Self {
        let focus = cx.focus_handle().tab_stop(true);
        let subscriptions = vec![
            cx.subscribe(&model, Self::on_model_event),
            cx.subscribe(&model, |editor, _, _: &InlayHintsChanged, cx| {
                inlay_hints::update(editor, cx)
            }),
            cx.subscribe(&model, |editor, _, event: &AnnotationsChanged, cx| {
                annotations::changed(editor, *event, cx);
                links::annotations_changed(editor, *event, cx);
            }),
            cx.on_focus(&focus, window, |editor, window, cx| {
                editor.on_focus(window, cx)
            }),
            cx.on_blur(&focus, window, |editor, window, cx| {
                editor.on_blur(window, cx)
            }),
            cx.observe_window_activation(window, |editor, window, cx| {
                if !window.is_window_active() {
                    links::end(editor, cx);
                }
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
            memory: CommandMemory::default(),
            caret_history: CaretHistory::new(),
            caret_options: options::caret_options(&EditorSettings::default(), &model, cx),
            display: map.snapshot(),
            map,
            scroll: Scroll::new(),
            follow: None,
            glide: None,
            marked: Vec::new(),
            find: FindState::default(),
            find_session: finding::FindSession::default(),
            mouse: Mouse::default(),
            rows: RowCache::default(),
            sticky: StickyCache::default(),
            words: RefCell::default(),
            diagnosed_rows: DiagnosedRows::default(),
            palette: None,
            geometry: None,
            brackets: bracketing::Brackets::default(),
            folding: folding::Folding::default(),
            light_bulb: light_bulb::LightBulb::new(window),
            format_on_type: Default::default(),
            selection_ranges: selection_ranges::SelectionRanges::new(window),
            blocks: BlockViews::default(),
            review: inline_review::ShownReview::default(),
            proposal: proposal::ShownProposal::default(),
            suggestion: suggesting::SuggestionState::default(),
            completions: completing::Completions::new(window),
            word_expansion: None,
            snippet: None,
            excerpts: None,
            blink: blink::CaretBlink::new(window),
            wrap_task: None,
            highlighting: highlighting::Highlighting::default(),
            has_unseen_tree: false,
            comparison: ConflictComparison::default(),
            hover: hover::HoverState::default(),
            menu_section: None,
            highlights: document_highlights::DocumentHighlights::new(window),
            linked: linked_editing::LinkedEditing::new(window),
            signature: signature::SignatureState::default(),
            hints: inlay_hints::ShownHints::default(),
            annotations: annotations::ShownAnnotations::default(),
            link: links::HoveredLink::default(),
            colors: colors::ShownColors::default(),
            lenses: lenses::ShownLenses::default(),
            line_authors: line_authors::ShownLineAuthors::new(),
            vim: None,
            snapshot,
            model,
            _subscriptions: subscriptions,
        };
        editor.use_settings(cx);
        editor
    }

    /// Creates an editor entity for a document.
    pub fn open(model: Entity<DocumentModel>, window: &mut Window, cx: &mut App) -> Entity<Self> {
        cx.new(|cx| Self::new(model, window, cx))
    }

    /// Returns the document model shared by all views of the text.
    pub fn model(&self) -> &Entity<DocumentModel> {
        &self.model
    }

    /// Returns the selections, updated for edits in other views.
    pub fn selections(&mut self, cx: &mut Context<Self>) -> &SelectionSet {
        self.sync(cx);
        &self.selections
    }

    /// Returns the row and byte column of the newest caret.
    pub fn caret_point(&mut self, cx: &mut Context<Self>) -> Point {
        self.sync(cx);
        self.snapshot.point_at(self.selections.primary().head)
    }

    /// Returns the text of the newest selection; empty if it is a caret.
    pub fn selected_text(&mut self, cx: &mut Context<Self>) -> String {
        self.sync(cx);
        self.snapshot
            .text(self.selections.primary().span())
            .into_owned()
    }

    /// Returns the display snapshot of the current text: folds, inlays, wraps and blocks.
    pub fn display(&mut self, cx: &mut Context<Self>) -> &DisplaySnapshot {
        self.sync(cx);
        &self.display
    }

    /// Moves to a single caret at an offset, clipped to the text, unfolds and reveals it, and
    /// records the previous selections for caret undo.
    pub fn go_to(&mut self, offset: ByteOffset, reveal: Reveal, cx: &mut Context<Self>) {
        self.select(vec![Span::at(offset)], reveal, cx);
    }

    /// Selects spans, clipped to the text, in place of all selections; the last one is the newest
    /// and is revealed. If `spans` is empty, puts a caret at the start of the text.
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
            Reveal::Nearest => ScrollMargin::Fit,
            Reveal::Center => ScrollMargin::Center,
        });
    }

    /// Replaces the selections, and records the previous ones for caret undo. Does nothing if the
    /// new selections equal the present ones. Does not scroll.
    pub(crate) fn set_selections(&mut self, selections: SelectionSet, cx: &mut Context<Self>) {
        if selections == self.selections {
            return;
        }
        self.caret_history
            .record(self.snapshot.revision(), &self.selections);
        self.selections = selections;
        self.memory = CommandMemory::default();
        self.after_selections(cx);
    }

    /// Updates what depends on the selections (blinking, suggestion), emits `SelectionsChanged` and
    /// requests a frame.
    pub(crate) fn after_selections(&mut self, cx: &mut Context<Self>) {
        vim_mode::selections_changed(self);
        self.show_caret(cx);
        self.check_snippet();
        self.follow_completions(cx);
        hover::close(self, cx);
        document_highlights::carets_moved(self, cx);
        light_bulb::carets_moved(self, cx);
        line_authors::carets_moved(self, cx);
        linked_editing::carets_moved(self, cx);
        signature::carets_moved(self, cx);
        self.suggestion.invalidate();
        self.refresh_suggestion(cx);
        cx.emit(EditorEvent::SelectionsChanged);
        cx.notify();
    }

    /// Returns the state to store between sessions.
    pub fn view_state(&mut self, cx: &mut Context<Self>) -> ViewState {
        self.sync(cx);
        let newest = self.selections.primary_ix();
        let mut selections: Vec<_> = self
            .selections
            .iter()
            .map(|it| (it.anchor.0, it.head.0))
            .collect();
        let primary = selections.remove(newest);
        selections.push(primary);
        let (anchor, below) = self.scroll.anchor_and_offset();
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

    /// Restores a stored state. Offsets beyond the text are clipped to its end.
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

    /// Inserts a block between two rows, renders `view` in it, and returns its id for
    /// `remove_block`.
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

    /// Removes a block from the view. Does nothing if the id is unknown.
    pub fn remove_block(&mut self, id: BlockId, cx: &mut Context<Self>) {
        self.blocks.remove(&id);
        self.change_map(cx, |map| map.remove_block(id));
    }

    /// Sets the height of a block, in line heights.
    pub fn resize_block(&mut self, id: BlockId, height: f32, cx: &mut Context<Self>) {
        self.change_map(cx, |map| map.resize_block(id, height));
    }

    /// Returns the buffer rows that the last layout showed, end exclusive. Returns `None` before
    /// the first layout.
    pub fn visible_rows(&self) -> Option<std::ops::Range<Row>> {
        let geometry = self.geometry.as_ref()?;
        Some(geometry.buffer_rows.clone())
    }

    /// Changes the display map by `change`, and updates everything derived from it. Returns the
    /// result of `change`.
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

    /// Brings all offsets of the view to the document's current revision. Every operation of the
    /// view calls this first. Takes constant time if the document has not changed.
    pub(crate) fn sync(&mut self, cx: &mut Context<Self>) {
        let model = self.model.read(cx);
        let buffer = model.document().buffer();
        let revision = self.snapshot.revision();
        if buffer.revision() == revision {
            return;
        }
        let after = buffer.snapshot();
        match buffer.changes_since(revision) {
            Some(change) => {
                self.apply_change(after, &change);
                finding::follow_edit(self, &change);
            }
            None => {
                self.reset_after(after);
                finding::find_again(self, cx);
            }
        }
        inlay_hints::show(self, cx);
        annotations::show(self, cx);
        self.refresh_suggestion(cx);
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
        self.proposal.follow(change);
        self.suggestion.follow(change, &self.snapshot);
        self.completions.follow(change);
        self.highlights.follow(change);
        self.signature.follow(change);
        self.hints.follow(change);
        self.annotations.follow(change);
        self.link.follow(change);
        self.colors.follow(change);
        self.lenses.follow(change);
        if let Some(session) = &mut self.snippet {
            session.follow(change);
        }
        for span in &mut self.marked {
            *span = change.map_span(*span);
        }
        if let Some(drag) = &mut self.mouse.drag {
            drag.follow(change);
        }
        vim_mode::follow(self, &before, change);
    }

    /// Resets the view when the edits leading to the text are unknown.
    fn reset_after(&mut self, after: Snapshot) {
        let clip = |offset: ByteOffset| after.clip(offset, Bias::Left);
        self.selections = self
            .selections
            .transform(|selection| Selection::new(clip(selection.anchor), clip(selection.head)));
        self.scroll = Scroll::from_parts(clip(self.scroll.anchor_and_offset().0), 0.0);
        self.map = DisplayMap::new(after.clone(), self.map.options());
        self.display = self.map.snapshot();
        self.rows.clear();
        self.highlighting.reset();
        self.marked.clear();
        self.blocks.clear();
        self.review = inline_review::ShownReview::default();
        self.proposal = proposal::ShownProposal::default();
        self.suggestion.reset();
        self.completions.reset();
        self.highlights.clear();
        self.signature.reset();
        self.hints.reset();
        self.annotations.reset();
        self.colors.reset();
        self.lenses.reset();
        self.link = links::HoveredLink::default();
        self.snippet = None;
        self.snapshot = after;
        vim_mode::selections_changed(self);
    }

    /// With `true`, shows the two sides of a conflict instead of the text. With `false`, or without
    /// a conflict, shows the text.
    pub fn set_comparing(&mut self, comparing: bool, cx: &mut Context<Self>) {
        self.comparison.is_shown = comparing && self.model.read(cx).document().conflict().is_some();
        cx.notify();
    }
}

#[cfg(test)]
mod tests;
