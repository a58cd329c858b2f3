//! The conversation in the order that every wire accepts, and encoding shared by the wires.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{
    Failure, FailureClass, MessagePart, ModelRequest, PartContent, Role, ToolChoice, ToolInput,
    ToolSpec,
};
use serde_json::{Map, Value, json};

use super::json::decimal;
use super::options::{SchemaSupport, WireOptions};
use super::schema::adapted;
use super::text_input::MEMBER;

/// Text that replaces an image for a model without vision.
pub(crate) const NO_PICTURE: &str =
    "[An image was omitted here: this model does not accept images.]";

/// Characters permitted in call ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IdRule {
    /// All characters are permitted.
    #[default]
    Any,
    /// Letters, digits, `_` and `-`, 64 at most.
    Word,
    /// Exactly nine letters and digits.
    Nine,
}

/// Consecutive messages of the same side.
pub(crate) enum HistoryTurn<'a> {
    /// Parts of consecutive messages by the model.
    Assistant(Vec<&'a MessagePart>),
    /// Messages by others, starting with all tool results, since each wire requires them next to
    /// their calls.
    Others {
        results: Vec<&'a MessagePart>,
        messages: Vec<(Role, Vec<&'a MessagePart>)>,
    },
}

impl HistoryTurn<'_> {
    /// Returns whether the user spoke, rather than tools or the harness.
    pub(crate) fn is_from_user(&self) -> bool {
        match self {
            Self::Assistant(_) => false,
            Self::Others { messages, .. } => messages.iter().any(|(role, _)| *role == Role::User),
        }
    }
}

/// A request's conversation, with lookup tables.
pub(crate) struct ChatHistory<'a> {
    request: &'a ModelRequest,
    ids: HashMap<&'a str, String>,
    names: HashMap<&'a str, &'a str>,
    text_tools: HashSet<&'a str>,
}

impl<'a> ChatHistory<'a> {
    /// Prepares the conversation of `request`: converts its call ids to the form that `rule`
    /// demands, and collects the tools of its calls.
    pub(crate) fn new(request: &'a ModelRequest, rule: IdRule) -> Self {
        let mut ids = HashMap::new();
        let mut names = HashMap::new();
        let mut taken = HashSet::new();
        for part in request.messages.iter().flat_map(|message| &message.parts) {
            if let PartContent::ToolCall { id, name, .. } = &part.content {
                names.insert(id.as_str(), name.as_str());
                ids.entry(id.as_str())
                    .or_insert_with(|| own_id(id, rule, &mut taken));
            }
        }
        let text_tools = request.tools.iter().filter_map(|tool| match tool.input {
            ToolInput::Text { .. } => Some(tool.name.as_str()),
            ToolInput::Json(_) => None,
        });
        Self {
            request,
            ids,
            names,
            text_tools: text_tools.collect(),
        }
    }

    /// Returns a call's id in the wire's format. An unknown id stays as it is.
    pub(crate) fn id(&self, id: &'a str) -> &str {
        self.ids.get(id).map_or(id, String::as_str)
    }

    /// Returns the name of the tool that a call used, or `unknown` if the conversation has no such
    /// call.
    pub(crate) fn tool_of(&self, call: &str) -> &'a str {
        self.names.get(call).copied().unwrap_or("unknown")
    }

    /// Returns whether the request offers a tool with this name that takes free text.
    pub(crate) fn takes_text(&self, tool: &str) -> bool {
        self.text_tools.contains(tool)
    }

    /// Parses a call's arguments as an object, for wires that require one. Blank arguments give an
    /// empty object. Text that is not an object is wrapped in one.
    pub(crate) fn arguments(&self, tool: &str, arguments: &str) -> Value {
        if !self.takes_text(tool) {
            match serde_json::from_str(arguments) {
                Ok(object @ Value::Object(_)) => return object,
                _ if arguments.trim().is_empty() => return json!({}),
                _ => {}
            }
        }
        json!({ MEMBER: arguments })
    }

    /// Returns the opaque data of a part as JSON. Returns `None` if the part has no opaque data, or
    /// if the data belong to another model or are not JSON.
    pub(crate) fn opaque(&self, part: &MessagePart) -> Option<Value> {
        let opaque = part.opaque.as_ref()?;
        if opaque.model != self.request.model {
            return None;
        }
        serde_json::from_str(&opaque.data).ok()
    }

    /// Returns the conversation as turns of alternating sides, without empty texts.
    pub(crate) fn grouped_turns(&self) -> Vec<HistoryTurn<'a>> {
        let mut turns: Vec<HistoryTurn<'a>> = Vec::new();
        for message in &self.request.messages {
            let parts = message.parts.iter().map(Arc::as_ref);
            let parts = parts.filter(|part| {
                !matches!(&part.content, PartContent::Text(text) if text.is_empty() && part.opaque.is_none())
            });
            match (turns.last_mut(), message.role) {
                (Some(HistoryTurn::Assistant(before)), Role::Assistant) => before.extend(parts),
                (_, Role::Assistant) => turns.push(HistoryTurn::Assistant(parts.collect())),
                (Some(HistoryTurn::Others { results, messages }), role) => {
                    push_other(results, messages, role, parts);
                }
                (_, role) => {
                    let (mut results, mut messages) = (Vec::new(), Vec::new());
                    push_other(&mut results, &mut messages, role, parts);
                    turns.push(HistoryTurn::Others { results, messages });
                }
            }
        }
        turns
    }
}

fn push_other<'a>(
    results: &mut Vec<&'a MessagePart>,
    messages: &mut Vec<(Role, Vec<&'a MessagePart>)>,
    role: Role,
    parts: impl Iterator<Item = &'a MessagePart>,
) {
    let (answers, others): (Vec<_>, Vec<_>) =
        parts.partition(|part| matches!(part.content, PartContent::ToolResult { .. }));
    results.extend(answers);
    if !others.is_empty() {
        messages.push((role, others));
    }
}

fn own_id(id: &str, rule: IdRule, taken: &mut HashSet<String>) -> String {
    let mut own = match rule {
        IdRule::Any => return id.to_owned(),
        IdRule::Word => word_id(id, None),
        IdRule::Nine => nine_id(id, 0),
    };
    let mut number = 1;
    while !taken.insert(own.clone()) {
        number += 1;
        own = match rule {
            IdRule::Nine => nine_id(id, number),
            _ => word_id(id, Some(number)),
        };
    }
    own
}

fn word_id(id: &str, number: Option<u64>) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let suffix = number
        .map(|number| format!("_{number}"))
        .unwrap_or_default();
    let letters = id
        .chars()
        .map(|letter| if fits(letter) { letter } else { '_' });
    letters
        .take(64 - suffix.len())
        .chain(suffix.chars())
        .collect()
}

fn nine_id(id: &str, number: u64) -> String {
    if number == 0 && id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    // FNV-1a in base 36: the same id yields the same nine characters on every run.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ number;
    for byte in id.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (0..9)
        .map(|_| {
            let digit = char::from_digit((hash % 36) as u32, 36).unwrap_or('0');
            hash /= 36;
            digit
        })
        .collect()
}

/// Returns a tool's description and JSON schema, for wires without free-text tools. A free-text
/// tool becomes a tool that takes an object with the text as its only member; its grammar is added
/// to the description.
pub(crate) fn json_tool(tool: &ToolSpec, options: &WireOptions) -> (String, Value) {
    match &tool.input {
        ToolInput::Json(schema) => {
            let schema = adapted(schema, &options.schema_quirks);
            (tool.description.clone(), schema)
        }
        ToolInput::Text { grammar } => {
            let mut description = tool.description.clone();
            if let Some(grammar) = grammar {
                description.push_str("\n\nThe input satisfies this Lark grammar:\n");
                description.push_str(grammar);
            }
            let schema = json!({
                "type": "object",
                "properties": { MEMBER: { "type": "string", "description": "The whole input, as text." } },
                "required": [MEMBER],
                "additionalProperties": false,
            });
            (description, schema)
        }
    }
}

/// Returns the request's tool choice, or `Auto` if the choice forces a tool and the model does not
/// support that.
pub(crate) fn tool_choice<'a>(request: &'a ModelRequest, options: &WireOptions) -> &'a ToolChoice {
    match &request.tool_choice {
        ToolChoice::Required | ToolChoice::Tool(_) if !options.forced_tool => &ToolChoice::Auto,
        choice => choice,
    }
}

/// Returns the text parts of a tool's result, joined by line feeds. The caller handles images.
pub(crate) fn result_text(content: &[PartContent]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        PartContent::Text(text) | PartContent::Reasoning(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Encodes an image's bytes in base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Encodes an image as a data URL.
pub(crate) fn data_url(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", base64(bytes))
}

/// Adds `temperature` and `top_p` under these names, if the model accepts them.
pub(crate) fn add_sampling(
    body: &mut Map<String, Value>,
    sampling: model::Sampling,
    options: &WireOptions,
    names: [&str; 2],
) {
    if !options.sampling {
        return;
    }
    for (name, value) in names
        .into_iter()
        .zip([sampling.temperature, sampling.top_p])
    {
        if let Some(value) = value {
            body.insert(name.to_owned(), decimal(value));
        }
    }
}

/// Returns the request's schema and the level of support for it, or `Ok(None)` without a schema.
/// Fails if the model does not support schemas.
pub(crate) fn schema<'a>(
    request: &'a ModelRequest,
    options: &WireOptions,
) -> Result<Option<(&'a Value, SchemaSupport)>, Failure> {
    match (&request.response_schema, options.schema) {
        (None, _) => Ok(None),
        (Some(_), SchemaSupport::None) => {
            let message = format!(
                "The model {} does not support JSON schemas, which this request requires; choose \
                 another model.",
                request.model
            );
            Err(Failure::new(FailureClass::InvalidRequest, message))
        }
        (Some(schema), support) => Ok(Some((schema, support))),
    }
}

/// Returns the extra headers of the options, with names in lower case.
pub(crate) fn headers(options: &WireOptions) -> Vec<(String, String)> {
    let pairs = options.headers.iter();
    pairs
        .map(|(name, value)| (name.to_lowercase(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests;
