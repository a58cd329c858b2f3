//! Decides the answer to a request, independent of the wire format: rule, fault, limits, cache,
//! reply.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    answer::ScriptedReply,
    api_error::{ApiError, ApiErrorKind},
    cache::PrefixCache,
    limits::{AccountLimits, LimitHeaders, TokenCost},
    request::PromptRequest,
    rng::Rng,
    script::{Captures, MockModel, ReplyPace, Script, ScriptRule, ScriptedFault, SeededFault},
    tokens,
};

/// The state of a running script: attempts, caches and rate limits. It decides the answer to each
/// request.
#[derive(Debug)]
pub(crate) struct ScriptEngine {
    script: Arc<Script>,
    /// The number of times each request arrived, by fingerprint. Unbounded: grows with the run.
    attempts: HashMap<(u64, u64), u32>,
    cache: PrefixCache,
    limits: AccountLimits,
    /// Signatures in answers: a strict server accepts no others. Unbounded: grows with the run.
    signatures: HashSet<String>,
}

/// The decision about one request: a reply or an error, with the rule that determined the decision.
#[derive(Debug)]
pub(crate) struct ScriptDecision {
    /// The name or number of the rule that matched, for the log.
    pub(crate) rule: Option<String>,
    pub(crate) limit_headers: LimitHeaders,
    pub(crate) outcome: Result<PacedReply, ApiError>,
}

/// A reply with its pace and its fault.
#[derive(Debug)]
pub(crate) struct PacedReply {
    pub(crate) answer: ScriptedReply,
    pub(crate) pace: ReplyPace,
    /// The delay before the first byte.
    pub(crate) first_byte: Duration,
    pub(crate) fault: Option<SeededFault>,
}

impl ScriptEngine {
    /// Creates the engine of a script, without attempts and with empty caches.
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script: Arc::new(script),
            attempts: HashMap::new(),
            cache: PrefixCache::default(),
            limits: AccountLimits::default(),
            signatures: HashSet::new(),
        }
    }

    /// Replaces the script; attempts are counted from zero, caches and limits stay.
    pub(crate) fn replace(&mut self, script: Script) {
        self.script = Arc::new(script);
        self.attempts.clear();
    }

    /// Returns the current script.
    pub(crate) fn script(&self) -> Arc<Script> {
        self.script.clone()
    }

    /// Returns whether a signature was sent in an answer.
    pub(crate) fn has_signed(&self, signature: &str) -> bool {
        self.signatures.contains(signature)
    }

    /// Decides the answer to a request that arrives at `now`: limits, then the first matching rule,
    /// then faults. Updates attempts, cache and limits.
    pub(crate) fn decide(&mut self, request: &PromptRequest, now: Instant) -> ScriptDecision {
        let script = self.script.clone();
        let (account, fingerprint) = (request.account(), request.fingerprint());
        let count = self.attempts.entry((account, fingerprint)).or_insert(0);
        *count += 1;
        let attempt = *count;
        let found = script.rules.iter().enumerate().find_map(|(ix, rule)| {
            let captures = rule.condition.matches(request, attempt)?;
            Some((ix, rule, captures))
        });
        let Some((ix, rule, captures)) = found else {
            return ScriptDecision {
                rule: None,
                limit_headers: LimitHeaders::default(),
                outcome: Err(no_rule(request)),
            };
        };
        let facts = script.facts(&request.model);
        let seeds = [script.seed, fingerprint, account, u64::from(attempt)];
        let mut reply =
            PacedReply::compose(&script, rule, &captures, request, &facts, Rng::of(&seeds));
        reply.fault = rule.fault(attempt, &seeds).or_else(|| {
            let schedule = script
                .schedule
                .as_ref()
                .filter(|_| rule.faults.is_empty())?;
            schedule.fault(fingerprint, attempt)
        });
        let (limit_headers, outcome) = self.admit(request, reply, &facts, now);
        ScriptDecision {
            rule: Some(rule.name.clone().unwrap_or_else(|| format!("{}", ix + 1))),
            limit_headers,
            outcome,
        }
    }

    /// Refuses the request or counts it. Checks the fault, the context window and the limits, in this
    /// order, and then updates the cache.
    fn admit(
        &mut self,
        request: &PromptRequest,
        mut reply: PacedReply,
        facts: &MockModel,
        now: Instant,
    ) -> (LimitHeaders, Result<PacedReply, ApiError>) {
        let prompt = tokens::of_bytes(request.prompt_bytes());
        let error = reply
            .fault
            .as_ref()
            .and_then(|seeded| ApiError::of(&seeded.fault, prompt))
            .or_else(|| {
                let limit = facts.context.filter(|limit| prompt > *limit)?;
                Some(ApiError::new(ApiErrorKind::ContextOverflow {
                    prompt,
                    limit,
                }))
            });
        if let Some(error) = error {
            return (LimitHeaders::default(), Err(error));
        }
        let plan = self.cache.plan(request, facts.cache, now);
        let mut limit_headers = LimitHeaders::default();
        if let Some(limits) = facts.limits {
            let cost = TokenCost {
                input: prompt - plan.read.min(prompt),
                output: reply.answer.usage.output,
            };
            let (after, admitted) =
                self.limits
                    .consume(request.account(), &request.model, limits, cost, now);
            limit_headers = after;
            if let Err(exhausted) = admitted {
                let what = exhausted.what;
                let error = ApiError {
                    retry_after: Some(exhausted.wait),
                    ..ApiError::new(ApiErrorKind::RateLimited { what })
                };
                return (limit_headers, Err(error));
            }
        }
        let (read, written) = (plan.read, (plan.write_5m, plan.write_1h));
        reply.answer.set_usage(prompt, read, written);
        self.cache.commit(plan, now, now + reply.first_byte);
        let signatures = reply
            .answer
            .thoughts()
            .map(|thought| thought.signature.clone());
        self.signatures.extend(signatures);
        (limit_headers, Ok(reply))
    }
}

impl PacedReply {
    fn compose(
        script: &Script,
        rule: &ScriptRule,
        captures: &Captures,
        request: &PromptRequest,
        facts: &MockModel,
        mut rng: Rng,
    ) -> Self {
        let pace = rule.pace.or(facts.pace).unwrap_or(script.pace);
        let first_byte = pace.first_byte(&mut rng);
        Self {
            answer: ScriptedReply::compose(rule, captures, request, facts.dialect, rng),
            pace,
            first_byte,
            fault: None,
        }
    }
}

impl ScriptedReply {
    /// Fills in the prompt's side of the usage, then the numbers that the script reports.
    fn set_usage(&mut self, prompt: u64, read: u64, (write_5m, write_1h): (u64, u64)) {
        self.usage.cache_read = read;
        self.usage.cache_write_5m = write_5m;
        self.usage.cache_write_1h = write_1h;
        self.usage.input = prompt.saturating_sub(read + write_5m + write_1h);
        self.usage.report(self.reported);
    }
}

impl ScriptRule {
    fn fault(&self, attempt: u32, seeds: &[u64]) -> Option<SeededFault> {
        let applies = |first: &Option<u32>| first.is_none_or(|first| attempt <= first);
        let found = self.faults.iter().find(|fault| applies(&fault.first))?;
        Some(SeededFault {
            fault: found.fault.clone(),
            draw: Rng::of(seeds).next(),
        })
    }
}

impl ReplyPace {
    /// Returns a random delay, lognormally distributed around the median.
    fn first_byte(self, rng: &mut Rng) -> Duration {
        let factor = (self.first_byte_sigma * rng.normal()).exp();
        Duration::try_from_secs_f64(self.first_byte_ms / 1e3 * factor).unwrap_or_default()
    }

    /// Returns the time from the first byte until the token with this number is due.
    pub(crate) fn due(self, tokens: u64) -> Duration {
        if self.tokens_per_second <= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(tokens as f64 / self.tokens_per_second).unwrap_or_default()
    }
}

impl ScriptedFault {
    /// Corrupts the content of a reply, for faults such as broken arguments. Does nothing for
    /// faults of the transport.
    pub(crate) fn corrupt_reply(&self, answer: &mut ScriptedReply, request: &PromptRequest) {
        match self {
            Self::BadArguments {} => {
                for call in answer.calls_mut().filter(|call| !call.is_free) {
                    // Without its end, and with a quote too many: no parser can repair it by closing brackets.
                    let end = call.arguments.len().saturating_sub(1);
                    call.arguments.truncate(end);
                    call.arguments.push_str(",\"");
                }
            }
            Self::DuplicateIds {} => {
                let earlier = request.results.last().map(|result| result.call.clone());
                let mut calls = answer.calls_mut();
                let Some(first) = calls.next() else { return };
                let id = first.id.clone();
                let mut is_alone = true;
                for call in calls {
                    call.id = id.clone();
                    is_alone = false;
                }
                if is_alone
                    && let Some(earlier) = earlier
                    && let Some(first) = answer.calls_mut().next()
                {
                    first.id = earlier;
                }
            }
            _ => {}
        }
    }
}

fn no_rule(request: &PromptRequest) -> ApiError {
    let user: String = request.user.chars().take(80).collect();
    ApiError::invalid(format!(
        "no rule of the script fits this request (model {:?}, turn {}, step {}, user {user:?}); add a rule \
         without \"match\" at the end to answer everything",
        request.model, request.turn, request.step
    ))
}
