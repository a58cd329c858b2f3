//! The pipeline as a machine: what happened goes in, what is to be done comes out.
//!
//! Must not know: clocks, sockets, threads; the driver says when, asks models, and shows.
//! Invariant: at most two requests are in flight, and each that is no longer wanted is cancelled in the same call.
//! Invariant: what is shown is of the revision of the text that was handed in last, and passed `validate::check`.
//! Invariant: nothing is shown and nothing is asked while something blocks.
//! Invariant: a suggestion that is typed into goes on in the call of that key, and so does one that the cache knows.
//! Start at `Engine::handle`; when a model is asked is decided in `ask`, what is shown in `present`.

mod ahead;
mod ask;
mod flight;
mod happened;
mod input;
mod keeping;
mod offer;
mod options;
mod present;
mod status;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use base::ByteOffset;
use text::Change;

use crate::cache::Cache;
use crate::context::{ContextSource, EditTrail};
use crate::debounce::Rhythm;
use crate::validate::{Recent, Refused};
use crate::{Cause, Fate, Scene, Source, Suggestion, SuggestionId};

pub use flight::RequestId;
pub use happened::Happened;
pub use input::{Ask, Blocked, Edited, Effect, Input, Shown, Turn};
pub use options::{Options, TabKind, TabModel};
pub use status::{Idle, Status};

use flight::Flight;
use keeping::Keeping;
use offer::Offer;
use status::Latencies;

/// Texts that are held where nobody takes those that are spent.
const MOST_HELD: usize = 8;

/// The pipeline of one window.
pub struct Engine {
    options: Options,
    now: Duration,
    scene: Option<Scene>,
    blocked: BTreeSet<Blocked>,
    /// What could be shown, each of the text's revision and checked; `at` is the one that is.
    offers: Vec<Offer>,
    at: usize,
    /// Further hunks of an answer, for when the one that is shown was taken.
    later: Vec<Suggestion>,
    /// What the driver was last told to show.
    told: Option<Shown>,
    flights: Vec<Flight>,
    cache: Cache,
    recent: Recent,
    trail: EditTrail,
    rhythm: Rhythm,
    latencies: Latencies,
    keeping: Keeping,
    /// How the last change came about, and when; `None` behind a mere motion.
    last_edit: Option<(Duration, Pace)>,
    /// The caret and revision that a model was last asked for.
    asked_for: Option<(base::Revision, ByteOffset)>,
    /// Whether the person asked at this place by hand.
    is_by_hand: bool,
    /// Whether the last suggestion was wrong: within a word the next will be, too.
    has_missed: bool,
    /// How often suggestions turn out right, from 0 to 1.
    success: f32,
    /// Why the last answer is not shown.
    refused: Option<Refused>,
    failed: Option<String>,
    wake: Option<Duration>,
    last_suggestion: u64,
    last_request: u64,
    /// The texts that were in front, the newest last.
    held: VecDeque<Scene>,
    effects: Vec<Effect>,
}

/// What the person does, as far as it says how long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Typing,
    Deleting,
    /// A suggestion was taken, or one was asked for: nothing to wait for.
    Eager,
}

impl Engine {
    /// A pipeline that has seen nothing yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            now: Duration::ZERO,
            scene: None,
            blocked: BTreeSet::new(),
            offers: Vec::new(),
            at: 0,
            later: Vec::new(),
            told: None,
            flights: Vec::new(),
            cache: Cache::default(),
            recent: Recent::default(),
            trail: EditTrail::default(),
            rhythm: Rhythm::default(),
            latencies: Latencies::default(),
            keeping: Keeping::default(),
            last_edit: None,
            asked_for: None,
            is_by_hand: false,
            has_missed: false,
            success: 0.5,
            refused: None,
            failed: None,
            wake: None,
            last_suggestion: 0,
            last_request: 0,
            held: VecDeque::new(),
            effects: Vec::new(),
        }
    }

    /// Takes in what happened and says what is to be done, in order. `now` counts from any moment and never goes back.
    pub fn handle(
        &mut self,
        now: Duration,
        input: Input,
        source: &dyn ContextSource,
    ) -> Vec<Effect> {
        self.now = self.now.max(now);
        match input {
            Input::Edited(edited) => self.edited(*edited),
            Input::Moved { scene } => self.moved(scene),
            Input::Requested { scene } => self.requested(scene),
            Input::Accepted { part, edited } => self.accepted(part, *edited),
            Input::Dismissed => self.dismissed(),
            Input::Cycle(turn) => self.turn(turn, source),
            Input::Blocked(why) => {
                self.blocked.insert(why);
            }
            Input::Unblocked(why) => {
                if self.blocked.remove(&why) && self.blocked.is_empty() {
                    self.effects.push(Effect::AskLocal);
                }
            }
            Input::Local {
                revision,
                suggestions,
            } => self.local(revision, suggestions),
            Input::Stream { request, event } => self.stream(request, event),
            Input::Known(names) => self.recent.set_names(names),
            Input::Options(options) => self.set_options(options),
            // Where it came too soon, another time is asked for.
            Input::Time => self.wake = None,
        }
        self.settle(source);
        std::mem::take(&mut self.effects)
    }

    /// The texts that are in front no more. To free the tree of a large one takes milliseconds: for another thread, once
    /// the effects are under way. Where nobody takes them they are freed a few inputs later.
    pub fn take_spent(&mut self) -> Vec<Scene> {
        let spent = self.held.len().saturating_sub(1);
        self.held.drain(..spent).collect()
    }

    /// What is shown.
    pub fn shown(&self) -> Option<&Suggestion> {
        self.told.as_ref().map(|told| &told.suggestion)
    }

    /// What was deleted, undone and turned down, for whoever else checks suggestions.
    pub fn recent(&self) -> &Recent {
        &self.recent
    }

    /// Whether the person asked at this place by hand: then words that begin alike are wanted too, see `Local::asked`.
    pub fn is_by_hand(&self) -> bool {
        self.is_by_hand
    }

    /// How many requests are in flight.
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// A text changed.
    fn edited(&mut self, edited: Edited) {
        let is_front = self.note_edit(&edited);
        if !is_front && edited.cause == Cause::Other {
            return;
        }
        let Edited {
            scene,
            change,
            cause,
            ..
        } = edited;
        if !is_front {
            self.leave();
        }
        self.face(scene);
        self.is_by_hand = false;
        self.follow(&change);
        let is_deletion = change.splices.iter().all(|splice| splice.new.is_empty());
        self.last_edit = match cause {
            Cause::Typed if is_deletion => Some((self.now, Pace::Deleting)),
            Cause::Typed => {
                self.rhythm.key(self.now);
                Some((self.now, Pace::Typing))
            }
            Cause::Accepted => Some((self.now, Pace::Eager)),
            // Who takes something back, or watches an agent, has not begun anything.
            Cause::Undone | Cause::Other => None,
        };
        // A new word tells more than the last one did.
        let is_within = self.scene.as_ref().is_some_and(ask::is_within_word);
        self.has_missed &= is_within && !is_deletion;
        self.effects.push(Effect::AskLocal);
    }

    /// A text is in front. It is held beyond its time, so that nothing done with an input waits for a tree to be freed.
    fn face(&mut self, scene: Scene) {
        if self.held.len() == MOST_HELD {
            self.held.pop_front();
        }
        self.held.push_back(scene.clone());
        self.scene = Some(scene);
    }

    /// Everybody who remembers edits hears of one. Says whether it is of the text in front.
    fn note_edit(&mut self, edited: &Edited) -> bool {
        let Edited {
            before,
            scene,
            change,
            cause,
        } = edited;
        let path = scene.path.as_ref();
        let texts = (before, &scene.snapshot);
        self.recent.edited(path, texts, change, (*cause, self.now));
        self.trail.edited(path, texts, change, (*cause, self.now));
        self.keeping.edited(path, change);
        self.scene
            .as_ref()
            .is_some_and(|now| now.path == scene.path)
    }

    /// The caret moved, the text was scrolled, or another one is in front.
    fn moved(&mut self, scene: Scene) {
        let same = |now: &Scene| {
            now.path == scene.path && now.snapshot.revision() == scene.snapshot.revision()
        };
        let is_same = self.scene.as_ref().is_some_and(same);
        let stays = is_same
            && self
                .scene
                .as_ref()
                .is_some_and(|now| now.caret == scene.caret);
        if !is_same {
            self.leave();
        }
        self.face(scene);
        if !stays {
            self.drop_elsewhere();
            self.is_by_hand = false;
            self.last_edit = None;
            self.has_missed = false;
            self.effects.push(Effect::AskLocal);
        }
    }

    /// The person asks for a suggestion.
    fn requested(&mut self, scene: Scene) {
        self.moved(scene);
        if self.told.is_none() {
            // What is unlikely is gone through from the most useful on.
            self.at = 0;
        }
        self.last_edit = Some((self.now, Pace::Eager));
        self.is_by_hand = true;
        self.asked_for = None;
        self.has_missed = false;
        self.effects.push(Effect::AskLocal);
    }

    /// Another text is in front.
    fn leave(&mut self) {
        self.cancel_all();
        self.forget_offers();
        self.later.clear();
        self.asked_for = None;
        self.last_edit = None;
        self.has_missed = false;
        self.refused = None;
    }

    /// Takes what is offered along a change.
    fn follow(&mut self, change: &Change) {
        let Some(scene) = self.scene.clone() else {
            return;
        };
        let shown = self.offers.get(self.at).map(|offer| offer.suggestion.id);
        let mut kept = Vec::with_capacity(self.offers.len());
        for mut offer in std::mem::take(&mut self.offers) {
            let is_shown = Some(offer.suggestion.id) == shown;
            match offer.follow(change, &scene) {
                Fate::Moved | Fate::Consumed => kept.push(offer),
                Fate::Completed if is_shown => self.typed_through(&offer),
                Fate::Dropped if is_shown => self.missed(&offer),
                Fate::Completed | Fate::Dropped => {}
            }
        }
        let at = kept
            .iter()
            .position(|offer| Some(offer.suggestion.id) == shown);
        self.offers = kept;
        self.at = at.unwrap_or(0);
        self.later
            .retain_mut(|later| matches!(later.follow(change, &scene.snapshot), Fate::Moved));
        for flight in &mut self.flights {
            flight.follow(change);
        }
    }

    fn set_options(&mut self, options: Options) {
        if options.model != self.options.model {
            self.cancel_all();
            self.latencies = Latencies::default();
            self.failed = None;
            self.asked_for = None;
        }
        self.options = options;
    }

    /// Puts everything in order behind an input.
    fn settle(&mut self, source: &dyn ContextSource) {
        if !self.blocked.is_empty() {
            self.forget_offers();
            self.cancel_all();
        } else {
            self.cancel_unwanted();
            let is_known = self.present();
            self.ask_if_due(is_known, source);
            self.look_ahead(source);
        }
        self.tell();
        let kept = self.keeping.due(self.now);
        self.effects.extend(kept.into_iter().map(Effect::Note));
        self.set_alarm();
    }

    /// Says when there is something to be done though nothing happens.
    fn set_alarm(&mut self) {
        let times = [self.due(), self.ahead_due(), self.keeping.next()];
        let next = times
            .into_iter()
            .flatten()
            .filter(|at| *at > self.now)
            .min();
        if next != self.wake {
            self.wake = next;
            self.effects.extend(next.map(|at| Effect::Wake { at }));
        }
    }

    fn next_suggestion(&mut self) -> SuggestionId {
        self.last_suggestion += 1;
        // Those of the local tier count from below.
        SuggestionId(self.last_suggestion | 1 << 63)
    }
}

/// Whether a suggestion comes from a model, and not from the local tier.
fn is_remote(source: &Source) -> bool {
    matches!(source, Source::Gap(_) | Source::NextEdit(_))
}

#[cfg(test)]
mod tests;
