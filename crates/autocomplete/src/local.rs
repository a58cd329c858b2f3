//! Tab without a model: what this text, this project and the last edits say.
//!
//! Knows: scenes, changes, a view of the project's tokens. Must not know: threads, files, the clock.
//! Invariant: `edited` and `suggest` take time bounded by constants; what grows with a text is a `Job`, what grows
//! with the project is done by `Corpus`. Both run on background threads.
//! Invariant: where it is in doubt it says nothing; every suggestion carries how likely it is kept.
//! Start at `Local::suggest`: propagation of edits, continuation from the corpus, syntax completion, one ranking.

mod close;
mod continuation;
mod corpus;
mod log;
mod propagate;
mod rank;
#[cfg(test)]
mod story;
mod token;
mod words;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use base::{AbsPath, ByteOffset, Revision, Span};
use syntax::Scope;
use text::Timestamp;

use crate::{Part, Replacement, Scene, Source, Suggestion, SuggestionId};
use close::Facts;
pub use continuation::Vote;
use continuation::Wanted;
pub use corpus::{Corpus, CorpusView, DEFAULT_BYTES};
pub use log::{EditLog, Edited, LoggedEdit};
pub use propagate::Elsewhere;
use propagate::{Findings, FoundElsewhere, Propagation, SiteSearch};
use rank::{Case, Kind, Ranker};

/// What became of a suggestion that was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was taken, whole or in part.
    Accepted(Part),
    /// It was sent away.
    Dismissed,
    /// It was shown for a while, and the person went on elsewhere.
    Ignored,
    /// Something else was typed in its place.
    TypedOver,
    /// It was taken and then taken back.
    Undone,
}

/// The tier of Tab without a model.
pub struct Local {
    log: EditLog,
    propagation: Propagation,
    corpus: Arc<CorpusView>,
    /// What the open texts define, as of the last job.
    facts: HashMap<Option<AbsPath>, Facts>,
    ranker: Ranker,
    /// What was told of the last suggestions, to learn from their answers.
    shown: RefCell<VecDeque<(SuggestionId, Case, Option<u64>)>>,
}

/// Work in proportion to whole texts, for a background thread.
pub struct Job {
    search: Option<SiteSearch>,
    facts: Vec<Scene>,
}

/// What a job has found; goes back through `Local::finish`.
#[derive(Default)]
pub struct Done {
    found: Findings,
    facts: Vec<(Option<AbsPath>, Facts)>,
    elsewhere: FoundElsewhere,
}

/// Suggestions whose answers are waited for.
const MOST_SHOWN: usize = 256;

/// Texts whose definitions are remembered.
const MOST_FACTS: usize = 64;

impl Default for Local {
    fn default() -> Self {
        Self::new()
    }
}

impl Local {
    /// A tier that has learned nothing yet.
    pub fn new() -> Self {
        Self {
            log: EditLog::new(),
            propagation: Propagation::default(),
            corpus: CorpusView::empty(),
            facts: HashMap::new(),
            ranker: Ranker::default(),
            shown: RefCell::default(),
        }
    }

    /// The view of the project that continuations come from, from now on.
    pub fn set_corpus(&mut self, corpus: Arc<CorpusView>) {
        self.corpus = corpus;
    }

    /// A text was opened or got the focus. Without it the first change of a text is not understood as well.
    pub fn see(&mut self, scene: &Scene) {
        if let Some(syntax) = &scene.syntax {
            self.log.see(&scene.path, syntax);
        }
    }

    /// Takes in one change of an open text.
    pub fn edited(&mut self, edit: &Edited) {
        self.log.edited(edit);
        self.propagation.learn(&self.log, edit);
    }

    /// The edits heard of, the oldest first.
    pub fn log(&self) -> &EditLog {
        &self.log
    }

    /// What may come next, the most useful first; nothing unless that is as likely to be kept as the threshold asks.
    /// The others are alternatives, which are only seen by who looks for them.
    pub fn suggest(
        &self,
        scene: &Scene,
        at: Timestamp,
        next_id: &mut dyn FnMut() -> SuggestionId,
    ) -> Vec<Suggestion> {
        let threshold = self.threshold();
        let mut suggestions = self.everything(scene, at, next_id);
        let shown = suggestions.iter().position(|it| it.confidence >= threshold);
        let Some(shown) = shown else {
            return Vec::new();
        };
        // What is worth more but too unlikely may be looked for, and is not shown first.
        suggestions[..=shown].rotate_right(1);
        suggestions
    }

    /// As `suggest`, with what is too unlikely to be shown unasked.
    pub fn everything(
        &self,
        scene: &Scene,
        _at: Timestamp,
        next_id: &mut dyn FnMut() -> SuggestionId,
    ) -> Vec<Suggestion> {
        self.wanted(scene, Wanted::Likely, next_id)
    }

    /// As `everything`, and words around the caret and in open files that begin as what is typed does: for who asks
    /// by hand and goes through them. Takes longer than what is said behind every key.
    pub fn asked(
        &self,
        scene: &Scene,
        _at: Timestamp,
        next_id: &mut dyn FnMut() -> SuggestionId,
    ) -> Vec<Suggestion> {
        self.wanted(scene, Wanted::Words, next_id)
    }

    /// As `asked`, cut to words: what one key writes at the caret, the next in place of the last.
    pub fn words(
        &self,
        scene: &Scene,
        at: Timestamp,
        next_id: &mut dyn FnMut() -> SuggestionId,
    ) -> Vec<Suggestion> {
        words::words(self.asked(scene, at, next_id), scene)
    }

    fn wanted(
        &self,
        scene: &Scene,
        wanted: Wanted,
        next_id: &mut dyn FnMut() -> SuggestionId,
    ) -> Vec<Suggestion> {
        let place = Place::of(scene);
        let mut suggestions = Vec::new();
        let mut add = |idea: Idea| {
            if idea.edit.is_empty()
                || suggestions
                    .iter()
                    .any(|it: &Suggestion| it.edits[0] == idea.edit)
            {
                return;
            }
            let case = idea.case(&place);
            let id = next_id();
            self.remember(id, case, idea.pattern);
            suggestions.push(Suggestion {
                id,
                file: idea.file,
                revision: idea.revision,
                edits: vec![idea.edit],
                source: idea.source,
                confidence: self.ranker.likelihood(&case),
            });
        };
        self.propagated(scene).into_iter().for_each(&mut add);
        self.continued(scene, wanted).into_iter().for_each(&mut add);
        self.closed(scene).into_iter().for_each(&mut add);
        suggestions.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
        suggestions
    }

    /// Suggestions that are less likely to be kept than this are not shown. Learned from the answers.
    pub fn threshold(&self) -> f32 {
        self.ranker.threshold()
    }

    /// What costs time in proportion to the open texts and is still to be done; none when all is known.
    pub fn job(&self, open: &[Scene]) -> Option<Job> {
        let is_known = |scene: &&Scene| {
            let facts = self.facts.get(&scene.path);
            facts.is_none_or(|facts| facts.revision != scene.snapshot.revision())
        };
        let facts: Vec<Scene> = open.iter().filter(is_known).cloned().collect();
        let search = self.propagation.search(&self.log, open);
        (search.is_some() || !facts.is_empty()).then_some(Job { search, facts })
    }

    /// What is still to be looked for in files that are not open; none when there is nothing.
    pub fn elsewhere(&self) -> Option<Elsewhere> {
        self.propagation.elsewhere()
    }

    /// Files that are not open are others on the disk: they are to be looked through anew. Says whether what
    /// `suggest` tells may be different now.
    pub fn look_again(&mut self, is_changed: &dyn Fn(&AbsPath) -> bool) -> bool {
        self.propagation.look_again(is_changed)
    }

    /// Takes in what a job has found. What was found in a text that has changed since is of no use and dropped.
    pub fn finish(&mut self, done: Done) {
        self.propagation.found(done.found);
        self.propagation.found_elsewhere(done.elsewhere);
        if self.facts.len() > MOST_FACTS {
            self.facts.clear();
        }
        self.facts.extend(done.facts);
    }

    /// What places like the caret's say about the tokens behind it, as long as `truth` agrees: material to fit the
    /// weights of the continuation on.
    pub fn votes(&self, scene: &Scene, truth: &str) -> Vec<Vote> {
        continuation::votes(scene, &self.corpus, &self.log, truth)
    }

    /// Learns what became of a suggestion.
    pub fn answered(&mut self, suggestion: &Suggestion, answer: Answer) {
        let shown = self.shown.borrow();
        let known = shown.iter().find(|(id, ..)| *id == suggestion.id).copied();
        drop(shown);
        let Some((_, case, pattern)) = known else {
            return;
        };
        match answer {
            Answer::Accepted(_) => self.ranker.learn(&case, true, 1.0),
            Answer::Dismissed | Answer::TypedOver | Answer::Undone => {
                self.ranker.learn(&case, false, 1.0);
            }
            // Who does not look has not judged.
            Answer::Ignored => self.ranker.learn(&case, false, 0.3),
        }
        let Some(pattern) = pattern else {
            return;
        };
        match answer {
            Answer::Accepted(_) => self.propagation.accepted(pattern),
            Answer::Dismissed | Answer::Undone => self.propagation.drop_pattern(pattern),
            Answer::Ignored | Answer::TypedOver => self.propagation.ignored(pattern),
        }
    }

    /// What was learned of this person, to be stored. Holds no text.
    pub fn learned(&self) -> Result<String, serde_json::Error> {
        self.ranker.to_json()
    }

    /// Goes on from what was stored. Says whether it could be used.
    pub fn recall(&mut self, learned: &str) -> bool {
        let ranker = Ranker::from_json(learned);
        let is_used = ranker.is_some();
        self.ranker = ranker.unwrap_or_default();
        is_used
    }

    fn remember(&self, id: SuggestionId, case: Case, pattern: Option<u64>) {
        let mut shown = self.shown.borrow_mut();
        shown.push_back((id, case, pattern));
        if shown.len() > MOST_SHOWN {
            shown.pop_front();
        }
    }

    fn propagated(&self, scene: &Scene) -> Option<Idea> {
        let offer = self.propagation.offer(&self.log, scene)?;
        let edit = Replacement {
            span: offer.site.span,
            old: offer.site.old,
            new: offer.site.new,
        };
        Some(Idea {
            file: offer.file,
            revision: offer.revision,
            edit: edit.trimmed(),
            source: Source::Propagation {
                places: u32::try_from(offer.places).unwrap_or(u32::MAX),
            },
            kind: Kind::Propagation,
            likelihood: offer.likelihood,
            pattern: Some(offer.pattern),
        })
    }

    fn continued(&self, scene: &Scene, wanted: Wanted) -> Vec<Idea> {
        let open: HashSet<AbsPath> = self.facts.keys().flatten().cloned().collect();
        let guesses = continuation::guesses(scene, &self.corpus, &open, &self.log, wanted);
        let idea = |guess: continuation::Guess| Idea {
            file: None,
            revision: scene.snapshot.revision(),
            edit: inserted(scene, guess.span, &guess.new),
            source: Source::Continuation,
            kind: Kind::Continuation,
            likelihood: guess.likelihood,
            pattern: None,
        };
        let rest = rest_of_row(scene);
        let fits = |idea: &Idea| fits_before(&rest, &idea.edit);
        guesses.into_iter().map(idea).filter(fits).collect()
    }

    fn closed(&self, scene: &Scene) -> Vec<Idea> {
        let closings = close::closings(scene, self.facts.values());
        let idea = |closing: close::Closing| Idea {
            file: None,
            revision: scene.snapshot.revision(),
            edit: inserted(scene, closing.span, &closing.new),
            source: Source::Syntax,
            kind: Kind::Syntax,
            likelihood: closing.likelihood,
            pattern: None,
        };
        closings.into_iter().map(idea).collect()
    }
}

impl Job {
    /// Does the work. Takes time in proportion to the texts.
    pub fn run(self) -> Done {
        Done {
            found: self.search.map(SiteSearch::run).unwrap_or_default(),
            facts: self
                .facts
                .iter()
                .map(|scene| (scene.path.clone(), Facts::of(scene)))
                .collect(),
            elsewhere: FoundElsewhere::default(),
        }
    }
}

impl Elsewhere {
    /// Searches files that are not open. Takes time in proportion to them; each is dropped before the next is asked for.
    pub fn run(self, files: impl Iterator<Item = Scene>) -> Done {
        Done {
            elsewhere: self.search(files),
            ..Done::default()
        }
    }
}

/// A suggestion before it is ranked.
struct Idea {
    file: Option<AbsPath>,
    revision: Revision,
    edit: Replacement,
    source: Source,
    kind: Kind,
    likelihood: f32,
    /// The pattern that it comes from.
    pattern: Option<u64>,
}

/// What ranking knows of the caret's place.
struct Place {
    is_row_start: bool,
    is_prose: bool,
}

impl Idea {
    fn case(&self, place: &Place) -> Case {
        Case {
            kind: self.kind,
            likelihood: self.likelihood,
            bytes: self.edit.new.len().max(self.edit.old.len()),
            lines: self.edit.new.matches('\n').count() + 1,
            is_row_start: place.is_row_start,
            is_prose: place.is_prose && self.kind == Kind::Continuation,
        }
    }
}

impl Place {
    fn of(scene: &Scene) -> Self {
        let text = &scene.snapshot;
        let row = text.point_at(scene.caret).row;
        let start = text.row_start(row);
        let head = text.text(Span::new(
            start.max(ByteOffset(scene.caret.0.saturating_sub(256))),
            scene.caret,
        ));
        let scope = scene
            .syntax
            .as_ref()
            .map(|syntax| syntax.scope_at(text, scene.caret));
        Self {
            is_row_start: head.trim().is_empty(),
            is_prose: scope.is_some_and(|scope| scope != Scope::Code),
        }
    }
}

/// What a suggestion may be expected to save: the likeliest is no help if it is one sign long.
fn worth(suggestion: &Suggestion) -> f32 {
    let bytes: usize = suggestion
        .edits
        .iter()
        .map(|edit| edit.new.len().max(edit.old.len()))
        .sum();
    suggestion.confidence * (1.0 + bytes as f32).ln().min(4.0)
}

/// What stands behind the caret in its row.
fn rest_of_row(scene: &Scene) -> String {
    let row = scene.snapshot.point_at(scene.caret).row;
    let rest = Span::new(scene.caret, scene.snapshot.row_end(row));
    scene.snapshot.text(rest).trim().to_owned()
}

/// Whether what comes in can stand before the rest of a row: before signs that close or end something anything can,
/// before other text only the rest of a word. What followed the like elsewhere would say twice what stands here.
fn fits_before(rest: &str, edit: &Replacement) -> bool {
    let is_end = |ch: char| ch.is_whitespace() || ")]}>;,:'\"`".contains(ch);
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    rest.chars().all(is_end) || edit.new.chars().all(is_word)
}

/// An insertion as a replacement of what it says it replaces.
fn inserted(scene: &Scene, span: Span, new: &str) -> Replacement {
    Replacement::new(span, new, &scene.snapshot)
}

#[cfg(test)]
mod tests;
