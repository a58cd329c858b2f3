//! Hard caps on money and tokens per turn, per agent and per day, which refuse the next call before it is sent.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::policy::{AgentId, Caller, TurnId};
use crate::{Cost, TokenCount};

/// What was spent and what is held for requests under way.
///
/// Invariant: for every cap, what was spent and what is held stay within it when a request is let through, so
/// parallel requests cannot overrun it together. Only a request that uses more than it asked for can.
#[derive(Debug, Default)]
pub struct Budgets {
    caps: Caps,
    day: Day,
    today: Account,
    /// Grows with the agents until `end_agent`.
    agents: HashMap<AgentId, Account>,
    /// Grows with the turns until `end_turn`.
    turns: HashMap<(AgentId, TurnId), Account>,
    holds: HashMap<u64, (Caller, Spend)>,
    last: u64,
}

/// The caps; `None` is no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// For one turn of one agent.
    pub turn: Cap,
    /// For one agent, all its turns together.
    pub agent: Cap,
    /// For one day, everything together.
    pub day: Cap,
    /// Whether a model of unknown price may be asked while a cap on money is set. Its tokens are counted
    /// either way.
    pub allow_unknown_price: bool,
}

/// One cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cap {
    /// The most money.
    pub cost: Option<Cost>,
    /// The most tokens, read and written.
    pub tokens: Option<TokenCount>,
}

/// An amount: the cost where the price is known, the tokens always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    /// `None` where the price is unknown.
    pub cost: Option<Cost>,
    /// Read and written.
    pub tokens: TokenCount,
}

/// A day, counted by the caller in the person's own time zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub u32);

/// What a cap is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One turn.
    Turn,
    /// One agent.
    Agent,
    /// One day.
    Day,
}

/// Money or tokens held for a request under way. It must be settled exactly once.
#[must_use = "an unsettled hold counts against the budget for ever"]
#[derive(Debug, PartialEq, Eq)]
pub struct Hold(u64);

/// Why a request was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetRefusal {
    /// It would cost more than is left.
    #[error(
        "the budget of this {scope} is {cap}: {spent} is spent, {held} is held for requests under way, and this \
         request may cost up to {asked}; raise the budget to go on"
    )]
    Cost {
        /// Which cap.
        scope: Scope,
        /// The cap.
        cap: Cost,
        /// What was spent of it.
        spent: Cost,
        /// What is held of it.
        held: Cost,
        /// What the request may cost.
        asked: Cost,
    },
    /// It would use more tokens than are left.
    #[error(
        "the budget of this {scope} is {} tokens: {} are spent, {} are held for requests under way, and this \
         request may use up to {}; raise the budget to go on", cap.0, spent.0, held.0, asked.0
    )]
    Tokens {
        /// Which cap.
        scope: Scope,
        /// The cap.
        cap: TokenCount,
        /// What was spent of it.
        spent: TokenCount,
        /// What is held of it.
        held: TokenCount,
        /// What the request may use.
        asked: TokenCount,
    },
    /// Its price is unknown, so a cap on money cannot be kept.
    #[error(
        "the price of this model is unknown, so the budget of this {scope} cannot be kept; set its price, or \
         allow models of unknown price"
    )]
    UnknownPrice {
        /// Which cap.
        scope: Scope,
    },
}

/// A cap is nearly or wholly used up. Told once per cap and step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Which cap.
    pub scope: Scope,
    /// 80 or 100.
    pub percent: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    spent: Cost,
    spent_tokens: TokenCount,
    held: Cost,
    held_tokens: TokenCount,
    /// The last percentage told.
    told: u8,
}

impl Budgets {
    /// Sets the caps. What was spent stays spent; a cap below it refuses everything.
    pub fn set_caps(&mut self, caps: Caps) {
        self.caps = caps;
        let accounts = self.agents.values_mut().chain(self.turns.values_mut());
        for account in accounts.chain([&mut self.today]) {
            account.told = 0;
        }
    }

    /// It is `day` now. A new day's account starts empty but for what is held, as that will be paid today.
    pub fn start_day(&mut self, day: Day) {
        if day != self.day {
            self.day = day;
            self.today = Account {
                held: self.today.held,
                held_tokens: self.today.held_tokens,
                ..Account::default()
            };
        }
    }

    /// Takes over what was spent before the process started.
    pub fn restore(&mut self, day: Day, spent: Spend) {
        self.start_day(day);
        self.today.spend(spent);
    }

    /// Holds the most that a request may use, or says which cap forbids it.
    pub fn reserve(&mut self, caller: Caller, most: Spend) -> Result<Hold, BudgetRefusal> {
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
        Ok(Hold(self.last))
    }

    /// Gives a hold back and counts what the request really used; `Spend::default()` where it was not sent.
    pub fn settle(&mut self, hold: Hold, used: Spend) -> Vec<Notice> {
        let Some((caller, most)) = self.holds.remove(&hold.0) else {
            return Vec::new();
        };
        let caps = self.caps;
        // A turn or an agent may have ended before its last request did; its account stays closed.
        let turn = self.turns.get_mut(&(caller.agent, caller.turn));
        let agent = self.agents.get_mut(&caller.agent);
        let accounts = [
            turn.map(|turn| (Scope::Turn, caps.turn, turn)),
            agent.map(|agent| (Scope::Agent, caps.agent, agent)),
            Some((Scope::Day, caps.day, &mut self.today)),
        ];
        let mut notices = Vec::new();
        for (scope, cap, account) in accounts.into_iter().flatten() {
            account.held = account.held.minus(most.cost.unwrap_or_default());
            account.held_tokens = account.held_tokens.minus(most.tokens);
            account.spend(used);
            let percent = account.percent(cap);
            if percent > account.told {
                account.told = percent;
                notices.push(Notice { scope, percent });
            }
        }
        notices
    }

    /// A turn is over; its account is closed. Requests of it that are still under way count for its agent.
    pub fn end_turn(&mut self, agent: AgentId, turn: TurnId) {
        self.turns.remove(&(agent, turn));
    }

    /// An agent is gone; its accounts are closed.
    pub fn end_agent(&mut self, agent: AgentId) {
        self.agents.remove(&agent);
        self.turns.retain(|(owner, _), _| *owner != agent);
    }

    /// What was spent today.
    pub fn spent_today(&self) -> Spend {
        self.today.spent()
    }

    /// What an agent has spent.
    pub fn spent_by(&self, agent: AgentId) -> Spend {
        let account = self.agents.get(&agent).copied().unwrap_or_default();
        account.spent()
    }

    /// How many holds are not settled yet.
    pub fn open(&self) -> usize {
        self.holds.len()
    }

    /// The narrowest first, so that a refusal names the cap nearest to the caller.
    fn accounts(&mut self, caller: Caller) -> [(Scope, Cap, &mut Account); 3] {
        let turn = self.turns.entry((caller.agent, caller.turn)).or_default();
        let agent = self.agents.entry(caller.agent).or_default();
        [
            (Scope::Turn, self.caps.turn, turn),
            (Scope::Agent, self.caps.agent, agent),
            (Scope::Day, self.caps.day, &mut self.today),
        ]
    }
}

impl Account {
    fn allows(
        &self,
        scope: Scope,
        cap: Cap,
        most: Spend,
        allow_unknown: bool,
    ) -> Result<(), BudgetRefusal> {
        if let Some(cap) = cap.cost {
            // A model of unknown price that is let through still waits for a budget that is used up.
            let asked = match most.cost {
                Some(cost) => cost,
                None if allow_unknown => Cost(1),
                None => return Err(BudgetRefusal::UnknownPrice { scope }),
            };
            if self.spent.plus(self.held).plus(asked) > cap {
                return Err(BudgetRefusal::Cost {
                    scope,
                    cap,
                    spent: self.spent,
                    held: self.held,
                    asked,
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
                    asked: most.tokens,
                });
            }
        }
        Ok(())
    }

    fn spend(&mut self, used: Spend) {
        self.spent = self.spent.plus(used.cost.unwrap_or_default());
        self.spent_tokens = self.spent_tokens.plus(used.tokens);
    }

    fn spent(&self) -> Spend {
        Spend {
            cost: Some(self.spent),
            tokens: self.spent_tokens,
        }
    }

    /// 100, 80 or 0: how far the fuller half of the cap is used up.
    fn percent(&self, cap: Cap) -> u8 {
        let cost = cap.cost.map(|cap| (self.spent.0, cap.0));
        let tokens = cap.tokens.map(|cap| (self.spent_tokens.0, cap.0));
        let percent = [cost, tokens].into_iter().flatten().map(|(spent, cap)| {
            // In u128, as a hundredfold of a large cap does not fit into u64.
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

impl fmt::Display for Scope {
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
