//! Requests to models: chat and fill-in-the-middle.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Message, ModelId, TokenCount};

/// A request for one answer of a chat model. Contains everything that goes on the wire, so that
/// equal requests yield equal bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The model to send it to.
    pub model: ModelId,
    /// System prompt blocks, in order; they form the stable prefix.
    pub system: Vec<SystemBlock>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Available tools, in an order that stays the same within a conversation.
    pub tools: Vec<ToolSpec>,
    /// Whether and how tools may be called.
    pub tool_choice: ToolChoice,
    /// Whether one message may contain several calls.
    pub parallel_tools: bool,
    /// Maximum output tokens of the answer.
    pub max_output: TokenCount,
    /// Reasoning effort; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// Sampling parameters, if the model's profile allows them.
    pub sampling: Sampling,
    /// JSON schema for the answer.
    pub response_schema: Option<Value>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// The expected answer, if most of it is known, such as the current text of a file to be
    /// rewritten. Models that verify predictions generate only the differences.
    pub prediction: Option<String>,
    /// Conversation id, for caches and for servers that route by it.
    pub conversation: Option<String>,
    /// Optional body members that the provider rejected before; they are not sent.
    pub omit: Vec<String>,
}

/// A block of the system prompt, with a mark whether a cached prefix may end after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemBlock {
    /// Text of the block.
    pub text: String,
    /// Whether a cached prefix may end after the block.
    pub cache: CacheMark,
}

/// Marks a possible end of a cached prefix, with the lifetime of the cache: none, five minutes or
/// an hour. Providers without cache marks ignore the mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMark {
    /// No cached prefix ends here.
    #[default]
    None,
    /// A prefix cached for five minutes.
    Short,
    /// A prefix cached for an hour.
    Long,
}

/// Definition of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: String,
    /// Description of the tool for the model.
    pub description: String,
    /// Input format of the tool.
    pub input: ToolInput,
}

/// Input format of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolInput {
    /// A JSON object with this schema.
    Json(Value),
    /// Free text, constrained by a Lark grammar where the wire supports it. Wires without free text
    /// offer a JSON object with the single string `input`, which the adapter unwraps.
    Text {
        /// The grammar, if there is one.
        grammar: Option<String>,
    },
}

/// Whether and how tools may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides whether to call tools.
    #[default]
    Auto,
    /// No tool may be called.
    None,
    /// Some tool must be called.
    Required,
    /// This tool must be called.
    Tool(String),
}

/// Reasoning effort that a request asks for, lowest first. A profile maps it to the provider's word
/// or token budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Max,
}

/// Sampling parameters; `None` leaves them to the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Sampling {
    pub temperature: Option<f32>,
    pub top_p: Option<f32>,
}

/// A fill-in-the-middle request, or another request answered with plain text.
#[derive(Clone, Debug, PartialEq)]
pub struct Fim {
    /// The model to send it to.
    pub model: ModelId,
    /// Form of the request.
    pub form: FimForm,
    /// Text before the gap, or the whole prompt.
    pub prefix: String,
    /// Text after the gap.
    pub suffix: String,
    /// Path of the file with the gap, relative to the project; empty if none.
    pub path: String,
    /// Name of the project; empty if unknown.
    pub project: String,
    /// Snippets of other files as context, most relevant last.
    pub files: Vec<FimFile>,
    /// Maximum output tokens of the answer.
    pub max_output: TokenCount,
    /// Sampling parameters of the request.
    pub sampling: Sampling,
    /// Texts that end the answer.
    pub stop: Vec<String>,
}

/// Form of a request that is answered with plain text: fill a gap, continue a raw prompt, or answer
/// an edit prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FimForm {
    /// Complete the gap between prefix and suffix.
    #[default]
    Gap,
    /// Continue the prefix, a complete prompt that is sent verbatim, control tokens included.
    Raw,
    /// Answer the prefix, a message for an endpoint specialized in edits.
    Edit,
}

/// A snippet of another file, as context for a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FimFile {
    /// Path relative to the project.
    pub path: String,
    /// Text of the snippet.
    pub text: String,
}

impl Fim {
    /// Creates a gap request without further context.
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

impl ModelRequest {
    /// Creates a request with messages only; everything else is left to the provider.
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
            prediction: None,
            conversation: None,
            omit: Vec::new(),
        }
    }

    /// Returns the prediction if the rest of the request allows one. Providers reject predictions
    /// next to tools, and a schema decides the form of the answer itself.
    pub fn usable_prediction(&self) -> Option<&str> {
        let is_allowed = self.tools.is_empty() && self.response_schema.is_none();
        let prediction = self.prediction.as_deref().filter(|text| !text.is_empty());
        prediction.filter(|_| is_allowed)
    }
}
