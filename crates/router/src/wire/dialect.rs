//! How a server speaks OpenAI Chat: the differences as data, so that a new server needs no code.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::history::IdRule;

/// One server's way.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// The member that limits the output.
    pub max_tokens: String,
    /// Whether usage must be asked for with `stream_options`.
    pub usage_option: bool,
    /// Whether `parallel_tool_calls` is understood.
    pub parallel_tools: bool,
    /// What `tool_choice` calls "some tool must be called".
    pub required_tool: String,
    /// The role of the system prompt.
    pub system_role: String,
    /// Whether that role may come in the middle of a conversation; else a user message stands for it.
    pub late_system: bool,
    /// The most stop texts that are taken; further ones are left out.
    pub stop_limit: usize,
    /// Members of a delta that hold thoughts; the first that is there counts.
    pub reasoning_fields: Vec<String>,
    /// The member in which thoughts go back.
    pub reasoning_back_field: String,
    /// When thoughts go back.
    pub reasoning_back: ReasoningBack,
    /// Whether thoughts come with `reasoning_details`, which go back verbatim.
    pub reasoning_details: bool,
    /// Where an effort's word is written, as a JSON pointer; nowhere if empty.
    pub effort: String,
    /// Where an effort's number of tokens is written.
    pub effort_budget: String,
    /// Where thinking is switched on and off.
    pub effort_switch: String,
    /// Where usage tells the tokens read from a cache; the first pointer that is there counts.
    pub cached_tokens: Vec<String>,
    /// Members of tools' schemas that the server refuses, wherever a schema may hold them.
    pub schema_drop: Vec<String>,
    /// Whether `prompt_cache_key` is understood.
    pub cache_key: bool,
    /// Headers that say which conversation a request belongs to, for servers behind a router.
    pub affinity_headers: Vec<String>,
    /// The letters of call ids.
    #[serde(rename = "call_ids")]
    pub(crate) ids: IdRule,
}

/// When thoughts go back to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningBack {
    /// Never.
    #[default]
    Never,
    /// In messages that call tools.
    ToolTurns,
    /// In every message.
    Always,
}

/// A server of which nothing is known but that it speaks OpenAI Chat.
impl Default for Dialect {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            max_tokens: "max_tokens".to_owned(),
            usage_option: true,
            parallel_tools: false,
            required_tool: "required".to_owned(),
            system_role: "system".to_owned(),
            late_system: false,
            stop_limit: 4,
            reasoning_fields: words(&["reasoning_content", "reasoning"]),
            reasoning_back_field: "reasoning_content".to_owned(),
            reasoning_back: ReasoningBack::Never,
            reasoning_details: false,
            effort: String::new(),
            effort_budget: String::new(),
            effort_switch: String::new(),
            cached_tokens: words(&[
                "/prompt_tokens_details/cached_tokens",
                "/prompt_cache_hit_tokens",
                "/cached_tokens",
            ]),
            schema_drop: Vec::new(),
            cache_key: false,
            affinity_headers: Vec::new(),
            ids: IdRule::Any,
        }
    }
}

impl Dialect {
    /// A schema without what the server refuses.
    pub(crate) fn schema(&self, schema: &Value) -> Value {
        match schema {
            Value::Object(members) if !self.schema_drop.is_empty() => {
                Value::Object(self.members(members))
            }
            schema => schema.clone(),
        }
    }

    fn members(&self, members: &Map<String, Value>) -> Map<String, Value> {
        let kept = members
            .iter()
            .filter(|(name, _)| !self.schema_drop.contains(name));
        let kept = kept.map(|(name, value)| {
            let value = match (name.as_str(), value) {
                // The names in there are the tool's own.
                ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                    let named = named
                        .iter()
                        .map(|(name, value)| (name.clone(), self.schema(value)));
                    Value::Object(named.collect())
                }
                ("enum" | "const" | "default" | "examples" | "required", value) => value.clone(),
                (_, Value::Array(items)) => {
                    Value::Array(items.iter().map(|item| self.schema(item)).collect())
                }
                (_, value) => self.schema(value),
            };
            (name.clone(), value)
        });
        kept.collect()
    }
}

#[cfg(test)]
mod tests;
