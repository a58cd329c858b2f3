//! Decisions in words.

use std::fmt;

use super::{Considered, LinkKind, Reason, RouteDecision, Score, Verdict, Wanted};
use crate::Tier;

impl fmt::Display for RouteDecision {
    /// A headline, then a line for the complexity, one per lane, and one for the fallbacks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.chosen {
            Some(lane) => write!(f, "{lane}: {}", self.because())?,
            None => write!(f, "no model: {}", self.because())?,
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
            .map(|link| format!("{} ({})", link.lane, link.kind))
            .collect();
        if !fallbacks.is_empty() {
            write!(f, "\n  if it cannot answer: {}", fallbacks.join(", then "))?;
        }
        Ok(())
    }
}

impl RouteDecision {
    /// Why, in one clause.
    pub fn because(&self) -> String {
        let tier = self.tier;
        match (self.reason, &self.wanted) {
            (Reason::Named, _) => "it was asked for by name".to_owned(),
            (Reason::Sticky, _) => {
                "the conversation has used it so far, and a turn is under way".to_owned()
            }
            (Reason::Best, _) => format!("it scores best for a step that needs a {tier} model"),
            (Reason::Only, _) => "it is the only one that can do this".to_owned(),
            (Reason::Displaced, _) => {
                "the model used so far cannot answer any more, and it scores best of the others"
                    .to_owned()
            }
            (Reason::Nobody, Wanted::Model(model)) => match self.considered.is_empty() {
                true => "no model is configured; set a key or start a local server".to_owned(),
                false if self.considered.iter().all(|one| one.lane.model != *model) => {
                    format!("there is no {model} among the configured models")
                }
                false => format!("{model} cannot do this"),
            },
            (Reason::Nobody, Wanted::Auto) => match self.considered.is_empty() {
                true => "no model is configured; set a key or start a local server".to_owned(),
                false => "none of the configured models can do this".to_owned(),
            },
        }
    }
}

impl fmt::Display for Considered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            Verdict::Scored(score) => write!(f, "{} ({}): {score}", self.lane, self.tier),
            Verdict::Excluded(exclusion) => write!(f, "{} ({}): {exclusion}", self.lane, self.tier),
        }
    }
}

impl fmt::Display for Score {
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

impl fmt::Display for LinkKind {
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
