//! When a rule applies.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Captures,
    pattern::{Glob, Pattern},
};
use crate::{asked::Asked, wire::Wire};

/// When a rule applies: all that is given must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// The model's name; `*` stands for any run of characters.
    pub model: Option<Glob>,
    /// Which wire.
    pub wire: Option<Wire>,
    /// Request headers, by name in lower case.
    pub headers: BTreeMap<String, Pattern>,
    /// The last text a person wrote.
    pub user: Option<Pattern>,
    /// The system prompt.
    pub system: Option<Pattern>,
    /// Which of the person's texts is the last: 1 for the first.
    pub turn: Option<u32>,
    /// Which answer to that text this is: 1 before any tool result, 2 after the first results.
    pub step: Option<u32>,
    /// How often this same request has come, this time included.
    pub attempt: Option<u32>,
    /// Tools that must be on offer.
    pub tools: Vec<String>,
    /// Tool results that must have come.
    pub results: Vec<ResultCondition>,
    /// The text before the gap, of a fill-in-the-middle request.
    pub prefix: Option<Pattern>,
    /// The text after the gap.
    pub suffix: Option<Pattern>,
}

/// A tool result. It is looked for among the newest results, those after the last answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResultCondition {
    /// The tool's name; `*` stands for any run of characters.
    pub tool: Option<Glob>,
    /// The call's id.
    pub call: Option<String>,
    /// What it says.
    pub says: Option<Pattern>,
    /// What it must not say.
    pub lacks: Option<Pattern>,
    /// Whether it failed, as far as the wire can say so.
    pub failed: Option<bool>,
    /// Look among all results of this turn.
    pub ever: bool,
}

impl Condition {
    /// What the request gives for the reply, if it fits.
    pub(crate) fn fits(&self, asked: &Asked, attempt: u32) -> Option<Captures> {
        let mut captures = Captures::new();
        let plain = self
            .model
            .as_ref()
            .is_none_or(|model| model.fits(&asked.model))
            && self.wire.is_none_or(|wire| wire == asked.wire)
            && self.turn.is_none_or(|turn| turn == asked.turn)
            && self.step.is_none_or(|step| step == asked.step)
            && self.attempt.is_none_or(|wanted| wanted == attempt)
            && self.tools.iter().all(|tool| asked.offers(tool));
        if !plain {
            return None;
        }
        let texts = [
            (&self.user, Some(asked.user.as_str())),
            (&self.system, Some(asked.system.as_str())),
            (
                &self.prefix,
                asked.gap.as_ref().map(|gap| gap.prefix.as_str()),
            ),
            (
                &self.suffix,
                asked.gap.as_ref().map(|gap| gap.suffix.as_str()),
            ),
        ];
        for (pattern, text) in texts {
            if let Some(pattern) = pattern
                && !text.is_some_and(|text| pattern.fits(text, &mut captures))
            {
                return None;
            }
        }
        for (name, pattern) in &self.headers {
            let value = asked.headers.iter().find(|(header, _)| header == name)?;
            if !pattern.fits(&value.1, &mut captures) {
                return None;
            }
        }
        let mut results = self.results.iter();
        results
            .all(|result| result.fits(asked, &mut captures))
            .then_some(captures)
    }

    /// The names of the values it can capture.
    pub(crate) fn names(&self) -> Vec<String> {
        let texts = [&self.user, &self.system, &self.prefix, &self.suffix];
        let results = self.results.iter().flat_map(|result| &result.says);
        texts
            .into_iter()
            .flatten()
            .chain(self.headers.values())
            .chain(results)
            .flat_map(Pattern::names)
            .collect()
    }
}

impl ResultCondition {
    fn fits(&self, asked: &Asked, captures: &mut Captures) -> bool {
        // The newest first: a test that failed and then passed has passed.
        asked.results.iter().rev().any(|result| {
            (self.ever || result.is_new)
                && self
                    .tool
                    .as_ref()
                    .is_none_or(|tool| tool.fits(&result.tool))
                && self.call.as_ref().is_none_or(|call| *call == result.call)
                && self.failed.is_none_or(|failed| failed == result.is_error)
                && !self
                    .lacks
                    .as_ref()
                    .is_some_and(|lacks| lacks.fits(&result.text, &mut Captures::new()))
                && self
                    .says
                    .as_ref()
                    .is_none_or(|says| says.fits(&result.text, captures))
        })
    }
}
