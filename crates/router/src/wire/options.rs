//! What a model can do and how it is told: values from profiles, so that a new model needs no code.

use std::collections::BTreeMap;

use model::{Effort, ReasoningReplay, SchemaQuirk, TokenCount};
use serde::Deserialize;
use serde_json::{Map, Value};

/// How one model is spoken to.
///
/// The default is what every model takes: little that is optional is sent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WireOptions {
    /// Whether `temperature` and `top_p` are taken.
    pub sampling: bool,
    /// Whether it sees pictures; one that does not is told in words that a picture was left out.
    pub images: bool,
    /// Whether a system message may come in the middle of a conversation (Anthropic).
    pub system_messages: bool,
    /// How thinking is asked for (Anthropic).
    pub thinking: Thinking,
    /// How thoughts are shown, such as `summarized` (Anthropic, Responses); `None` leaves it to the provider.
    pub thinking_display: Option<String>,
    /// How effort is said.
    pub effort: EffortMap,
    /// Whether cache breakpoints are understood (Anthropic; Chat behind some routers).
    pub cache_marks: bool,
    /// The shortest prefix worth a breakpoint, in tokens.
    pub cache_minimum: TokenCount,
    /// Whether a tool's input may be streamed before it is checked (Anthropic).
    pub eager_tool_input: bool,
    /// Whether tools with free text exist (Responses).
    pub text_tools: bool,
    /// Whether several calls may be asked for in one message.
    pub parallel_tools: bool,
    /// Whether a call can be forced; where it cannot, the model decides.
    pub forced_tool: bool,
    /// What tools' schemas cannot say.
    pub schema_quirks: Vec<SchemaQuirk>,
    /// Which thoughts go back (Chat); `None` leaves it to the dialect.
    pub reasoning_back: Option<ReasoningReplay>,
    /// How an answer is held to a schema.
    pub schema: SchemaSupport,
    /// Further headers.
    pub headers: BTreeMap<String, String>,
    /// Further members of the body, in order; one that we write, too, wins over ours.
    pub extra: Map<String, Value>,
    /// The name of the template for gaps, where the client writes the prompt.
    pub fim_template: Option<String>,
}

/// How thinking is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thinking {
    /// Not at all.
    #[default]
    None,
    /// The model decides, led by the effort.
    Adaptive,
    /// With a number of tokens, which the effort map gives.
    Budget,
}

/// How an answer is held to a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchemaSupport {
    /// Not at all: such a request is refused before it is sent.
    #[default]
    None,
    /// To JSON alone; the caller checks the rest.
    JsonObject,
    /// To the schema.
    Native,
}

/// What each effort is called. A missing effort takes the nearest lower one, or else the nearest higher.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct EffortMap(BTreeMap<Effort, EffortValue>);

/// What an effort is called.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum EffortValue {
    /// `false` turns thinking off; `true` leaves it to the provider.
    Switch(bool),
    /// A number of tokens.
    Budget(u64),
    /// A word.
    Word(String),
}

impl Default for WireOptions {
    fn default() -> Self {
        Self {
            sampling: false,
            images: false,
            system_messages: false,
            thinking: Thinking::None,
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
            headers: BTreeMap::new(),
            extra: Map::new(),
            fim_template: None,
        }
    }
}

impl WireOptions {
    /// Reads options, each layer winning over those before it, member by member.
    pub fn layered<'a>(
        layers: impl IntoIterator<Item = &'a Map<String, Value>>,
    ) -> Result<Self, String> {
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
        serde_json::from_value(Value::Object(merged)).map_err(|error| error.to_string())
    }
}

impl EffortMap {
    /// Whether the model knows no efforts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What `effort` is called here; `None` where the model knows no efforts.
    pub fn value(&self, effort: Effort) -> Option<&EffortValue> {
        let at_most = self.0.range(..=effort).next_back();
        at_most
            .or_else(|| self.0.range(effort..).next())
            .map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests;
