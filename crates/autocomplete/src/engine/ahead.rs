//! Asking for what follows a suggestion before it is taken, so that the next one is there at once.

use std::time::Duration;

use super::flight::Purpose;
use super::offer::Offer;
use super::{Engine, TabKind, Turn};
use crate::cache::Place;
use crate::context::ContextSource;
use crate::validate::applied;
use crate::{Scene, Source};

/// Who has looked at a suggestion for so long may take it.
const LOOKED_AT: Duration = Duration::from_millis(400);
/// How often suggestions must be right for that to be worth a request.
const WORTH_LOOKING: f32 = 0.4;
/// And for asking about the end of one of which little was typed.
const WORTH_HURRYING: f32 = 0.6;
/// Chars before the end of a suggestion from which on its end is near, at most.
const NEAR: usize = 24;

impl Engine {
    /// Asks for the text behind what is shown, where it is likely to be taken, or typed to its end soon. Where another
    /// alternative was wanted and there is none, asks for that.
    pub(super) fn look_ahead(&mut self, source: &dyn ContextSource) {
        let due = self.ahead_due().is_some_and(|due| due <= self.now);
        let Some(scene) = self.scene.clone().filter(|_| due) else {
            return;
        };
        let Some(offer) = self.offers.get_mut(self.at) else {
            return;
        };
        offer.has_looked_ahead = true;
        let id = offer.suggestion.id;
        let Some(next) = behind(&scene, offer) else {
            return;
        };
        let model = self.options.model.as_ref().map(|model| model.id.clone());
        let is_known = model.is_none_or(|model| {
            let place = Place::of(&next);
            !self.cache.find(&place, &model).is_empty()
        });
        if !is_known {
            self.ask(&next, Purpose::Ahead(id), source);
        }
    }

    /// When the text behind what is shown is to be asked for.
    pub(super) fn ahead_due(&self) -> Option<Duration> {
        let model = self.options.model.as_ref()?;
        let offer = self.offers.get(self.at)?;
        let is_gap =
            model.kind == TabKind::Gap && matches!(offer.suggestion.source, Source::Gap(_));
        let is_whole = offer.partial.is_none() && !offer.has_looked_ahead;
        if !is_gap || !is_whole || !self.flights.is_empty() || !self.blocked.is_empty() {
            return None;
        }
        if self.ends_soon(offer) {
            return Some(self.now);
        }
        (self.success >= WORTH_LOOKING).then(|| offer.since + LOOKED_AT)
    }

    /// Whether the person will have typed the rest before an answer could be there.
    fn ends_soon(&self, offer: &Offer) -> bool {
        let left = offer.chars();
        let latency = self.latencies.percentile(75) + self.rhythm.wait();
        let near = self.rhythm.keys_in(latency).min(NEAR);
        let is_sure = offer.typed >= left || self.success >= WORTH_HURRYING;
        left <= near && is_sure
    }

    /// Another alternative; a model is asked for one where there is none.
    pub(super) fn turn(&mut self, turn: Turn, source: &dyn ContextSource) {
        let count = self.offers.len();
        if count > 1 {
            self.at = match turn {
                Turn::Next => (self.at + 1) % count,
                Turn::Previous => (self.at + count - 1) % count,
            };
            return;
        }
        let is_gap = |kind: TabKind| kind == TabKind::Gap;
        let can = self
            .options
            .model
            .as_ref()
            .is_some_and(|model| is_gap(model.kind));
        if let Some(scene) = self.scene.clone()
            && can
            && self.blocked.is_empty()
            && self.flights.is_empty()
        {
            self.ask(&scene, Purpose::Another, source);
        }
    }
}

/// The scene behind taking a suggestion; none for one that is not only an insertion at the caret.
fn behind(scene: &Scene, offer: &Offer) -> Option<Scene> {
    let [edit] = offer.suggestion.edits.as_slice() else {
        return None;
    };
    if edit.span.start != scene.caret {
        return None;
    }
    let (change, after) = applied(&scene.snapshot, &offer.suggestion);
    let caret = change.splices.last()?.new.end;
    Some(Scene {
        snapshot: after,
        caret,
        syntax: None,
        ..scene.clone()
    })
}
