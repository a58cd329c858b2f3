//! Tests that caps refuse requests before sending, even in parallel, and that settled amounts add
//! up.

use super::*;
use crate::policy::RequestClass;
use crate::random::TestRng;

fn caller(agent: u64, turn: u64) -> Caller {
    Caller {
        class: RequestClass::Turn,
        agent: AgentId(agent),
        turn: TurnId(turn),
    }
}

fn spend(nano: u64, tokens: u64) -> Spend {
    Spend {
        cost: Some(Cost(nano)),
        tokens: TokenCount(tokens),
    }
}

fn cost_cap(nano: u64) -> Cap {
    Cap {
        cost: Some(Cost(nano)),
        tokens: None,
    }
}

fn budgets(turn: u64, agent: u64, day: u64) -> Budgets {
    let mut budgets = Budgets::default();
    budgets.set_caps(Caps {
        turn: cost_cap(turn),
        agent: cost_cap(agent),
        day: cost_cap(day),
        allow_unknown_price: false,
    });
    budgets
}

#[test]
fn requests_in_flight_count() {
    let mut budgets = budgets(100, 1000, 1000);
    let one = budgets.reserve(caller(1, 1), spend(60, 1)).expect("60");
    let refusal = budgets.reserve(caller(1, 1), spend(60, 1));
    assert_eq!(
        refusal.expect_err("120 of 100"),
        BudgetRefusal::Cost {
            scope: CapScope::Turn,
            cap: Cost(100),
            spent: Cost(0),
            held: Cost(60),
            requested: Cost(60),
        }
    );
    assert_eq!(budgets.settle_hold(one, spend(40, 1)), []);
    let two = budgets.reserve(caller(1, 1), spend(60, 1)).expect("100");
    assert_eq!(
        budgets.settle_hold(two, spend(45, 1)),
        [BudgetNotice {
            scope: CapScope::Turn,
            percent: 80
        }]
    );
    let three = budgets.reserve(caller(1, 1), spend(15, 1)).expect("100");
    assert_eq!(
        budgets.settle_hold(three, spend(15, 1)),
        [BudgetNotice {
            scope: CapScope::Turn,
            percent: 100
        }]
    );
    assert!(budgets.reserve(caller(1, 1), spend(1, 1)).is_err());
    let other = budgets.reserve(caller(1, 2), spend(1, 1));
    assert_eq!(
        budgets.settle_hold(other.expect("a new turn"), spend(1, 1)),
        []
    );
}

#[test]
fn refusal_states_the_remedy() {
    let mut budgets = budgets(2_000_000_000, 1 << 60, 1 << 60);
    let refusal = budgets.reserve(caller(1, 1), spend(2_500_000_000, 1));
    assert_eq!(
        refusal.expect_err("too dear").to_string(),
        "the budget of this turn is $2.00: $0.00 is spent, $0.00 is reserved by requests in \
         flight, and this request may cost up to $2.50; raise the budget to continue"
    );
}

#[test]
fn an_unknown_price_is_not_zero() {
    let unknown = Spend {
        cost: None,
        tokens: TokenCount(10),
    };
    let mut budgets = budgets(100, 100, 100);
    assert_eq!(
        budgets.reserve(caller(1, 1), unknown),
        Err(BudgetRefusal::UnknownPrice {
            scope: CapScope::Turn
        })
    );
    budgets.set_caps(Caps {
        day: cost_cap(100),
        allow_unknown_price: true,
        ..Caps::default()
    });
    let hold = budgets.reserve(caller(1, 1), unknown).expect("allowed");
    budgets.settle_hold(hold, unknown);
    assert_eq!(budgets.spent_today().tokens, TokenCount(10));
    let hold = budgets.reserve(caller(1, 1), spend(100, 1)).expect("fits");
    budgets.settle_hold(hold, spend(100, 1));
    assert!(budgets.reserve(caller(1, 1), unknown).is_err(), "used up");
    budgets.set_caps(Caps::default());
    let hold = budgets.reserve(caller(1, 1), unknown).expect("no cap");
    budgets.settle_hold(hold, Spend::default());
}

#[test]
fn tokens_have_a_separate_cap() {
    let mut budgets = Budgets::default();
    budgets.set_caps(Caps {
        agent: Cap {
            cost: None,
            tokens: Some(TokenCount(1000)),
        },
        ..Caps::default()
    });
    let hold = budgets.reserve(caller(1, 1), spend(1, 900)).expect("fits");
    assert!(matches!(
        budgets.reserve(caller(1, 2), spend(1, 101)),
        Err(BudgetRefusal::Tokens {
            scope: CapScope::Agent,
            ..
        })
    ));
    assert!(budgets.reserve(caller(2, 1), spend(1, 900)).is_ok());
    assert_eq!(budgets.settle_hold(hold, spend(1, 850)).len(), 1);
}

#[test]
fn new_day_starts_with_current_holds_only() {
    let mut budgets = budgets(100, 1000, 100);
    budgets.restore(Day(1), spend(30, 3));
    let hold = budgets.reserve(caller(1, 1), spend(70, 1)).expect("100");
    assert!(budgets.reserve(caller(2, 1), spend(1, 1)).is_err());
    budgets.start_day(Day(2));
    assert!(budgets.reserve(caller(2, 1), spend(31, 1)).is_err());
    budgets.settle_hold(hold, spend(50, 1));
    assert_eq!(budgets.spent_today(), spend(50, 1));
    assert_eq!(budgets.spent_by(AgentId(1)), spend(50, 1));
}

/// Runs many agents in parallel, each request using at most its reservation.
#[test]
fn caps_are_never_exceeded() {
    for seed in 0..100 {
        let mut random = TestRng::new(seed);
        let (turn_cap, agent_cap, day_cap) = (
            500 + random.next_below(500),
            2000 + random.next_below(2000),
            9000 + random.next_below(9000),
        );
        let mut budgets = budgets(turn_cap, agent_cap, day_cap);
        let mut open: Vec<(BudgetHold, Caller, u64)> = Vec::new();
        let mut turns = HashMap::new();
        let mut agents = HashMap::new();
        let mut day = 0;
        let mut refused = 0;
        for _ in 0..3000 {
            let caller = caller(random.next_below(8), random.next_below(20));
            if random.one_in(2) {
                let most = random.next_below(300);
                match budgets.reserve(caller, spend(most, most)) {
                    Ok(hold) => open.push((hold, caller, most)),
                    Err(_) => refused += 1,
                }
            } else if !open.is_empty() {
                let ix = random.next_below(open.len() as u64) as usize;
                let (hold, caller, most) = open.swap_remove(ix);
                let used = random.next_below(most + 1);
                budgets.settle_hold(hold, spend(used, used));
                *turns.entry((caller.agent, caller.turn)).or_insert(0) += used;
                *agents.entry(caller.agent).or_insert(0) += used;
                day += used;
            }
            assert_eq!(budgets.open(), open.len());
            assert!(turns.values().all(|spent| *spent <= turn_cap), "{seed}");
            assert!(agents.values().all(|spent| *spent <= agent_cap), "{seed}");
            assert!(day <= day_cap, "{seed}");
            assert_eq!(budgets.spent_today().cost, Some(Cost(day)));
        }
        assert!(refused > 10, "seed {seed}: the caps were reached");
    }
}
