//! The providers' wire formats: parsers of requests, and encoders of answers.
//!
//! Every format is one module with the same functions; this module dispatches to them.

mod anthropic;
mod chat;
mod completions;
mod gemini;
mod infill;
mod lists;
mod ollama;
mod openai;
mod prompt;
mod responses;

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::{
    answer::ScriptedReply,
    api_error::{ApiError, ApiErrorKind},
    frames::Frames,
    limits::LimitHeaders,
    request::PromptRequest,
    script::Script,
    wire_format::WireFormat,
};

/// The creation time of answers, in seconds since 1970: fixed, so that equal requests get equal
/// bytes.
pub(crate) const CREATED: u64 = 1_767_225_600;

/// A received HTTP request whose body is parsed as JSON but not yet interpreted.
#[derive(Debug)]
pub(crate) struct Incoming<'a> {
    /// The path without the query.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    /// Names in lower case.
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: &'a Value,
}

/// The endpoint of a request, by its method and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiEndpoint {
    Answer(WireFormat),
    CountTokens(WireFormat),
    /// The model list of this wire.
    Models(WireFormat),
    /// llama.cpp's description of itself.
    Props,
    Unknown,
}

/// The HTTP response for an API error, in the provider's format.
#[derive(Debug)]
pub(crate) struct ErrorReply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
}

impl ApiEndpoint {
    /// Returns the endpoint of a request by its method and the end of its path, because proxies add
    /// arbitrary prefixes.
    pub(crate) fn of(method: &str, path: &str, headers: &[(String, String)]) -> Self {
        let path = path.trim_end_matches('/');
        if method == "POST" {
            let answers = [
                ("/messages", WireFormat::Anthropic),
                ("/responses", WireFormat::Responses),
                ("/chat/completions", WireFormat::Chat),
                (":streamGenerateContent", WireFormat::Gemini),
                (":generateContent", WireFormat::Gemini),
                ("/fim/completions", WireFormat::Mistral),
                // Inception's, for next edits: shaped like a chat.
                ("/edit/completions", WireFormat::Chat),
                ("/completions", WireFormat::Completions),
                ("/infill", WireFormat::Infill),
                ("/api/generate", WireFormat::Ollama),
            ];
            let counts = [
                ("/messages/count_tokens", WireFormat::Anthropic),
                (":countTokens", WireFormat::Gemini),
            ];
            let ends = |(end, wire): &(&str, WireFormat)| path.ends_with(end).then_some(*wire);
            return match (answers.iter().find_map(ends), counts.iter().find_map(ends)) {
                (Some(wire), _) => Self::Answer(wire),
                (None, Some(wire)) => Self::CountTokens(wire),
                (None, None) => Self::Unknown,
            };
        }
        if !matches!(method, "GET" | "HEAD") {
            return Self::Unknown;
        }
        let has = |name: &str| headers.iter().any(|(header, _)| header == name);
        match path {
            _ if path.ends_with("/api/tags") => Self::Models(WireFormat::Ollama),
            _ if path.ends_with("/props") => Self::Props,
            _ if path.ends_with("/v1beta/models") => Self::Models(WireFormat::Gemini),
            _ if path.ends_with("/models") && has("anthropic-version") => {
                Self::Models(WireFormat::Anthropic)
            }
            _ if path.ends_with("/models") && has("x-goog-api-key") => {
                Self::Models(WireFormat::Gemini)
            }
            _ if path.ends_with("/models") => Self::Models(WireFormat::Chat),
            _ => Self::Unknown,
        }
    }

    /// Returns the requested model list or server description; `None` for the other endpoints.
    pub(crate) fn description(self, script: &Script) -> Option<Value> {
        match self {
            Self::Models(WireFormat::Ollama) => Some(lists::ollama(script)),
            Self::Models(WireFormat::Gemini) => Some(lists::gemini(script)),
            Self::Models(WireFormat::Anthropic) => Some(lists::anthropic(script)),
            Self::Models(_) => Some(lists::openai(script)),
            Self::Props => Some(lists::props(script)),
            Self::Answer(_) | Self::CountTokens(_) | Self::Unknown => None,
        }
    }
}

impl WireFormat {
    /// Interprets a request by the provider's rules. `is_signed` returns whether the server issued
    /// a signature. Without it, only the form of signatures is checked.
    ///
    /// # Errors
    ///
    /// Returns the error that the provider would send for an invalid request.
    pub(crate) fn read(
        self,
        incoming: &Incoming,
        is_signed: Option<&dyn Fn(&str) -> bool>,
    ) -> Result<PromptRequest, ApiError> {
        match self {
            Self::Anthropic => anthropic::read(incoming, is_signed),
            Self::Responses => responses::read(incoming, is_signed),
            Self::Chat => chat::read(incoming, is_signed.is_some()),
            Self::Gemini => gemini::read(incoming, is_signed),
            Self::Infill => infill::read(incoming),
            Self::Completions | Self::Mistral => completions::read(self, incoming),
            Self::Ollama => ollama::read(incoming),
            Self::Direct => Err(ApiError::invalid("a client inside the process has no wire")),
        }
    }

    /// Encodes the answer as the events of a stream and adds them to `frames`.
    pub(crate) fn stream(
        self,
        request: &PromptRequest,
        answer: &ScriptedReply,
        frames: &mut Frames,
    ) {
        match self {
            Self::Anthropic => anthropic::stream(request, answer, frames),
            Self::Responses => responses::stream(request, answer, frames),
            Self::Chat => chat::stream(request, answer, frames),
            Self::Gemini => gemini::stream(request, answer, frames),
            Self::Infill => infill::stream(request, answer, frames),
            Self::Completions | Self::Mistral => completions::stream(request, answer, frames),
            Self::Ollama => ollama::stream(answer, frames),
            Self::Direct => {}
        }
    }

    /// Encodes the answer as a single JSON body, for requests without streaming.
    pub(crate) fn full_body(
        self,
        request: &PromptRequest,
        answer: &ScriptedReply,
        frames: &mut Frames,
    ) -> Value {
        match self {
            Self::Anthropic => anthropic::full_body(request, answer),
            Self::Responses => responses::full_body(request, answer, frames),
            Self::Chat => chat::full_body(answer),
            Self::Gemini => gemini::full_body(request, answer),
            Self::Infill => infill::full_body(request, answer),
            Self::Completions | Self::Mistral => completions::full_body(request, answer),
            Self::Ollama => ollama::full_body(answer),
            Self::Direct => Value::Null,
        }
    }

    /// Returns the provider's response body to a request to count tokens.
    pub(crate) fn token_count(self, tokens: u64) -> Value {
        match self {
            Self::Gemini => serde_json::json!({ "totalTokens": tokens }),
            _ => serde_json::json!({ "input_tokens": tokens }),
        }
    }

    /// Returns a stream's content type. Gemini streams a JSON array unless events are requested.
    pub(crate) fn content_type(self, request: &PromptRequest) -> &'static str {
        match self {
            Self::Ollama if request.stream => "application/x-ndjson",
            _ if request.stream && !request.options.is_events => "application/json",
            _ if request.stream => "text/event-stream; charset=utf-8",
            _ => "application/json",
        }
    }

    /// Encodes an API error as the provider's HTTP response.
    pub(crate) fn refuse(self, error: &ApiError, model: &str, request_id: &str) -> ErrorReply {
        let (default, body) = match self {
            Self::Anthropic => anthropic::error(error, model, request_id),
            Self::Gemini => gemini::error(error, model),
            Self::Ollama => ollama::error(error, model),
            _ => openai::error(error, model),
        };
        let status = error.status.unwrap_or(default);
        let mut headers: Vec<(String, String)> = error
            .headers
            .iter()
            .map(|(name, value)| (name.to_lowercase(), value.clone()))
            .collect();
        if let Some(wait) = error.retry_after
            && self != Self::Gemini
        {
            // Whole seconds, rounded up: an earlier attempt would fail again.
            let seconds = wait.as_secs_f64().ceil();
            if matches!(self, Self::Responses | Self::Chat) {
                headers.push(("retry-after-ms".to_owned(), wait.as_millis().to_string()));
            }
            headers.push(("retry-after".to_owned(), format!("{seconds}")));
        }
        let (content_type, body) = if error.kind == ApiErrorKind::Html {
            ("text/html", page(status).into_bytes())
        } else {
            ("application/json", body.to_string().into_bytes())
        };
        ErrorReply {
            status,
            headers,
            content_type,
            body,
        }
    }

    /// Returns the bytes of the event for an error within a stream.
    pub(crate) fn error_event(self, answer: &ScriptedReply) -> Vec<u8> {
        let error = ApiError::new(ApiErrorKind::Overloaded);
        match self {
            Self::Anthropic => {
                let (_, body) = anthropic::error(&error, &answer.model, "");
                format!("event: error\ndata: {body}\n\n").into_bytes()
            }
            Self::Responses => responses::failure(answer),
            Self::Gemini => {
                let (_, body) = gemini::error(&error, &answer.model);
                format!("data: {body}\r\n\r\n").into_bytes()
            }
            Self::Ollama => {
                let (_, body) = ollama::error(&error, &answer.model);
                format!("{body}\n").into_bytes()
            }
            _ => {
                let (_, body) = openai::error(&error, &answer.model);
                format!("data: {body}\n\n").into_bytes()
            }
        }
    }

    /// Returns the rate-limit headers by name, in the provider's format. Returns an empty list for
    /// providers without such headers. `now` is the time of day, which some formats include.
    pub(crate) fn limit_headers(
        self,
        limit_headers: LimitHeaders,
        now: SystemTime,
    ) -> Vec<(&'static str, String)> {
        match self {
            Self::Anthropic => anthropic::limit_headers(limit_headers, now),
            Self::Gemini | Self::Ollama | Self::Infill | Self::Direct => Vec::new(),
            Self::Responses | Self::Chat | Self::Completions | Self::Mistral => {
                openai::limit_headers(limit_headers)
            }
        }
    }

    /// Returns the name of the header with the request id. Returns `None` if the provider sends no
    /// such header.
    pub(crate) fn request_id_header(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("request-id"),
            Self::Responses | Self::Chat | Self::Completions => Some("x-request-id"),
            Self::Mistral => Some("mistral-correlation-id"),
            Self::Gemini | Self::Ollama | Self::Infill | Self::Direct => None,
        }
    }
}

/// Returns the error page of a proxy in front of the provider.
fn page(status: u16) -> String {
    format!(
        "<html>\r\n<head><title>{status}</title></head>\r\n<body>\r\n<center><h1>{status}</h1></center>\r\n\
         <hr><center>proxy</center>\r\n</body>\r\n</html>\r\n"
    )
}

/// Formats a duration as OpenAI writes it: `1m30s`, `12ms`.
fn go_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    let (minutes, seconds) = (millis / 60_000, (millis % 60_000) as f64 / 1e3);
    match (minutes, millis) {
        (0, ..1000) => format!("{millis}ms"),
        (0, _) => format!("{seconds}s"),
        _ => format!("{minutes}m{seconds}s"),
    }
}
