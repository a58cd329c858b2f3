//! Order of requests: strict urgency classes, with fair token shares between the agents of a class.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::policy::{AgentId, RequestClass};
use crate::{MonotonicTime, TokenCount};

/// Tokens granted to an agent per turn in the ring.
const QUANTUM: u64 = 4096;
/// Waiting time after which an entry below `RequestClass::Tab` is overdue.
const OVERDUE_AFTER: Duration = Duration::from_secs(60);
/// One of this many entries handed out may be overdue.
const OVERDUE_SHARE: u32 = 4;

/// Requests waiting to be sent.
///
/// Classes are served in strict order, with one exception against starvation: of every four entries
/// handed out, one may be the oldest that has waited for at least a minute, whatever its class. Tab
/// itself never waits for it: a completion that can be sent is sent. Within a class agents are
/// served by deficit round robin: their totals differ by at most one quantum and one request,
/// however large the requests are. Entries of one agent keep their order, except that entries which
/// cannot be sent now are overtaken.
///
/// Unbounded: the caller of `push` must bound it.
#[derive(Debug)]
pub struct RequestQueue<T> {
    classes: BTreeMap<RequestClass, AgentRing<T>>,
    /// Entries handed out since the last overdue one.
    since_overdue: u32,
    last: u64,
}

/// Identifies an entry of a `RequestQueue`, for removing the entry. Unique within the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueTicket(u64);

/// An entry that was handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedRequest<T> {
    /// Ticket of the entry.
    pub ticket: QueueTicket,
    /// Urgency class of the entry.
    pub class: RequestClass,
    /// Agent that it belongs to.
    pub agent: AgentId,
    /// Time at which it was queued.
    pub since: MonotonicTime,
    /// The queued item itself.
    pub item: T,
}

#[derive(Debug)]
struct AgentRing<T> {
    /// Agents with waiting entries; the first has the turn.
    agents: VecDeque<AgentQueue<T>>,
}

#[derive(Debug)]
struct AgentQueue<T> {
    agent: AgentId,
    /// Tokens that the agent may still send in its turn. Zero when it has no waiting entries.
    deficit: u64,
    /// Oldest first, never empty.
    entries: VecDeque<QueueEntry<T>>,
}

#[derive(Debug)]
struct QueueEntry<T> {
    ticket: QueueTicket,
    tokens: TokenCount,
    since: MonotonicTime,
    item: T,
}

impl<T> Default for RequestQueue<T> {
    fn default() -> Self {
        Self {
            classes: BTreeMap::new(),
            since_overdue: 0,
            last: 0,
        }
    }
}

impl<T> RequestQueue<T> {
    /// Adds a request of about `tokens`, input plus output, which count against the agent's share.
    /// Returns the ticket with which the request can be removed.
    pub fn push(
        &mut self,
        (class, agent): (RequestClass, AgentId),
        tokens: TokenCount,
        now: MonotonicTime,
        item: T,
    ) -> QueueTicket {
        self.last += 1;
        let ticket = QueueTicket(self.last);
        let entry = QueueEntry {
            ticket,
            tokens,
            since: now,
            item,
        };
        let ring = self.classes.entry(class).or_default();
        match ring.agents.iter_mut().find(|one| one.agent == agent) {
            Some(waiting) => waiting.entries.push_back(entry),
            None => ring.agents.push_back(AgentQueue {
                agent,
                deficit: 0,
                entries: VecDeque::from([entry]),
            }),
        }
        ticket
    }

    /// Removes and returns the next entry for which `can_go` is true, or `None` if there is no such
    /// entry. Does not reserve capacity for overdue entries. Only tests call this function.
    #[cfg(test)]
    pub(crate) fn pop(
        &mut self,
        now: MonotonicTime,
        can_go: impl FnMut(&T) -> bool,
    ) -> Option<QueuedRequest<T>> {
        self.pop_keeping(now, can_go, |_| (), |_| None)
    }

    /// Removes and returns the next entry that can be sent now, or `None` if there is no such
    /// entry. `can_go` must not depend on how often it is called.
    ///
    /// Reserves capacity for overdue entries: while a route's limits hold back an overdue entry
    /// (`held` returns that route), only Tab requests are sent on that route. Otherwise many small
    /// requests would take the capacity that a large one waits for forever. `route` is the route of
    /// an entry that can be sent.
    pub fn pop_keeping<K: PartialEq>(
        &mut self,
        now: MonotonicTime,
        mut can_go: impl FnMut(&T) -> bool,
        route: impl Fn(&T) -> K,
        held: impl Fn(&T) -> Option<K>,
    ) -> Option<QueuedRequest<T>> {
        if let Some(entry) = self.pop_class(RequestClass::Tab, &mut can_go) {
            self.since_overdue = self.since_overdue.saturating_add(1);
            return Some(entry);
        }
        let mut kept = Vec::new();
        for (_, _, class, ix, at) in self.overdue(now) {
            let entry = &self.classes.get(&class)?.agents[ix].entries[at];
            if let Some(route) = held(&entry.item)
                && !kept.contains(&route)
                && !can_go(&entry.item)
            {
                kept.push(route);
            }
        }
        let mut can_go = |item: &T| can_go(item) && !kept.contains(&route(item));
        if self.since_overdue + 1 >= OVERDUE_SHARE
            && let Some(entry) = self.pop_overdue(now, &mut can_go)
        {
            self.since_overdue = 0;
            return Some(entry);
        }
        let rest = RequestClass::ALL.into_iter().skip(1);
        let entry = rest
            .filter_map(|class| self.pop_class(class, &mut can_go))
            .next()?;
        self.since_overdue = self.since_overdue.saturating_add(1);
        Some(entry)
    }

    /// Removes the entry of a caller that gave up, and returns its item, or `None` if the entry was
    /// already handed out or removed.
    pub fn remove(&mut self, ticket: QueueTicket) -> Option<T> {
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

    /// Returns the number of entries waiting in a class.
    pub fn waiting(&self, class: RequestClass) -> usize {
        let ring = self.classes.get(&class);
        ring.map_or(0, |ring| {
            ring.agents.iter().map(|one| one.entries.len()).sum()
        })
    }

    /// Returns the number of waiting entries.
    pub fn len(&self) -> usize {
        RequestClass::ALL
            .into_iter()
            .map(|class| self.waiting(class))
            .sum()
    }

    /// Returns whether no entry is waiting.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes and returns the next entry of a class in fair order for which `can_go` is true;
    /// `None` if there is none.
    fn pop_class(
        &mut self,
        class: RequestClass,
        can_go: &mut impl FnMut(&T) -> bool,
    ) -> Option<QueuedRequest<T>> {
        let ring = self.classes.get_mut(&class)?;
        let (agent, entry) = ring.pop(can_go)?;
        Some(entry.queued(class, agent))
    }

    /// Removes and returns the oldest overdue entry of any class that can be sent now.
    fn pop_overdue(
        &mut self,
        now: MonotonicTime,
        can_go: &mut impl FnMut(&T) -> bool,
    ) -> Option<QueuedRequest<T>> {
        for (_, _, class, ix, at) in self.overdue(now) {
            let ring = self.classes.get_mut(&class)?;
            if can_go(&ring.agents[ix].entries[at].item) {
                // Its agent is charged for it, so that waiting long does not yield more than a fair
                // share.
                let tokens = ring.agents[ix].entries[at].tokens.0;
                ring.agents[ix].deficit = ring.agents[ix].deficit.saturating_sub(tokens);
                let (agent, entry) = ring.take(ix, at)?;
                return Some(entry.queued(class, agent));
            }
        }
        None
    }

    /// Returns the positions of overdue entries, oldest first, as indices of agent and entry within
    /// their class.
    fn overdue(
        &self,
        now: MonotonicTime,
    ) -> Vec<(MonotonicTime, QueueTicket, RequestClass, usize, usize)> {
        let mut overdue = Vec::new();
        for (class, ring) in self
            .classes
            .iter()
            .filter(|(class, _)| **class != RequestClass::Tab)
        {
            for (ix, waiting) in ring.agents.iter().enumerate() {
                // Entries of one agent are ordered by age.
                let entries = waiting.entries.iter().enumerate();
                let old = entries.take_while(|(_, entry)| now.since(entry.since) >= OVERDUE_AFTER);
                overdue.extend(old.map(|(at, entry)| (entry.since, entry.ticket, *class, ix, at)));
            }
        }
        overdue.sort();
        overdue
    }
}

impl<T> Default for AgentRing<T> {
    fn default() -> Self {
        Self {
            agents: VecDeque::new(),
        }
    }
}

impl<T> AgentRing<T> {
    /// Deficit round robin over the agents with an entry that can be sent.
    fn pop(&mut self, can_go: &mut impl FnMut(&T) -> bool) -> Option<(AgentId, QueueEntry<T>)> {
        let ready: Vec<Option<usize>> = self
            .agents
            .iter()
            .map(|one| one.entries.iter().position(|entry| can_go(&entry.item)))
            .collect();
        let missing = |waiting: &AgentQueue<T>, at: usize| {
            waiting.entries[at].tokens.0.saturating_sub(waiting.deficit)
        };
        // The number of turns until each agent can pay for its entry; the lowest is served first,
        // ties by ring order. This computes in one step what turning the ring repeatedly would.
        let turns = |ix: usize, at: usize| missing(&self.agents[ix], at).div_ceil(QUANTUM);
        let paired = ready.iter().enumerate();
        let (rounds, ix, at) = paired
            .filter_map(|(ix, at)| at.map(|at| (turns(ix, at), ix, at)))
            .min_by_key(|(turns, ix, _)| (*turns, *ix))?;
        for (other, _) in ready.iter().enumerate().filter(|(_, at)| at.is_some()) {
            // Agents behind it in the ring have not had the last of these turns yet.
            let had = rounds - u64::from(other > ix && rounds > 0);
            let waiting = &mut self.agents[other];
            waiting.deficit = waiting.deficit.saturating_add(had.saturating_mul(QUANTUM));
        }
        let tokens = self.agents[ix].entries[at].tokens.0;
        self.agents[ix].deficit = self.agents[ix].deficit.saturating_sub(tokens);
        self.agents.rotate_left(ix);
        let taken = self.take(0, at)?;
        // An agent keeps the turn while it can pay for its next entry; then it moves to the end of
        // the ring. An agent without entries has left the ring and lost its deficit.
        let is_left = self.agents.front().is_some_and(|front| {
            let next = front.entries.front();
            front.agent == taken.0 && next.is_some_and(|next| next.tokens.0 > front.deficit)
        });
        if is_left {
            self.agents.rotate_left(1);
        }
        Some(taken)
    }

    /// Removes entry `at` of the agent at index `ix`; an agent without further entries leaves the
    /// ring. `None` if there is no such entry.
    fn take(&mut self, ix: usize, at: usize) -> Option<(AgentId, QueueEntry<T>)> {
        let waiting = self.agents.get_mut(ix)?;
        let entry = waiting.entries.remove(at)?;
        let agent = waiting.agent;
        if waiting.entries.is_empty() {
            self.agents.remove(ix);
        }
        Some((agent, entry))
    }
}

impl<T> QueueEntry<T> {
    fn queued(self, class: RequestClass, agent: AgentId) -> QueuedRequest<T> {
        QueuedRequest {
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
