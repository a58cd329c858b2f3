//! Predicts conflicts between sessions before anything lands.
//!
//! Merges in memory every pair of sessions, each session with the branch, each session with the
//! user's uncommitted work, and all sessions in landing order. Results for unchanged inputs are
//! reused.
//! Invariant: a predicted conflict is one that landing would meet, since both use
//! `Repository::merge`.
//! Invariant: two sessions that change the same symbol on different lines overlap; that is never
//! counted as a conflict.
//! Start at `Forecaster::refresh`; `gather` reads the changes of sessions, `messages` writes the
//! sentences.

mod gather;
mod messages;
mod pairs;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use git::Repository;
use git::merge::{Changes, ConflictKind, ObjectId, TreeMerge, TreePath};

pub use gather::{ChangeGatherer, ChangedTrees, GatheredChanges};

use crate::symbols::SymbolCache;
use crate::work::{CommitId, SessionChanges, UnsavedBuffers};
use pairs::{PairMerge, PairResult};

/// A party whose changes take part in the forecast.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForecastParty {
    /// The branch: its commits since a session began.
    Branch,
    /// The user: uncommitted and unsaved changes.
    Person,
    /// A session, by its id.
    Session(String),
}

impl ForecastParty {
    /// Returns the party's stable name in JSON output: `branch`, `person`, or the id of a session
    /// after `session:`.
    pub fn name(&self) -> String {
        match self {
            Self::Branch => "branch".to_owned(),
            Self::Person => "person".to_owned(),
            Self::Session(id) => format!("session:{id}"),
        }
    }
}

/// The input of a forecast.
#[derive(Clone, Debug)]
pub struct ForecastInput {
    /// The tip of the user's branch.
    pub tip: CommitId,
    /// Short name of the branch: `main`.
    pub branch: String,
    /// The sessions, in landing order.
    pub sessions: Vec<SessionChanges>,
    /// Uncommitted changes of the user's checkout against `tip`.
    pub uncommitted: Arc<Changes>,
    /// Unsaved buffers of the editor.
    pub unsaved: UnsavedBuffers,
}

/// A location of a conflict in its file. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictLocation {
    /// Lines of the first side.
    pub one: Range<u32>,
    /// Lines of the second side.
    pub two: Range<u32>,
    /// The enclosing function, type or section.
    pub symbol: Option<String>,
}

/// A conflict that landing both sides would meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForecastConflict {
    /// The first side, always a session.
    pub one: ForecastParty,
    /// The second side of the conflict.
    pub two: ForecastParty,
    /// Path of the conflicting file.
    pub path: TreePath,
    /// The kind of conflict.
    pub kind: ConflictKind,
    /// Locations in the file; empty if the whole file conflicts.
    pub locations: Vec<ConflictLocation>,
    /// A sentence for the user.
    pub for_person: String,
    /// A sentence for each agent involved, by session id.
    pub for_agents: Vec<(String, String)>,
}

/// A symbol that two sessions change on different lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolOverlap {
    /// The first side of the overlap.
    pub one: ForecastParty,
    /// The second side of the overlap.
    pub two: ForecastParty,
    /// Path of the file.
    pub path: TreePath,
    /// The symbol that both change.
    pub symbol: String,
    /// A sentence for the user.
    pub for_person: String,
}

/// The predicted result for one session if all landed in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandingPreview {
    /// Id of the session.
    pub session: String,
    /// Conflicting paths; empty if it would land.
    pub conflicts: Vec<TreePath>,
}

/// The result of a forecast.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForecastReport {
    /// Conflicts, sorted by session and path.
    pub conflicts: Vec<ForecastConflict>,
    /// Overlaps that are not conflicts.
    pub overlaps: Vec<SymbolOverlap>,
    /// The predicted results of landing in order.
    pub order: Vec<LandingPreview>,
    /// Number of merges computed; 0 if nothing changed.
    pub merged: usize,
}

/// Computes forecasts and caches the merges of unchanged inputs.
#[derive(Default)]
pub struct Forecaster {
    pairs: HashMap<(ChangesFingerprint, ChangesFingerprint), Arc<PairResult>>,
    order: HashMap<ChangesFingerprint, Arc<OrderStep>>,
    symbols: SymbolCache,
}

/// A fingerprint of a base and the changes against it.
type ChangesFingerprint = u128;

struct OrderStep {
    conflicts: Vec<TreePath>,
    /// All changes landed so far, against the branch.
    landed: Arc<Changes>,
}

/// The changes of one party against a commit.
#[derive(Clone)]
struct ForecastSide {
    who: ForecastParty,
    title: String,
    base: ObjectId,
    changes: Arc<Changes>,
    fingerprint: ChangesFingerprint,
}

impl Forecaster {
    /// Computes the forecast of the present state, with merges only in memory. An error means that
    /// the repository itself could not be read.
    pub fn refresh(
        &mut self,
        repository: &Repository,
        input: &ForecastInput,
    ) -> Result<ForecastReport, git::Error> {
        let tip = repository.commit_id(&input.tip.0)?;
        let mut sides = Vec::new();
        for session in &input.sessions {
            sides.push(ForecastSide {
                who: ForecastParty::Session(session.session.clone()),
                title: session.title.clone(),
                base: repository.commit_id(&session.base.0)?,
                fingerprint: fingerprint(&session.base.0, &session.changes),
                changes: session.changes.clone(),
            });
        }
        let person = person_side(repository, input, tip)?;
        let mut pass = ForecastPass {
            repository,
            input,
            forecast: self,
            report: ForecastReport::default(),
            pairs: HashMap::new(),
            order: HashMap::new(),
        };
        for (ix, side) in sides.iter().enumerate() {
            pass.merge_with_branch(side, tip)?;
            if !person.changes.is_empty() {
                pass.merge_pair(side, &person)?;
            }
            for other in &sides[ix + 1..] {
                pass.merge_pair(side, other)?;
            }
        }
        pass.merge_in_order(&sides, tip)?;
        let ForecastPass {
            mut report,
            pairs,
            order,
            ..
        } = pass;
        // Cache entries that this pass did not use are dropped, which bounds memory.
        self.pairs = pairs;
        self.order = order;
        self.symbols.forget_unused();
        report.conflicts.sort_by(|one, two| {
            (&one.one, &one.path, &one.two).cmp(&(&two.one, &two.path, &two.two))
        });
        Ok(report)
    }
}

/// One pass of the forecast.
struct ForecastPass<'a> {
    repository: &'a Repository,
    input: &'a ForecastInput,
    forecast: &'a mut Forecaster,
    report: ForecastReport,
    pairs: HashMap<(ChangesFingerprint, ChangesFingerprint), Arc<PairResult>>,
    order: HashMap<ChangesFingerprint, Arc<OrderStep>>,
}

impl ForecastPass<'_> {
    /// Merges a session with the branch's commits since it began.
    fn merge_with_branch(&mut self, side: &ForecastSide, tip: ObjectId) -> Result<(), git::Error> {
        if side.base == tip {
            return Ok(());
        }
        let branch = ForecastSide {
            who: ForecastParty::Branch,
            title: self.input.branch.clone(),
            base: tip,
            changes: Arc::default(),
            fingerprint: fingerprint(&tip.to_string(), &Changes::new()),
        };
        self.merge_pair(side, &branch)
    }

    /// Merges two sides, or reuses the result for the same changes, and adds their conflicts and
    /// overlaps to the report. Fails if the repository cannot be read.
    fn merge_pair(&mut self, one: &ForecastSide, two: &ForecastSide) -> Result<(), git::Error> {
        let key = (one.fingerprint, two.fingerprint);
        let pair = match self
            .forecast
            .pairs
            .get(&key)
            .or_else(|| self.pairs.get(&key))
        {
            Some(pair) => pair.clone(),
            None => {
                self.report.merged += 1;
                let between = PairMerge {
                    repository: self.repository,
                    one,
                    two,
                };
                Arc::new(between.run(&mut self.forecast.symbols)?)
            }
        };
        self.pairs.insert(key, pair.clone());
        for found in &pair.conflicts {
            let conflict =
                messages::forecast_conflict((&one.who, &one.title), (&two.who, &two.title), found);
            self.report.conflicts.push(conflict);
        }
        for (path, symbol) in &pair.overlaps {
            self.report.overlaps.push(SymbolOverlap {
                one: one.who.clone(),
                two: two.who.clone(),
                path: path.clone(),
                symbol: symbol.clone(),
                for_person: messages::overlap_sentence(
                    (&one.who, &one.title),
                    (&two.who, &two.title),
                    path,
                    symbol,
                ),
            });
        }
        Ok(())
    }

    /// Merges all sessions in order; one that conflicts is left out of the following merges.
    fn merge_in_order(&mut self, sides: &[ForecastSide], tip: ObjectId) -> Result<(), git::Error> {
        let mut chain = fingerprint(&tip.to_string(), &Changes::new());
        let mut landed: Arc<Changes> = Arc::default();
        for side in sides {
            chain = chain
                .rotate_left(5)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
                ^ side.fingerprint;
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
            if let ForecastParty::Session(session) = &side.who {
                self.report.order.push(LandingPreview {
                    session: session.clone(),
                    conflicts: step.conflicts.clone(),
                });
            }
        }
        Ok(())
    }

    /// Merges a session onto the branch with the changes of the sessions before it (`landed`,
    /// against `tip`). Returns its conflicts, and the changes including its own unless it
    /// conflicts.
    fn next_in_order(
        &self,
        side: &ForecastSide,
        tip: ObjectId,
        landed: &Arc<Changes>,
    ) -> Result<OrderStep, git::Error> {
        let base_tree = self.repository.tree_of(&side.base.to_string())?;
        let tip_tree = self.repository.tree_of(&tip.to_string())?;
        let ours = pairs::changes_against(self.repository, base_tree, tip_tree, landed)?;
        let merged: TreeMerge = self.repository.merge(base_tree, &ours, &side.changes)?;
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

/// Returns the user's side: the uncommitted changes, with unsaved texts in place of the files'.
fn person_side(
    repository: &Repository,
    input: &ForecastInput,
    tip: ObjectId,
) -> Result<ForecastSide, git::Error> {
    let mut changes = Changes::clone(&input.uncommitted);
    let tip_tree = repository.tree_of(&input.tip.0)?;
    for (path, text) in &input.unsaved {
        let known = match changes.get(path) {
            Some(entry) => entry.clone(),
            None => repository.entry_at(tip_tree, path)?,
        };
        let mode = known.map_or(git::merge::EntryMode::Plain, |entry| entry.mode);
        let entry = git::merge::ObjectEntry::of_bytes(mode, text.clone());
        changes.insert(path.clone(), Some(entry));
    }
    Ok(ForecastSide {
        who: ForecastParty::Person,
        title: String::new(),
        base: tip,
        fingerprint: fingerprint(&input.tip.0, &changes).rotate_left(1),
        changes: Arc::new(changes),
    })
}

/// Fingerprints changes by path, mode and object id, without reading their bytes.
fn fingerprint(base: &str, changes: &Changes) -> ChangesFingerprint {
    let mut bytes = base.as_bytes().to_vec();
    for (path, entry) in changes {
        bytes.push(0);
        bytes.extend_from_slice(path.as_bytes());
        bytes.push(0);
        if let Some(entry) = entry {
            bytes.extend_from_slice(format!("{:?} {}", entry.mode, entry.id).as_bytes());
        }
    }
    host::ContentHash::of(&bytes).0
}

#[cfg(test)]
mod tests;
