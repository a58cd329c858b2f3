//! The part that each line of a file plays for a set of changes that is to be taken out.
//!
//! Pure. A formatter's change is a layer over the text of other authors: the set takes the layer out
//! if it has the formatter's change, and the text if it has the changes that wrote it.
//! Invariant: no text is in two lines without the set, and the set takes out only its own text.
//! Start at `ChangeSet::roles`.

use std::collections::BTreeMap;

use crate::change_history::ChangeId;

use super::rewriting::RewritingId;
use super::weave::WovenLine;

/// Changes to be taken out of a file.
pub(super) struct ChangeSet<'a> {
    /// Whether a change belongs to the set.
    pub(super) has: &'a dyn Fn(ChangeId) -> bool,
    /// Whether a change is an undo.
    pub(super) is_undo: &'a dyn Fn(ChangeId) -> bool,
    /// Whether lines that the user kept stay.
    pub(super) spares_kept: bool,
}

/// The part that a line plays for a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineRole {
    /// In the text, but not without the set.
    Added(ChangeId),
    /// Not in the text, but without the set.
    Removed(ChangeId),
    /// Added by the set, and removed by another change since.
    Fought { added: ChangeId, by: ChangeId },
    /// In the text, with text of the set and of others, which the formatter's change `by` joined.
    Joined { added: ChangeId, by: ChangeId },
    /// Removed by the set, with text of the set and of others, which the formatter's change `by`
    /// joined.
    JoinedRemoved { removed: ChangeId, by: ChangeId },
    /// In the text with and without the set.
    Stays,
    /// In neither.
    Absent,
}

/// The part of a line's text that a set of changes added and the user does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addition {
    None,
    /// Some of it; the formatter's change `by` joined it with the rest.
    Part {
        added: ChangeId,
        by: ChangeId,
    },
    Whole(ChangeId),
}

/// The fate of the text of a line that a formatter rewrote, without a set of changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextFate {
    /// The text has it in the line as which a formatter wrote it.
    Present,
    /// An undo took it out in that form.
    TakenOut,
    /// It is in no line.
    Gone,
}

impl LineRole {
    /// Whether the text has the line without the set, or may have it because it is contested.
    fn is_present(self) -> bool {
        match self {
            Self::Stays | Self::Removed(_) | Self::Joined { .. } | Self::JoinedRemoved { .. } => {
                true
            }
            Self::Added(_) | Self::Fought { .. } | Self::Absent => false,
        }
    }
}

impl ChangeSet<'_> {
    /// The role of each line of a weave.
    pub(super) fn roles(&self, lines: &[WovenLine]) -> Vec<LineRole> {
        let mut copies: BTreeMap<RewritingId, Vec<usize>> = BTreeMap::new();
        for (at, line) in lines.iter().enumerate() {
            if let Some(rewriting) = line.rewrites {
                copies.entry(rewriting).or_default().push(at);
            }
        }
        let mut fates = TextFates::default();
        // A line that a formatter wrote was removed later than those that it was written from.
        for (rewriting, copies) in copies.iter().rev() {
            let copies: Vec<&WovenLine> = copies.iter().map(|at| &lines[*at]).collect();
            let fate = self.fate(&copies, &fates);
            fates.0.insert(*rewriting, fate);
        }
        lines.iter().map(|line| self.role(line, &fates)).collect()
    }

    /// The fate of a text that a formatter wrote as `copies`.
    fn fate(&self, copies: &[&WovenLine], fates: &TextFates) -> TextFate {
        let fate_of = |line: &&WovenLine| {
            let is_undone = line.removed_by.is_some_and(self.is_undo);
            match self.role(line, fates) {
                role if role.is_present() => TextFate::Present,
                LineRole::Absent if is_undone => TextFate::TakenOut,
                _ => fates.of_line(line),
            }
        };
        let of_copies: Vec<TextFate> = copies.iter().map(fate_of).collect();
        if of_copies.contains(&TextFate::Present) {
            TextFate::Present
        } else if of_copies.iter().all(|it| *it == TextFate::TakenOut) {
            TextFate::TakenOut
        } else {
            TextFate::Gone
        }
    }

    /// The role of a line, given the fates of later rewritings and of the one that made it.
    fn role(&self, line: &WovenLine, fates: &TextFates) -> LineRole {
        let addition = self.addition(line, fates);
        let Some(by) = line.removed_by else {
            return match addition {
                Addition::None => LineRole::Stays,
                Addition::Part { added, by } => LineRole::Joined { added, by },
                Addition::Whole(added) => LineRole::Added(added),
            };
        };
        match (self.removal(line), addition) {
            // The text of the line goes on in another one.
            (None, _) if line.rewritten_as.is_some() => LineRole::Absent,
            (None, Addition::Whole(added) | Addition::Part { added, .. })
                if !(self.is_undo)(by) && !(self.has)(by) =>
            {
                LineRole::Fought { added, by }
            }
            (None, _) | (Some(_), Addition::Whole(_)) => LineRole::Absent,
            (Some(_), _) if fates.of_line(line) != TextFate::Gone => LineRole::Absent,
            (Some(removed), Addition::None) => LineRole::Removed(removed),
            (Some(removed), Addition::Part { by, .. }) => LineRole::JoinedRemoved { removed, by },
        }
    }

    /// The part of a line's text that the set added and the user does not keep.
    fn addition(&self, line: &WovenLine, fates: &TextFates) -> Addition {
        let Some(added_by) = line.added_by else {
            return Addition::None;
        };
        if self.spares_kept && line.is_addition_kept {
            return Addition::None;
        }
        // A layer of which a part stays is not taken out of the rest of the text either.
        if (self.has)(added_by) && !fates.keeps_layer(line) {
            return Addition::Whole(added_by);
        }
        let own = line.shares.iter().filter_map(|share| {
            let change = share.written_by.filter(|change| (self.has)(*change));
            change.filter(|_| !(self.spares_kept && share.is_kept))
        });
        let own: Vec<ChangeId> = own.collect();
        match own.iter().max() {
            None => Addition::None,
            Some(added) if own.len() == line.shares.len() => Addition::Whole(*added),
            Some(added) => Addition::Part {
                added: *added,
                by: added_by,
            },
        }
    }

    /// The set's removal of a line that the user does not keep.
    fn removal(&self, line: &WovenLine) -> Option<ChangeId> {
        let removed = line.removed_by.filter(|change| (self.has)(*change));
        removed.filter(|_| !(self.spares_kept && line.is_removal_kept))
    }
}

/// The fates of the texts that formatters rewrote, by rewriting.
#[derive(Default)]
struct TextFates(BTreeMap<RewritingId, TextFate>);

impl TextFates {
    /// The fate of the text of a line in the form that the formatter gave it that removed the line.
    fn of_line(&self, line: &WovenLine) -> TextFate {
        let fate = line.rewritten_as.and_then(|it| self.0.get(&it));
        fate.copied().unwrap_or(TextFate::Gone)
    }

    /// Whether a formatter wrote a line and a part of the same text stays in its form.
    fn keeps_layer(&self, line: &WovenLine) -> bool {
        let made = line.rewrites.filter(|it| line.added_by == Some(it.change));
        made.is_some_and(|it| self.0.get(&it) == Some(&TextFate::Present))
    }
}
