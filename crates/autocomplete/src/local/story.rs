//! Texts that are edited as a person would, with a local tier that hears of it: for tests.

use std::sync::Arc;

use base::{AbsPath, ByteOffset, Row, Span};
use syntax::{Budget, ParseStatus, SyntaxTree, language_named};
use text::{Buffer, Change, Edit, Origin, Timestamp};

use super::{Answer, CorpusView, Edited, Local};
use crate::{Cause, Part, Scene, Suggestion, SuggestionId};

/// Some open texts and a person who edits them.
pub(crate) struct Story {
    pub(crate) local: Local,
    texts: Vec<Open>,
    now: u64,
    ids: u64,
}

struct Open {
    path: AbsPath,
    buffer: Buffer,
    tree: SyntaxTree,
    caret: ByteOffset,
}

impl Story {
    /// One open text. `|` marks the caret, if it is there.
    pub(crate) fn new(language: &str, text: &str) -> Self {
        let mut story = Self {
            local: Local::new(),
            texts: Vec::new(),
            now: 1_000_000,
            ids: 0,
        };
        story.open(language, "/project/first", text);
        story
    }

    /// One open text that the local tier was not told of.
    pub(crate) fn unseen(language: &str, text: &str) -> Self {
        let mut story = Self::new(language, text);
        story.local = Local::new();
        story
    }

    /// Opens a further text; it gets the number behind the last.
    pub(crate) fn open(&mut self, language: &str, path: &str, text: &str) {
        let caret = text.find('|');
        let text = caret.map_or(text.to_owned(), |_| text.replacen('|', "", 1));
        let buffer = Buffer::new(&text);
        let tree = SyntaxTree::new(language_named(language).expect("a known language"));
        self.texts.push(Open {
            path: AbsPath::new(path).expect("an absolute path"),
            buffer,
            tree,
            caret: ByteOffset(caret.unwrap_or(0)),
        });
        let number = self.texts.len() - 1;
        self.texts[number].parse();
        let scene = self.scene(number);
        self.local.see(&scene);
    }

    pub(crate) fn scene(&self, number: usize) -> Scene {
        let open = &self.texts[number];
        let snapshot = open.buffer.snapshot();
        Scene {
            path: Some(open.path.clone()),
            rows: (Row(0), Row(snapshot.row_count())),
            syntax: Some(open.tree.snapshot()),
            language: Some(open.tree.language()),
            caret: open.caret,
            indent: "    ".to_owned(),
            snapshot,
        }
    }

    pub(crate) fn text(&self, number: usize) -> String {
        self.texts[number].buffer.snapshot().to_string()
    }

    /// Puts `new` in the place of the `nth` `old` of a text: a deletion and one change for each letter.
    pub(crate) fn change(&mut self, number: usize, old: &str, nth: usize, new: &str) {
        let text = self.text(number);
        let start = text.match_indices(old).nth(nth).expect("the old text").0;
        self.now += 10_000;
        if !old.is_empty() {
            self.replace(
                number,
                Span::from(start..start + old.len()),
                "",
                Cause::Typed,
            );
        }
        self.type_at(number, start, new);
    }

    /// Deletes the first `old` of a text, without a pause before.
    pub(crate) fn erase(&mut self, number: usize, old: &str) {
        let start = self.text(number).find(old).expect("the old text");
        self.now += 80;
        self.replace(
            number,
            Span::from(start..start + old.len()),
            "",
            Cause::Typed,
        );
    }

    /// Types at a place, letter by letter.
    pub(crate) fn type_at(&mut self, number: usize, start: usize, new: &str) {
        for (at, ch) in new.char_indices() {
            self.now += 80;
            let place = Span::at(ByteOffset(start + at));
            self.replace(number, place, &ch.to_string(), Cause::Typed);
        }
    }

    /// Types `new` behind the `nth` `before` of a text.
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

    /// Puts `new` in the place of the first `count` `old` of a text with a caret at each: a deletion and one change for
    /// each letter.
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
            let change = self.replace_all(number, &edits, Cause::Typed);
            places = change
                .splices
                .iter()
                .map(|it| Span::at(it.new.end))
                .collect();
        }
    }

    /// Puts other texts in the place of the first of each of some texts, all in one change.
    pub(crate) fn differ(&mut self, number: usize, changes: &[(&str, &str)]) {
        let text = self.text(number);
        let edits = changes.iter().map(|(old, new)| {
            let at = text.find(old).expect("the old text");
            Edit::new(Span::from(at..at + old.len()), *new)
        });
        let edits: Vec<Edit> = edits.collect();
        self.now += 10_000;
        self.replace_all(number, &edits, Cause::Typed);
    }

    fn replace(&mut self, number: usize, span: Span, new: &str, cause: Cause) {
        self.replace_all(number, &[Edit::new(span, new)], cause);
    }

    fn replace_all(&mut self, number: usize, edits: &[Edit], cause: Cause) -> Change {
        let before = self.texts[number].buffer.snapshot();
        let change = self.texts[number]
            .buffer
            .edit(edits, &Origin::user(Timestamp(self.now)));
        self.heard(number, before, change.clone(), cause);
        change
    }

    /// Takes the last step of a text back, if there is one.
    pub(crate) fn undo(&mut self, number: usize) {
        self.now += 1000;
        let before = self.texts[number].buffer.snapshot();
        if let Some(restored) = self.texts[number].buffer.undo() {
            self.heard(number, before, restored.change, Cause::Undone);
        }
    }

    fn heard(&mut self, number: usize, before: text::Snapshot, change: Change, cause: Cause) {
        let open = &mut self.texts[number];
        let after = open.buffer.snapshot();
        open.tree.edit(&before, &after, &change);
        open.parse();
        if let Some(last) = change.splices.last() {
            open.caret = last.new.end;
        }
        self.local.edited(&Edited {
            path: Some(open.path.clone()),
            before,
            after,
            change,
            syntax: Some(open.tree.snapshot()),
            at: Timestamp(self.now),
            cause,
        });
    }

    /// Hands a project to the local tier.
    pub(crate) fn learn_project(&mut self, files: &[(&str, &str)]) -> Arc<CorpusView> {
        let mut corpus = super::Corpus::new();
        for (path, text) in files {
            corpus.put(&AbsPath::new(path).expect("an absolute path"), text);
        }
        let view = corpus.view();
        self.local.set_corpus(view.clone());
        view
    }

    /// Does the background work, with all texts open.
    pub(crate) fn work(&mut self) {
        let scenes: Vec<Scene> = (0..self.texts.len())
            .map(|number| self.scene(number))
            .collect();
        if let Some(job) = self.local.job(&scenes) {
            self.local.finish(job.run());
        }
    }

    /// Looks through a file that is not open, as `path`.
    pub(crate) fn work_elsewhere(&mut self, language: &str, path: &str, text: &str) {
        let elsewhere = self.local.elsewhere().expect("something to look for");
        let mut other = Story::new(language, text);
        other.texts[0].path = AbsPath::new(path).expect("an absolute path");
        let done = elsewhere.run(std::iter::once(other.scene(0)));
        self.local.finish(done);
    }

    pub(crate) fn suggestions(&mut self, number: usize) -> Vec<Suggestion> {
        let scene = self.scene(number);
        let ids = &mut self.ids;
        let suggestions = self.local.suggest(&scene, Timestamp(self.now), &mut || {
            *ids += 1;
            SuggestionId(*ids)
        });
        for suggestion in suggestions.iter().filter(|it| it.file.is_none()) {
            assert!(suggestion.stands_in(&scene.snapshot), "{suggestion:?}");
        }
        suggestions
    }

    /// As `suggestions`, with what is too unlikely to be shown unasked.
    pub(crate) fn everything(&mut self, number: usize) -> Vec<Suggestion> {
        let scene = self.scene(number);
        let ids = &mut self.ids;
        self.local.everything(&scene, Timestamp(self.now), &mut || {
            *ids += 1;
            SuggestionId(*ids)
        })
    }

    /// As `everything`, with words that begin alike.
    pub(crate) fn asked(&mut self, number: usize) -> Vec<Suggestion> {
        let scene = self.scene(number);
        let ids = &mut self.ids;
        self.local.asked(&scene, Timestamp(self.now), &mut || {
            *ids += 1;
            SuggestionId(*ids)
        })
    }

    /// What one key writes.
    pub(crate) fn words(&mut self, number: usize) -> Vec<Suggestion> {
        let scene = self.scene(number);
        let ids = &mut self.ids;
        self.local.words(&scene, Timestamp(self.now), &mut || {
            *ids += 1;
            SuggestionId(*ids)
        })
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
        let edits = suggestion.taking(Part::All);
        let change = self.texts[number]
            .buffer
            .edit(&edits, &Origin::user(Timestamp(self.now)));
        self.heard(number, before, change, Cause::Accepted);
        self.local.answered(suggestion, Answer::Accepted(Part::All));
    }
}

impl Open {
    fn parse(&mut self) {
        self.tree.language().prepare();
        let text = self.buffer.snapshot();
        match self.tree.parse(&text, &mut Budget::unlimited()) {
            ParseStatus::Pending(_) | ParseStatus::Running => panic!("a parse without end"),
            ParseStatus::Done | ParseStatus::Unsettled => {}
        }
    }
}
