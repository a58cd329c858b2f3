//! Model lists in each provider's format, and the properties that llama.cpp reports.

use serde_json::{Value, json};

use super::CREATED;
use crate::script::Script;

/// The default context of a model, in tokens.
const CONTEXT: u64 = 128_000;

pub(super) fn openai(script: &Script) -> Value {
    let models = script.models.keys().map(
        |name| json!({ "id": name, "object": "model", "created": CREATED, "owned_by": "mockllm" }),
    );
    json!({ "object": "list", "data": models.collect::<Value>() })
}

pub(super) fn anthropic(script: &Script) -> Value {
    let models = script.models.keys().map(|name| {
        json!({
            "type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z",
        })
    });
    json!({
        "data": models.collect::<Value>(),
        "has_more": false,
        "first_id": script.models.keys().next(),
        "last_id": script.models.keys().next_back(),
    })
}

pub(super) fn gemini(script: &Script) -> Value {
    let models = script.models.iter().map(|(name, facts)| {
        json!({
            "name": format!("models/{name}"),
            "displayName": name,
            "inputTokenLimit": facts.context.unwrap_or(CONTEXT),
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        })
    });
    json!({ "models": models.collect::<Value>() })
}

pub(super) fn ollama(script: &Script) -> Value {
    let models = script.models.keys().map(|name| {
        json!({
            "name": name, "model": name, "modified_at": "2026-01-01T00:00:00Z", "size": 0, "digest": "",
            "details": { "format": "script", "family": "mockllm", "parameter_size": "0" },
        })
    });
    json!({ "models": models.collect::<Value>() })
}

pub(super) fn props(script: &Script) -> Value {
    let first = script.models.iter().next();
    let context = first
        .and_then(|(_, facts)| facts.context)
        .unwrap_or(CONTEXT);
    json!({
        "default_generation_settings": { "n_ctx": context },
        "total_slots": 1,
        "model_path": first.map_or("mockllm", |(name, _)| name),
        "chat_template": "",
        "modalities": { "vision": false, "audio": false },
        "build_info": "mockllm",
    })
}
