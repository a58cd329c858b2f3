//! Parses error bodies of any format: nested objects, plain text, lists, proxy pages, nothing.

use std::time::Duration;

use serde_json::Value;

/// Maximum number of characters quoted from a provider's message.
const MAX_QUOTED: usize = 400;

/// Content of an error body.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ErrorBody {
    /// Error codes and types in lower case: `rate_limit_error`, `insufficient_quota`,
    /// `resource_exhausted`, …
    pub(super) codes: Vec<String>,
    /// Status inside the body, which is the only one for an error within a stream.
    pub(super) status: Option<u16>,
    /// Paths to the error in the request, in the provider's notation: `tools[3].function.name`,
    /// `messages.2.content.0.image`.
    pub(super) paths: Vec<String>,
    /// The message on one line, truncated to a readable length.
    pub(super) message: String,
    /// Context window in tokens, if a member states it.
    pub(super) window: Option<u64>,
    /// Wait that the body requests.
    pub(super) retry_after: Option<Duration>,
    /// Whether it is an HTML page.
    pub(super) is_page: bool,
    /// Whether the body is JSON.
    pub(super) is_json: bool,
}

impl ErrorBody {
    /// Parses the bytes of an error body. Never fails: a body that is not JSON is kept as text.
    pub(super) fn read(bytes: &[u8]) -> Self {
        if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
            return Self::of(&value);
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        // An event stream that starts with its error.
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

    /// Reads the codes, status, paths and words anywhere in an error's JSON.
    pub(super) fn of(value: &Value) -> Self {
        let mut body = Self {
            is_json: true,
            ..Self::default()
        };
        body.take(value);
        body.message = quoted(&body.message);
        body
    }

    /// Collects from an object and the objects nested in it.
    fn take(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.append_message(text),
            Value::Array(items) => {
                for item in items.iter().take(8) {
                    self.take(item);
                }
            }
            Value::Object(members) => {
                // The innermost message is the provider's own; outer ones come from a gateway.
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
                        self.append_message(text);
                    }
                }
                for wrapper in ["details", "violations", "fieldViolations", "metadata"] {
                    if let Some(inner @ (Value::Array(_) | Value::Object(_))) = members.get(wrapper)
                    {
                        self.take(inner);
                    }
                }
                if let Some(Value::String(raw)) = members.get("raw") {
                    self.append_message(raw);
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

    fn append_message(&mut self, text: &str) {
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

/// Formats a path into the request, given as a string or as a list of names and indices, which are
/// joined by dots. An empty string or list gives an empty path; any other type gives `None`.
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

/// Joins the message to one line and truncates it.
fn quoted(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MAX_QUOTED * 4 {
            break;
        }
    }
    match line.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns the title of an HTML page, or an empty string.
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
