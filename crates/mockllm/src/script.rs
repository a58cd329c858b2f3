//! What the server answers: a list of rules, read from JSON with comments.
//!
//! Rules are tried in order and the first that fits answers. `scripts/tour.jsonc` shows every field.
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
pub(crate) use fault::Seeded;
pub use fault::{Fault, FaultRule, Moment, Schedule, StatusFault};
pub(crate) use pattern::Captures;
pub use pattern::{Expression, Glob, Pattern};
pub use template::Template;
pub(crate) use template::fill_value;

/// Everything a server does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Where all chance comes from: ids, delays, the sizes of fragments. Equal requests in equal order to equal
    /// scripts get equal bytes.
    #[serde(default)]
    pub seed: u64,
    /// Whether a conversation is held to the provider's rules: results right after their calls, signatures
    /// unchanged. On unless the script says otherwise.
    #[serde(default = "yes")]
    pub strict: bool,
    /// The models it lists, by name. A name not listed is served all the same.
    #[serde(default)]
    pub models: BTreeMap<String, ModelFacts>,
    /// How fast answers come, where neither the rule nor the model says.
    #[serde(default)]
    pub pace: Pace,
    /// Faults by chance, for requests whose rule names none.
    #[serde(default)]
    pub schedule: Option<Schedule>,
    /// What is answered to what; the first that fits.
    pub rules: Vec<Rule>,
}

/// What the server pretends of a model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelFacts {
    /// The longest prompt, in tokens; a longer one is refused as the provider would.
    pub context: Option<u64>,
    /// Its prompt cache.
    pub cache: CacheFacts,
    /// Its rate limits, per key; none unless given.
    pub limits: Option<LimitFacts>,
    /// How fast it is.
    pub pace: Option<Pace>,
    /// Whose habits it has on the chat wire.
    pub dialect: Dialect,
}

/// How a provider caches prompts.
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
    /// Requests per window.
    pub requests: Option<u64>,
    /// Prompt tokens per window; those read from a cache do not count.
    pub input_tokens: Option<u64>,
    /// Answer tokens per window.
    pub output_tokens: Option<u64>,
    /// The window in seconds.
    #[serde(default = "minute")]
    pub per_seconds: f64,
}

/// Whose habits a model has on the chat wire: the name of the field for thought, what usage says.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// No thought is shown.
    #[default]
    Openai,
    /// `reasoning`, `reasoning_details`, and comments that keep the connection alive.
    Openrouter,
    /// `reasoning_content`, and cache hits and misses as fields of their own.
    Deepseek,
    /// `reasoning_content`, and timings.
    Llamacpp,
    /// `reasoning_content`.
    Vllm,
    /// `reasoning`.
    Ollama,
    /// `reasoning_content`.
    Lmstudio,
    /// Ids of nine letters and digits.
    Mistral,
}

/// How fast an answer comes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Pace {
    /// Tokens per second; 0 is as fast as it goes.
    pub tokens_per_second: f64,
    /// The median wait for the first byte, in milliseconds.
    pub first_byte_ms: f64,
    /// How the wait varies: the sigma of its lognormal law; 0 is always the median.
    pub first_byte_sigma: f64,
    /// Tokens in one event.
    pub tokens_per_event: u32,
    /// Events are sent on ticks of this many milliseconds, shared by all streams, so that many streams cost
    /// few wake-ups; 0 sends each at its own time.
    pub tick_ms: u64,
}

/// What is answered to what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What the log calls it.
    #[serde(default)]
    pub name: Option<String>,
    /// When it applies; always, if left out.
    #[serde(default, rename = "match")]
    pub condition: Condition,
    /// What is said, in order.
    #[serde(default)]
    pub reply: Vec<Step>,
    /// How fast.
    #[serde(default)]
    pub pace: Option<Pace>,
    /// What goes wrong.
    #[serde(default)]
    pub faults: Vec<FaultRule>,
}

/// A piece of a reply.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Text for the person.
    Text(Template),
    /// A text said several times over: long answers for load runs.
    Repeat(Repeat),
    /// Thought before what follows.
    Thinking(Thinking),
    /// One tool call.
    Call(Call),
    /// Several calls in one message, one after the other.
    Calls(Vec<Call>),
    /// Several calls in one message whose fragments come in turns, where the wire can do that.
    Interleaved(Vec<Call>),
    /// The model declines, with these words.
    Refusal(Template),
    /// Why the answer ends, where it does not follow from the rest.
    Stop(Stop),
    /// What is reported as used, where it is not to be counted.
    Usage(UsageStep),
}

/// A text several times over.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// The text.
    pub text: Template,
    /// How often.
    pub times: u32,
}

/// Thought. Shown where the request asks for it, as the providers do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thinking {
    /// What is thought.
    pub text: Template,
    /// What the provider wants back; made up from the seed if left out.
    #[serde(default)]
    pub signature: Option<String>,
    /// Whether only the opaque form is shown.
    #[serde(default)]
    pub redacted: bool,
}

/// A tool call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Which tool.
    pub tool: String,
    /// Its arguments; strings in them are templates.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
    /// The input of a free-form tool, or arguments to be sent exactly so, right or wrong.
    #[serde(default)]
    pub raw: Option<Template>,
    /// The call's id; made up from the seed if left out.
    #[serde(default)]
    pub id: Option<String>,
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model is done.
    EndTurn,
    /// It waits for results.
    ToolUse,
    /// The answer may not be longer.
    MaxTokens,
    /// A stop text came.
    StopText,
    /// It declined.
    Refusal,
    /// A long turn was paused.
    Pause,
}

/// Usage to report instead of what was counted, in tokens; what is left out is counted.
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

/// Why a script cannot be used: every problem found, one a line, each with file and line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct ScriptError {
    /// `file:line: what is wrong`.
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

impl Default for Pace {
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
    /// Reads a script. `name` is what problems call it, usually its path.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let json = source::blank_comments(text);
        let script: Self = serde_json::from_str(&json).map_err(|error| {
            let reason = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let reason = reason.strip_suffix(&place).unwrap_or(&reason);
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
                let called = rule.called(ix);
                rule.problems()
                    .into_iter()
                    .map(move |problem| format!("{name}:{line}: {called}: {problem}"))
            })
            .collect();
        if problems.is_empty() {
            Ok(script)
        } else {
            Err(ScriptError { problems })
        }
    }

    /// What is known of a model; the defaults for one not listed.
    pub(crate) fn facts(&self, model: &str) -> ModelFacts {
        self.models.get(model).cloned().unwrap_or_default()
    }
}

impl Rule {
    /// What the log and error messages call it.
    pub(crate) fn called(&self, ix: usize) -> String {
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
            .flat_map(Step::names)
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
            if let Step::Calls(calls) | Step::Interleaved(calls) = step
                && calls.is_empty()
            {
                problems.push("a list of calls is empty".to_owned());
            }
        }
        problems
    }
}

impl Step {
    fn names(&self) -> Vec<String> {
        match self {
            Self::Text(text) | Self::Refusal(text) => text.names(),
            Self::Repeat(repeat) => repeat.text.names(),
            Self::Thinking(thinking) => thinking.text.names(),
            Self::Call(call) => call.names(),
            Self::Calls(calls) | Self::Interleaved(calls) => {
                calls.iter().flat_map(Call::names).collect()
            }
            Self::Stop(_) | Self::Usage(_) => Vec::new(),
        }
    }
}

impl Call {
    fn names(&self) -> Vec<String> {
        let mut names = template::value_names(&self.arguments);
        names.extend(self.raw.iter().flat_map(Template::names));
        names
    }
}
