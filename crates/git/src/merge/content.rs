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
    let regions = line_merge::merge(&base, &ours, &theirs)
        .into_iter()
        .map(|part| match part {
            MergePart::Ours(range) => MergeRegion::Clean(cut(&ours, &range)),
            MergePart::Theirs(range) => MergeRegion::Clean(cut(&theirs, &range)),
            MergePart::Conflict(conflict) => MergeRegion::Conflicted {
                base: cut(&base, &conflict.base),
                ours: cut(&ours, &conflict.ours),
                theirs: cut(&theirs, &conflict.theirs),
                lines: ConflictLines {
                    base: conflict.base,
                    ours: conflict.ours,
                    theirs: conflict.theirs,
                },
            },
        });
    MergedContent {
        regions: regions.collect(),
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
        let mut merged = Vec::new();
        for region in &self.regions {
            match region {
                MergeRegion::Clean(bytes) => merged.extend_from_slice(bytes),
                MergeRegion::Conflicted { .. } => return None,
            }
        }
        Some(merged)
    }

    /// Returns the merged bytes with both sides of every conflict, ours first, as `merge=union`
    /// does.
    pub fn union(&self) -> Vec<u8> {
        let mut merged = Vec::new();
        for region in &self.regions {
            match region {
                MergeRegion::Clean(bytes) => merged.extend_from_slice(bytes),
                MergeRegion::Conflicted { ours, theirs, .. } => {
                    add_lines(&mut merged, ours);
                    add_lines(&mut merged, theirs);
                }
            }
        }
        merged
    }

    /// Returns the line ranges of all conflicts.
    pub fn conflict_lines(&self) -> Vec<ConflictLines> {
        let conflict_lines_of = |region: &MergeRegion| match region {
            MergeRegion::Clean(_) => None,
            MergeRegion::Conflicted { lines, .. } => Some(lines.clone()),
        };
        self.regions.iter().filter_map(conflict_lines_of).collect()
    }

    /// Returns the merged text with git's conflict markers, for manual resolution.
    pub fn with_markers(&self, marks: ConflictLabels<'_>) -> Vec<u8> {
        let mut merged = Vec::new();
        let mark = |merged: &mut Vec<u8>, sign: u8, label: &str| {
            merged.extend_from_slice(&[sign; 7]);
            if !label.is_empty() {
                merged.push(b' ');
                merged.extend_from_slice(label.as_bytes());
            }
            merged.push(b'\n');
        };
        for region in &self.regions {
            match region {
                MergeRegion::Clean(bytes) => merged.extend_from_slice(bytes),
                MergeRegion::Conflicted {
                    base, ours, theirs, ..
                } => {
                    mark(&mut merged, b'<', marks.ours);
                    add_lines(&mut merged, ours);
                    if let Some(label) = marks.base {
                        mark(&mut merged, b'|', label);
                        add_lines(&mut merged, base);
                    }
                    mark(&mut merged, b'=', "");
                    add_lines(&mut merged, theirs);
                    mark(&mut merged, b'>', marks.theirs);
                }
            }
        }
        merged
    }
}

/// Appends lines and terminates the last one with a line feed if necessary.
fn add_lines(merged: &mut Vec<u8>, lines: &[u8]) {
    merged.extend_from_slice(lines);
    if lines.last().is_some_and(|last| *last != b'\n') {
        merged.push(b'\n');
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
