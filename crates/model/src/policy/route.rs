//! Which model answers, in which lane, and where to go if it cannot.
//!
//! Invariant: a decision never names a lane that its candidates exclude, and its chain holds no lane twice, so
//! that falling back ends.
//! Start at `decide`.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::{Complexity, ComplexityFeatures, Lane};
use crate::{Cost, EditTool, ModelId, Price, Profile, Tier, TokenCount};

mod explain;
mod score;

pub use score::{Exclusion, Score, Weights};

/// What is wanted of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// A model by name, or whichever fits.
    pub wanted: Wanted,
    /// How hard the step looks.
    pub complexity: Complexity,
    /// Why.
    pub features: ComplexityFeatures,
    /// What it must be able to do.
    pub abilities: Abilities,
    /// The prompt's tokens, estimated.
    pub prompt: TokenCount,
    /// How much it is expected to write, which is less than it may.
    pub output: TokenCount,
    /// The most that the request may be expected to cost.
    pub cost_cap: Option<Cost>,
    /// To whom the prompt may be shown.
    pub privacy: Privacy,
    /// How far to go if the chosen lane cannot answer.
    pub fallback: Fallback,
    /// The lane that the conversation has used so far.
    pub current: Option<Lane>,
    /// Whether it may be left now.
    pub boundary: Boundary,
}

/// Who shall answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// This model, whatever else there is.
    Model(ModelId),
    /// Whichever fits.
    Auto,
}

/// What a model must be able to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    /// Call tools.
    pub tools: bool,
    /// See pictures.
    pub vision: bool,
    /// Edit files, by calling a tool or in its text.
    pub edits: bool,
    /// Fill a gap.
    pub fim: bool,
}

/// To whom a prompt may be shown, the strictest first; a lane says it of itself, a need of its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Privacy {
    /// To this machine alone.
    Local,
    /// To a provider that does not keep it to train on.
    Private,
    /// To any provider.
    Any,
}

/// How far to go if the chosen lane cannot answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// Nowhere.
    Never,
    /// To the same model in another lane.
    SameModel,
    /// To another model of its tier, too.
    SameTier,
    /// To any model that can do it, with a notice.
    AnyTier,
}

/// Whether a conversation stands at a place where changing the model costs little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// No: in the middle of a turn.
    Within,
    /// The person has said something new.
    NewTurn,
    /// The conversation was just compacted, so nothing of it is cached.
    Compacted,
    /// A new subagent starts.
    NewAgent,
    /// The turn goes nowhere.
    Stalled,
    /// The last request failed.
    Failed,
}

/// A lane that may be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Which.
    pub lane: Lane,
    /// What the model can do.
    pub profile: Profile,
    /// What it costs, where that is known.
    pub price: Option<Price>,
    /// The name that the same model has everywhere; without one it is the same only as itself.
    pub same_as: Option<ModelId>,
    /// To whom it shows prompts.
    pub privacy: Privacy,
    /// Whether `auto` may use it: a deprecated one only where the person names it.
    pub is_allowed: bool,
    /// From 0, nothing failed lately, to 1, nothing is sent.
    pub sickness: f64,
    /// How long the answer is expected to take, where that is known.
    pub latency: Option<Duration>,
    /// How many of the prompt's tokens it has in its cache.
    pub warm: TokenCount,
}

/// What was decided and why, for people and for the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteDecision {
    /// Who was wanted.
    pub wanted: Wanted,
    /// How hard the step looks.
    pub complexity: Complexity,
    /// Why.
    pub features: ComplexityFeatures,
    /// The tier that suffices.
    pub tier: Tier,
    /// Every lane and what speaks for or against it, the best first.
    pub considered: Vec<Considered>,
    /// Who answers; `None` where nobody can.
    pub chosen: Option<Lane>,
    /// Why it is this one, or why it is none.
    pub reason: Reason,
    /// The chosen lane, then where to go if it cannot answer.
    pub chain: Vec<Link>,
}

/// One lane as it was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Considered {
    /// Which.
    pub lane: Lane,
    /// Its model's tier.
    pub tier: Tier,
    /// Its score, or why it is out of the question.
    pub verdict: Verdict,
}

/// A lane's score, or why it is out of the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// How good it looks.
    Scored(Score),
    /// Why it cannot be.
    Excluded(Exclusion),
}

/// Why a lane was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It was asked for by name.
    Named,
    /// The conversation has used it so far, and stands at no boundary.
    Sticky,
    /// It scored best.
    Best,
    /// It is the only one.
    Only,
    /// The one so far cannot answer any more.
    Displaced,
    /// Nobody can answer.
    Nobody,
}

/// A lane of the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Which.
    pub lane: Lane,
    /// What it is to the chosen one.
    pub kind: LinkKind,
}

/// What a lane of the chain is to the chosen one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// The chosen one.
    Chosen,
    /// The same model, another way.
    SameModel,
    /// Another model of its tier.
    SameTier,
    /// A weaker model: the person is told.
    LowerTier,
    /// A stronger one, when there is no weaker: the person is told.
    HigherTier,
}

/// Chooses a lane for a need.
///
/// A named model is taken in its best lane. `auto` keeps to the conversation's lane until a boundary, and then
/// takes the best score. Lanes that are excluded are never taken, not even as a fallback.
pub fn decide(need: &Need, candidates: &[Candidate], weights: &Weights) -> RouteDecision {
    let verdicts: Vec<Verdict> = candidates
        .iter()
        .map(|candidate| score::verdict(need, candidate, weights))
        .collect();
    let eligible: Vec<(usize, f64)> = verdicts
        .iter()
        .enumerate()
        .filter_map(|(ix, verdict)| match verdict {
            Verdict::Scored(score) => Some((ix, score.total())),
            Verdict::Excluded(_) => None,
        })
        .collect();
    let (chosen, reason) = choose(need, candidates, &eligible);
    let chain = chosen.map_or_else(Vec::new, |chosen| {
        chain(need, candidates, &eligible, chosen)
    });
    let mut considered: Vec<Considered> = candidates
        .iter()
        .zip(verdicts)
        .map(|(candidate, verdict)| Considered {
            lane: candidate.lane.clone(),
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
        chosen: chosen.map(|ix| candidates[ix].lane.clone()),
        reason,
        chain,
    }
}

fn choose(
    need: &Need,
    candidates: &[Candidate],
    eligible: &[(usize, f64)],
) -> (Option<usize>, Reason) {
    let sticky = need.current.as_ref().and_then(|current| {
        let same = eligible
            .iter()
            .find(|(ix, _)| candidates[*ix].lane == *current);
        same.map(|(ix, _)| *ix)
    });
    let is_well = |ix: usize| candidates[ix].sickness < 1.0;
    if let Wanted::Model(model) = &need.wanted {
        let named: Vec<_> = eligible
            .iter()
            .copied()
            .filter(|(ix, _)| candidates[*ix].lane.model == *model)
            .collect();
        // The lane in use has the cache, so among those of one model it is kept while it is well.
        let kept = sticky.filter(|ix| candidates[*ix].lane.model == *model && is_well(*ix));
        return match kept.or_else(|| best(&named)) {
            Some(ix) => (Some(ix), Reason::Named),
            None => (None, Reason::Nobody),
        };
    }
    let allowed: Vec<_> = eligible
        .iter()
        .copied()
        .filter(|(ix, _)| candidates[*ix].is_allowed)
        .collect();
    let best = best(&allowed);
    match (sticky, best) {
        (Some(sticky), _) if need.boundary == Boundary::Within && is_well(sticky) => {
            (Some(sticky), Reason::Sticky)
        }
        (Some(sticky), Some(best)) if need.boundary == Boundary::Within && best != sticky => {
            (Some(best), Reason::Displaced)
        }
        // Better a lane that is ill than none: whoever sends waits until it may try.
        (Some(sticky), None) => (Some(sticky), Reason::Sticky),
        (None, Some(best)) if need.boundary == Boundary::Within && need.current.is_some() => {
            (Some(best), Reason::Displaced)
        }
        (_, Some(best)) if allowed.len() == 1 => (Some(best), Reason::Only),
        (_, Some(best)) => (Some(best), Reason::Best),
        (None, None) => (None, Reason::Nobody),
    }
}

/// The highest score; of equal ones the first.
fn best(eligible: &[(usize, f64)]) -> Option<usize> {
    let best = eligible
        .iter()
        .max_by(|(one, score), (other, best)| score.total_cmp(best).then(other.cmp(one)));
    best.map(|(ix, _)| *ix)
}

/// The chosen lane, then the others in the order in which they are tried: by what they are to it, the well ones
/// first, then by score. Each lane comes once, so the chain ends.
fn chain(
    need: &Need,
    candidates: &[Candidate],
    eligible: &[(usize, f64)],
    chosen: usize,
) -> Vec<Link> {
    let first = &candidates[chosen];
    let mut links: Vec<_> = eligible
        .iter()
        .filter(|(ix, _)| *ix != chosen && candidates[*ix].lane != first.lane)
        .filter_map(|(ix, score)| {
            let candidate = &candidates[*ix];
            let kind = kind(first, candidate);
            let reach = match kind {
                LinkKind::Chosen | LinkKind::SameModel => Fallback::SameModel,
                LinkKind::SameTier => Fallback::SameTier,
                LinkKind::LowerTier | LinkKind::HigherTier => Fallback::AnyTier,
            };
            // Another model than the one asked for or in use must be one that `auto` may take.
            let is_free = kind == LinkKind::SameModel || candidate.is_allowed;
            (reach <= need.fallback && is_free).then_some((kind, candidate, *score))
        })
        .collect();
    links.sort_by(|(kind, one, score), (other_kind, other, best)| {
        let nearest = |candidate: &Candidate| {
            let tier = candidate.profile.tier;
            Reverse(tier.max(first.profile.tier) as i8 - tier.min(first.profile.tier) as i8)
        };
        kind.cmp(other_kind)
            .then((one.sickness >= 1.0).cmp(&(other.sickness >= 1.0)))
            .then(nearest(other).cmp(&nearest(one)))
            .then(best.total_cmp(score))
    });
    let mut chain = vec![Link {
        lane: first.lane.clone(),
        kind: LinkKind::Chosen,
    }];
    let mut named = HashSet::from([&first.lane]);
    for (kind, candidate, _) in links {
        if named.insert(&candidate.lane) {
            chain.push(Link {
                lane: candidate.lane.clone(),
                kind,
            });
        }
    }
    chain
}

fn kind(first: &Candidate, other: &Candidate) -> LinkKind {
    if first.identity() == other.identity() {
        return LinkKind::SameModel;
    }
    match other.profile.tier.cmp(&first.profile.tier) {
        std::cmp::Ordering::Equal => LinkKind::SameTier,
        std::cmp::Ordering::Less => LinkKind::LowerTier,
        std::cmp::Ordering::Greater => LinkKind::HigherTier,
    }
}

impl Candidate {
    /// What tells whether two lanes lead to the same model.
    fn identity(&self) -> &ModelId {
        self.same_as.as_ref().unwrap_or(&self.lane.model)
    }

    /// Whether it can edit files at all.
    fn can_edit(&self) -> bool {
        let in_text = matches!(
            self.profile.edit,
            EditTool::SearchReplace | EditTool::WholeFile
        );
        in_text || self.profile.tools != Some(false)
    }
}

impl Considered {
    fn total(&self) -> f64 {
        match &self.verdict {
            Verdict::Scored(score) => score.total(),
            Verdict::Excluded(_) => f64::NEG_INFINITY,
        }
    }
}

#[cfg(test)]
mod tests;
