//! One landing from its turn to the branch.

use git::Repository;
use git::land::{Branching, Head, Moved, Obstacle, Plan, Sealed};
use git::merge::{Changes, Merged, ObjectId, TreePath};

use super::checks::{Candidate, Check, Checks};
use super::message::{message, told};
use super::record::{LandingId, PlanRecord, Record, Step, encoded};
use super::{Buffers, Error, Landings, conflict_print};
use crate::work::CommitId;

/// So often a branch may move away under a landing before it waits for another turn.
const MOST_TRIES: usize = 8;

/// What became of a landing's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The branch has moved.
    Landed {
        /// Where it is now.
        commit: CommitId,
        /// Texts for buffers that were not saved: what the person wrote, with what landed merged in.
        buffers: Buffers,
        /// Sentences about files that were left as they were.
        left: Vec<String>,
    },
    /// The branch and the work want the same lines otherwise.
    Conflicted {
        /// Where.
        paths: Vec<TreePath>,
        /// For people.
        sentence: String,
    },
    /// A check was not content; nothing moved.
    Failed {
        /// How each went.
        checks: Vec<Check>,
        /// For people.
        sentence: String,
    },
    /// Something of the person's is in the way; nothing moved.
    Blocked {
        /// For people.
        sentence: String,
    },
    /// The branch has it all already.
    Nothing,
}

/// A merged tree that is ready to land.
struct Ready {
    onto: ObjectId,
    onto_tree: ObjectId,
    tree: ObjectId,
    /// The commit to go to, where it is known beforehand.
    target: Option<ObjectId>,
}

/// One try: it ended, or the branch moved and it begins again.
enum Try {
    Ended(Outcome),
    Again,
}

impl Landings {
    /// Gives a waiting landing its turn. `buffers` are the person's texts that are not saved.
    pub fn run(
        &self,
        id: LandingId,
        checks: &dyn Checks,
        buffers: &Buffers,
    ) -> Result<Outcome, Error> {
        let repository = self.repository()?;
        let lock = repository.lock_landings(&*self.files)?;
        let Some(_lock) = lock else {
            return Err(Error::Busy(self.hub.clone()));
        };
        for told in self.end_cut_short(&repository)? {
            log::info!("{told}");
        }
        let _held = self.hold(id)?;
        let mut record = self.load(id)?;
        if record.step != Step::Waiting {
            return Err(Error::NotWaiting {
                title: record.title,
                state: record.step.told(),
            });
        }
        for _ in 0..MOST_TRIES {
            match self.try_once(&repository, &mut record, checks, buffers)? {
                Try::Ended(outcome) => return Ok(outcome),
                Try::Again => {}
            }
        }
        let reason = format!("{} moves all the time", record.short_branch());
        self.block(&mut record, &reason)
    }

    /// The work onto where the branch is now, with the conflicts that were ended taken out.
    pub(super) fn merged(
        &self,
        repository: &Repository,
        record: &Record,
        onto: ObjectId,
    ) -> Result<Merged, Error> {
        let from = self.object(record, &record.from_tree)?;
        let to = self.object(record, &record.to_tree)?;
        let onto_tree = repository.tree_of(&onto.to_string())?;
        let ours = repository.changes_between(from, onto_tree)?;
        let theirs = repository.changes_between(from, to)?;
        let mut merged = repository.merge(from, &ours, &theirs)?;
        let mut ended = Changes::new();
        merged.conflicts.retain(|conflict| {
            let path = encoded(&conflict.path);
            let end = record.resolved.iter().find(|it| it.path == path);
            let Some(end) = end.filter(|it| it.of == conflict_print(conflict)) else {
                return true;
            };
            // Whatever names the two sides gave it are given up for the one it was ended under.
            for version in [&conflict.ours, &conflict.theirs, &conflict.base] {
                ended.extend(version.iter().map(|it| (it.path.clone(), None)));
            }
            let slot = end.with.as_ref().and_then(|slot| slot.slot());
            let entry = slot.map(|(mode, id)| git::merge::Entry {
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

    fn try_once(
        &self,
        repository: &Repository,
        record: &mut Record,
        checks: &dyn Checks,
        buffers: &Buffers,
    ) -> Result<Try, Error> {
        let ready = match self.ready(repository, record)? {
            Ok(ready) => ready,
            Err(outcome) => return Ok(Try::Ended(outcome)),
        };
        record.step = Step::Checking {
            onto: CommitId(ready.onto.to_string()),
        };
        self.save(record)?;
        let checked = match self.checked(repository, record, &ready, checks)? {
            Ok(checked) => checked,
            Err(outcome) => return Ok(Try::Ended(outcome)),
        };
        if repository.tip(&record.branch)? != ready.onto {
            return Ok(Try::Again);
        }
        let commit = match ready.target {
            Some(target) => target,
            None => self.sealed(repository, record, &ready, &checked)?,
        };
        self.moved(repository, record, (&ready, commit), checked, buffers)
    }

    /// Merges; or says why there is nothing to be checked.
    fn ready(
        &self,
        repository: &Repository,
        record: &mut Record,
    ) -> Result<Result<Ready, Outcome>, Error> {
        let onto = repository.tip(&record.branch)?;
        let onto_tree = repository.tree_of(&onto.to_string())?;
        if let Some((at, target)) = &record.straight
            && at.0 == onto.to_string()
        {
            let tree = repository.tree_of(&target.0)?;
            let target = Some(repository.commit_id(&target.0)?);
            return Ok(Ok(Ready {
                onto,
                onto_tree,
                tree,
                target,
            }));
        }
        let merged = self.merged(repository, record, onto)?;
        if !merged.is_clean() {
            let paths: Vec<TreePath> = merged.conflicts.iter().map(|it| it.path.clone()).collect();
            let sentence = conflict_sentence(record, &merged);
            record.step = Step::Conflicted {
                onto: CommitId(onto.to_string()),
                paths: paths.iter().map(ToString::to_string).collect(),
            };
            self.save(record)?;
            return Ok(Err(Outcome::Conflicted { paths, sentence }));
        }
        let from = self.object(record, &record.from_tree)?;
        let tree = repository.write(from, &merged.changes)?;
        if tree == onto_tree {
            record.step = Step::Nothing;
            self.save(record)?;
            return Ok(Err(Outcome::Nothing));
        }
        Ok(Ok(Ready {
            onto,
            onto_tree,
            tree,
            target: None,
        }))
    }

    fn checked(
        &self,
        repository: &Repository,
        record: &mut Record,
        ready: &Ready,
        checks: &dyn Checks,
    ) -> Result<Result<Vec<Check>, Outcome>, Error> {
        if record.undoes.is_some() {
            // Whoever takes something back wants it gone, checks or not.
            return Ok(Ok(Vec::new()));
        }
        let commit = self.sealed(repository, record, ready, &[])?;
        let changed = repository.changes_between(ready.onto_tree, ready.tree)?;
        let candidate = Candidate {
            hub: &self.hub,
            commit: CommitId(commit.to_string()),
            changed: changed.into_keys().collect(),
            tree: ready.tree,
            repository,
            files: &*self.files,
        };
        let checked = match checks.check(&candidate) {
            Ok(checked) => checked,
            Err(reason) => {
                let reason = format!("its checks could not be run: {reason}");
                return self.block(record, &reason).map(Err);
            }
        };
        if checked.iter().all(|check| check.is_passed) {
            return Ok(Ok(checked));
        }
        record.step = Step::Failed {
            checks: checked.clone(),
        };
        self.save(record)?;
        let failed: Vec<&str> = checked
            .iter()
            .filter(|check| !check.is_passed)
            .map(|check| check.name.as_str())
            .collect();
        let sentence = format!(
            "Cannot land “{}”: {} fails on the merged tree. {} has not moved.",
            record.title,
            failed.join(", "),
            record.short_branch()
        );
        Ok(Err(Outcome::Failed {
            checks: checked,
            sentence,
        }))
    }

    fn sealed(
        &self,
        repository: &Repository,
        record: &Record,
        ready: &Ready,
        checks: &[Check],
    ) -> Result<ObjectId, Error> {
        let author = record.author.person();
        let committer = repository.person().unwrap_or_else(|| author.clone());
        let mut words = record.words.clone();
        // Whoever the commit is already by needs no second line.
        words.co_authors.retain(|person| *person != told(&author));
        let sealed = Sealed {
            tree: ready.tree,
            parents: vec![ready.onto],
            author,
            committer,
            seconds: (self.clock.wall_ms() / 1000) as i64,
            offset_minutes: 0,
            message: message(&words, &record.session, checks),
        };
        Ok(repository.seal(&sealed)?)
    }

    fn moved(
        &self,
        repository: &Repository,
        record: &mut Record,
        (ready, to): (&Ready, ObjectId),
        checks: Vec<Check>,
        buffers: &Buffers,
    ) -> Result<Try, Error> {
        let elsewhere = repository.checked_out_elsewhere(&record.branch, &*self.files);
        if let Some(other) = elsewhere.first() {
            let reason = format!(
                "{} is checked out in another working tree too ({other}), which would not follow",
                record.short_branch()
            );
            return self.block(record, &reason).map(Try::Ended);
        }
        let is_here = repository.head()? == Head::Branch(record.branch.clone());
        let (plan, buffers) = match is_here {
            true => match self.planned(repository, ready, buffers)? {
                Ok((plan, buffers)) => (Some(plan), buffers),
                Err(reason) => return self.block(record, &reason).map(Try::Ended),
            },
            false => (None, Buffers::new()),
        };
        if plan.is_some() && !repository.lock_index(&*self.files)? {
            let reason = "another git command is at work here, or died and left .git/index.lock";
            return self.block(record, reason).map(Try::Ended);
        }
        record.step = Step::Moving {
            from: CommitId(ready.onto.to_string()),
            to: CommitId(to.to_string()),
            plan: plan.as_ref().map(PlanRecord::of),
            checks: checks.clone(),
        };
        let went = self
            .save(record)
            .and_then(|()| self.go(repository, record, ready.onto, to));
        let went = match went {
            Ok(Moved::Done) => Ok(()),
            Ok(Moved::Elsewhere(_)) => Err(Ok(None)),
            Ok(Moved::Locked) => Err(Ok(Some(format!(
                "another git command is moving {}, or died and left its lock",
                record.short_branch()
            )))),
            Err(error) => Err(Err(error)),
        };
        if let Err(why) = went {
            if plan.is_some() {
                repository.unlock_index(&*self.files)?;
            }
            record.step = Step::Waiting;
            self.save(record)?;
            return match why? {
                None => Ok(Try::Again),
                Some(reason) => self.block(record, &reason).map(Try::Ended),
            };
        }
        let left = self.followed(repository, record)?;
        Ok(Try::Ended(Outcome::Landed {
            commit: CommitId(to.to_string()),
            buffers,
            left,
        }))
    }

    fn go(
        &self,
        repository: &Repository,
        record: &Record,
        from: ObjectId,
        to: ObjectId,
    ) -> Result<Moved, Error> {
        let author = record.author.person();
        let what = if record.undoes.is_some() {
            "undo"
        } else {
            "land"
        };
        let branching = Branching {
            reference: &record.branch,
            from,
            to,
            note: &format!("burin {what}: {}", record.title),
            person: &repository.person().unwrap_or(author),
            seconds: (self.clock.wall_ms() / 1000) as i64,
        };
        Ok(repository.move_branch(&branching, &*self.files)?)
    }

    /// What comes after the branch has moved: the checkout follows, and the landing is done. Does no harm when it
    /// was done in part before.
    pub(super) fn followed(
        &self,
        repository: &Repository,
        record: &mut Record,
    ) -> Result<Vec<String>, Error> {
        let Step::Moving {
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
            let obstacles = repository.carry_out(&plan, &*self.files)?;
            left.extend(
                obstacles
                    .iter()
                    .map(|it| format!("{} does not have what landed yet: {}.", it.path, it.reason)),
            );
            repository.unlock_index(&*self.files)?;
        }
        record.step = Step::Landed {
            from,
            to,
            checks,
            undone_by: None,
        };
        self.save(record)?;
        self.mark_undone(record)?;
        Ok(left)
    }

    /// What the checkout needs, and the texts of buffers; or why it cannot be.
    fn planned(
        &self,
        repository: &Repository,
        ready: &Ready,
        buffers: &Buffers,
    ) -> Result<Result<(Plan, Buffers), String>, Error> {
        if let Some(unfinished) = repository.unfinished() {
            return Ok(Err(format!("{unfinished} of yours is not finished here")));
        }
        let plan = repository.plan_checkout(ready.onto_tree, ready.tree, &*self.files)?;
        let plan = match plan {
            Ok(plan) => plan,
            Err(obstacles) => return Ok(Err(obstacle_reason(&obstacles))),
        };
        let mut merged = Buffers::new();
        for change in &plan.files {
            let Some(text) = buffers.get(&change.path) else {
                continue;
            };
            let clean = repository.merge_unsaved(change, text)?;
            let Some(clean) = clean else {
                return Ok(Err(format!(
                    "what you have not saved in {} and what lands there cannot be merged; save or undo it first",
                    change.path
                )));
            };
            merged.insert(change.path.clone(), clean.into());
        }
        Ok(Ok((plan, merged)))
    }

    fn block(&self, record: &mut Record, reason: &str) -> Result<Outcome, Error> {
        record.step = Step::Blocked {
            reason: reason.to_owned(),
        };
        self.save(record)?;
        let sentence = format!(
            "Cannot {} “{}”: {reason}. Nothing was moved.",
            verb(record),
            record.title
        );
        Ok(Outcome::Blocked { sentence })
    }

    fn object(&self, record: &Record, id: &str) -> Result<ObjectId, Error> {
        ObjectId::parse(id).ok_or_else(|| Error::Unreadable {
            path: self.folder.join(format!("{}.json", record.id.0)),
            message: format!("{id} is no object of git"),
        })
    }
}

fn verb(record: &Record) -> &'static str {
    match record.undoes {
        Some(_) => "undo",
        None => "land",
    }
}

fn conflict_sentence(record: &Record, merged: &Merged) -> String {
    let told: Vec<String> = merged
        .conflicts
        .iter()
        .map(|conflict| match conflict.lines.len() {
            0 => format!(
                "{} conflicts ({})",
                conflict.path,
                crate::forecast::kind_told(conflict.kind)
            ),
            1 => format!("1 hunk conflicts in {}", conflict.path),
            count => format!("{count} hunks conflict in {}", conflict.path),
        })
        .collect();
    format!(
        "Cannot {} “{}”: {} moved and {}. Decide each, then go on.",
        verb(record),
        record.title,
        record.short_branch(),
        told.join(", ")
    )
}

fn obstacle_reason(obstacles: &[Obstacle]) -> String {
    let told: Vec<String> = obstacles
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
        told.join("; ")
    )
}
