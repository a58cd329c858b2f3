//! Conflicts of merges in the texts of a window: a block above each one with its resolutions, steps
//! between them, the versions of both sides beside it, and marking a text as resolved. Conflicts of a
//! landing are shown in the same way.
//!
//! Invariant: showing conflicts changes no text, and saving resolves nothing.
//! Start at `refresh`, which finds the conflicts of a text, and at `mark_resolved`.

mod block;
mod listing;
mod sides;
mod staging;

use std::collections::HashMap;

use base::{AbsPath, ByteOffset, Revision, Row};
use editor::{DocumentModel, Editor, ReviewMark};
use git::conflict::{
    ConflictResolution, ConflictSet, MergeProposal, ResolvedStages, StagedConflict, TextConflict,
};
use git::{FileStatus, Repository};
use gpui_kit::{
    AppContext as _, Context, Div, Entity, EntityId, InteractiveElement as _, Stateful, Task,
    Window,
};
use text::{Author, Edit, RowSpan, Snapshot};

use super::{Workbench, review};
use crate::actions::conflicts::{
    AcceptAllOurs, AcceptAllTheirs, AcceptBase, AcceptBoth, AcceptBothTheirsFirst, AcceptOurs,
    AcceptProposal, AcceptTheirs, MarkResolved, NextConflict, OpenMergeEditor, PreviousConflict,
    ShowBase, ShowConflicts, UndoMarkResolved,
};
use crate::documents::Documents;
use crate::item::TabItem;
use crate::open_options::OpenOptions;
use block::ConflictBlock;
pub(super) use staging::mark_resolved;

/// Key of notifications about conflicts.
const NOTICE: &str = "conflicts";

/// The conflicts that a window shows.
#[derive(Default)]
pub(super) struct ShownConflicts {
    /// By document.
    texts: HashMap<EntityId, TextInConflict>,
    /// Views of the sides beside a document.
    sides: HashMap<EntityId, Vec<sides::SideView>>,
    /// Read the conflicts of a document.
    reading: HashMap<EntityId, Task<()>>,
    /// The file that was marked as resolved last.
    resolved: Option<(AbsPath, ResolvedStages)>,
}

/// The conflicts in one text.
struct TextInConflict {
    set: ConflictSet,
    /// The text to which the places in `set` belong.
    revision: Revision,
    source: ConflictSource,
}

/// The origin of the conflicts in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ConflictSource {
    /// Markers alone; the index has no conflict of the file.
    Markers,
    /// An unmerged path of the index.
    Index(StagedConflict),
    /// A file of an agent's landing.
    Landing(LandingDraft),
}

/// A conflict of a landing, which the user resolves in a text of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LandingDraft {
    agent: String,
    path: String,
    /// Initial text, including conflict markers.
    draft: String,
}

/// The conflicts that were read, and the text in which they were found.
type ReadConflicts = (Revision, ConflictSet, ConflictSource);

#[derive(Clone, Copy)]
enum StepDirection {
    Next,
    Previous,
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    use ConflictResolution as R;
    element
        .on_action(cx.listener(|this, _: &AcceptOurs, window, cx| {
            accept(this, R::Ours, window, cx);
        }))
        .on_action(cx.listener(|this, _: &AcceptTheirs, window, cx| {
            accept(this, R::Theirs, window, cx);
        }))
        .on_action(cx.listener(|this, _: &AcceptBoth, window, cx| {
            accept(this, R::OursThenTheirs, window, cx);
        }))
        .on_action(cx.listener(|this, _: &AcceptBothTheirsFirst, window, cx| {
            accept(this, R::TheirsThenOurs, window, cx);
        }))
        .on_action(cx.listener(|this, _: &AcceptBase, window, cx| {
            accept(this, R::Base, window, cx);
        }))
        .on_action(cx.listener(accept_proposal))
        .on_action(cx.listener(|this, _: &AcceptAllOurs, window, cx| {
            accept_all(this, R::Ours, window, cx);
        }))
        .on_action(cx.listener(|this, _: &AcceptAllTheirs, window, cx| {
            accept_all(this, R::Theirs, window, cx);
        }))
        .on_action(cx.listener(|this, _: &NextConflict, window, cx| {
            step(this, StepDirection::Next, window, cx);
        }))
        .on_action(cx.listener(|this, _: &PreviousConflict, window, cx| {
            step(this, StepDirection::Previous, window, cx);
        }))
        .on_action(cx.listener(|this, _: &MarkResolved, window, cx| {
            if !mark_resolved(this, window, cx) {
                tell_none(this, window, cx);
            }
        }))
        .on_action(cx.listener(|this, _: &UndoMarkResolved, window, cx| {
            staging::undo_mark_resolved(this, window, cx);
        }))
        .on_action(cx.listener(|this, _: &OpenMergeEditor, window, cx| {
            sides::open_sides(this, &sides::BOTH, window, cx);
        }))
        .on_action(cx.listener(|this, _: &ShowBase, window, cx| {
            sides::open_sides(this, &sides::BASE, window, cx);
        }))
        .on_action(cx.listener(|this, _: &ShowConflicts, window, cx| {
            listing::show_conflicts(this, window, cx);
        }))
}

impl TextInConflict {
    /// Follows the text. Returns whether a conflict was resolved or opened.
    fn follow(&mut self, model: &DocumentModel) -> bool {
        let snapshot = model.snapshot();
        if snapshot.revision() == self.revision {
            return false;
        }
        let change = model.document().buffer().changes_since(self.revision);
        self.revision = snapshot.revision();
        match change {
            Some(change) => self.set.follow(&change, &snapshot),
            None => {
                let names = self.set.names().clone();
                self.set = ConflictSet::of_markers(&snapshot.to_string(), Some(names));
                true
            }
        }
    }

    /// Returns the marks of all conflicts, or one mark above the text if there are none.
    fn marks(&self, document: &Entity<DocumentModel>, cx: &Context<Workbench>) -> Vec<ReviewMark> {
        let snapshot = document.read(cx).snapshot();
        let count = self.set.conflicts().len();
        let blocks = (0..count.max(1)).map(|index| {
            let conflict = self.set.conflicts().get(index);
            let span = conflict.map_or(base::Span::at(ByteOffset(0)), |it| it.span());
            let rows = rows_of(&snapshot, span);
            let block = ConflictBlock {
                workbench: cx.weak_entity(),
                document: document.downgrade(),
                index,
                count,
                is_last_open: self.set.remaining() == 0,
                names: self.set.names().clone(),
                resolution: conflict.and_then(|it| it.resolution()),
                has_base: conflict.is_some_and(|it| it.text_of(ConflictResolution::Base).is_some()),
                proposal: conflict
                    .filter(|it| it.resolution().is_none())
                    .and_then(|it| it.proposal().cloned()),
                sides: conflict.and_then(|it| side_rows(it, rows)),
            };
            // Only the rows of a resolution have the background of added ones.
            let end = match block.resolution {
                Some(_) => rows.end,
                None => rows.start,
            };
            block.mark(RowSpan { end, ..rows }, cx)
        });
        blocks.collect()
    }
}

/// Returns the rows of both sides of an open conflict in `rows`, each with its marker line.
fn side_rows(conflict: &TextConflict, rows: RowSpan) -> Option<[RowSpan; 2]> {
    if conflict.resolution().is_some() {
        return None;
    }
    let lines = |side| {
        let text = conflict.text_of(side).unwrap_or_default();
        text.lines().count() as u32 + 1
    };
    let ours = (rows.start + lines(ConflictResolution::Ours)).min(rows.end);
    let theirs = rows.end.0.saturating_sub(lines(ConflictResolution::Theirs));
    Some([
        RowSpan { end: ours, ..rows },
        RowSpan {
            start: Row(theirs).max(ours),
            ..rows
        },
    ])
}

/// Returns the rows of a place; empty at its row if the place is empty.
fn rows_of(snapshot: &Snapshot, span: base::Span) -> RowSpan {
    let (start, end) = (snapshot.point_at(span.start), snapshot.point_at(span.end));
    let is_in_row = end.column.0 > 0 && !span.is_empty();
    RowSpan {
        start: start.row,
        end: end.row + u32::from(is_in_row),
    }
}

/// Finds the conflicts of all open texts again, after the state of Git changed.
pub(super) fn refresh_all(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    let items = workbench.items.values();
    let documents: Vec<_> = items.flat_map(|entry| entry.item.documents(cx)).collect();
    let is_open = |id: &EntityId| documents.iter().any(|it| it.entity_id() == *id);
    workbench.conflicts.texts.retain(|id, _| is_open(id));
    workbench.conflicts.reading.retain(|id, _| is_open(id));
    workbench.conflicts.sides.retain(|id, _| is_open(id));
    for document in &documents {
        refresh(workbench, document, cx);
    }
}

/// Finds the conflicts of a text in the background, or hides them if Git has none any more.
pub(super) fn refresh(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    cx: &mut Context<Workbench>,
) {
    let path = document.read(cx).path().cloned();
    let folder = workbench.folder.as_ref().map(|folder| folder.read(cx));
    let status = path.and_then(|path| folder?.status_of(&path));
    if status == Some(FileStatus::Conflicted) {
        let reading = read_later(document, cx);
        let shown = document.downgrade();
        let task = cx.spawn(async move |this, cx| {
            let read = reading.await;
            let taken = this.update(cx, |this, cx| {
                if let Some(document) = shown.upgrade() {
                    take(this, &document, read, cx);
                }
            });
            taken.ok();
        });
        let id = document.entity_id();
        workbench.conflicts.reading.insert(id, task);
        return;
    }
    let known = workbench.conflicts.texts.get(&document.entity_id());
    if known.is_some_and(|known| matches!(known.source, ConflictSource::Index(_))) {
        hide(workbench, document, cx);
    }
}

/// Reads the conflicts of a text in the background.
fn read_later(
    document: &Entity<DocumentModel>,
    cx: &mut Context<Workbench>,
) -> Task<ReadConflicts> {
    let model = document.read(cx);
    let (path, snapshot) = (model.path().cloned(), model.snapshot());
    cx.background_spawn(async move {
        let (set, source) = read_conflicts(path.as_ref(), &snapshot.to_string());
        (snapshot.revision(), set, source)
    })
}

/// Reads the conflicts of a text: by the stages of the index, or else by markers. A repository that
/// cannot be read has no stages.
fn read_conflicts(path: Option<&AbsPath>, text: &str) -> (ConflictSet, ConflictSource) {
    let staged = || {
        let path = path?;
        let repository = Repository::discover(&path.parent()?).ok()?;
        let conflict = repository.conflict_at(path).ok()??;
        let stages = repository.text_stages(&conflict).ok()?;
        let size = repository.marker_size(&conflict.path);
        let set = ConflictSet::read(text, stages, repository.conflict_names(), size);
        Some((set, ConflictSource::Index(conflict)))
    };
    staged().unwrap_or_else(|| (ConflictSet::of_markers(text, None), ConflictSource::Markers))
}

/// Shows conflicts that were read. Ignores those of an earlier text; typing rests again, which reads
/// them again. Conflicts that are shown already stay, with their resolutions.
fn take(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    (revision, set, source): ReadConflicts,
    cx: &mut Context<Workbench>,
) {
    let id = document.entity_id();
    workbench.conflicts.reading.remove(&id);
    let is_current = document.read(cx).snapshot().revision() == revision;
    let is_empty = set.conflicts().is_empty() && source == ConflictSource::Markers;
    let known = workbench.conflicts.texts.get(&id);
    let is_shown = known.is_some_and(|known| {
        known.source == source && (known.set.remaining() > 0 || set.remaining() == 0)
    });
    if !is_current || is_empty || is_shown {
        return;
    }
    let text = TextInConflict {
        set,
        revision,
        source,
    };
    workbench.conflicts.texts.insert(id, text);
    show(workbench, document, cx);
}

/// Follows an edit of a text.
pub(super) fn follow(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    cx: &mut Context<Workbench>,
) {
    let text = workbench.conflicts.texts.get_mut(&document.entity_id());
    if text.is_some_and(|text| text.follow(document.read(cx))) {
        show(workbench, document, cx);
    }
}

/// Shows the conflicts of a text in all its views.
fn show(workbench: &mut Workbench, document: &Entity<DocumentModel>, cx: &mut Context<Workbench>) {
    for editor in editors_of(workbench, document, cx) {
        show_in(workbench, &editor, cx);
    }
}

/// Returns whether the conflicts of a document are shown.
pub(super) fn is_shown(workbench: &Workbench, document: EntityId) -> bool {
    workbench.conflicts.texts.contains_key(&document)
}

/// Shows the conflicts of the text in a view. Returns whether it has any.
pub(super) fn show_in(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    cx: &mut Context<Workbench>,
) -> bool {
    let document = editor.read(cx).model().clone();
    let Some(text) = workbench.conflicts.texts.get(&document.entity_id()) else {
        return false;
    };
    let marks = text.marks(&document, cx);
    review::forget(workbench, editor.entity_id());
    editor.update(cx, |editor, cx| editor.set_review(marks, cx));
    true
}

/// Shows the conflicts of a text no longer, but changes of agents again.
fn hide(workbench: &mut Workbench, document: &Entity<DocumentModel>, cx: &mut Context<Workbench>) {
    workbench.conflicts.texts.remove(&document.entity_id());
    for editor in editors_of(workbench, document, cx) {
        editor.update(cx, |editor, cx| editor.set_review(Vec::new(), cx));
        workbench.refresh_review_in(&editor, cx);
    }
}

fn editors_of(
    workbench: &Workbench,
    document: &Entity<DocumentModel>,
    cx: &Context<Workbench>,
) -> Vec<Entity<Editor>> {
    let items = workbench.items.values();
    let editors = items.filter_map(|entry| entry.item.editor());
    let editors = editors.filter(|editor| editor.read(cx).model() == document);
    editors.cloned().collect()
}

/// Returns the active text if its conflicts are shown.
fn active_text(workbench: &Workbench, cx: &Context<Workbench>) -> Option<Entity<DocumentModel>> {
    let document = workbench.active_document(cx)?;
    is_shown(workbench, document.entity_id()).then_some(document)
}

/// Returns the conflict at the caret of the active text.
fn at_caret(
    workbench: &mut Workbench,
    cx: &mut Context<Workbench>,
) -> Option<(Entity<DocumentModel>, usize)> {
    let document = active_text(workbench, cx)?;
    let caret = caret(workbench, cx)?;
    let text = workbench.conflicts.texts.get(&document.entity_id())?;
    Some((document, text.set.at(caret)?))
}

fn caret(workbench: &Workbench, cx: &mut Context<Workbench>) -> Option<ByteOffset> {
    let editor = workbench.active_item().and_then(TabItem::editor)?.clone();
    Some(editor.update(cx, |editor, cx| editor.selections(cx).primary().head))
}

fn tell_none(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    let sentence = "No conflict is shown in this text. Go to the next conflict to find them.";
    workbench.tell(NOTICE, sentence, window, cx);
}

/// Resolves the conflict at the caret and goes to the next open one.
fn accept(
    workbench: &mut Workbench,
    resolution: ConflictResolution,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((document, index)) = at_caret(workbench, cx) else {
        return tell_none(workbench, window, cx);
    };
    if !resolve(workbench, &document, index, resolution, cx) {
        let sentence = "The common base of this conflict is not known.";
        return workbench.tell(NOTICE, sentence, window, cx);
    }
    go_on(workbench, &document, index, cx);
}

fn accept_proposal(
    workbench: &mut Workbench,
    _: &AcceptProposal,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((document, index)) = at_caret(workbench, cx) else {
        return tell_none(workbench, window, cx);
    };
    let text = workbench.conflicts.texts.get(&document.entity_id());
    let conflict = text.and_then(|text| text.set.conflicts().get(index));
    match conflict.and_then(|conflict| conflict.proposal().cloned()) {
        Some(proposal) => {
            put(workbench, &document, index, &proposal, cx);
            go_on(workbench, &document, index, cx);
        }
        None => {
            let sentence = "The changes of this conflict do not fit together by themselves.";
            workbench.tell(NOTICE, sentence, window, cx);
        }
    }
}

/// Resolves all open conflicts of the active text in one undo step.
fn accept_all(
    workbench: &mut Workbench,
    resolution: ConflictResolution,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(document) = active_text(workbench, cx) else {
        return tell_none(workbench, window, cx);
    };
    let text = workbench.conflicts.texts.get(&document.entity_id());
    let edits = text.map(|text| text.set.edits_for_all(resolution));
    apply(workbench, &document, &edits.unwrap_or_default(), cx);
}

/// Resolves a conflict. Returns `false` if the resolution has no text.
fn resolve(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    index: usize,
    resolution: ConflictResolution,
    cx: &mut Context<Workbench>,
) -> bool {
    let text = workbench.conflicts.texts.get(&document.entity_id());
    let Some(edit) = text.and_then(|text| text.set.edit(index, resolution)) else {
        return false;
    };
    apply(workbench, document, &[edit], cx);
    true
}

/// Puts a proposal in place of a conflict.
fn put(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    index: usize,
    proposal: &MergeProposal,
    cx: &mut Context<Workbench>,
) {
    let text = workbench.conflicts.texts.get(&document.entity_id());
    let conflict = text.and_then(|text| text.set.conflicts().get(index));
    if let Some(span) = conflict.map(|conflict| conflict.span()) {
        let edit = Edit::new(span, proposal.text.clone());
        apply(workbench, document, &[edit], cx);
    }
}

fn apply(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    edits: &[Edit],
    cx: &mut Context<Workbench>,
) {
    if !edits.is_empty() {
        document.update(cx, |model, cx| model.edit(edits, Author::User, cx));
        follow(workbench, document, cx);
    }
}

/// Goes to the open conflict after the one that was resolved, or stays at that one.
fn go_on(
    workbench: &Workbench,
    document: &Entity<DocumentModel>,
    index: usize,
    cx: &mut Context<Workbench>,
) {
    let Some(text) = workbench.conflicts.texts.get(&document.entity_id()) else {
        return;
    };
    let start = text.set.conflicts().get(index).map(|it| it.span().start);
    let next = start.and_then(|start| text.set.next(start));
    go_to(workbench, next.unwrap_or(index), cx);
}

fn go_to(workbench: &Workbench, index: usize, cx: &mut Context<Workbench>) {
    if let Some(editor) = workbench.active_item().and_then(TabItem::editor).cloned() {
        let document = editor.read(cx).model().entity_id();
        editor.update(cx, |editor, cx| editor.go_to_reviewed(index, cx));
        sides::follow(workbench, document, index, cx);
    }
}

/// Goes to the next or previous open conflict of the active text. Looks for markers first if no
/// conflict is shown.
fn step(
    workbench: &mut Workbench,
    direction: StepDirection,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(document) = workbench.active_document(cx) else {
        return;
    };
    if active_text(workbench, cx).is_some() {
        return step_in(workbench, &document, direction, window, cx);
    }
    let reading = read_later(&document, cx);
    let id = document.entity_id();
    let task = cx.spawn_in(window, async move |this, cx| {
        let read = reading.await;
        let stepped = this.update_in(cx, |this, window, cx| {
            take(this, &document, read, cx);
            step_in(this, &document, direction, window, cx);
        });
        stepped.ok();
    });
    workbench.conflicts.reading.insert(id, task);
}

fn step_in(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    direction: StepDirection,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let caret = caret(workbench, cx).unwrap_or_default();
    let text = workbench.conflicts.texts.get(&document.entity_id());
    let Some(text) = text.filter(|text| !text.set.conflicts().is_empty()) else {
        let sentence = "This text has no conflicts.";
        return workbench.tell(NOTICE, sentence, window, cx);
    };
    let found = match direction {
        StepDirection::Next => text.set.next(caret),
        StepDirection::Previous => text.set.previous(caret),
    };
    match found {
        Some(index) => go_to(workbench, index, cx),
        None => {
            let sentence = "All conflicts of this text are resolved.";
            workbench.tell(NOTICE, sentence, window, cx);
        }
    }
}

/// Opens a text in which the user resolves a file of a landing.
pub(super) fn write_dispute(
    workbench: &mut Workbench,
    (agent, path): (&str, &str),
    draft: &str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let source = ConflictSource::Landing(LandingDraft {
        agent: agent.to_owned(),
        path: path.to_owned(),
        draft: draft.to_owned(),
    });
    let open = workbench.items.iter().find(|(_, entry)| {
        let document = entry.item.document(cx);
        let text = document.and_then(|it| workbench.conflicts.texts.get(&it.entity_id()));
        text.is_some_and(|text| text.source == source)
    });
    if let Some((item, _)) = open {
        let item = *item;
        return workbench.activate(item, window, cx);
    }
    let document = Documents::untitled(cx);
    document.update(cx, |document, cx| {
        let insert = Edit::new(base::Span::at(ByteOffset(0)), draft);
        document.edit(&[insert], Author::User, cx);
        let language = syntax::language_for(std::path::Path::new(path), draft);
        document.set_language(language, cx);
    });
    let text = TextInConflict {
        set: ConflictSet::of_markers(draft, None),
        revision: document.read(cx).snapshot().revision(),
        source,
    };
    let conflicts = &mut workbench.conflicts;
    conflicts.texts.insert(document.entity_id(), text);
    let pane = workbench.layout.active_pane();
    workbench.leave_place(cx);
    workbench.open_document_in(document, pane, OpenOptions::lasting(), window, cx);
    go_to(workbench, 0, cx);
}
