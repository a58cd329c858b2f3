//! Taking a landing back, and taking that back.

use super::checks::Unchecked;
use super::record::{LandingId, Record, Step};
use super::run::Outcome;
use super::{Buffers, Error, Landings};
use crate::work::CommitId;

impl Landings {
    /// Takes back what a landing did: the branch goes back where nothing came on top, else a commit undoes it; the
    /// checkout follows. What took it back is a landing itself, to be taken back in the same way.
    pub fn undo(&self, id: LandingId, buffers: &Buffers) -> Result<(LandingId, Outcome), Error> {
        let landed = self.load(id)?;
        let Step::Landed {
            from,
            to,
            undone_by,
            ..
        } = &landed.step
        else {
            return Err(Error::NotLanded {
                title: landed.title,
            });
        };
        if let Some(by) = *undone_by {
            return Err(Error::AlreadyUndone {
                title: landed.title,
                by,
            });
        }
        let record = self.reverse(&landed, from, to)?;
        self.save(&record)?;
        let outcome = self.run(record.id, &Unchecked, buffers)?;
        // An undo that is not possible now is not kept in the queue: the person asks again.
        if !matches!(outcome, Outcome::Landed { .. } | Outcome::Conflicted { .. }) {
            self.drop_landing(record.id)?;
        }
        Ok((record.id, outcome))
    }

    fn reverse(&self, landed: &Record, from: &CommitId, to: &CommitId) -> Result<Record, Error> {
        let repository = self.repository()?;
        let mut words = landed.words.clone();
        words.subject = match landed.words.subject.strip_prefix("Revert “") {
            Some(rest) => format!("Land again “{rest}"),
            None => format!("Revert “{}”", landed.words.subject),
        };
        words.body = format!("This takes back {to}.");
        Ok(Record {
            id: self.next_id()?,
            from_tree: repository.tree_of(&to.0)?.to_string(),
            to_tree: repository.tree_of(&from.0)?.to_string(),
            straight: Some((to.clone(), from.clone())),
            undoes: Some(landed.id),
            words,
            resolved: Vec::new(),
            step: Step::Waiting,
            ..landed.clone()
        })
    }

    /// Says in the record of what was taken back that it was; once what took it back has landed.
    pub(super) fn mark_undone(&self, record: &Record) -> Result<(), Error> {
        let Some(undone) = record.undoes else {
            return Ok(());
        };
        let mut undone = self.load(undone)?;
        // Whoever opens asks this of every landing that took one back; a record is written once only.
        if let Step::Landed { undone_by, .. } = &mut undone.step
            && *undone_by != Some(record.id)
        {
            *undone_by = Some(record.id);
            self.save(&undone)?;
        }
        Ok(())
    }
}
