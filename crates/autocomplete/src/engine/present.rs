//! What is shown: offers from the local tier, the cache and models, ranked, followed, and told to the driver.

use std::time::Duration;

use base::{AbsPath, Revision};
use text::Change;

use super::flight::{Expected, Flight, Purpose};
use super::offer::{Offer, goes_on};
use super::{Edited, Effect, Engine, Happened, Shown, TabKind, is_remote};
use crate::cache::Place;
use crate::format::{self, Reading};
use crate::validate::{check, joined};
use crate::{Fate, Part, Replacement, Scene, Source, Suggestion, SuggestionId};

/// How much the newest outcome counts for how often suggestions are right.
const WEIGHT: f32 = 0.1;
/// Alternatives that are kept.
const MOST: usize = 16;

impl Engine {
    /// Shows what is known for the text of now, if nothing is shown. Says whether a model's answer for it is known,
    /// be it that there is nothing to say.
    pub(super) fn present(&mut self) -> bool {
        let Some(scene) = self.scene.clone() else {
            return true;
        };
        self.present_later(&scene);
        let Some(model) = self.options.model.clone() else {
            return true;
        };
        if self.has_remote() || model.kind != TabKind::Gap {
            return self.has_remote();
        }
        let found = self.cache.find(&Place::of(&scene), &model.id);
        let is_known = !found.is_empty();
        for rest in found.into_iter().filter(|rest| !rest.is_empty()) {
            let edit = joined(&scene.snapshot, scene.caret, &rest);
            let source = Source::Gap(model.id.clone());
            self.offer(&scene, vec![edit], source, None);
        }
        is_known
    }

    /// Whether a model's suggestion is among the offers.
    pub(super) fn has_remote(&self) -> bool {
        let mut sources = self.offers.iter().map(|offer| &offer.suggestion.source);
        sources.any(is_remote)
    }

    /// The nearest further hunk of the last answer.
    fn present_later(&mut self, scene: &Scene) {
        if !self.offers.is_empty() {
            return;
        }
        let distance = |it: &Suggestion| it.start().0.abs_diff(scene.caret.0);
        let nearest = (0..self.later.len()).min_by_key(|ix| distance(&self.later[*ix]));
        if let Some(nearest) = nearest {
            let mut next = self.later.swap_remove(nearest);
            next.id = self.next_suggestion();
            self.add(scene, Offer::new(next, None, self.now));
        }
    }

    /// Offers edits of the text in front, if they may be shown. Says whether they are.
    pub(super) fn offer(
        &mut self,
        scene: &Scene,
        edits: Vec<Replacement>,
        source: Source,
        took: Option<Duration>,
    ) -> bool {
        let suggestion = Suggestion {
            id: self.next_suggestion(),
            file: None,
            revision: scene.snapshot.revision(),
            edits,
            source,
            confidence: self.success,
        };
        self.add(scene, Offer::new(suggestion, took, self.now))
    }

    fn add(&mut self, scene: &Scene, offer: Offer) -> bool {
        if let Err(refused) = check(scene, &offer.suggestion, &self.recent) {
            self.refused = Some(refused);
            return false;
        }
        let is_alike = |known: &Offer| known.suggestion.edits == offer.suggestion.edits;
        if self.offers.len() >= MOST || self.offers.iter().any(is_alike) {
            return false;
        }
        self.refused = None;
        let shown = self.offers.get(self.at);
        // What the person sees and has begun to type stays; else the likelier is shown. The local tier tells the most
        // useful first: there the first that is likely enough.
        let is_better = shown.is_none_or(|shown| {
            let told = self.told.as_ref().map(|told| told.suggestion.id);
            let is_typed = shown.typed > 0 && told == Some(shown.suggestion.id);
            let (old, new) = (&shown.suggestion, &offer.suggestion);
            let is_settled = !is_remote(&old.source)
                && !is_remote(&new.source)
                && (old.confidence >= self.options.threshold || self.is_by_hand);
            !is_typed && !is_settled && old.confidence < new.confidence
        });
        self.offers.push(offer);
        if is_better {
            self.at = self.offers.len() - 1;
        }
        true
    }

    /// What the local tier says.
    pub(super) fn local(&mut self, revision: Revision, suggestions: Vec<Suggestion>) {
        let Some(scene) = self.scene.clone() else {
            return;
        };
        if !self.blocked.is_empty() || revision != scene.snapshot.revision() {
            return;
        }
        let shown = self.offers.get(self.at).map(|offer| offer.suggestion.id);
        // What is shown stays, but for further places of an edit: that edit may have grown since, or its file changed.
        let is_told = |offer: &Offer| {
            let offered = &offer.suggestion;
            let mut told = suggestions.iter();
            told.any(|it| it.file == offered.file && it.edits == offered.edits)
        };
        self.offers.retain(|offer| {
            let is_shown = Some(offer.suggestion.id) == shown;
            let source = &offer.suggestion.source;
            let is_place = matches!(source, Source::Propagation { .. });
            is_remote(source) || is_shown && (!is_place || is_told(offer))
        });
        let at = self
            .offers
            .iter()
            .position(|it| Some(it.suggestion.id) == shown);
        self.at = at.unwrap_or(0);
        for suggestion in suggestions {
            let offer = Offer::new(suggestion, None, self.now);
            match &offer.suggestion.file {
                Some(file) if Some(file) != scene.path.as_ref() => self.add_portal(offer),
                _ => {
                    self.add(&scene, offer);
                }
            }
        }
    }

    /// A suggestion for another file, which only the local tier could check.
    fn add_portal(&mut self, offer: Offer) {
        let is_known = |known: &Offer| known.suggestion.edits == offer.suggestion.edits;
        if self.offers.len() < MOST && !self.offers.iter().any(is_known) {
            self.offers.push(offer);
        }
    }

    /// An answer has ended.
    pub(super) fn finished(&mut self, flight: Flight) {
        let took = self.now.saturating_sub(flight.asked);
        self.latencies.note(took);
        self.failed = None;
        let Some(scene) = self.scene.clone() else {
            return;
        };
        // Its first lines give way to the whole.
        let partial = self
            .offers
            .iter()
            .position(|it| it.partial == Some(flight.request));
        let partial = partial.map(|ix| self.offers.remove(ix));
        self.at = self.at.min(self.offers.len().saturating_sub(1));
        match flight.expected {
            Expected::Gap {
                place, mut stream, ..
            } => {
                stream.close();
                let text = stream.text().to_owned();
                self.cache.put(place, flight.model, text);
                // What was asked for ahead waits until its text is there.
                if !matches!(flight.purpose, Purpose::Ahead(_)) {
                    self.show_found(&scene, took, partial, flight.purpose);
                }
            }
            Expected::NextEdit {
                format,
                window,
                since,
                text,
            } => {
                let reading = format::read(format, &window, &text);
                let source = Source::NextEdit(flight.model);
                self.read(&scene, reading, &since, (source, took));
            }
        }
    }

    /// Shows what the cache has got by an answer.
    fn show_found(
        &mut self,
        scene: &Scene,
        took: Duration,
        partial: Option<Offer>,
        purpose: Purpose,
    ) {
        let Some(model) = self.options.model.clone() else {
            return;
        };
        let found = self.cache.find(&Place::of(scene), &model.id);
        let Some(rest) = found.into_iter().next() else {
            // What was typed meanwhile is not what it says.
            self.has_missed = true;
            return;
        };
        if rest.is_empty() {
            return;
        }
        let before = self.offers.len();
        let edit = joined(&scene.snapshot, scene.caret, &rest);
        if !self.offer(scene, vec![edit], Source::Gap(model.id), Some(took)) {
            return;
        }
        if let (Some(partial), Some(offer)) = (partial, self.offers.get_mut(before)) {
            // The same suggestion, longer.
            offer.suggestion.id = partial.suggestion.id;
            offer.typed = partial.typed;
            offer.was_shown = partial.was_shown;
            self.at = before;
        }
        if purpose == Purpose::Another {
            self.at = before;
        }
    }

    /// Shows the first lines of an answer that goes on.
    pub(super) fn show_lines(&mut self, ix: usize) {
        let Some(scene) = self.scene.clone() else {
            return;
        };
        let flight = &self.flights[ix];
        let (Expected::Gap { place, stream, .. }, Purpose::Now) =
            (&flight.expected, flight.purpose)
        else {
            return;
        };
        let lines = stream.lines().to_owned();
        if self.has_remote() || lines.is_empty() {
            return;
        }
        let rest = place.rest(&lines, &Place::of(&scene)).map(str::to_owned);
        let took = self.now.saturating_sub(flight.asked);
        let (request, model) = (flight.request, flight.model.clone());
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            let edit = joined(&scene.snapshot, scene.caret, &rest);
            let before = self.offers.len();
            self.offer(&scene, vec![edit], Source::Gap(model), Some(took));
            if let Some(offer) = self.offers.get_mut(before) {
                offer.partial = Some(request);
            }
        }
    }

    /// Shows what a model that predicts edits says: the nearest hunk, the others later. Where the text would parse
    /// worse with the nearest alone, they come together.
    fn read(
        &mut self,
        scene: &Scene,
        reading: Reading,
        (base, change): &(text::Snapshot, Change),
        (source, took): (Source, Duration),
    ) {
        let Reading::Edits(edits) = reading else {
            self.refused = None;
            return;
        };
        let mut hunks: Vec<Suggestion> = Vec::new();
        for edit in edits {
            let mut hunk = Suggestion {
                id: SuggestionId(0),
                file: None,
                revision: base.revision(),
                edits: vec![edit],
                source: source.clone(),
                confidence: self.success,
            };
            let is_left = match change.is_empty() {
                true => hunk.stands_in(&scene.snapshot),
                false => matches!(
                    hunk.follow(change, &scene.snapshot),
                    Fate::Moved | Fate::Consumed
                ),
            };
            if is_left {
                hunk.revision = scene.snapshot.revision();
                hunks.push(hunk);
            }
        }
        hunks.sort_by_key(|hunk| hunk.start().0.abs_diff(scene.caret.0));
        let mut hunks = hunks.into_iter();
        let Some(nearest) = hunks.next() else {
            return;
        };
        let rest: Vec<Suggestion> = hunks.collect();
        if self.offer(scene, nearest.edits.clone(), source.clone(), Some(took)) {
            self.later = rest;
            return;
        }
        let mut all = nearest.edits;
        all.extend(rest.into_iter().flat_map(|hunk| hunk.edits));
        all.sort_by_key(|edit| edit.span.start);
        if all.len() > 1 {
            self.offer(scene, all, source, Some(took));
        }
    }

    /// What is shown was taken.
    pub(super) fn accepted(&mut self, part: Part, edited: Edited) {
        let Some(offer) = self.offers.get_mut(self.at) else {
            self.edited(edited);
            return;
        };
        let (id, source) = (offer.suggestion.id, offer.suggestion.source.clone());
        let chars = |text: &text::Snapshot| -> usize {
            let splices = edited.change.splices.iter();
            splices.map(|splice| text.char_count(splice.new)).sum()
        };
        self.effects.push(Effect::Note(Happened::Accepted {
            id,
            source: source.clone(),
            part,
            chars: chars(&edited.scene.snapshot),
        }));
        let file: Option<AbsPath> = edited.scene.path.clone();
        let change = edited.change.clone();
        if part == Part::All {
            // All of it stands there now, wherever it is; what is left of the others follows.
            self.offers.remove(self.at);
            self.at = 0;
            self.outcome(true);
        }
        self.edited(edited);
        self.keeping
            .taken((id, &source), file.as_ref(), &change, self.now);
    }

    /// What is shown was turned down.
    pub(super) fn dismissed(&mut self) {
        let (Some(scene), Some(offer)) = (self.scene.clone(), self.offers.get(self.at)) else {
            return;
        };
        let suggestion = offer.suggestion.clone();
        self.effects.push(Effect::Note(Happened::Dismissed {
            id: suggestion.id,
            source: suggestion.source.clone(),
        }));
        for offer in &self.offers {
            self.recent.rejected(&scene, &offer.suggestion, self.now);
        }
        self.outcome(false);
        self.offers.clear();
        self.at = 0;
        self.later.clear();
        self.cancel_all();
        // Quiet until the next key.
        self.last_edit = None;
        self.has_missed = true;
    }

    /// The person typed all of what was shown.
    pub(super) fn typed_through(&mut self, offer: &Offer) {
        self.has_missed = false;
        self.outcome(true);
        self.effects.push(Effect::Note(Happened::Typed {
            id: offer.suggestion.id,
            source: offer.suggestion.source.clone(),
        }));
    }

    /// The person did something else than what was shown.
    pub(super) fn missed(&mut self, offer: &Offer) {
        self.has_missed = true;
        self.outcome(false);
        self.ignored(offer);
    }

    fn ignored(&mut self, offer: &Offer) {
        if offer.was_shown {
            self.effects.push(Effect::Note(Happened::Ignored {
                id: offer.suggestion.id,
                source: offer.suggestion.source.clone(),
                typed: offer.typed,
            }));
        }
    }

    fn outcome(&mut self, is_right: bool) {
        let outcome = if is_right { 1.0 } else { 0.0 };
        self.success += WEIGHT * (outcome - self.success);
    }

    /// Lets go of what goes on from another place than the caret's.
    pub(super) fn drop_elsewhere(&mut self) {
        let Some(caret) = self.scene.as_ref().map(|scene| scene.caret) else {
            return;
        };
        let shown = self.offers.get(self.at).map(|offer| offer.suggestion.id);
        let offers = std::mem::take(&mut self.offers);
        let (here, gone): (Vec<Offer>, Vec<Offer>) = offers.into_iter().partition(|offer| {
            !goes_on(&offer.suggestion.source) || offer.suggestion.start() == caret
        });
        let at = here.iter().position(|it| Some(it.suggestion.id) == shown);
        self.offers = here;
        self.at = at.unwrap_or(0);
        gone.iter().for_each(|offer| self.ignored(offer));
    }

    /// Nothing is offered any more.
    pub(super) fn forget_offers(&mut self) {
        for offer in std::mem::take(&mut self.offers) {
            self.ignored(&offer);
        }
        self.at = 0;
    }

    /// Tells the driver what is to be shown, where that is something else than before.
    pub(super) fn tell(&mut self) {
        let revision = self.scene.as_ref().map(|scene| scene.snapshot.revision());
        let is_asked_for = matches!(self.last_edit, Some((_, super::Pace::Eager)));
        let count = self.offers.len();
        let shown = self.offers.get_mut(self.at).filter(|offer| {
            let is_likely = offer.suggestion.confidence >= self.options.threshold;
            let is_here =
                offer.suggestion.file.is_some() || Some(offer.suggestion.revision) == revision;
            is_here && (is_likely || is_asked_for)
        });
        let Some(offer) = shown else {
            if self.told.take().is_some() {
                self.effects.push(Effect::Hide);
            }
            return;
        };
        let next = Shown {
            suggestion: offer.suggestion.clone(),
            index: self.at,
            count,
        };
        if self.told.as_ref() == Some(&next) {
            return;
        }
        if !offer.was_shown {
            offer.was_shown = true;
            self.effects.push(Effect::Note(Happened::Shown {
                id: offer.suggestion.id,
                source: offer.suggestion.source.clone(),
                chars: offer.chars(),
                took: offer.took,
            }));
        }
        offer.since = self.now;
        self.effects.push(Effect::Show(next.clone()));
        self.told = Some(next);
    }
}
