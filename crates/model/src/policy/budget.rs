//! Hard caps on money and tokens per turn, per agent and per day, checked before each call is sent.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::policy::{AgentId, Caller, TurnId};
use crate::{Cost, TokenCount};

/// Tracks spending and the amounts held for requests in flight, and enforces caps per turn, per
/// agent and per day.
///
/// Invariant: for every cap, spending plus holds stay within it when a request is admitted, so
/// parallel requests cannot exceed it together. Only a request that uses more than it reserved can.
#[derive(Debug, Default)]
pub struct Budgets {
    caps: Caps,
    day: Day,
    today: CostAccount,
    /// Grows with the agents until `end_agent`.
    agents: HashMap<AgentId, CostAccount>,
    /// Grows with the turns until `end_turn`.
    turns: HashMap<(AgentId, TurnId), CostAccount>,
    holds: HashMap<u64, (Caller, Spend)>,
    last: u64,
}

/// Budget caps; `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// Cap for one turn of one agent.
    pub turn: Cap,
    /// Cap for all turns of one agent.
    pub agent: Cap,
    /// Cap for the total of one day.
    pub day: Cap,
    /// Whether a model of unknown price may be used while a cost cap is set. Its tokens are counted
    /// either way.
    pub allow_unknown_price: bool,
}

/// Limits on cost and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cap {
    /// Maximum cost, if limited.
    pub cost: Option<Cost>,
    /// Maximum number of tokens, input plus output.
    pub tokens: Option<TokenCount>,
}

/// An amount spent: the cost if the price is known, and the tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    /// `None` if the price is unknown.
    pub cost: Option<Cost>,
    /// Input and output tokens.
    pub tokens: TokenCount,
}

/// The number of a day, which the caller chooses. Days are compared only for equality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub u32);

/// The period or owner to which a cap applies: a turn, an agent, or the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapScope {
    /// One turn of an agent.
    Turn,
    /// All turns of one agent.
    Agent,
    /// The whole day, over all agents.
    Day,
}

/// The money and tokens that `Budgets::reserve` holds for a request in flight. Pass it to
/// `Budgets::settle_hold` exactly once: if it is dropped instead, the amount stays held.
#[must_use = "an unsettled hold counts against the budget forever"]
#[derive(Debug, PartialEq, Eq)]
pub struct BudgetHold(u64);

/// Reason why a budget refused a request: cost, tokens, or an unknown price. The display text is
/// made for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetRefusal {
    /// The request may cost more than is left.
    #[error(
        "the budget of this {scope} is {cap}: {spent} is spent, {held} is reserved by requests in \
         flight, and this request may cost up to {requested}; raise the budget to continue"
    )]
    Cost {
        /// The cap that would be exceeded.
        scope: CapScope,
        /// Amount of the cap.
        cap: Cost,
        /// Amount spent so far.
        spent: Cost,
        /// Amount held for requests in flight.
        held: Cost,
        /// Maximum cost of the request.
        requested: Cost,
    },
    /// The request may use more tokens than are left.
    #[error(
        "the budget of this {scope} is {} tokens: {} are spent, {} are reserved by requests in \
         flight, and this request may use up to {}; raise the budget to continue", cap.0, spent.0, held.0, requested.0
    )]
    Tokens {
        /// The cap that would be exceeded.
        scope: CapScope,
        /// Number of tokens of the cap.
        cap: TokenCount,
        /// Tokens spent so far.
        spent: TokenCount,
        /// Tokens held for requests in flight.
        held: TokenCount,
        /// Maximum number of tokens of the request.
        requested: TokenCount,
    },
    /// The price is unknown, so a cost cap cannot be enforced.
    #[error(
        "the price of this model is unknown, so the budget of this {scope} cannot be enforced; set \
         its price, or allow models with unknown prices"
    )]
    UnknownPrice {
        /// The cap that cannot be enforced.
        scope: CapScope,
    },
}

/// A cap is nearly or fully used. Issued once per cap and threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetNotice {
    /// The cap in question.
    pub scope: CapScope,
    /// The threshold in percent: 80 or 100.
    pub percent: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct CostAccount {
    spent: Cost,
    spent_tokens: TokenCount,
    held: Cost,
    held_tokens: TokenCount,
    /// The last threshold for which a notice was issued, in percent.
    notified: u8,
}

impl Budgets {
    /// Sets the caps. Past spending counts, so a cap below it refuses every request. Notices are
    /// issued again.
    pub fn set_caps(&mut self, caps: Caps) {
        self.caps = caps;
        let accounts = self.agents.values_mut().chain(self.turns.values_mut());
        for account in accounts.chain([&mut self.today]) {
            account.notified = 0;
        }
    }

    /// Starts a new day. Its account contains only the current holds, because their requests will
    /// be paid today. Has no effect if `day` is the current day.
    pub fn start_day(&mut self, day: Day) {
        if day != self.day {
            self.day = day;
            self.today = CostAccount {
                held: self.today.held,
                held_tokens: self.today.held_tokens,
                ..CostAccount::default()
            };
        }
    }

    /// Starts the day, and adds the spending that other runs of the program recorded for it.
    pub fn restore(&mut self, day: Day, spent: Spend) {
        self.start_day(day);
        self.today.spend(spent);
    }

    /// Holds the maximum that a request may use in the accounts of its turn, agent and day.
    ///
    /// # Errors
    ///
    /// Returns the narrowest cap that forbids the request. In this case, does not change the
    /// accounts.
    pub fn reserve(&mut self, caller: Caller, most: Spend) -> Result<BudgetHold, BudgetRefusal> {
        let allow_unknown = self.caps.allow_unknown_price;
        for (scope, cap, account) in self.accounts(caller) {
            account.allows(scope, cap, most, allow_unknown)?;
        }
        for (_, _, account) in self.accounts(caller) {
            account.held = account.held.plus(most.cost.unwrap_or_default());
            account.held_tokens = account.held_tokens.plus(most.tokens);
        }
        self.last += 1;
        self.holds.insert(self.last, (caller, most));
        Ok(BudgetHold(self.last))
    }

    /// Releases a hold and adds the actual usage `used`, which is `Spend::default()` if the request
    /// was not sent. Returns a notice for each cap of which the usage reaches 80 or 100 percent for
    /// the first time. An unknown hold has no effect.
    pub fn settle_hold(&mut self, hold: BudgetHold, used: Spend) -> Vec<BudgetNotice> {
        let Some((caller, most)) = self.holds.remove(&hold.0) else {
            return Vec::new();
        };
        let caps = self.caps;
        // A turn or agent may end before its last request; its account stays closed.
        let turn = self.turns.get_mut(&(caller.agent, caller.turn));
        let agent = self.agents.get_mut(&caller.agent);
        let accounts = [
            turn.map(|turn| (CapScope::Turn, caps.turn, turn)),
            agent.map(|agent| (CapScope::Agent, caps.agent, agent)),
            Some((CapScope::Day, caps.day, &mut self.today)),
        ];
        let mut notices = Vec::new();
        for (scope, cap, account) in accounts.into_iter().flatten() {
            account.held = account.held.minus(most.cost.unwrap_or_default());
            account.held_tokens = account.held_tokens.minus(most.tokens);
            account.spend(used);
            let percent = account.percent(cap);
            if percent > account.notified {
                account.notified = percent;
                notices.push(BudgetNotice { scope, percent });
            }
        }
        notices
    }

    /// Ends a turn and closes its account. Its requests in flight count for the agent.
    pub fn end_turn(&mut self, agent: AgentId, turn: TurnId) {
        self.turns.remove(&(agent, turn));
    }

    /// Ends an agent and closes its accounts.
    pub fn end_agent(&mut self, agent: AgentId) {
        self.agents.remove(&agent);
        self.turns.retain(|(owner, _), _| *owner != agent);
    }

    /// Returns the spending of the current day.
    #[cfg(test)]
    pub(crate) fn spent_today(&self) -> Spend {
        self.today.spent()
    }

    /// Returns the spending of an agent.
    #[cfg(test)]
    pub(crate) fn spent_by(&self, agent: AgentId) -> Spend {
        let account = self.agents.get(&agent).copied().unwrap_or_default();
        account.spent()
    }

    /// Returns the number of unsettled holds.
    #[cfg(test)]
    pub(crate) fn open(&self) -> usize {
        self.holds.len()
    }

    /// Narrowest scope first, so that a refusal names the cap closest to the caller.
    fn accounts(&mut self, caller: Caller) -> [(CapScope, Cap, &mut CostAccount); 3] {
        let turn = self.turns.entry((caller.agent, caller.turn)).or_default();
        let agent = self.agents.entry(caller.agent).or_default();
        [
            (CapScope::Turn, self.caps.turn, turn),
            (CapScope::Agent, self.caps.agent, agent),
            (CapScope::Day, self.caps.day, &mut self.today),
        ]
    }
}

impl CostAccount {
    /// Checks that a request of at most `most` fits below `cap` with what is spent and held. Fails
    /// with a refusal that names `scope`. An unknown price is refused under a cap on cost, or needs
    /// only some room if `allow_unknown`.
    fn allows(
        &self,
        scope: CapScope,
        cap: Cap,
        most: Spend,
        allow_unknown: bool,
    ) -> Result<(), BudgetRefusal> {
        if let Some(cap) = cap.cost {
            // An admitted model of unknown price must still wait if the budget is exhausted.
            let requested = match most.cost {
                Some(cost) => cost,
                None if allow_unknown => Cost(1),
                None => return Err(BudgetRefusal::UnknownPrice { scope }),
            };
            if self.spent.plus(self.held).plus(requested) > cap {
                return Err(BudgetRefusal::Cost {
                    scope,
                    cap,
                    spent: self.spent,
                    held: self.held,
                    requested,
                });
            }
        }
        if let Some(cap) = cap.tokens {
            let taken = self.spent_tokens.plus(self.held_tokens);
            if taken.plus(most.tokens) > cap {
                return Err(BudgetRefusal::Tokens {
                    scope,
                    cap,
                    spent: self.spent_tokens,
                    held: self.held_tokens,
                    requested: most.tokens,
                });
            }
        }
        Ok(())
    }

    fn spend(&mut self, used: Spend) {
        self.spent = self.spent.plus(used.cost.unwrap_or_default());
        self.spent_tokens = self.spent_tokens.plus(used.tokens);
    }

    #[cfg(test)]
    fn spent(&self) -> Spend {
        Spend {
            cost: Some(self.spent),
            tokens: self.spent_tokens,
        }
    }

    /// Returns 100, 80 or 0: the highest threshold reached by the cap's cost or tokens.
    fn percent(&self, cap: Cap) -> u8 {
        let cost = cap.cost.map(|cap| (self.spent.0, cap.0));
        let tokens = cap.tokens.map(|cap| (self.spent_tokens.0, cap.0));
        let percent = [cost, tokens].into_iter().flatten().map(|(spent, cap)| {
            // Computed in u128, since a large cap times one hundred overflows u64.
            let (spent, cap) = (u128::from(spent) * 100, u128::from(cap));
            match spent {
                spent if spent >= cap * 100 => 100,
                spent if spent >= cap * 80 => 80,
                _ => 0,
            }
        });
        percent.max().unwrap_or(0)
    }
}

impl fmt::Display for CapScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turn => "turn",
            Self::Agent => "agent",
            Self::Day => "day",
        })
    }
}

#[cfg(test)]
mod tests;
