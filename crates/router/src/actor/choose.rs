//! Which lanes may answer a question, in which order: facts are gathered here, `policy::route` judges them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use model::policy::route::{
    Abilities, Candidate, Considered, Exclusion, Fallback, Need, Privacy, Reason, RouteDecision,
    Verdict, Wanted, Weights, decide,
};
use model::policy::{Class, Lane, PrefixRegistry};
use model::{Failure, FailureClass, ModelId, Moment, RefusedPart, Tier, TokenCount};

use super::ask::{Choice, Terms};
use super::lane::{LaneConfig, LaneState};
use super::post::Submission;

/// Decisions kept to be read.
const KEPT: usize = 256;
/// Conversations whose lane is remembered; of more the one unused for longest is forgotten.
const CONVERSATIONS: usize = 4_096;
/// What an answer is expected to have, where the caller does not say; never more than it may have.
const USUAL_OUTPUT: TokenCount = TokenCount(1_000);
/// Lanes that are judged for each of `auto`'s questions; all of them are judged once in a while.
const SHORT: usize = 40;
const FRESH: Duration = Duration::from_secs(60);
/// Kinds of steps that have a shortlist; there are hardly more.
const KINDS: usize = 32;
/// How long after its last use a conversation is taken to be in its provider's cache.
const WARM: Duration = Duration::from_secs(5 * 60 - 10);

pub(super) struct Chooser {
    /// One for each lane, in their order. Hundreds, where a provider has as many models: so they are kept, and only
    /// what changes is written anew for each question.
    candidates: Vec<Candidate>,
    /// Where each lane stands among them.
    places: HashMap<Lane, usize>,
    shortlists: Vec<Shortlist>,
    latest: VecDeque<Arc<RouteDecision>>,
    conversations: HashMap<String, Conversation>,
}

/// The best lanes for a kind of step, as of a moment not long ago.
struct Shortlist {
    kind: Kind,
    at: Moment,
    places: Vec<usize>,
}

/// What tells steps apart as far as a shortlist is concerned.
#[derive(Clone, Copy, PartialEq)]
struct Kind {
    tier: Tier,
    abilities: Abilities,
    privacy: Privacy,
    is_tab: bool,
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
    /// `auto` may choose from these models, or where there are none from all that are not deprecated.
    pub(super) fn new(auto: &[ModelId], lanes: &[LaneConfig]) -> Self {
        let candidates = lanes.iter().map(|config| Candidate {
            lane: config.lane.clone(),
            profile: config.profile.clone(),
            price: config.price.clone(),
            same_as: config.same_as.clone(),
            privacy: config.privacy,
            is_allowed: match auto.is_empty() {
                true => config.auto && !config.profile.deprecated,
                false => auto.contains(&config.lane.model),
            },
            sickness: 0.0,
            latency: None,
            warm: TokenCount(0),
        });
        let places = lanes.iter().enumerate();
        Self {
            candidates: candidates.collect(),
            places: places
                .map(|(ix, config)| (config.lane.clone(), ix))
                .collect(),
            shortlists: Vec::new(),
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
        let now_known = Known {
            need: &need,
            submission,
            current: current.as_ref(),
            lanes,
            prefixes,
            now,
        };
        let decision = self.judge(&now_known);
        let decision = self.keep(decision);
        Plan {
            chain: decision
                .chain
                .iter()
                .filter_map(|link| self.places.get(&link.lane).copied())
                .collect(),
            failure: decision.chosen.is_none().then(|| nobody(&decision)),
            decision,
        }
    }

    /// Judges as few lanes as lead to the same decision: those of a named model, or the shortlist.
    fn judge(&mut self, known: &Known<'_>) -> RouteDecision {
        let is_tab = known.submission.caller.class == Class::Tab;
        let weights = match is_tab {
            true => Weights::for_tab(),
            false => Weights::default(),
        };
        let kind = Kind {
            tier: known.need.complexity.tier(),
            abilities: known.need.abilities,
            privacy: known.need.privacy,
            is_tab,
        };
        if let Some(places) = self.few(known.need).or_else(|| self.short(kind, known)) {
            let decision = decide(known.need, &self.fresh(&places, known), &weights);
            if decision.chosen.is_some() {
                return decision;
            }
        }
        let all: Vec<usize> = (0..self.candidates.len()).collect();
        let mut decision = decide(known.need, &self.fresh(&all, known), &weights);
        if decision.considered.len() > SHORT && decision.chosen.is_some() {
            let best = decision.considered.iter().take(SHORT);
            let places = best.filter_map(|one| self.places.get(&one.lane).copied());
            let shortlist = Shortlist {
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

    /// The candidates as they are now.
    fn fresh(&self, places: &[usize], known: &Known<'_>) -> Vec<Candidate> {
        let fresh = places.iter().map(|place| {
            let state = &known.lanes[*place];
            Candidate {
                sickness: state.breaker.sickness(known.now),
                latency: state.latency.expected(known.need.output),
                warm: known.warm(state.lane()),
                ..self.candidates[*place].clone()
            }
        });
        fresh.collect()
    }

    /// Those that a named model's question can go to, where others cannot take over; so one does not judge
    /// hundreds to find the one that was named.
    fn few(&self, need: &Need) -> Option<Vec<usize>> {
        let Wanted::Model(model) = &need.wanted else {
            return None;
        };
        if need.fallback > Fallback::SameModel {
            return None;
        }
        let named = |candidate: &Candidate| candidate.lane.model == *model;
        let names: Vec<&ModelId> = self
            .candidates
            .iter()
            .filter(|candidate| named(candidate))
            .map(|candidate| candidate.same_as.as_ref().unwrap_or(model))
            .collect();
        let is_same = |candidate: &Candidate| {
            let name = candidate.same_as.as_ref();
            named(candidate) || names.contains(&name.unwrap_or(&candidate.lane.model))
        };
        let all = self.candidates.iter().enumerate();
        let few = all.filter(|(_, candidate)| is_same(candidate));
        let few: Vec<usize> = few.map(|(place, _)| place).collect();
        // Where there is none, all of them are considered, so that the sentence about it is right.
        (!few.is_empty()).then_some(few)
    }

    /// The shortlist for a step of `auto`'s, with the lane that the conversation has.
    fn short(&self, kind: Kind, known: &Known<'_>) -> Option<Vec<usize>> {
        if known.need.wanted != Wanted::Auto {
            return None;
        }
        let is_fresh = |short: &&Shortlist| short.kind == kind && known.now.since(short.at) < FRESH;
        let mut places = self.shortlists.iter().find(is_fresh)?.places.clone();
        let current = known.current.and_then(|it| self.places.get(&it.lane));
        if let Some(current) = current.filter(|current| !places.contains(current)) {
            places.push(*current);
        }
        Some(places)
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

    fn keep(&mut self, decision: RouteDecision) -> Arc<RouteDecision> {
        let decision = Arc::new(decision);
        if self.latest.len() == KEPT {
            self.latest.pop_front();
        }
        self.latest.push_back(decision.clone());
        decision
    }
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

/// What is known when a question comes.
struct Known<'a> {
    need: &'a Need,
    submission: &'a Submission,
    current: Option<&'a Conversation>,
    lanes: &'a [LaneState],
    prefixes: &'a PrefixRegistry,
    now: Moment,
}

impl Known<'_> {
    /// How much of the prompt a lane has in its cache: all of a conversation that it answered just now, else the
    /// prefix that somebody sent it.
    fn warm(&self, lane: &Lane) -> TokenCount {
        let own = self.current.filter(|it| it.lane == *lane);
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
    // Where nobody sees pictures, some model may answer without them.
    let is_blind = |it: &Exclusion| matches!(it, Exclusion::NoVision | Exclusion::VisionUnknown);
    let part = exclusions.iter().any(is_blind).then(|| RefusedPart::Image {
        named: Vec::new(),
        is_any: true,
    });
    let mut message = decision.because();
    for (one, exclusion) in wanted.iter().zip(&exclusions) {
        message.push_str(&format!("; {}: {exclusion}", one.lane));
    }
    Failure {
        part: part.filter(|_| class == FailureClass::InvalidRequest),
        ..Failure::new(class, message)
    }
}
