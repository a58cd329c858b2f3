//! Which sessions will be in each other's way, before anything lands.
//!
//! Every pair of sessions, each session and what the branch has become, each session and what the person has not
//! committed are merged in memory, and so are all sessions in the order in which they would land. What did not
//! change since the last time is not merged again.
//! Invariant: a conflict here is one that landing would meet, since both ask `Repository::merge`.
//! Invariant: two sessions that change one symbol without fighting over lines are near each other, which is never
//! counted as a conflict.
//! Start at `Forecast::refresh`; what sessions hold is read in `gather`, sentences are made in `telling`.

mod gather;
mod pairs;
pub(crate) mod symbols;
mod telling;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use git::Repository;
use git::merge::{Changes, ConflictKind, Merged, ObjectId, TreePath};

pub use gather::{Gather, Gathered};
pub use telling::kind_told;

use crate::land::Buffers;
use crate::work::CommitId;
use pairs::{Between, Pair};
use symbols::Symbols;

/// Somebody whose changes are forecast.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// What the branch has got since a session began.
    Branch,
    /// What the person has not committed or not saved.
    Person,
    /// A session, by its name.
    Session(String),
}

/// What one session holds.
#[derive(Clone, Debug)]
pub struct Session {
    /// Names it.
    pub name: String,
    /// A few words for people.
    pub title: String,
    /// The commit it began from.
    pub base: CommitId,
    /// What it made of that.
    pub changes: Arc<Changes>,
}

/// What is to be forecast.
#[derive(Clone, Debug)]
pub struct Input {
    /// The commit the person's branch is at.
    pub tip: CommitId,
    /// The branch, for people: `main`.
    pub branch: String,
    /// The sessions, in the order in which they would land.
    pub sessions: Vec<Session>,
    /// What the person's checkout has otherwise than `tip`.
    pub uncommitted: Arc<Changes>,
    /// What the person has typed and not saved.
    pub unsaved: Buffers,
}

/// A place in a conflict; lines count from 1, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Lines of the first side.
    pub one: Range<u32>,
    /// Lines of the second side.
    pub two: Range<u32>,
    /// The function, type or section around it.
    pub symbol: Option<String>,
}

/// A conflict that landing both sides would meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreseen {
    /// The first side: a session.
    pub one: Who,
    /// The second side.
    pub two: Who,
    /// Where.
    pub path: TreePath,
    /// Why.
    pub kind: ConflictKind,
    /// Where in it; empty when it is about the whole file.
    pub spots: Vec<Spot>,
    /// A sentence for the person.
    pub for_person: String,
    /// A sentence for each agent that is part of it, by its session.
    pub for_agents: Vec<(String, String)>,
}

/// A symbol that two sessions change without fighting over lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// One session.
    pub one: Who,
    /// The other.
    pub two: Who,
    /// Where.
    pub path: TreePath,
    /// The symbol both change.
    pub symbol: String,
    /// A sentence for the person.
    pub for_person: String,
}

/// What would become of a session if all landed in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InOrder {
    /// The session.
    pub session: String,
    /// Where it would be in conflict; empty when it would land.
    pub conflicts: Vec<TreePath>,
}

/// A forecast.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Conflicts, by session and path.
    pub conflicts: Vec<Foreseen>,
    /// What is only near.
    pub near: Vec<Near>,
    /// What would land in order.
    pub order: Vec<InOrder>,
    /// How many merges this forecast took; none where nothing changed.
    pub merged: usize,
}

/// Forecasts again and again, and remembers what did not change.
#[derive(Default)]
pub struct Forecast {
    pairs: HashMap<(Print, Print), Arc<Pair>>,
    order: HashMap<Print, Arc<OrderStep>>,
    symbols: Symbols,
}

/// Tells two states of changes apart.
type Print = u128;

struct OrderStep {
    conflicts: Vec<TreePath>,
    /// All that landed so far, against the branch.
    landed: Arc<Changes>,
}

/// Changes against a tree, with the commit of that tree where it has one.
#[derive(Clone)]
struct Side {
    who: Who,
    title: String,
    base: ObjectId,
    changes: Arc<Changes>,
    print: Print,
}

impl Forecast {
    /// The forecast as of now. An error means that the hub itself could not be read.
    pub fn refresh(
        &mut self,
        repository: &Repository,
        input: &Input,
    ) -> Result<Report, git::Error> {
        let tip = repository.commit_id(&input.tip.0)?;
        let mut sides = Vec::new();
        for session in &input.sessions {
            sides.push(Side {
                who: Who::Session(session.name.clone()),
                title: session.title.clone(),
                base: repository.commit_id(&session.base.0)?,
                print: print_of(&session.base.0, &session.changes),
                changes: session.changes.clone(),
            });
        }
        let person = person_side(repository, input, tip)?;
        let mut round = Round {
            repository,
            input,
            forecast: self,
            report: Report::default(),
            pairs: HashMap::new(),
            order: HashMap::new(),
        };
        for (ix, side) in sides.iter().enumerate() {
            round.with_branch(side, tip)?;
            if !person.changes.is_empty() {
                round.two(side, &person)?;
            }
            for other in &sides[ix + 1..] {
                round.two(side, other)?;
            }
        }
        round.in_order(&sides, tip)?;
        let Round {
            mut report,
            pairs,
            order,
            ..
        } = round;
        // What nobody asked for this time is forgotten, so that memory does not grow.
        self.pairs = pairs;
        self.order = order;
        self.symbols.forget_unused();
        report.conflicts.sort_by(|one, two| {
            (&one.one, &one.path, &one.two).cmp(&(&two.one, &two.path, &two.two))
        });
        Ok(report)
    }
}

/// One refresh.
struct Round<'a> {
    repository: &'a Repository,
    input: &'a Input,
    forecast: &'a mut Forecast,
    report: Report,
    pairs: HashMap<(Print, Print), Arc<Pair>>,
    order: HashMap<Print, Arc<OrderStep>>,
}

impl Round<'_> {
    /// A session and what the branch got since.
    fn with_branch(&mut self, side: &Side, tip: ObjectId) -> Result<(), git::Error> {
        if side.base == tip {
            return Ok(());
        }
        let branch = Side {
            who: Who::Branch,
            title: self.input.branch.clone(),
            base: tip,
            changes: Arc::default(),
            print: print_of(&tip.to_string(), &Changes::new()),
        };
        self.two(side, &branch)
    }

    fn two(&mut self, one: &Side, two: &Side) -> Result<(), git::Error> {
        let key = (one.print, two.print);
        let pair = match self
            .forecast
            .pairs
            .get(&key)
            .or_else(|| self.pairs.get(&key))
        {
            Some(pair) => pair.clone(),
            None => {
                self.report.merged += 1;
                let between = Between {
                    repository: self.repository,
                    one,
                    two,
                };
                Arc::new(between.pair(&mut self.forecast.symbols)?)
            }
        };
        self.pairs.insert(key, pair.clone());
        for found in &pair.conflicts {
            let told = telling::conflict((&one.who, &one.title), (&two.who, &two.title), found);
            self.report.conflicts.push(told);
        }
        for (path, symbol) in &pair.near {
            self.report.near.push(Near {
                one: one.who.clone(),
                two: two.who.clone(),
                path: path.clone(),
                symbol: symbol.clone(),
                for_person: telling::near(
                    (&one.who, &one.title),
                    (&two.who, &two.title),
                    path,
                    symbol,
                ),
            });
        }
        Ok(())
    }

    /// All sessions one behind the other; one that is in conflict is left out of what follows.
    fn in_order(&mut self, sides: &[Side], tip: ObjectId) -> Result<(), git::Error> {
        let mut chain = print_of(&tip.to_string(), &Changes::new());
        let mut landed: Arc<Changes> = Arc::default();
        for side in sides {
            chain = chain
                .rotate_left(5)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
                ^ side.print;
            let known = self.forecast.order.get(&chain).cloned();
            let step = match known {
                Some(step) => step,
                None => {
                    self.report.merged += 1;
                    Arc::new(self.next_in_order(side, tip, &landed)?)
                }
            };
            self.order.insert(chain, step.clone());
            landed = step.landed.clone();
            if let Who::Session(session) = &side.who {
                self.report.order.push(InOrder {
                    session: session.clone(),
                    conflicts: step.conflicts.clone(),
                });
            }
        }
        Ok(())
    }

    fn next_in_order(
        &self,
        side: &Side,
        tip: ObjectId,
        landed: &Arc<Changes>,
    ) -> Result<OrderStep, git::Error> {
        let base_tree = self.repository.tree_of(&side.base.to_string())?;
        let tip_tree = self.repository.tree_of(&tip.to_string())?;
        let ours = pairs::composed(self.repository, base_tree, tip_tree, landed)?;
        let merged: Merged = self.repository.merge(base_tree, &ours, &side.changes)?;
        if !merged.is_clean() {
            return Ok(OrderStep {
                conflicts: merged.conflicts.into_iter().map(|it| it.path).collect(),
                landed: landed.clone(),
            });
        }
        let mut now = Changes::new();
        for (path, entry) in merged.changes {
            if self.repository.entry_at(tip_tree, &path)? != entry {
                now.insert(path, entry);
            }
        }
        Ok(OrderStep {
            conflicts: Vec::new(),
            landed: Arc::new(now),
        })
    }
}

fn person_side(repository: &Repository, input: &Input, tip: ObjectId) -> Result<Side, git::Error> {
    let mut changes = Changes::clone(&input.uncommitted);
    let tip_tree = repository.tree_of(&input.tip.0)?;
    for (path, text) in &input.unsaved {
        let known = match changes.get(path) {
            Some(entry) => entry.clone(),
            None => repository.entry_at(tip_tree, path)?,
        };
        let mode = known.map_or(git::merge::Mode::Plain, |entry| entry.mode);
        let entry = git::merge::Entry::of_bytes(mode, text.clone());
        changes.insert(path.clone(), Some(entry));
    }
    Ok(Side {
        who: Who::Person,
        title: String::new(),
        base: tip,
        print: print_of(&input.tip.0, &changes).rotate_left(1),
        changes: Arc::new(changes),
    })
}

/// Tells changes apart by their names, modes and ids, never by reading bytes again.
fn print_of(base: &str, changes: &Changes) -> Print {
    let mut words = base.as_bytes().to_vec();
    for (path, entry) in changes {
        words.push(0);
        words.extend_from_slice(path.as_bytes());
        words.push(0);
        if let Some(entry) = entry {
            words.extend_from_slice(format!("{:?} {}", entry.mode, entry.id).as_bytes());
        }
    }
    host::ContentHash::of(&words).0
}

#[cfg(test)]
mod tests;
