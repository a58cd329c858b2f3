//! Earlier edits from a file: reverted from the last to the first, then replayed one by one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autocomplete::local::{Corpus, LocalPredictor};
use autocomplete::validate::{RecentEdits, check};
use autocomplete::{
    ChangeCause, DocumentEdit, EditHistory, EditorState, Suggestion, SuggestionIds,
};
use base::{AbsPath, Span};
use serde::Deserialize;
use text::{Buffer, EditOrigin, Snapshot, Timestamp};

use super::text::{CharPosition, Project, state_at};

/// Longest history that is read, in bytes.
const MAX_HISTORY_BYTES: u64 = 16 << 20;
/// The assumed time between two edits.
const APART: Duration = Duration::from_secs(5);

/// One edit in the JSON of a history.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryEntry {
    file: PathBuf,
    at: [u32; 2],
    old: String,
    new: String,
}

/// The edits, the oldest first, each with the texts before and after it.
#[derive(Default)]
pub(super) struct RecordedEdits {
    edits: Vec<DocumentEdit>,
    /// The texts after all edits, which are the texts on disk.
    texts: BTreeMap<AbsPath, Snapshot>,
}

/// An edit located in its text.
struct LocatedEdit {
    file: AbsPath,
    old: String,
    new: Span,
}

impl RecordedEdits {
    /// Reads a history and checks it against the files: each edit must have produced the text that
    /// the later ones started from.
    pub(super) fn read(path: &Path, project: &Project<'_>) -> Result<Self, String> {
        let name = path.display();
        let json = std::path::absolute(path).ok().and_then(AbsPath::new);
        let json = json.ok_or_else(|| format!("{name} is not a path"))?;
        let text = project.read(&json, MAX_HISTORY_BYTES)?;
        let written: Vec<HistoryEntry> = serde_json::from_str(&text)
            .map_err(|error| format!("{name} is not a history of edits: {error}"))?;
        let mut buffers: BTreeMap<AbsPath, Buffer> = BTreeMap::new();
        let mut placed = Vec::with_capacity(written.len());
        for (ix, edit) in written.iter().enumerate().rev() {
            let at = |why: String| format!("{name}: edit {}: {why}", ix + 1);
            let file = project.path(&edit.file).map_err(at)?;
            if !buffers.contains_key(&file) {
                buffers.insert(file.clone(), project.open(&file).map_err(at)?);
            }
            let Some(buffer) = buffers.get_mut(&file) else {
                continue;
            };
            let new = revert_edit(buffer, edit).map_err(at)?;
            let old = edit.old.clone();
            placed.push(LocatedEdit { file, old, new });
        }
        placed.reverse();
        Ok(Self::replay_edit(placed, buffers, &written))
    }

    fn replay_edit(
        placed: Vec<LocatedEdit>,
        mut buffers: BTreeMap<AbsPath, Buffer>,
        written: &[HistoryEntry],
    ) -> Self {
        let mut edits = Vec::with_capacity(placed.len());
        for (edit, written) in placed.into_iter().zip(written) {
            let Some(buffer) = buffers.get_mut(&edit.file) else {
                continue;
            };
            let before = buffer.snapshot();
            let span = Span::new(edit.new.start, edit.new.start + edit.old.len());
            let origin = EditOrigin::user(Timestamp(0));
            let change = buffer.replace(span, &written.new, &origin);
            let caret = change.splices.last().map_or(span.start, |it| it.new.end);
            edits.push(DocumentEdit {
                before,
                state: state_at(&edit.file, &buffer.snapshot(), caret),
                change,
                cause: ChangeCause::Typed,
            });
        }
        let texts = buffers
            .iter()
            .map(|(path, buffer)| (path.clone(), buffer.snapshot()));
        Self {
            texts: texts.collect(),
            edits,
        }
    }

    /// Returns the edits, the oldest first.
    pub(super) fn edits(&self) -> &[DocumentEdit] {
        &self.edits
    }

    /// Returns the editor state over the edited text, at its latest revision.
    pub(super) fn state(&self, state: &EditorState) -> EditorState {
        let text = state.path.as_ref().and_then(|path| self.texts.get(path));
        match (text, &state.path) {
            (Some(text), Some(path)) => state_at(path, text, state.caret),
            _ => state.clone(),
        }
    }

    /// Returns the suggestions of the local tier for the state after all edits, best first. The
    /// list is empty if the local tier has no suggestions.
    pub(super) fn local(&self, project: &Project<'_>, state: &EditorState) -> Vec<Suggestion> {
        let state = self.state(state);
        let mut corpus = Corpus::new();
        for (path, text) in project.texts() {
            // The engine takes the current file from its buffer.
            if Some(&path) != state.path.as_ref() {
                corpus.insert(&path, &text);
            }
        }
        let mut local = LocalPredictor::new();
        local.set_corpus(corpus.view());
        for path in self.texts.keys() {
            let first = self
                .edits
                .iter()
                .find(|edit| edit.state.path.as_ref() == Some(path));
            if let Some(edit) = first {
                local.note_tree(&state_at(path, &edit.before, 0.into()));
            }
        }
        let mut history = EditHistory::default();
        let mut recent = RecentEdits::default();
        for (edit, number) in self.edits.iter().zip(1..) {
            let now = APART * number;
            history.record(edit, now);
            recent.edited(edit, &history, now);
            local.edited(edit, &history);
        }
        local.note_tree(&state);
        let mut open: Vec<EditorState> = vec![state.clone()];
        let others = self
            .texts
            .iter()
            .filter(|(path, _)| Some(*path) != state.path.as_ref());
        open.extend(others.map(|(path, text)| state_at(path, text, 0.into())));
        if let Some(task) = local.background_task(&open) {
            local.finish(task.run());
        }
        let mut suggestions = local.suggest(&state, &mut SuggestionIds::default());
        suggestions.retain(|it| it.file.is_some() || check(&state, it, &recent).is_ok());
        suggestions
    }
}

/// Reverts an edit; returns the span of the text that it had inserted.
fn revert_edit(buffer: &mut Buffer, edit: &HistoryEntry) -> Result<Span, String> {
    let text = buffer.snapshot();
    let [line, column] = edit.at;
    if line == 0 || column == 0 {
        return Err("line and column of `at` count from 1".to_owned());
    }
    let start = CharPosition { line, column }.offset(&text)?;
    let span = Span::new(start, start + edit.new.len());
    if span.end > text.len() || text.text(span) != edit.new.as_str() {
        return Err(format!(
            "its new text is not at {line}:{column} of {}",
            edit.file.display()
        ));
    }
    buffer.replace(span, &edit.old, &EditOrigin::user(Timestamp(0)));
    Ok(span)
}
