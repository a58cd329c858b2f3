//! A model's abilities and conventions on the wire, as data from profiles, so that a new model
//! needs no code.

use std::collections::BTreeMap;

use model::{Effort, ModelRequest, ReasoningReplay, SchemaQuirk, TokenCount};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::Error;

/// Body member with the predicted answer.
pub(crate) const PREDICTION: &str = "prediction";

/// Options for encoding requests to a model.
///
/// The default suits every model: it sends few optional members.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WireOptions {
    /// Whether `temperature` and `top_p` are accepted.
    pub sampling: bool,
    /// Whether it accepts images; otherwise a text states that an image was omitted.
    pub images: bool,
    /// Whether a system message may occur within a conversation (Anthropic).
    pub system_messages: bool,
    /// Mode of thinking (Anthropic).
    pub thinking: ThinkingMode,
    /// Display of reasoning, such as `summarized` (Anthropic, Responses); `None` leaves it to the
    /// provider.
    pub thinking_display: Option<String>,
    /// Wire values of reasoning efforts.
    pub effort: EffortMap,
    /// Whether cache breakpoints are supported (Anthropic; Chat behind some routers).
    pub cache_marks: bool,
    /// Minimum prefix worth a breakpoint, in tokens.
    pub cache_minimum: TokenCount,
    /// Whether a tool's input may be streamed before validation (Anthropic).
    pub eager_tool_input: bool,
    /// Whether free-text tools are supported (Responses).
    pub text_tools: bool,
    /// Whether several calls per message may be requested.
    pub parallel_tools: bool,
    /// Whether a call can be forced; otherwise the model decides.
    pub forced_tool: bool,
    /// Limits of the schemas of tools.
    pub schema_quirks: Vec<SchemaQuirk>,
    /// The reasoning to send back (Chat); `None` leaves it to the dialect.
    pub reasoning_back: Option<ReasoningReplay>,
    /// Support for schemas of answers.
    pub schema: SchemaSupport,
    /// Whether a predicted answer is accepted (Chat).
    pub predicted_output: bool,
    /// Extra headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Extra members of the body, in order; they override ours.
    pub extra: Map<String, Value>,
    /// Name of the fill-in-the-middle template, if the client builds the prompt.
    pub fim_template: Option<String>,
}

/// Mode of thinking (Anthropic).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkingMode {
    /// Thinking is not requested.
    #[default]
    None,
    /// The model decides, guided by the effort.
    Adaptive,
    /// A token budget, which the effort map provides.
    Budget,
}

/// Support for schemas of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchemaSupport {
    /// No support: such a request is refused before it is sent.
    #[default]
    None,
    /// JSON without a schema; the caller validates the rest.
    JsonObject,
    /// The schema is enforced by the provider.
    Native,
}

/// Wire values of efforts. An effort without a value uses the value of the next lower effort, or
/// else of the next higher effort.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct EffortMap(BTreeMap<Effort, EffortValue>);

/// Wire value of an effort.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum EffortValue {
    /// `false` disables thinking; `true` leaves it to the provider.
    Switch(bool),
    /// A budget in tokens, sent as a number.
    Budget(u64),
    /// A keyword of the wire.
    Word(String),
}

impl Default for WireOptions {
    fn default() -> Self {
        Self {
            sampling: false,
            images: false,
            system_messages: false,
            thinking: ThinkingMode::None,
            thinking_display: None,
            effort: EffortMap::default(),
            cache_marks: false,
            cache_minimum: TokenCount(0),
            eager_tool_input: false,
            text_tools: false,
            parallel_tools: true,
            forced_tool: true,
            schema_quirks: Vec::new(),
            reasoning_back: None,
            schema: SchemaSupport::None,
            predicted_output: false,
            headers: BTreeMap::new(),
            extra: Map::new(),
            fim_template: None,
        }
    }
}

impl WireOptions {
    /// Reads options from layers. Each layer overrides the previous layers member by member, and
    /// nested objects are merged. Fails if a member has the wrong type.
    pub fn layered<'a>(
        layers: impl IntoIterator<Item = &'a Map<String, Value>>,
    ) -> Result<Self, Error> {
        let mut merged = Map::new();
        for layer in layers {
            for (name, value) in layer {
                match (merged.get_mut(name), value) {
                    (Some(Value::Object(below)), Value::Object(above)) => {
                        below.extend(above.clone());
                    }
                    _ => {
                        merged.insert(name.clone(), value.clone());
                    }
                }
            }
        }
        serde_json::from_value(Value::Object(merged))
            .map_err(|error| Error::Options(error.to_string()))
    }

    /// Returns the prediction of the request that the model accepts. Returns `None` if the model
    /// or the request does not allow one, or if the provider has rejected it before.
    pub(crate) fn prediction<'a>(&self, request: &'a ModelRequest) -> Option<&'a str> {
        let is_rejected = request.omit.iter().any(|member| member == PREDICTION);
        let is_accepted = self.predicted_output && !is_rejected;
        request.usable_prediction().filter(|_| is_accepted)
    }
}

impl EffortMap {
    /// Returns whether the model supports no efforts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the wire value of `effort`; `None` if the model supports no efforts.
    pub fn value(&self, effort: Effort) -> Option<&EffortValue> {
        let at_most = self.0.range(..=effort).next_back();
        at_most
            .or_else(|| self.0.range(effort..).next())
            .map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests;
