//! Where the carets were: a short history to go back through without changing the text.
//!
//! Every entry keeps the revision it was made in; going back maps it forward through the edits since.
//! Start at `CaretHistory`.

use base::Revision;
use text::{Change, SelectionSet};

/// The newest places that are kept.
const LIMIT: usize = 200;

/// Earlier selections, and the ones gone back from. Bounded.
#[derive(Clone, Debug, Default)]
pub struct CaretHistory {
    past: Vec<(Revision, SelectionSet)>,
    future: Vec<(Revision, SelectionSet)>,
}

impl CaretHistory {
    /// A history of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes the selections that were left for others. To be called before they are replaced.
    pub fn record(&mut self, revision: Revision, selections: &SelectionSet) {
        self.future.clear();
        let entry = (revision, selections.clone());
        if self.past.last() == Some(&entry) {
            return;
        }
        if self.past.len() == LIMIT {
            self.past.remove(0);
        }
        self.past.push(entry);
    }

    /// The selections before the current ones. `since` gives the change from a revision to now, or
    /// nothing when it is forgotten; entries that cannot be mapped are dropped.
    pub fn undo(
        &mut self,
        revision: Revision,
        current: &SelectionSet,
        since: impl Fn(Revision) -> Option<Change>,
    ) -> Option<SelectionSet> {
        let found = take_other(&mut self.past, revision, current, since)?;
        self.future.push((revision, current.clone()));
        Some(found)
    }

    /// The selections that were gone back from.
    pub fn redo(
        &mut self,
        revision: Revision,
        current: &SelectionSet,
        since: impl Fn(Revision) -> Option<Change>,
    ) -> Option<SelectionSet> {
        let found = take_other(&mut self.future, revision, current, since)?;
        self.past.push((revision, current.clone()));
        Some(found)
    }
}

/// Takes entries from the end until one, mapped to now, differs from `current`.
fn take_other(
    entries: &mut Vec<(Revision, SelectionSet)>,
    revision: Revision,
    current: &SelectionSet,
    since: impl Fn(Revision) -> Option<Change>,
) -> Option<SelectionSet> {
    while let Some((made_in, mut selections)) = entries.pop() {
        if made_in != revision {
            match since(made_in) {
                Some(change) => selections = selections.map(&change),
                None => continue,
            }
        }
        if selections != *current {
            return Some(selections);
        }
    }
    None
}

#[cfg(test)]
mod tests;
