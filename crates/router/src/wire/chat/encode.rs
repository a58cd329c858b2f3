//! A request as OpenAI Chat takes it.

use model::{
    CacheMark, Content, Failure, Part, ReasoningReplay, Request, Role, SchemaQuirk, ToolChoice,
    ToolSpec,
};
use serde_json::{Map, Value, json};

use super::super::body::Items;
use super::super::dialect::Dialect;
use super::super::history::{
    History, NO_PICTURE, Turn, add_sampling, data_url, headers, json_tool, result_text, schema,
    tool_choice,
};
use super::super::json::object;
use super::super::options::{EffortValue, SchemaSupport, WireOptions};
use super::super::schema::is_strict;
use super::super::{Encoded, Path};

pub(crate) fn encode(
    dialect: &Dialect,
    options: &WireOptions,
    request: &Request,
) -> Result<Encoded, Failure> {
    let history = History::new(request, dialect.ids);
    let writer = Writer {
        dialect,
        options,
        history: &history,
    };
    let mut messages = Items::with_room(request);
    writer.add_system(request, &mut messages);
    let turns = history.turns();
    let person = turns
        .iter()
        .rposition(Turn::is_from_person)
        .unwrap_or_default();
    for (at, turn) in turns.into_iter().enumerate() {
        writer.add_turn(turn, at > person, &mut messages);
    }
    let model = object([("model", json!(request.model.model))]);
    let mut body = Map::new();
    add_tools(&mut body, dialect, options, request);
    body.insert(dialect.max_tokens.clone(), json!(request.max_output.0));
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
    Ok(Encoded {
        path: Path::Base("chat/completions".to_owned()),
        headers,
        body: messages.finish(model, "messages", body, options),
    })
}

fn add_tools(
    body: &mut Map<String, Value>,
    dialect: &Dialect,
    options: &WireOptions,
    request: &Request,
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
    dialect: &Dialect,
    options: &WireOptions,
    request: &Request,
) {
    let value = request
        .effort
        .and_then(|effort| options.effort.value(effort));
    match value {
        Some(EffortValue::Word(word)) => put(body, &dialect.effort, json!(word)),
        Some(EffortValue::Budget(budget)) => put(body, &dialect.effort_budget, json!(budget)),
        Some(EffortValue::Switch(on)) => put(body, &dialect.effort_switch, json!(on)),
        None => {}
    }
}

/// Writes `value` at a pointer, with the objects on the way.
fn put(body: &mut Map<String, Value>, pointer: &str, value: Value) {
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
                put(inner, &format!("/{rest}"), value);
            }
        }
    }
}

struct Writer<'a> {
    dialect: &'a Dialect,
    options: &'a WireOptions,
    history: &'a History<'a>,
}

impl<'a> Writer<'a> {
    fn add_system(&self, request: &Request, messages: &mut Items) {
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

    fn add_turn(&self, turn: Turn<'a>, is_same_turn: bool, messages: &mut Items) {
        match turn {
            Turn::Assistant(parts) => messages.push(&self.assistant(&parts, is_same_turn)),
            Turn::Others {
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

    /// `is_same_turn`: the person has said nothing since.
    fn assistant(&self, parts: &[&'a Part], is_same_turn: bool) -> Value {
        let mut texts = String::new();
        let mut thoughts = String::new();
        let mut details = Vec::new();
        let mut calls = Vec::new();
        for part in parts {
            match &part.content {
                Content::Text(text) => texts.push_str(text),
                Content::Reasoning(text) => {
                    thoughts.push_str(text);
                    if let Some(Value::Array(items)) = self
                        .history
                        .opaque(part)
                        .and_then(|mut opaque| opaque.get_mut("reasoning_details").map(Value::take))
                    {
                        details.extend(items);
                    }
                }
                Content::ToolCall {
                    id,
                    name,
                    arguments,
                } => calls.push(self.call(part, id, name, arguments)),
                Content::Image { .. } | Content::ToolResult { .. } => {}
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

    fn call(&self, part: &Part, id: &'a str, name: &str, arguments: &str) -> Value {
        let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|it| it.is_object());
        let arguments = match is_object && !self.history.takes_text(name) {
            true => arguments.to_owned(),
            false => self.history.arguments(name, arguments).to_string(),
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

    /// A tool's message. Pictures do not fit into it: a user message after all results shows them.
    fn result(&self, part: &'a Part, pictures: &mut Vec<Value>) -> Option<Value> {
        let Content::ToolResult {
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
            .filter(|it| matches!(it, Content::Image { .. }));
        for picture in shown {
            if pictures.is_empty() {
                let lead = "Pictures from the tool results above:";
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

    /// Texts alone are one string, which every server takes.
    fn content(&self, parts: &[&Part]) -> Value {
        let has_picture = parts
            .iter()
            .any(|part| matches!(part.content, Content::Image { .. }));
        if has_picture && self.options.images {
            let parts = parts.iter().filter_map(|part| self.plain(&part.content));
            return Value::Array(parts.collect());
        }
        let texts = parts.iter().filter_map(|part| match &part.content {
            Content::Text(text) => Some(text.as_str()),
            Content::Image { .. } => Some(NO_PICTURE),
            _ => None,
        });
        json!(texts.collect::<Vec<_>>().join("\n\n"))
    }

    fn plain(&self, content: &Content) -> Option<Value> {
        match content {
            Content::Text(text) => Some(json!({ "type": "text", "text": text })),
            Content::Image { media_type, bytes } if self.options.images => Some(json!({
                "type": "image_url",
                "image_url": { "url": data_url(media_type, bytes) },
            })),
            Content::Image { .. } => Some(json!({ "type": "text", "text": NO_PICTURE })),
            _ => None,
        }
    }
}
