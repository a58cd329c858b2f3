//! Undo of landings; an undo is itself a landing and can be undone.

use super::checks::NoChecks;
use super::record::{LandingId, LandingRecord, LandingStep};
use super::run::LandingOutcome;
use super::{LandingError, Landings};
use crate::work::{CommitId, UnsavedBuffers};

impl Landings {
    /// Undoes a landing: resets the branch if nothing came on top of it, else commits the reverse
    /// changes; the checkout follows. The undo is a landing of its own.
    pub fn undo(
        &self,
        id: LandingId,
        buffers: &UnsavedBuffers,
    ) -> Result<(LandingId, LandingOutcome), LandingError> {
        let landed = self.load(id)?;
        let LandingStep::Landed {
            from,
            to,
            undone_by,
            ..
        } = &landed.step
        else {
            return Err(LandingError::NotLanded {
                title: landed.title,
            });
        };
        if let Some(by) = *undone_by {
            return Err(LandingError::AlreadyUndone {
                title: landed.title,
                by,
            });
        }
        let record = self.reverse(&landed, from, to)?;
        self.save(&record)?;
        let outcome = self.run(record.id, &NoChecks, buffers)?;
        // A failed undo is not kept in the queue: the user can ask again.
        if !matches!(
            outcome,
            LandingOutcome::Landed { .. } | LandingOutcome::Conflicted { .. }
        ) {
            self.drop_landing(record.id)?;
        }
        Ok((record.id, outcome))
    }

    /// Returns the record of a landing that takes `landed` back: from `to`, the commit that it
    /// made, to `from`, the commit before it. Reserves a landing number, but does not store the
    /// record.
    fn reverse(
        &self,
        landed: &LandingRecord,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<LandingRecord, LandingError> {
        let repository = self.repository()?;
        let mut message = landed.message.clone();
        message.subject = match landed.message.subject.strip_prefix("Revert “") {
            Some(rest) => format!("Land again “{rest}"),
            None => format!("Revert “{}”", landed.message.subject),
        };
        message.body = format!("This takes back {to}.");
        Ok(LandingRecord {
            id: self.next_id()?,
            from_tree: repository.tree_of(&to.0)?.to_string(),
            to_tree: repository.tree_of(&from.0)?.to_string(),
            straight: Some((to.clone(), from.clone())),
            undoes: Some(landed.id),
            message,
            resolved: Vec::new(),
            step: LandingStep::Waiting,
            ..landed.clone()
        })
    }

    /// Marks the landing that `record` undid as undone, once `record` has landed.
    pub(super) fn mark_undone(&self, record: &LandingRecord) -> Result<(), LandingError> {
        let Some(undone) = record.undoes else {
            return Ok(());
        };
        let mut undone = self.load(undone)?;
        // `open` repeats this for every landed undo; the check avoids rewriting the record each
        // time.
        if let LandingStep::Landed { undone_by, .. } = &mut undone.step
            && *undone_by != Some(record.id)
        {
            *undone_by = Some(record.id);
            self.save(&undone)?;
        }
        Ok(())
    }
}
