//! A request in a form common to all wire formats: the fields rules match, and the segments the
//! cache counts.

use serde_json::Value;

use crate::{rng, wire_format::WireFormat};

/// A model request, independent of its wire format.
#[derive(Clone, Debug)]
pub(crate) struct PromptRequest {
    pub(crate) wire: WireFormat,
    pub(crate) model: String,
    /// Whether the answer is to be streamed.
    pub(crate) stream: bool,
    /// The prompt in the order in which caches hash it: tools, system, messages.
    pub(crate) segments: Vec<CacheSegment>,
    pub(crate) system: String,
    /// The last text of the user.
    pub(crate) user: String,
    /// The number of user messages so far.
    pub(crate) turn: u32,
    /// The number of answers since the last user message, plus one.
    pub(crate) step: u32,
    /// The tool results since the last user message, in order.
    pub(crate) results: Vec<ToolOutcome>,
    pub(crate) tools: Vec<OfferedTool>,
    pub(crate) options: AnswerOptions,
    /// The gap of a fill-in-the-middle request.
    pub(crate) gap: Option<InfillGap>,
    /// Request headers, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

/// The options of the requested answer: reasoning, limits, stop texts and streaming.
#[derive(Clone, Debug)]
pub(crate) struct AnswerOptions {
    /// Whether reasoning is shown.
    pub(crate) thinking: bool,
    /// Whether reasoning is sent in a form that only the provider reads.
    pub(crate) sealed_thinking: bool,
    /// Whether a message may contain several calls.
    pub(crate) parallel: bool,
    /// The maximum tokens of the answer.
    pub(crate) max_tokens: Option<u64>,
    /// Texts that end the answer.
    pub(crate) stop: Vec<String>,
    /// A schema that the answer must satisfy.
    pub(crate) schema: Option<Value>,
    /// The text that the client expects as the answer.
    pub(crate) prediction: Option<String>,
    /// Whether a stream ends with usage, if the wire makes that optional.
    pub(crate) usage: bool,
    /// Whether a stream uses server-sent events, if the wire has alternatives.
    pub(crate) is_events: bool,
}

/// A segment of the prompt. A cached prefix may end after it.
#[derive(Clone, Debug)]
pub(crate) struct CacheSegment {
    pub(crate) text: String,
    /// The lifetime of a cached prefix that ends after it, if the request marks one.
    pub(crate) mark: Option<Lifetime>,
}

/// The lifetime of a cached prefix that a request marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lifetime {
    FiveMinutes,
    Hour,
}

/// A tool on offer.
#[derive(Clone, Debug)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    /// Whether its input is free text and not JSON.
    pub(crate) is_free: bool,
}

/// The result of a tool call.
#[derive(Clone, Debug)]
pub(crate) struct ToolOutcome {
    pub(crate) call: String,
    pub(crate) tool: String,
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// Whether no answer has followed it.
    pub(crate) is_new: bool,
}

/// A gap to be filled.
#[derive(Clone, Debug)]
pub(crate) struct InfillGap {
    pub(crate) prefix: String,
    pub(crate) suffix: String,
}

/// An event of the conversation so far, as a wire format reads it, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HistoryEvent {
    /// A message of the user.
    User(String),
    /// Any output of the model other than a call.
    Assistant,
    /// The model called a tool.
    Call { id: String, tool: String },
    /// A tool result. If the wire has no call ids, `call` is the tool's name.
    Result {
        call: String,
        text: String,
        is_error: bool,
    },
}

impl PromptRequest {
    /// Creates a request without a conversation.
    pub(crate) fn new(wire: WireFormat, model: &str) -> Self {
        Self {
            wire,
            model: model.to_owned(),
            stream: false,
            segments: Vec::new(),
            system: String::new(),
            user: String::new(),
            turn: 0,
            step: 1,
            results: Vec::new(),
            tools: Vec::new(),
            options: AnswerOptions {
                thinking: false,
                sealed_thinking: false,
                parallel: true,
                max_tokens: None,
                stop: Vec::new(),
                schema: None,
                prediction: None,
                usage: true,
                is_events: true,
            },
            gap: None,
            headers: Vec::new(),
        }
    }

    /// Derives the last text of the user, turn, step and tool results from the conversation's
    /// history.
    pub(crate) fn read_history(&mut self, history: Vec<HistoryEvent>) {
        let mut calls: Vec<(String, String)> = Vec::new();
        let mut is_answering = false;
        for event in history {
            match event {
                HistoryEvent::User(text) => {
                    self.user = text;
                    self.turn += 1;
                    self.step = 1;
                    self.results.clear();
                    is_answering = false;
                }
                HistoryEvent::Assistant | HistoryEvent::Call { .. } => {
                    if !is_answering {
                        self.step += 1;
                        self.results
                            .iter_mut()
                            .for_each(|result| result.is_new = false);
                    }
                    is_answering = true;
                    if let HistoryEvent::Call { id, tool } = event {
                        calls.push((id, tool));
                    }
                }
                HistoryEvent::Result {
                    call,
                    text,
                    is_error,
                } => {
                    is_answering = false;
                    let known = calls.iter().rev().find(|(id, _)| *id == call);
                    self.results.push(ToolOutcome {
                        tool: known.map_or_else(|| call.clone(), |(_, tool)| tool.clone()),
                        call,
                        text,
                        is_error,
                        is_new: true,
                    });
                }
            }
        }
    }

    /// Returns whether a tool is offered.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Returns the length of the prompt in bytes.
    pub(crate) fn prompt_bytes(&self) -> u64 {
        self.segments
            .iter()
            .map(|segment| segment.text.len() as u64)
            .sum()
    }

    /// Returns a hash of model, prompt, wire and streaming mode, which is the same for every
    /// attempt of a request.
    pub(crate) fn fingerprint(&self) -> u64 {
        let start = rng::hash(self.model.as_bytes());
        let prompt = self.segments.iter().fold(start, |hash, segment| {
            rng::extend(hash, segment.text.as_bytes())
        });
        rng::extend(prompt, &[self.wire as u8, u8::from(self.stream)])
    }

    /// Returns the value of the first header with this name, in lower case. Returns `None` if the
    /// request has no such header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns a hash of the API key, which identifies the account. Each account has its own caches
    /// and limits. Requests without a key share one account.
    pub(crate) fn account(&self) -> u64 {
        let names = ["x-api-key", "authorization", "x-goog-api-key", "api-key"];
        let key = names.iter().find_map(|name| self.header(name));
        rng::hash(key.unwrap_or_default().as_bytes())
    }
}
