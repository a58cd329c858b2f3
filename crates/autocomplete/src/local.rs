//! Tab without a model: predicts from the text, the project and the recent edits.
//!
//! Knows: editor states, changes, a view of the project's tokens. Must not know: threads, files,
//! the clock.
//! Invariant: `edited` and `suggest` run in time bounded by constants; work proportional to a text
//! is a `BackgroundTask`, work proportional to the project is done by `Corpus`. Both run on background
//! threads.
//! Invariant: in doubt it suggests nothing; every suggestion carries its probability of being kept.
//! Start at `LocalPredictor::suggest`: propagation of edits, continuation from the corpus, syntax
//! completion, one ranking.

mod close;
mod continuation;
mod corpus;
mod line_ending;
mod log;
mod propagate;
mod rank;
#[cfg(test)]
mod story;
mod token;
mod word_completion;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{AbsPath, ByteOffset, Revision, Span};
use syntax::SyntaxScope;

use crate::{
    AcceptGranularity, DocumentEdit, EditHistory, EditorState, SuggestedEdit, Suggestion,
    SuggestionId, SuggestionIds, SuggestionSource,
};
use close::FileDefinitions;
pub use continuation::{
    GUESS_FEATURES, GuessSample, GuessVector, IdiomContext, IdiomFollower, IdiomTable,
    MAX_FOLLOWERS, MAX_ORDER, ObliviousTree, ShowPolicy, TOKEN_FEATURES, TabScorer, TabTables,
    TableError, TokenSample, TokenVector, TreeTable, each_idiom,
};
use continuation::{GuessMode, GuessSources, MAX_ROW_BYTES, TokenWindow};
pub use corpus::{Corpus, CorpusView, DEFAULT_BYTES};
use line_ending::lf_len;
use log::EditLog;
pub use propagate::UnopenedFileSearch;
use propagate::{Propagation, SiteFindings, SiteSearch, UnopenedFileSites};
use rank::{RankFeatures, Ranker, SuggestionKind};
use word_completion::WordRank;

/// Outcome of a suggestion that was shown, from which the local tier learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestionOutcome {
    /// The user accepted it, whole or in part.
    Accepted(AcceptGranularity),
    /// The user dismissed it.
    Dismissed,
    /// It was visible for a while, and the user continued elsewhere.
    Ignored,
    /// The user typed something else in its place.
    TypedOver,
    /// The user accepted it and then undid it.
    Undone,
}

/// The local predictor: the tier of Tab that needs no model. It derives suggestions from repeated
/// edits, similar code of the project and syntax, and learns from their outcomes.
pub struct LocalPredictor {
    log: EditLog,
    propagation: Propagation,
    corpus: Arc<CorpusView>,
    /// Definitions in the open texts, as of the last background task.
    facts: HashMap<Option<AbsPath>, FileDefinitions>,
    /// Files among the open texts.
    open: HashSet<AbsPath>,
    /// Tokens around the caret of the text that was queried last.
    window: RefCell<TokenWindow>,
    /// Without tables there are no continuations.
    tables: Result<TabTables, TableError>,
    ranker: Ranker,
    /// Features of the latest suggestions, to learn from their outcomes.
    suggested: RefCell<VecDeque<(SuggestionId, RankFeatures, Option<u64>)>>,
}

/// Work proportional to whole texts, prepared for a background thread.
/// `LocalPredictor::background_task` creates it.
pub struct BackgroundTask {
    search: Option<SiteSearch>,
    facts: Vec<EditorState>,
}

/// Result of a background task, to be passed to `LocalPredictor::finish`.
#[derive(Default)]
pub struct BackgroundResult {
    found: SiteFindings,
    facts: Vec<(Option<AbsPath>, FileDefinitions)>,
    elsewhere: UnopenedFileSites,
}

/// Maximum number of suggestions whose outcome is awaited.
const MAX_SUGGESTED: usize = 256;

/// Initial threshold for suggestions other than text of the local tier at the caret.
const FIRST_THRESHOLD: f32 = 0.25;

/// Keystrokes beyond which a longer suggestion is not worth more.
const MAX_SAVED_KEYS: usize = 60;

/// Maximum number of texts whose definitions are kept.
const MAX_DEFINITION_TEXTS: usize = 64;

impl Default for LocalPredictor {
    fn default() -> Self {
        Self::new()
    }
}

impl LocalPredictor {
    /// Creates a predictor that has learned nothing yet.
    pub fn new() -> Self {
        Self {
            log: EditLog::default(),
            propagation: Propagation::default(),
            corpus: CorpusView::empty(),
            facts: HashMap::new(),
            open: HashSet::new(),
            window: RefCell::default(),
            tables: TabTables::shipped(),
            ranker: Ranker::default(),
            suggested: RefCell::default(),
        }
    }

    /// Sets the tokens of the project that continuations come from, in place of the earlier view.
    pub fn set_corpus(&mut self, corpus: Arc<CorpusView>) {
        self.corpus = corpus;
    }

    /// Replaces the learned tables, or notes why there are none.
    pub fn set_tables(&mut self, tables: Result<TabTables, TableError>) {
        self.tables = tables;
    }

    /// Returns the reason why text from similar code is not suggested, if it is not.
    pub fn table_error(&self) -> Option<TableError> {
        self.tables.as_ref().err().copied()
    }

    /// Notes that a text was opened or focused. Without it the first change of the text lacks a
    /// syntax tree.
    pub fn note_tree(&mut self, state: &EditorState) {
        if let Some(syntax) = &state.syntax {
            self.log.note_tree(&state.path, syntax);
        }
    }

    /// Learns from a change of an open text that `history` has recorded last.
    pub fn edited(&mut self, edit: &DocumentEdit, history: &EditHistory) {
        self.window.borrow_mut().follow(edit);
        self.log.edited(edit, history);
        self.propagation.learn(&self.log, edit);
    }

    /// Returns the log of edits.
    #[cfg(test)]
    pub(crate) fn log(&self) -> &EditLog {
        &self.log
    }

    /// Returns the suggestions at the caret, the most useful first, or nothing if none reaches the
    /// threshold. The others serve as alternatives.
    pub fn suggest(&self, state: &EditorState, ids: &mut SuggestionIds) -> Vec<Suggestion> {
        let mut suggestions = self.all_suggestions(state, ids);
        let is_likely = |it: &Suggestion| it.confidence >= self.threshold(&it.source);
        let shown = suggestions.iter().position(is_likely);
        let Some(shown) = shown else {
            return Vec::new();
        };
        // A more useful suggestion below the threshold stays an alternative and is not shown first.
        suggestions[..=shown].rotate_right(1);
        suggestions
    }

    /// Like `suggest`, but includes suggestions that are too unlikely to be shown unasked.
    pub fn all_suggestions(&self, state: &EditorState, ids: &mut SuggestionIds) -> Vec<Suggestion> {
        let suggestions = self.collect_suggestions(state, GuessMode::Likely, ids);
        suggestions.into_iter().map(|(it, _)| it).collect()
    }

    /// Like `all_suggestions`, with words from around the caret and from open files that share the
    /// typed prefix. Meant for explicit requests, since it takes longer than a keystroke allows.
    pub fn requested_suggestions(
        &self,
        state: &EditorState,
        ids: &mut SuggestionIds,
    ) -> Vec<Suggestion> {
        let suggestions = self.collect_suggestions(state, GuessMode::Words, ids);
        suggestions.into_iter().map(|(it, _)| it).collect()
    }

    /// Like `requested_suggestions`, but cuts each suggestion to one word, for the command that
    /// completes a word and cycles through the choices: the likeliest first, and of equally likely
    /// words the one used nearest to the caret.
    pub fn word_suggestions(
        &self,
        state: &EditorState,
        ids: &mut SuggestionIds,
    ) -> Vec<Suggestion> {
        let suggestions = self.collect_suggestions(state, GuessMode::Words, ids);
        word_completion::word_suggestions(suggestions, state)
    }

    fn collect_suggestions(
        &self,
        state: &EditorState,
        mode: GuessMode,
        ids: &mut SuggestionIds,
    ) -> Vec<(Suggestion, WordRank)> {
        let caret = CaretFeatures::of(state);
        let mut suggestions: Vec<(Suggestion, WordRank)> = Vec::new();
        let mut add = |idea: LocalIdea| {
            if idea.edit.is_empty() || suggestions.iter().any(|(it, _)| it.edits[0] == idea.edit) {
                return;
            }
            let features = idea.features(&caret);
            let id = ids.next_id();
            self.remember(id, features, idea.pattern);
            let suggestion = Suggestion {
                id,
                file: idea.file,
                revision: idea.revision,
                edits: vec![idea.edit],
                source: idea.source,
                confidence: self.ranker.likelihood(&features),
            };
            suggestions.push((suggestion, idea.word));
        };
        self.propagated(state).into_iter().for_each(&mut add);
        let row = state.snapshot.point_at(state.caret).row;
        if state.snapshot.row_len(row).0 as usize <= MAX_ROW_BYTES {
            self.continued(state, mode).into_iter().for_each(&mut add);
            self.closed(state).into_iter().for_each(&mut add);
        }
        let look = self.tables.as_ref().map_or(0.0, |it| it.scorer.look());
        suggestions.sort_by(|(a, _), (b, _)| worth(b, look).total_cmp(&worth(a, look)));
        suggestions
    }

    /// Returns the threshold for showing a suggestion from `source`: the least probability, from 0 to
    /// 1, that the user keeps it. It is higher for text at the caret, which comes with most
    /// keystrokes, and is learned from the outcomes of earlier suggestions.
    pub fn threshold(&self, source: &SuggestionSource) -> f32 {
        let first = match (source, &self.tables) {
            (SuggestionSource::Continuation | SuggestionSource::Syntax, Ok(tables)) => {
                tables.scorer.threshold()
            }
            _ => FIRST_THRESHOLD,
        };
        self.ranker.threshold(first)
    }

    /// Returns the pending work on the texts in `open`: searches for sites, and reading of
    /// definitions. Returns `None` if no work is pending.
    pub fn background_task(&self, open: &[EditorState]) -> Option<BackgroundTask> {
        let is_known = |state: &&EditorState| {
            let facts = self.facts.get(&state.path);
            facts.is_none_or(|facts| facts.revision != state.snapshot.revision())
        };
        let facts: Vec<EditorState> = open.iter().filter(is_known).cloned().collect();
        let search = self.propagation.search(&self.log, open);
        (search.is_some() || !facts.is_empty()).then_some(BackgroundTask { search, facts })
    }

    /// Returns the pending search of unopened files for sites of repeated edits. Returns `None` if
    /// no search is pending.
    pub fn unopened_search(&self) -> Option<UnopenedFileSearch> {
        self.propagation.unopened_search()
    }

    /// Discards results for unopened files that have changed on disk, so that they are searched
    /// again. Returns whether `suggest` may now give different results.
    pub fn invalidate_changed(&mut self, is_changed: &dyn Fn(&AbsPath) -> bool) -> bool {
        self.propagation.invalidate_changed(is_changed)
    }

    /// Stores the result of a background task. Results for texts that have changed since are dropped.
    pub fn finish(&mut self, done: BackgroundResult) {
        self.propagation.add_findings(done.found);
        self.propagation.add_unopened_sites(done.elsewhere);
        if self.facts.len() > MAX_DEFINITION_TEXTS {
            self.facts.clear();
        }
        self.facts.extend(done.facts);
        self.open = self.facts.keys().flatten().cloned().collect();
    }

    /// Returns training samples for the table of tokens: the predictions for the tokens after the
    /// caret, up to the first token that was not predicted. `truth` is the text that follows the
    /// caret in reality.
    pub fn token_samples(&self, state: &EditorState, truth: &str) -> Vec<TokenSample> {
        let window = &mut self.window.borrow_mut();
        let sources = self.sources();
        sources.map_or_else(Vec::new, |sources| {
            continuation::token_samples(state, window, sources, truth)
        })
    }

    /// Returns training samples for the table of guesses: the guesses at the caret, at each length
    /// at which they could be shown.
    pub fn guess_samples(&self, state: &EditorState, truth: &str) -> Vec<GuessSample> {
        let window = &mut self.window.borrow_mut();
        let sources = self.sources();
        sources.map_or_else(Vec::new, |sources| {
            continuation::guess_samples(state, window, sources, truth)
        })
    }

    /// Returns what continuations are made from; `None` without tables.
    fn sources(&self) -> Option<GuessSources<'_>> {
        let tables = self.tables.as_ref().ok()?;
        Some(GuessSources {
            view: &self.corpus,
            open: &self.open,
            log: &self.log,
            scorer: &tables.scorer,
            idioms: &tables.idioms,
        })
    }

    /// Learns from the outcome of a suggestion. Does nothing if the id is not among the recent
    /// suggestions of this predictor.
    pub fn record_outcome(&mut self, id: SuggestionId, outcome: SuggestionOutcome) {
        let suggested = self.suggested.borrow();
        let known = suggested.iter().find(|(known, ..)| *known == id).copied();
        drop(suggested);
        let Some((_, features, pattern)) = known else {
            return;
        };
        match outcome {
            SuggestionOutcome::Accepted(_) => self.ranker.learn(&features, true, 1.0),
            SuggestionOutcome::Dismissed
            | SuggestionOutcome::TypedOver
            | SuggestionOutcome::Undone => {
                self.ranker.learn(&features, false, 1.0);
            }
            // An ignored suggestion may not have been noticed, so it counts less.
            SuggestionOutcome::Ignored => self.ranker.learn(&features, false, 0.3),
        }
        let Some(pattern) = pattern else {
            return;
        };
        match outcome {
            SuggestionOutcome::Accepted(_) => self.propagation.accepted(pattern),
            SuggestionOutcome::Dismissed | SuggestionOutcome::Undone => {
                self.propagation.drop_pattern(pattern)
            }
            SuggestionOutcome::Ignored | SuggestionOutcome::TypedOver => {
                self.propagation.ignored(pattern)
            }
        }
    }

    /// Returns the learned weights as JSON, to be stored. Contains no text of the user.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        self.ranker.to_json()
    }

    /// Restores weights stored by `to_json`. Returns whether `learned` was usable. If it was not,
    /// the initial weights apply.
    pub fn restore_json(&mut self, learned: &str) -> bool {
        let ranker = Ranker::from_json(learned);
        let is_used = ranker.is_some();
        self.ranker = ranker.unwrap_or_default();
        is_used
    }

    fn remember(&self, id: SuggestionId, features: RankFeatures, pattern: Option<u64>) {
        let mut suggested = self.suggested.borrow_mut();
        suggested.push_back((id, features, pattern));
        if suggested.len() > MAX_SUGGESTED {
            suggested.pop_front();
        }
    }

    /// Returns the next site of a repeated edit, with the edit trimmed to its difference. Returns
    /// `None` if no repeated edit has a site left.
    fn propagated(&self, state: &EditorState) -> Option<LocalIdea> {
        let candidate = self.propagation.candidate(&self.log, state)?;
        let edit = SuggestedEdit {
            span: candidate.site.span,
            old: candidate.site.old,
            new: candidate.site.new,
        };
        Some(LocalIdea {
            file: candidate.file,
            revision: candidate.revision,
            edit: edit.trimmed(),
            source: SuggestionSource::Propagation {
                places: u32::try_from(candidate.places).unwrap_or(u32::MAX),
            },
            kind: SuggestionKind::Propagation,
            likelihood: candidate.likelihood,
            word: WordRank::new(candidate.likelihood, None),
            pattern: Some(candidate.pattern),
        })
    }

    fn continued(&self, state: &EditorState, mode: GuessMode) -> Vec<LocalIdea> {
        let Some(sources) = self.sources() else {
            return Vec::new();
        };
        let guesses = continuation::guesses(state, &mut self.window.borrow_mut(), sources, mode);
        let idea = |guess: continuation::Guess| LocalIdea {
            file: None,
            revision: state.snapshot.revision(),
            edit: inserted(state, guess.span, &guess.new),
            source: SuggestionSource::Continuation,
            kind: SuggestionKind::Continuation,
            likelihood: guess.likelihood,
            word: WordRank::new(guess.first.likelihood, guess.first.distance),
            pattern: None,
        };
        let rest = rest_of_row(state);
        let fits = |idea: &LocalIdea| fits_before(&rest, &idea.edit);
        guesses.into_iter().map(idea).filter(fits).collect()
    }

    fn closed(&self, state: &EditorState) -> Vec<LocalIdea> {
        let closings = close::closings(state, self.facts.values());
        let idea = |closing: close::SyntaxCompletion| LocalIdea {
            file: None,
            revision: state.snapshot.revision(),
            edit: inserted(state, closing.span, &closing.new),
            source: SuggestionSource::Syntax,
            kind: SuggestionKind::Syntax,
            likelihood: closing.likelihood,
            word: WordRank::new(closing.likelihood, None),
            pattern: None,
        };
        closings.into_iter().map(idea).collect()
    }
}

impl BackgroundTask {
    /// Runs the task. Takes time proportional to the texts, so it belongs on a background thread.
    pub fn run(self) -> BackgroundResult {
        self.run_until(&AtomicBool::new(false)).unwrap_or_default()
    }

    /// Runs the task; `None` if `is_over` is set meanwhile.
    pub fn run_until(self, is_over: &AtomicBool) -> Option<BackgroundResult> {
        let found = match self.search {
            Some(search) => search.run_until(is_over)?,
            None => SiteFindings::default(),
        };
        let mut facts = Vec::with_capacity(self.facts.len());
        for state in self.facts {
            if is_over.load(Ordering::Relaxed) {
                return None;
            }
            facts.push((state.path.clone(), FileDefinitions::of(&state)));
        }
        Some(BackgroundResult {
            found,
            facts,
            elsewhere: UnopenedFileSites::default(),
        })
    }
}

impl UnopenedFileSearch {
    /// Searches files that are not open. Takes time proportional to them; each file is dropped
    /// before the next one is requested.
    pub fn run(self, files: impl Iterator<Item = EditorState>) -> BackgroundResult {
        BackgroundResult {
            elsewhere: self.search(files),
            ..BackgroundResult::default()
        }
    }
}

/// A suggestion before ranking.
struct LocalIdea {
    file: Option<AbsPath>,
    revision: Revision,
    edit: SuggestedEdit,
    source: SuggestionSource,
    kind: SuggestionKind,
    likelihood: f32,
    /// Rank of its first word.
    word: WordRank,
    /// Pattern that it comes from.
    pattern: Option<u64>,
}

/// Ranking features of the caret's position.
struct CaretFeatures {
    is_row_start: bool,
    is_prose: bool,
}

impl LocalIdea {
    fn features(&self, caret: &CaretFeatures) -> RankFeatures {
        RankFeatures {
            kind: self.kind,
            likelihood: self.likelihood,
            bytes: lf_len(&self.edit.new).max(lf_len(&self.edit.old)),
            lines: self.edit.new.matches('\n').count() + 1,
            is_row_start: caret.is_row_start,
            is_prose: caret.is_prose && self.kind == SuggestionKind::Continuation,
        }
    }
}

impl CaretFeatures {
    fn of(state: &EditorState) -> Self {
        let text = &state.snapshot;
        let row = text.point_at(state.caret).row;
        let start = text.row_start(row);
        let head = text.text(Span::new(
            start.max(ByteOffset(state.caret.0.saturating_sub(256))),
            state.caret,
        ));
        let scope = state
            .syntax
            .as_ref()
            .map(|syntax| syntax.scope_at(text, state.caret));
        Self {
            is_row_start: head.trim().is_empty(),
            is_prose: scope.is_some_and(|scope| scope != SyntaxScope::Code),
        }
    }
}

/// Expected keystrokes saved by a suggestion, less the cost of reading a wrong one, which is `look`
/// keystrokes.
fn worth(suggestion: &Suggestion, look: f32) -> f32 {
    let edits = suggestion.edits.iter();
    let bytes = edits.map(|edit| lf_len(&edit.new).max(lf_len(&edit.old)));
    let saved = bytes.sum::<usize>().saturating_sub(1).min(MAX_SAVED_KEYS) as f32;
    suggestion.confidence * saved - look * (1.0 - suggestion.confidence)
}

/// Returns the trimmed text after the caret in its row.
fn rest_of_row(state: &EditorState) -> String {
    let row = state.snapshot.point_at(state.caret).row;
    let rest = Span::new(state.caret, state.snapshot.row_end(row));
    state.snapshot.text(rest).trim().to_owned()
}

/// Whether inserted text may precede the rest of a row: before closing characters anything may,
/// before other text only the rest of a word. A longer continuation would repeat the text that
/// follows.
fn fits_before(rest: &str, edit: &SuggestedEdit) -> bool {
    let is_end = |ch: char| ch.is_whitespace() || ")]}>;,:'\"`".contains(ch);
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    rest.chars().all(is_end) || edit.new.chars().all(is_word)
}

/// Returns the edit that replaces `span` with `new`.
fn inserted(state: &EditorState, span: Span, new: &str) -> SuggestedEdit {
    SuggestedEdit::new(span, new, &state.snapshot)
}

#[cfg(test)]
mod tests;
