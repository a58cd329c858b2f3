//! Which lanes may answer a question, in which order: facts are gathered here, `policy::route` judges them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use model::policy::route::{
    Candidate, Considered, Exclusion, Fallback, Need, Reason, RouteDecision, Verdict, Wanted,
    Weights, decide,
};
use model::policy::{Class, Lane, PrefixRegistry};
use model::{Failure, FailureClass, ModelId, Moment, TokenCount};

use super::ask::{Choice, Terms};
use super::lane::{LaneConfig, LaneState};
use super::post::Submission;

/// Decisions kept to be read.
const KEPT: usize = 256;
/// Conversations whose lane is remembered; of more the one unused for longest is forgotten.
const CONVERSATIONS: usize = 4_096;
/// What an answer is expected to have, where the caller does not say; never more than it may have.
const USUAL_OUTPUT: TokenCount = TokenCount(1_000);
/// How long after its last use a conversation is taken to be in its provider's cache.
const WARM: Duration = Duration::from_secs(5 * 60 - 10);

pub(super) struct Chooser {
    /// One for each lane, in their order. Hundreds, where a provider has as many models: so they are kept, and only
    /// what changes is written anew for each question.
    candidates: Vec<Candidate>,
    latest: VecDeque<Arc<RouteDecision>>,
    conversations: HashMap<String, Conversation>,
}

#[derive(Clone, Debug)]
struct Conversation {
    lane: Lane,
    used: Moment,
}

/// What was decided for a question.
pub(super) struct Plan {
    pub(super) decision: Arc<RouteDecision>,
    /// Indices of lanes, the best first; empty where nobody can answer.
    pub(super) chain: Vec<usize>,
    /// Why nobody can.
    pub(super) failure: Option<Failure>,
}

impl Chooser {
    /// `auto` may choose from these models, or from all where there are none.
    pub(super) fn new(auto: &[ModelId], lanes: &[LaneConfig]) -> Self {
        let candidates = lanes.iter().map(|config| Candidate {
            lane: config.lane.clone(),
            profile: config.profile.clone(),
            price: config.price.clone(),
            same_as: config.same_as.clone(),
            privacy: config.privacy,
            is_allowed: match auto.is_empty() {
                true => config.auto,
                false => auto.contains(&config.lane.model),
            },
            sickness: 0.0,
            latency: None,
            warm: TokenCount(0),
        });
        Self {
            candidates: candidates.collect(),
            latest: VecDeque::new(),
            conversations: HashMap::new(),
        }
    }

    /// The latest decisions, the oldest first.
    pub(super) fn decisions(&self) -> Vec<Arc<RouteDecision>> {
        self.latest.iter().cloned().collect()
    }

    pub(super) fn choose(
        &mut self,
        submission: &Submission,
        lanes: &[LaneState],
        prefixes: &PrefixRegistry,
        now: Moment,
    ) -> Plan {
        let current = submission.conversation.as_ref();
        let current = current.and_then(|name| self.conversations.get(name).cloned());
        let need = need(submission, current.as_ref());
        self.refresh(&need, submission, current.as_ref(), lanes, prefixes, now);
        let weights = match submission.caller.class {
            Class::Tab => Weights::for_tab(),
            Class::Turn | Class::Subagent | Class::Background => Weights::default(),
        };
        let decision = match few(&need, &self.candidates) {
            Some(few) => decide(&need, &few, &weights),
            None => decide(&need, &self.candidates, &weights),
        };
        let decision = self.keep(decision);
        let place = |lane: &Lane| lanes.iter().position(|state| state.lane() == lane);
        Plan {
            chain: decision
                .chain
                .iter()
                .filter_map(|link| place(&link.lane))
                .collect(),
            failure: decision.chosen.is_none().then(|| nobody(&decision)),
            decision,
        }
    }

    /// A conversation is answered by this lane.
    pub(super) fn used(&mut self, conversation: &str, lane: &Lane, now: Moment) {
        if self.conversations.len() >= CONVERSATIONS
            && !self.conversations.contains_key(conversation)
        {
            let oldest = self.conversations.iter().min_by_key(|(_, it)| it.used);
            if let Some(name) = oldest.map(|(name, _)| name.clone()) {
                self.conversations.remove(&name);
            }
        }
        let lane = lane.clone();
        self.conversations
            .insert(conversation.to_owned(), Conversation { lane, used: now });
    }

    /// Another lane takes over from one that cannot answer.
    pub(super) fn moved(&mut self, decision: &RouteDecision, to: &Lane) -> Arc<RouteDecision> {
        self.keep(RouteDecision {
            chosen: Some(to.clone()),
            reason: Reason::Displaced,
            ..decision.clone()
        })
    }

    fn refresh(
        &mut self,
        need: &Need,
        submission: &Submission,
        current: Option<&Conversation>,
        lanes: &[LaneState],
        prefixes: &PrefixRegistry,
        now: Moment,
    ) {
        for (candidate, state) in self.candidates.iter_mut().zip(lanes) {
            candidate.sickness = state.breaker.sickness(now);
            candidate.latency = state.latency.expected(need.output);
            candidate.warm = warm(submission, current, state.lane(), prefixes, now);
        }
    }

    fn keep(&mut self, decision: RouteDecision) -> Arc<RouteDecision> {
        let decision = Arc::new(decision);
        if self.latest.len() == KEPT {
            self.latest.pop_front();
        }
        self.latest.push_back(decision.clone());
        decision
    }
}

/// The candidates that a named model's question can go to, where others cannot take over; so one does not judge
/// hundreds to find the one that was named.
fn few(need: &Need, candidates: &[Candidate]) -> Option<Vec<Candidate>> {
    let Wanted::Model(model) = &need.wanted else {
        return None;
    };
    if need.fallback > Fallback::SameModel {
        return None;
    }
    let named = |candidate: &&Candidate| candidate.lane.model == *model;
    let names: Vec<&ModelId> = candidates
        .iter()
        .filter(named)
        .map(|candidate| candidate.same_as.as_ref().unwrap_or(model))
        .collect();
    let is_same = |candidate: &&Candidate| {
        let name = candidate.same_as.as_ref();
        named(candidate) || names.contains(&name.unwrap_or(&candidate.lane.model))
    };
    let few: Vec<Candidate> = candidates.iter().filter(is_same).cloned().collect();
    // Where there is none, all of them are considered, so that the sentence about it is right.
    (!few.is_empty()).then_some(few)
}

fn need(submission: &Submission, current: Option<&Conversation>) -> Need {
    let terms: &Terms = &submission.terms;
    let most = submission.size.ask.output;
    Need {
        wanted: match terms.choice {
            Choice::Named => Wanted::Model(submission.model.clone()),
            Choice::Auto => Wanted::Auto,
        },
        complexity: terms.complexity,
        features: terms.features.clone(),
        abilities: submission.abilities,
        prompt: submission.size.ask.input,
        output: terms.expected_output.unwrap_or(USUAL_OUTPUT).min(most),
        cost_cap: terms.cost_cap,
        privacy: terms.privacy,
        fallback: terms.fallback,
        current: current.map(|conversation| conversation.lane.clone()),
        boundary: terms.boundary,
    }
}

/// How much of the prompt a lane has in its cache: all of a conversation that it answered just now, else the
/// prefix that somebody sent it.
fn warm(
    submission: &Submission,
    current: Option<&Conversation>,
    lane: &Lane,
    prefixes: &PrefixRegistry,
    now: Moment,
) -> TokenCount {
    let own = current.filter(|it| it.lane == *lane && now.since(it.used) < WARM);
    if own.is_some() {
        return submission.size.ask.input;
    }
    match submission.prefix {
        Some(hash) if prefixes.is_warm(hash, lane, now) => submission.size.prefix,
        _ => TokenCount(0),
    }
}

/// Why nobody can answer, for the person and for whoever could do something about it.
fn nobody(decision: &RouteDecision) -> Failure {
    let wanted: Vec<&Considered> = match &decision.wanted {
        Wanted::Model(model) => {
            let considered = decision.considered.iter();
            considered.filter(|one| one.lane.model == *model).collect()
        }
        Wanted::Auto => decision.considered.iter().collect(),
    };
    let exclusions: Vec<Exclusion> = wanted
        .iter()
        .filter_map(|one| match one.verdict {
            Verdict::Excluded(exclusion) => Some(exclusion),
            Verdict::Scored(_) => None,
        })
        .collect();
    // Where shortening the conversation would help, its owner is told so.
    let is_short = |exclusion: &Exclusion| matches!(exclusion, Exclusion::ContextTooSmall { .. });
    let class = match exclusions.iter().any(is_short) {
        true => FailureClass::ContextOverflow,
        false if wanted.is_empty() => FailureClass::NoSuchModel,
        false => FailureClass::InvalidRequest,
    };
    let mut message = decision.because();
    for (one, exclusion) in wanted.iter().zip(&exclusions) {
        message.push_str(&format!("; {}: {exclusion}", one.lane));
    }
    Failure::new(class, message)
}
