//! Caret history: goes back through earlier selections without changing the text.
//!
//! Every entry has the revision it was recorded in; going back maps it through the edits since.
//! Start at `CaretHistory`.

use base::Revision;
use text::{Change, SelectionSet};

/// Maximum number of entries.
const LIMIT: usize = 200;

/// Bounded undo and redo stacks of selections, independent of the text's undo.
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

    /// Records the selections at a revision of the text, and clears the redo stack. Call this
    /// before replacing the selections.
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

    /// Returns the previous selections, mapped to the present text. `since` returns the change
    /// since a revision, or `None` if the change is unknown; entries of such a revision are
    /// dropped. Stores `current`, the present selections at `revision`, for `redo`. Returns `None`
    /// if no previous selections differ from `current`.
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

    /// Returns the selections that the last `undo` replaced, mapped to the present text as in
    /// `undo`. Returns `None` if there is nothing to redo.
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
