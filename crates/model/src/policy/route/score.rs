//! Scores routes and excludes unsuitable ones.

use base::grouped;
use serde::{Deserialize, Serialize};

use super::{CandidateVerdict, Privacy, RequestedModel, RouteCandidate, RouteRequirements};
use crate::{Cost, Tier, TokenCount};

/// Weights of the score's components, relative to a perfectly fitting tier, which scores 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouteWeights {
    /// Maximum penalty for cost.
    pub cost: f64,
    /// Maximum penalty for latency.
    pub latency: f64,
    /// Penalty of a route that receives no requests.
    pub health: f64,
    /// Bonus for a fully cached prompt, in addition to its lower cost.
    pub cache: f64,
    /// Bonus for the current route at a switch point.
    pub stay: f64,
    /// Cost in dollars that incurs half of the `cost` penalty.
    pub half_cost: f64,
    /// Duration in seconds that incurs half of the `latency` penalty.
    pub half_latency: f64,
}

/// The components of a route's score, kept to explain the score. `total` combines them, and the
/// route with the highest total wins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteScore {
    /// Fit of the tier, from 0 to 1.
    pub quality: f64,
    /// Expected cost of the request, if known.
    pub expected_cost: Option<Cost>,
    /// Penalty for the expected cost.
    pub cost: f64,
    /// Expected duration of the answer in seconds, if known.
    pub expected_seconds: Option<f64>,
    /// Penalty for the expected duration.
    pub latency: f64,
    /// Penalty for recent failures.
    pub health: f64,
    /// Bonus for a warm cache.
    pub cache: f64,
    /// Bonus for being in use.
    pub stay: f64,
}

/// Reason why a route is excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum ExclusionReason {
    /// The route is not allowed for `auto`.
    #[error("the settings exclude it from auto")]
    NotAllowed,
    /// The model is deprecated, and the user does not list it for `auto`.
    #[error("its provider has deprecated it; list it in the settings to let auto use it anyway")]
    Deprecated,
    /// The model does not support tool calls.
    #[error("it does not support tool calls")]
    NoTools,
    /// Support for tool calls is unknown.
    #[error("its support for tool calls is unknown; state it in its profile")]
    ToolsUnknown,
    /// The model does not accept images.
    #[error("it does not accept images")]
    NoVision,
    /// Support for images is unknown.
    #[error("its support for images is unknown; state it in its profile")]
    VisionUnknown,
    /// The model cannot edit files.
    #[error("it cannot edit files")]
    NoEdits,
    /// The model cannot complete between prefix and suffix.
    #[error("it does not support fill-in-the-middle completion")]
    NoFim,
    /// The prompt exceeds the context window.
    #[error(
        "it accepts {} tokens at most, and the request has {}: shorten the request, or choose a \
         model with a larger context",
        grouped(has.0),
        grouped(needs.0)
    )]
    ContextTooSmall {
        /// Tokens that the model accepts.
        has: TokenCount,
        /// Tokens that prompt and answer need.
        needs: TokenCount,
    },
    /// The expected cost exceeds the cap.
    #[error("its expected cost is {expected}, and the cap is {cap}")]
    TooDear {
        /// Expected cost of the request.
        expected: Cost,
        /// The cap on its cost.
        cap: Cost,
    },
    /// The price is unknown, and there is a cost cap.
    #[error("its price is unknown, so the cost cap cannot be enforced")]
    PriceUnknown,
    /// The prompt may not be shown to this provider.
    #[error("the prompt may not be sent there: {}", match allowed { Privacy::Local => "it must stay on this machine", _ => "the provider may retain it" })]
    Private {
        /// The permitted audience of the prompt.
        allowed: Privacy,
    },
}

impl Default for RouteWeights {
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

impl RouteWeights {
    /// Returns the weights for Tab, where latency counts most.
    pub fn for_tab() -> Self {
        Self {
            latency: 0.8,
            half_latency: 0.5,
            ..Self::default()
        }
    }
}

impl RouteScore {
    /// Returns the score: quality and bonuses minus penalties. Only the order of the routes of one
    /// decision matters.
    pub fn total(&self) -> f64 {
        self.quality - self.cost - self.latency - self.health + self.cache + self.stay
    }
}

/// Scores a candidate, or returns the first requirement that excludes it.
pub(super) fn verdict(
    need: &RouteRequirements,
    candidate: &RouteCandidate,
    weights: &RouteWeights,
) -> CandidateVerdict {
    match exclusion(need, candidate) {
        Some(exclusion) => CandidateVerdict::Excluded(exclusion),
        None => CandidateVerdict::Scored(score(need, candidate, weights)),
    }
}

/// Returns the first requirement that the candidate does not meet; `None` if it is eligible.
fn exclusion(need: &RouteRequirements, candidate: &RouteCandidate) -> Option<ExclusionReason> {
    let profile = &candidate.profile;
    let is_named = match &need.wanted {
        RequestedModel::Model(model) => candidate.route.model == *model,
        RequestedModel::Auto => need.current.as_ref() == Some(&candidate.route),
    };
    // A model requested by name is not a choice of `auto`.
    if need.wanted == RequestedModel::Auto && !is_named && !candidate.is_allowed {
        return Some(if profile.deprecated {
            ExclusionReason::Deprecated
        } else {
            ExclusionReason::NotAllowed
        });
    }
    if candidate.privacy > need.privacy {
        return Some(ExclusionReason::Private {
            allowed: need.privacy,
        });
    }
    let abilities = need.abilities;
    // Users may try unknown abilities; `auto` does not.
    match profile.tools {
        Some(false) if abilities.tools => return Some(ExclusionReason::NoTools),
        None if abilities.tools && !is_named => return Some(ExclusionReason::ToolsUnknown),
        _ => {}
    }
    match profile.vision {
        // A named model without vision gets a text placeholder instead of an image, so that the
        // conversation goes on.
        Some(false)
            if abilities.vision && matches!(need.wanted, RequestedModel::Model(_)) && is_named => {}
        Some(false) if abilities.vision => return Some(ExclusionReason::NoVision),
        None if abilities.vision && !is_named => return Some(ExclusionReason::VisionUnknown),
        _ => {}
    }
    if abilities.edits && !candidate.can_edit() {
        return Some(ExclusionReason::NoEdits);
    }
    if abilities.fim && profile.fim.is_none() && profile.next_edit.is_none() {
        return Some(ExclusionReason::NoFim);
    }
    let needs = need.prompt.plus(need.output);
    if needs > profile.context {
        return Some(ExclusionReason::ContextTooSmall {
            has: profile.context,
            needs,
        });
    }
    let cap = need.cost_cap?;
    match expected_cost(need, candidate) {
        Some(expected) if expected > cap => Some(ExclusionReason::TooDear { expected, cap }),
        None => Some(ExclusionReason::PriceUnknown),
        _ => None,
    }
}

fn score(
    need: &RouteRequirements,
    candidate: &RouteCandidate,
    weights: &RouteWeights,
) -> RouteScore {
    let expected_cost = expected_cost(need, candidate);
    // An unknown price must not be an advantage: it incurs half of the penalty.
    let dollars = expected_cost.map_or(weights.half_cost, Cost::as_dollars);
    let expected_seconds = candidate.latency.map(|latency| latency.as_secs_f64());
    // An unknown latency counts as a third of `half_latency`, so that new routes are tried.
    let seconds = expected_seconds.unwrap_or(weights.half_latency / 3.0);
    let warm = candidate.warm.0.min(need.prompt.0) as f64 / need.prompt.0.max(1) as f64;
    let is_current = need.current.as_ref() == Some(&candidate.route);
    RouteScore {
        quality: fit(candidate.profile.tier, need.complexity.tier()),
        expected_cost,
        cost: weights.cost * dollars / (dollars + weights.half_cost),
        expected_seconds,
        latency: weights.latency * seconds / (seconds + weights.half_latency),
        health: weights.health * candidate.failure_ratio.clamp(0.0, 1.0),
        cache: weights.cache * warm,
        stay: if is_current { weights.stay } else { 0.0 },
    }
}

/// Rates how well a tier fits: too strong is wasteful, too weak fails.
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

/// Estimates the cost: warm tokens are read from the cache, the rest is written to it where that is
/// billed, and the output is added.
fn expected_cost(need: &RouteRequirements, candidate: &RouteCandidate) -> Option<Cost> {
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
