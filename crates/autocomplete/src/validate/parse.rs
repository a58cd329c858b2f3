//! Whether a text parses worse behind an edit than before it.

use syntax::{Budget, Damage, SyntaxSnapshot};
use text::{Change, Snapshot};

use crate::Scene;

/// How often the parser may ask whether to go on: every hundred of its steps, so that a whole text of some thousand
/// lines is parsed within it, and nothing takes much longer than a millisecond.
const MOST_STEPS: u32 = 400;

/// Bytes that an error may grow by without being worse: a blank, a bracket beside it.
const SLACK: usize = 16;

/// Damage before and behind an edit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict {
    before: Damage,
    after: Damage,
    /// Bytes that came in.
    came: usize,
}

impl Verdict {
    /// New errors, or old ones that swallow much more than what came in.
    pub(super) fn is_worse(self) -> bool {
        let swallowed = self.after.bytes > self.before.bytes + 2 * self.came + SLACK;
        self.after.places > self.before.places || swallowed
    }

    pub(super) fn is_better(self) -> bool {
        self.after.places < self.before.places
    }
}

/// Whether the text behind a change parses no worse; true where nobody can say.
pub(crate) fn parses_no_worse(scene: &Scene, after: &Snapshot, change: &Change) -> bool {
    verdict(scene, after, change).is_none_or(|verdict| !verdict.is_worse())
}

/// What the grammar says of a change; `None` without a tree, or where parsing takes too long.
pub(super) fn verdict(scene: &Scene, after: &Snapshot, change: &Change) -> Option<Verdict> {
    let syntax = scene.syntax.as_ref()?;
    let now = &scene.snapshot;
    if syntax.revision() != now.revision() {
        return None;
    }
    let fresh;
    let before = match syntax.parsed_revision() == Some(now.revision()) {
        true => syntax,
        // The structure is older than the text: it is brought up to it first, so that like is compared with like.
        false => {
            fresh = behind(syntax, now, now, &Change::none(now.revision()))?;
            &fresh
        }
    };
    let after = behind(before, now, after, change)?;
    Some(Verdict {
        before: before.damage()?,
        after: after.damage()?,
        came: change.splices.iter().map(|splice| splice.new.len()).sum(),
    })
}

fn behind(
    tree: &SyntaxSnapshot,
    before: &Snapshot,
    after: &Snapshot,
    change: &Change,
) -> Option<SyntaxSnapshot> {
    let mut steps = 0;
    let mut is_spent = || {
        steps += 1;
        steps > MOST_STEPS
    };
    tree.behind(before, after, change, &mut Budget::until(&mut is_spent))
}

#[cfg(test)]
mod tests;
