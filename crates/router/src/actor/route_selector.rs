//! Selects the routes for a request: gathers the facts here; `policy::route` judges them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use model::policy::route::{
    Abilities, CandidateVerdict, ConsideredRoute, ExclusionReason, FallbackScope, Privacy,
    RequestedModel, RouteCandidate, RouteDecision, RouteReason, RouteRequirements, RouteWeights,
    decide,
};
use model::policy::{PrefixRegistry, RequestClass, Route};
use model::{Failure, FailureClass, ModelId, MonotonicTime, RefusedPart, Tier, TokenCount};

use super::messages::Submission;
use super::request::{ModelChoice, RoutingOptions};
use super::route::{RouteConfig, RouteState};

/// Maximum number of decisions kept for display.
const MAX_DECISIONS: usize = 256;
/// Maximum number of conversations whose route is remembered; the least recently used one is
/// dropped.
const MAX_CONVERSATIONS: usize = 4_096;
/// Expected output if the caller gives none; never more than the request's maximum.
const DEFAULT_OUTPUT: TokenCount = TokenCount(1_000);
/// Length of a shortlist, the routes judged for each of `auto`'s requests; all routes are judged
/// from time to time.
const SHORTLIST_LEN: usize = 40;
const SHORTLIST_LIFETIME: Duration = Duration::from_secs(60);
/// Maximum number of shortlists; there are hardly more kinds of steps.
const MAX_SHORTLISTS: usize = 32;
/// Time after its last use during which a conversation counts as cached by its provider.
const CACHE_LIFETIME: Duration = Duration::from_secs(5 * 60 - 10);

/// Chooses routes and remembers its choices.
pub(super) struct RouteSelector {
    /// One per route, in route order. A provider with hundreds of models has hundreds of routes, so
    /// candidates are kept and only changing fields are updated for each request.
    candidates: Vec<RouteCandidate>,
    /// Index of each route in `candidates`.
    indices: HashMap<Route, usize>,
    shortlists: Vec<RouteShortlist>,
    latest: VecDeque<Arc<RouteDecision>>,
    conversations: HashMap<String, Conversation>,
}

/// The best routes for a kind of step, as of a recent point in time.
struct RouteShortlist {
    kind: ShortlistKey,
    at: MonotonicTime,
    indices: Vec<usize>,
}

/// Requirements that determine which shortlist applies.
#[derive(Clone, Copy, PartialEq)]
struct ShortlistKey {
    tier: Tier,
    abilities: Abilities,
    privacy: Privacy,
    is_tab: bool,
}

#[derive(Clone, Debug)]
struct Conversation {
    route: Route,
    used: MonotonicTime,
}

/// Routing result for a request.
pub(super) struct RoutePlan {
    pub(super) decision: Arc<RouteDecision>,
    /// Indices of eligible routes, best first; may be empty.
    pub(super) chain: Vec<usize>,
    /// Reason why no route is eligible.
    pub(super) failure: Option<Failure>,
}

impl RouteSelector {
    /// Creates a selector; `auto` lists the models that it may choose, or all that are not
    /// deprecated if empty.
    pub(super) fn new(auto: &[ModelId], routes: &[RouteConfig]) -> Self {
        let candidates = routes.iter().map(|config| RouteCandidate {
            route: config.route.clone(),
            profile: config.profile.clone(),
            price: config.price.clone(),
            same_as: config.same_as.clone(),
            privacy: config.privacy,
            is_allowed: if auto.is_empty() {
                config.auto && !config.profile.deprecated
            } else {
                auto.contains(&config.route.model)
            },
            failure_ratio: 0.0,
            latency: None,
            warm: TokenCount(0),
        });
        let indices = routes.iter().enumerate();
        Self {
            candidates: candidates.collect(),
            indices: indices
                .map(|(ix, config)| (config.route.clone(), ix))
                .collect(),
            shortlists: Vec::new(),
            latest: VecDeque::new(),
            conversations: HashMap::new(),
        }
    }

    /// Returns the latest decisions, oldest first.
    pub(super) fn decisions(&self) -> Vec<Arc<RouteDecision>> {
        self.latest.iter().cloned().collect()
    }

    /// Chooses the routes for a request and records the decision. A plan without routes contains
    /// the failure for the caller.
    pub(super) fn choose(
        &mut self,
        submission: &Submission,
        routes: &[RouteState],
        prefixes: &PrefixRegistry,
        now: MonotonicTime,
    ) -> RoutePlan {
        let current = submission.conversation.as_ref();
        let current = current.and_then(|name| self.conversations.get(name).cloned());
        let requirements = requirements(submission, current.as_ref());
        let input = SelectionInput {
            requirements: &requirements,
            submission,
            current: current.as_ref(),
            routes,
            prefixes,
            now,
        };
        let decision = self.decide_among(&input);
        let decision = self.remember_decision(decision);
        RoutePlan {
            chain: decision
                .chain
                .iter()
                .filter_map(|link| self.indices.get(&link.route).copied())
                .collect(),
            failure: decision
                .chosen
                .is_none()
                .then(|| no_route_failure(&decision)),
            decision,
        }
    }

    /// Judges the fewest routes that lead to the same decision: those of a named model, or the
    /// shortlist.
    fn decide_among(&mut self, input: &SelectionInput<'_>) -> RouteDecision {
        let is_tab = input.submission.caller.class == RequestClass::Tab;
        let weights = if is_tab {
            RouteWeights::for_tab()
        } else {
            RouteWeights::default()
        };
        let kind = ShortlistKey {
            tier: input.requirements.complexity.tier(),
            abilities: input.requirements.abilities,
            privacy: input.requirements.privacy,
            is_tab,
        };
        if let Some(indices) = self
            .named_candidates(input.requirements)
            .or_else(|| self.shortlist_for(kind, input))
        {
            let decision = decide(
                input.requirements,
                &self.current_candidates(&indices, input),
                &weights,
            );
            if decision.chosen.is_some() {
                return decision;
            }
        }
        let all: Vec<usize> = (0..self.candidates.len()).collect();
        let mut decision = decide(
            input.requirements,
            &self.current_candidates(&all, input),
            &weights,
        );
        if decision.considered.len() > SHORTLIST_LEN && decision.chosen.is_some() {
            let best = decision.considered.iter().take(SHORTLIST_LEN);
            let indices = best.filter_map(|one| self.indices.get(&one.route).copied());
            let shortlist = RouteShortlist {
                kind,
                at: input.now,
                indices: indices.collect(),
            };
            self.shortlists.retain(|other| other.kind != kind);
            if self.shortlists.len() == MAX_SHORTLISTS {
                self.shortlists.remove(0);
            }
            self.shortlists.push(shortlist);
            decision.considered.truncate(SHORTLIST_LEN);
            decision.chain.truncate(SHORTLIST_LEN);
        }
        decision
    }

    /// Returns the candidates with their current state.
    fn current_candidates(
        &self,
        indices: &[usize],
        input: &SelectionInput<'_>,
    ) -> Vec<RouteCandidate> {
        let fresh = indices.iter().map(|index| {
            let state = &input.routes[*index];
            RouteCandidate {
                failure_ratio: state.breaker.failure_ratio(input.now),
                latency: state.latency.expected(input.requirements.output),
                warm: input.warm_tokens(state.route()),
                ..self.candidates[*index].clone()
            }
        });
        fresh.collect()
    }

    /// Returns the candidates for a named model if no other model may take over, so that hundreds
    /// need not be judged.
    fn named_candidates(&self, requirements: &RouteRequirements) -> Option<Vec<usize>> {
        let RequestedModel::Model(model) = &requirements.wanted else {
            return None;
        };
        if requirements.fallback > FallbackScope::SameModel {
            return None;
        }
        let named = |candidate: &RouteCandidate| candidate.route.model == *model;
        let names: Vec<&ModelId> = self
            .candidates
            .iter()
            .filter(|candidate| named(candidate))
            .map(|candidate| candidate.same_as.as_ref().unwrap_or(model))
            .collect();
        let is_same = |candidate: &RouteCandidate| {
            let name = candidate.same_as.as_ref();
            named(candidate) || names.contains(&name.unwrap_or(&candidate.route.model))
        };
        let all = self.candidates.iter().enumerate();
        let few = all.filter(|(_, candidate)| is_same(candidate));
        let few: Vec<usize> = few.map(|(index, _)| index).collect();
        // Without a match all are considered, so that the error sentence is right.
        (!few.is_empty()).then_some(few)
    }

    /// Returns the shortlist for an `auto` step, along with the conversation's current route.
    fn shortlist_for(&self, kind: ShortlistKey, input: &SelectionInput<'_>) -> Option<Vec<usize>> {
        if input.requirements.wanted != RequestedModel::Auto {
            return None;
        }
        let is_fresh = |short: &&RouteShortlist| {
            short.kind == kind && input.now.since(short.at) < SHORTLIST_LIFETIME
        };
        let mut indices = self.shortlists.iter().find(is_fresh)?.indices.clone();
        let current = input.current.and_then(|it| self.indices.get(&it.route));
        if let Some(current) = current.filter(|current| !indices.contains(current)) {
            indices.push(*current);
        }
        Some(indices)
    }

    /// Records that a route answers a conversation.
    pub(super) fn record_use(&mut self, conversation: &str, route: &Route, now: MonotonicTime) {
        if self.conversations.len() >= MAX_CONVERSATIONS
            && !self.conversations.contains_key(conversation)
        {
            let oldest = self.conversations.iter().min_by_key(|(_, it)| it.used);
            if let Some(name) = oldest.map(|(name, _)| name.clone()) {
                self.conversations.remove(&name);
            }
        }
        self.conversations.insert(
            conversation.to_owned(),
            Conversation {
                route: route.clone(),
                used: now,
            },
        );
    }

    /// Records that another route replaces a route that cannot answer, and returns this decision.
    pub(super) fn record_failover(
        &mut self,
        decision: &RouteDecision,
        to: &Route,
    ) -> Arc<RouteDecision> {
        self.remember_decision(RouteDecision {
            chosen: Some(to.clone()),
            reason: RouteReason::Displaced,
            ..decision.clone()
        })
    }

    fn remember_decision(&mut self, decision: RouteDecision) -> Arc<RouteDecision> {
        let decision = Arc::new(decision);
        if self.latest.len() == MAX_DECISIONS {
            self.latest.pop_front();
        }
        self.latest.push_back(decision.clone());
        decision
    }
}

fn requirements(submission: &Submission, current: Option<&Conversation>) -> RouteRequirements {
    let options: &RoutingOptions = &submission.options;
    let most = submission.size.demand.output;
    RouteRequirements {
        wanted: match options.choice {
            ModelChoice::Named => RequestedModel::Model(submission.model.clone()),
            ModelChoice::Auto => RequestedModel::Auto,
        },
        complexity: options.complexity,
        features: options.features.clone(),
        abilities: submission.abilities,
        prompt: submission.size.demand.input,
        output: options.expected_output.unwrap_or(DEFAULT_OUTPUT).min(most),
        cost_cap: options.cost_cap,
        privacy: options.privacy,
        fallback: options.fallback,
        current: current.map(|conversation| conversation.route.clone()),
        boundary: options.boundary,
    }
}

/// Facts available when a request arrives.
struct SelectionInput<'a> {
    requirements: &'a RouteRequirements,
    submission: &'a Submission,
    current: Option<&'a Conversation>,
    routes: &'a [RouteState],
    prefixes: &'a PrefixRegistry,
    now: MonotonicTime,
}

impl SelectionInput<'_> {
    /// Returns the part of the prompt in a route's cache: all of a conversation that it has just
    /// answered, otherwise the prefix last sent to it.
    fn warm_tokens(&self, route: &Route) -> TokenCount {
        let own = self.current.filter(|it| it.route == *route);
        if own.is_some_and(|it| self.now.since(it.used) < CACHE_LIFETIME) {
            return self.submission.size.demand.input;
        }
        match self.submission.prefix {
            Some(hash) if self.prefixes.is_warm(hash, route, self.now) => {
                self.submission.size.prefix
            }
            _ => TokenCount(0),
        }
    }
}

/// Explains to the user why no route is eligible, and how to change that.
fn no_route_failure(decision: &RouteDecision) -> Failure {
    let wanted: Vec<&ConsideredRoute> = match &decision.wanted {
        RequestedModel::Model(model) => {
            let considered = decision.considered.iter();
            considered.filter(|one| one.route.model == *model).collect()
        }
        RequestedModel::Auto => decision.considered.iter().collect(),
    };
    let exclusions: Vec<ExclusionReason> = wanted
        .iter()
        .filter_map(|one| match one.verdict {
            CandidateVerdict::Excluded(exclusion) => Some(exclusion),
            CandidateVerdict::Scored(_) => None,
        })
        .collect();
    // If a shorter conversation would help, the failure says so to its owner.
    let is_short =
        |exclusion: &ExclusionReason| matches!(exclusion, ExclusionReason::ContextTooSmall { .. });
    let class = if exclusions.iter().any(is_short) {
        FailureClass::ContextOverflow
    } else if wanted.is_empty() {
        FailureClass::NoSuchModel
    } else {
        FailureClass::InvalidRequest
    };
    // If only vision is missing, some model may answer without the images.
    let lacks_vision = |it: &ExclusionReason| {
        matches!(
            it,
            ExclusionReason::NoVision | ExclusionReason::VisionUnknown
        )
    };
    let part = exclusions
        .iter()
        .any(lacks_vision)
        .then(|| RefusedPart::Image {
            named: Vec::new(),
            is_any: true,
        });
    let mut message = decision.reason_clause();
    for (one, exclusion) in wanted.iter().zip(&exclusions) {
        message.push_str(&format!("; {}: {exclusion}", one.route));
    }
    Failure {
        part: part.filter(|_| class == FailureClass::InvalidRequest),
        ..Failure::new(class, message)
    }
}
