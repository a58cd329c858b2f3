//! How a server speaks OpenAI Chat: the differences as data, so that a new server needs no code.

use model::ReasoningReplay;
use serde::Deserialize;

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
    /// When thoughts go back, where no profile says.
    pub reasoning_back: ReasoningReplay,
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
    /// Whether `prompt_cache_key` is understood.
    pub cache_key: bool,
    /// Headers that say which conversation a request belongs to, for servers behind a router.
    pub affinity_headers: Vec<String>,
    /// The letters of call ids.
    #[serde(rename = "call_ids")]
    pub(crate) ids: IdRule,
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
