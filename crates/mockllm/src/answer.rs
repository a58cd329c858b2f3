//! From a rule to an answer: texts filled in, calls named, cut to what the request allows, and counted.

use crate::{
    asked::{Asked, Options},
    rng::{self, Rng},
    schema,
    script::{Call, Captures, Dialect, Rule, Step, Stop, UsageStep, fill_value},
    tokens,
};

/// What is said, before a wire gives it form.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Letters and digits for the answer's own id.
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) dialect: Dialect,
    pub(crate) blocks: Vec<Block>,
    pub(crate) stop: Stop,
    /// The stop text that came, if one did.
    pub(crate) stop_text: Option<String>,
    pub(crate) usage: Count,
    /// What the script says was used.
    pub(crate) reported: UsageStep,
    /// For ids of parts and sizes of fragments.
    pub(crate) rng: Rng,
}

/// Tokens, as all wires can tell them. The prompt is `input + cache_read + cache_write_5m + cache_write_1h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) input: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write_5m: u64,
    pub(crate) cache_write_1h: u64,
    /// Reasoning included.
    pub(crate) output: u64,
    pub(crate) reasoning: u64,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    Thinking(Thought),
    Text(String),
    Refusal(String),
    Calls {
        calls: Vec<AnswerCall>,
        is_interleaved: bool,
    },
}

/// Thought and what the provider wants back with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thought {
    pub(crate) text: String,
    pub(crate) signature: String,
    pub(crate) is_redacted: bool,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnswerCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// JSON, or the text of a free-form call.
    pub(crate) arguments: String,
    pub(crate) is_free: bool,
}

impl Count {
    pub(crate) fn prompt(self) -> u64 {
        self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h
    }

    /// Replaces what the script reports by its own numbers.
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

impl Answer {
    /// What the rule says to the request. The prompt's side of `usage` is left to whoever knows the cache.
    pub(crate) fn compose(
        rule: &Rule,
        captures: &Captures,
        asked: &Asked,
        dialect: Dialect,
        mut rng: Rng,
    ) -> Self {
        let mut answer = Self {
            id: rng.word(24),
            model: asked.model.clone(),
            dialect,
            blocks: Vec::new(),
            stop: Stop::EndTurn,
            stop_text: None,
            usage: Count::default(),
            reported: rule.reported(),
            rng,
        };
        for step in &rule.reply {
            answer.say(step, captures, asked);
        }
        if let Some(schema) = &asked.options.schema {
            answer.satisfy(schema);
        }
        answer.keep_to(&asked.options);
        answer.count();
        answer
    }

    fn say(&mut self, step: &Step, captures: &Captures, asked: &Asked) {
        match step {
            Step::Text(text) => self.blocks.push(Block::Text(text.fill(captures))),
            Step::Repeat(repeat) => {
                let text = repeat.text.fill(captures).repeat(repeat.times as usize);
                self.blocks.push(Block::Text(text));
            }
            Step::Thinking(thinking) => {
                let text = thinking.text.fill(captures);
                let signature = match &thinking.signature {
                    Some(signature) => signature.clone(),
                    None => sign(&text, &self.model),
                };
                self.blocks.push(Block::Thinking(Thought {
                    text,
                    signature,
                    is_redacted: thinking.redacted,
                }));
            }
            Step::Call(call) => self.call(std::slice::from_ref(call), false, captures, asked),
            Step::Calls(calls) => self.call(calls, false, captures, asked),
            Step::Interleaved(calls) => self.call(calls, true, captures, asked),
            Step::Refusal(text) => {
                self.blocks.push(Block::Refusal(text.fill(captures)));
                self.stop = Stop::Refusal;
            }
            Step::Stop(stop) => self.stop = *stop,
            Step::Usage(_) => {}
        }
    }

    fn call(&mut self, calls: &[Call], is_interleaved: bool, captures: &Captures, asked: &Asked) {
        let calls = calls
            .iter()
            .map(|call| AnswerCall {
                id: match &call.id {
                    Some(id) => id.clone(),
                    None => asked.wire.call_id(self.dialect, &mut self.rng),
                },
                name: call.tool.clone(),
                arguments: match &call.raw {
                    Some(raw) => raw.fill(captures),
                    None => fill_value(&call.arguments, captures).to_string(),
                },
                is_free: asked
                    .tools
                    .iter()
                    .any(|offer| offer.name == call.tool && offer.is_free),
            })
            .collect();
        self.blocks.push(Block::Calls {
            calls,
            is_interleaved,
        });
        self.stop = Stop::ToolUse;
    }

    /// Answers with JSON of the schema: the script's own text where it is JSON, else values made up.
    fn satisfy(&mut self, schema: &serde_json::Value) {
        let is_json = |block: &Block| match block {
            Block::Text(text) => serde_json::from_str::<serde_json::Value>(text).is_ok(),
            _ => false,
        };
        if self.stop != Stop::EndTurn || self.blocks.iter().any(is_json) {
            return;
        }
        let text: String = self.blocks.iter().filter_map(Block::text).collect();
        self.blocks
            .retain(|block| matches!(block, Block::Thinking(_)));
        let value = schema::satisfy(schema, text.trim());
        self.blocks.push(Block::Text(value.to_string()));
    }

    /// Cuts the answer at the request's stop texts, its number of calls and its number of tokens.
    fn keep_to(&mut self, options: &Options) {
        if !options.parallel {
            self.keep_one_call();
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
            if let Block::Text(text) = &mut self.blocks[ix] {
                text.truncate(at);
            }
            self.stop = Stop::StopText;
            self.stop_text = Some(stop);
        }
        if let Some(most) = options.max_tokens {
            self.keep_tokens(most);
        }
    }

    fn keep_one_call(&mut self) {
        let mut has_call = false;
        self.blocks.retain_mut(|block| match block {
            Block::Calls { calls, .. } => {
                let keep = !has_call;
                calls.truncate(1);
                has_call = true;
                keep
            }
            _ => true,
        });
    }

    fn keep_tokens(&mut self, most: u64) {
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
                Block::Calls { calls, .. } => {
                    calls.retain(|call| !call.arguments.is_empty());
                    !calls.is_empty()
                }
                Block::Text(text) | Block::Refusal(text) => !text.is_empty(),
                Block::Thinking(thought) => !thought.text.is_empty(),
            });
        }
    }

    fn count(&mut self) {
        for block in &mut self.blocks {
            let is_thought = matches!(block, Block::Thinking(_));
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

    /// Thought, in order.
    pub(crate) fn thoughts(&self) -> impl Iterator<Item = &Thought> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Thinking(thought) => Some(thought),
            _ => None,
        })
    }

    /// Every call, in order.
    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut AnswerCall> {
        self.blocks.iter_mut().flat_map(|block| match block {
            Block::Calls { calls, .. } => calls.as_mut_slice(),
            _ => &mut [],
        })
    }

    /// All text for the person, a refusal's included.
    pub(crate) fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) | Block::Refusal(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

impl Block {
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

impl Rule {
    fn reported(&self) -> UsageStep {
        let found = self.reply.iter().find_map(|step| match step {
            Step::Usage(usage) => Some(*usage),
            _ => None,
        });
        found.unwrap_or_default()
    }
}

/// A signature of a thought: it fits this text of this model alone.
fn sign(text: &str, model: &str) -> String {
    let seed = rng::extend(rng::hash(model.as_bytes()), text.as_bytes());
    format!("mock{}", Rng::of(&[seed]).word(44))
}
