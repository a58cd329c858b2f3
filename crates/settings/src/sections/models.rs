//! Settings of language models: the default model, providers and budgets.

use crate::document::{Member, SpannedValue};
use crate::section::{Limits, SettingValue, ValueError, choices, section};
use crate::suggest;

section! {
    /// Models, providers and budgets.
    ModelSettings {
        /// Default model: `auto`, `demo`, or a model written `provider/model`.
        default: String = "auto".to_owned();
        /// Candidates for `auto`, each written `provider/model`; if empty, all configured models.
        auto: Vec<String> = Vec::new();
        /// Reasoning effort of models working as agents. Ignored by models without effort levels.
        effort: ModelEffort = ModelEffort::Auto;
        /// Model that writes the titles of sessions, as `provider/model`; `auto` takes the cheapest one of the session's provider, `none` keeps the first words of the prompt.
        title_model: String = "auto".to_owned();
        /// Additional providers, or known ones at another address: `name`, `wire`, `url`, `key` with the name of the environment variable that holds the API key, and `models` with the names of the models that `auto` may choose.
        providers: Vec<ProviderSetting> = Vec::new();
        /// Maximum cost of one turn, in dollars; 0 sets no limit.
        budget_turn: f32 = 0.0, 0..=1000000;
        /// Maximum cost of one agent over all its turns, in dollars; 0 sets no limit.
        budget_agent: f32 = 0.0, 0..=1000000;
        /// Maximum cost of one day in total, in dollars; 0 sets no limit.
        budget_day: f32 = 0.0, 0..=1000000;
        /// Allows models of unknown price although a budget is set; their cost is not counted.
        unknown_prices: bool = false;
    }
}

/// A provider of language models, as the user adds it in the settings.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ProviderSetting {
    /// Prefix before the slash in `provider/model`.
    pub name: String,
    /// Wire protocol of the provider.
    pub wire: ProviderWire,
    /// Base URL, such as `http://127.0.0.1:8080/v1`.
    pub url: String,
    /// Environment variable that holds the API key; `None` if no key is needed.
    #[schemars(default)]
    pub key: Option<String>,
    /// Names of its models, for `auto` to choose from; if empty, a server on this machine is
    /// queried.
    #[schemars(default)]
    pub models: Vec<String>,
}

choices! {
    /// Reasoning effort of a model.
    ModelEffort {
        /// Default of the provider or of the agent's role.
        Auto = "auto",
        /// Minimal effort of the model.
        Minimal = "minimal",
        /// Low effort, for quick answers.
        Low = "low",
        /// Medium effort, between low and high.
        Medium = "medium",
        /// High effort: slow and thorough.
        High = "high",
        /// Maximum effort of the model.
        Max = "max",
    }
}

choices! {
    /// Wire protocol of a provider.
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
        /// The Responses API of OpenAI.
        Responses = "responses",
        /// The Messages API of Anthropic.
        Anthropic = "anthropic",
        /// The generateContent API of Google.
        Gemini = "gemini",
    }
}

impl SettingValue for ProviderSetting {
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        let Some(members) = node.as_object() else {
            return Err(ValueError::Type {
                expected: "an object with \"name\", \"wire\" and \"url\"".to_owned(),
                found: node.kind(),
            });
        };
        let known = ["name", "wire", "url", "key", "models"];
        if let Some(member) = members.iter().find(|it| !known.contains(&it.key.as_str())) {
            let hint = suggest::hint(&member.key, known);
            return invalid(format!("a provider has no \"{}\"{hint}", member.key));
        }
        let name = text(members, "name", limits)?.ok_or_else(|| missing("name"))?;
        if name.is_empty() || name.contains('/') {
            return invalid(format!(
                "\"{name}\" cannot name a provider: the name comes before the slash of provider/model"
            ));
        }
        let url = text(members, "url", limits)?.ok_or_else(|| missing("url"))?;
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return invalid(format!(
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
                .map_err(|error| within("models", &error))?
                .unwrap_or_default(),
        })
    }
}

/// Returns the value of a key; `None` if there is none.
fn find<'a>(members: &'a [Member], key: &str) -> Option<&'a SpannedValue> {
    // As usual in JSON, the last of two equal keys counts.
    let found = members.iter().rev().find(|member| member.key == key);
    found.map(|member| &member.value)
}

/// Returns the text of a key; `None` if the key is missing, an error if its value is not a string.
fn text(members: &[Member], key: &str, limits: Limits) -> Result<Option<String>, ValueError> {
    let read = |node| String::read(node, limits).map_err(|error| within(key, &error));
    find(members, key).map(read).transpose()
}

/// Names the member whose value is invalid.
fn within(key: &str, error: &ValueError) -> ValueError {
    ValueError::Invalid(format!("\"{key}\": {error}"))
}

fn missing(key: &str) -> ValueError {
    ValueError::Invalid(format!("a provider needs a \"{key}\""))
}

/// Returns an error with this message.
fn invalid<T>(message: String) -> Result<T, ValueError> {
    Err(ValueError::Invalid(message))
}

#[cfg(test)]
mod tests;
