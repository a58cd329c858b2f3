//! Somebody who edits a file, with the local tier listening.

use std::time::Duration;

use autocomplete::ChangeCause;
use autocomplete::local::{LocalPredictor, ObservedEdit};
use autocomplete::{EditorState, Suggestion, SuggestionId};
use base::{AbsPath, ByteOffset, Row, Span};
use cpu_time::ThreadTime;
use syntax::{Budget, ParseStatus, SyntaxTree};
use text::{Buffer, Edit, EditOrigin, Timestamp};

use super::repository::ChangedFile;

/// An open file.
pub(super) struct Open {
    pub(super) path: AbsPath,
    pub(super) buffer: Buffer,
    tree: SyntaxTree,
    pub(super) caret: ByteOffset,
    indent: String,
    /// The CPU time that the local tier took to hear of each change.
    pub(super) heard: Vec<Duration>,
}

/// The rows of a window.
const ROWS: u32 = 50;

impl Open {
    pub(super) fn new(file: &ChangedFile) -> Self {
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

    pub(super) fn state(&self) -> EditorState {
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

    /// Replaces some text and tells the local tier, if there is one.
    pub(super) fn replace(
        &mut self,
        span: Span,
        new: &str,
        at: u64,
        local: Option<&mut LocalPredictor>,
    ) {
        let before = self.buffer.snapshot();
        let edits = [Edit::new(span, new)];
        let change = self.buffer.edit(&edits, &EditOrigin::user(Timestamp(at)));
        let after = self.buffer.snapshot();
        self.tree.edit(&before, &after, &change);
        self.parse();
        self.caret = span.start + new.len();
        if let Some(local) = local {
            let start = ThreadTime::now();
            local.edited(&ObservedEdit {
                path: Some(self.path.clone()),
                before,
                after,
                change,
                syntax: Some(self.tree.snapshot()),
                at: Timestamp(at),
                cause: ChangeCause::Typed,
            });
            self.heard.push(start.elapsed());
        }
    }

    fn parse(&mut self) {
        self.tree.language().prepare();
        let text = self.buffer.snapshot();
        let status = self.tree.parse(&text, &mut Budget::unlimited());
        debug_assert!(matches!(status, ParseStatus::Done | ParseStatus::Unsettled));
    }
}

/// Names suggestions.
#[derive(Default)]
pub(super) struct Ids(u64);

impl Ids {
    pub(super) fn suggest(
        &mut self,
        local: &LocalPredictor,
        state: &EditorState,
    ) -> Vec<Suggestion> {
        local.suggest(state, Timestamp(0), &mut || {
            self.0 += 1;
            SuggestionId(self.0)
        })
    }

    pub(super) fn asked(&mut self, local: &LocalPredictor, state: &EditorState) -> Vec<Suggestion> {
        local.requested_suggestions(state, Timestamp(0), &mut || {
            self.0 += 1;
            SuggestionId(self.0)
        })
    }

    pub(super) fn words(&mut self, local: &LocalPredictor, state: &EditorState) -> Vec<Suggestion> {
        local.word_suggestions(state, Timestamp(0), &mut || {
            self.0 += 1;
            SuggestionId(self.0)
        })
    }

    pub(super) fn everything(
        &mut self,
        local: &LocalPredictor,
        state: &EditorState,
    ) -> Vec<Suggestion> {
        local.all_suggestions(state, Timestamp(0), &mut || {
            self.0 += 1;
            SuggestionId(self.0)
        })
    }
}

/// One step of indent in a text: the shortest there is.
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
