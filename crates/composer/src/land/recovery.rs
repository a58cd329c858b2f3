//! Recovery of landings that a killed program left unfinished.

use std::collections::BTreeSet;

use base::AbsPath;
use git::Repository;
use git::merge::ObjectId;

use super::record::{LandingRecord, LandingStep, PlanRecord};
use super::{LandingError, Landings};

impl Landings {
    /// Finishes landings whose branch has moved, requeues the others, and removes stale locks.
    /// Returns a sentence about each landing.
    pub(super) fn recover(&self) -> Result<Vec<String>, LandingError> {
        let repository = self.repository()?;
        let lock = repository.lock_landings(&*self.files)?;
        let Some(_lock) = lock else {
            // Another program is landing; what looks interrupted may be its work in progress.
            return Ok(Vec::new());
        };
        self.files.sweep(&self.folder)?;
        let mut sentences = repository.clear_leftovers(&*self.files)?;
        let records = self.records()?;
        let is_undo = |record: &LandingRecord| {
            matches!(record.step, LandingStep::Landed { .. }) && record.undoes.is_some()
        };
        for record in records.iter().filter(|record| is_undo(record)) {
            self.mark_undone(record)?;
        }
        // An undo runs while its caller waits, but the caller of this one no longer exists.
        let is_forgotten = |record: &LandingRecord| {
            record.step == LandingStep::Waiting
                && record.undoes.is_some()
                && record.resolved.is_empty()
        };
        sentences.extend(self.recover_interrupted(&repository)?);
        for mut record in records.into_iter().filter(is_forgotten) {
            sentences.push(self.requeue(&mut record)?);
        }
        Ok(sentences)
    }

    /// Recovers interrupted landings. The caller holds the lock of landings, so no other program is
    /// at work.
    pub(super) fn recover_interrupted(
        &self,
        repository: &Repository,
    ) -> Result<Vec<String>, LandingError> {
        let is_cut_short = |record: &LandingRecord| {
            matches!(
                record.step,
                LandingStep::Checking { .. } | LandingStep::Moving { .. }
            )
        };
        let cut_short: Vec<LandingRecord> =
            self.records()?.into_iter().filter(is_cut_short).collect();
        if cut_short.is_empty() {
            return Ok(Vec::new());
        }
        let mut sentences = repository.clear_leftovers(&*self.files)?;
        for mut record in cut_short {
            repository.clear_branch(&record.branch, &*self.files)?;
            sentences.push(self.finish_interrupted(repository, &mut record)?);
        }
        Ok(sentences)
    }

    /// Queues a landing again whose branch has not moved, or drops it if it is an undo; stores the
    /// record. Returns a sentence about it.
    fn requeue(&self, record: &mut LandingRecord) -> Result<String, LandingError> {
        let branch = record.short_branch().to_owned();
        match record.undoes {
            Some(_) => {
                record.step = LandingStep::Dropped;
                self.save(record)?;
                let what = format!("{branch} has not moved; undo it again");
                Ok(sentence(record, &what))
            }
            None => {
                record.step = LandingStep::Waiting;
                self.save(record)?;
                let what = format!("{branch} has not moved, and the landing is queued again");
                Ok(sentence(record, &what))
            }
        }
    }

    /// Completes an interrupted landing if its branch has moved, and otherwise requeues it. Returns
    /// a sentence about it. If `.git/index.lock` is in the way, leaves the landing as it is.
    fn finish_interrupted(
        &self,
        repository: &Repository,
        record: &mut LandingRecord,
    ) -> Result<String, LandingError> {
        let LandingStep::Moving { from, to, .. } = &record.step else {
            return self.requeue(record);
        };
        let (from, to) = (ObjectId::parse(&from.0), ObjectId::parse(&to.0));
        let tip = repository.tip(&record.branch)?;
        let (Some(from), Some(to)) = (from, to) else {
            return self.requeue(record);
        };
        // A branch at an ancestor of its target may have been reset, so only a descendant counts as
        // moved. In the fast path of an undo the target is an ancestor, so only the exact commit
        // counts.
        let has_moved = tip == to
            || tip != from && repository.has_ancestor(tip, to)? && record.straight.is_none();
        if !has_moved {
            return self.requeue(record);
        }
        if !repository.lock_index(&*self.files)? {
            let what =
                "the branch has moved, but .git/index.lock prevents the update of the checkout";
            return Ok(sentence(record, what));
        }
        let folders = self.folders_of(record);
        let left = self.update_checkout(repository, record)?;
        // An interrupted save leaves a temporary file beside its target.
        for folder in folders.iter().filter(|folder| self.files.exists(folder)) {
            self.files.sweep(folder)?;
        }
        repository.unlock_index(&*self.files)?;
        let mut text = sentence(
            record,
            "the branch had moved, and the landing is now complete",
        );
        for about in left {
            text.push(' ');
            text.push_str(&about);
        }
        Ok(text)
    }
}

impl Landings {
    /// The folders of the checkout in which a landing changes files.
    fn folders_of(&self, record: &LandingRecord) -> BTreeSet<AbsPath> {
        let LandingStep::Moving { plan, .. } = &record.step else {
            return BTreeSet::new();
        };
        let plan = plan.as_ref().and_then(PlanRecord::plan);
        let files = plan.map(|plan| plan.files).unwrap_or_default();
        files
            .iter()
            .filter_map(|change| self.main_repo.join(change.path.to_path()).parent())
            .collect()
    }
}

fn sentence(record: &LandingRecord, what: &str) -> String {
    format!("Landing “{}” was interrupted; {what}.", record.title)
}
