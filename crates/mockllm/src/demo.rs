//! The demo model: a script that works on a sample project through real tools, in-process.
//!
//! It says that it is a demo. It knows the tools `read`, `edit`, `write`, `list`, `grep` and
//! `exec_command`, and the project in `SAMPLE`; it claims only results that the tools confirm.

mod sample;

#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use model::{
    CacheMark, Failure, FailureClass, Fim, ModelClient, ModelRequest, PartContent, Role,
    StopReason, StreamEvent, TokenCount, ToolInput, Usage,
};
use tokio::time::{Instant, sleep_until};

pub use sample::SAMPLE;

use crate::{
    answer::{ReplyBlock, ScriptedReply, TokenUsage},
    engine::{PacedReply, ScriptEngine},
    request::{CacheSegment, HistoryEvent, InfillGap, Lifetime, OfferedTool, PromptRequest},
    request_log::lock,
    script::{Script, ScriptError, Stop},
    tokens,
    wire_format::WireFormat,
};

/// The demo model's script, as `mockllm --script` takes it.
pub const SCRIPT: &str = include_str!("../../../assets/demo/script.jsonc");

/// The demo model: a scripted client inside the process, for showing Burin without a key. It
/// answers at a reading pace, so it needs a tokio runtime with timers.
#[derive(Clone, Debug)]
pub struct DemoClient {
    engine: Arc<Mutex<ScriptEngine>>,
}

impl DemoClient {
    /// Creates the demo model. Fails only if `SCRIPT` is invalid, which a test rules out.
    pub fn new() -> Result<Self, ScriptError> {
        let script = Script::parse("assets/demo/script.jsonc", SCRIPT)?;
        Ok(Self {
            engine: Arc::new(Mutex::new(ScriptEngine::new(script))),
        })
    }

    fn answer(&self, request: PromptRequest) -> BoxStream<'static, StreamEvent> {
        let start = Instant::now();
        let decision = lock(&self.engine).decide(&request, start);
        let timed = match decision.outcome {
            Ok(reply) => timed(&reply),
            Err(error) => {
                // The script answers every request and has no faults, so only an overlong prompt
                // can fail.
                let message = format!(
                    "the demo model cannot take this conversation: {:?}",
                    error.kind
                );
                let failure = Failure::new(FailureClass::ContextOverflow, message);
                VecDeque::from([(StreamEvent::Failed(failure), Duration::ZERO)])
            }
        };
        stream::unfold(timed, move |mut timed| async move {
            let (event, due) = timed.pop_front()?;
            if !due.is_zero() {
                sleep_until(start + due).await;
            }
            Some((event, timed))
        })
        .boxed()
    }
}

impl ModelClient for DemoClient {
    fn send(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        self.answer(prompt_request(&request))
    }

    fn complete(&self, request: Fim) -> BoxStream<'static, StreamEvent> {
        let mut prompt = PromptRequest::new(WireFormat::Direct, &request.model.model);
        prompt.options.max_tokens = Some(request.max_output.0);
        prompt.options.stop = request.stop;
        prompt.gap = Some(InfillGap {
            prefix: request.prefix,
            suffix: request.suffix,
        });
        self.answer(prompt)
    }
}

/// Converts the request to the form that rules match.
fn prompt_request(request: &ModelRequest) -> PromptRequest {
    let mut prompt = PromptRequest::new(WireFormat::Direct, &request.model.model);
    prompt.options.max_tokens = Some(request.max_output.0);
    prompt.options.parallel = request.parallel_tools;
    prompt.options.stop.clone_from(&request.stop);
    prompt.options.schema.clone_from(&request.response_schema);
    for tool in &request.tools {
        prompt.tools.push(OfferedTool {
            name: tool.name.clone(),
            is_free: matches!(tool.input, ToolInput::Text { .. }),
        });
        prompt.segments.push(CacheSegment {
            text: format!("{}\n{}", tool.name, tool.description),
            mark: None,
        });
    }
    for block in &request.system {
        prompt.system.push_str(&block.text);
        prompt.segments.push(CacheSegment {
            text: block.text.clone(),
            mark: match block.cache {
                CacheMark::None => None,
                CacheMark::Short => Some(Lifetime::FiveMinutes),
                CacheMark::Long => Some(Lifetime::Hour),
            },
        });
    }
    let mut history = Vec::new();
    for message in &request.messages {
        let is_answer = message.role == Role::Assistant;
        let mut texts = Vec::new();
        let mut has_results = false;
        for part in &message.parts {
            prompt.segments.push(CacheSegment {
                text: format!("{:?}", part.content),
                mark: None,
            });
            match &part.content {
                PartContent::Text(text) if message.role == Role::User => texts.push(text.as_str()),
                PartContent::ToolCall { id, name, .. } => history.push(HistoryEvent::Call {
                    id: id.clone(),
                    tool: name.clone(),
                }),
                PartContent::ToolResult {
                    call,
                    content,
                    is_error,
                } => {
                    has_results = true;
                    history.push(HistoryEvent::Result {
                        call: call.clone(),
                        text: result_text(content),
                        is_error: *is_error,
                    });
                }
                _ if is_answer => history.push(HistoryEvent::Assistant),
                _ => {}
            }
        }
        if !texts.is_empty() && !has_results {
            history.push(HistoryEvent::User(texts.join("\n")));
        }
    }
    prompt.read_history(history);
    prompt
}

fn result_text(content: &[PartContent]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        PartContent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the reply's events with the times they are due.
fn timed(reply: &PacedReply) -> VecDeque<(StreamEvent, Duration)> {
    let answer = &reply.answer;
    let mut events = ReplyEvents {
        reply,
        rng: answer.rng.clone(),
        tokens: 0,
        calls: 0,
        events: VecDeque::new(),
    };
    events.push(StreamEvent::Start {
        id: answer.id.clone(),
        model: answer.model.clone(),
    });
    for block in &answer.blocks {
        events.block(block);
    }
    events.push(StreamEvent::Usage(usage(answer.usage)));
    let (reason, raw) = stop(answer);
    events.push(StreamEvent::Stop {
        reason,
        raw: raw.to_owned(),
    });
    events.events
}

struct ReplyEvents<'a> {
    reply: &'a PacedReply,
    rng: crate::rng::Rng,
    /// Tokens emitted so far.
    tokens: u64,
    /// Tool calls emitted so far.
    calls: u32,
    events: VecDeque<(StreamEvent, Duration)>,
}

impl ReplyEvents<'_> {
    fn push(&mut self, event: StreamEvent) {
        let due = self.reply.first_byte + self.reply.pace.due(self.tokens);
        self.events.push_back((event, due));
    }

    fn push_fragments(&mut self, text: &str, event: impl Fn(String) -> StreamEvent) {
        let per_event = self.reply.pace.tokens_per_event;
        for fragment in tokens::fragments(text, per_event, &mut self.rng) {
            self.tokens += fragment.tokens;
            self.push(event(fragment.text.to_owned()));
        }
    }

    fn block(&mut self, block: &ReplyBlock) {
        match block {
            ReplyBlock::Thinking(thought) => {
                self.push_fragments(&thought.text, StreamEvent::ReasoningDelta)
            }
            ReplyBlock::Text(text) | ReplyBlock::Refusal(text) => {
                self.push_fragments(text, StreamEvent::TextDelta)
            }
            ReplyBlock::Calls { calls, .. } => {
                for call in calls {
                    let index = self.calls;
                    self.calls += 1;
                    self.push(StreamEvent::ToolStart {
                        index,
                        id: call.id.clone(),
                        name: call.name.clone(),
                    });
                    self.push_fragments(&call.arguments, |fragment| StreamEvent::ToolArgsDelta {
                        index,
                        fragment,
                    });
                    self.push(StreamEvent::ToolEnd { index });
                }
            }
        }
    }
}

fn usage(count: TokenUsage) -> Usage {
    Usage {
        input: TokenCount(count.input),
        cache_read: TokenCount(count.cache_read),
        cache_write_5m: TokenCount(count.cache_write_5m),
        cache_write_1h: TokenCount(count.cache_write_1h),
        output: TokenCount(count.output),
        reasoning: TokenCount(count.reasoning),
        accepted_prediction: TokenCount(count.accepted_prediction),
        rejected_prediction: TokenCount(count.rejected_prediction),
    }
}

fn stop(answer: &ScriptedReply) -> (StopReason, &'static str) {
    match answer.stop {
        Stop::EndTurn => (StopReason::EndTurn, "end_turn"),
        Stop::ToolUse => (StopReason::ToolUse, "tool_use"),
        Stop::MaxTokens => (StopReason::MaxTokens, "max_tokens"),
        Stop::StopText => (StopReason::StopText, "stop_text"),
        Stop::Refusal => (StopReason::Refusal, "refusal"),
        Stop::Pause => (StopReason::Pause, "pause"),
    }
}
