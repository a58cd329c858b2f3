//! What a killed program left behind, brought to an end.

use std::collections::BTreeSet;

use base::AbsPath;
use git::Repository;
use git::merge::ObjectId;

use super::record::{PlanRecord, Record, Step};
use super::{Error, Landings};

impl Landings {
    /// Finishes landings whose branch has moved, lets the others begin again, and removes locks of ours. Says of
    /// each landing what became of it.
    pub(super) fn recover(&self) -> Result<Vec<String>, Error> {
        let repository = self.repository()?;
        let lock = repository.lock_landings(&*self.files)?;
        let Some(_lock) = lock else {
            // Somebody is at work; what looks cut short may be theirs.
            return Ok(Vec::new());
        };
        self.files.sweep(&self.folder)?;
        let mut told = repository.clear_leavings(&*self.files)?;
        let records = self.records()?;
        let is_undo =
            |record: &Record| matches!(record.step, Step::Landed { .. }) && record.undoes.is_some();
        for record in records.iter().filter(|record| is_undo(record)) {
            self.mark_undone(record)?;
        }
        // Whoever takes something back waits for it; nobody does any longer.
        let is_forgotten = |record: &Record| {
            record.step == Step::Waiting && record.undoes.is_some() && record.resolved.is_empty()
        };
        told.extend(self.end_cut_short(&repository)?);
        for mut record in records.into_iter().filter(is_forgotten) {
            told.push(self.begin_again(&mut record)?);
        }
        Ok(told)
    }

    /// The same for whoever holds the lock of landings: nobody else is at work, so what looks cut short is.
    pub(super) fn end_cut_short(&self, repository: &Repository) -> Result<Vec<String>, Error> {
        let is_cut_short =
            |record: &Record| matches!(record.step, Step::Checking { .. } | Step::Moving { .. });
        let cut_short: Vec<Record> = self.records()?.into_iter().filter(is_cut_short).collect();
        if cut_short.is_empty() {
            return Ok(Vec::new());
        }
        let mut told = repository.clear_leavings(&*self.files)?;
        for mut record in cut_short {
            repository.clear_branch(&record.branch, &*self.files)?;
            told.push(self.brought_to_an_end(repository, &mut record)?);
        }
        Ok(told)
    }

    fn begin_again(&self, record: &mut Record) -> Result<String, Error> {
        let branch = record.short_branch().to_owned();
        match record.undoes {
            Some(_) => {
                record.step = Step::Dropped;
                self.save(record)?;
                let what = format!("{branch} has not moved, ask again to take it back");
                Ok(sentence(record, &what))
            }
            None => {
                record.step = Step::Waiting;
                self.save(record)?;
                let what = format!("{branch} has not moved, and it waits for its turn again");
                Ok(sentence(record, &what))
            }
        }
    }

    fn brought_to_an_end(
        &self,
        repository: &Repository,
        record: &mut Record,
    ) -> Result<String, Error> {
        let Step::Moving { from, to, .. } = &record.step else {
            return self.begin_again(record);
        };
        let (from, to) = (ObjectId::parse(&from.0), ObjectId::parse(&to.0));
        let tip = repository.tip(&record.branch)?;
        let (Some(from), Some(to)) = (from, to) else {
            return self.begin_again(record);
        };
        // A branch that went back stands where others may have gone on from; one that went on leads to its goal.
        let has_moved =
            tip == to || tip != from && repository.leads_to(tip, to)? && record.straight.is_none();
        if !has_moved {
            return self.begin_again(record);
        }
        if !repository.lock_index(&*self.files)? {
            let what =
                "the branch has moved, but .git/index.lock keeps the checkout from following";
            return Ok(sentence(record, what));
        }
        let folders = self.folders_of(record);
        let left = self.followed(repository, record)?;
        // A save that died leaves its draft beside the file.
        for folder in folders.iter().filter(|folder| self.files.exists(folder)) {
            self.files.sweep(folder)?;
        }
        repository.unlock_index(&*self.files)?;
        let mut told = sentence(record, "the branch had moved and the rest is done now");
        for about in left {
            told.push(' ');
            told.push_str(&about);
        }
        Ok(told)
    }
}

impl Landings {
    /// The folders of the checkout in which a landing changes files.
    fn folders_of(&self, record: &Record) -> BTreeSet<AbsPath> {
        let Step::Moving { plan, .. } = &record.step else {
            return BTreeSet::new();
        };
        let plan = plan.as_ref().and_then(PlanRecord::plan);
        let files = plan.map(|plan| plan.files).unwrap_or_default();
        files
            .iter()
            .filter_map(|change| self.hub.join(change.path.to_path()).parent())
            .collect()
    }
}

fn sentence(record: &Record, what: &str) -> String {
    format!("“{}” was cut short while landing; {what}.", record.title)
}
