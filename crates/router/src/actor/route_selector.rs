//! Selects the routes for a request: gathers the facts here, `policy::route` judges them.

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
const KEPT: usize = 256;
/// Maximum number of conversations whose route is remembered; the least recently used one is
/// dropped.
const CONVERSATIONS: usize = 4_096;
/// Expected output if the caller gives none; never more than the request's maximum.
const USUAL_OUTPUT: TokenCount = TokenCount(1_000);
/// Length of a shortlist, the routes judged for each of `auto`'s requests; all routes are judged
/// from time to time.
const SHORT: usize = 40;
const FRESH: Duration = Duration::from_secs(60);
/// Maximum number of shortlists; there are hardly more kinds of steps.
const KINDS: usize = 32;
/// Time after its last use during which a conversation counts as cached by its provider.
const WARM: Duration = Duration::from_secs(5 * 60 - 10);

pub(super) struct RouteSelector {
    /// One per route, in route order. A provider with hundreds of models has hundreds of routes, so
    /// candidates are kept and only changing fields are updated for each request.
    candidates: Vec<RouteCandidate>,
    /// Index of each route in `candidates`.
    places: HashMap<Route, usize>,
    shortlists: Vec<RouteShortlist>,
    latest: VecDeque<Arc<RouteDecision>>,
    conversations: HashMap<String, Conversation>,
}

/// The best routes for a kind of step, as of a recent point in time.
struct RouteShortlist {
    kind: ShortlistKey,
    at: MonotonicTime,
    places: Vec<usize>,
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
    pub(super) fn new(auto: &[ModelId], lanes: &[RouteConfig]) -> Self {
        let candidates = lanes.iter().map(|config| RouteCandidate {
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
            sickness: 0.0,
            latency: None,
            warm: TokenCount(0),
        });
        let places = lanes.iter().enumerate();
        Self {
            candidates: candidates.collect(),
            places: places
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

    pub(super) fn choose(
        &mut self,
        submission: &Submission,
        lanes: &[RouteState],
        prefixes: &PrefixRegistry,
        now: MonotonicTime,
    ) -> RoutePlan {
        let current = submission.conversation.as_ref();
        let current = current.and_then(|name| self.conversations.get(name).cloned());
        let need = requirements(submission, current.as_ref());
        let now_known = SelectionInput {
            need: &need,
            submission,
            current: current.as_ref(),
            routes: lanes,
            prefixes,
            now,
        };
        let decision = self.decide_among(&now_known);
        let decision = self.remember_decision(decision);
        RoutePlan {
            chain: decision
                .chain
                .iter()
                .filter_map(|link| self.places.get(&link.lane).copied())
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
    fn decide_among(&mut self, known: &SelectionInput<'_>) -> RouteDecision {
        let is_tab = known.submission.caller.class == RequestClass::Tab;
        let weights = if is_tab {
            RouteWeights::for_tab()
        } else {
            RouteWeights::default()
        };
        let kind = ShortlistKey {
            tier: known.need.complexity.tier(),
            abilities: known.need.abilities,
            privacy: known.need.privacy,
            is_tab,
        };
        if let Some(places) = self
            .named_candidates(known.need)
            .or_else(|| self.shortlist_for(kind, known))
        {
            let decision = decide(
                known.need,
                &self.current_candidates(&places, known),
                &weights,
            );
            if decision.chosen.is_some() {
                return decision;
            }
        }
        let all: Vec<usize> = (0..self.candidates.len()).collect();
        let mut decision = decide(known.need, &self.current_candidates(&all, known), &weights);
        if decision.considered.len() > SHORT && decision.chosen.is_some() {
            let best = decision.considered.iter().take(SHORT);
            let places = best.filter_map(|one| self.places.get(&one.lane).copied());
            let shortlist = RouteShortlist {
                kind,
                at: known.now,
                places: places.collect(),
            };
            self.shortlists.retain(|other| other.kind != kind);
            if self.shortlists.len() == KINDS {
                self.shortlists.remove(0);
            }
            self.shortlists.push(shortlist);
            decision.considered.truncate(SHORT);
            decision.chain.truncate(SHORT);
        }
        decision
    }

    /// Returns the candidates with their current state.
    fn current_candidates(
        &self,
        places: &[usize],
        known: &SelectionInput<'_>,
    ) -> Vec<RouteCandidate> {
        let fresh = places.iter().map(|place| {
            let state = &known.routes[*place];
            RouteCandidate {
                sickness: state.breaker.sickness(known.now),
                latency: state.latency.expected(known.need.output),
                warm: known.warm_tokens(state.route()),
                ..self.candidates[*place].clone()
            }
        });
        fresh.collect()
    }

    /// Returns the candidates for a named model if no other model may take over, so that hundreds
    /// need not be judged.
    fn named_candidates(&self, need: &RouteRequirements) -> Option<Vec<usize>> {
        let RequestedModel::Model(model) = &need.wanted else {
            return None;
        };
        if need.fallback > FallbackScope::SameModel {
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
        let few: Vec<usize> = few.map(|(place, _)| place).collect();
        // Without a match all are considered, so that the error sentence is right.
        (!few.is_empty()).then_some(few)
    }

    /// Returns the shortlist for an `auto` step, along with the conversation's current route.
    fn shortlist_for(&self, kind: ShortlistKey, known: &SelectionInput<'_>) -> Option<Vec<usize>> {
        if known.need.wanted != RequestedModel::Auto {
            return None;
        }
        let is_fresh =
            |short: &&RouteShortlist| short.kind == kind && known.now.since(short.at) < FRESH;
        let mut places = self.shortlists.iter().find(is_fresh)?.places.clone();
        let current = known.current.and_then(|it| self.places.get(&it.route));
        if let Some(current) = current.filter(|current| !places.contains(current)) {
            places.push(*current);
        }
        Some(places)
    }

    /// Records that a route answers a conversation.
    pub(super) fn record_use(&mut self, conversation: &str, lane: &Route, now: MonotonicTime) {
        if self.conversations.len() >= CONVERSATIONS
            && !self.conversations.contains_key(conversation)
        {
            let oldest = self.conversations.iter().min_by_key(|(_, it)| it.used);
            if let Some(name) = oldest.map(|(name, _)| name.clone()) {
                self.conversations.remove(&name);
            }
        }
        let lane = lane.clone();
        self.conversations.insert(
            conversation.to_owned(),
            Conversation {
                route: lane,
                used: now,
            },
        );
    }

    /// Records that another route takes over from one that cannot answer.
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
        if self.latest.len() == KEPT {
            self.latest.pop_front();
        }
        self.latest.push_back(decision.clone());
        decision
    }
}

fn requirements(submission: &Submission, current: Option<&Conversation>) -> RouteRequirements {
    let terms: &RoutingOptions = &submission.terms;
    let most = submission.size.ask.output;
    RouteRequirements {
        wanted: match terms.choice {
            ModelChoice::Named => RequestedModel::Model(submission.model.clone()),
            ModelChoice::Auto => RequestedModel::Auto,
        },
        complexity: terms.complexity,
        features: terms.features.clone(),
        abilities: submission.abilities,
        prompt: submission.size.ask.input,
        output: terms.expected_output.unwrap_or(USUAL_OUTPUT).min(most),
        cost_cap: terms.cost_cap,
        privacy: terms.privacy,
        fallback: terms.fallback,
        current: current.map(|conversation| conversation.route.clone()),
        boundary: terms.boundary,
    }
}

/// Facts available when a request arrives.
struct SelectionInput<'a> {
    need: &'a RouteRequirements,
    submission: &'a Submission,
    current: Option<&'a Conversation>,
    routes: &'a [RouteState],
    prefixes: &'a PrefixRegistry,
    now: MonotonicTime,
}

impl SelectionInput<'_> {
    /// Returns the part of the prompt in a route's cache: all of a conversation that it has just
    /// answered, otherwise the prefix last sent to it.
    fn warm_tokens(&self, lane: &Route) -> TokenCount {
        let own = self.current.filter(|it| it.route == *lane);
        if own.is_some_and(|it| self.now.since(it.used) < WARM) {
            return self.submission.size.ask.input;
        }
        match self.submission.prefix {
            Some(hash) if self.prefixes.is_warm(hash, lane, self.now) => {
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
            considered.filter(|one| one.lane.model == *model).collect()
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
    let is_blind = |it: &ExclusionReason| {
        matches!(
            it,
            ExclusionReason::NoVision | ExclusionReason::VisionUnknown
        )
    };
    let part = exclusions.iter().any(is_blind).then(|| RefusedPart::Image {
        named: Vec::new(),
        is_any: true,
    });
    let mut message = decision.reason_clause();
    for (one, exclusion) in wanted.iter().zip(&exclusions) {
        message.push_str(&format!("; {}: {exclusion}", one.lane));
    }
    Failure {
        part: part.filter(|_| class == FailureClass::InvalidRequest),
        ..Failure::new(class, message)
    }
}
