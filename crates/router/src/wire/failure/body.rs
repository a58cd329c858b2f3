//! Reads an error's body, whatever its shape: nested objects, plain texts, lists, pages of proxies, nothing.

use std::time::Duration;

use serde_json::Value;

/// The most of a provider's own words that a sentence quotes, in characters.
const QUOTED: usize = 400;

/// What an error says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ErrorBody {
    /// Its codes and types in lower case: `rate_limit_error`, `insufficient_quota`, `resource_exhausted`, …
    pub(super) codes: Vec<String>,
    /// A status inside the body, where a mid-stream error has no other.
    pub(super) status: Option<u16>,
    /// Where in the request the mistake is, in the provider's own notation: `tools[3].function.name`,
    /// `messages.2.content.0.image`.
    pub(super) paths: Vec<String>,
    /// Its words, on one line, cut to a length one can read.
    pub(super) message: String,
    /// The tokens that fit, where a member of the body says so.
    pub(super) window: Option<u64>,
    /// A wait inside the body.
    pub(super) retry_after: Option<Duration>,
    /// Whether it is a web page.
    pub(super) is_page: bool,
    /// Whether it is JSON.
    pub(super) is_json: bool,
}

impl ErrorBody {
    pub(super) fn read(bytes: &[u8]) -> Self {
        if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
            return Self::of(&value);
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        // An event stream that begins with its error.
        let data = text.lines().find_map(|line| line.strip_prefix("data:"));
        if let Some(value) = data.and_then(|data| serde_json::from_str::<Value>(data).ok()) {
            return Self::of(&value);
        }
        let is_page = text.starts_with('<');
        let message = if is_page { title(text) } else { text };
        Self {
            message: quoted(message),
            is_page,
            ..Self::default()
        }
    }

    pub(super) fn of(value: &Value) -> Self {
        let mut body = Self {
            is_json: true,
            ..Self::default()
        };
        body.take(value);
        body.message = quoted(&body.message);
        body
    }

    /// Collects from one object and what it wraps.
    fn take(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.say(text),
            Value::Array(items) => {
                for item in items.iter().take(8) {
                    self.take(item);
                }
            }
            Value::Object(members) => {
                // The innermost words are the provider's own; the outer ones name a gateway.
                for wrapper in ["error", "errors", "detail", "response"] {
                    if let Some(inner) = members.get(wrapper) {
                        self.take(inner);
                    }
                }
                for member in ["type", "code", "status", "reason", "quotaId", "error_type"] {
                    self.take_code(members.get(member));
                }
                for member in ["param", "field", "loc"] {
                    self.paths.extend(members.get(member).and_then(path));
                }
                for member in ["n_ctx", "max_context_length"] {
                    let window = members.get(member).and_then(Value::as_u64);
                    self.window = self.window.or(window);
                }
                for member in ["message", "msg"] {
                    if let Some(Value::String(text)) = members.get(member) {
                        self.say(text);
                    }
                }
                for wrapper in ["details", "violations", "fieldViolations", "metadata"] {
                    if let Some(inner @ (Value::Array(_) | Value::Object(_))) = members.get(wrapper)
                    {
                        self.take(inner);
                    }
                }
                if let Some(Value::String(raw)) = members.get("raw") {
                    self.say(raw);
                }
                if let Some(Value::String(delay)) = members.get("retryDelay") {
                    let seconds = delay.trim_end_matches('s').parse().ok();
                    self.retry_after =
                        seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                }
            }
            _ => {}
        }
    }

    fn take_code(&mut self, code: Option<&Value>) {
        match code {
            Some(Value::String(code)) => match code.parse() {
                Ok(status) => self.status = self.status.or(Some(status)),
                Err(_) => self.codes.push(code.to_lowercase()),
            },
            Some(Value::Number(number)) => {
                let status = number.as_u64().filter(|status| (300..600).contains(status));
                self.status = self.status.or(status.map(|status| status as u16));
            }
            _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() || self.message.contains(text) {
            return;
        }
        if !self.message.is_empty() {
            self.message.push_str("; ");
        }
        self.message.push_str(text);
    }
}

/// A place in the request: a text, or a list of names and indices.
fn path(value: &Value) -> Option<String> {
    match value {
        Value::String(path) => Some(path.clone()),
        Value::Array(steps) => {
            let steps = steps.iter().map(|step| match step {
                Value::String(name) => name.clone(),
                other => other.to_string(),
            });
            Some(steps.collect::<Vec<_>>().join("."))
        }
        _ => None,
    }
}

/// The words on one line, cut.
fn quoted(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > QUOTED * 4 {
            break;
        }
    }
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A page's title, or nothing.
fn title(page: &str) -> &str {
    let lower = page.to_ascii_lowercase();
    let begin = lower
        .find("<title")
        .and_then(|at| Some(at + lower[at..].find('>')? + 1));
    let end = lower.find("</title");
    match (begin, end) {
        (Some(begin), Some(end)) if begin <= end => &page[begin..end],
        _ => "",
    }
}
