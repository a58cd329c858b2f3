//! Encodes a request for Anthropic Messages.

use model::{Effort, Failure, MessagePart, ModelRequest, PartContent, Role, ToolChoice, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::body::BodyItems;
use super::super::history::{
    ChatHistory, HistoryTurn, IdRule, NO_PICTURE, add_sampling, base64, headers, json_tool, schema,
    tool_choice,
};
use super::super::json::object;
use super::super::options::{EffortValue, ThinkingMode, WireOptions};
use super::super::{EncodedRequest, EndpointPath};
use super::cache;

/// Protocol version sent in the header.
const VERSION: &str = "2023-06-01";

/// Encodes a chat request. Fails if the model does not support it.
pub(crate) fn encode(
    options: &WireOptions,
    request: &ModelRequest,
) -> Result<EncodedRequest, Failure> {
    let history = ChatHistory::new(request, IdRule::Word);
    let mut system: Vec<Value> = Vec::new();
    for block in request.system.iter().filter(|block| !block.text.is_empty()) {
        system.push(json!({ "type": "text", "text": block.text }));
    }
    let mut messages = cache::CacheMarker::new(BodyItems::with_room(request));
    add_messages(&history, options, &mut messages);
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|spec| tool(spec, options))
        .collect();
    cache::mark(request, options, &tools, &mut system, &mut messages);

    let mut body = object([
        ("model", json!(request.model.model)),
        ("max_tokens", json!(request.max_output.0)),
        ("stream", json!(true)),
    ]);
    let is_thinking = add_thinking(&mut body, options, request);
    add_output(&mut body, options, request)?;
    if !is_thinking {
        add_sampling(
            &mut body,
            request.sampling,
            options,
            ["temperature", "top_p"],
        );
    }
    if !request.stop.is_empty() {
        body.insert("stop_sequences".to_owned(), json!(request.stop));
    }
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
        body.insert("tool_choice".to_owned(), choice(request, options));
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), Value::Array(system));
    }

    let mut headers = headers(options);
    headers.insert(0, ("anthropic-version".to_owned(), VERSION.to_owned()));
    Ok(EncodedRequest {
        path: EndpointPath::Root("v1/messages".to_owned()),
        headers,
        body: messages
            .finish()
            .finish(body, "messages", Map::new(), options),
    })
}

fn tool(spec: &ToolSpec, options: &WireOptions) -> Value {
    let (description, schema) = json_tool(spec, options);
    let mut tool = object([
        ("name", json!(spec.name)),
        ("description", json!(description)),
        ("input_schema", schema),
    ]);
    if options.eager_tool_input {
        tool.insert("eager_input_streaming".to_owned(), json!(true));
    }
    Value::Object(tool)
}

fn choice(request: &ModelRequest, options: &WireOptions) -> Value {
    let mut choice = match tool_choice(request, options) {
        ToolChoice::Auto => object([("type", json!("auto"))]),
        ToolChoice::None => return json!({ "type": "none" }),
        ToolChoice::Required => object([("type", json!("any"))]),
        ToolChoice::Tool(name) => object([("type", json!("tool")), ("name", json!(name))]),
    };
    if !(request.parallel_tools && options.parallel_tools) {
        choice.insert("disable_parallel_tool_use".to_owned(), json!(true));
    }
    Value::Object(choice)
}

/// Adds the thinking settings; returns whether thinking is enabled.
fn add_thinking(
    body: &mut Map<String, Value>,
    options: &WireOptions,
    request: &ModelRequest,
) -> bool {
    let value = request
        .effort
        .and_then(|effort| options.effort.value(effort));
    let is_off = value == Some(&EffortValue::Switch(false))
        || (value.is_none() && request.effort == Some(Effort::None));
    // A forced tool call and thinking are mutually exclusive.
    let is_forced = matches!(
        tool_choice(request, options),
        ToolChoice::Required | ToolChoice::Tool(_)
    );
    let mut thinking = match options.thinking {
        ThinkingMode::None => return false,
        _ if is_off || is_forced => object([("type", json!("disabled"))]),
        ThinkingMode::Adaptive => object([("type", json!("adaptive"))]),
        ThinkingMode::Budget => match value {
            Some(EffortValue::Budget(budget)) if request.max_output.0 > 1024 => {
                let budget = (*budget).clamp(1024, request.max_output.0 - 1);
                object([("type", json!("enabled")), ("budget_tokens", json!(budget))])
            }
            _ => return false,
        },
    };
    let is_thinking = !(is_off || is_forced);
    if is_thinking && let Some(display) = &options.thinking_display {
        thinking.insert("display".to_owned(), json!(display));
    }
    body.insert("thinking".to_owned(), Value::Object(thinking));
    is_thinking
}

/// Adds the effort level and the schema of the answer.
fn add_output(
    body: &mut Map<String, Value>,
    options: &WireOptions,
    request: &ModelRequest,
) -> Result<(), Failure> {
    let mut output = Map::new();
    let effort = request
        .effort
        .and_then(|effort| options.effort.value(effort));
    if let Some(EffortValue::Word(word)) = effort {
        output.insert("effort".to_owned(), json!(word));
    }
    if let Some((schema, _)) = schema(request, options)? {
        let format = json!({ "type": "json_schema", "schema": schema });
        output.insert("format".to_owned(), format);
    }
    if !output.is_empty() {
        body.insert("output_config".to_owned(), Value::Object(output));
    }
    Ok(())
}

fn add_messages(history: &ChatHistory<'_>, options: &WireOptions, latest: &mut cache::CacheMarker) {
    let mut push = |role: &str, blocks: Vec<Value>| {
        if !blocks.is_empty() {
            latest.push(json!({ "role": role, "content": blocks }));
        }
    };
    for turn in history.grouped_turns() {
        match turn {
            HistoryTurn::Assistant(parts) => {
                let blocks = parts.iter().filter_map(|part| assistant(history, part));
                push("assistant", blocks.collect());
            }
            HistoryTurn::Others { results, messages } => {
                let results = results
                    .iter()
                    .filter_map(|part| result(history, part, options));
                let mut user: Vec<Value> = results.collect();
                for (role, parts) in messages {
                    let blocks = parts
                        .iter()
                        .filter_map(|part| plain(&part.content, options));
                    if role == Role::System && options.system_messages {
                        push("user", std::mem::take(&mut user));
                        push("system", blocks.collect());
                    } else {
                        user.extend(blocks);
                    }
                }
                push("user", user);
            }
        }
    }
}

/// Encodes a part of an assistant message. Returns `None` for an empty text, for reasoning without
/// a signature of this model, and for parts that the role cannot have.
fn assistant(history: &ChatHistory<'_>, part: &MessagePart) -> Option<Value> {
    match &part.content {
        PartContent::Text(text) if text.is_empty() => None,
        PartContent::Text(text) => Some(json!({ "type": "text", "text": text })),
        PartContent::Reasoning(text) => {
            // Reasoning without its signature is rejected, so another model's is omitted.
            let opaque = history.opaque(part)?;
            if let Some(data) = opaque.get("redacted") {
                return Some(json!({ "type": "redacted_thinking", "data": data }));
            }
            let signature = opaque.get("signature")?;
            Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
        }
        PartContent::ToolCall {
            id,
            name,
            arguments,
        } => Some(json!({
            "type": "tool_use",
            "id": history.id(id),
            "name": name,
            "input": history.arguments(name, arguments),
        })),
        PartContent::Image { .. } | PartContent::ToolResult { .. } => None,
    }
}

/// Encodes a tool's result, with its texts and images. Returns `None` for any other part.
fn result(history: &ChatHistory<'_>, part: &MessagePart, options: &WireOptions) -> Option<Value> {
    let PartContent::ToolResult {
        call,
        content,
        is_error,
    } = &part.content
    else {
        return None;
    };
    let content: Vec<Value> = content
        .iter()
        .filter_map(|part| plain(part, options))
        .collect();
    let mut block = object([
        ("type", json!("tool_result")),
        ("tool_use_id", json!(history.id(call))),
        ("content", Value::Array(content)),
    ]);
    if *is_error {
        block.insert("is_error".to_owned(), json!(true));
    }
    Some(Value::Object(block))
}

/// Encodes a text or an image; an image becomes a placeholder text if the model takes none. Returns
/// `None` for an empty text and for other content.
fn plain(content: &PartContent, options: &WireOptions) -> Option<Value> {
    match content {
        PartContent::Text(text) if text.is_empty() => None,
        PartContent::Text(text) => Some(json!({ "type": "text", "text": text })),
        PartContent::Image { media_type, bytes } if options.images => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": media_type, "data": base64(bytes) },
        })),
        PartContent::Image { .. } => Some(json!({ "type": "text", "text": NO_PICTURE })),
        _ => None,
    }
}
