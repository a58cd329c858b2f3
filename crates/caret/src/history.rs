//! Caret history: goes back through earlier selections without changing the text.
//!
//! Every entry has the revision it was recorded in; going back maps it through the edits since.
//! Start at `CaretHistory`.

use base::Revision;
use text::{Change, SelectionSet};

/// Maximum number of entries.
const LIMIT: usize = 200;

/// Undo and redo stacks of selections, independent of the text's undo. Bounded.
#[derive(Clone, Debug, Default)]
pub struct CaretHistory {
    past: Vec<(Revision, SelectionSet)>,
    future: Vec<(Revision, SelectionSet)>,
}

impl CaretHistory {
    /// Creates an empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the selections before they are replaced, at the text's revision, and clears the redo
    /// stack.
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

    /// Returns the previous selections. `since` returns the change since a revision, or `None` if
    /// it is unknown; entries that cannot be mapped are dropped. `revision` and `current` are the
    /// present ones, for `redo`. `None` if there are no other selections.
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

    /// Returns the selections that the last `undo` left, mapped like those of `undo`; `None` if
    /// there are none.
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

/// Pops entries until one, mapped to the current revision, differs from `current`.
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
