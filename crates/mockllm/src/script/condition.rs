//! Conditions of rules.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Captures,
    pattern::{NamePattern, TextPattern},
};
use crate::{request::PromptRequest, wire_format::WireFormat};

/// The condition of a rule: all given parts must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// The model's name; `*` matches any run of characters.
    pub model: Option<NamePattern>,
    /// The wire format of the request.
    pub wire: Option<WireFormat>,
    /// Request headers, by name in lower case.
    pub headers: BTreeMap<String, TextPattern>,
    /// A pattern for the last text of the user.
    pub user: Option<TextPattern>,
    /// A pattern for the system prompt.
    pub system: Option<TextPattern>,
    /// The number of the last user message: 1 for the first.
    pub turn: Option<u32>,
    /// The number of the answer to that text: 1 before any tool result, 2 after the first results.
    pub step: Option<u32>,
    /// The number of this attempt: how often the same request arrived, this time included.
    pub attempt: Option<u32>,
    /// Tools that must be on offer.
    pub tools: Vec<String>,
    /// Tool results that the request must contain.
    pub results: Vec<ResultCondition>,
    /// The text before the gap, of a fill-in-the-middle request.
    pub prefix: Option<TextPattern>,
    /// The text after the gap.
    pub suffix: Option<TextPattern>,
}

/// A condition that some tool result of the request must satisfy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResultCondition {
    /// The tool's name; `*` matches any run of characters.
    pub tool: Option<NamePattern>,
    /// The id of the call.
    pub call: Option<String>,
    /// A pattern that the result must match.
    pub says: Option<TextPattern>,
    /// A pattern that the result must not match.
    pub lacks: Option<TextPattern>,
    /// Whether the call failed, if the wire can express that.
    pub failed: Option<bool>,
    /// Search all results of this turn, not only those after the last answer.
    pub ever: bool,
}

impl Condition {
    /// Returns the values captured by named groups if the request, at this attempt, satisfies all
    /// parts of the condition. Returns `None` otherwise.
    pub(crate) fn matches(&self, request: &PromptRequest, attempt: u32) -> Option<Captures> {
        let mut captures = Captures::new();
        let plain = self
            .model
            .as_ref()
            .is_none_or(|model| model.matches(&request.model))
            && self.wire.is_none_or(|wire| wire == request.wire)
            && self.turn.is_none_or(|turn| turn == request.turn)
            && self.step.is_none_or(|step| step == request.step)
            && self.attempt.is_none_or(|number| number == attempt)
            && self.tools.iter().all(|tool| request.offers(tool));
        if !plain {
            return None;
        }
        let texts = [
            (&self.user, Some(request.user.as_str())),
            (&self.system, Some(request.system.as_str())),
            (
                &self.prefix,
                request.gap.as_ref().map(|gap| gap.prefix.as_str()),
            ),
            (
                &self.suffix,
                request.gap.as_ref().map(|gap| gap.suffix.as_str()),
            ),
        ];
        for (pattern, text) in texts {
            if let Some(pattern) = pattern
                && !text.is_some_and(|text| pattern.matches(text, &mut captures))
            {
                return None;
            }
        }
        for (name, pattern) in &self.headers {
            let value = request.headers.iter().find(|(header, _)| header == name)?;
            if !pattern.matches(&value.1, &mut captures) {
                return None;
            }
        }
        let mut results = self.results.iter();
        results
            .all(|result| result.matches(request, &mut captures))
            .then_some(captures)
    }

    /// Returns the names of the values that the patterns of the condition can capture.
    pub(crate) fn names(&self) -> Vec<String> {
        let texts = [&self.user, &self.system, &self.prefix, &self.suffix];
        let results = self.results.iter().flat_map(|result| &result.says);
        texts
            .into_iter()
            .flatten()
            .chain(self.headers.values())
            .chain(results)
            .flat_map(TextPattern::names)
            .collect()
    }
}

impl ResultCondition {
    fn matches(&self, request: &PromptRequest, captures: &mut Captures) -> bool {
        // The newest first: a test that failed and then passed has passed.
        request.results.iter().rev().any(|result| {
            (self.ever || result.is_new)
                && self
                    .tool
                    .as_ref()
                    .is_none_or(|tool| tool.matches(&result.tool))
                && self.call.as_ref().is_none_or(|call| *call == result.call)
                && self.failed.is_none_or(|failed| failed == result.is_error)
                && !self
                    .lacks
                    .as_ref()
                    .is_some_and(|lacks| lacks.matches(&result.text, &mut Captures::new()))
                && self
                    .says
                    .as_ref()
                    .is_none_or(|says| says.matches(&result.text, captures))
        })
    }
}
