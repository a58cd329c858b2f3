//! The Tab engine as a state machine: inputs go in, effects come out.
//!
//! Must not know: clocks, sockets, threads; the driver supplies the time, queries models, runs
//! background tasks and shows suggestions. The engine queries the local tier itself.
//! Invariant: at most two requests are in flight, and a request whose response is of no use is
//! cancelled in the same call.
//! Invariant: the visible suggestion belongs to the latest revision handed in, and passed
//! `validate::check`.
//! Invariant: while a block reason is active, nothing is shown and no model is queried.
//! Invariant: the keystroke that types into a suggestion, or reaches a cached one, updates it in
//! the same call.
//! Start at `CompletionEngine::handle`; `ask` decides when to query a model, `local_tier` holds the
//! suggestions of the local tier, `present` decides what to show, `outcome` learns.

mod ask;
mod candidate;

mod event;
mod in_flight;
mod input;
mod keep_tracker;
mod local_tier;
mod lookahead;
mod lookahead_use;
mod options;
mod outcome;
mod present;
mod server;
mod status;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use base::ByteOffset;
use text::Change;

use crate::cache::{CaretText, CompletionCache};
use crate::context::ContextSource;
use crate::debounce::TypingCadence;
use crate::local::LocalPredictor;
use crate::validate::{RecentEdits, RejectReason};
use crate::{
    ChangeCause, DocumentEdit, EditHistory, EditorState, FollowResult, Suggestion, SuggestionId,
    SuggestionIds, SuggestionSource,
};

pub use event::TabEvent;
pub use in_flight::RequestId;
pub use input::{
    BlockReason, ChangedFiles, CompletionRequest, CycleStep, EngineEffect, EngineInput,
    VisibleSuggestion,
};
pub use options::{EngineOptions, TabKind, TabModel};
pub use status::{CompletionStatus, IdleReason};

use candidate::SuggestionCandidate;
use in_flight::ActiveRequest;
use keep_tracker::KeepTracker;
use lookahead_use::LookaheadUse;
use server::ServerObservation;

/// Maximum number of editor states held if the driver never calls `take_retired`.
const MAX_RETIRED: usize = 8;

/// The Tab engine of one window: a state machine that takes inputs (edits, caret motions, model
/// responses, time) and returns effects. Performs no I/O and starts no task.
pub struct CompletionEngine {
    options: EngineOptions,
    now: Duration,
    state: Option<EditorState>,
    blocked: BTreeSet<BlockReason>,
    /// Suggestions that could be shown, all checked and of the current revision; `at` is the index
    /// of the visible one.
    candidates: Vec<SuggestionCandidate>,
    at: usize,
    /// Further hunks of a model response, shown after the current one is accepted.
    pending_hunks: Vec<Suggestion>,
    /// The suggestion that the driver currently shows.
    visible: Option<VisibleSuggestion>,
    requests: Vec<ActiveRequest>,
    cache: CompletionCache,
    local: LocalPredictor,
    /// Whether the suggestions of the local tier may have changed.
    is_local_due: bool,
    history: EditHistory,
    recent: RecentEdits,
    cadence: TypingCadence,
    server: ServerObservation,
    keep_tracker: KeepTracker,
    /// Time and kind of the last edit; `None` after a caret motion.
    last_edit: Option<(Duration, DebounceMode)>,
    /// Revision and caret of the last model request.
    asked_for: Option<(base::Revision, ByteOffset)>,
    /// Whether the user requested a suggestion at this caret explicitly.
    is_explicit: bool,
    /// Whether the last response was wrong or refused.
    has_missed: bool,
    /// Whether the model was queried after the first letter of the current word and after its last
    /// correction. If the response is wrong, the next one within the word will be, too.
    asked_in_word: bool,
    /// Whether the user has just typed a model's suggestion to its end.
    is_finished: bool,
    lookahead_use: LookaheadUse,
    /// Moving average of how often suggestions are right, from 0 to 1.
    success_rate: f32,
    /// Reason why the last model response is not shown.
    refused: Option<RejectReason>,
    /// Texts of models that were refused, the newest last.
    latest_refused: VecDeque<(RejectReason, String)>,
    failed: Option<String>,
    next_wake: Option<Duration>,
    ids: SuggestionIds,
    /// Suggestion that was painted last.
    painted: Option<SuggestionId>,
    last_request: u64,
    /// Previous editor states, the newest last.
    retired: VecDeque<EditorState>,
    effects: Vec<EngineEffect>,
}

/// Kind of the last edit, which determines the delay before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DebounceMode {
    Typing,
    /// After accepting or requesting a suggestion: no delay.
    Eager,
}

impl CompletionEngine {
    /// Creates an engine that has no editor state yet.
    pub fn new(options: EngineOptions) -> Self {
        Self {
            options,
            now: Duration::ZERO,
            state: None,
            blocked: BTreeSet::new(),
            candidates: Vec::new(),
            at: 0,
            pending_hunks: Vec::new(),
            visible: None,
            requests: Vec::new(),
            cache: CompletionCache::default(),
            local: LocalPredictor::new(),
            is_local_due: false,
            history: EditHistory::default(),
            recent: RecentEdits::default(),
            cadence: TypingCadence::default(),
            server: ServerObservation::default(),
            keep_tracker: KeepTracker::default(),
            last_edit: None,
            asked_for: None,
            is_explicit: false,
            has_missed: false,
            asked_in_word: false,
            is_finished: false,
            lookahead_use: LookaheadUse::default(),
            success_rate: 0.5,
            refused: None,
            latest_refused: VecDeque::new(),
            failed: None,
            next_wake: None,
            ids: SuggestionIds::default(),
            painted: None,
            last_request: 0,
            retired: VecDeque::new(),
            effects: Vec::new(),
        }
    }

    /// Handles an input and returns the resulting effects in order. `now` counts from an arbitrary
    /// origin and never decreases.
    pub fn handle(
        &mut self,
        now: Duration,
        input: EngineInput,
        source: &dyn ContextSource,
    ) -> Vec<EngineEffect> {
        self.now = self.now.max(now);
        let is_key = input.is_key();
        match input {
            EngineInput::Edited(edit) => self.edited(*edit),
            EngineInput::EditedElsewhere(edit) => self.record_edit(&edit),
            EngineInput::Moved { state } => self.moved(state),
            EngineInput::Requested { state } => self.requested(state),
            EngineInput::Accepted { part, edit } => self.accepted(part, *edit),
            EngineInput::Dismissed => self.dismissed(),
            EngineInput::Cycle(turn) => self.cycle(turn, source),
            EngineInput::Blocked(reason) => {
                self.blocked.insert(reason);
            }
            EngineInput::Unblocked(reason) => {
                self.is_local_due |= self.blocked.remove(&reason) && self.blocked.is_empty();
            }
            EngineInput::Entered(suggestion) => self.entered(*suggestion),
            EngineInput::TaskFinished(result) => self.task_finished(*result),
            EngineInput::FilesChanged(files) => self.files_changed(&files),
            EngineInput::Stream { request, event } => self.stream(request, event),
            EngineInput::MembersRead(names) => self.recent.set_names(names),
            EngineInput::Options(options) => self.set_options(options),
            // If the timer fired too early, `set_alarm` sets it again.
            EngineInput::Time => self.next_wake = None,
            EngineInput::QueryLocal => {}
        }
        self.update(source);
        if is_key && self.can_query_local() {
            self.effects.push(EngineEffect::QueryLocal);
        } else if self.query_local() {
            self.update(source);
        }
        std::mem::take(&mut self.effects)
    }

    /// Returns the editor states that are no longer current. Freeing the syntax tree of a large one
    /// takes milliseconds, so the driver drops them on another thread after carrying out the
    /// effects. If it never takes them, the engine frees them a few inputs later.
    pub fn take_retired(&mut self) -> Vec<EditorState> {
        let count = self.retired.len().saturating_sub(1);
        self.retired.drain(..count).collect()
    }

    /// Returns the suggestion that the engine last asked the driver to show. Returns `None` if no
    /// suggestion is visible.
    pub fn current_suggestion(&self) -> Option<&Suggestion> {
        self.visible.as_ref().map(|visible| &visible.suggestion)
    }

    /// Returns the number of model requests whose streams have not ended.
    pub fn in_flight(&self) -> usize {
        self.requests.len()
    }

    /// Handles a change of the current text.
    fn edited(&mut self, edit: DocumentEdit) {
        self.record_edit(&edit);
        self.apply_edit(edit);
    }

    /// Adds a change of a text to the history, and passes it to the readers of the history.
    fn record_edit(&mut self, edit: &DocumentEdit) {
        self.history.record(edit, self.now);
        self.recent.edited(edit, &self.history, self.now);
        if self.options.has_local_tier {
            self.local.edited(edit, &self.history);
        }
        self.keep_tracker
            .edited(edit.state.path.as_ref(), &edit.change);
    }

    /// Updates everything after a change of the current text.
    fn apply_edit(&mut self, edit: DocumentEdit) {
        let DocumentEdit {
            state,
            change,
            cause,
            ..
        } = edit;
        let is_same = |now: &EditorState| now.path == state.path;
        if !self.state.as_ref().is_some_and(is_same) {
            self.reset();
        }
        let is_adjoining = self.state.as_ref().is_some_and(|before| {
            let mut splices = change.splices.iter();
            splices.all(|splice| splice.old.end == before.caret)
        });
        self.set_current(state);
        self.is_explicit = false;
        self.is_finished = false;
        self.cadence.edit(self.now);
        self.follow(&change);
        let is_deletion = change.splices.iter().all(|splice| splice.new.is_empty());
        self.last_edit = match cause {
            ChangeCause::Typed => {
                if !is_deletion {
                    self.cadence.key(self.now);
                }
                Some((self.now, DebounceMode::Typing))
            }
            ChangeCause::Accepted => Some((self.now, DebounceMode::Eager)),
            // Undoing or watching an agent edit does not start anything that could be completed.
            ChangeCause::Undone | ChangeCause::Other => None,
        };
        // A new word or a correction gives the model more information than it had.
        let is_within = self.state.as_ref().is_some_and(ask::is_within_word);
        self.has_missed &= is_within && !is_deletion;
        self.asked_in_word &= is_within && is_adjoining && !is_deletion;
        self.is_local_due = true;
    }

    /// Makes an editor state current. The previous one is held so that no input waits for its
    /// syntax tree to be freed.
    fn set_current(&mut self, state: EditorState) {
        if self.retired.len() == MAX_RETIRED {
            self.retired.pop_front();
        }
        self.retired.push_back(state.clone());
        self.state = Some(state);
    }

    /// Handles a caret motion, scrolling, or a switch to another text.
    fn moved(&mut self, state: EditorState) {
        let same = |now: &EditorState| {
            now.path == state.path && now.snapshot.revision() == state.snapshot.revision()
        };
        let is_same = self.state.as_ref().is_some_and(same);
        let stays = is_same
            && self
                .state
                .as_ref()
                .is_some_and(|now| now.caret == state.caret);
        if !is_same {
            self.reset();
        }
        self.set_current(state);
        if !stays {
            self.drop_misplaced();
            self.is_explicit = false;
            self.last_edit = None;
            self.has_missed = false;
            self.is_finished = false;
            self.is_local_due = true;
        }
    }

    /// Handles an explicit request for a suggestion.
    fn requested(&mut self, state: EditorState) {
        self.moved(state);
        if self.visible.is_none() {
            // Unlikely suggestions are offered in order of usefulness.
            self.at = 0;
        }
        self.last_edit = Some((self.now, DebounceMode::Eager));
        self.is_explicit = true;
        self.asked_for = None;
        self.has_missed = false;
        self.is_finished = false;
        self.is_local_due = true;
    }

    /// Discards everything that belongs to the previous text.
    fn reset(&mut self) {
        self.cancel_all();
        self.clear_candidates();
        self.pending_hunks.clear();
        self.asked_for = None;
        self.last_edit = None;
        self.has_missed = false;
        self.refused = None;
    }

    /// Updates all candidates and requests after a change.
    fn follow(&mut self, change: &Change) {
        let Some(state) = self.state.clone() else {
            return;
        };
        let shown = self
            .candidates
            .get(self.at)
            .map(|candidate| candidate.suggestion.id);
        let mut kept = Vec::with_capacity(self.candidates.len());
        for mut candidate in std::mem::take(&mut self.candidates) {
            let is_shown = Some(candidate.suggestion.id) == shown;
            let is_begun = candidate.typed > 0;
            let result = candidate.follow(change, &state);
            let is_typed = matches!(result, FollowResult::Consumed | FollowResult::Completed);
            if is_shown && is_typed && !is_begun && is_from_model(&candidate.suggestion.source) {
                let bytes = change.splices.iter().map(|it| it.new.len()).sum();
                self.lookahead_use
                    .suggestion_used(bytes, || CaretText::of(&state));
            }
            match result {
                FollowResult::Moved | FollowResult::Consumed => kept.push(candidate),
                FollowResult::Completed if is_shown => self.record_typed(&candidate),
                FollowResult::Dropped if is_shown => self.record_miss(&candidate),
                FollowResult::Completed | FollowResult::Dropped => {}
            }
        }
        let at = kept
            .iter()
            .position(|candidate| Some(candidate.suggestion.id) == shown);
        self.candidates = kept;
        self.at = at.unwrap_or(0);
        self.pending_hunks.retain_mut(|later| {
            matches!(later.follow(change, &state.snapshot), FollowResult::Moved)
        });
        for request in &mut self.requests {
            request.follow(change);
        }
    }

    fn set_options(&mut self, options: EngineOptions) {
        if options.model != self.options.model {
            self.cancel_all();
            self.server = ServerObservation::default();
            self.lookahead_use = LookaheadUse::default();
            self.failed = None;
            self.asked_for = None;
        }
        self.options = options;
    }

    /// Updates candidates, requests, the visible suggestion and the timer after an input.
    fn update(&mut self, source: &dyn ContextSource) {
        if !self.blocked.is_empty() {
            self.clear_candidates();
            self.cancel_all();
        } else {
            self.cancel_useless();
            let is_known = self.present();
            self.ask_if_due(is_known, source);
            self.request_ahead(source);
        }
        self.emit_visible();
        for event in self.keep_tracker.due(self.now) {
            self.note(event);
        }
        self.set_alarm();
    }

    /// Requests a wake-up at the next time at which something is due.
    fn set_alarm(&mut self) {
        let times = [self.due(), self.ahead_due(), self.keep_tracker.next()];
        let next = times
            .into_iter()
            .flatten()
            .filter(|at| *at > self.now)
            .min();
        if next != self.next_wake {
            self.next_wake = next;
            self.effects
                .extend(next.map(|at| EngineEffect::Wake { at }));
        }
    }
}

/// Whether a suggestion comes from a model rather than from the local tier.
fn is_from_model(source: &SuggestionSource) -> bool {
    matches!(
        source,
        SuggestionSource::Gap(_) | SuggestionSource::NextEdit(_)
    )
}

#[cfg(test)]
mod tests;
