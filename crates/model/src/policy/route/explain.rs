//! Formats routing decisions as text.

use std::fmt;

use super::{
    CandidateVerdict, ConsideredRoute, FallbackKind, RequestedModel, RouteDecision, RouteReason,
    RouteScore,
};
use crate::Tier;

impl fmt::Display for RouteDecision {
    /// Writes a headline, then a line for the complexity, one per route, and one for the fallbacks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.chosen {
            Some(route) => write!(f, "{route}: {}", self.reason_clause())?,
            None => write!(f, "no model: {}", self.reason_clause())?,
        }
        write!(
            f,
            "\n  complexity {} of 100 ({} suffices)",
            self.complexity.0, self.tier
        )?;
        for (name, points) in &self.features.points {
            write!(f, ", {name} {points:+}")?;
        }
        for considered in &self.considered {
            write!(f, "\n  {considered}")?;
        }
        let fallbacks: Vec<String> = self
            .chain
            .iter()
            .skip(1)
            .map(|link| format!("{} ({})", link.route, link.kind))
            .collect();
        if !fallbacks.is_empty() {
            write!(f, "\n  if it cannot answer: {}", fallbacks.join(", then "))?;
        }
        Ok(())
    }
}

impl RouteDecision {
    /// Returns the reason why this route, or no route, was chosen, as a clause that can follow
    /// "because" in a text for the user.
    pub fn reason_clause(&self) -> String {
        let tier = self.tier;
        match (self.reason, &self.wanted) {
            (RouteReason::Named, _) => "it was requested by name".to_owned(),
            (RouteReason::Sticky, _) => {
                "the conversation already uses it, and a turn is in progress".to_owned()
            }
            (RouteReason::Best, _) => {
                format!("it scores best for a step that needs a {tier} model")
            }
            (RouteReason::Only, _) => "it is the only capable one".to_owned(),
            (RouteReason::Displaced, _) => {
                "the previous model is no longer available, and it has the best score of the others"
                    .to_owned()
            }
            (RouteReason::NoneEligible, RequestedModel::Model(model)) => {
                if self.considered.is_empty() {
                    "no model is configured; set a key or start a local server".to_owned()
                } else if self.considered.iter().all(|one| one.route.model != *model) {
                    format!("{model} is not among the configured models")
                } else {
                    format!("{model} cannot handle this request")
                }
            }
            (RouteReason::NoneEligible, RequestedModel::Auto) => {
                if self.considered.is_empty() {
                    "no model is configured; set a key or start a local server".to_owned()
                } else {
                    "none of the configured models can handle this request".to_owned()
                }
            }
        }
    }
}

impl fmt::Display for ConsideredRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            CandidateVerdict::Scored(score) => write!(f, "{} ({}): {score}", self.route, self.tier),
            CandidateVerdict::Excluded(exclusion) => {
                write!(f, "{} ({}): {exclusion}", self.route, self.tier)
            }
        }
    }
}

impl fmt::Display for RouteScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} = fit {:.2}", self.total(), self.quality)?;
        match self.expected_cost {
            Some(cost) => write!(f, " - cost {:.2} ({cost})", self.cost)?,
            None => write!(f, " - cost {:.2} (unknown)", self.cost)?,
        }
        match self.expected_seconds {
            Some(seconds) => write!(f, " - time {:.2} ({seconds:.1} s)", self.latency)?,
            None => write!(f, " - time {:.2} (unknown)", self.latency)?,
        }
        for (name, sign, part) in [
            ("failures", '-', self.health),
            ("cache", '+', self.cache),
            ("in use", '+', self.stay),
        ] {
            if part > 0.0 {
                write!(f, " {sign} {name} {part:.2}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for FallbackKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chosen => "chosen",
            Self::SameModel => "the same model",
            Self::SameTier => "as strong",
            Self::LowerTier => "weaker",
            Self::HigherTier => "stronger",
        })
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Small => "small",
            Self::Fast => "fast",
            Self::Standard => "standard",
            Self::Strong => "strong",
        })
    }
}
