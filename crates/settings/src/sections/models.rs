//! Settings of language models: which one answers, who provides it, what it may cost.

use crate::document::{Member, Node};
use crate::section::{Limits, SettingValue, choices, section};
use crate::suggest;

section! {
    /// Language models.
    ModelSettings {
        /// The model that answers where none is named: `auto`, `demo`, or one written `provider/model`.
        default: String = "auto".to_owned();
        /// What `auto` chooses from, each written `provider/model`; all that are set up where the list is empty.
        auto: Vec<String> = Vec::new();
        /// How hard models think when they work as agents. Models without such levels ignore it.
        effort: ModelEffort = ModelEffort::Auto;
        /// Providers beside those Burin knows, or known ones at another address: `name`, `wire`, `url`, as `key` the name of the environment variable that holds the key, and as `models` the names of the models that `auto` may choose.
        providers: Vec<ProviderSetting> = Vec::new();
        /// Dollars that one turn may cost at most; 0 sets no limit.
        budget_turn: f32 = 0.0, 0..=1000000;
        /// Dollars that one agent may cost at most, all its turns together; 0 sets no limit.
        budget_agent: f32 = 0.0, 0..=1000000;
        /// Dollars that a day may cost at most, everything together; 0 sets no limit.
        budget_day: f32 = 0.0, 0..=1000000;
        /// Lets models whose price is not known answer though a budget is set, uncounted.
        unknown_prices: bool = false;
    }
}

/// A provider of models, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ProviderSetting {
    /// What stands before the slash in `provider/model`.
    pub name: String,
    /// How it speaks.
    pub wire: ProviderWire,
    /// Its base address, such as `http://127.0.0.1:8080/v1`.
    pub url: String,
    /// The name of the environment variable that holds the key; none where no key is needed.
    #[schemars(default)]
    pub key: Option<String>,
    /// Its models as it names them, for `auto` to choose from; servers on this machine are asked where there are none.
    #[schemars(default)]
    pub models: Vec<String>,
}

choices! {
    /// How hard a model thinks.
    ModelEffort {
        /// As the provider decides, or as an agent's role says.
        Auto = "auto",
        /// As little as possible.
        Minimal = "minimal",
        /// Quick answers.
        Low = "low",
        /// Between the two.
        Medium = "medium",
        /// Slow and thorough.
        High = "high",
        /// As much as the model can.
        Max = "max",
    }
}

choices! {
    /// How a provider speaks.
    ProviderWire {
        /// Chat Completions as OpenAI speaks them.
        Openai = "openai",
        /// Chat Completions as OpenRouter speaks them.
        Openrouter = "openrouter",
        /// Chat Completions as vLLM speaks them.
        Vllm = "vllm",
        /// Chat Completions as llama.cpp speaks them.
        LlamaCpp = "llama.cpp",
        /// Chat Completions as Ollama speaks them.
        Ollama = "ollama",
        /// Chat Completions as LM Studio speaks them.
        LmStudio = "lm_studio",
        /// Chat Completions as DeepSeek speaks them.
        Deepseek = "deepseek",
        /// Chat Completions as Mistral speaks them.
        Mistral = "mistral",
        /// OpenAI's Responses.
        Responses = "responses",
        /// Anthropic's Messages.
        Anthropic = "anthropic",
        /// Google's generateContent.
        Gemini = "gemini",
    }
}

impl SettingValue for ProviderSetting {
    fn read(node: &Node, limits: Limits) -> Result<Self, String> {
        let Some(members) = node.as_object() else {
            return Err(format!(
                "expected an object with \"name\", \"wire\" and \"url\", found {}",
                node.kind()
            ));
        };
        let known = ["name", "wire", "url", "key", "models"];
        if let Some(member) = members.iter().find(|it| !known.contains(&it.key.as_str())) {
            let hint = suggest::hint(&member.key, known);
            return Err(format!("a provider has no \"{}\"{hint}", member.key));
        }
        let name = text(members, "name", limits)?.ok_or_else(|| missing("name"))?;
        if name.is_empty() || name.contains('/') {
            return Err(format!(
                "\"{name}\" cannot name a provider: it stands before the slash of provider/model"
            ));
        }
        let url = text(members, "url", limits)?.ok_or_else(|| missing("url"))?;
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Err(format!(
                "\"{url}\" is not an address: it starts with http:// or https://"
            ));
        }
        let wire = find(members, "wire").ok_or_else(|| missing("wire"))?;
        Ok(Self {
            name,
            wire: ProviderWire::read(wire, limits)?,
            url,
            key: text(members, "key", limits)?,
            models: find(members, "models")
                .map(|node| Vec::read(node, limits))
                .transpose()
                .map_err(|error| format!("\"models\": {error}"))?
                .unwrap_or_default(),
        })
    }
}

fn find<'a>(members: &'a [Member], key: &str) -> Option<&'a Node> {
    // As everywhere in JSON the last of two equal keys counts.
    let found = members.iter().rev().find(|member| member.key == key);
    found.map(|member| &member.value)
}

fn text(members: &[Member], key: &str, limits: Limits) -> Result<Option<String>, String> {
    let read = |node| String::read(node, limits).map_err(|error| format!("\"{key}\": {error}"));
    find(members, key).map(read).transpose()
}

fn missing(key: &str) -> String {
    format!("a provider needs a \"{key}\"")
}

#[cfg(test)]
mod tests;
