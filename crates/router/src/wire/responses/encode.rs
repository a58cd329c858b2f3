//! Encodes a request for OpenAI Responses. Nothing is stored on the server: each request contains
//! the conversation.

use model::{
    Failure, MessagePart, ModelRequest, PartContent, Role, SchemaQuirk, ToolChoice, ToolInput,
    ToolSpec,
};
use serde_json::{Map, Value, json};

use super::super::body::BodyItems;
use super::super::history::{
    ChatHistory, HistoryTurn, IdRule, NO_PICTURE, add_sampling, data_url, headers, json_tool,
    result_text, schema, tool_choice,
};
use super::super::json::object;
use super::super::options::{EffortValue, SchemaSupport, WireOptions};
use super::super::schema::is_strict;
use super::super::{EncodedRequest, EndpointPath};

/// Encodes a chat request. Fails if the model does not support it.
pub(crate) fn encode(
    options: &WireOptions,
    request: &ModelRequest,
) -> Result<EncodedRequest, Failure> {
    let history = ChatHistory::new(request, IdRule::Word);
    let mut head = object([("model", json!(request.model.model))]);
    let system: Vec<&str> = request
        .system
        .iter()
        .map(|block| block.text.as_str())
        .collect();
    if !system.is_empty() {
        head.insert("instructions".to_owned(), json!(system.join("\n\n")));
    }
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|spec| tool(spec, options))
            .collect();
        head.insert("tools".to_owned(), Value::Array(tools));
        head.insert("tool_choice".to_owned(), choice(request, &history, options));
        head.insert(
            "parallel_tool_calls".to_owned(),
            json!(request.parallel_tools && options.parallel_tools),
        );
    }
    let mut items = BodyItems::with_room(request);
    add_input(&history, options, &mut items);
    let mut body = object([("max_output_tokens", json!(request.max_output.0))]);
    add_reasoning(&mut body, options, request);
    add_sampling(
        &mut body,
        request.sampling,
        options,
        ["temperature", "top_p"],
    );
    if let Some((schema, support)) = schema(request, options)? {
        let format = match support {
            SchemaSupport::Native => {
                json!({ "type": "json_schema", "name": "answer", "schema": schema, "strict": false })
            }
            _ => json!({ "type": "json_object" }),
        };
        body.insert("text".to_owned(), json!({ "format": format }));
    }
    if let Some(conversation) = &request.conversation {
        body.insert("prompt_cache_key".to_owned(), json!(conversation));
    }
    body.insert("store".to_owned(), json!(false));
    body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    body.insert("stream".to_owned(), json!(true));
    Ok(EncodedRequest {
        path: EndpointPath::Base("responses".to_owned()),
        headers: headers(options),
        body: items.finish(head, "input", body, options),
    })
}

fn add_reasoning(body: &mut Map<String, Value>, options: &WireOptions, request: &ModelRequest) {
    // A model without efforts does not reason, and rejects the member.
    if options.effort.is_empty() {
        return;
    }
    let mut reasoning = Map::new();
    let effort = request
        .effort
        .and_then(|effort| options.effort.value(effort));
    if let Some(EffortValue::Word(word)) = effort {
        reasoning.insert("effort".to_owned(), json!(word));
    }
    if let Some(display) = &options.thinking_display {
        reasoning.insert("summary".to_owned(), json!(display));
    }
    if !reasoning.is_empty() {
        body.insert("reasoning".to_owned(), Value::Object(reasoning));
    }
}

fn tool(spec: &ToolSpec, options: &WireOptions) -> Value {
    match &spec.input {
        ToolInput::Text { grammar } if options.text_tools => {
            let format = match grammar {
                Some(grammar) => {
                    json!({ "type": "grammar", "syntax": "lark", "definition": grammar })
                }
                None => json!({ "type": "text" }),
            };
            json!({
                "type": "custom",
                "name": spec.name,
                "description": spec.description,
                "format": format,
            })
        }
        _ => {
            let (description, schema) = json_tool(spec, options);
            // Strict is the default there, but supports few schemas.
            let strict = options.schema_quirks.contains(&SchemaQuirk::Strict) && is_strict(&schema);
            json!({
                "type": "function",
                "name": spec.name,
                "description": description,
                "parameters": schema,
                "strict": strict,
            })
        }
    }
}

fn choice(request: &ModelRequest, history: &ChatHistory<'_>, options: &WireOptions) -> Value {
    match tool_choice(request, options) {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => {
            let is_custom = options.text_tools && history.takes_text(name);
            let kind = if is_custom { "custom" } else { "function" };
            json!({ "type": kind, "name": name })
        }
    }
}

fn add_input(history: &ChatHistory<'_>, options: &WireOptions, input: &mut BodyItems) {
    for turn in history.grouped_turns() {
        match turn {
            HistoryTurn::Assistant(parts) => {
                let items = parts
                    .iter()
                    .filter_map(|part| assistant(history, part, options));
                items.for_each(|item| input.push(&item));
            }
            HistoryTurn::Others { results, messages } => {
                let results = results
                    .iter()
                    .filter_map(|part| result(history, part, options));
                results.for_each(|result| input.push(&result));
                for (role, parts) in messages {
                    let role = if role == Role::System {
                        "developer"
                    } else {
                        "user"
                    };
                    let content = parts
                        .iter()
                        .filter_map(|part| plain(&part.content, options));
                    let content: Vec<Value> = content.collect();
                    input.push(&json!({ "type": "message", "role": role, "content": content }));
                }
            }
        }
    }
}

/// Encodes a part of an assistant message as an item. Returns `None` for an empty text, for
/// reasoning without this model's item, and for parts that the role cannot have.
fn assistant(
    history: &ChatHistory<'_>,
    part: &MessagePart,
    options: &WireOptions,
) -> Option<Value> {
    match &part.content {
        PartContent::Text(text) if text.is_empty() => None,
        PartContent::Text(text) => {
            let mut message = object([
                ("type", json!("message")),
                ("role", json!("assistant")),
                ("content", json!([{ "type": "output_text", "text": text }])),
            ]);
            if let Some(phase) = history.opaque(part).and_then(|mut opaque| {
                let phase = opaque.get_mut("phase")?;
                Some(phase.take())
            }) {
                message.insert("phase".to_owned(), phase);
            }
            Some(Value::Object(message))
        }
        // The whole item, verbatim; without it there is nothing that the model could read.
        PartContent::Reasoning(_) => {
            let opaque = history.opaque(part)?;
            opaque.get("item").filter(|item| item.is_object()).cloned()
        }
        PartContent::ToolCall {
            id,
            name,
            arguments,
        } => {
            let id = history.id(id);
            let is_text = history.takes_text(name);
            if is_text && options.text_tools {
                return Some(json!({
                    "type": "custom_tool_call",
                    "call_id": id,
                    "name": name,
                    "input": arguments,
                }));
            }
            let arguments = if is_text || serde_json::from_str::<Value>(arguments).is_err() {
                history.arguments(name, arguments).to_string()
            } else {
                arguments.clone()
            };
            Some(json!({
                "type": "function_call",
                "call_id": id,
                "name": name,
                "arguments": arguments,
            }))
        }
        PartContent::Image { .. } | PartContent::ToolResult { .. } => None,
    }
}

/// Encodes a tool's result: as a list if it contains an image, else as one text. Returns `None` for
/// any other part.
fn result(history: &ChatHistory<'_>, part: &MessagePart, options: &WireOptions) -> Option<Value> {
    let PartContent::ToolResult {
        call,
        content,
        is_error,
    } = &part.content
    else {
        return None;
    };
    let is_custom = options.text_tools && history.takes_text(history.tool_of(call));
    let kind = if is_custom {
        "custom_tool_call_output"
    } else {
        "function_call_output"
    };
    let has_picture = content
        .iter()
        .any(|content| matches!(content, PartContent::Image { .. }));
    let output = if has_picture {
        Value::Array(
            content
                .iter()
                .filter_map(|part| plain(part, options))
                .collect(),
        )
    } else {
        // There is no error flag: the text contains it.
        let text = result_text(content);
        if *is_error && !text.to_lowercase().contains("error") {
            json!(format!("Error: {text}"))
        } else {
            json!(text)
        }
    };
    Some(json!({ "type": kind, "call_id": history.id(call), "output": output }))
}

/// Encodes a text or an image; an image becomes a placeholder text if the model takes none. Returns
/// `None` for other content.
fn plain(content: &PartContent, options: &WireOptions) -> Option<Value> {
    match content {
        PartContent::Text(text) => Some(json!({ "type": "input_text", "text": text })),
        PartContent::Image { media_type, bytes } if options.images => Some(json!({
            "type": "input_image",
            "image_url": data_url(media_type, bytes),
        })),
        PartContent::Image { .. } => Some(json!({ "type": "input_text", "text": NO_PICTURE })),
        _ => None,
    }
}
