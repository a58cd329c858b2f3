//! Moved lines of a diff: lines that one of its changes removed and another one added, in the same file or in another.
//!
//! Pure. Takes time proportional to the changed lines, so it runs on a background thread.

use std::ops::Range;
use std::sync::Arc;

use base::Row;
use git::merge::TreePath;
use git::staging::{DiffHunk, FileDiff};
use text::{LineChange, MovedLines, RowSpan, moved_lines};

/// The side of a diff on which one end of a move lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoveEnd {
    /// The lines were removed here.
    Removed,
    /// The lines were added here.
    Added,
}

/// Moved lines of a part of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartMove {
    /// The end that lies in this part.
    pub(super) end: MoveEnd,
    /// The rows of this end: those of the base if it was removed here, else those of the work text.
    pub(super) rows: RowSpan,
    /// The file of the other end.
    pub(super) other_path: TreePath,
    /// The rows of the other end, on the other side.
    pub(super) other_rows: RowSpan,
}

impl PartMove {
    /// Returns the words about the other end, for a part of the file `path`.
    pub(super) fn label(&self, path: &TreePath) -> String {
        let direction = match self.end {
            MoveEnd::Removed => "to",
            MoveEnd::Added => "from",
        };
        let line = self.other_rows.start.0 + 1;
        let file = if self.other_path == *path {
            String::new()
        } else {
            format!(" of {}", self.other_path)
        };
        format!("Moved {direction} line {line}{file}")
    }
}

/// Returns the removed lines that moved, as indexes among the removed lines of a part.
pub(super) fn moved_away(shown: &DiffHunk, moves: &[PartMove]) -> Vec<Range<usize>> {
    let away = moves.iter().filter(|it| it.end == MoveEnd::Removed);
    let ranges = away.map(|it| {
        let index = |row: Row| row.0.saturating_sub(shown.base.start.0) as usize;
        index(it.rows.start)..index(it.rows.end)
    });
    ranges.collect()
}

/// A file with the parts of its hunks that are shown.
pub(super) type ShownParts = (Arc<FileDiff>, Vec<DiffHunk>);

/// Returns the moves of each part of each file.
pub(super) fn moves_of(files: &[ShownParts]) -> Vec<Vec<Vec<PartMove>>> {
    let texts = files.iter().map(|(diff, _)| {
        let base = String::from_utf8_lossy(&diff.base);
        (base, String::from_utf8_lossy(&diff.work))
    });
    let texts: Vec<_> = texts.collect();
    let mut places = Vec::new();
    let mut changes = Vec::new();
    for (file, ((_, parts), (base, work))) in files.iter().zip(&texts).enumerate() {
        let base: Vec<&str> = base.lines().collect();
        let work: Vec<&str> = work.lines().collect();
        for (part, hunk) in parts.iter().enumerate() {
            places.push((file, part));
            changes.push(LineChange {
                removed: lines_in(&base, hunk.base),
                added: lines_in(&work, hunk.work),
            });
        }
    }
    let none = |(_, parts): &ShownParts| vec![Vec::new(); parts.len()];
    let mut moves: Vec<Vec<Vec<PartMove>>> = files.iter().map(none).collect();
    for found in moved_lines(&changes) {
        let (from, to) = (places[found.from], places[found.to]);
        let [removed, added] = ends_of(files, (from, to), &found);
        moves[from.0][from.1].push(removed);
        moves[to.0][to.1].push(added);
    }
    let parts = moves.iter_mut().flatten();
    parts.for_each(|moves| moves.sort_by_key(|it| it.rows.start));
    moves
}

/// Returns both ends of a move between two parts, each the index of its file and its own.
fn ends_of(
    files: &[ShownParts],
    (from, to): ((usize, usize), (usize, usize)),
    found: &MovedLines,
) -> [PartMove; 2] {
    let hunk = |(file, part): (usize, usize)| &files[file].1[part];
    let path = |(file, _): (usize, usize)| files[file].0.path.clone();
    let removed = rows_at(hunk(from).base.start, &found.removed);
    let added = rows_at(hunk(to).work.start, &found.added);
    [
        PartMove {
            end: MoveEnd::Removed,
            rows: removed,
            other_path: path(to),
            other_rows: added,
        },
        PartMove {
            end: MoveEnd::Added,
            rows: added,
            other_path: path(from),
            other_rows: removed,
        },
    ]
}

fn rows_at(start: Row, lines: &Range<usize>) -> RowSpan {
    RowSpan {
        start: start + lines.start as u32,
        end: start + lines.end as u32,
    }
}

fn lines_in<'t>(lines: &[&'t str], rows: RowSpan) -> Vec<&'t str> {
    let rows = rows.start.0 as usize..rows.end.0 as usize;
    lines.get(rows).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use git::merge::{EntryMode, TreePath};
    use git::staging::{FileDiff, Side};

    use super::{ShownParts, moved_away, moves_of};

    const BLOCK: &str = "fn a() {\n    b();\n}\n";

    fn file(path: &str, base: &str, work: &str) -> ShownParts {
        let content = |text: &str| Some((EntryMode::Plain, text.as_bytes().to_vec()));
        let path = TreePath::new(path);
        let diff = FileDiff::of_contents(&path, Side::Unstaged, content(base), content(work));
        let hunks = diff.hunks.clone();
        (Arc::new(diff), hunks)
    }

    /// Returns the labels of all parts of all files.
    fn labels(files: &[ShownParts]) -> Vec<String> {
        let moves = moves_of(files);
        let labels = files.iter().zip(&moves).flat_map(|((diff, _), parts)| {
            let moves = parts.iter().flatten();
            moves.map(|it| it.label(&diff.path)).collect::<Vec<_>>()
        });
        labels.collect()
    }

    #[test]
    fn both_ends_of_a_move_name_the_other() {
        let base = format!("{BLOCK}one\ntwo\nthree\nfour\nfive\n");
        let work = format!("one\ntwo\nthree\nfour\nfive\n{BLOCK}");
        let files = [file("a", &base, &work)];
        assert_eq!(labels(&files), ["Moved to line 6", "Moved from line 1"]);
        let moves = moves_of(&files);
        assert_eq!(moved_away(&files[0].1[0], &moves[0][0]), vec![0..3; 1]);
        assert!(moved_away(&files[0].1[1], &moves[0][1]).is_empty());
    }

    #[test]
    fn lines_that_move_to_another_file_are_found() {
        let indented = "    fn a() {\n        b();\n    }\n";
        let files = [
            file("a", &format!("x\n{BLOCK}"), "x\n"),
            file("b", "y\n", &format!("y\nz\n{indented}")),
        ];
        let expected = ["Moved to line 3 of b", "Moved from line 2 of a"];
        assert_eq!(labels(&files), expected);
    }
}
