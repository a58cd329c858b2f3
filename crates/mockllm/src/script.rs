//! The server's script: a list of rules, read from JSON with comments.
//!
//! The first rule that matches a request answers it. `scripts/tour.jsonc` shows every field.
//! Start at `Script::parse`; faults are in `fault`, conditions in `condition`.

mod condition;
mod fault;
mod pattern;
mod source;
mod template;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

pub use condition::{Condition, ResultCondition};
pub(crate) use fault::SeededFault;
pub use fault::{FaultMoment, FaultRule, Schedule, ScriptedFault, StatusFault};
pub(crate) use pattern::Captures;
pub use pattern::{Expression, ExpressionError, NamePattern, TextPattern};
pub use template::Template;
pub(crate) use template::fill_value;

/// The behaviour of a simulated server: rules for replies, models, pace and faults. Parsed from
/// JSONC.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The seed of all random values: ids, delays, fragment sizes. Equal requests in equal order to
    /// equal scripts get equal bytes.
    #[serde(default)]
    pub seed: u64,
    /// Whether a conversation must follow the provider's rules: results right after their calls,
    /// signatures unchanged. On by default.
    #[serde(default = "yes")]
    pub strict: bool,
    /// The models it lists, by name. A name not listed is served all the same.
    #[serde(default)]
    pub models: BTreeMap<String, MockModel>,
    /// The pace of replies if neither the rule nor the model sets one.
    #[serde(default)]
    pub pace: ReplyPace,
    /// Random faults, for requests whose rule names none.
    #[serde(default)]
    pub schedule: Option<Schedule>,
    /// The rules, in order; the first match answers.
    pub rules: Vec<ScriptRule>,
}

/// The properties of a simulated model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MockModel {
    /// The maximum length of a prompt, in tokens; a longer one is refused as by the provider.
    pub context: Option<u64>,
    /// The model's prompt cache.
    pub cache: CacheFacts,
    /// Its rate limits, per key; none unless given.
    pub limits: Option<LimitFacts>,
    /// The model's pace, if it has its own.
    pub pace: Option<ReplyPace>,
    /// The provider whose chat dialect the model speaks.
    pub dialect: ModelDialect,
}

/// The provider's rules for caching prompts of a model.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CacheFacts {
    /// The shortest prefix that is cached, in tokens.
    pub minimum: u64,
    /// The step in which automatic caches grow, in tokens.
    pub step: u64,
}

/// Rate limits: each is a bucket that refills evenly.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitFacts {
    /// The maximum requests per window.
    pub requests: Option<u64>,
    /// Prompt tokens per window; those read from a cache do not count.
    pub input_tokens: Option<u64>,
    /// Answer tokens per window.
    pub output_tokens: Option<u64>,
    /// The window in seconds.
    #[serde(default = "minute")]
    pub per_seconds: f64,
}

/// A dialect of the chat wire, which determines the field for reasoning and the contents of usage.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ModelDialect {
    /// Reasoning is not shown.
    #[default]
    Openai,
    /// Reasoning in `reasoning` and `reasoning_details`; comments keep the connection alive.
    Openrouter,
    /// Reasoning in `reasoning_content`; cache hits and misses are separate fields.
    Deepseek,
    /// Reasoning in `reasoning_content`, and timings.
    Llamacpp,
    /// Reasoning in the field `reasoning_content`.
    Vllm,
    /// Reasoning in the field `reasoning`.
    Ollama,
    /// Reasoning in the field `reasoning_content`.
    Lmstudio,
    /// Call ids are nine letters and digits.
    Mistral,
}

/// The pace of a reply: delays, tokens per second and sizes of events.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct ReplyPace {
    /// Tokens per second; 0 means without delay.
    pub tokens_per_second: f64,
    /// The median wait for the first byte, in milliseconds.
    pub first_byte_ms: f64,
    /// The variation of the wait: the sigma of its lognormal distribution; 0 is always the median.
    pub first_byte_sigma: f64,
    /// Number of tokens in one event.
    pub tokens_per_event: u32,
    /// Events are sent on ticks of this many milliseconds, shared by all streams, so that many streams cost
    /// few wake-ups; 0 sends each at its own time.
    pub tick_ms: u64,
}

/// A rule: a condition and the reply to requests that match it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptRule {
    /// The rule's name in the log.
    #[serde(default)]
    pub name: Option<String>,
    /// The condition under which it applies; always, if left out.
    #[serde(default, rename = "match")]
    pub condition: Condition,
    /// The steps of the reply, in order.
    #[serde(default)]
    pub reply: Vec<ReplyStep>,
    /// The pace of this reply, if it has its own.
    #[serde(default)]
    pub pace: Option<ReplyPace>,
    /// The faults to inject, by attempt.
    #[serde(default)]
    pub faults: Vec<FaultRule>,
}

/// A step of a scripted reply: text, reasoning, tool calls, a stop reason or usage.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStep {
    /// Text for the user.
    Text(Template),
    /// A text repeated several times: long answers for load tests.
    Repeat(RepeatedText),
    /// Reasoning before the next step.
    Thinking(ScriptThinking),
    /// A single tool call.
    Call(ScriptedCall),
    /// Several calls in one message, one after the other.
    Calls(Vec<ScriptedCall>),
    /// Several calls in one message with interleaved fragments, if the wire supports that.
    Interleaved(Vec<ScriptedCall>),
    /// The model declines with this text.
    Refusal(Template),
    /// The stop reason, if the other steps do not imply it.
    Stop(Stop),
    /// Usage to report instead of the counted tokens.
    Usage(UsageStep),
}

/// A text that a reply repeats, for load tests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatedText {
    /// The text to repeat.
    pub text: Template,
    /// The number of repetitions.
    pub times: u32,
}

/// Reasoning. Sent only if the request asks for it, as at the providers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptThinking {
    /// The text of the reasoning.
    pub text: Template,
    /// The signature that the provider checks; generated from the seed if left out.
    #[serde(default)]
    pub signature: Option<String>,
    /// Whether only the opaque form is shown.
    #[serde(default)]
    pub redacted: bool,
}

/// A tool call that a reply makes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments; strings in them are templates.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
    /// The input of a free-form tool, or arguments that are sent verbatim, valid or not.
    #[serde(default)]
    pub raw: Option<Template>,
    /// The call's id; generated from the seed if left out.
    #[serde(default)]
    pub id: Option<String>,
}

/// The reason an answer ends, independent of the wire format.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model finished its turn.
    EndTurn,
    /// The model waits for tool results.
    ToolUse,
    /// The answer reached the request's maximum tokens.
    MaxTokens,
    /// A stop text was generated.
    StopText,
    /// The model declined to answer.
    Refusal,
    /// A long turn was paused.
    Pause,
}

/// Usage to report instead of the counted tokens; fields left out are counted.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the fields' names say it")]
pub struct UsageStep {
    pub input: Option<u64>,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
    pub output: Option<u64>,
    pub reasoning: Option<u64>,
}

/// The problems of a script, one per line of the message, each with file and line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct ScriptError {
    /// The problems, each as `file:line: problem`.
    pub problems: Vec<String>,
}

fn yes() -> bool {
    true
}

fn minute() -> f64 {
    60.0
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

impl Default for CacheFacts {
    fn default() -> Self {
        Self {
            minimum: 1024,
            step: 128,
        }
    }
}

impl Default for ReplyPace {
    fn default() -> Self {
        Self {
            tokens_per_second: 0.0,
            first_byte_ms: 0.0,
            first_byte_sigma: 0.0,
            tokens_per_event: 1,
            tick_ms: 20,
        }
    }
}

impl Script {
    /// Parses a script of JSON with comments and checks its placeholders. `name` is its name in
    /// problems, usually its path.
    ///
    /// # Errors
    ///
    /// Returns all problems found, each with file and line.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let json = source::blank_comments(text);
        let script: Self = serde_json::from_str(&json).map_err(|error| {
            let reason = error.to_string();
            let position = format!(" at line {} column {}", error.line(), error.column());
            let reason = reason.strip_suffix(&position).unwrap_or(&reason);
            ScriptError {
                problems: vec![format!(
                    "{name}:{}:{}: {reason}",
                    error.line(),
                    error.column()
                )],
            }
        })?;
        let lines = source::rule_lines(&json);
        let problems: Vec<String> = script
            .rules
            .iter()
            .enumerate()
            .flat_map(|(ix, rule)| {
                let line = lines.get(ix).copied().unwrap_or(1);
                let label = rule.label(ix);
                rule.problems()
                    .into_iter()
                    .map(move |problem| format!("{name}:{line}: {label}: {problem}"))
            })
            .collect();
        if problems.is_empty() {
            Ok(script)
        } else {
            Err(ScriptError { problems })
        }
    }

    /// Returns the properties of a model. For a model that the script does not list, returns the
    /// defaults.
    pub(crate) fn facts(&self, model: &str) -> MockModel {
        self.models.get(model).cloned().unwrap_or_default()
    }
}

impl ScriptRule {
    /// Returns the rule's name, or its number for an unnamed rule, for the log and for error
    /// messages. `ix` counts from 0.
    pub(crate) fn label(&self, ix: usize) -> String {
        match &self.name {
            Some(name) => format!("rule {name:?}"),
            None => format!("rule {}", ix + 1),
        }
    }

    fn problems(&self) -> Vec<String> {
        let known = self.condition.names();
        let mut problems: Vec<String> = self
            .reply
            .iter()
            .flat_map(ReplyStep::names)
            .filter(|name| !known.contains(name))
            .map(|name| {
                format!(
                    "the reply wants {{{{{name}}}}}, but no (?<{name}>…) in \"match\" captures it"
                )
            })
            .collect();
        if self.reply.is_empty() && self.faults.iter().all(|fault| fault.first.is_some()) {
            problems.push("it has no \"reply\", and no fault that always applies".to_owned());
        }
        for step in &self.reply {
            if let ReplyStep::Calls(calls) | ReplyStep::Interleaved(calls) = step
                && calls.is_empty()
            {
                problems.push("a list of calls is empty".to_owned());
            }
        }
        problems
    }
}

impl ReplyStep {
    fn names(&self) -> Vec<String> {
        match self {
            Self::Text(text) | Self::Refusal(text) => text.names(),
            Self::Repeat(repeat) => repeat.text.names(),
            Self::Thinking(thinking) => thinking.text.names(),
            Self::Call(call) => call.names(),
            Self::Calls(calls) | Self::Interleaved(calls) => {
                calls.iter().flat_map(ScriptedCall::names).collect()
            }
            Self::Stop(_) | Self::Usage(_) => Vec::new(),
        }
    }
}

impl ScriptedCall {
    fn names(&self) -> Vec<String> {
        let mut names = template::value_names(&self.arguments);
        names.extend(self.raw.iter().flat_map(Template::names));
        names
    }
}
