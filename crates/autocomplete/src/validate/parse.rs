//! Checks whether an edit makes a text parse worse.

use syntax::{Budget, Damage, SyntaxSnapshot};
use text::{Change, Snapshot};

use crate::EditorState;

/// Maximum number of parser progress checks, one per hundred parser steps. Enough for a text of
/// some thousand lines, and takes about a millisecond.
const MAX_PARSE_STEPS: u32 = 60;

/// Bytes by which an error may grow without counting as worse, for a blank or an adjacent bracket.
const SLACK: usize = 16;

/// Parse errors before and after an edit.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParseVerdict {
    before: Damage,
    after: Damage,
    /// Number of inserted bytes.
    came: usize,
}

impl ParseVerdict {
    /// Whether there are new errors, or errors that grow by much more than the inserted text.
    pub(super) fn is_worse(self) -> bool {
        let swallowed = self.after.bytes > self.before.bytes + 2 * self.came + SLACK;
        self.after.places > self.before.places || swallowed
    }

    /// Whether the text has fewer errors than before.
    pub(super) fn is_better(self) -> bool {
        self.after.places < self.before.places
    }
}

/// Whether the text after a change parses no worse; true if that is unknown.
pub(crate) fn parses_no_worse(state: &EditorState, after: &Snapshot, change: &Change) -> bool {
    verdict(state, after, change).is_none_or(|verdict| !verdict.is_worse())
}

/// Compares the parse errors before and after a change; `None` without a tree or if parsing takes
/// too long.
pub(super) fn verdict(
    state: &EditorState,
    after: &Snapshot,
    change: &Change,
) -> Option<ParseVerdict> {
    let syntax = state.syntax.as_ref()?;
    let now = &state.snapshot;
    if syntax.revision() != now.revision() {
        return None;
    }
    let fresh;
    let before = if syntax.parsed_revision() == Some(now.revision()) {
        syntax
    } else {
        // The tree is older than the text, so it is updated first to make both sides comparable.

        fresh = damage_after(syntax, now, now, &Change::none(now.revision()))?;
        &fresh
    };
    let after = damage_after(before, now, after, change)?;
    Some(ParseVerdict {
        before: before.damage()?,
        after: after.damage()?,
        came: change.splices.iter().map(|splice| splice.new.len()).sum(),
    })
}

/// Parses `after`, the text that `change` makes of `before`. Returns `None` if that takes more than
/// `MAX_PARSE_STEPS` progress checks or fails.
fn damage_after(
    tree: &SyntaxSnapshot,
    before: &Snapshot,
    after: &Snapshot,
    change: &Change,
) -> Option<SyntaxSnapshot> {
    let mut steps = 0;
    let mut is_spent = || {
        steps += 1;
        steps > MAX_PARSE_STEPS
    };
    tree.with_change(before, after, change, &mut Budget::until(&mut is_spent))
}

#[cfg(test)]
mod tests;
