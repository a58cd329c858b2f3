//! The weave of one text file: every line that it ever had, in one order, with the changes that
//! added and removed it.
//!
//! Pure. A text without some changes is the lines that are alive without them, so the order in
//! which changes are taken out does not matter.
//! Invariant: the live lines, one after the other, are the text after the latest applied change.
//! Limitations: a line that another program puts back may be taken for the removed line.
//! Start at `Weave::apply`; `groups` finds the places that a set of changes touches.

use std::ops::Range;

use git::merge::line_hunks;
use host::ContentHash;

use crate::change_history::{ChangeId, KeptLine};

use super::rewriting::{LineShare, OldLine, RewritingId, Rewritings};

/// A file's text with the history of its lines. Its size grows with every added line.
#[derive(Clone, Debug, Default)]
pub(super) struct Weave {
    lines: Vec<WovenLine>,
}

/// A line that the file has or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WovenLine {
    /// The bytes with the line ending.
    pub(super) bytes: Box<[u8]>,
    /// The change that added it; `None` for a line older than the log.
    pub(super) added_by: Option<ChangeId>,
    /// The authors of its text if a formatter wrote it from lines of agents; else empty.
    pub(super) shares: Vec<LineShare>,
    /// The lines that a formatter rewrote as this one have the same number in `rewritten_as`.
    pub(super) rewrites: Option<RewritingId>,
    /// Number of the line among those that the same change added, from 0.
    number: u32,
    /// Whether no line was removed where it was added.
    pub(super) is_pure: bool,
    /// The change that removed it; `None` while the text has it.
    pub(super) removed_by: Option<ChangeId>,
    /// Its removal before an undo or Git put it back.
    undone_removal: Option<UndoneRemoval>,
    /// The rewriting by the formatter that removed it.
    pub(super) rewritten_as: Option<RewritingId>,
    /// Whether the user keeps its addition.
    pub(super) is_addition_kept: bool,
    /// Whether the user keeps its removal.
    pub(super) is_removal_kept: bool,
}

/// A removal of a line that an undo or Git has put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UndoneRemoval {
    by: WeaveAuthor,
    change: ChangeId,
    rewritten_as: Option<RewritingId>,
}

/// The kind of author of a change, as far as lines are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WeaveAuthor {
    /// An agent: each of its lines is new.
    Agent,
    /// A formatter: its lines belong to the agent whose lines it rewrote.
    Formatter,
    /// Git: puts removed lines of all authors back as it goes from commit to commit.
    Git,
    /// An undo: puts removed lines back.
    Undo,
    /// An undo of an undo: takes away what that put back, as it was removed before.
    Redo,
    /// Any other author: may put lines back that an agent removed.
    Other,
}

impl WovenLine {
    /// Returns the line's mark for the log.
    pub(super) fn mark(&self, is_removal: bool) -> KeptLine {
        KeptLine {
            added_by: self.added_by,
            number: self.number,
            is_removal,
            hash: hash_of(&self.bytes),
        }
    }

    /// Whether the text has the line.
    pub(super) fn is_live(&self) -> bool {
        self.removed_by.is_none()
    }

    /// The changes that wrote the text of the line: for a formatted line those of agents.
    pub(super) fn writers(&self) -> impl Iterator<Item = ChangeId> {
        let shares = self.shares.iter().filter_map(|share| share.written_by);
        let added_by = self.added_by.filter(|_| self.shares.is_empty());
        shares.chain(added_by)
    }

    /// The authors of the text of the line.
    fn shares(&self, is_agents: &dyn Fn(ChangeId) -> bool) -> Vec<LineShare> {
        if self.shares.is_empty() {
            let written_by = self.added_by.filter(|change| is_agents(*change));
            let is_kept = self.is_addition_kept;
            return vec![LineShare {
                written_by,
                is_kept,
            }];
        }
        let shares = self.shares.iter().map(|share| LineShare {
            is_kept: share.is_kept || self.is_addition_kept,
            ..*share
        });
        shares.collect()
    }

    /// Returns the position of the line in the log, which no other line has.
    pub(super) fn key(&self) -> (Option<ChangeId>, u32) {
        (self.added_by, self.number)
    }

    fn remove(&mut self, change: ChangeId, author: WeaveAuthor, rewritten_as: Option<RewritingId>) {
        let by = author.undone_by();
        if let Some(undone) = self.undone_removal.take_if(|it| Some(it.by) == by) {
            self.removed_by = Some(undone.change);
            self.rewritten_as = undone.rewritten_as;
            return;
        }
        self.removed_by = Some(change);
        self.rewritten_as = rewritten_as;
        self.is_removal_kept = false;
        if author != WeaveAuthor::Undo {
            self.undone_removal = None;
        }
    }

    fn put_back(&mut self, author: WeaveAuthor) {
        let removal = self.removed_by.take();
        let rewritten_as = self.rewritten_as.take();
        if author == WeaveAuthor::Redo {
            return;
        }
        let removal = removal.filter(|_| author.returns());
        self.undone_removal = removal.map(|change| UndoneRemoval {
            by: author,
            change,
            rewritten_as,
        });
    }
}

impl WeaveAuthor {
    /// Whether the author goes back and forth between states of the text.
    fn returns(self) -> bool {
        matches!(self, Self::Undo | Self::Redo | Self::Git)
    }

    /// The author whose restored lines this one takes away again, with their earlier removal.
    fn undone_by(self) -> Option<Self> {
        match self {
            Self::Redo => Some(Self::Undo),
            Self::Git => Some(Self::Git),
            Self::Agent | Self::Other | Self::Formatter | Self::Undo => None,
        }
    }
}

impl Weave {
    /// A weave of a text that is older than the log.
    pub(super) fn of_text(text: &[u8]) -> Self {
        let lines = split_lines(text).into_iter().zip(0..);
        Self {
            lines: lines
                .map(|(bytes, number)| new_line(bytes, None, number, false))
                .collect(),
        }
    }

    /// All lines, dead and live.
    pub(super) fn lines(&self) -> &[WovenLine] {
        &self.lines
    }

    /// Returns the present text.
    pub(super) fn text(&self) -> Vec<u8> {
        let live = self.lines.iter().filter(|line| line.is_live());
        live.flat_map(|line| line.bytes.iter().copied()).collect()
    }

    /// Applies a change that leaves the file with this text. `is_agents` tells whether a change was
    /// made by an agent.
    pub(super) fn apply(
        &mut self,
        change: ChangeId,
        author: WeaveAuthor,
        text: &[u8],
        is_agents: &dyn Fn(ChangeId) -> bool,
    ) {
        let before = self.text();
        let live: Vec<usize> = (0..self.lines.len())
            .filter(|at| self.lines[*at].is_live())
            .collect();
        let new = split_lines(text);
        let mut old = std::mem::take(&mut self.lines).into_iter();
        let mut woven = Vec::with_capacity(old.len() + new.len() / 8);
        let mut taken = 0;
        let mut number = 0;
        for (gone, come) in line_hunks(&before, text) {
            let (gone, come) = (as_usize(gone), as_usize(come));
            let start = match gone.start {
                0 => 0,
                at => live[at - 1] + 1,
            };
            let end = live.get(gone.end).copied().unwrap_or(taken + old.len());
            woven.extend(old.by_ref().take(start - taken));
            let gap: Vec<WovenLine> = old.by_ref().take(end - start).collect();
            taken = end;
            let edit = GapEdit {
                change,
                author,
                is_agents,
                first_row: u32::try_from(come.start).unwrap_or(u32::MAX),
            };
            woven.extend(edit.apply(gap, &new[come], &mut number));
        }
        woven.extend(old);
        self.lines = woven;
    }

    /// Marks lines as kept by the user. Lines that are not as marked stay unmarked.
    pub(super) fn keep(&mut self, marks: &[KeptLine]) {
        let marks: std::collections::HashMap<_, _> = marks
            .iter()
            .map(|mark| ((mark.added_by, mark.number, mark.is_removal), mark))
            .collect();
        for line in &mut self.lines {
            for is_removal in [false, true] {
                let mark = marks.get(&(line.added_by, line.number, is_removal));
                if mark.is_some_and(|mark| mark.hash == hash_of(&line.bytes)) {
                    if is_removal {
                        line.is_removal_kept = true
                    } else {
                        line.is_addition_kept = true
                    }
                }
            }
        }
    }
}

/// The edit of the lines between two lines that stay.
struct GapEdit<'a> {
    change: ChangeId,
    author: WeaveAuthor,
    is_agents: &'a dyn Fn(ChangeId) -> bool,
    /// The row of the first new line in the new text.
    first_row: u32,
}

impl GapEdit<'_> {
    /// Removes the live lines of a gap and adds the new ones, or puts dead ones back.
    fn apply(&self, mut gap: Vec<WovenLine>, come: &[&[u8]], number: &mut u32) -> Vec<WovenLine> {
        let back = self.lines_put_back(&gap, come);
        let rewritings = self.rewritings(&gap, come);
        let mut behind_removed = 0;
        let live = gap
            .iter_mut()
            .enumerate()
            .filter(|(_, line)| line.is_live());
        for (ix, (at, line)) in live.enumerate() {
            line.remove(self.change, self.author, rewritings.of_old(ix));
            behind_removed = at + 1;
        }
        let is_pure = behind_removed == 0;
        for (ix, at) in back.iter().enumerate() {
            let Some(line) = at.map(|at| &mut gap[at]) else {
                continue;
            };
            line.put_back(self.author);
            if let Some((rewriting, _)) = rewritings.of_new(ix) {
                line.rewrites = Some(rewriting);
            }
        }
        let mut edited = Vec::with_capacity(gap.len() + come.len());
        let mut old = gap.into_iter();
        let mut taken = 0;
        for (ix, (bytes, back_at)) in come.iter().zip(&back).enumerate() {
            if let Some(at) = back_at {
                edited.extend(old.by_ref().take(at + 1 - taken));
                taken = at + 1;
                continue;
            }
            // New lines come behind the removed ones, as far as lines that were put back allow it.
            let next = back[ix..].iter().flatten().next().copied();
            let at = behind_removed.clamp(taken, next.unwrap_or(usize::MAX).max(taken));
            edited.extend(old.by_ref().take(at - taken));
            taken = at;
            let mut line = new_line(bytes, Some(self.change), *number, is_pure);
            if let Some((rewriting, shares)) = rewritings.of_new(ix) {
                line.rewrites = Some(rewriting);
                line.shares = shares.to_vec();
                line.is_addition_kept = !shares.is_empty() && shares.iter().all(|it| it.is_kept);
            }
            edited.push(line);
            *number += 1;
        }
        edited.extend(old);
        edited
    }

    /// The rewritings of the live lines of a gap as the new ones; only a formatter makes any.
    fn rewritings(&self, gap: &[WovenLine], come: &[&[u8]]) -> Rewritings {
        if self.author != WeaveAuthor::Formatter {
            return Rewritings::default();
        }
        let live = gap.iter().filter(|line| line.is_live());
        let live = live.map(|line| OldLine {
            bytes: &line.bytes,
            shares: line.shares(self.is_agents),
        });
        Rewritings::of(self.change, self.first_row, &live.collect::<Vec<_>>(), come)
    }

    /// For each new line the dead line of the gap that it puts back, in ascending order.
    fn lines_put_back(&self, gap: &[WovenLine], come: &[&[u8]]) -> Vec<Option<usize>> {
        let none = vec![None; come.len()];
        let dead: Vec<usize> = (0..gap.len())
            .filter(|at| self.may_put_back(&gap[*at]))
            .collect();
        let is_line = |bytes: &[u8]| bytes.last() == Some(&b'\n');
        let has_lines = dead.iter().all(|at| is_line(&gap[*at].bytes));
        if dead.is_empty() || come.is_empty() || !has_lines {
            // An unfinished line counts only if it is the only one.
            return match (&dead[..], come) {
                ([at], [only]) if *gap[*at].bytes == **only => vec![Some(*at)],
                _ => none,
            };
        }
        let before: Vec<u8> = dead
            .iter()
            .flat_map(|at| gap[*at].bytes.iter().copied())
            .collect();
        let after = come.concat();
        let mut back = none;
        let (mut old, mut new) = (0, 0);
        let hunks = line_hunks(&before, &after).into_iter();
        let hunks = hunks.map(|(gone, come)| (as_usize(gone), as_usize(come)));
        let end = (dead.len()..dead.len(), come.len()..come.len());
        for (gone, came) in hunks.chain([end]) {
            for (at, ix) in (old..gone.start).zip(new..came.start) {
                back[ix] = Some(dead[at]);
            }
            (old, new) = (gone.end, came.end);
        }
        back
    }

    fn may_put_back(&self, line: &WovenLine) -> bool {
        if line.is_live() {
            return false;
        }
        match self.author {
            WeaveAuthor::Agent => false,
            WeaveAuthor::Undo | WeaveAuthor::Redo | WeaveAuthor::Git => true,
            // Text that an agent wrote stays the agent's only if an undo or Git puts it back.
            WeaveAuthor::Other | WeaveAuthor::Formatter => !line.writers().any(self.is_agents),
        }
    }
}

fn new_line(bytes: &[u8], added_by: Option<ChangeId>, number: u32, is_pure: bool) -> WovenLine {
    WovenLine {
        bytes: bytes.into(),
        added_by,
        shares: Vec::new(),
        rewrites: None,
        number,
        is_pure,
        removed_by: None,
        undone_removal: None,
        rewritten_as: None,
        is_addition_kept: false,
        is_removal_kept: false,
    }
}

fn as_usize(range: Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn hash_of(bytes: &[u8]) -> String {
    format!("{:032x}", ContentHash::of(bytes).0)
}

/// Splits a text into lines with their line endings.
fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}
