//! Merges the content of one file.

use std::ops::Range;
use std::sync::Arc;

use super::line_merge::{self, MergePart};
use super::{ConflictLines, histogram};

/// A region of a merged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeRegion {
    /// Bytes without a conflict.
    Clean(Arc<[u8]>),
    /// Bytes that both sides changed differently.
    Conflicted {
        /// Bytes of the merge base.
        base: Arc<[u8]>,
        /// Bytes of our side.
        ours: Arc<[u8]>,
        /// Bytes of their side.
        theirs: Arc<[u8]>,
        /// Line ranges of the conflict in each version.
        lines: ConflictLines,
    },
}

/// The result of merging one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedContent {
    /// Regions in file order.
    pub regions: Vec<MergeRegion>,
}

/// Labels shown after the conflict markers.
#[derive(Clone, Copy, Debug)]
pub struct ConflictLabels<'a> {
    /// Label of our side.
    pub ours: &'a str,
    /// Label of the merge base; `None` omits the base lines.
    pub base: Option<&'a str>,
    /// Label of their side.
    pub theirs: &'a str,
}

/// Number of leading bytes in which git looks for a zero byte.
const LOOKED_AT: usize = 8000;

/// Returns whether git treats these bytes as binary.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
}

/// Returns the hunks between two texts as line ranges before and after, counted from 0, in order.
pub fn line_hunks(before: &[u8], after: &[u8]) -> Vec<(Range<u32>, Range<u32>)> {
    let narrow = |range: Range<usize>| range.start as u32..range.end as u32;
    histogram::hunks(&lines_of(before), &lines_of(after))
        .into_iter()
        .map(|hunk| (narrow(hunk.before), narrow(hunk.after)))
        .collect()
}

/// Merges two versions of a text with their merge base, which is empty if both sides added the
/// file.
pub fn merge_bytes(base: &[u8], ours: &[u8], theirs: &[u8]) -> MergedContent {
    if ours == theirs || base == theirs {
        return MergedContent::agreed(ours);
    }
    if base == ours {
        return MergedContent::agreed(theirs);
    }
    let (base, ours, theirs) = (lines_of(base), lines_of(ours), lines_of(theirs));
    let pieces = line_merge::merge(&base, &ours, &theirs)
        .into_iter()
        .map(|part| match part {
            MergePart::Ours(range) => MergeRegion::Clean(cut(&ours, &range)),
            MergePart::Theirs(range) => MergeRegion::Clean(cut(&theirs, &range)),
            MergePart::Conflict(fight) => MergeRegion::Conflicted {
                base: cut(&base, &fight.base),
                ours: cut(&ours, &fight.ours),
                theirs: cut(&theirs, &fight.theirs),
                lines: ConflictLines {
                    base: fight.base,
                    ours: fight.ours,
                    theirs: fight.theirs,
                },
            },
        });
    MergedContent {
        regions: pieces.collect(),
    }
}

impl MergedContent {
    fn agreed(bytes: &[u8]) -> Self {
        Self {
            regions: vec![MergeRegion::Clean(bytes.into())],
        }
    }

    /// Returns the merged bytes; `None` if there are conflicts.
    pub fn clean(&self) -> Option<Vec<u8>> {
        let mut whole = Vec::new();
        for piece in &self.regions {
            match piece {
                MergeRegion::Clean(bytes) => whole.extend_from_slice(bytes),
                MergeRegion::Conflicted { .. } => return None,
            }
        }
        Some(whole)
    }

    /// Returns the merged bytes with both sides of every conflict, ours first, as `merge=union`
    /// does.
    pub fn union(&self) -> Vec<u8> {
        let mut whole = Vec::new();
        for piece in &self.regions {
            match piece {
                MergeRegion::Clean(bytes) => whole.extend_from_slice(bytes),
                MergeRegion::Conflicted { ours, theirs, .. } => {
                    add_lines(&mut whole, ours);
                    add_lines(&mut whole, theirs);
                }
            }
        }
        whole
    }

    /// Returns the line ranges of all conflicts.
    pub fn conflict_lines(&self) -> Vec<ConflictLines> {
        let fought = |piece: &MergeRegion| match piece {
            MergeRegion::Clean(_) => None,
            MergeRegion::Conflicted { lines, .. } => Some(lines.clone()),
        };
        self.regions.iter().filter_map(fought).collect()
    }

    /// Returns the merged text with git's conflict markers, for manual resolution.
    pub fn with_markers(&self, marks: ConflictLabels<'_>) -> Vec<u8> {
        let mut whole = Vec::new();
        let mark = |whole: &mut Vec<u8>, sign: u8, label: &str| {
            whole.extend_from_slice(&[sign; 7]);
            if !label.is_empty() {
                whole.push(b' ');
                whole.extend_from_slice(label.as_bytes());
            }
            whole.push(b'\n');
        };
        for piece in &self.regions {
            match piece {
                MergeRegion::Clean(bytes) => whole.extend_from_slice(bytes),
                MergeRegion::Conflicted {
                    base, ours, theirs, ..
                } => {
                    mark(&mut whole, b'<', marks.ours);
                    add_lines(&mut whole, ours);
                    if let Some(label) = marks.base {
                        mark(&mut whole, b'|', label);
                        add_lines(&mut whole, base);
                    }
                    mark(&mut whole, b'=', "");
                    add_lines(&mut whole, theirs);
                    mark(&mut whole, b'>', marks.theirs);
                }
            }
        }
        whole
    }
}

/// Appends lines and terminates the last one with a line feed if necessary.
fn add_lines(whole: &mut Vec<u8>, lines: &[u8]) {
    whole.extend_from_slice(lines);
    if lines.last().is_some_and(|last| *last != b'\n') {
        whole.push(b'\n');
    }
}

fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

fn cut(lines: &[&[u8]], range: &Range<u32>) -> Arc<[u8]> {
    lines[range.start as usize..range.end as usize]
        .concat()
        .into()
}
