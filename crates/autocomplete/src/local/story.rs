//! Test fixture: texts that are edited like a user would, with a local predictor that observes the
//! edits.

use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, ByteOffset, Row, Span};
use syntax::{Budget, ParseStatus, SyntaxTree, language_named};
use text::{Buffer, Change, Edit, EditOrigin, Timestamp};

use super::{CorpusView, LocalPredictor, SuggestionOutcome};
use crate::{
    AcceptGranularity, ChangeCause, DocumentEdit, EditHistory, EditorState, Suggestion,
    SuggestionIds,
};

/// Simulated editing of open texts, for tests of the local predictor.
pub(crate) struct Story {
    pub(crate) local: LocalPredictor,
    history: EditHistory,
    texts: Vec<StoryFile>,
    now: u64,
    ids: SuggestionIds,
}

struct StoryFile {
    path: AbsPath,
    buffer: Buffer,
    tree: SyntaxTree,
    caret: ByteOffset,
}

impl Story {
    /// Opens one text. `|` marks the caret, if present.
    pub(crate) fn new(language: &str, text: &str) -> Self {
        let mut story = Self {
            local: LocalPredictor::new(),
            history: EditHistory::default(),
            texts: Vec::new(),
            now: 1_000_000,
            ids: SuggestionIds::default(),
        };
        story.open(language, "/project/first", text);
        story
    }

    /// Opens one text that the local predictor has not seen.
    pub(crate) fn unseen(language: &str, text: &str) -> Self {
        let mut story = Self::new(language, text);
        story.local = LocalPredictor::new();
        story
    }

    /// Opens a further text; it gets the next number.
    pub(crate) fn open(&mut self, language: &str, path: &str, text: &str) {
        let caret = text.find('|');
        let text = caret.map_or(text.to_owned(), |_| text.replacen('|', "", 1));
        let buffer = Buffer::new(&text);
        let tree = SyntaxTree::new(language_named(language).expect("a known language"));
        self.texts.push(StoryFile {
            path: AbsPath::new(path).expect("an absolute path"),
            buffer,
            tree,
            caret: ByteOffset(caret.unwrap_or(0)),
        });
        let number = self.texts.len() - 1;
        self.texts[number].parse();
        let state = self.state(number);
        self.local.note_tree(&state);
    }

    /// Returns the editor state of the text with this number, all rows visible.
    pub(crate) fn state(&self, number: usize) -> EditorState {
        let open = &self.texts[number];
        let snapshot = open.buffer.snapshot();
        EditorState {
            path: Some(open.path.clone()),
            rows: (Row(0), Row(snapshot.row_count())),
            syntax: Some(open.tree.snapshot()),
            language: Some(open.tree.language()),
            caret: open.caret,
            indent: "    ".to_owned(),
            snapshot,
        }
    }

    /// Returns the content of the text with this number.
    pub(crate) fn text(&self, number: usize) -> String {
        self.texts[number].buffer.snapshot().to_string()
    }

    /// Replaces the `nth` occurrence of `old` with `new`: a deletion, then one change per
    /// character.
    pub(crate) fn change(&mut self, number: usize, old: &str, nth: usize, new: &str) {
        let text = self.text(number);
        let start = text.match_indices(old).nth(nth).expect("the old text").0;
        self.now += 10_000;
        if !old.is_empty() {
            self.replace(
                number,
                Span::from(start..start + old.len()),
                "",
                ChangeCause::Typed,
            );
        }
        self.type_at(number, start, new);
    }

    /// Deletes the first occurrence of `old` in the text with this number, without a preceding
    /// pause.
    pub(crate) fn erase(&mut self, number: usize, old: &str) {
        let start = self.text(number).find(old).expect("the old text");
        self.now += 80;
        self.replace(
            number,
            Span::from(start..start + old.len()),
            "",
            ChangeCause::Typed,
        );
    }

    /// Types `new` at an offset, character by character; a line ending is one key.
    pub(crate) fn type_at(&mut self, number: usize, start: usize, new: &str) {
        let mut at = 0;
        while at < new.len() {
            let end = at + key_len(&new[at..]);
            self.now += 80;
            let place = Span::at(ByteOffset(start + at));
            self.replace(number, place, &new[at..end], ChangeCause::Typed);
            at = end;
        }
    }

    /// Types `new` after the `nth` occurrence of `before`.
    pub(crate) fn type_behind(&mut self, number: usize, before: &str, nth: usize, new: &str) {
        let text = self.text(number);
        let start = text
            .match_indices(before)
            .nth(nth)
            .expect("the text before")
            .0;
        self.now += 10_000;
        self.type_at(number, start + before.len(), new);
    }

    /// Replaces the first `count` occurrences of `old` with a caret at each: a deletion, then one
    /// change per character.
    pub(crate) fn change_at_once(&mut self, number: usize, old: &str, count: usize, new: &str) {
        let text = self.text(number);
        let starts = text.match_indices(old).take(count).map(|(at, _)| at);
        let spans = starts.map(|at| Span::from(at..at + old.len()));
        let mut places: Vec<Span> = spans.collect();
        assert_eq!(places.len(), count, "so many places");
        self.now += 10_000;
        let letters = new.chars().map(String::from);
        for put in std::iter::once(String::new()).chain(letters) {
            self.now += 80;
            let edits = places.iter().map(|span| Edit::new(*span, put.as_str()));
            let edits: Vec<Edit> = edits.collect();
            let change = self.replace_all(number, &edits, ChangeCause::Typed);
            places = change
                .splices
                .iter()
                .map(|it| Span::at(it.new.end))
                .collect();
        }
    }

    /// Replaces the first occurrence of several texts in one change.
    pub(crate) fn differ(&mut self, number: usize, changes: &[(&str, &str)]) {
        let text = self.text(number);
        let edits = changes.iter().map(|(old, new)| {
            let at = text.find(old).expect("the old text");
            Edit::new(Span::from(at..at + old.len()), *new)
        });
        let edits: Vec<Edit> = edits.collect();
        self.now += 10_000;
        self.replace_all(number, &edits, ChangeCause::Typed);
    }

    fn replace(&mut self, number: usize, span: Span, new: &str, cause: ChangeCause) {
        self.replace_all(number, &[Edit::new(span, new)], cause);
    }

    fn replace_all(&mut self, number: usize, edits: &[Edit], cause: ChangeCause) -> Change {
        let before = self.texts[number].buffer.snapshot();
        let change = self.texts[number]
            .buffer
            .edit(edits, &EditOrigin::user(Timestamp(self.now)));
        self.record_edit(number, before, change.clone(), cause);
        change
    }

    /// Undoes the last edit of a text, if there is one.
    pub(crate) fn undo(&mut self, number: usize) {
        self.now += 1000;
        let before = self.texts[number].buffer.snapshot();
        if let Some(restored) = self.texts[number].buffer.undo() {
            self.record_edit(number, before, restored.change, ChangeCause::Undone);
        }
    }

    fn record_edit(
        &mut self,
        number: usize,
        before: text::Snapshot,
        change: Change,
        cause: ChangeCause,
    ) {
        let open = &mut self.texts[number];
        open.tree.edit(&before, &open.buffer.snapshot(), &change);
        open.parse();
        if let Some(last) = change.splices.last() {
            open.caret = last.new.end;
        }
        let edit = DocumentEdit {
            before,
            state: self.state(number),
            change,
            cause,
        };
        self.history.record(&edit, Duration::from_millis(self.now));
        self.local.edited(&edit, &self.history);
    }

    /// Adds project files to the local predictor.
    pub(crate) fn learn_project(&mut self, files: &[(&str, &str)]) -> Arc<CorpusView> {
        let mut corpus = super::Corpus::new();
        for (path, text) in files {
            corpus.insert(&AbsPath::new(path).expect("an absolute path"), text);
        }
        let view = corpus.view();
        self.local.set_corpus(view.clone());
        view
    }

    /// Runs the background job with all texts open.
    pub(crate) fn work(&mut self) {
        let states: Vec<EditorState> = (0..self.texts.len())
            .map(|number| self.state(number))
            .collect();
        if let Some(task) = self.local.background_task(&states) {
            self.local.finish(task.run());
        }
    }

    /// Searches an unopened file at `path`.
    pub(crate) fn work_elsewhere(&mut self, language: &str, path: &str, text: &str) {
        let elsewhere = self.local.unopened_search().expect("something to look for");
        let mut other = Story::new(language, text);
        other.texts[0].path = AbsPath::new(path).expect("an absolute path");
        let done = elsewhere.run(std::iter::once(other.state(0)));
        self.local.finish(done);
    }

    /// Returns the predictor's suggestions at the caret. Panics if a suggestion does not apply to
    /// the text.
    pub(crate) fn suggestions(&mut self, number: usize) -> Vec<Suggestion> {
        let state = self.state(number);
        let suggestions = self.local.suggest(&state, &mut self.ids);
        for suggestion in suggestions.iter().filter(|it| it.file.is_none()) {
            assert!(suggestion.applies_to(&state.snapshot), "{suggestion:?}");
        }
        suggestions
    }

    /// Like `suggestions`, including those too unlikely to be shown unasked.
    pub(crate) fn all_suggestions(&mut self, number: usize) -> Vec<Suggestion> {
        let state = self.state(number);
        self.local.all_suggestions(&state, &mut self.ids)
    }

    /// Like `all_suggestions`, with words that share the typed prefix.
    pub(crate) fn requested_suggestions(&mut self, number: usize) -> Vec<Suggestion> {
        let state = self.state(number);
        self.local.requested_suggestions(&state, &mut self.ids)
    }

    /// Returns the suggestions of the word completion command.
    pub(crate) fn word_suggestions(&mut self, number: usize) -> Vec<Suggestion> {
        let state = self.state(number);
        self.local.word_suggestions(&state, &mut self.ids)
    }

    /// Accepts a suggestion, in the file that it names or in this text.
    pub(crate) fn accept(&mut self, number: usize, suggestion: &Suggestion) {
        let number = match &suggestion.file {
            Some(file) => {
                let place = self.texts.iter().position(|open| open.path == *file);
                place.expect("an open file")
            }
            None => number,
        };
        self.now += 1000;
        let before = self.texts[number].buffer.snapshot();
        let edits = suggestion.accept_edits(AcceptGranularity::All);
        let change = self.texts[number]
            .buffer
            .edit(&edits, &EditOrigin::user(Timestamp(self.now)));
        self.record_edit(number, before, change, ChangeCause::Accepted);
        self.local.record_outcome(
            suggestion.id,
            SuggestionOutcome::Accepted(AcceptGranularity::All),
        );
    }
}

/// Returns the length in bytes of the text that the first key of a text inserts.
pub(crate) fn key_len(text: &str) -> usize {
    match text.chars().next() {
        Some('\r') if text.starts_with("\r\n") => 2,
        first => first.map_or(0, char::len_utf8),
    }
}

impl StoryFile {
    fn parse(&mut self) {
        self.tree.language().prepare();
        let text = self.buffer.snapshot();
        match self.tree.parse(&text, &mut Budget::unlimited()) {
            ParseStatus::Pending(_) | ParseStatus::Running => panic!("a parse without end"),
            ParseStatus::Done | ParseStatus::Unsettled => {}
        }
    }
}
