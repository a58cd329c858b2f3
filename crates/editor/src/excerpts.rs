//! Rows of several texts, one below the other, shown and edited as one text.
//!
//! The shown text is the excerpts with a line feed between two. What is typed within one goes to the text it was taken
//! from, and what happens there comes back. Undo in the shown text is an edit like any other.
//! Invariant: when no change is under way, each excerpt equals its rows in its source.
//! Must not know: where the places came from, how the sources are saved. Start at `Excerpts::sync`.

mod place;

use std::collections::HashMap;
use std::ops::Range;

use base::{AbsPath, Revision, Row, Span};
use gpui_kit::{App, Context, Entity, EntityId, EventEmitter, Subscription};
use project::Document;
use syntax::SyntaxSnapshot;
use text::{Author, Change, Edit, EditKind, LineEnding, RowSpan, Snapshot};

use crate::element::{RowHighlights, highlights_of_rows};
use crate::model::{DocumentModel, Environment, ModelEvent};
use place::{Carried, Place, carry, differing};

/// Rows of a text that are to be shown.
pub struct Excerpt {
    /// The text.
    pub source: Entity<DocumentModel>,
    /// Which rows of it.
    pub rows: RowSpan,
}

/// What a view of excerpts hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExcerptsEvent {
    /// An edit could not be carried to where the rows came from, for this reason: a sentence for the user.
    Refused(String),
    /// The colours of the rows are others now.
    SyntaxUpdated,
    /// A source stands otherwise to its file now.
    StateChanged,
}

/// The excerpts and the text they make together.
pub struct Excerpts {
    shown: Entity<DocumentModel>,
    shown_at: Revision,
    sources: Vec<Entity<DocumentModel>>,
    /// The revision of each source that the places mean.
    source_at: HashMap<EntityId, Revision>,
    places: Vec<Place>,
    _subscriptions: Vec<Subscription>,
}

impl EventEmitter<ExcerptsEvent> for Excerpts {}

impl Excerpts {
    /// Shows these rows in this order.
    pub fn new(excerpts: Vec<Excerpt>, environment: Environment, cx: &mut Context<Self>) -> Self {
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
            let from = place::rows(&snapshot, excerpt.rows);
            if !places.is_empty() {
                text.push('\n');
            }
            let start = base::ByteOffset(text.len());
            text.push_str(&snapshot.text(from));
            let at = Span::new(start, base::ByteOffset(text.len()));
            places.push(Place { source, from, at });
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
        Self {
            shown_at: shown.read(cx).snapshot().revision(),
            shown,
            sources,
            source_at,
            places,
            _subscriptions: subscriptions,
        }
    }

    /// The text they make together.
    pub fn shown(&self) -> &Entity<DocumentModel> {
        &self.shown
    }

    /// The texts they were taken from, each once.
    pub fn sources(&self) -> &[Entity<DocumentModel>] {
        &self.sources
    }

    /// How many excerpts there are.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The source of an excerpt, and the rows it shows now.
    pub fn excerpt(&self, index: usize, cx: &App) -> Option<(Entity<DocumentModel>, RowSpan)> {
        let place = self.places.get(index)?;
        let source = self.sources.get(place.source)?;
        let snapshot = source.read(cx).snapshot();
        let start = snapshot.point_at(place.from.start).row;
        let end = snapshot.point_at(place.from.end).row + 1;
        Some((source.clone(), RowSpan { start, end }))
    }

    /// The row of the shown text where an excerpt begins.
    pub fn first_row(&self, index: usize, cx: &App) -> Option<Row> {
        let place = self.places.get(index)?;
        Some(self.shown.read(cx).snapshot().point_at(place.at.start).row)
    }

    /// Where a row of the shown text comes from: the excerpt, its source and the row there.
    pub fn source_of(&self, row: Row, cx: &App) -> Option<(usize, Entity<DocumentModel>, Row)> {
        let shown = self.shown.read(cx).snapshot();
        let index = self.index_at(&shown, row)?;
        let place = &self.places[index];
        let source = self.sources.get(place.source)?;
        let first = shown.point_at(place.at.start).row;
        let from = source.read(cx).snapshot().point_at(place.from.start).row;
        Some((index, source.clone(), from + row.0.saturating_sub(first.0)))
    }

    /// The file that a row of the shown text comes from.
    pub fn path_of(&self, row: Row, cx: &App) -> Option<AbsPath> {
        let (_, source, _) = self.source_of(row, cx)?;
        source.read(cx).path().cloned()
    }

    fn index_at(&self, shown: &Snapshot, row: Row) -> Option<usize> {
        let offset = shown.row_start(row.min(shown.last_row()));
        self.places
            .partition_point(|place| place.at.start <= offset)
            .checked_sub(1)
    }

    /// The numbers that rows have in their sources, from 1.
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

    /// What is needed to colour rows of the shown text, in the background if wanted.
    pub(crate) fn colours(&self, rows: Range<Row>, cx: &App) -> Colours {
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
        Colours { rows, parts }
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
            ModelEvent::HunksUpdated => {}
        }
    }

    /// Carries what happened since the last time, both ways.
    fn sync(&mut self, cx: &mut Context<Self>) {
        let foreign = self.follow_sources(cx);
        let carried = self.carry_shown(cx);
        let refused = match carried {
            Ok(is_exact) if is_exact && !foreign => None,
            Ok(_) => {
                self.repair(cx);
                None
            }
            Err(sentence) => {
                self.repair(cx);
                Some(sentence)
            }
        };
        if let Some(sentence) = refused {
            cx.emit(ExcerptsEvent::Refused(sentence));
        }
        cx.notify();
    }

    /// Moves the places along with what others did to the sources; whether that touched one of them.
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
                    // It is not known how the text came to be: the same rows, as far as there are any.
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

    /// Carries edits of the shown text to the sources. Whether the excerpts equal their sources after that, or why an
    /// edit cannot be carried.
    fn carry_shown(&mut self, cx: &mut Context<Self>) -> Result<bool, String> {
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
                Carried::Within(source, edit) => (source, edit),
                Carried::WholeRow(source, edit) => {
                    is_exact = false;
                    (source, edit)
                }
                Carried::Across => {
                    return Err(
                        "Lines of different places cannot be joined here: open the file to do that"
                            .to_owned(),
                    );
                }
            };
            let document = self.sources[source].read(cx).document();
            if !document.can_edit() {
                return Err(format!("{} cannot be edited", document.title()));
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

    /// Whether only the excerpt that was typed in shows the rows that changed.
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

    /// Makes the shown text what the sources say.
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

/// How an edit came about, told from what it did, so that the steps of the sources are as large as those seen.
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

/// Rows of several texts with their trees: what colours need.
pub(crate) struct Colours {
    rows: Range<Row>,
    parts: Vec<(Row, Option<SyntaxSnapshot>, Snapshot, Range<Row>)>,
}

impl Colours {
    /// The colours of each of the rows.
    pub(crate) fn of_rows(&self) -> Vec<RowHighlights> {
        let count = self.rows.end.0.saturating_sub(self.rows.start.0) as usize;
        let mut result = vec![RowHighlights::default(); count];
        for (first, syntax, snapshot, there) in &self.parts {
            let Some(syntax) = syntax else { continue };
            let found = highlights_of_rows(syntax, snapshot, there.clone());
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
