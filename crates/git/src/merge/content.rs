//! The bytes of one file, merged.

use std::ops::Range;
use std::sync::Arc;

use super::lines::{self, Part};
use super::{ConflictLines, histogram};

/// A part of a merged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes nobody fights over.
    Agreed(Arc<[u8]>),
    /// Bytes that each side wants otherwise.
    Fought {
        /// What both began from.
        base: Arc<[u8]>,
        /// What our side wants.
        ours: Arc<[u8]>,
        /// What their side wants.
        theirs: Arc<[u8]>,
        /// Where these lines are in each version.
        lines: ConflictLines,
    },
}

/// A merged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Its parts in order.
    pub pieces: Vec<Piece>,
}

/// The words behind the marks of a conflict, by which a reader knows the sides.
#[derive(Clone, Copy, Debug)]
pub struct Marks<'a> {
    /// Our side.
    pub ours: &'a str,
    /// What both began from; without it those lines are left out.
    pub base: Option<&'a str>,
    /// Their side.
    pub theirs: &'a str,
}

/// How far into a file git looks for a zero byte.
const LOOKED_AT: usize = 8000;

/// Whether git takes these bytes for something without lines.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
}

/// The hunks by which one text became another: lines before, lines after, each counted from 0, in order.
pub fn line_hunks(before: &[u8], after: &[u8]) -> Vec<(Range<u32>, Range<u32>)> {
    let narrow = |range: Range<usize>| range.start as u32..range.end as u32;
    histogram::hunks(&lines_of(before), &lines_of(after))
        .into_iter()
        .map(|hunk| (narrow(hunk.before), narrow(hunk.after)))
        .collect()
}

/// Merges two versions of a text with what both began from; empty where both made it anew.
pub fn merge_bytes(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merge {
    if ours == theirs || base == theirs {
        return Merge::agreed(ours);
    }
    if base == ours {
        return Merge::agreed(theirs);
    }
    let (base, ours, theirs) = (lines_of(base), lines_of(ours), lines_of(theirs));
    let pieces = lines::merge(&base, &ours, &theirs)
        .into_iter()
        .map(|part| match part {
            Part::Ours(range) => Piece::Agreed(cut(&ours, &range)),
            Part::Theirs(range) => Piece::Agreed(cut(&theirs, &range)),
            Part::Both(fight) => Piece::Fought {
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
    Merge {
        pieces: pieces.collect(),
    }
}

impl Merge {
    fn agreed(bytes: &[u8]) -> Self {
        Self {
            pieces: vec![Piece::Agreed(bytes.into())],
        }
    }

    /// The merged bytes; `None` while something is fought over.
    pub fn clean(&self) -> Option<Vec<u8>> {
        let mut whole = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Agreed(bytes) => whole.extend_from_slice(bytes),
                Piece::Fought { .. } => return None,
            }
        }
        Some(whole)
    }

    /// Both sides of every fight, ours before theirs: what `merge=union` asks for.
    pub fn union(&self) -> Vec<u8> {
        let mut whole = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Agreed(bytes) => whole.extend_from_slice(bytes),
                Piece::Fought { ours, theirs, .. } => {
                    add_lines(&mut whole, ours);
                    add_lines(&mut whole, theirs);
                }
            }
        }
        whole
    }

    /// Where it is fought over.
    pub fn lines(&self) -> Vec<ConflictLines> {
        let fought = |piece: &Piece| match piece {
            Piece::Agreed(_) => None,
            Piece::Fought { lines, .. } => Some(lines.clone()),
        };
        self.pieces.iter().filter_map(fought).collect()
    }

    /// The text with git's marks around what is fought over, to be resolved by hand.
    pub fn marked(&self, marks: Marks<'_>) -> Vec<u8> {
        let mut whole = Vec::new();
        let mark = |whole: &mut Vec<u8>, sign: u8, label: &str| {
            whole.extend_from_slice(&[sign; 7]);
            if !label.is_empty() {
                whole.push(b' ');
                whole.extend_from_slice(label.as_bytes());
            }
            whole.push(b'\n');
        };
        for piece in &self.pieces {
            match piece {
                Piece::Agreed(bytes) => whole.extend_from_slice(bytes),
                Piece::Fought {
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

/// Adds lines and ends the last one, if the file did not.
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
