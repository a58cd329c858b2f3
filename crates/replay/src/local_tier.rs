//! A simulated user who edits files, with the local tier recording the edits.

use std::sync::Arc;
use std::time::Duration;

use autocomplete::local::{CorpusView, LocalPredictor};
use autocomplete::{
    ChangeCause, DocumentEdit, EditHistory, EditorState, Suggestion, SuggestionIds,
};
use base::{AbsPath, ByteOffset, Row, Span};
use cpu_time::ThreadTime;
use syntax::{Budget, ParseStatus, SyntaxTree};
use text::{Buffer, Edit, EditOrigin, Timestamp};

use crate::ChangedFile;

/// An open file.
pub struct OpenFile {
    pub path: AbsPath,
    pub buffer: Buffer,
    tree: SyntaxTree,
    pub caret: ByteOffset,
    indent: String,
    /// The CPU time that the local tier took to record each change.
    pub heard: Vec<Duration>,
}

/// The local tier with the history of the edits.
pub struct LocalTier {
    pub local: LocalPredictor,
    history: EditHistory,
    ids: SuggestionIds,
}

impl LocalTier {
    pub fn new(corpus: Arc<CorpusView>) -> Self {
        let mut local = LocalPredictor::new();
        local.set_corpus(corpus);
        Self {
            local,
            history: EditHistory::default(),
            ids: SuggestionIds::default(),
        }
    }

    pub fn suggest(&mut self, state: &EditorState) -> Vec<Suggestion> {
        self.local.suggest(state, &mut self.ids)
    }

    pub fn all_suggestions(&mut self, state: &EditorState) -> Vec<Suggestion> {
        self.local.all_suggestions(state, &mut self.ids)
    }

    pub fn requested_suggestions(&mut self, state: &EditorState) -> Vec<Suggestion> {
        self.local.requested_suggestions(state, &mut self.ids)
    }

    pub fn word_suggestions(&mut self, state: &EditorState) -> Vec<Suggestion> {
        self.local.word_suggestions(state, &mut self.ids)
    }
}

/// Rows of a window.
const ROWS: u32 = 50;

impl OpenFile {
    pub fn new(file: &ChangedFile) -> Self {
        let mut open = Self {
            path: file.path.clone(),
            buffer: Buffer::new(&file.old),
            tree: SyntaxTree::new(file.language),
            caret: ByteOffset(0),
            indent: indent(&file.old),
            heard: Vec::new(),
        };
        open.parse();
        open
    }

    pub fn state(&self) -> EditorState {
        let snapshot = self.buffer.snapshot();
        let row = snapshot.point_at(self.caret).row;
        let first = row.0.saturating_sub(ROWS / 2);
        EditorState {
            path: Some(self.path.clone()),
            syntax: Some(self.tree.snapshot()),
            language: Some(self.tree.language()),
            caret: self.caret,
            rows: (Row(first), Row((first + ROWS).min(snapshot.row_count()))),
            indent: self.indent.clone(),
            snapshot,
        }
    }

    /// Replaces some text, and reports the change to the local tier.
    pub fn replace(&mut self, span: Span, new: &str, at: u64, tier: &mut LocalTier) {
        let edit = self.edit(span, new, at, ChangeCause::Typed);
        let start = ThreadTime::now();
        tier.history.record(&edit, Duration::from_millis(at));
        tier.local.edited(&edit, &tier.history);
        self.heard.push(start.elapsed());
    }

    /// Replaces some text, and moves the caret behind the new text.
    pub fn edit(&mut self, span: Span, new: &str, at: u64, cause: ChangeCause) -> DocumentEdit {
        let before = self.buffer.snapshot();
        let edits = [Edit::new(span, new)];
        let change = self.buffer.edit(&edits, &EditOrigin::user(Timestamp(at)));
        self.tree.edit(&before, &self.buffer.snapshot(), &change);
        self.parse();
        self.caret = span.start + new.len();
        DocumentEdit {
            before,
            state: self.state(),
            change,
            cause,
        }
    }

    fn parse(&mut self) {
        self.tree.language().prepare();
        let text = self.buffer.snapshot();
        let status = self.tree.parse(&text, &mut Budget::unlimited());
        debug_assert!(matches!(status, ParseStatus::Done | ParseStatus::Unsettled));
    }
}

/// Returns one step of indentation of a text: the shortest indentation that occurs.
fn indent(text: &str) -> String {
    let blanks = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .filter_map(|line| {
            let blanks = &line[..line.len() - line.trim_start().len()];
            (blanks.len() > 1 || blanks == "\t").then_some(blanks)
        });
    let shortest = blanks.min_by_key(|blanks| blanks.len()).unwrap_or("    ");
    if shortest.starts_with('\t') {
        "\t".to_owned()
    } else {
        shortest.to_owned()
    }
}
