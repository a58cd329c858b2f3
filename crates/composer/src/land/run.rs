//! Runs one landing, from its turn in the queue to the moved branch.

use git::Repository;
use git::land::{BranchMove, CheckoutPlan, CommitSpec, Head, MoveOutcome, Obstacle};
use git::merge::{Changes, ObjectId, TreeMerge, TreePath};

use super::checks::{Check, CheckKind, CheckRunner, LandingCandidate};
use super::message::{format_message, format_person};
use super::record::{LandingId, LandingRecord, LandingStep, PlanRecord, encode_path};
use super::{LandingError, Landings, conflict_fingerprint};
use crate::work::{CommitId, UnsavedBuffers};

/// Maximum number of attempts if the branch keeps moving during a landing.
const MAX_ATTEMPTS: usize = 8;

/// The outcome of running a landing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LandingOutcome {
    /// The branch has moved.
    Landed {
        /// The new tip of the branch.
        commit: CommitId,
        /// New texts for unsaved buffers: the user's edits merged with the landed changes.
        buffers: UnsavedBuffers,
        /// Sentences about files that were left unchanged.
        left: Vec<String>,
    },
    /// The work conflicts with the branch.
    Conflicted {
        /// The paths that conflict.
        paths: Vec<TreePath>,
        /// The message for the user.
        sentence: String,
    },
    /// A check failed; nothing moved.
    Failed {
        /// The results of all checks.
        checks: Vec<Check>,
        /// The message for the user.
        sentence: String,
    },
    /// An obstacle blocks the landing; nothing moved.
    Blocked {
        /// The message for the user.
        sentence: String,
    },
    /// The branch already contains all changes.
    Nothing,
}

/// A merged tree that is ready to land.
struct MergedWork {
    onto: ObjectId,
    onto_tree: ObjectId,
    tree: ObjectId,
    /// The target commit, if it is known beforehand.
    target: Option<ObjectId>,
}

/// The result of one attempt: a final outcome, or another attempt since the branch moved.
enum LandingAttempt {
    Ended(LandingOutcome),
    Again,
}

/// The update of the checkout that a landing needs.
enum CheckoutUpdate {
    /// The plan, and the merged texts of unsaved buffers.
    Planned(CheckoutPlan, UnsavedBuffers),
    /// Uncommitted or unsaved work is in the way; the reason, as part of a sentence.
    Blocked(String),
}

impl Landings {
    /// Runs a queued landing: merges, checks, commits and moves the branch. `buffers` are the
    /// user's unsaved texts, which are merged but not written to the disk. Conflicts and failed
    /// checks are outcomes, not errors, and leave the branch unchanged. Blocks on the disk and on
    /// the checks.
    pub fn run(
        &self,
        id: LandingId,
        checks: &dyn CheckRunner,
        buffers: &UnsavedBuffers,
    ) -> Result<LandingOutcome, LandingError> {
        let repository = self.repository()?;
        let lock = repository.lock_landings(&*self.files)?;
        let Some(_lock) = lock else {
            return Err(LandingError::Busy(self.main_repo.clone()));
        };
        for sentence in self.recover_interrupted(&repository)? {
            log::info!("{sentence}");
        }
        let _held = self.lock_landing(id)?;
        let mut record = self.load(id)?;
        if record.step != LandingStep::Waiting {
            return Err(LandingError::NotWaiting {
                title: record.title,
                state: record.step.describe(),
            });
        }
        for _ in 0..MAX_ATTEMPTS {
            match self.try_once(&repository, &mut record, checks, buffers)? {
                LandingAttempt::Ended(outcome) => return Ok(outcome),
                LandingAttempt::Again => {}
            }
        }
        let reason = format!("{} keeps moving", record.short_branch());
        self.block(&mut record, &reason)
    }

    /// Merges the work onto the commit `onto` in memory, and applies the stored resolutions of
    /// conflicts.
    pub(super) fn merge_onto(
        &self,
        repository: &Repository,
        record: &LandingRecord,
        onto: ObjectId,
    ) -> Result<TreeMerge, LandingError> {
        let from = self.object(record, &record.from_tree)?;
        let to = self.object(record, &record.to_tree)?;
        let onto_tree = repository.tree_of(&onto.to_string())?;
        let ours = repository.changes_between(from, onto_tree)?;
        let theirs = repository.changes_between(from, to)?;
        let mut merged = repository.merge(from, &ours, &theirs)?;
        let mut ended = Changes::new();
        merged.conflicts.retain(|conflict| {
            let path = encode_path(&conflict.path);
            let end = record.resolved.iter().find(|it| it.path == path);
            let Some(end) = end.filter(|it| it.of == conflict_fingerprint(conflict)) else {
                return true;
            };
            // All names that the two sides gave the file give way to the name in the resolution.
            for version in [&conflict.ours, &conflict.theirs, &conflict.base] {
                ended.extend(version.iter().map(|it| (it.path.clone(), None)));
            }
            let slot = end.with.as_ref().and_then(|slot| slot.slot());
            let entry = slot.map(|(mode, id)| git::merge::ObjectEntry {
                mode,
                id,
                bytes: None,
            });
            ended.insert(conflict.path.clone(), entry);
            false
        });
        merged.changes.extend(ended);
        Ok(merged)
    }

    /// Merges, checks, commits and moves the branch once. Returns `Again` if the branch moved
    /// meanwhile. Stores each step in `record` and on the disk.
    fn try_once(
        &self,
        repository: &Repository,
        record: &mut LandingRecord,
        checks: &dyn CheckRunner,
        buffers: &UnsavedBuffers,
    ) -> Result<LandingAttempt, LandingError> {
        let ready = match self.prepare_merge(repository, record)? {
            Ok(ready) => ready,
            Err(outcome) => return Ok(LandingAttempt::Ended(outcome)),
        };
        record.step = LandingStep::Checking {
            onto: CommitId(ready.onto.to_string()),
        };
        self.save(record)?;
        let checked = match self.run_checks(repository, record, &ready, checks)? {
            Ok(checked) => checked,
            Err(outcome) => return Ok(LandingAttempt::Ended(outcome)),
        };
        if repository.tip(&record.branch)? != ready.onto {
            return Ok(LandingAttempt::Again);
        }
        let commit = match ready.target {
            Some(target) => target,
            None => self.create_commit(repository, record, &ready, &checked)?,
        };
        self.advance_branch(repository, record, (&ready, commit), checked, buffers)
    }

    /// Merges the work; or returns the outcome if there is nothing to check.
    fn prepare_merge(
        &self,
        repository: &Repository,
        record: &mut LandingRecord,
    ) -> Result<Result<MergedWork, LandingOutcome>, LandingError> {
        let onto = repository.tip(&record.branch)?;
        let onto_tree = repository.tree_of(&onto.to_string())?;
        if let Some((at, target)) = &record.straight
            && at.0 == onto.to_string()
        {
            let tree = repository.tree_of(&target.0)?;
            let target = Some(repository.commit_id(&target.0)?);
            return Ok(Ok(MergedWork {
                onto,
                onto_tree,
                tree,
                target,
            }));
        }
        let merged = self.merge_onto(repository, record, onto)?;
        if !merged.is_clean() {
            let paths: Vec<TreePath> = merged.conflicts.iter().map(|it| it.path.clone()).collect();
            let sentence = conflict_sentence(record, &merged);
            record.step = LandingStep::Conflicted {
                onto: CommitId(onto.to_string()),
                paths: paths.iter().map(ToString::to_string).collect(),
            };
            self.save(record)?;
            return Ok(Err(LandingOutcome::Conflicted { paths, sentence }));
        }
        let from = self.object(record, &record.from_tree)?;
        let tree = repository.write(from, &merged.changes)?;
        if tree == onto_tree {
            record.step = LandingStep::Nothing;
            self.save(record)?;
            return Ok(Err(LandingOutcome::Nothing));
        }
        Ok(Ok(MergedWork {
            onto,
            onto_tree,
            tree,
            target: None,
        }))
    }

    /// Runs the checks on the merged tree; an undo needs none. Returns their results if all pass.
    /// The inner `Err` is the outcome that ends the landing: a check failed, or the checks could
    /// not run.
    fn run_checks(
        &self,
        repository: &Repository,
        record: &mut LandingRecord,
        ready: &MergedWork,
        checks: &dyn CheckRunner,
    ) -> Result<Result<Vec<Check>, LandingOutcome>, LandingError> {
        if record.undoes.is_some() {
            // An undo must not be refused by failing checks.
            return Ok(Ok(Vec::new()));
        }
        let commit = self.create_commit(repository, record, ready, &[])?;
        let changed = repository.changes_between(ready.onto_tree, ready.tree)?;
        let candidate = LandingCandidate {
            main_repo: &self.main_repo,
            commit: CommitId(commit.to_string()),
            changed: changed.into_keys().collect(),
            tree: ready.tree,
            onto_tree: ready.onto_tree,
            repository,
            files: &*self.files,
        };
        let checked = match checks.run_checks(&candidate) {
            Ok(checked) => checked,
            Err(reason) => {
                let reason = format!("its checks gave no result: {reason}");
                return self.block(record, &reason).map(Err);
            }
        };
        if checked.iter().all(|check| check.is_passed) {
            return Ok(Ok(checked));
        }
        record.step = LandingStep::Failed {
            checks: checked.clone(),
        };
        self.save(record)?;
        let sentence = format!(
            "Cannot land “{}”: {}. {} has not moved.",
            record.title,
            failure_clauses(&checked),
            record.short_branch()
        );
        Ok(Err(LandingOutcome::Failed {
            checks: checked,
            sentence,
        }))
    }

    /// Creates the commit of a landing with its metadata and the results of `checks`; moves no
    /// branch.
    fn create_commit(
        &self,
        repository: &Repository,
        record: &LandingRecord,
        ready: &MergedWork,
        checks: &[Check],
    ) -> Result<ObjectId, LandingError> {
        let author = record.author.to_signature();
        let committer = repository.signature().unwrap_or_else(|| author.clone());
        let mut message = record.message.clone();
        // The author is not a co-author as well.
        message
            .co_authors
            .retain(|person| *person != format_person(&author));
        let commit = CommitSpec {
            tree: ready.tree,
            parents: vec![ready.onto],
            author,
            committer,
            seconds: (self.clock.wall_ms() / 1000) as i64,
            offset_minutes: 0,
            message: format_message(&message, &record.session, checks),
        };
        Ok(repository.create_commit(&commit)?)
    }

    /// Moves the branch to the commit `to`, then updates the checkout if it shows the branch. Ends
    /// as blocked if the checkout cannot be updated or a lock is held; returns `Again` if the
    /// branch moved.
    fn advance_branch(
        &self,
        repository: &Repository,
        record: &mut LandingRecord,
        (ready, to): (&MergedWork, ObjectId),
        checks: Vec<Check>,
        buffers: &UnsavedBuffers,
    ) -> Result<LandingAttempt, LandingError> {
        let elsewhere = repository.checked_out_elsewhere(&record.branch, &*self.files);
        if let Some(other) = elsewhere.first() {
            let reason = format!(
                "{} is also checked out in another working tree ({other}), which would not be \
                 updated",
                record.short_branch()
            );
            return self.block(record, &reason).map(LandingAttempt::Ended);
        }
        let is_here = repository.head()? == Head::Branch(record.branch.clone());
        let (plan, buffers) = if is_here {
            match self.plan_checkout(repository, ready, buffers)? {
                CheckoutUpdate::Planned(plan, buffers) => (Some(plan), buffers),
                CheckoutUpdate::Blocked(reason) => {
                    return self.block(record, &reason).map(LandingAttempt::Ended);
                }
            }
        } else {
            (None, UnsavedBuffers::new())
        };
        if plan.is_some() && !repository.lock_index(&*self.files)? {
            let reason = "another Git command is running, or was killed and left .git/index.lock";
            return self.block(record, reason).map(LandingAttempt::Ended);
        }
        record.step = LandingStep::Moving {
            from: CommitId(ready.onto.to_string()),
            to: CommitId(to.to_string()),
            plan: plan.as_ref().map(PlanRecord::of),
            checks: checks.clone(),
        };
        let went = self
            .save(record)
            .and_then(|()| self.move_branch(repository, record, ready.onto, to));
        let went = match went {
            Ok(MoveOutcome::Done) => Ok(()),
            Ok(MoveOutcome::Elsewhere(_)) => Err(Ok(None)),
            Ok(MoveOutcome::Locked) => Err(Ok(Some(format!(
                "another Git command is moving {}, or was killed and left its lock",
                record.short_branch()
            )))),
            Err(error) => Err(Err(error)),
        };
        if let Err(why) = went {
            if plan.is_some() {
                repository.unlock_index(&*self.files)?;
            }
            record.step = LandingStep::Waiting;
            self.save(record)?;
            return match why? {
                None => Ok(LandingAttempt::Again),
                Some(reason) => self.block(record, &reason).map(LandingAttempt::Ended),
            };
        }
        let left = self.update_checkout(repository, record)?;
        Ok(LandingAttempt::Ended(LandingOutcome::Landed {
            commit: CommitId(to.to_string()),
            buffers,
            left,
        }))
    }

    /// Moves the branch from one commit to another, with an entry in its reflog. That it is
    /// elsewhere or locked is an outcome, not an error.
    fn move_branch(
        &self,
        repository: &Repository,
        record: &LandingRecord,
        from: ObjectId,
        to: ObjectId,
    ) -> Result<MoveOutcome, LandingError> {
        let author = record.author.to_signature();
        let what = if record.undoes.is_some() {
            "undo"
        } else {
            "land"
        };
        let branching = BranchMove {
            reference: &record.branch,
            from,
            to,
            note: &format!("burin {what}: {}", record.title),
            signature: &repository.signature().unwrap_or(author),
            seconds: (self.clock.wall_ms() / 1000) as i64,
        };
        Ok(repository.move_branch(&branching, &*self.files)?)
    }

    /// Completes a landing after the branch has moved: updates the checkout and the record.
    /// Idempotent, so that recovery can repeat it.
    pub(super) fn update_checkout(
        &self,
        repository: &Repository,
        record: &mut LandingRecord,
    ) -> Result<Vec<String>, LandingError> {
        let LandingStep::Moving {
            from,
            to,
            plan,
            checks,
        } = record.step.clone()
        else {
            return Ok(Vec::new());
        };
        let mut left = Vec::new();
        if let Some(plan) = plan.as_ref().and_then(PlanRecord::plan) {
            let obstacles = repository.apply_checkout(&plan, &*self.files)?;
            left.extend(obstacles.iter().map(|it| {
                format!(
                    "{} was not updated with the landed changes: {}.",
                    it.path, it.reason
                )
            }));
            repository.unlock_index(&*self.files)?;
        }
        record.step = LandingStep::Landed {
            from,
            to,
            checks,
            undone_by: None,
        };
        self.save(record)?;
        self.mark_undone(record)?;
        Ok(left)
    }

    /// Plans the update of the checkout and of unsaved buffers.
    fn plan_checkout(
        &self,
        repository: &Repository,
        ready: &MergedWork,
        buffers: &UnsavedBuffers,
    ) -> Result<CheckoutUpdate, LandingError> {
        if let Some(unfinished) = repository.operation_in_progress() {
            let reason = format!("{unfinished} is unfinished in your checkout");
            return Ok(CheckoutUpdate::Blocked(reason));
        }
        let plan = repository.plan_checkout(ready.onto_tree, ready.tree, &*self.files)?;
        let plan = match plan {
            Ok(plan) => plan,
            Err(obstacles) => return Ok(CheckoutUpdate::Blocked(obstacle_reason(&obstacles))),
        };
        let mut merged = UnsavedBuffers::new();
        for change in &plan.files {
            let Some(text) = buffers.get(&change.path) else {
                continue;
            };
            let clean = repository.merge_unsaved(change, text)?;
            let Some(clean) = clean else {
                return Ok(CheckoutUpdate::Blocked(format!(
                    "your unsaved changes in {} conflict with the landing; save or undo them first",
                    change.path
                )));
            };
            merged.insert(change.path.clone(), clean.into());
        }
        Ok(CheckoutUpdate::Planned(plan, merged))
    }

    /// Records the landing as blocked and returns that outcome, with a sentence for the user.
    /// `reason` is a clause without a full stop.
    fn block(
        &self,
        record: &mut LandingRecord,
        reason: &str,
    ) -> Result<LandingOutcome, LandingError> {
        record.step = LandingStep::Blocked {
            reason: reason.to_owned(),
        };
        self.save(record)?;
        let sentence = format!(
            "Cannot {} “{}”: {reason}. Nothing was moved.",
            verb(record),
            record.title
        );
        Ok(LandingOutcome::Blocked { sentence })
    }

    /// Parses an object id of the record; fails with `Unreadable` if it is invalid.
    fn object(&self, record: &LandingRecord, id: &str) -> Result<ObjectId, LandingError> {
        ObjectId::parse(id).ok_or_else(|| LandingError::Unreadable {
            path: self.folder.join(format!("{}.json", record.id.0)),
            message: format!("{id} is not a Git object id"),
        })
    }
}

fn verb(record: &LandingRecord) -> &'static str {
    match record.undoes {
        Some(_) => "undo",
        None => "land",
    }
}

fn conflict_sentence(record: &LandingRecord, merged: &TreeMerge) -> String {
    let conflicts: Vec<String> = merged
        .conflicts
        .iter()
        .map(|conflict| match conflict.lines.len() {
            0 => format!(
                "{} conflicts ({})",
                conflict.path,
                crate::conflict::conflict_kind_text(conflict.kind)
            ),
            1 => format!("1 hunk conflicts in {}", conflict.path),
            count => format!("{count} hunks conflict in {}", conflict.path),
        })
        .collect();
    format!(
        "Cannot {} “{}”: {} moved and {}. Resolve each conflict, then continue.",
        verb(record),
        record.title,
        record.short_branch(),
        conflicts.join(", ")
    )
}

impl LandingOutcome {
    /// Returns whether the landing failed only for new errors, which the user may allow.
    pub(crate) fn may_allow_errors(&self) -> bool {
        let is_skippable = |check: &Check| check.is_passed || check.kind == CheckKind::NewErrors;
        matches!(self, Self::Failed { checks, .. } if checks.iter().all(is_skippable))
    }
}

/// Returns the clauses about the checks that failed.
fn failure_clauses(checks: &[Check]) -> String {
    let (mut clauses, mut commands) = (Vec::new(), Vec::new());
    for check in checks.iter().filter(|check| !check.is_passed) {
        match check.kind {
            CheckKind::Command => commands.push(check.name.as_str()),
            CheckKind::Task => clauses.extend(check.detail.lines().next().map(str::to_owned)),
            CheckKind::NewErrors => clauses.push(check.detail.clone()),
        }
    }
    if !commands.is_empty() {
        clauses.push(format!("{} fails on the merged tree", commands.join(", ")));
    }
    clauses.join("; ")
}

fn obstacle_reason(obstacles: &[Obstacle]) -> String {
    let reasons: Vec<String> = obstacles
        .iter()
        .take(5)
        .map(|it| format!("in {}, {}", it.path, it.reason))
        .collect();
    let more = match obstacles.len().saturating_sub(5) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{}{more}; commit, stash or undo that first",
        reasons.join("; ")
    )
}
