//! Chooses the model and route for a request, and the fallbacks.
//!
//! Invariant: a decision never names a route that its candidates exclude, and its chain contains no
//! route twice, so that falling back ends. Start at `decide`.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::{Complexity, ComplexityFeatures, Route};
use crate::{Cost, EditTool, ModelId, Price, Profile, Tier, TokenCount};

mod explain;
mod score;

pub use score::{ExclusionReason, RouteScore, RouteWeights};

/// Requirements of a request on its model and route. They are an input of `decide`.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteRequirements {
    /// A named model, or automatic choice.
    pub wanted: RequestedModel,
    /// Estimated difficulty of the step.
    pub complexity: Complexity,
    /// Inputs of the complexity score.
    pub features: ComplexityFeatures,
    /// Abilities that the model must have.
    pub abilities: Abilities,
    /// Estimated tokens of the prompt.
    pub prompt: TokenCount,
    /// Expected output tokens, which are fewer than the maximum.
    pub output: TokenCount,
    /// Maximum expected cost of the request.
    pub cost_cap: Option<Cost>,
    /// The permitted audience of the prompt.
    pub privacy: Privacy,
    /// Permitted fallbacks if the chosen route fails.
    pub fallback: FallbackScope,
    /// The route that the conversation has used so far.
    pub current: Option<Route>,
    /// Whether the current route may be left now.
    pub boundary: SwitchBoundary,
}

/// The model that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestedModel {
    /// This model and no other.
    Model(ModelId),
    /// Any model that fits.
    Auto,
}

/// Abilities that a model must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    /// Whether it supports tool calls.
    pub tools: bool,
    /// Whether it accepts images.
    pub vision: bool,
    /// Whether it edits files, by a tool call or in its text.
    pub edits: bool,
    /// Whether it completes code between prefix and suffix.
    pub fim: bool,
}

/// Permitted audience of a prompt, strictest first. A request states the level that it needs, and a
/// route states the level that it offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Privacy {
    /// Only models on this machine.
    Local,
    /// A provider that does not train on prompts.
    Private,
    /// Any of the configured providers.
    Any,
}

/// Permitted fallbacks if the chosen route fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackScope {
    /// No fallback at all.
    Never,
    /// The same model on another route.
    SameModel,
    /// Also another model of the same tier.
    SameTier,
    /// Any capable model, with a notice.
    AnyTier,
}

/// Point of the conversation at which a request is made. At every point except `Within`, `auto` may
/// change the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SwitchBoundary {
    /// No: in the middle of a turn.
    Within,
    /// The user has sent a new message.
    NewTurn,
    /// The conversation was just compacted, so nothing of it is cached.
    Compacted,
    /// A new subagent starts.
    NewAgent,
    /// The turn makes no progress.
    Stalled,
    /// The last request failed.
    Failed,
}

/// A route that may be chosen, with all that the decision weighs: profile, price, privacy, health,
/// latency and cache.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteCandidate {
    /// The route to judge.
    pub route: Route,
    /// Profile of the model.
    pub profile: Profile,
    /// Price of the model, if known.
    pub price: Option<Price>,
    /// The provider-independent name of the model; without it the model equals only itself.
    pub same_as: Option<ModelId>,
    /// Audience of prompts on this route.
    pub privacy: Privacy,
    /// Whether `auto` may use it; a deprecated model only if the user lists it.
    pub is_allowed: bool,
    /// From 0, no recent failure, to 1, nothing is sent.
    pub failure_ratio: f64,
    /// Expected duration of the answer, if known.
    pub latency: Option<Duration>,
    /// Number of the prompt's tokens in its cache.
    pub warm: TokenCount,
}

/// A routing decision with its reasons, for users and for the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteDecision {
    /// The requested model, or `Auto`.
    pub wanted: RequestedModel,
    /// Estimated difficulty of the step.
    pub complexity: Complexity,
    /// Inputs of the complexity score.
    pub features: ComplexityFeatures,
    /// The lowest tier that suffices.
    pub tier: Tier,
    /// The judged routes with their verdicts, best first. The router keeps only the best of many.
    pub considered: Vec<ConsideredRoute>,
    /// The chosen route; `None` if no route is eligible.
    pub chosen: Option<Route>,
    /// Reason for the choice, or for its absence.
    pub reason: RouteReason,
    /// The chosen route, followed by its fallbacks in order.
    pub chain: Vec<FallbackLink>,
}

/// A route with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsideredRoute {
    /// The route that was judged.
    #[serde(rename = "lane")]
    pub route: Route,
    /// Tier of its model.
    pub tier: Tier,
    /// Its score, or the reason for its exclusion.
    pub verdict: CandidateVerdict,
}

/// Score of a route, or the reason for its exclusion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CandidateVerdict {
    /// The route is eligible with this score.
    Scored(RouteScore),
    /// The route is excluded for this reason.
    Excluded(ExclusionReason),
}

/// Reason why a route was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteReason {
    /// The request names its model.
    Named,
    /// The conversation already uses it and is at no switch point.
    Sticky,
    /// It has the best score.
    Best,
    /// It is the only eligible route.
    Only,
    /// The previous route is no longer eligible.
    Displaced,
    /// No route is eligible.
    #[serde(rename = "nobody")]
    NoneEligible,
}

/// A route of the fallback chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FallbackLink {
    /// Route of this link.
    #[serde(rename = "lane")]
    pub route: Route,
    /// Its relation to the chosen route.
    pub kind: FallbackKind,
}

/// Relation of a fallback to the chosen route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackKind {
    /// The chosen route itself.
    Chosen,
    /// The same model on another route.
    SameModel,
    /// Another model of the same tier.
    SameTier,
    /// A weaker model; the user is notified.
    LowerTier,
    /// A stronger model, if there is no weaker one; the user is notified.
    HigherTier,
}

/// Chooses a route for a request.
///
/// A named model uses its best route. `auto` keeps the conversation's route until a switch point,
/// and then takes the route with the best score. Excluded routes are never used, not even as a
/// fallback. Without an eligible route, `RouteDecision::chosen` is `None`, and the decision's
/// reason tells why.
pub fn decide(
    need: &RouteRequirements,
    candidates: &[RouteCandidate],
    weights: &RouteWeights,
) -> RouteDecision {
    let verdicts: Vec<CandidateVerdict> = candidates
        .iter()
        .map(|candidate| score::verdict(need, candidate, weights))
        .collect();
    let eligible: Vec<(usize, f64)> = verdicts
        .iter()
        .enumerate()
        .filter_map(|(ix, verdict)| match verdict {
            CandidateVerdict::Scored(score) => Some((ix, score.total())),
            CandidateVerdict::Excluded(_) => None,
        })
        .collect();
    let (chosen, reason) = choose(need, candidates, &eligible);
    let chain = chosen.map_or_else(Vec::new, |chosen| {
        chain(need, candidates, &eligible, chosen)
    });
    let mut considered: Vec<ConsideredRoute> = candidates
        .iter()
        .zip(verdicts)
        .map(|(candidate, verdict)| ConsideredRoute {
            route: candidate.route.clone(),
            tier: candidate.profile.tier,
            verdict,
        })
        .collect();
    considered.sort_by(|one, other| other.total().total_cmp(&one.total()));
    RouteDecision {
        wanted: need.wanted.clone(),
        complexity: need.complexity,
        features: need.features.clone(),
        tier: need.complexity.tier(),
        considered,
        chosen: chosen.map(|ix| candidates[ix].route.clone()),
        reason,
        chain,
    }
}

/// Chooses a candidate and returns its index with the reason; `None` with `NoneEligible`.
/// `eligible` holds the index and the score of each candidate that is not excluded.
fn choose(
    need: &RouteRequirements,
    candidates: &[RouteCandidate],
    eligible: &[(usize, f64)],
) -> (Option<usize>, RouteReason) {
    let sticky = need.current.as_ref().and_then(|current| {
        let same = eligible
            .iter()
            .find(|(ix, _)| candidates[*ix].route == *current);
        same.map(|(ix, _)| *ix)
    });
    let is_healthy = |ix: usize| candidates[ix].failure_ratio < 1.0;
    if let RequestedModel::Model(model) = &need.wanted {
        let named: Vec<_> = eligible
            .iter()
            .copied()
            .filter(|(ix, _)| candidates[*ix].route.model == *model)
            .collect();
        // The current route has the cache, so it is kept among those of the same model while it is
        // healthy.
        let kept = sticky.filter(|ix| candidates[*ix].route.model == *model && is_healthy(*ix));
        return match kept.or_else(|| best(&named)) {
            Some(ix) => (Some(ix), RouteReason::Named),
            None => (None, RouteReason::NoneEligible),
        };
    }
    let allowed: Vec<_> = eligible
        .iter()
        .copied()
        .filter(|(ix, _)| candidates[*ix].is_allowed)
        .collect();
    let best = best(&allowed);
    match (sticky, best) {
        (Some(sticky), _) if need.boundary == SwitchBoundary::Within && is_healthy(sticky) => {
            (Some(sticky), RouteReason::Sticky)
        }
        (Some(sticky), Some(best)) if need.boundary == SwitchBoundary::Within && best != sticky => {
            (Some(best), RouteReason::Displaced)
        }
        // An unhealthy route is better than none: the sender waits until it may probe.
        (Some(sticky), None) => (Some(sticky), RouteReason::Sticky),
        (None, Some(best)) if need.boundary == SwitchBoundary::Within && need.current.is_some() => {
            (Some(best), RouteReason::Displaced)
        }
        (_, Some(best)) if allowed.len() == 1 => (Some(best), RouteReason::Only),
        (_, Some(best)) => (Some(best), RouteReason::Best),
        (None, None) => (None, RouteReason::NoneEligible),
    }
}

/// Returns the highest score; the first of equal ones.
fn best(eligible: &[(usize, f64)]) -> Option<usize> {
    let best = eligible
        .iter()
        .max_by(|(one, score), (other, best)| score.total_cmp(best).then(other.cmp(one)));
    best.map(|(ix, _)| *ix)
}

/// Builds the fallback chain: the chosen route, then the others by relation, health and score. Each
/// route occurs once, so the chain ends.
fn chain(
    need: &RouteRequirements,
    candidates: &[RouteCandidate],
    eligible: &[(usize, f64)],
    chosen: usize,
) -> Vec<FallbackLink> {
    let first = &candidates[chosen];
    let mut links: Vec<_> = eligible
        .iter()
        .filter(|(ix, _)| *ix != chosen && candidates[*ix].route != first.route)
        .filter_map(|(ix, score)| {
            let candidate = &candidates[*ix];
            let kind = kind(first, candidate);
            let scope = match kind {
                FallbackKind::Chosen | FallbackKind::SameModel => FallbackScope::SameModel,
                FallbackKind::SameTier => FallbackScope::SameTier,
                FallbackKind::LowerTier | FallbackKind::HigherTier => FallbackScope::AnyTier,
            };
            // A model other than the requested or current one must be allowed for `auto`.
            let is_permitted = kind == FallbackKind::SameModel || candidate.is_allowed;
            (scope <= need.fallback && is_permitted).then_some((kind, candidate, *score))
        })
        .collect();
    links.sort_by(|(kind, one, score), (other_kind, other, best)| {
        let closeness = |candidate: &RouteCandidate| {
            let tier = candidate.profile.tier;
            Reverse(tier.max(first.profile.tier) as i8 - tier.min(first.profile.tier) as i8)
        };
        kind.cmp(other_kind)
            .then((one.failure_ratio >= 1.0).cmp(&(other.failure_ratio >= 1.0)))
            .then(closeness(other).cmp(&closeness(one)))
            .then(best.total_cmp(score))
    });
    let mut chain = vec![FallbackLink {
        route: first.route.clone(),
        kind: FallbackKind::Chosen,
    }];
    let mut named = HashSet::from([&first.route]);
    for (kind, candidate, _) in links {
        if named.insert(&candidate.route) {
            chain.push(FallbackLink {
                route: candidate.route.clone(),
                kind,
            });
        }
    }
    chain
}

fn kind(first: &RouteCandidate, other: &RouteCandidate) -> FallbackKind {
    if first.identity() == other.identity() {
        return FallbackKind::SameModel;
    }
    match other.profile.tier.cmp(&first.profile.tier) {
        std::cmp::Ordering::Equal => FallbackKind::SameTier,
        std::cmp::Ordering::Less => FallbackKind::LowerTier,
        std::cmp::Ordering::Greater => FallbackKind::HigherTier,
    }
}

impl RouteCandidate {
    /// Returns the identity by which two routes share a model.
    fn identity(&self) -> &ModelId {
        self.same_as.as_ref().unwrap_or(&self.route.model)
    }

    /// Returns whether it can edit files at all.
    fn can_edit(&self) -> bool {
        let in_text = matches!(
            self.profile.edit,
            EditTool::SearchReplace | EditTool::WholeFile
        );
        in_text || self.profile.tools != Some(false)
    }
}

impl ConsideredRoute {
    /// Returns the score, or minus infinity for an excluded route.
    fn total(&self) -> f64 {
        match &self.verdict {
            CandidateVerdict::Scored(score) => score.total(),
            CandidateVerdict::Excluded(_) => f64::NEG_INFINITY,
        }
    }
}

#[cfg(test)]
mod tests;
