//! One way to a model: whom it asks, what it may, how it fares.

use std::sync::Arc;
use std::time::Duration;

use model::policy::route::Privacy;
use model::policy::{Breaker, Concurrency, Lane, LaneLimits, Latency, TokenEstimator};
use model::{Client, Cost, Failure, FailureClass, ModelId, Moment, Price, Profile, Usage};

use super::estimate::Size;

/// One way to a model, as it is configured.
#[derive(Clone)]
pub struct LaneConfig {
    /// The model, and the name of the key.
    pub lane: Lane,
    /// What sends.
    pub client: Arc<dyn Client>,
    /// What tokens cost, where that is known.
    pub price: Option<Price>,
    /// What the model can do.
    pub profile: Profile,
    /// The name that the same model has everywhere, where it has one.
    pub same_as: Option<ModelId>,
    /// To whom it shows prompts.
    pub privacy: Privacy,
    /// Whether `auto` may take it, where the person names no models for that.
    pub auto: bool,
    /// The person's own limits.
    pub limits: LaneLimits,
    /// The most requests at once; the router starts with fewer and learns.
    pub most_at_once: u32,
    /// How long its silence is borne.
    pub stall: StallLimits,
}

/// How long a provider may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallLimits {
    /// Before the first event.
    pub first_event: Duration,
    /// Between two events.
    pub idle: Duration,
}

/// How a lane fares.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneHealth {
    /// Which.
    pub lane: Lane,
    /// Requests under way.
    pub in_flight: u32,
    /// How many may be under way at once now.
    pub limit: u32,
    /// From 0 (nothing failed lately) to 1 (nothing is sent).
    pub sickness: f64,
    /// What went wrong last, if nothing went well since.
    pub last_failure: Option<Failure>,
    /// The average time to the first event.
    pub first_event: Option<Duration>,
    /// The average speed of an answer.
    pub tokens_per_second: Option<f64>,
}

/// A lane at work.
pub(super) struct LaneState {
    pub(super) config: LaneConfig,
    pub(super) breaker: Breaker,
    pub(super) concurrency: Concurrency,
    pub(super) latency: Latency,
    pub(super) tokens: TokenEstimator,
    pub(super) last_failure: Option<Failure>,
}

/// Requests at once that a lane starts with.
const START: u32 = 8;

impl Default for StallLimits {
    /// A minute to the first event, five between two.
    fn default() -> Self {
        Self {
            first_event: Duration::from_secs(60),
            idle: Duration::from_secs(300),
        }
    }
}

impl LaneState {
    pub(super) fn new(config: LaneConfig) -> Self {
        Self {
            concurrency: Concurrency::new(START, config.most_at_once),
            breaker: Breaker::default(),
            latency: Latency::default(),
            tokens: TokenEstimator::default(),
            last_failure: None,
            config,
        }
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.config.lane
    }

    /// Whether what failed last is a matter between the person and the provider, which no wait mends.
    pub(super) fn is_shut(&self) -> bool {
        let class = self.last_failure.as_ref().map(|failure| failure.class);
        matches!(
            class,
            Some(FailureClass::Quota | FailureClass::Authentication | FailureClass::NoSuchModel)
        )
    }

    /// What a request cost, where that is known.
    pub(super) fn cost(&self, usage: &Usage) -> Option<Cost> {
        self.config.price.as_ref()?.cost(usage)
    }

    /// The most that a request can cost, where that is known.
    pub(super) fn most(&self, size: &Size) -> Option<Cost> {
        let price = self.config.price.as_ref()?;
        price.most(size.ask.input, size.ask.output, size.caches)
    }

    pub(super) fn health(&self, now: Moment) -> LaneHealth {
        LaneHealth {
            lane: self.lane().clone(),
            in_flight: self.concurrency.in_flight(),
            limit: self.concurrency.limit(),
            sickness: self.breaker.sickness(now),
            last_failure: self.last_failure.clone(),
            first_event: self.latency.first_token(),
            tokens_per_second: self.latency.tokens_per_second(),
        }
    }
}
