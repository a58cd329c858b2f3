//! Encodes a request for OpenAI Chat.

use model::{
    CacheMark, Failure, MessagePart, ModelRequest, PartContent, ReasoningReplay, Role, SchemaQuirk,
    ToolChoice, ToolSpec,
};
use serde_json::{Map, Value, json};

use super::super::body::BodyItems;
use super::super::dialect::ChatDialect;
use super::super::history::{
    ChatHistory, HistoryTurn, NO_PICTURE, add_sampling, data_url, headers, json_tool, result_text,
    schema, tool_choice,
};
use super::super::json::object;
use super::super::options::{EffortValue, PREDICTION, SchemaSupport, WireOptions};
use super::super::schema::is_strict;
use super::super::{EncodedRequest, EndpointPath};

/// Encodes a chat request in a server's dialect. Fails if the model does not support it.
pub(crate) fn encode(
    dialect: &ChatDialect,
    options: &WireOptions,
    request: &ModelRequest,
) -> Result<EncodedRequest, Failure> {
    let history = ChatHistory::new(request, dialect.ids);
    let writer = ChatWriter {
        dialect,
        options,
        history: &history,
    };
    let mut messages = BodyItems::with_room(request);
    writer.add_system(request, &mut messages);
    let turns = history.grouped_turns();
    let person = turns
        .iter()
        .rposition(HistoryTurn::is_from_user)
        .unwrap_or_default();
    for (at, turn) in turns.into_iter().enumerate() {
        writer.add_turn(turn, at > person, &mut messages);
    }
    let model = object([("model", json!(request.model.model))]);
    let mut body = Map::new();
    add_tools(&mut body, dialect, options, request);
    let prediction = options.prediction(request);
    if prediction.is_none() || dialect.limits_predictions {
        body.insert(dialect.max_tokens.clone(), json!(request.max_output.0));
    }
    if let Some(prediction) = prediction {
        let prediction = json!({ "type": "content", "content": prediction });
        body.insert(PREDICTION.to_owned(), prediction);
    }
    add_effort(&mut body, dialect, options, request);
    add_sampling(
        &mut body,
        request.sampling,
        options,
        ["temperature", "top_p"],
    );
    if !request.stop.is_empty() {
        let stop: Vec<&String> = request.stop.iter().take(dialect.stop_limit).collect();
        body.insert("stop".to_owned(), json!(stop));
    }
    if let Some((schema, support)) = schema(request, options)? {
        let format = match support {
            SchemaSupport::Native => json!({
                "type": "json_schema",
                "json_schema": { "name": "answer", "schema": schema },
            }),
            _ => json!({ "type": "json_object" }),
        };
        body.insert("response_format".to_owned(), format);
    }
    body.insert("stream".to_owned(), json!(true));
    if dialect.usage_option {
        body.insert(
            "stream_options".to_owned(),
            json!({ "include_usage": true }),
        );
    }
    let mut headers = headers(options);
    if let Some(conversation) = &request.conversation {
        if dialect.cache_key {
            body.insert("prompt_cache_key".to_owned(), json!(conversation));
        }
        for name in &dialect.affinity_headers {
            headers.push((name.to_lowercase(), conversation.clone()));
        }
    }
    Ok(EncodedRequest {
        path: EndpointPath::Base("chat/completions".to_owned()),
        headers,
        body: messages.finish(model, "messages", body, options),
    })
}

fn add_tools(
    body: &mut Map<String, Value>,
    dialect: &ChatDialect,
    options: &WireOptions,
    request: &ModelRequest,
) {
    if request.tools.is_empty() {
        return;
    }
    let tools = request.tools.iter().map(|spec| tool(spec, options));
    body.insert("tools".to_owned(), Value::Array(tools.collect()));
    let choice = match tool_choice(request, options) {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!(dialect.required_tool),
        ToolChoice::Tool(name) => json!({ "type": "function", "function": { "name": name } }),
    };
    body.insert("tool_choice".to_owned(), choice);
    if dialect.parallel_tools {
        body.insert(
            "parallel_tool_calls".to_owned(),
            json!(request.parallel_tools && options.parallel_tools),
        );
    }
}

fn tool(spec: &ToolSpec, options: &WireOptions) -> Value {
    let (description, schema) = json_tool(spec, options);
    let strict = options.schema_quirks.contains(&SchemaQuirk::Strict) && is_strict(&schema);
    let mut function = object([
        ("name", json!(spec.name)),
        ("description", json!(description)),
        ("parameters", schema),
    ]);
    if strict {
        function.insert("strict".to_owned(), json!(true));
    }
    json!({ "type": "function", "function": function })
}

fn add_effort(
    body: &mut Map<String, Value>,
    dialect: &ChatDialect,
    options: &WireOptions,
    request: &ModelRequest,
) {
    let value = request
        .effort
        .and_then(|effort| options.effort.value(effort));
    match value {
        Some(EffortValue::Word(word)) => insert_at_pointer(body, &dialect.effort, json!(word)),
        Some(EffortValue::Budget(budget)) => {
            insert_at_pointer(body, &dialect.effort_budget, json!(budget))
        }
        Some(EffortValue::Switch(on)) => insert_at_pointer(body, &dialect.effort_switch, json!(on)),
        None => {}
    }
}

/// Sets `value` at a JSON pointer, creating objects on the way.
fn insert_at_pointer(body: &mut Map<String, Value>, pointer: &str, value: Value) {
    let Some(path) = pointer.strip_prefix('/') else {
        return;
    };
    match path.split_once('/') {
        None => {
            body.insert(path.to_owned(), value);
        }
        Some((name, rest)) => {
            let inner = body.entry(name).or_insert_with(|| json!({}));
            if let Value::Object(inner) = inner {
                insert_at_pointer(inner, &format!("/{rest}"), value);
            }
        }
    }
}

struct ChatWriter<'a> {
    dialect: &'a ChatDialect,
    options: &'a WireOptions,
    history: &'a ChatHistory<'a>,
}

impl<'a> ChatWriter<'a> {
    fn add_system(&self, request: &ModelRequest, messages: &mut BodyItems) {
        let blocks = request.system.iter().filter(|block| !block.text.is_empty());
        let has_marks = blocks.clone().any(|block| block.cache != CacheMark::None);
        let content = if self.options.cache_marks && has_marks {
            let blocks = blocks.map(|block| {
                let mut part = json!({ "type": "text", "text": block.text });
                if block.cache != CacheMark::None {
                    part["cache_control"] = json!({ "type": "ephemeral" });
                }
                part
            });
            Value::Array(blocks.collect())
        } else {
            let texts: Vec<&str> = blocks.map(|block| block.text.as_str()).collect();
            if texts.is_empty() {
                return;
            }
            json!(texts.join("\n\n"))
        };
        messages.push(&json!({ "role": self.dialect.system_role, "content": content }));
    }

    fn add_turn(&self, turn: HistoryTurn<'a>, is_same_turn: bool, messages: &mut BodyItems) {
        match turn {
            HistoryTurn::Assistant(parts) => messages.push(&self.assistant(&parts, is_same_turn)),
            HistoryTurn::Others {
                results,
                messages: others,
            } => {
                let mut pictures = Vec::new();
                for part in results {
                    if let Some(result) = self.result(part, &mut pictures) {
                        messages.push(&result);
                    }
                }
                if !pictures.is_empty() {
                    messages.push(&json!({ "role": "user", "content": pictures }));
                }
                for (role, parts) in others {
                    let role = match role {
                        Role::System if self.dialect.late_system => {
                            self.dialect.system_role.as_str()
                        }
                        _ => "user",
                    };
                    messages.push(&json!({ "role": role, "content": self.content(&parts) }));
                }
            }
        }
    }

    /// Encodes an assistant message. `is_same_turn`: no user message has followed it.
    fn assistant(&self, parts: &[&'a MessagePart], is_same_turn: bool) -> Value {
        let mut texts = String::new();
        let mut thoughts = String::new();
        let mut details = Vec::new();
        let mut calls = Vec::new();
        for part in parts {
            match &part.content {
                PartContent::Text(text) => texts.push_str(text),
                PartContent::Reasoning(text) => {
                    thoughts.push_str(text);
                    if let Some(Value::Array(items)) = self
                        .history
                        .opaque(part)
                        .and_then(|mut opaque| opaque.get_mut("reasoning_details").map(Value::take))
                    {
                        details.extend(items);
                    }
                }
                PartContent::ToolCall {
                    id,
                    name,
                    arguments,
                } => calls.push(self.call(part, id, name, arguments)),
                PartContent::Image { .. } | PartContent::ToolResult { .. } => {}
            }
        }
        let mut message = object([("role", json!("assistant")), ("content", json!(texts))]);
        let replay = self
            .options
            .reasoning_back
            .unwrap_or(self.dialect.reasoning_back);
        let goes_back = match replay {
            ReasoningReplay::Never => false,
            ReasoningReplay::SameTurn => is_same_turn,
            ReasoningReplay::Always => true,
        };
        if goes_back && !thoughts.is_empty() {
            message.insert(self.dialect.reasoning_back_field.clone(), json!(thoughts));
        }
        if self.dialect.reasoning_details && !details.is_empty() && replay != ReasoningReplay::Never
        {
            message.insert("reasoning_details".to_owned(), Value::Array(details));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        Value::Object(message)
    }

    fn call(&self, part: &MessagePart, id: &'a str, name: &str, arguments: &str) -> Value {
        let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|it| it.is_object());
        let arguments = if is_object && !self.history.takes_text(name) {
            arguments.to_owned()
        } else {
            self.history.arguments(name, arguments).to_string()
        };
        let mut call = json!({
            "id": self.history.id(id),
            "type": "function",
            "function": { "name": name, "arguments": arguments },
        });
        let opaque = self.history.opaque(part);
        if let Some(extra) = opaque.and_then(|mut it| it.get_mut("extra_content").map(Value::take))
        {
            call["extra_content"] = extra;
        }
        call
    }

    /// Encodes a tool message. Images don't fit into it: a user message after all results contains
    /// them.
    fn result(&self, part: &'a MessagePart, pictures: &mut Vec<Value>) -> Option<Value> {
        let PartContent::ToolResult {
            call,
            content,
            is_error,
        } = &part.content
        else {
            return None;
        };
        let mut text = result_text(content);
        if *is_error && !text.to_lowercase().contains("error") {
            text.insert_str(0, "Error: ");
        }
        let shown = content
            .iter()
            .filter(|it| matches!(it, PartContent::Image { .. }));
        for picture in shown {
            if pictures.is_empty() {
                let lead = "Images from the tool results above:";
                pictures.push(json!({ "type": "text", "text": lead }));
            }
            pictures.extend(self.plain(picture));
        }
        if text.is_empty() {
            text.push_str("(no output)");
        }
        Some(json!({
            "role": "tool",
            "tool_call_id": self.history.id(call),
            "content": text,
        }))
    }

    /// Encodes text-only content as one string, which every server accepts.
    fn content(&self, parts: &[&MessagePart]) -> Value {
        let has_picture = parts
            .iter()
            .any(|part| matches!(part.content, PartContent::Image { .. }));
        if has_picture && self.options.images {
            let parts = parts.iter().filter_map(|part| self.plain(&part.content));
            return Value::Array(parts.collect());
        }
        let texts = parts.iter().filter_map(|part| match &part.content {
            PartContent::Text(text) => Some(text.as_str()),
            PartContent::Image { .. } => Some(NO_PICTURE),
            _ => None,
        });
        json!(texts.collect::<Vec<_>>().join("\n\n"))
    }

    /// Encodes a text or an image; an image becomes a placeholder text if the model takes none.
    /// Returns `None` for other content.
    fn plain(&self, content: &PartContent) -> Option<Value> {
        match content {
            PartContent::Text(text) => Some(json!({ "type": "text", "text": text })),
            PartContent::Image { media_type, bytes } if self.options.images => Some(json!({
                "type": "image_url",
                "image_url": { "url": data_url(media_type, bytes) },
            })),
            PartContent::Image { .. } => Some(json!({ "type": "text", "text": NO_PICTURE })),
            _ => None,
        }
    }
}
