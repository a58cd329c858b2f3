//! A request as every wire means it: what rules look at, and what the cache counts.

use serde_json::Value;

use crate::{rng, wire::Wire};

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) wire: Wire,
    pub(crate) model: String,
    /// Whether the answer is to be streamed.
    pub(crate) stream: bool,
    /// The prompt in the order in which caches hash it: tools, system, messages.
    pub(crate) segments: Vec<Segment>,
    pub(crate) system: String,
    /// The last text a person wrote.
    pub(crate) user: String,
    /// How many texts of the person there are.
    pub(crate) turn: u32,
    /// One more than the answers that have come since the last of them.
    pub(crate) step: u32,
    /// The results since the person's last text, in order.
    pub(crate) results: Vec<ToolOutcome>,
    pub(crate) tools: Vec<Offer>,
    pub(crate) options: Options,
    /// Of a fill-in-the-middle request.
    pub(crate) gap: Option<Gap>,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

/// How the answer is to be.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Whether thought is to be shown.
    pub(crate) thinking: bool,
    /// Whether thought is to be sent in a form only the provider reads.
    pub(crate) sealed_thinking: bool,
    /// Whether several calls may come in one message.
    pub(crate) parallel: bool,
    /// The most tokens of the answer.
    pub(crate) max_tokens: Option<u64>,
    /// Texts that end it.
    pub(crate) stop: Vec<String>,
    /// A schema that it must satisfy.
    pub(crate) schema: Option<Value>,
    /// Whether a stream is to end with the usage, where that is asked for.
    pub(crate) usage: bool,
    /// Whether a stream comes as server-sent events, where the wire has another way.
    pub(crate) is_events: bool,
}

/// A piece of the prompt.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) text: String,
    /// Whether a cached prefix is to end after it.
    pub(crate) mark: Option<Lifetime>,
}

/// How long a cached prefix lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lifetime {
    FiveMinutes,
    Hour,
}

/// A tool on offer.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) name: String,
    /// Whether its input is free text and not JSON.
    pub(crate) is_free: bool,
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub(crate) struct ToolOutcome {
    pub(crate) call: String,
    pub(crate) tool: String,
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// Whether no answer has come since.
    pub(crate) is_new: bool,
}

/// A gap to be filled.
#[derive(Clone, Debug)]
pub(crate) struct Gap {
    pub(crate) prefix: String,
    pub(crate) suffix: String,
}

/// One thing said in a conversation, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// The person's text.
    User(String),
    /// Anything the model said other than a call.
    Assistant,
    /// The model called a tool.
    Call { id: String, tool: String },
    /// A tool answered. Where the wire names no call, the tool's name stands for it.
    Result {
        call: String,
        text: String,
        is_error: bool,
    },
}

impl Asked {
    /// A request without a conversation.
    pub(crate) fn new(wire: Wire, model: &str) -> Self {
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
            options: Options {
                thinking: false,
                sealed_thinking: false,
                parallel: true,
                max_tokens: None,
                stop: Vec::new(),
                schema: None,
                usage: true,
                is_events: true,
            },
            gap: None,
            headers: Vec::new(),
        }
    }

    /// Takes in the conversation.
    pub(crate) fn tell(&mut self, history: Vec<Said>) {
        let mut calls: Vec<(String, String)> = Vec::new();
        let mut is_answering = false;
        for said in history {
            match said {
                Said::User(text) => {
                    self.user = text;
                    self.turn += 1;
                    self.step = 1;
                    self.results.clear();
                    is_answering = false;
                }
                Said::Assistant | Said::Call { .. } => {
                    if !is_answering {
                        self.step += 1;
                        self.results
                            .iter_mut()
                            .for_each(|result| result.is_new = false);
                    }
                    is_answering = true;
                    if let Said::Call { id, tool } = said {
                        calls.push((id, tool));
                    }
                }
                Said::Result {
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

    /// Whether a tool is on offer.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// The bytes of the prompt.
    pub(crate) fn prompt_bytes(&self) -> u64 {
        self.segments
            .iter()
            .map(|segment| segment.text.len() as u64)
            .sum()
    }

    /// The same for every attempt at the same request, whatever its headers.
    pub(crate) fn fingerprint(&self) -> u64 {
        let start = rng::hash(self.model.as_bytes());
        let prompt = self.segments.iter().fold(start, |hash, segment| {
            rng::extend(hash, segment.text.as_bytes())
        });
        rng::extend(prompt, &[self.wire as u8, u8::from(self.stream)])
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whose request it is, as far as the key tells: caches and limits are each account's own.
    pub(crate) fn account(&self) -> u64 {
        let names = ["x-api-key", "authorization", "x-goog-api-key", "api-key"];
        let key = names.iter().find_map(|name| self.header(name));
        rng::hash(key.unwrap_or_default().as_bytes())
    }
}
