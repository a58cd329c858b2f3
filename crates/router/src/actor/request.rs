//! Requests to the router and the events it answers with.

use std::sync::Arc;
use std::time::Duration;

use model::policy::route::{FallbackScope, Privacy, RouteDecision, SwitchBoundary};
use model::policy::{
    AgentId, Caller, Complexity, ComplexityFeatures, RequestClass, StepDescription, TurnId,
};
use model::{Cost, Failure, Fim, ModelId, ModelRequest, StreamEvent, TokenCount, policy};

/// A request to the router.
#[derive(Clone, Debug)]
pub struct RouterRequest {
    /// The request to send. Its model is used if the choice is `Named`, and replaced otherwise.
    pub payload: RequestPayload,
    /// Originator of the request.
    pub caller: Caller,
    /// Constraints on the choice of model.
    pub options: RoutingOptions,
}

/// The payload of a request.
#[derive(Clone, Debug)]
pub enum RequestPayload {
    /// A conversation to continue.
    Chat(Box<ModelRequest>),
    /// A gap to complete.
    Fim(Box<Fim>),
}

/// The party that chooses the model of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// The caller: the request's own model.
    Named,
    /// The router, by the difficulty of the step.
    Auto,
}

/// Constraints on the choice of model.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutingOptions {
    /// Whether the caller or the router chooses the model.
    pub choice: ModelChoice,
    /// Estimated difficulty of the step.
    pub complexity: Complexity,
    /// Inputs of the complexity score.
    pub features: ComplexityFeatures,
    /// Whether the answer shall edit files.
    pub edits: bool,
    /// Whether the conversation may switch models at this point.
    pub boundary: SwitchBoundary,
    /// Permitted fallbacks if the chosen model fails.
    pub fallback: FallbackScope,
    /// The permitted audience of the prompt.
    pub privacy: Privacy,
    /// Expected output tokens; `None` for the default.
    pub expected_output: Option<TokenCount>,
    /// Maximum expected cost of the answer.
    pub cost_cap: Option<Cost>,
}

impl RoutingOptions {
    /// Returns options that use the request's own model, on any route.
    pub fn named() -> Self {
        Self {
            choice: ModelChoice::Named,
            complexity: Complexity::default(),
            features: ComplexityFeatures::default(),
            edits: false,
            boundary: SwitchBoundary::NewTurn,
            fallback: FallbackScope::SameModel,
            privacy: Privacy::Any,
            expected_output: None,
            cost_cap: None,
        }
    }

    /// Returns options that let the router choose a model for `step`. `boundary` is the current
    /// point of the conversation: it limits changes of the model, because a change loses the prompt
    /// cache.
    pub fn auto(step: &StepDescription<'_>, boundary: SwitchBoundary) -> Self {
        let (complexity, features) = policy::complexity(step);
        Self {
            choice: ModelChoice::Auto,
            complexity,
            features,
            boundary,
            fallback: FallbackScope::AnyTier,
            ..Self::named()
        }
    }
}

/// An event from the router to the caller. The last one is an `Event` that ends the answer.
#[derive(Clone, Debug)]
pub enum RouterEvent {
    /// The chosen model and the reasons. Precedes the answer's first event, and recurs when another
    /// model takes over.
    Decided(Arc<RouteDecision>),
    /// The request failed and will be retried.
    Waiting {
        /// The failure that causes the retry.
        failure: Failure,
        /// Time until the retry.
        pause: Duration,
    },
    /// An event of the answer.
    Event(StreamEvent),
}

impl RouterRequest {
    /// Creates a chat request to the model that it names.
    pub fn chat(request: ModelRequest, caller: Caller) -> Self {
        Self {
            payload: RequestPayload::Chat(Box::new(request)),
            caller,
            options: RoutingOptions::named(),
        }
    }

    /// Creates a completion request for Tab to the model that it names.
    pub fn fim(fim: Fim, agent: AgentId) -> Self {
        Self {
            payload: RequestPayload::Fim(Box::new(fim)),
            options: RoutingOptions::named(),
            caller: Caller {
                class: RequestClass::Tab,
                agent,
                turn: TurnId(0),
            },
        }
    }
}

impl RequestPayload {
    /// Returns the model that it names.
    pub fn model(&self) -> &ModelId {
        match self {
            Self::Chat(request) => &request.model,
            Self::Fim(fim) => &fim.model,
        }
    }
}
