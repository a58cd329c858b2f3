//! What is asked of the router, and what it tells meanwhile.

use std::sync::Arc;
use std::time::Duration;

use model::policy::route::{Boundary, Fallback, Privacy, RouteDecision};
use model::policy::{AgentId, Caller, Class, Complexity, ComplexityFeatures, Task, TurnId};
use model::{Cost, Event, Failure, Fim, ModelId, Request, TokenCount, policy};

/// A question for the router.
#[derive(Clone, Debug)]
pub struct Ask {
    /// What is sent. Its model is the one asked for where the choice is `Named`, and replaced otherwise.
    pub what: Question,
    /// On whose behalf.
    pub caller: Caller,
    /// Who may answer.
    pub terms: Terms,
}

/// What is sent.
#[derive(Clone, Debug)]
pub enum Question {
    /// A conversation to be continued.
    Chat(Box<Request>),
    /// A gap to be filled.
    Fim(Box<Fim>),
}

/// Who chooses the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The caller: the model that the question names.
    Named,
    /// The router, by how hard the work looks.
    Auto,
}

/// Who may answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Who chooses the model.
    pub choice: Choice,
    /// How hard the work looks.
    pub complexity: Complexity,
    /// Why.
    pub features: ComplexityFeatures,
    /// Whether the answer is to edit files.
    pub edits: bool,
    /// Whether a conversation may leave its model here.
    pub boundary: Boundary,
    /// How far to go if the chosen model cannot answer.
    pub fallback: Fallback,
    /// To whom the prompt may be shown.
    pub privacy: Privacy,
    /// What the answer is expected to have; `None` for the usual.
    pub expected_output: Option<TokenCount>,
    /// What the answer may be expected to cost.
    pub cost_cap: Option<Cost>,
}

impl Terms {
    /// The model that the question names, in whichever lane.
    pub fn named() -> Self {
        Self {
            choice: Choice::Named,
            complexity: Complexity::default(),
            features: ComplexityFeatures::default(),
            edits: false,
            boundary: Boundary::NewTurn,
            fallback: Fallback::SameModel,
            privacy: Privacy::Any,
            expected_output: None,
            cost_cap: None,
        }
    }

    /// Whichever model fits the step.
    pub fn auto(step: &Task<'_>, boundary: Boundary) -> Self {
        let (complexity, features) = policy::complexity(step);
        Self {
            choice: Choice::Auto,
            complexity,
            features,
            boundary,
            fallback: Fallback::AnyTier,
            ..Self::named()
        }
    }
}

/// What the router tells the caller, in order. The last is an `Event` that is the last of its answer.
#[derive(Clone, Debug)]
pub enum Told {
    /// Who answers, and why. It comes before the answer's first event, and again when another model takes over.
    Decided(Arc<RouteDecision>),
    /// Something went wrong, and the same is tried again.
    Waiting {
        /// What went wrong.
        failure: Failure,
        /// How long nothing will happen now.
        pause: Duration,
    },
    /// A piece of the answer.
    Event(Event),
}

impl Ask {
    /// A conversation, asked of the model that it names.
    pub fn chat(request: Request, caller: Caller) -> Self {
        Self {
            what: Question::Chat(Box::new(request)),
            caller,
            terms: Terms::named(),
        }
    }

    /// A gap, to be filled by the model that it names, for Tab.
    pub fn fim(fim: Fim, agent: AgentId) -> Self {
        Self {
            what: Question::Fim(Box::new(fim)),
            terms: Terms::named(),
            caller: Caller {
                class: Class::Tab,
                agent,
                turn: TurnId(0),
            },
        }
    }
}

impl Question {
    /// The model that it names.
    pub fn model(&self) -> &ModelId {
        match self {
            Self::Chat(request) => &request.model,
            Self::Fim(fim) => &fim.model,
        }
    }
}
