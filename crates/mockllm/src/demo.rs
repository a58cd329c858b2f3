//! The demo model: a script that works on a sample project through real tools, within the process.
//!
//! It says of itself what it is. It knows the tools `read`, `edit`, `write`, `list`, `grep` and `exec_command`,
//! and the project that `SAMPLE` holds; what their results do not bear out it does not claim.

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
    CacheMark, Client, Content, Event, Failure, FailureClass, Fim, Request, Role, StopReason,
    TokenCount, ToolInput, Usage,
};
use tokio::time::{Instant, sleep_until};

pub use sample::SAMPLE;

use crate::{
    answer::{Answer, Block, Count},
    asked::{Asked, Gap, Lifetime, Offer, Said, Segment},
    engine::{Engine, Reply},
    script::{Script, ScriptError, Stop},
    seen::lock,
    tokens,
    wire::Wire,
};

/// The demo model's script, as `mockllm --script` takes it.
pub const SCRIPT: &str = include_str!("../../../assets/demo/script.jsonc");

/// The demo model as a client. Its answers come at a reading pace, so it needs a tokio runtime with a clock.
#[derive(Clone, Debug)]
pub struct DemoClient {
    engine: Arc<Mutex<Engine>>,
}

impl DemoClient {
    /// The demo model. An error would be a defect of `SCRIPT`.
    pub fn new() -> Result<Self, ScriptError> {
        let script = Script::parse("assets/demo/script.jsonc", SCRIPT)?;
        Ok(Self {
            engine: Arc::new(Mutex::new(Engine::new(script))),
        })
    }

    fn answer(&self, asked: Asked) -> BoxStream<'static, Event> {
        let start = Instant::now();
        let decision = lock(&self.engine).decide(&asked, start);
        let timed = match decision.outcome {
            Ok(reply) => timed(&reply),
            Err(trouble) => {
                // The script answers everything and knows no faults: what is left is a prompt that is too long.
                let message = format!(
                    "the demo model cannot take this conversation: {:?}",
                    trouble.kind
                );
                let failure = Failure::new(FailureClass::ContextOverflow, message);
                VecDeque::from([(Event::Failed(failure), Duration::ZERO)])
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

impl Client for DemoClient {
    fn send(&self, request: Request) -> BoxStream<'static, Event> {
        self.answer(asked(&request))
    }

    fn complete(&self, request: Fim) -> BoxStream<'static, Event> {
        let mut asked = Asked::new(Wire::Direct, &request.model.model);
        asked.options.max_tokens = Some(request.max_output.0);
        asked.options.stop = request.stop;
        asked.gap = Some(Gap {
            prefix: request.prefix,
            suffix: request.suffix,
        });
        self.answer(asked)
    }
}

/// The request as rules look at it.
fn asked(request: &Request) -> Asked {
    let mut asked = Asked::new(Wire::Direct, &request.model.model);
    asked.options.max_tokens = Some(request.max_output.0);
    asked.options.parallel = request.parallel_tools;
    asked.options.stop.clone_from(&request.stop);
    asked.options.schema.clone_from(&request.response_schema);
    for tool in &request.tools {
        asked.tools.push(Offer {
            name: tool.name.clone(),
            is_free: matches!(tool.input, ToolInput::Text { .. }),
        });
        asked.segments.push(Segment {
            text: format!("{}\n{}", tool.name, tool.description),
            mark: None,
        });
    }
    for block in &request.system {
        asked.system.push_str(&block.text);
        asked.segments.push(Segment {
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
            asked.segments.push(Segment {
                text: format!("{:?}", part.content),
                mark: None,
            });
            match &part.content {
                Content::Text(text) if message.role == Role::User => texts.push(text.as_str()),
                Content::ToolCall { id, name, .. } => history.push(Said::Call {
                    id: id.clone(),
                    tool: name.clone(),
                }),
                Content::ToolResult {
                    call,
                    content,
                    is_error,
                } => {
                    has_results = true;
                    history.push(Said::Result {
                        call: call.clone(),
                        text: result_text(content),
                        is_error: *is_error,
                    });
                }
                _ if is_answer => history.push(Said::Assistant),
                _ => {}
            }
        }
        if !texts.is_empty() && !has_results {
            history.push(Said::User(texts.join("\n")));
        }
    }
    asked.tell(history);
    asked
}

fn result_text(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The answer's events, each with the time at which it is due.
fn timed(reply: &Reply) -> VecDeque<(Event, Duration)> {
    let answer = &reply.answer;
    let mut events = Events {
        reply,
        rng: answer.rng.clone(),
        told: 0,
        calls: 0,
        events: VecDeque::new(),
    };
    events.push(Event::Start {
        id: answer.id.clone(),
        model: answer.model.clone(),
    });
    for block in &answer.blocks {
        events.block(block);
    }
    events.push(Event::Usage(usage(answer.usage)));
    let (reason, raw) = stop(answer);
    events.push(Event::Stop {
        reason,
        raw: raw.to_owned(),
    });
    events.events
}

struct Events<'a> {
    reply: &'a Reply,
    rng: crate::rng::Rng,
    /// Tokens so far.
    told: u64,
    /// Calls so far.
    calls: u32,
    events: VecDeque<(Event, Duration)>,
}

impl Events<'_> {
    fn push(&mut self, event: Event) {
        let due = self.reply.first_byte + self.reply.pace.due(self.told);
        self.events.push_back((event, due));
    }

    fn pieces(&mut self, text: &str, event: impl Fn(String) -> Event) {
        let per_event = self.reply.pace.tokens_per_event;
        for piece in tokens::fragments(text, per_event, &mut self.rng) {
            self.told += piece.tokens;
            self.push(event(piece.text.to_owned()));
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Thinking(thought) => self.pieces(&thought.text, Event::ReasoningDelta),
            Block::Text(text) | Block::Refusal(text) => self.pieces(text, Event::TextDelta),
            Block::Calls { calls, .. } => {
                for call in calls {
                    let index = self.calls;
                    self.calls += 1;
                    self.push(Event::ToolStart {
                        index,
                        id: call.id.clone(),
                        name: call.name.clone(),
                    });
                    self.pieces(&call.arguments, |fragment| Event::ToolArgsDelta {
                        index,
                        fragment,
                    });
                    self.push(Event::ToolEnd { index });
                }
            }
        }
    }
}

fn usage(count: Count) -> Usage {
    Usage {
        input: TokenCount(count.input),
        cache_read: TokenCount(count.cache_read),
        cache_write_5m: TokenCount(count.cache_write_5m),
        cache_write_1h: TokenCount(count.cache_write_1h),
        output: TokenCount(count.output),
        reasoning: TokenCount(count.reasoning),
    }
}

fn stop(answer: &Answer) -> (StopReason, &'static str) {
    match answer.stop {
        Stop::EndTurn => (StopReason::EndTurn, "end_turn"),
        Stop::ToolUse => (StopReason::ToolUse, "tool_use"),
        Stop::MaxTokens => (StopReason::MaxTokens, "max_tokens"),
        Stop::StopText => (StopReason::StopText, "stop_text"),
        Stop::Refusal => (StopReason::Refusal, "refusal"),
        Stop::Pause => (StopReason::Pause, "pause"),
    }
}
