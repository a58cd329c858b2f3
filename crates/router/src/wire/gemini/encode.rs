//! Encodes a request for Gemini.

use model::{Failure, MessagePart, ModelRequest, PartContent, ToolChoice};
use serde_json::{Map, Value, json};

use super::super::body::BodyItems;
use super::super::history::{
    ChatHistory, HistoryTurn, IdRule, NO_PICTURE, add_sampling, base64, headers, json_tool,
    result_text, schema, tool_choice,
};
use super::super::json::object;
use super::super::options::{EffortValue, SchemaSupport, WireOptions};
use super::super::{EncodedRequest, EndpointPath};
use super::decode::OWN_ID;

/// Encodes a chat request. Fails if the model does not support it.
pub(crate) fn encode(
    options: &WireOptions,
    request: &ModelRequest,
) -> Result<EncodedRequest, Failure> {
    let history = ChatHistory::new(request, IdRule::Any);
    let mut body = Map::new();
    let system = request.system.iter().filter(|block| !block.text.is_empty());
    let system: Vec<Value> = system.map(|block| json!({ "text": block.text })).collect();
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({ "parts": system }));
    }
    add_tools(&mut body, options, request);
    let mut contents = BodyItems::with_room(request);
    add_contents(&history, options, &mut contents);
    let config = object([("generationConfig", generation(options, request)?)]);
    let model = request.model.model.trim_start_matches("models/");
    Ok(EncodedRequest {
        path: EndpointPath::Root(format!(
            "v1beta/models/{model}:streamGenerateContent?alt=sse"
        )),
        headers: headers(options),
        body: contents.finish(body, "contents", config, options),
    })
}

fn add_tools(body: &mut Map<String, Value>, options: &WireOptions, request: &ModelRequest) {
    if request.tools.is_empty() {
        return;
    }
    let tools = request.tools.iter().map(|spec| {
        let (description, schema) = json_tool(spec, options);
        json!({ "name": spec.name, "description": description, "parametersJsonSchema": schema })
    });
    let tools: Vec<Value> = tools.collect();
    body.insert(
        "tools".to_owned(),
        json!([{ "functionDeclarations": tools }]),
    );
    let config = match tool_choice(request, options) {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    };
    body.insert(
        "toolConfig".to_owned(),
        json!({ "functionCallingConfig": config }),
    );
}

/// Returns the body's `generationConfig`: limits, sampling, thinking and response format. Fails if
/// the request has a schema and the model supports none.
fn generation(options: &WireOptions, request: &ModelRequest) -> Result<Value, Failure> {
    let mut config = object([("maxOutputTokens", json!(request.max_output.0))]);
    add_sampling(
        &mut config,
        request.sampling,
        options,
        ["temperature", "topP"],
    );
    if !request.stop.is_empty() {
        config.insert("stopSequences".to_owned(), json!(request.stop));
    }
    let mut thinking = Map::new();
    match request
        .effort
        .and_then(|effort| options.effort.value(effort))
    {
        Some(EffortValue::Word(word)) => {
            thinking.insert("includeThoughts".to_owned(), json!(true));
            thinking.insert("thinkingLevel".to_owned(), json!(word));
        }
        Some(EffortValue::Budget(budget)) => {
            thinking.insert("includeThoughts".to_owned(), json!(*budget > 0));
            thinking.insert("thinkingBudget".to_owned(), json!(budget));
        }
        Some(EffortValue::Switch(false)) => {
            thinking.insert("thinkingBudget".to_owned(), json!(0));
        }
        Some(EffortValue::Switch(true)) => {
            thinking.insert("includeThoughts".to_owned(), json!(true));
        }
        None => {}
    }
    if !thinking.is_empty() {
        config.insert("thinkingConfig".to_owned(), Value::Object(thinking));
    }
    if let Some((schema, support)) = schema(request, options)? {
        config.insert("responseMimeType".to_owned(), json!("application/json"));
        if support == SchemaSupport::Native {
            config.insert("responseJsonSchema".to_owned(), schema.clone());
        }
    }
    Ok(Value::Object(config))
}

fn add_contents(history: &ChatHistory<'_>, options: &WireOptions, contents: &mut BodyItems) {
    let mut push = |role: &str, parts: Vec<Value>| {
        if !parts.is_empty() {
            contents.push(&json!({ "role": role, "parts": parts }));
        }
    };
    for turn in history.grouped_turns() {
        match turn {
            HistoryTurn::Assistant(parts) => {
                push(
                    "model",
                    parts
                        .iter()
                        .flat_map(|part| written(history, part))
                        .collect(),
                );
            }
            HistoryTurn::Others { results, messages } => {
                let mut user = Vec::new();
                let mut pictures = Vec::new();
                for part in results {
                    user.extend(result(history, part, options, &mut pictures));
                }
                user.extend(pictures);
                let parts = messages.iter().flat_map(|(_, parts)| parts);
                user.extend(parts.filter_map(|part| plain(&part.content, options)));
                push("user", user);
            }
        }
    }
}

/// Encodes a part of the model's. Its signature returns on the same part that carried it.
fn written(history: &ChatHistory<'_>, part: &MessagePart) -> Vec<Value> {
    let opaque = history.opaque(part).unwrap_or_default();
    let signature = opaque.get("thoughtSignature").cloned();
    let from = opaque
        .get("from")
        .and_then(Value::as_u64)
        .unwrap_or_default() as usize;
    let signed = |mut part: Value| {
        if let Some(signature) = &signature {
            part["thoughtSignature"] = signature.clone();
        }
        part
    };
    match &part.content {
        PartContent::Text(text) => {
            let (before, after) = match from {
                0 => ("", text.as_str()),
                from => text.split_at_checked(from).unwrap_or(("", text)),
            };
            let mut parts = Vec::new();
            if !before.is_empty() {
                parts.push(json!({ "text": before }));
            }
            if !after.is_empty() || signature.is_some() {
                parts.push(signed(json!({ "text": after })));
            }
            parts
        }
        PartContent::Reasoning(_) if opaque.get("plain").is_some() => {
            vec![signed(json!({ "text": "" }))]
        }
        // The model needs only the signature of its reasoning.
        PartContent::Reasoning(text) if signature.is_some() => {
            vec![signed(json!({ "text": text, "thought": true }))]
        }
        PartContent::ToolCall {
            id,
            name,
            arguments,
        } => {
            let mut call = object([
                ("name", json!(name)),
                ("args", history.arguments(name, arguments)),
            ]);
            if !id.starts_with(OWN_ID) {
                call.insert("id".to_owned(), json!(id));
            }
            vec![signed(json!({ "functionCall": call }))]
        }
        _ => Vec::new(),
    }
}

/// Encodes a tool's result and appends its images to `pictures`, since the result holds only text.
/// Returns `None` for any other part.
fn result(
    history: &ChatHistory<'_>,
    part: &MessagePart,
    options: &WireOptions,
    pictures: &mut Vec<Value>,
) -> Option<Value> {
    let PartContent::ToolResult {
        call,
        content,
        is_error,
    } = &part.content
    else {
        return None;
    };
    let shown = content
        .iter()
        .filter(|it| matches!(it, PartContent::Image { .. }));
    pictures.extend(shown.filter_map(|picture| plain(picture, options)));
    let member = if *is_error { "error" } else { "output" };
    let mut response = object([
        ("name", json!(history.tool_of(call))),
        ("response", json!({ member: result_text(content) })),
    ]);
    if !call.starts_with(OWN_ID) {
        response.insert("id".to_owned(), json!(call));
    }
    Some(json!({ "functionResponse": response }))
}

/// Encodes a text or an image; an image becomes a placeholder text if the model takes none. Returns
/// `None` for an empty text and for other content.
fn plain(content: &PartContent, options: &WireOptions) -> Option<Value> {
    match content {
        PartContent::Text(text) if text.is_empty() => None,
        PartContent::Text(text) => Some(json!({ "text": text })),
        PartContent::Image { media_type, bytes } if options.images => {
            Some(json!({ "inlineData": { "mimeType": media_type, "data": base64(bytes) } }))
        }
        PartContent::Image { .. } => Some(json!({ "text": NO_PICTURE })),
        _ => None,
    }
}
