//! What speaks for a lane and against it.

use base::grouped;
use serde::{Deserialize, Serialize};

use super::{Candidate, Need, Privacy, Verdict, Wanted};
use crate::{Cost, Tier, TokenCount};

/// How much each thing counts. What a tier that fits exactly is worth is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Of money: what an infinitely dear request would lose.
    pub cost: f64,
    /// Of time: what an infinitely slow answer would lose.
    pub latency: f64,
    /// Of failures: what a lane to which nothing is sent loses.
    pub health: f64,
    /// Of a warm cache: what a wholly cached prompt wins beside its lower price.
    pub cache: f64,
    /// Of staying: what the lane in use wins at a boundary.
    pub stay: f64,
    /// The cost, in dollars, that loses half of `cost`.
    pub half_cost: f64,
    /// The time, in seconds, that loses half of `latency`.
    pub half_latency: f64,
}

/// A score and its parts; `total` adds them up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// How well the tier fits, from 0 to 1.
    pub quality: f64,
    /// What the request is expected to cost, where that is known.
    pub expected_cost: Option<Cost>,
    /// What it loses for that.
    pub cost: f64,
    /// How long the answer is expected to take in seconds, where that is known.
    pub expected_seconds: Option<f64>,
    /// What it loses for that.
    pub latency: f64,
    /// What it loses for failures.
    pub health: f64,
    /// What it wins for a warm cache.
    pub cache: f64,
    /// What it wins for being in use.
    pub stay: f64,
}

/// Why a lane is out of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Exclusion {
    /// `auto` may not use it.
    #[error("the settings do not let auto use it")]
    NotAllowed,
    /// Its provider withdraws it, and the person does not name it for `auto`.
    #[error("its provider withdraws it; name it in the settings to let auto use it all the same")]
    Deprecated,
    /// It does not call tools.
    #[error("it does not call tools")]
    NoTools,
    /// Nobody says that it calls tools.
    #[error("it is not known to call tools; say so in its profile if it does")]
    ToolsUnknown,
    /// It sees no pictures.
    #[error("it sees no pictures")]
    NoVision,
    /// Nobody says that it sees pictures.
    #[error("it is not known to see pictures; say so in its profile if it does")]
    VisionUnknown,
    /// It cannot edit files.
    #[error("it has no way of editing files")]
    NoEdits,
    /// It cannot fill a gap.
    #[error("it does not complete text around the cursor")]
    NoFim,
    /// The prompt is too long for it.
    #[error(
        "it takes {} tokens at most, and the request has {}: shorten the request, or choose a model with a larger \
         context",
        grouped(has.0),
        grouped(needs.0)
    )]
    ContextTooSmall {
        /// What it takes.
        has: TokenCount,
        /// What prompt and answer have.
        needs: TokenCount,
    },
    /// It is too dear.
    #[error("it is expected to cost {expected}, the cap is {cap}")]
    TooDear {
        /// What it is expected to cost.
        expected: Cost,
        /// The cap.
        cap: Cost,
    },
    /// Nobody knows what it costs, and there is a cap.
    #[error("its price is unknown, so the cap on the request's cost cannot be kept")]
    PriceUnknown,
    /// The prompt may not be shown to it.
    #[error("this prompt may not be sent there: {}", match allowed { Privacy::Local => "it must stay on this machine", _ => "the provider may keep it" })]
    Private {
        /// To whom it may be shown.
        allowed: Privacy,
    },
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            cost: 0.6,
            latency: 0.2,
            health: 0.5,
            cache: 0.1,
            stay: 0.05,
            half_cost: 1.0,
            half_latency: 30.0,
        }
    }
}

impl Weights {
    /// For what the person waits for with a finger on the key: time counts most.
    pub fn for_tab() -> Self {
        Self {
            latency: 0.8,
            half_latency: 0.5,
            ..Self::default()
        }
    }
}

impl Score {
    /// What the parts come to.
    pub fn total(&self) -> f64 {
        self.quality - self.cost - self.latency - self.health + self.cache + self.stay
    }
}

pub(super) fn verdict(need: &Need, candidate: &Candidate, weights: &Weights) -> Verdict {
    match exclusion(need, candidate) {
        Some(exclusion) => Verdict::Excluded(exclusion),
        None => Verdict::Scored(score(need, candidate, weights)),
    }
}

fn exclusion(need: &Need, candidate: &Candidate) -> Option<Exclusion> {
    let profile = &candidate.profile;
    let is_named = match &need.wanted {
        Wanted::Model(model) => candidate.lane.model == *model,
        Wanted::Auto => need.current.as_ref() == Some(&candidate.lane),
    };
    // A model asked for by name is no choice of auto's.
    if need.wanted == Wanted::Auto && !is_named && !candidate.is_allowed {
        return Some(match profile.deprecated {
            true => Exclusion::Deprecated,
            false => Exclusion::NotAllowed,
        });
    }
    if candidate.privacy > need.privacy {
        return Some(Exclusion::Private {
            allowed: need.privacy,
        });
    }
    let abilities = need.abilities;
    // A person may try what nobody knows; auto does not.
    match profile.tools {
        Some(false) if abilities.tools => return Some(Exclusion::NoTools),
        None if abilities.tools && !is_named => return Some(Exclusion::ToolsUnknown),
        _ => {}
    }
    match profile.vision {
        // A model asked for by name is told in words where a picture was: the conversation goes on without it.
        Some(false) if abilities.vision && matches!(need.wanted, Wanted::Model(_)) && is_named => {}
        Some(false) if abilities.vision => return Some(Exclusion::NoVision),
        None if abilities.vision && !is_named => return Some(Exclusion::VisionUnknown),
        _ => {}
    }
    if abilities.edits && !candidate.can_edit() {
        return Some(Exclusion::NoEdits);
    }
    if abilities.fim && profile.fim.is_none() && profile.next_edit.is_none() {
        return Some(Exclusion::NoFim);
    }
    let needs = need.prompt.plus(need.output);
    if needs > profile.context {
        return Some(Exclusion::ContextTooSmall {
            has: profile.context,
            needs,
        });
    }
    let cap = need.cost_cap?;
    match expected_cost(need, candidate) {
        Some(expected) if expected > cap => Some(Exclusion::TooDear { expected, cap }),
        None => Some(Exclusion::PriceUnknown),
        _ => None,
    }
}

fn score(need: &Need, candidate: &Candidate, weights: &Weights) -> Score {
    let expected_cost = expected_cost(need, candidate);
    // An unknown price is no reason to prefer a lane: it counts as one that loses half.
    let dollars = expected_cost.map_or(weights.half_cost, Cost::as_dollars);
    let expected_seconds = candidate.latency.map(|latency| latency.as_secs_f64());
    // An unknown latency is taken for a third of the half, so that new lanes are tried.
    let seconds = expected_seconds.unwrap_or(weights.half_latency / 3.0);
    let warm = candidate.warm.0.min(need.prompt.0) as f64 / need.prompt.0.max(1) as f64;
    let is_current = need.current.as_ref() == Some(&candidate.lane);
    Score {
        quality: fit(candidate.profile.tier, need.complexity.tier()),
        expected_cost,
        cost: weights.cost * dollars / (dollars + weights.half_cost),
        expected_seconds,
        latency: weights.latency * seconds / (seconds + weights.half_latency),
        health: weights.health * candidate.sickness.clamp(0.0, 1.0),
        cache: weights.cache * warm,
        stay: if is_current { weights.stay } else { 0.0 },
    }
}

/// How well a tier fits: too strong is a waste, too weak a failure.
fn fit(has: Tier, needs: Tier) -> f64 {
    match has as i8 - needs as i8 {
        0 => 1.0,
        1 => 0.85,
        2 => 0.75,
        3 => 0.7,
        -1 => 0.5,
        -2 => 0.15,
        _ => 0.0,
    }
}

/// What is warm is read from the cache, the rest is written to it where that costs, and the answer is added.
fn expected_cost(need: &Need, candidate: &Candidate) -> Option<Cost> {
    let price = candidate.price.as_ref()?;
    let warm = TokenCount(candidate.warm.0.min(need.prompt.0));
    let cold = need.prompt.minus(warm);
    let writes = price.rates(need.prompt).cache_write_5m.is_some();
    let usage = crate::Usage {
        input: if writes { TokenCount(0) } else { cold },
        cache_read: warm,
        cache_write_5m: if writes { cold } else { TokenCount(0) },
        output: need.output,
        ..crate::Usage::default()
    };
    price.cost(&usage)
}
