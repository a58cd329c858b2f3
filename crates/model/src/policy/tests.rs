//! Simulates hours of a busy router: all policies together, against providers with limits and
//! outages.
//!
//! The router here is minimal: it uses the policies as intended and nothing else.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use super::route::{
    Abilities, FallbackScope, Privacy, RequestedModel, RouteCandidate, RouteReason,
    RouteRequirements, RouteWeights, SwitchBoundary, decide,
};
use super::{
    AgentId, Attempts, Breaker, BudgetHold, Budgets, Caller, Cap, Caps, Complexity,
    ComplexityFeatures, Concurrency, KeyName, NextStep, RateLedger, RateReservation,
    RateSettlement, RequestClass, RequestQueue, ResponseProgress, Retry, Route, RouteLimits, Spend,
    TokenDemand, TurnId,
};
use crate::random::TestRng;
use crate::{
    Cost, Failure, FailureClass, ModelId, MonotonicTime, Profile, Tier, TokenCount, Usage,
};

const ROUTES: usize = 4;
const DAY_CAP: u64 = 40_000_000;
const TURN_CAP: u64 = 600_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SimulationEvent {
    /// An agent sends a request.
    Ask { agent: usize },
    /// The wait before a retry ends.
    Retry { call: usize },
    /// A call is answered or fails.
    Answer { call: usize },
    /// A queued call may have become sendable.
    Dispatch,
}

#[derive(Debug)]
struct Call {
    agent: usize,
    caller: Caller,
    ask: TokenDemand,
    chain: Vec<usize>,
    attempts: Attempts,
    asked: MonotonicTime,
    hold: Option<BudgetHold>,
    reservation: Option<RateReservation>,
    sent: MonotonicTime,
    is_over: bool,
}

struct Agent {
    class: RequestClass,
    turn: u64,
    requests_left_in_turn: u64,
    route: Option<usize>,
    tokens: u64,
    answered: u64,
}

/// One route: the router's state for it, and the provider's actual limits.
struct Provider {
    route: Route,
    tier: Tier,
    breaker: Breaker,
    concurrency: Concurrency,
    capacity: u32,
    per_minute: u64,
    used: u64,
    minute: u64,
    down_until: MonotonicTime,
}

struct World {
    random: TestRng,
    now: MonotonicTime,
    events: BinaryHeap<Reverse<(MonotonicTime, u64, SimulationEvent)>>,
    sequence: u64,
    queue: RequestQueue<usize>,
    ledger: RateLedger,
    budgets: Budgets,
    providers: Vec<Provider>,
    agents: Vec<Agent>,
    calls: Vec<Call>,
    retry: Retry,
    end: MonotonicTime,
    spent_in_turns: HashMap<(usize, u64), u64>,
    longest_wait: [Duration; 4],
    refused_by_budget: u64,
    failed: u64,
    within_turn: u64,
    displaced: u64,
    is_dispatch_scheduled: bool,
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The first route of the chain whose breaker admits a request, so that no call waits for a closed
/// route while another is open.
fn open_route(call: &Call, providers: &[Provider], now: MonotonicTime) -> usize {
    let is_open = |route: &&usize| providers[**route].breaker.decision(now).is_granted();
    *call.chain.iter().find(is_open).unwrap_or(&call.chain[0])
}

impl World {
    fn new(seed: u64, hours: u64) -> Self {
        let mut random = TestRng::new(seed);
        let tiers = [Tier::Fast, Tier::Fast, Tier::Standard, Tier::Strong];
        let providers = (0..ROUTES).map(|ix| Provider {
            route: Route {
                model: ModelId::parse(&format!("p{ix}/m{}", ix / 2)).expect("provider/model"),
                key: KeyName::default(),
            },
            tier: tiers[ix],
            breaker: Breaker::default(),
            concurrency: Concurrency::new(4, 32),
            capacity: 3 + random.next_below(8) as u32,
            per_minute: 200_000 + random.next_below(400_000),
            used: 0,
            minute: 0,
            down_until: MonotonicTime::START,
        });
        let providers: Vec<Provider> = providers.collect();
        let classes = [
            RequestClass::Tab,
            RequestClass::Turn,
            RequestClass::Turn,
            RequestClass::Subagent,
            RequestClass::Background,
        ];
        let agents = (0..5 + random.next_below(12)).map(|ix| Agent {
            class: classes[ix as usize % classes.len()],
            turn: 0,
            requests_left_in_turn: 0,
            route: None,
            tokens: 0,
            answered: 0,
        });
        let mut budgets = Budgets::default();
        budgets.set_caps(Caps {
            turn: Cap {
                cost: Some(Cost(TURN_CAP)),
                tokens: None,
            },
            day: Cap {
                cost: Some(Cost(DAY_CAP)),
                tokens: None,
            },
            ..Caps::default()
        });
        let mut world = Self {
            agents: agents.collect(),
            now: MonotonicTime::START,
            events: BinaryHeap::new(),
            sequence: 0,
            queue: RequestQueue::default(),
            ledger: RateLedger::default(),
            budgets,
            providers,
            calls: Vec::new(),
            retry: Retry::default(),
            end: MonotonicTime(seconds(hours * 3600)),
            spent_in_turns: HashMap::new(),
            longest_wait: [Duration::ZERO; 4],
            refused_by_budget: 0,
            failed: 0,
            within_turn: 0,
            displaced: 0,
            is_dispatch_scheduled: false,
            random,
        };
        for (ix, provider) in world.providers.iter().enumerate() {
            // Half of the routes state their limits in advance, the others by refusing.
            let limits = RouteLimits {
                input_tokens: (ix % 2 == 0).then_some(TokenCount(provider.per_minute)),
                ..RouteLimits::default()
            };
            world
                .ledger
                .set_limits(&provider.route, limits, MonotonicTime::START);
        }
        for agent in 0..world.agents.len() {
            world.later(
                Duration::from_millis(agent as u64),
                SimulationEvent::Ask { agent },
            );
        }
        world
    }

    fn later(&mut self, wait: Duration, event: SimulationEvent) {
        self.sequence += 1;
        let entry = (self.now + wait, self.sequence, event);
        self.events.push(Reverse(entry));
    }

    fn run(&mut self) {
        while let Some(Reverse((now, _, event))) = self.events.pop() {
            assert!(now >= self.now);
            self.now = now;
            match event {
                SimulationEvent::Ask { agent } => self.ask(agent),
                SimulationEvent::Retry { call } => self.enqueue(call),
                SimulationEvent::Answer { call } => self.answer(call),
                SimulationEvent::Dispatch => self.is_dispatch_scheduled = false,
            }
            self.dispatch();
            self.ledger.assert_invariants();
            let spent = self
                .budgets
                .spent_today()
                .cost
                .expect("all prices are known");
            assert!(spent <= Cost(DAY_CAP), "the day's cap");
        }
    }

    fn ask(&mut self, agent: usize) {
        if self.now >= self.end {
            return;
        }
        let is_new_turn = self.agents[agent].requests_left_in_turn == 0;
        if is_new_turn {
            let length = 1 + self.random.next_below(12);
            let one = &mut self.agents[agent];
            one.turn += 1;
            one.requests_left_in_turn = length;
        }
        self.agents[agent].requests_left_in_turn -= 1;
        let class = self.agents[agent].class;
        let (input, output) = match class {
            RequestClass::Tab => (500 + self.random.next_below(2_000), 64),
            _ => (
                2_000 + self.random.next_below(60_000),
                500 + self.random.next_below(4_000),
            ),
        };
        let ask = TokenDemand {
            input: TokenCount(input),
            output: TokenCount(output),
        };
        let chain = self.route(agent, ask, is_new_turn);
        let caller = Caller {
            class,
            agent: AgentId(agent as u64),
            turn: TurnId(self.agents[agent].turn),
        };
        self.calls.push(Call {
            agent,
            caller,
            ask,
            chain,
            attempts: Attempts::default(),
            asked: self.now,
            hold: None,
            reservation: None,
            sent: self.now,
            is_over: false,
        });
        self.enqueue(self.calls.len() - 1);
    }

    fn route(&mut self, agent: usize, ask: TokenDemand, is_new_turn: bool) -> Vec<usize> {
        let now = self.now;
        let candidates: Vec<RouteCandidate> = self
            .providers
            .iter()
            .map(|provider| RouteCandidate {
                route: provider.route.clone(),
                profile: Profile {
                    tier: provider.tier,
                    tools: Some(true),
                    context: TokenCount(200_000),
                    ..Profile::harmless()
                },
                price: None,
                same_as: None,
                privacy: Privacy::Private,
                is_allowed: true,
                failure_ratio: provider.breaker.failure_ratio(now),
                latency: None,
                warm: TokenCount(0),
            })
            .collect();
        let current = self.agents[agent].route;
        let need = RouteRequirements {
            wanted: RequestedModel::Auto,
            complexity: Complexity(self.random.next_below(100) as u8),
            features: ComplexityFeatures::default(),
            abilities: Abilities::default(),
            prompt: ask.input,
            output: ask.output,
            cost_cap: None,
            privacy: Privacy::Any,
            fallback: FallbackScope::AnyTier,
            current: current.map(|ix| self.providers[ix].route.clone()),
            boundary: if is_new_turn {
                SwitchBoundary::NewTurn
            } else {
                SwitchBoundary::Within
            },
        };
        let decision = decide(&need, &candidates, &RouteWeights::default());
        let place = |route: &Route| {
            let found = self.providers.iter().position(|one| one.route == *route);
            found.expect("a route of ours")
        };
        let chain: Vec<usize> = decision
            .chain
            .iter()
            .map(|link| place(&link.route))
            .collect();
        if let (false, Some(current)) = (is_new_turn, current) {
            self.within_turn += 1;
            // Within a turn only an unhealthy route is left.
            if chain[0] != current {
                assert_eq!(decision.reason, RouteReason::Displaced);
                assert!(candidates[current].failure_ratio >= 1.0, "stickiness");
                self.displaced += 1;
            }
        }
        self.agents[agent].route = Some(chain[0]);
        chain
    }

    fn enqueue(&mut self, call: usize) {
        let one = &self.calls[call];
        let tokens = one.ask.input.plus(one.ask.output);
        self.queue
            .push((one.caller.class, one.caller.agent), tokens, self.now, call);
    }

    fn dispatch(&mut self) {
        loop {
            let now = self.now;
            let (calls, providers, ledger) = (&self.calls, &self.providers, &mut self.ledger);
            let mut can_go = |call: &usize| {
                let call = &calls[*call];
                let provider = &providers[open_route(call, providers, now)];
                provider.breaker.decision(now).is_granted()
                    && (provider.concurrency.has_room() || call.caller.class == RequestClass::Tab)
                    && ledger.check(&provider.route, call.ask, now).is_ok()
            };
            let route = |call: &usize| open_route(&calls[*call], providers, now);
            let held = |call: &usize| Some(route(call));
            let Some(entry) = self.queue.pop_keeping(now, &mut can_go, route, held) else {
                break;
            };
            self.send(entry.item, now.since(entry.since));
        }
        if !self.queue.is_empty() && !self.is_dispatch_scheduled {
            self.is_dispatch_scheduled = true;
            self.later(Duration::from_millis(500), SimulationEvent::Dispatch);
        }
    }

    fn send(&mut self, call: usize, waited: Duration) {
        let now = self.now;
        let class = self.calls[call].caller.class;
        let longest = &mut self.longest_wait[class as usize];
        *longest = waited.max(*longest);
        let route = open_route(&self.calls[call], &self.providers, now);
        let one = &mut self.calls[call];
        if one.chain[0] != route {
            one.chain.retain(|other| *other != route);
            one.chain.insert(0, route);
            one.attempts.on_route = 0;
            self.agents[one.agent].route = Some(route);
        }
        let ask = self.calls[call].ask;
        let most = Spend {
            cost: Some(Cost(ask.input.0 + 5 * ask.output.0)),
            tokens: ask.input.plus(ask.output),
        };
        let Ok(hold) = self.budgets.reserve(self.calls[call].caller, most) else {
            self.refused_by_budget += 1;
            return self.over(call);
        };
        let provider = &mut self.providers[self.calls[call].chain[0]];
        let reservation = self.ledger.reserve(&provider.route, ask, now);
        provider.breaker.start(now);
        provider.concurrency.start();
        let one = &mut self.calls[call];
        one.hold = Some(hold);
        one.reservation = Some(reservation.expect("it was checked"));
        one.sent = now;
        one.attempts.on_route += 1;
        one.attempts.in_all += 1;
        let time = match self.random.next_below(20) {
            0 => seconds(self.random.next_below(60)),
            _ => Duration::from_millis(200 + self.random.next_below(9_000)),
        };
        self.later(time, SimulationEvent::Answer { call });
    }

    /// Answers a call by the provider's own limits, and processes the outcome.
    fn answer(&mut self, call: usize) {
        let now = self.now;
        let minute = now.0.as_secs() / 60;
        let ask = self.calls[call].ask;
        let is_hiccup = self.random.one_in(60);
        let bad_day = self
            .random
            .one_in(150)
            .then(|| seconds(self.random.next_below(900)));
        let wish = self
            .random
            .one_in(2)
            .then(|| seconds(1 + self.random.next_below(30)));
        let cancelled = self.random.one_in(40);
        let provider = &mut self.providers[self.calls[call].chain[0]];
        if provider.minute != minute {
            provider.minute = minute;
            provider.used = 0;
        }
        if let Some(bad_day) = bad_day {
            provider.down_until = now + bad_day;
        }
        provider.used += ask.input.0;
        let failure = if cancelled {
            Some(FailureClass::Cancelled)
        } else if now < provider.down_until {
            Some(FailureClass::ServerError)
        } else if provider.concurrency.in_flight() > provider.capacity {
            Some(FailureClass::Overloaded)
        } else if provider.used > provider.per_minute {
            provider.used -= ask.input.0;
            Some(FailureClass::RateLimited)
        } else if is_hiccup {
            Some(FailureClass::Torn)
        } else {
            None
        };
        let output = self.random.next_below(ask.output.0 + 1);
        match failure {
            None => self.succeed(call, output),
            Some(class) => {
                let failure = Failure {
                    retry_after: wish.filter(|_| class == FailureClass::RateLimited),
                    ..Failure::new(class, "it failed")
                };
                self.fail(call, &failure);
            }
        }
    }

    fn succeed(&mut self, call: usize, output: u64) {
        let now = self.now;
        let provider = &mut self.providers[self.calls[call].chain[0]];
        provider.breaker.succeeded();
        provider.concurrency.succeeded();
        let input = self.calls[call].ask.input;
        let usage = Usage {
            input,
            output: TokenCount(output),
            ..Usage::default()
        };
        self.settle(call, RateSettlement::Used(usage), input.0 + 5 * output, now);
        let agent = &mut self.agents[self.calls[call].agent];
        agent.tokens += input.0 + output;
        agent.answered += 1;
        self.over(call);
    }

    fn fail(&mut self, call: usize, failure: &Failure) {
        let now = self.now;
        let sent = self.calls[call].sent;
        let provider = &mut self.providers[self.calls[call].chain[0]];
        provider.breaker.failed(failure.class, now);
        match failure.class {
            FailureClass::RateLimited | FailureClass::Overloaded => {
                provider.concurrency.overloaded(sent, now)
            }
            _ => provider.concurrency.ended_neutrally(),
        }
        if failure.class == FailureClass::RateLimited {
            let route = provider.route.clone();
            self.ledger.refused(&route, failure.retry_after, now);
        }
        let is_sent =
            failure.class == FailureClass::Cancelled || failure.class == FailureClass::Torn;
        let ask = self.calls[call].ask;
        // Input that was read before a stream broke is billed.
        if is_sent {
            self.settle(call, RateSettlement::Unknown, ask.input.0, now)
        } else {
            self.settle(call, RateSettlement::Unsent, 0, now)
        }
        let jitter = self.random.next_below(1001) as f64 / 1000.0;
        let one = &mut self.calls[call];
        match self
            .retry
            .next(failure, one.attempts, ResponseProgress::Partial, jitter)
        {
            NextStep::Wait(wait) => {
                one.attempts.waited += wait;
                self.later(wait, SimulationEvent::Retry { call });
            }
            NextStep::FallBack if one.chain.len() > 1 => {
                one.chain.remove(0);
                one.attempts.on_route = 0;
                self.enqueue(call);
            }
            NextStep::FallBack | NextStep::Stop => {
                self.failed += u64::from(failure.class != FailureClass::Cancelled);
                self.over(call);
            }
        }
    }

    fn settle(&mut self, call: usize, settlement: RateSettlement, nano: u64, now: MonotonicTime) {
        let one = &mut self.calls[call];
        let reservation = one.reservation.take().expect("it was sent");
        let hold = one.hold.take().expect("it was sent");
        self.ledger.settle_reservation(reservation, settlement, now);
        let used = Spend {
            cost: Some(Cost(nano)),
            tokens: TokenCount(nano),
        };
        self.budgets.settle_hold(hold, used);
        let key = (one.agent, one.caller.turn.0);
        let spent = self.spent_in_turns.entry(key).or_default();
        *spent += nano;
        assert!(*spent <= TURN_CAP, "the turn's cap");
    }

    fn over(&mut self, call: usize) {
        let one = &mut self.calls[call];
        assert!(!one.is_over, "a call ends once");
        one.is_over = true;
        assert!(one.attempts.in_all <= self.retry.in_all);
        let agent = one.agent;
        let pause = match one.caller.class {
            RequestClass::Tab => Duration::from_millis(300 + self.random.next_below(20_000)),
            _ => Duration::from_millis(self.random.next_below(3_000)),
        };
        self.later(pause, SimulationEvent::Ask { agent });
    }
}

#[test]
fn busy_day_has_no_starvation_and_no_overrun() {
    let (mut answered, mut within, mut refused, mut displaced) = (0, 0, 0, 0);
    for seed in 0..5 {
        let mut world = World::new(seed, 3);
        world.run();
        assert!(
            world.calls.iter().all(|call| call.is_over),
            "seed {seed}: every call ends"
        );
        assert_eq!(
            (world.ledger.open(), world.budgets.open()),
            (0, 0),
            "seed {seed}"
        );
        assert!(world.queue.is_empty());
        for provider in &world.providers {
            assert_eq!(provider.concurrency.in_flight(), 0, "seed {seed}");
        }
        for (agent, one) in world.agents.iter().enumerate() {
            assert!(
                one.answered > 10,
                "seed {seed}: agent {agent} {:?} had {}",
                one.class,
                one.answered
            );
        }
        // An entry is overdue after a minute; then its route is reserved until it is sent, one
        // after the other.
        let longest = world.longest_wait.iter().max().expect("four classes");
        assert!(
            *longest < seconds(600),
            "seed {seed}: {:?}",
            world.longest_wait
        );
        assert!(
            world.longest_wait[0] < seconds(180),
            "seed {seed}: {:?}",
            world.longest_wait
        );
        answered += world.agents.iter().map(|one| one.answered).sum::<u64>();
        within += world.within_turn;
        refused += world.refused_by_budget;
        displaced += world.displaced;
        let last = world.calls.last().expect("calls").asked;
        assert!(
            last > MonotonicTime(seconds(3 * 3600 - 60)),
            "seed {seed}: it went on to the end"
        );
    }
    // The situations asserted above did occur.
    assert!(answered > 4_000, "{answered}");
    assert!(within > 2_000 && displaced > 0, "{within} {displaced}");
    assert!(refused > 40, "{refused}");
}
