//! Who goes next: strict classes, and fair shares of tokens between the agents of a class.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::policy::{AgentId, Class};
use crate::{Moment, TokenCount};

/// Tokens that an agent's turn in the ring is worth.
const QUANTUM: u64 = 4096;
/// An entry below `Class::Tab` that has waited this long is overdue.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of so many entries handed out, one may be overdue.
const OVERDUE_SHARE: u32 = 4;

/// Requests waiting to be sent.
///
/// Between classes the order is strict, with one exception against starvation: of every four entries handed out,
/// one may be the oldest that has waited for a minute or more, whatever its class. Tab itself never waits for it:
/// while a completion can go, it goes. Within a class agents take turns by deficit round robin: what each of them
/// has sent differs by at most one quantum and one request, however large the others' requests are. The entries
/// of one agent keep their order but for those that cannot go now, which the next ones overtake.
///
/// Unbounded: whoever pushes bounds it.
#[derive(Debug)]
pub struct Queue<T> {
    classes: BTreeMap<Class, Ring<T>>,
    /// Entries handed out since an overdue one was.
    since_overdue: u32,
    last: u64,
}

/// The name of an entry, to take it out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// An entry that was handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued<T> {
    /// Its name.
    pub ticket: Ticket,
    /// Its class.
    pub class: Class,
    /// Whose it is.
    pub agent: AgentId,
    /// Since when it waited.
    pub since: Moment,
    /// What was pushed.
    pub item: T,
}

#[derive(Debug)]
struct Ring<T> {
    /// Agents with waiting entries; the first has the turn.
    agents: VecDeque<Waiting<T>>,
}

#[derive(Debug)]
struct Waiting<T> {
    agent: AgentId,
    /// Tokens that it may still send in its turn. Zero again when nothing of it waits.
    deficit: u64,
    /// Oldest first, never empty.
    entries: VecDeque<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    ticket: Ticket,
    tokens: TokenCount,
    since: Moment,
    item: T,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            classes: BTreeMap::new(),
            since_overdue: 0,
            last: 0,
        }
    }
}

impl<T> Queue<T> {
    /// Adds a request of about `tokens`, read and written.
    pub fn push(
        &mut self,
        (class, agent): (Class, AgentId),
        tokens: TokenCount,
        now: Moment,
        item: T,
    ) -> Ticket {
        self.last += 1;
        let ticket = Ticket(self.last);
        let entry = Entry {
            ticket,
            tokens,
            since: now,
            item,
        };
        let ring = self.classes.entry(class).or_default();
        match ring.agents.iter_mut().find(|one| one.agent == agent) {
            Some(waiting) => waiting.entries.push_back(entry),
            None => ring.agents.push_back(Waiting {
                agent,
                deficit: 0,
                entries: VecDeque::from([entry]),
            }),
        }
        ticket
    }

    /// Hands out the next entry that can go now. `can_go` must not depend on how often it is asked.
    pub fn pop(&mut self, now: Moment, can_go: impl FnMut(&T) -> bool) -> Option<Queued<T>> {
        self.pop_keeping(now, can_go, |_| (), |_| None)
    }

    /// As `pop`, where what an entry needs grows in a lane only while nobody else takes of it: behind an overdue
    /// entry that is `held` back by a lane's limits, nothing but Tab goes in that lane. Otherwise many small requests
    /// would for ever take the room that a large one waits for. `lane` is where an entry goes when it can.
    pub fn pop_keeping<K: PartialEq>(
        &mut self,
        now: Moment,
        mut can_go: impl FnMut(&T) -> bool,
        lane: impl Fn(&T) -> K,
        held: impl Fn(&T) -> Option<K>,
    ) -> Option<Queued<T>> {
        if let Some(entry) = self.pop_class(Class::Tab, &mut can_go) {
            self.since_overdue = self.since_overdue.saturating_add(1);
            return Some(entry);
        }
        let mut kept = Vec::new();
        for (_, _, class, ix, at) in self.overdue(now) {
            let entry = &self.classes.get(&class)?.agents[ix].entries[at];
            if let Some(lane) = held(&entry.item)
                && !kept.contains(&lane)
                && !can_go(&entry.item)
            {
                kept.push(lane);
            }
        }
        let mut can_go = |item: &T| can_go(item) && !kept.contains(&lane(item));
        if self.since_overdue + 1 >= OVERDUE_SHARE
            && let Some(entry) = self.pop_overdue(now, &mut can_go)
        {
            self.since_overdue = 0;
            return Some(entry);
        }
        let rest = Class::ALL.into_iter().skip(1);
        let entry = rest
            .filter_map(|class| self.pop_class(class, &mut can_go))
            .next()?;
        self.since_overdue = self.since_overdue.saturating_add(1);
        Some(entry)
    }

    /// Takes an entry out, because its caller gave up.
    pub fn remove(&mut self, ticket: Ticket) -> Option<T> {
        for ring in self.classes.values_mut() {
            for ix in 0..ring.agents.len() {
                let entries = &ring.agents[ix].entries;
                if let Some(at) = entries.iter().position(|entry| entry.ticket == ticket) {
                    return ring.take(ix, at).map(|(_, entry)| entry.item);
                }
            }
        }
        None
    }

    /// How many wait in a class.
    pub fn waiting(&self, class: Class) -> usize {
        let ring = self.classes.get(&class);
        ring.map_or(0, |ring| {
            ring.agents.iter().map(|one| one.entries.len()).sum()
        })
    }

    /// How many wait in all.
    pub fn len(&self) -> usize {
        Class::ALL
            .into_iter()
            .map(|class| self.waiting(class))
            .sum()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn pop_class(
        &mut self,
        class: Class,
        can_go: &mut impl FnMut(&T) -> bool,
    ) -> Option<Queued<T>> {
        let ring = self.classes.get_mut(&class)?;
        let (agent, entry) = ring.pop(can_go)?;
        Some(entry.queued(class, agent))
    }

    /// The oldest overdue entry of any class that can go now.
    fn pop_overdue(
        &mut self,
        now: Moment,
        can_go: &mut impl FnMut(&T) -> bool,
    ) -> Option<Queued<T>> {
        for (_, _, class, ix, at) in self.overdue(now) {
            let ring = self.classes.get_mut(&class)?;
            if can_go(&ring.agents[ix].entries[at].item) {
                // Its agent pays for it, so that waiting long is no way to get more than one's share.
                let tokens = ring.agents[ix].entries[at].tokens.0;
                ring.agents[ix].deficit = ring.agents[ix].deficit.saturating_sub(tokens);
                let (agent, entry) = ring.take(ix, at)?;
                return Some(entry.queued(class, agent));
            }
        }
        None
    }

    /// Where the overdue entries lie, the oldest first: agent and entry by their places in the class.
    fn overdue(&self, now: Moment) -> Vec<(Moment, Ticket, Class, usize, usize)> {
        let mut overdue = Vec::new();
        for (class, ring) in self
            .classes
            .iter()
            .filter(|(class, _)| **class != Class::Tab)
        {
            for (ix, waiting) in ring.agents.iter().enumerate() {
                // Entries of one agent are in the order of their age.
                let entries = waiting.entries.iter().enumerate();
                let old = entries.take_while(|(_, entry)| now.since(entry.since) >= PATIENCE);
                overdue.extend(old.map(|(at, entry)| (entry.since, entry.ticket, *class, ix, at)));
            }
        }
        overdue.sort();
        overdue
    }
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self {
            agents: VecDeque::new(),
        }
    }
}

impl<T> Ring<T> {
    /// Deficit round robin over the agents that have an entry that can go.
    fn pop(&mut self, can_go: &mut impl FnMut(&T) -> bool) -> Option<(AgentId, Entry<T>)> {
        let ready: Vec<Option<usize>> = self
            .agents
            .iter()
            .map(|one| one.entries.iter().position(|entry| can_go(&entry.item)))
            .collect();
        let missing = |waiting: &Waiting<T>, at: usize| {
            waiting.entries[at].tokens.0.saturating_sub(waiting.deficit)
        };
        // How many turns each needs before its entry is paid for; the fewest go first, and among them the
        // one whose turn it is. This is the ring turned as often as needed, in one step.
        let turns = |ix: usize, at: usize| missing(&self.agents[ix], at).div_ceil(QUANTUM);
        let paired = ready.iter().enumerate();
        let (rounds, ix, at) = paired
            .filter_map(|(ix, at)| at.map(|at| (turns(ix, at), ix, at)))
            .min_by_key(|(turns, ix, _)| (*turns, *ix))?;
        for (other, _) in ready.iter().enumerate().filter(|(_, at)| at.is_some()) {
            // Those behind it in the ring have not had the last of these turns yet.
            let had = rounds - u64::from(other > ix && rounds > 0);
            let waiting = &mut self.agents[other];
            waiting.deficit = waiting.deficit.saturating_add(had.saturating_mul(QUANTUM));
        }
        let tokens = self.agents[ix].entries[at].tokens.0;
        self.agents[ix].deficit = self.agents[ix].deficit.saturating_sub(tokens);
        self.agents.rotate_left(ix);
        let taken = self.take(0, at)?;
        // An agent keeps the turn while it can pay for its next entry; then it goes to the end of the ring. One
        // that has nothing more to send has left the ring, and with it what it had saved.
        let is_left = self.agents.front().is_some_and(|front| {
            let next = front.entries.front();
            front.agent == taken.0 && next.is_some_and(|next| next.tokens.0 > front.deficit)
        });
        if is_left {
            self.agents.rotate_left(1);
        }
        Some(taken)
    }

    fn take(&mut self, ix: usize, at: usize) -> Option<(AgentId, Entry<T>)> {
        let waiting = self.agents.get_mut(ix)?;
        let entry = waiting.entries.remove(at)?;
        let agent = waiting.agent;
        if waiting.entries.is_empty() {
            self.agents.remove(ix);
        }
        Some((agent, entry))
    }
}

impl<T> Entry<T> {
    fn queued(self, class: Class, agent: AgentId) -> Queued<T> {
        Queued {
            ticket: self.ticket,
            class,
            agent,
            since: self.since,
            item: self.item,
        }
    }
}

#[cfg(test)]
mod tests;
