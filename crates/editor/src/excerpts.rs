//! Excerpts of several texts, combined and edited as one text.
//!
//! The combined text joins the excerpts with a line feed. Edits within an excerpt are applied to
//! its source, and edits of the source are applied back. Undo in the combined text is an ordinary
//! edit of the sources.
//! Invariant: when no change is in progress, each excerpt equals its rows in its source.
//! Must not know: how the rows were chosen, how the sources are saved. Start at `Excerpts::sync`.

mod diagnostics;
mod placement;

use std::collections::HashMap;
use std::ops::Range;

use base::{AbsPath, Revision, Row, Span};
use gpui_kit::{App, Context, Entity, EntityId, EventEmitter, Subscription, Task};
use placement::{ExcerptPlacement, MappedEdit, carry, differing};
use project::Document;
use syntax::SyntaxSnapshot;
use text::{Author, Change, Edit, EditKind, LineEnding, RowSpan, Snapshot};

use crate::frame::{RowHighlights, TextColours};
use crate::model::{DocumentEnvironment, DocumentModel, ModelEvent};

/// A range of rows of a document to show among excerpts.
pub struct Excerpt {
    /// Document the rows come from.
    pub source: Entity<DocumentModel>,
    /// Rows of the source.
    pub rows: RowSpan,
}

/// An event of the excerpts, for the view over them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExcerptsEvent {
    /// An edit could not be applied to its source; the string is a message for the user.
    Refused(String),
    /// The highlights of the rows changed.
    SyntaxUpdated,
    /// The state of a source relative to its file changed.
    StateChanged,
}

/// Excerpts of several documents and their combined text. An edit of a document is applied to the
/// combined text, and an edit of the combined text to the documents.
pub struct Excerpts {
    shown: Entity<DocumentModel>,
    shown_at: Revision,
    sources: Vec<Entity<DocumentModel>>,
    /// Revision of each source to which the placements refer.
    source_at: HashMap<EntityId, Revision>,
    places: Vec<ExcerptPlacement>,
    _diagnosing: Option<Task<()>>,
    _subscriptions: Vec<Subscription>,
}

/// Reason an edit of the combined text cannot be applied to the sources.
#[derive(Debug, thiserror::Error)]
enum ExcerptEditError {
    #[error("cannot join lines of different excerpts here: open the file instead")]
    AcrossExcerpts,
    /// Holds the title of the source.
    #[error("{0} cannot be edited")]
    ReadOnly(String),
}

impl EventEmitter<ExcerptsEvent> for Excerpts {}

impl Excerpts {
    /// Combines these rows in this order into one text and follows their sources. A source may
    /// occur several times.
    pub fn new(
        excerpts: Vec<Excerpt>,
        environment: DocumentEnvironment,
        cx: &mut Context<Self>,
    ) -> Self {
        let mut sources: Vec<Entity<DocumentModel>> = Vec::new();
        let mut places = Vec::with_capacity(excerpts.len());
        let mut text = String::new();
        for excerpt in excerpts {
            let known = sources.iter().position(|known| *known == excerpt.source);
            let source = known.unwrap_or_else(|| {
                sources.push(excerpt.source.clone());
                sources.len() - 1
            });
            let snapshot = excerpt.source.read(cx).snapshot();
            let from = placement::rows(&snapshot, excerpt.rows);
            if !places.is_empty() {
                text.push('\n');
            }
            let start = base::ByteOffset(text.len());
            text.push_str(&snapshot.text(from));
            let at = Span::new(start, base::ByteOffset(text.len()));
            places.push(ExcerptPlacement { source, from, at });
        }
        let shown = DocumentModel::open(Document::of_text(&text), environment, cx);
        let mut subscriptions = vec![cx.subscribe(&shown, Self::on_shown)];
        subscriptions.extend(
            sources
                .iter()
                .map(|source| cx.subscribe(source, Self::on_source)),
        );
        let source_at = sources
            .iter()
            .map(|source| (source.entity_id(), source.read(cx).snapshot().revision()))
            .collect();
        let mut this = Self {
            shown_at: shown.read(cx).snapshot().revision(),
            shown,
            sources,
            source_at,
            places,
            _diagnosing: None,
            _subscriptions: subscriptions,
        };
        this.show_diagnostics(cx);
        this
    }

    /// Returns the model of the combined text, for a view. Edits of it are applied to the sources.
    pub fn combined(&self) -> &Entity<DocumentModel> {
        &self.shown
    }

    /// Returns the source documents, each once.
    pub fn sources(&self) -> &[Entity<DocumentModel>] {
        &self.sources
    }

    /// Returns the number of excerpts.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Returns the source of an excerpt, and the current rows of the excerpt in this source.
    /// Returns `None` if the index is unknown.
    pub fn excerpt(&self, index: usize, cx: &App) -> Option<(Entity<DocumentModel>, RowSpan)> {
        let place = self.places.get(index)?;
        let source = self.sources.get(place.source)?;
        let snapshot = source.read(cx).snapshot();
        let start = snapshot.point_at(place.from.start).row;
        let end = snapshot.point_at(place.from.end).row + 1;
        Some((source.clone(), RowSpan { start, end }))
    }

    /// Returns the row of the combined text where an excerpt begins. Returns `None` for an unknown
    /// index.
    pub fn first_row(&self, index: usize, cx: &App) -> Option<Row> {
        let place = self.places.get(index)?;
        Some(self.shown.read(cx).snapshot().point_at(place.at.start).row)
    }

    /// Returns the origin of a row of the combined text: the index of the excerpt, its source and
    /// the row in this source. Returns `None` if the row belongs to no excerpt.
    pub fn source_of(&self, row: Row, cx: &App) -> Option<(usize, Entity<DocumentModel>, Row)> {
        let shown = self.shown.read(cx).snapshot();
        let index = self.index_at(&shown, row)?;
        let place = &self.places[index];
        let source = self.sources.get(place.source)?;
        let first = shown.point_at(place.at.start).row;
        let from = source.read(cx).snapshot().point_at(place.from.start).row;
        Some((index, source.clone(), from + row.0.saturating_sub(first.0)))
    }

    /// Returns the path of the file from which a row of the combined text comes. Returns `None` if
    /// the row has no source or the source is untitled.
    pub fn path_of(&self, row: Row, cx: &App) -> Option<AbsPath> {
        let (_, source, _) = self.source_of(row, cx)?;
        source.read(cx).path().cloned()
    }

    /// Returns the index of the excerpt that contains a row of the combined text. A row past the
    /// end counts as the last row. Returns `None` without excerpts.
    fn index_at(&self, shown: &Snapshot, row: Row) -> Option<usize> {
        let offset = shown.row_start(row.min(shown.last_row()));
        self.places
            .partition_point(|place| place.at.start <= offset)
            .checked_sub(1)
    }

    /// Returns the line numbers of rows in their sources, counted from 1.
    pub(crate) fn numbers(&self, rows: Range<Row>, cx: &App) -> Vec<u32> {
        let shown = self.shown.read(cx).snapshot();
        let mut numbers = Vec::with_capacity((rows.end.0.saturating_sub(rows.start.0)) as usize);
        for row in (rows.start.0..rows.end.0).map(Row) {
            let number = self.index_at(&shown, row).map(|index| {
                let place = &self.places[index];
                let first = shown.point_at(place.at.start).row;
                let source = self.sources[place.source].read(cx).snapshot();
                let from = source.point_at(place.from.start).row;
                from.0 + row.0.saturating_sub(first.0) + 1
            });
            numbers.push(number.unwrap_or(row.0 + 1));
        }
        numbers
    }

    /// Returns the snapshots needed to highlight rows of the combined text, for
    /// `ExcerptColours::of_rows` on any thread.
    pub(crate) fn colours(&self, rows: Range<Row>, cx: &App) -> ExcerptColours {
        let shown = self.shown.read(cx).snapshot();
        let mut parts = Vec::new();
        for place in &self.places {
            let first = shown.point_at(place.at.start).row;
            let end = shown.point_at(place.at.end).row + 1;
            if end <= rows.start {
                continue;
            }
            if first >= rows.end {
                break;
            }
            let source = self.sources[place.source].read(cx);
            let snapshot = source.snapshot();
            let from = snapshot.point_at(place.from.start).row;
            let (start, end) = (first.max(rows.start), end.min(rows.end));
            let there = from + (start.0 - first.0)..from + (end.0 - first.0);
            parts.push((start, source.syntax().cloned(), snapshot, there));
        }
        ExcerptColours { rows, parts }
    }

    fn on_shown(&mut self, _: Entity<DocumentModel>, event: &ModelEvent, cx: &mut Context<Self>) {
        if matches!(event, ModelEvent::Edited(_)) {
            self.sync(cx);
        }
    }

    fn on_source(&mut self, _: Entity<DocumentModel>, event: &ModelEvent, cx: &mut Context<Self>) {
        match event {
            ModelEvent::Edited(_) => self.sync(cx),
            ModelEvent::SyntaxUpdated => cx.emit(ExcerptsEvent::SyntaxUpdated),
            ModelEvent::StateChanged | ModelEvent::Saved => cx.emit(ExcerptsEvent::StateChanged),
            ModelEvent::DiagnosticsUpdated => {
                // The placements must refer to the text in which the diagnostics are.
                self.sync(cx);
                self.show_diagnostics(cx);
            }
            ModelEvent::HunksUpdated | ModelEvent::GutterMarksUpdated | ModelEvent::Rested => {}
        }
    }

    /// Applies pending changes in both directions.
    fn sync(&mut self, cx: &mut Context<Self>) {
        let foreign = self.follow_sources(cx);
        let carried = self.carry_shown(cx);
        let refused = match carried {
            Ok(is_exact) if is_exact && !foreign => None,
            Ok(_) => {
                self.repair(cx);
                None
            }
            Err(error) => {
                self.repair(cx);
                Some(error.to_string())
            }
        };
        if let Some(sentence) = refused {
            cx.emit(ExcerptsEvent::Refused(sentence));
        }
        cx.notify();
    }

    /// Maps the placements through changes of the sources. Returns whether one of them was touched.
    fn follow_sources(&mut self, cx: &mut Context<Self>) -> bool {
        let mut is_touched = false;
        for (index, source) in self.sources.iter().enumerate() {
            let known = self.source_at.get(&source.entity_id()).copied();
            let buffer = source.read(cx).document().buffer();
            let now = buffer.snapshot();
            let Some(known) = known.filter(|known| *known != now.revision()) else {
                continue;
            };
            let change = buffer.changes_since(known);
            for place in self.places.iter_mut().filter(|place| place.source == index) {
                is_touched |= match &change {
                    Some(change) => place.follow_source(change, &now),
                    // The edits leading to the text are unknown: keep the same row numbers,
                    // clipped.
                    None => {
                        place.clip_source(&now);
                        true
                    }
                };
            }
            self.source_at.insert(source.entity_id(), now.revision());
        }
        is_touched
    }

    /// Applies edits of the combined text to the sources. Returns whether the excerpts equal their
    /// sources afterwards, or the reason an edit cannot be applied.
    fn carry_shown(&mut self, cx: &mut Context<Self>) -> Result<bool, ExcerptEditError> {
        let buffer = self.shown.read(cx).document().buffer();
        let now = buffer.snapshot();
        if now.revision() == self.shown_at {
            return Ok(true);
        }
        let change = buffer.changes_since(self.shown_at);
        self.shown_at = now.revision();
        let Some(change) = change else {
            return Ok(false);
        };
        let mut edits: HashMap<usize, Vec<Edit>> = HashMap::new();
        let mut is_exact = true;
        for splice in &change.splices {
            let text = now.text(splice.new).into_owned();
            let carried = carry(&self.places, splice, &text, |place| {
                self.sources[place.source].read(cx).snapshot()
            });
            let (source, mut edit) = match carried {
                MappedEdit::Within(source, edit) => (source, edit),
                MappedEdit::WholeRow(source, edit) => {
                    is_exact = false;
                    (source, edit)
                }
                MappedEdit::Across => {
                    return Err(ExcerptEditError::AcrossExcerpts);
                }
            };
            let document = self.sources[source].read(cx).document();
            if !document.can_edit() {
                return Err(ExcerptEditError::ReadOnly(document.title()));
            }
            if document.buffer().line_ending() == LineEnding::CrLf && edit.text.contains('\n') {
                edit.text = edit.text.replace("\r\n", "\n").replace('\n', "\r\n");
                is_exact = false;
            }
            edits.entry(source).or_default().push(edit);
        }
        for place in &mut self.places {
            place.follow_shown(&change);
        }
        let kind = kind_of(&change, &now);
        for (source, edits) in edits {
            is_exact &= self.edit_source(source, &edits, change.author, kind, cx);
        }
        Ok(is_exact)
    }

    /// Applies edits to one source. Returns whether no other excerpt shows the changed rows.
    fn edit_source(
        &mut self,
        index: usize,
        edits: &[Edit],
        author: Author,
        kind: EditKind,
        cx: &mut Context<Self>,
    ) -> bool {
        let source = self.sources[index].clone();
        let before = source.read(cx).snapshot().revision();
        source.update(cx, |source, cx| source.edit_as(edits, author, kind, cx));
        let buffer = source.read(cx).document().buffer();
        let now = buffer.snapshot();
        let change = buffer.changes_since(before);
        self.source_at.insert(source.entity_id(), now.revision());
        let mut touched = 0;
        for place in self.places.iter_mut().filter(|place| place.source == index) {
            touched += match &change {
                Some(change) => usize::from(place.follow_source(change, &now)),
                None => edits.len() + 1,
            };
        }
        touched <= edits.len()
    }

    /// Updates the combined text to match the sources.
    fn repair(&mut self, cx: &mut Context<Self>) {
        let snapshots: Vec<Snapshot> = self
            .sources
            .iter()
            .map(|source| source.read(cx).snapshot())
            .collect();
        let mut text = String::new();
        let mut places = self.places.clone();
        for (index, place) in places.iter_mut().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            let start = base::ByteOffset(text.len());
            text.push_str(&snapshots[place.source].text(place.from));
            place.at = Span::new(start, base::ByteOffset(text.len()));
        }
        let shown = self.shown.read(cx).snapshot();
        let actual = shown.to_string();
        let edits = differing(&self.places, &places, &actual, &text);
        if !edits.is_empty() {
            self.shown.update(cx, |shown, cx| {
                shown.edit_as(&edits, Author::User, EditKind::Other, cx)
            });
        }
        self.places = places;
        self.shown_at = self.shown.read(cx).snapshot().revision();
    }
}

/// Infers the kind of an edit from its effect, so that undo steps in the sources match those in the
/// view.
fn kind_of(change: &Change, now: &Snapshot) -> EditKind {
    let is_typed = |splice: &text::Splice| {
        splice.old.is_empty() && splice.new.len() <= 4 && !now.text(splice.new).contains('\n')
    };
    let is_deleted = |splice: &text::Splice| splice.new.is_empty() && splice.old.len() <= 4;
    if change.splices.iter().all(is_typed) {
        EditKind::Typing
    } else if change.splices.iter().all(is_deleted) {
        EditKind::Deleting
    } else {
        EditKind::Other
    }
}

/// Rows of several texts with their trees, captured for highlighting on any thread.
pub(crate) struct ExcerptColours {
    rows: Range<Row>,
    parts: Vec<(Row, Option<SyntaxSnapshot>, Snapshot, Range<Row>)>,
}

impl ExcerptColours {
    /// Computes the highlights of each row, in order. Rows without a syntax tree get no highlights.
    pub(crate) fn of_rows(&self) -> Vec<RowHighlights> {
        let count = self.rows.end.0.saturating_sub(self.rows.start.0) as usize;
        let mut result = vec![RowHighlights::default(); count];
        for (first, syntax, snapshot, there) in &self.parts {
            let Some(syntax) = syntax else { continue };
            let colours = TextColours::of_syntax(syntax.clone());
            let found = colours.of_rows(snapshot, there.clone());
            let from = (first.0 - self.rows.start.0) as usize;
            for (slot, highlights) in result[from..].iter_mut().zip(found) {
                *slot = highlights;
            }
        }
        result
    }
}

#[cfg(test)]
mod tests;
