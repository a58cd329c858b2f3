//! Builds a reply from a rule: fills in texts, names calls, applies the request's limits, counts
//! tokens.

use std::ops::Range;

use crate::{
    prediction::PredictionMatch,
    request::{AnswerOptions, PromptRequest},
    rng::{self, Rng},
    schema,
    script::{
        Captures, ModelDialect, ReplyStep, ScriptRule, ScriptedCall, Stop, UsageStep, fill_value,
    },
    tokens,
    wire_format::WireFormat,
};

/// The reply to one request as the script defines it, before a wire format encodes it.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedReply {
    /// The random part of the answer's id.
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) dialect: ModelDialect,
    pub(crate) blocks: Vec<ReplyBlock>,
    pub(crate) stop: Stop,
    /// The stop text that ended the answer, if one did.
    pub(crate) stop_text: Option<String>,
    pub(crate) usage: TokenUsage,
    /// The parts of the text that the client predicted, if it predicted one.
    pub(crate) prediction: Option<PredictionMatch>,
    /// The usage that the script reports.
    pub(crate) reported: UsageStep,
    /// For ids of parts and sizes of fragments.
    pub(crate) rng: Rng,
}

/// Token counts that all wire formats can report. The prompt is `input + cache_read +
/// cache_write_5m + cache_write_1h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenUsage {
    pub(crate) input: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write_5m: u64,
    pub(crate) cache_write_1h: u64,
    /// Output tokens, reasoning and rejected predictions included.
    pub(crate) output: u64,
    pub(crate) reasoning: u64,
    pub(crate) accepted_prediction: u64,
    pub(crate) rejected_prediction: u64,
}

/// A block of a reply: reasoning, text, a refusal, or tool calls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReplyBlock {
    Thinking(Thought),
    Text(String),
    Refusal(String),
    Calls {
        calls: Vec<AnswerCall>,
        is_interleaved: bool,
    },
}

/// A reasoning block with the signature that the provider checks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thought {
    pub(crate) text: String,
    pub(crate) signature: String,
    pub(crate) is_redacted: bool,
}

/// One tool call of a reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnswerCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// JSON, or the text of a free-form call.
    pub(crate) arguments: String,
    pub(crate) is_free: bool,
}

impl TokenUsage {
    /// Returns the number of all tokens of the prompt, cached and uncached.
    pub(crate) fn prompt(self) -> u64 {
        self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h
    }

    /// Returns the output tokens that were generated and not taken over from a prediction.
    pub(crate) fn generated(self) -> u64 {
        self.output.saturating_sub(self.accepted_prediction)
    }

    /// Replaces the counted usage by the numbers that the script gives. Counts that the script
    /// omits stay unchanged.
    pub(crate) fn report(&mut self, step: UsageStep) {
        let fields = [
            (&mut self.input, step.input),
            (&mut self.cache_read, step.cache_read),
            (&mut self.cache_write_5m, step.cache_write),
            (&mut self.output, step.output),
            (&mut self.reasoning, step.reasoning),
        ];
        for (field, reported) in fields {
            if let Some(reported) = reported {
                *field = reported;
            }
        }
    }
}

impl ScriptedReply {
    /// Builds the rule's reply to the request. The engine fills in the prompt's side of `usage`.
    pub(crate) fn compose(
        rule: &ScriptRule,
        captures: &Captures,
        request: &PromptRequest,
        dialect: ModelDialect,
        mut rng: Rng,
    ) -> Self {
        let mut answer = Self {
            id: rng.random_id(24),
            model: request.model.clone(),
            dialect,
            blocks: Vec::new(),
            stop: Stop::EndTurn,
            stop_text: None,
            usage: TokenUsage::default(),
            prediction: None,
            reported: rule.reported(),
            rng,
        };
        for step in &rule.reply {
            answer.add_step(step, captures, request);
        }
        if let Some(schema) = &request.options.schema {
            answer.satisfy(schema);
        }
        answer.apply_options(&request.options);
        answer.count();
        if let Some(prediction) = &request.options.prediction {
            answer.match_prediction(prediction);
        }
        answer
    }

    fn add_step(&mut self, step: &ReplyStep, captures: &Captures, request: &PromptRequest) {
        match step {
            ReplyStep::Text(text) => self.blocks.push(ReplyBlock::Text(text.fill(captures))),
            ReplyStep::Repeat(repeat) => {
                let text = repeat.text.fill(captures).repeat(repeat.times as usize);
                self.blocks.push(ReplyBlock::Text(text));
            }
            ReplyStep::Thinking(thinking) => {
                let text = thinking.text.fill(captures);
                let signature = match &thinking.signature {
                    Some(signature) => signature.clone(),
                    None => sign(&text, &self.model),
                };
                self.blocks.push(ReplyBlock::Thinking(Thought {
                    text,
                    signature,
                    is_redacted: thinking.redacted,
                }));
            }
            ReplyStep::Call(call) => {
                self.call(std::slice::from_ref(call), false, captures, request)
            }
            ReplyStep::Calls(calls) => self.call(calls, false, captures, request),
            ReplyStep::Interleaved(calls) => self.call(calls, true, captures, request),
            ReplyStep::Refusal(text) => {
                self.blocks.push(ReplyBlock::Refusal(text.fill(captures)));
                self.stop = Stop::Refusal;
            }
            ReplyStep::Stop(stop) => self.stop = *stop,
            ReplyStep::Usage(_) => {}
        }
    }

    fn call(
        &mut self,
        calls: &[ScriptedCall],
        is_interleaved: bool,
        captures: &Captures,
        request: &PromptRequest,
    ) {
        let calls = calls
            .iter()
            .map(|call| AnswerCall {
                id: match &call.id {
                    Some(id) => id.clone(),
                    None => call_id(request.wire, self.dialect, &mut self.rng),
                },
                name: call.tool.clone(),
                arguments: match &call.raw {
                    Some(raw) => raw.fill(captures),
                    None => fill_value(&call.arguments, captures).to_string(),
                },
                is_free: request
                    .tools
                    .iter()
                    .any(|offer| offer.name == call.tool && offer.is_free),
            })
            .collect();
        self.blocks.push(ReplyBlock::Calls {
            calls,
            is_interleaved,
        });
        self.stop = Stop::ToolUse;
    }

    /// Answers with JSON of the schema: the script's text if it is JSON, else generated values.
    fn satisfy(&mut self, schema: &serde_json::Value) {
        let is_json = |block: &ReplyBlock| match block {
            ReplyBlock::Text(text) => serde_json::from_str::<serde_json::Value>(text).is_ok(),
            _ => false,
        };
        if self.stop != Stop::EndTurn || self.blocks.iter().any(is_json) {
            return;
        }
        let text: String = self.blocks.iter().filter_map(ReplyBlock::text).collect();
        self.blocks
            .retain(|block| matches!(block, ReplyBlock::Thinking(_)));
        let value = schema::satisfy(schema, text.trim());
        self.blocks.push(ReplyBlock::Text(value.to_string()));
    }

    /// Truncates the reply at the request's stop texts, its number of calls and its number of
    /// tokens.
    fn apply_options(&mut self, options: &AnswerOptions) {
        if !options.parallel {
            self.keep_first_call();
        }
        let found = self.blocks.iter().enumerate().find_map(|(ix, block)| {
            let text = block.text()?;
            let cuts = options
                .stop
                .iter()
                .filter_map(|stop| text.find(stop.as_str()).map(|at| (at, stop)));
            cuts.min().map(|(at, stop)| (ix, at, stop.clone()))
        });
        if let Some((ix, at, stop)) = found {
            self.blocks.truncate(ix + 1);
            if let ReplyBlock::Text(text) = &mut self.blocks[ix] {
                text.truncate(at);
            }
            self.stop = Stop::StopText;
            self.stop_text = Some(stop);
        }
        if let Some(most) = options.max_tokens {
            self.truncate_tokens(most);
        }
    }

    fn keep_first_call(&mut self) {
        let mut has_call = false;
        self.blocks.retain_mut(|block| match block {
            ReplyBlock::Calls { calls, .. } => {
                let keep = !has_call;
                calls.truncate(1);
                has_call = true;
                keep
            }
            _ => true,
        });
    }

    fn truncate_tokens(&mut self, most: u64) {
        let mut left = most;
        let mut is_cut = false;
        for block in &mut self.blocks {
            for text in block.texts_mut() {
                let tokens = tokens::of_text(text);
                if tokens > left {
                    *text = tokens::prefix(text, left).to_owned();
                    is_cut = true;
                }
                left -= tokens.min(left);
            }
        }
        if is_cut {
            self.stop = Stop::MaxTokens;
            self.stop_text = None;
            self.blocks.retain_mut(|block| match block {
                ReplyBlock::Calls { calls, .. } => {
                    calls.retain(|call| !call.arguments.is_empty());
                    !calls.is_empty()
                }
                ReplyBlock::Text(text) | ReplyBlock::Refusal(text) => !text.is_empty(),
                ReplyBlock::Thinking(thought) => !thought.text.is_empty(),
            });
        }
    }

    fn count(&mut self) {
        for block in &mut self.blocks {
            let is_thought = matches!(block, ReplyBlock::Thinking(_));
            let tokens: u64 = block
                .texts_mut()
                .iter()
                .map(|text| tokens::of_text(text))
                .sum();
            self.usage.output += tokens;
            if is_thought {
                self.usage.reasoning += tokens;
            }
        }
    }

    /// Counts the predicted tokens, by the dialects whose providers take predictions. Those that
    /// the answer lacks are billed.
    fn match_prediction(&mut self, prediction: &str) {
        if self.dialect != ModelDialect::Openai {
            return;
        }
        let found = PredictionMatch::new(prediction, &self.text());
        self.usage.accepted_prediction = found.accepted_tokens();
        self.usage.rejected_prediction = found.rejected_tokens();
        self.usage.output += found.rejected_tokens();
        self.prediction = Some(found);
    }

    /// Returns the tokens that a span of the text takes to generate, of the `tokens` in it.
    pub(crate) fn generated_tokens(&self, span: Range<usize>, tokens: u64) -> u64 {
        match &self.prediction {
            Some(prediction) => prediction.generated_tokens(span),
            None => tokens,
        }
    }

    /// Returns the reasoning blocks, in order.
    pub(crate) fn thoughts(&self) -> impl Iterator<Item = &Thought> {
        self.blocks.iter().filter_map(|block| match block {
            ReplyBlock::Thinking(thought) => Some(thought),
            _ => None,
        })
    }

    /// Iterates over all tool calls, in order, to change them.
    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut AnswerCall> {
        self.blocks.iter_mut().flat_map(|block| match block {
            ReplyBlock::Calls { calls, .. } => calls.as_mut_slice(),
            _ => &mut [],
        })
    }

    /// Returns all text of the reply, a refusal's included.
    pub(crate) fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            ReplyBlock::Text(text) | ReplyBlock::Refusal(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

impl ReplyBlock {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Thinking(thought) => vec![&mut thought.text],
            Self::Text(text) | Self::Refusal(text) => vec![text],
            Self::Calls { calls, .. } => calls.iter_mut().map(|call| &mut call.arguments).collect(),
        }
    }
}

impl ScriptRule {
    fn reported(&self) -> UsageStep {
        let found = self.reply.iter().find_map(|step| match step {
            ReplyStep::Usage(usage) => Some(*usage),
            _ => None,
        });
        found.unwrap_or_default()
    }
}

/// Returns a new call id in the provider's format.
fn call_id(wire: WireFormat, dialect: ModelDialect, rng: &mut Rng) -> String {
    match wire {
        WireFormat::Anthropic => format!("toolu_01{}", rng.random_id(22)),
        _ if dialect == ModelDialect::Mistral => rng.random_id(9),
        WireFormat::Gemini => rng.random_id(16),
        _ => format!("call_{}", rng.random_id(24)),
    }
}

/// Returns the signature of a thought, which fits only this text of this model.
fn sign(text: &str, model: &str) -> String {
    let seed = rng::extend(rng::hash(model.as_bytes()), text.as_bytes());
    format!("mock{}", Rng::of(&[seed]).random_id(44))
}
