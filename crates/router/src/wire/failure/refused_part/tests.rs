//! Tests which part of a request refusals refer to. The bodies are written by hand.

use serde_json::json;

use super::*;

const ONE: &[u8] = b"first picture";
const TWO: &[u8] = b"second picture";

fn anthropic() -> Value {
    let image = |bytes: &[u8]| {
        json!({
            "type": "image",
            "source": { "type": "base64", "media_type": "image/png", "data": STANDARD.encode(bytes) },
        })
    };
    json!({
        "model": "m", "max_tokens": 100, "stream": true, "temperature": 0.2,
        "thinking": { "type": "adaptive" }, "output_config": { "effort": "high" },
        "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "look" }, image(ONE)] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "hm", "signature": "s" },
                { "type": "tool_use", "id": "c", "name": "read", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "c", "content": [image(TWO)] },
            ] },
        ],
        "tools": [
            { "name": "read", "description": "", "input_schema": { "type": "object" }, "eager_input_streaming": true },
            { "name": "mcp__it__do", "description": "", "input_schema": { "type": "object" } },
        ],
    })
}

fn chat() -> Value {
    let url = |bytes: &[u8]| format!("data:image/png;base64,{}", STANDARD.encode(bytes));
    json!({
        "model": "m", "stream": true, "max_tokens": 100, "reasoning_effort": "high", "temperature": 0.2,
        "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": [
            { "type": "image_url", "image_url": { "url": url(ONE) } },
            { "type": "image_url", "image_url": { "url": url(TWO) } },
        ] }],
        "tools": [
            { "type": "function", "function": { "name": "read", "parameters": { "type": "object" } } },
            { "type": "function", "function": { "name": "mcp__it__do", "parameters": { "type": "object" } } },
        ],
    })
}

fn gemini() -> Value {
    let part = |bytes: &[u8]| json!({ "inlineData": { "mimeType": "image/png", "data": STANDARD.encode(bytes) } });
    json!({
        "contents": [{ "role": "user", "parts": [{ "text": "look" }, part(ONE), part(TWO)] }],
        "tools": [{ "functionDeclarations": [
            { "name": "read", "parametersJsonSchema": {} },
            { "name": "mcp__it__do", "parametersJsonSchema": {} },
        ] }],
        "generationConfig": { "maxOutputTokens": 9, "thinkingConfig": { "thinkingLevel": "high" } },
    })
}

fn found(status: u16, error: &str, sent: &Value) -> Option<RefusedPart> {
    let body = ErrorBody::read(error.as_bytes());
    let class = super::super::classify::class(Some(status), &body);
    refused(class, &body, sent.to_string().as_bytes())
}

fn check(status: u16, error: &str, sent: &Value, expected: &RefusedPart) {
    assert_eq!(
        found(status, error, sent).as_ref(),
        Some(expected),
        "{error}"
    );
}

fn image(bytes: &[u8]) -> RefusedPart {
    RefusedPart::Image {
        named: vec![bytes.into()],
        is_any: false,
    }
}

fn some_image() -> RefusedPart {
    RefusedPart::Image {
        named: Vec::new(),
        is_any: false,
    }
}

fn no_images() -> RefusedPart {
    RefusedPart::Image {
        named: Vec::new(),
        is_any: true,
    }
}

fn tool(name: &str) -> RefusedPart {
    RefusedPart::Tool {
        name: Some(name.to_owned()),
    }
}

fn member(name: &str) -> RefusedPart {
    RefusedPart::Member {
        name: name.to_owned(),
    }
}

fn says(message: &str) -> String {
    json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } })
        .to_string()
}

#[test]
fn path_to_an_image_identifies_it() {
    let size = "messages.2.content.0.tool_result.content.0.image.source.base64: image exceeds 5 MB maximum: 6 > 5";
    check(400, &says(size), &anthropic(), &image(TWO));
    let kind = "messages.0.content.1.image.source.base64.data: The image was specified using the image/png media type, \
                but the image appears to be a image/jpeg image";
    check(400, &says(kind), &anthropic(), &image(ONE));
    let openai = json!({ "error": {
        "message": "You uploaded an unsupported image.", "type": "invalid_request_error",
        "param": "messages[0].content[1].image_url", "code": "image_parse_error" } });
    check(400, &openai.to_string(), &chat(), &image(TWO));
    let google = json!([{ "error": { "code": 400, "status": "INVALID_ARGUMENT",
        "message": "Invalid value at 'contents[0].parts[2].inline_data.data' (TYPE_BYTES), Base64 decoding failed" } }]);
    check(400, &google.to_string(), &gemini(), &image(TWO));
    let fast = json!({ "detail": [{ "type": "value_error", "loc": ["body", "messages", 0, "content", 1],
        "msg": "cannot identify image file" }] });
    check(422, &fast.to_string(), &chat(), &image(TWO));
}

#[test]
fn image_errors_are_recognized_without_a_path() {
    for (status, words) in [
        (400, "Could not process image"),
        (400, "Provided image is not valid."),
        (400, "Unable to process input image. Please retry or report"),
        (415, "unsupported media type image/gif"),
        (500, "Failed to load image or audio file"),
        (
            500,
            "illegal base64 data at input byte 4, could not process image",
        ),
    ] {
        check(status, &says(words), &anthropic(), &some_image());
        assert_eq!(
            found(status, &says(words), &json!({ "messages": [] })),
            None,
            "{words}"
        );
    }
}

#[test]
fn missing_vision_differs_from_a_bad_image() {
    for (status, words) in [
        (400, "this model does not support images"),
        (404, "No endpoints found that support image input"),
        (
            500,
            "image input is not supported - hint: provide the mmproj",
        ),
        (400, "m is not a multimodal model"),
        (
            422,
            "messages[0]: unknown variant `image_url`, expected `text`",
        ),
    ] {
        check(status, &says(words), &chat(), &no_images());
    }
}

#[test]
fn tool_is_identified_by_index_or_name() {
    let place = "tools.1.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level";
    check(400, &says(place), &anthropic(), &tool("mcp__it__do"));
    let name = "tools.1.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
    check(400, &says(name), &anthropic(), &tool("mcp__it__do"));
    let long = json!({ "error": { "message": "Invalid 'tools[1].function.name': string too long.",
        "type": "invalid_request_error", "param": "tools[1].function.name", "code": "string_above_max_length" } });
    check(400, &long.to_string(), &chat(), &tool("mcp__it__do"));
    let schema = "Invalid schema for function 'mcp__it__do': schema must be a JSON Schema of 'type: \"object\"'";
    check(400, &says(schema), &chat(), &tool("mcp__it__do"));
    let google =
        "* GenerateContentRequest.tools[0].function_declarations[1].name: Invalid function name.";
    check(400, &says(google), &gemini(), &tool("mcp__it__do"));
    let conversion = "JSON schema conversion failed: Unrecognized schema: {}";
    check(
        400,
        &says(conversion),
        &chat(),
        &RefusedPart::Tool { name: None },
    );
}

#[test]
fn tool_count_limit_is_extracted() {
    let most = |most| RefusedPart::ToolCount { most };
    let openai = json!({ "error": { "message": "Invalid 'tools': array too long. Expected an array with maximum \
        length 128, but got an array with length 130 instead.", "type": "invalid_request_error",
        "param": "tools", "code": "array_above_max_length" } });
    check(400, &openai.to_string(), &chat(), &most(Some(128)));
    check(
        400,
        &says("Too many tools: at most 64 are allowed"),
        &chat(),
        &most(Some(64)),
    );
    check(
        400,
        &says("Too many functions declared"),
        &gemini(),
        &most(None),
    );
    check(
        400,
        &says("\"m\" does not support tools"),
        &chat(),
        &most(Some(0)),
    );
}

#[test]
fn reasoning_and_optional_members_are_distinguished() {
    let signature = "messages.1.content.0: Invalid `signature` in `thinking` block";
    check(400, &says(signature), &anthropic(), &RefusedPart::Reasoning);
    let encrypted = json!({ "error": { "message": "The encrypted content could not be verified.",
        "type": "invalid_request_error", "param": null, "code": "invalid_encrypted_content" } });
    check(
        400,
        &encrypted.to_string(),
        &chat(),
        &RefusedPart::Reasoning,
    );
    let temperature = json!({ "error": { "message": "Unsupported value: 'temperature' does not support 0.2 with this \
        model.", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value" } });
    check(
        400,
        &temperature.to_string(),
        &chat(),
        &member("temperature"),
    );
    check(
        400,
        &says("output_config.effort: Extra inputs are not permitted"),
        &anthropic(),
        &member("effort"),
    );
    let eager = "tools.0.custom.eager_input_streaming: Extra inputs are not permitted";
    check(
        400,
        &says(eager),
        &anthropic(),
        &member("eager_input_streaming"),
    );
    check(
        400,
        &says("adaptive thinking is not supported on this model"),
        &anthropic(),
        &member("thinking"),
    );
    check(
        400,
        &says("Unrecognized request argument supplied: reasoning_effort"),
        &chat(),
        &member("reasoning_effort"),
    );
    check(
        400,
        &says("\"m\" does not support thinking"),
        &chat(),
        &member("reasoning_effort"),
    );
    check(
        400,
        &says("Thinking level is not supported for this model"),
        &gemini(),
        &member("thinkingConfig"),
    );
    check(
        400,
        &says("Unknown name \"thinkingLevel\" at 'generation_config.thinking_config'"),
        &gemini(),
        &member("thinkingConfig"),
    );
}

#[test]
fn other_refusals_name_no_part() {
    for (status, words) in [
        (400, "messages: at least one message is required"),
        (400, "Bad request"),
        (429, "too many images for now"),
        (401, "this key may not send images"),
        (500, "Internal server error"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ] {
        assert_eq!(found(status, &says(words), &anthropic()), None, "{words}");
    }
}
