//! A route to a model: its configuration, limits and health.

use std::sync::Arc;
use std::time::Duration;

use model::policy::route::Privacy;
use model::policy::{Breaker, Concurrency, Latency, Route, RouteLimits, TokenEstimator};
use model::{
    Cost, Failure, FailureClass, ModelClient, ModelId, MonotonicTime, Price, Profile, Usage,
};

use super::estimate::RequestSize;

/// Configuration of a route.
#[derive(Clone)]
pub struct RouteConfig {
    /// The model, and the name of the key.
    pub route: Route,
    /// Client that sends the requests.
    pub client: Arc<dyn ModelClient>,
    /// Price per token, if known.
    pub price: Option<Price>,
    /// Profile of the model.
    pub profile: Profile,
    /// Provider-independent name of the model, if it has one.
    pub same_as: Option<ModelId>,
    /// Audience of prompts on this route.
    pub privacy: Privacy,
    /// Whether `auto` may use it if the user lists no models.
    pub auto: bool,
    /// The user's own rate limits.
    pub limits: RouteLimits,
    /// Maximum number of concurrent requests; the router starts with fewer and adapts.
    pub max_concurrency: u32,
    /// Timeouts for a silent provider.
    pub stall: StallLimits,
}

/// Timeouts for a provider that accepts a request and then stays silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallLimits {
    /// Timeout before the first event.
    pub first_event: Duration,
    /// Timeout between two events.
    pub idle: Duration,
}

/// Health report of a route.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteHealth {
    /// The route in question.
    pub route: Route,
    /// Number of requests in flight.
    pub in_flight: u32,
    /// Current limit of concurrent requests.
    pub limit: u32,
    /// From 0 (no recent failure) to 1 (nothing is sent).
    pub failure_ratio: f64,
    /// The last failure, unless a request has succeeded since.
    pub last_failure: Option<Failure>,
    /// Average time to the first event.
    pub first_event: Option<Duration>,
    /// Average output speed in tokens.
    pub tokens_per_second: Option<f64>,
}

/// Runtime state of a route, from which its health and limits follow.
pub(super) struct RouteState {
    pub(super) config: RouteConfig,
    pub(super) breaker: Breaker,
    pub(super) concurrency: Concurrency,
    pub(super) latency: Latency,
    pub(super) tokens: TokenEstimator,
    pub(super) last_failure: Option<Failure>,
}

/// Initial limit of concurrent requests.
const INITIAL_CONCURRENCY: u32 = 8;

impl Default for StallLimits {
    /// One minute to the first event, five between events.
    fn default() -> Self {
        Self {
            first_event: Duration::from_secs(60),
            idle: Duration::from_secs(300),
        }
    }
}

impl RouteState {
    /// Creates the state of a route: healthy, with low concurrency.
    pub(super) fn new(config: RouteConfig) -> Self {
        Self {
            concurrency: Concurrency::new(INITIAL_CONCURRENCY, config.max_concurrency),
            breaker: Breaker::default(),
            latency: Latency::default(),
            tokens: TokenEstimator::default(),
            last_failure: None,
            config,
        }
    }

    /// Returns the model and the name of the key.
    pub(super) fn route(&self) -> &Route {
        &self.config.route
    }

    /// Returns whether the last failure needs the user's action (key, quota or model name), so that
    /// waiting does not help.
    pub(super) fn is_shut(&self) -> bool {
        let class = self.last_failure.as_ref().map(|failure| failure.class);
        matches!(
            class,
            Some(FailureClass::Quota | FailureClass::Authentication | FailureClass::NoSuchModel)
        )
    }

    /// Returns the cost of a request, or `None` if the price is unknown.
    pub(super) fn cost(&self, usage: &Usage) -> Option<Cost> {
        self.config.price.as_ref()?.cost(usage)
    }

    /// Returns the maximum cost of a request, or `None` if the price is unknown.
    pub(super) fn max_cost(&self, size: &RequestSize) -> Option<Cost> {
        let price = self.config.price.as_ref()?;
        price.max_cost(size.demand.input, size.demand.output, size.caches)
    }

    /// Returns the health report at `now`.
    pub(super) fn health(&self, now: MonotonicTime) -> RouteHealth {
        RouteHealth {
            route: self.route().clone(),
            in_flight: self.concurrency.in_flight(),
            limit: self.concurrency.limit(),
            failure_ratio: self.breaker.failure_ratio(now),
            last_failure: self.last_failure.clone(),
            first_event: self.latency.first_token(),
            tokens_per_second: self.latency.tokens_per_second(),
        }
    }
}
