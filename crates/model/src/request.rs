//! What is asked of a model.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Message, TokenCount};

/// A model at a provider, written `provider/model`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelId {
    /// The provider's name in the configuration, such as `anthropic` or `local`.
    pub provider: String,
    /// The model's name as the provider spells it; it may hold slashes itself.
    pub model: String,
}

/// One request for one answer. Everything that goes on the wire is here, so equal requests give equal bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Whom to ask.
    pub model: ModelId,
    /// The stable prefix, in order.
    pub system: Vec<SystemBlock>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Tools on offer, in an order that does not change within a conversation.
    pub tools: Vec<ToolSpec>,
    /// Whether and how tools may be called.
    pub tool_choice: ToolChoice,
    /// Whether several calls may come in one message.
    pub parallel_tools: bool,
    /// The most the model may write.
    pub max_output: TokenCount,
    /// How hard to think; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// Sampling, where the model's profile allows it.
    pub sampling: Sampling,
    /// A JSON schema that the answer must satisfy.
    pub response_schema: Option<Value>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// One value per conversation, for caches and servers that route by it.
    pub conversation: Option<String>,
    /// Optional members of the body that the provider refused before: they are not sent.
    pub omit: Vec<String>,
}

/// A block of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemBlock {
    /// The text.
    pub text: String,
    /// Whether a cached prefix may end after it.
    pub cache: CacheMark,
}

/// Where a cached prefix may end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMark {
    /// Not here.
    #[default]
    None,
    /// Here, for five minutes.
    Short,
    /// Here, for an hour.
    Long,
}

/// A tool on offer.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// What it takes.
    pub input: ToolInput,
}

/// What a tool takes.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolInput {
    /// A JSON object of this schema.
    Json(Value),
    /// Free text, held to a Lark grammar where the wire can. A wire that cannot offers a JSON object with
    /// the one string `input`, and the adapter takes it out again.
    Text {
        /// The grammar, where there is one.
        grammar: Option<String>,
    },
}

/// Whether and how tools may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// None may be called.
    None,
    /// Some tool must be called.
    Required,
    /// This tool must be called.
    Tool(String),
}

/// How hard to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Max,
}

/// Sampling; `None` leaves it to the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Sampling {
    pub temperature: Option<f32>,
    pub top_p: Option<f32>,
}

/// A fill-in-the-middle request, or another one that is answered with text alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Fim {
    /// Whom to ask.
    pub model: ModelId,
    /// What is asked.
    pub form: FimForm,
    /// The text before the gap, or the whole prompt.
    pub prefix: String,
    /// The text after the gap.
    pub suffix: String,
    /// The path of the file with the gap, relative to the project; empty if it has none.
    pub path: String,
    /// What the project is called; empty if nobody knows.
    pub project: String,
    /// Texts of other files that help, the most helpful last.
    pub files: Vec<FimFile>,
    /// The most the model may write.
    pub max_output: TokenCount,
    /// Sampling.
    pub sampling: Sampling,
    /// Texts that end the answer.
    pub stop: Vec<String>,
}

/// What a request that is answered with text alone asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FimForm {
    /// To fill the gap between prefix and suffix.
    #[default]
    Gap,
    /// To go on from the prefix, a whole prompt that goes to the model as it is, control tokens included.
    Raw,
    /// To answer the prefix, a message for an endpoint that is made for edits.
    Edit,
}

/// A piece of another file, as context for a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FimFile {
    /// Its path, relative to the project.
    pub path: String,
    /// The piece.
    pub text: String,
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

impl Fim {
    /// A gap, with nothing that helps.
    pub fn gap(
        model: ModelId,
        prefix: impl Into<String>,
        suffix: impl Into<String>,
        max_output: TokenCount,
    ) -> Self {
        Self {
            model,
            form: FimForm::Gap,
            prefix: prefix.into(),
            suffix: suffix.into(),
            path: String::new(),
            project: String::new(),
            files: Vec::new(),
            max_output,
            sampling: Sampling::default(),
            stop: Vec::new(),
        }
    }
}

impl Request {
    /// A request of messages alone; everything else is left to the provider.
    pub fn new(model: ModelId, messages: Vec<Message>, max_output: TokenCount) -> Self {
        Self {
            model,
            system: Vec::new(),
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tools: false,
            max_output,
            effort: None,
            sampling: Sampling::default(),
            response_schema: None,
            stop: Vec::new(),
            conversation: None,
            omit: Vec::new(),
        }
    }
}

impl ModelId {
    /// Reads `provider/model`; the first slash divides. `None` if a half is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, model) = text.split_once('/')?;
        if provider.is_empty() || model.is_empty() {
            return None;
        }
        Some(Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
        })
    }
}
