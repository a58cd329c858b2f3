//! The providers' wires: how a request is read and how an answer is written, for each.
//!
//! Every wire is one module with the same few functions; this one knows which is which.

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

use serde::Deserialize;
use serde_json::Value;

use crate::{
    answer::Answer,
    asked::Asked,
    frames::Frames,
    limits::Standing,
    rng::Rng,
    script::{Dialect, Script},
    trouble::{Kind, Trouble},
};

/// The wires, by their names in scripts.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions and everything that speaks it.
    Chat,
    /// Gemini generateContent.
    Gemini,
    /// llama.cpp's `/infill`.
    Infill,
    /// `/v1/completions` and DeepSeek's `/beta/completions`.
    Completions,
    /// Mistral's `/v1/fim/completions`.
    Mistral,
    /// Ollama's `/api/generate`.
    Ollama,
    /// No wire: a client inside the process.
    Direct,
}

/// When answers say they were made, in seconds since 1970: fixed, so that equal requests get equal bytes.
pub(crate) const CREATED: u64 = 1_767_225_600;

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Incoming<'a> {
    /// Without the query.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    /// Names in lower case.
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: &'a Value,
}

/// What a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Answer(Wire),
    CountTokens(Wire),
    /// A list of models in the words of this wire.
    Models(Wire),
    /// llama.cpp's description of itself.
    Props,
    Nothing,
}

/// An error in a wire's words.
#[derive(Debug)]
pub(crate) struct ErrorReply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
}

impl Route {
    /// What a request asks for, told by its method and the end of its path, as providers are reached through
    /// proxies under all kinds of prefixes.
    pub(crate) fn of(method: &str, path: &str, headers: &[(String, String)]) -> Self {
        let path = path.trim_end_matches('/');
        if method == "POST" {
            let answers = [
                ("/messages", Wire::Anthropic),
                ("/responses", Wire::Responses),
                ("/chat/completions", Wire::Chat),
                (":streamGenerateContent", Wire::Gemini),
                (":generateContent", Wire::Gemini),
                ("/fim/completions", Wire::Mistral),
                // Inception's, for next edits: shaped like a chat.
                ("/edit/completions", Wire::Chat),
                ("/completions", Wire::Completions),
                ("/infill", Wire::Infill),
                ("/api/generate", Wire::Ollama),
            ];
            let counts = [
                ("/messages/count_tokens", Wire::Anthropic),
                (":countTokens", Wire::Gemini),
            ];
            let ends = |(end, wire): &(&str, Wire)| path.ends_with(end).then_some(*wire);
            return match (answers.iter().find_map(ends), counts.iter().find_map(ends)) {
                (Some(wire), _) => Self::Answer(wire),
                (None, Some(wire)) => Self::CountTokens(wire),
                (None, None) => Self::Nothing,
            };
        }
        if !matches!(method, "GET" | "HEAD") {
            return Self::Nothing;
        }
        let has = |name: &str| headers.iter().any(|(header, _)| header == name);
        match path {
            _ if path.ends_with("/api/tags") => Self::Models(Wire::Ollama),
            _ if path.ends_with("/props") => Self::Props,
            _ if path.ends_with("/v1beta/models") => Self::Models(Wire::Gemini),
            _ if path.ends_with("/models") && has("anthropic-version") => {
                Self::Models(Wire::Anthropic)
            }
            _ if path.ends_with("/models") && has("x-goog-api-key") => Self::Models(Wire::Gemini),
            _ if path.ends_with("/models") => Self::Models(Wire::Chat),
            _ => Self::Nothing,
        }
    }

    /// The list or description that is asked for.
    pub(crate) fn description(self, script: &Script) -> Option<Value> {
        match self {
            Self::Models(Wire::Ollama) => Some(lists::ollama(script)),
            Self::Models(Wire::Gemini) => Some(lists::gemini(script)),
            Self::Models(Wire::Anthropic) => Some(lists::anthropic(script)),
            Self::Models(_) => Some(lists::openai(script)),
            Self::Props => Some(lists::props(script)),
            Self::Answer(_) | Self::CountTokens(_) | Self::Nothing => None,
        }
    }
}

impl Wire {
    /// Whether its provider caches only where the request marks it.
    pub(crate) fn caches_where_marked(self) -> bool {
        matches!(self, Self::Anthropic | Self::Direct)
    }

    /// Reads a request. `is_signed` tells whether a signature was given out; without it nothing is checked
    /// beyond the form.
    pub(crate) fn read(
        self,
        incoming: &Incoming,
        is_signed: Option<&dyn Fn(&str) -> bool>,
    ) -> Result<Asked, Trouble> {
        match self {
            Self::Anthropic => anthropic::read(incoming, is_signed),
            Self::Responses => responses::read(incoming, is_signed),
            Self::Chat => chat::read(incoming, is_signed.is_some()),
            Self::Gemini => gemini::read(incoming, is_signed),
            Self::Infill => infill::read(incoming),
            Self::Completions | Self::Mistral => completions::read(self, incoming),
            Self::Ollama => ollama::read(incoming),
            Self::Direct => Err(Trouble::invalid("a client inside the process has no wire")),
        }
    }

    /// The answer as a stream's events.
    pub(crate) fn stream(self, asked: &Asked, answer: &Answer, frames: &mut Frames) {
        match self {
            Self::Anthropic => anthropic::stream(asked, answer, frames),
            Self::Responses => responses::stream(asked, answer, frames),
            Self::Chat => chat::stream(asked, answer, frames),
            Self::Gemini => gemini::stream(asked, answer, frames),
            Self::Infill => infill::stream(asked, answer, frames),
            Self::Completions | Self::Mistral => completions::stream(asked, answer, frames),
            Self::Ollama => ollama::stream(answer, frames),
            Self::Direct => {}
        }
    }

    /// The answer in one piece.
    pub(crate) fn whole(self, asked: &Asked, answer: &Answer, frames: &mut Frames) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(asked, answer),
            Self::Responses => responses::whole(asked, answer, frames),
            Self::Chat => chat::whole(answer),
            Self::Gemini => gemini::whole(asked, answer),
            Self::Infill => infill::whole(asked, answer),
            Self::Completions | Self::Mistral => completions::whole(asked, answer),
            Self::Ollama => ollama::whole(answer),
            Self::Direct => Value::Null,
        }
    }

    /// How the provider answers a request to count tokens.
    pub(crate) fn token_count(self, tokens: u64) -> Value {
        match self {
            Self::Gemini => serde_json::json!({ "totalTokens": tokens }),
            _ => serde_json::json!({ "input_tokens": tokens }),
        }
    }

    /// A stream's content type. Gemini streams a JSON array unless events are asked for.
    pub(crate) fn content_type(self, asked: &Asked) -> &'static str {
        match self {
            Self::Ollama if asked.stream => "application/x-ndjson",
            _ if asked.stream && !asked.options.is_events => "application/json",
            _ if asked.stream => "text/event-stream; charset=utf-8",
            _ => "application/json",
        }
    }

    /// An error instead of an answer.
    pub(crate) fn refuse(self, trouble: &Trouble, model: &str, request_id: &str) -> ErrorReply {
        let (usual, body) = match self {
            Self::Anthropic => anthropic::error(trouble, model, request_id),
            Self::Gemini => gemini::error(trouble, model),
            Self::Ollama => ollama::error(trouble, model),
            _ => openai::error(trouble, model),
        };
        let status = trouble.status.unwrap_or(usual);
        let mut headers: Vec<(String, String)> = trouble
            .headers
            .iter()
            .map(|(name, value)| (name.to_lowercase(), value.clone()))
            .collect();
        if let Some(wait) = trouble.retry_after
            && self != Self::Gemini
        {
            // Whole seconds, rounded up: an earlier attempt would fail again.
            let seconds = wait.as_secs_f64().ceil();
            if matches!(self, Self::Responses | Self::Chat) {
                headers.push(("retry-after-ms".to_owned(), wait.as_millis().to_string()));
            }
            headers.push(("retry-after".to_owned(), format!("{seconds}")));
        }
        let (content_type, body) = if trouble.kind == Kind::Html {
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

    /// An error within a stream.
    pub(crate) fn error_event(self, answer: &Answer) -> Vec<u8> {
        let trouble = Trouble::new(Kind::Overloaded);
        match self {
            Self::Anthropic => {
                let (_, body) = anthropic::error(&trouble, &answer.model, "");
                format!("event: error\ndata: {body}\n\n").into_bytes()
            }
            Self::Responses => responses::failure(answer),
            Self::Gemini => {
                let (_, body) = gemini::error(&trouble, &answer.model);
                format!("data: {body}\r\n\r\n").into_bytes()
            }
            Self::Ollama => {
                let (_, body) = ollama::error(&trouble, &answer.model);
                format!("{body}\n").into_bytes()
            }
            _ => {
                let (_, body) = openai::error(&trouble, &answer.model);
                format!("data: {body}\n\n").into_bytes()
            }
        }
    }

    /// The headers that tell of rate limits. `now` is the time of day, which some wires name.
    pub(crate) fn limit_headers(
        self,
        standing: Standing,
        now: SystemTime,
    ) -> Vec<(&'static str, String)> {
        match self {
            Self::Anthropic => anthropic::limit_headers(standing, now),
            Self::Gemini | Self::Ollama | Self::Infill | Self::Direct => Vec::new(),
            Self::Responses | Self::Chat | Self::Completions | Self::Mistral => {
                openai::limit_headers(standing)
            }
        }
    }

    /// The header in which the provider names a request.
    pub(crate) fn request_id_header(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("request-id"),
            Self::Responses | Self::Chat | Self::Completions => Some("x-request-id"),
            Self::Mistral => Some("mistral-correlation-id"),
            Self::Gemini | Self::Ollama | Self::Infill | Self::Direct => None,
        }
    }

    /// A new call's id as the provider writes it.
    pub(crate) fn call_id(self, dialect: Dialect, rng: &mut Rng) -> String {
        match self {
            Self::Anthropic => format!("toolu_01{}", rng.word(22)),
            _ if dialect == Dialect::Mistral => rng.word(9),
            Self::Gemini => rng.word(16),
            _ => format!("call_{}", rng.word(24)),
        }
    }
}

/// The error page of something that stands before the provider.
fn page(status: u16) -> String {
    format!(
        "<html>\r\n<head><title>{status}</title></head>\r\n<body>\r\n<center><h1>{status}</h1></center>\r\n\
         <hr><center>proxy</center>\r\n</body>\r\n</html>\r\n"
    )
}

/// Seconds as OpenAI writes them: `1m30s`, `12ms`.
fn go_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    let (minutes, seconds) = (millis / 60_000, (millis % 60_000) as f64 / 1e3);
    match (minutes, millis) {
        (0, ..1000) => format!("{millis}ms"),
        (0, _) => format!("{seconds}s"),
        _ => format!("{minutes}m{seconds}s"),
    }
}
