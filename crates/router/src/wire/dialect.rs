//! Dialects of OpenAI Chat as data, so that a new server needs no code.

use model::ReasoningReplay;
use serde::Deserialize;

use super::history::IdRule;

/// Dialect of one server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatDialect {
    /// Member that limits the output tokens.
    pub max_tokens: String,
    /// Whether that member may accompany a predicted answer.
    pub limits_predictions: bool,
    /// Whether usage must be requested with `stream_options`.
    pub usage_option: bool,
    /// Whether `parallel_tool_calls` is supported.
    pub parallel_tools: bool,
    /// Value of `tool_choice` that requires some tool call.
    pub required_tool: String,
    /// The role of the system prompt.
    pub system_role: String,
    /// Whether that role may occur within a conversation; otherwise a user message replaces it.
    pub late_system: bool,
    /// Maximum number of stop texts; further ones are omitted.
    pub stop_limit: usize,
    /// Members of a delta that contain reasoning; the first one present applies.
    pub reasoning_fields: Vec<String>,
    /// Member in which reasoning is sent back.
    pub reasoning_back_field: String,
    /// The reasoning to send back, unless a profile says otherwise.
    pub reasoning_back: ReasoningReplay,
    /// Whether reasoning has `reasoning_details`, which are sent back verbatim.
    pub reasoning_details: bool,
    /// JSON pointer for an effort's name; empty if unsupported.
    pub effort: String,
    /// JSON pointer for an effort's token budget.
    pub effort_budget: String,
    /// JSON pointer for the switch that enables reasoning.
    pub effort_switch: String,
    /// JSON pointers to cached tokens in the usage; the first one present applies.
    pub cached_tokens: Vec<String>,
    /// Whether `prompt_cache_key` is supported.
    pub cache_key: bool,
    /// Headers that carry the conversation id, for servers behind a load balancer.
    pub affinity_headers: Vec<String>,
    /// Characters permitted in call ids.
    #[serde(rename = "call_ids")]
    pub(crate) ids: IdRule,
}

/// Defaults for a server of which only OpenAI Chat support is known.
impl Default for ChatDialect {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            max_tokens: "max_tokens".to_owned(),
            limits_predictions: true,
            usage_option: true,
            parallel_tools: false,
            required_tool: "required".to_owned(),
            system_role: "system".to_owned(),
            late_system: false,
            stop_limit: 4,
            reasoning_fields: words(&["reasoning_content", "reasoning"]),
            reasoning_back_field: "reasoning_content".to_owned(),
            reasoning_back: ReasoningReplay::Never,
            reasoning_details: false,
            effort: String::new(),
            effort_budget: String::new(),
            effort_switch: String::new(),
            cached_tokens: words(&[
                "/prompt_tokens_details/cached_tokens",
                "/prompt_cache_hit_tokens",
                "/cached_tokens",
            ]),
            cache_key: false,
            affinity_headers: Vec::new(),
            ids: IdRule::Any,
        }
    }
}
