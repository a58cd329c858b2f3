//! The parts of a file's hunks that a diff shows, with changed words and syntax highlights.
//!
//! Pure. Takes time proportional to the file, so it runs on a background thread.
//! Invariant: a part lies within one hunk of the true diff, which is what gets staged.

use std::sync::Arc;

use base::Row;
use git::staging::{DiffHunk, FileDiff};
use text::{RowSpan, diff_lines_for_display};

use super::moved_parts::PartMove;
use crate::workbench::changed_words::{ChangedWords, WhitespaceChanges, changed_words};
use crate::workbench::removed_lines::{LineKinds, ParsedBase};

/// A part of a hunk that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HunkPart {
    /// The hunk of the true diff.
    pub(super) hunk: DiffHunk,
    /// The rows that are shown: those of the hunk, or those that differ by more than white space.
    pub(super) shown: DiffHunk,
    /// The words that differ in these rows.
    pub(super) words: Arc<ChangedWords>,
    /// The syntax highlights of each removed line; empty if they are not known.
    pub(super) kinds: Arc<[LineKinds]>,
    /// Its lines that moved; `moved_parts` finds them once all files of the diff are known.
    pub(super) moves: Arc<[PartMove]>,
}

/// Returns the parts of all hunks, in order.
pub(super) fn hunk_parts(diff: &FileDiff, whitespace: WhitespaceChanges) -> Vec<HunkPart> {
    let (base, work) = (
        String::from_utf8_lossy(&diff.base),
        String::from_utf8_lossy(&diff.work),
    );
    let removes = diff.hunks.iter().any(|hunk| !hunk.base.is_empty());
    let path = diff.path.to_path();
    let parsed = removes.then(|| ParsedBase::new(&path, &base)).flatten();
    let base: Vec<&str> = base.split_inclusive('\n').collect();
    let work: Vec<&str> = work.split_inclusive('\n').collect();
    let parts = diff.hunks.iter().flat_map(|hunk| {
        let shown = match whitespace {
            WhitespaceChanges::Shown => vec![*hunk],
            WhitespaceChanges::Ignored => visible_parts(hunk, &base, &work),
        };
        let (base, work, parsed) = (&base, &work, &parsed);
        shown.into_iter().map(move |shown| {
            let removed = without_endings(lines_in(base, shown.base));
            let added = without_endings(lines_in(work, shown.work));
            HunkPart {
                hunk: *hunk,
                shown,
                words: Arc::new(changed_words(&removed, &added, whitespace)),
                kinds: parsed
                    .as_ref()
                    .map_or_else(Vec::new, |it| it.kinds_in(shown.base))
                    .into(),
                moves: Arc::from([]),
            }
        })
    });
    parts.collect()
}

/// Returns the parts of a hunk whose lines differ by more than white space.
fn visible_parts(hunk: &DiffHunk, base: &[&str], work: &[&str]) -> Vec<DiffHunk> {
    let old = without_blanks(lines_in(base, hunk.base));
    let new = without_blanks(lines_in(work, hunk.work));
    let (old_lines, new_lines) = (as_slices(&old), as_slices(&new));
    let parts = diff_lines_for_display(&old_lines, &new_lines).into_iter();
    let is_visible = |lines: &[Vec<u8>], rows: RowSpan| {
        let rows = rows.start.0 as usize..rows.end.0 as usize;
        lines[rows].iter().any(|line| !line.is_empty())
    };
    let parts = parts.filter(|part| is_visible(&old, part.before) || is_visible(&new, part.after));
    let parts = parts.map(|part| DiffHunk {
        base: moved(part.before, hunk.base.start),
        work: moved(part.after, hunk.work.start),
    });
    parts.collect()
}

fn moved(rows: RowSpan, by: Row) -> RowSpan {
    RowSpan {
        start: Row(by.0 + rows.start.0),
        end: Row(by.0 + rows.end.0),
    }
}

fn lines_in<'l, 't>(lines: &'l [&'t str], rows: RowSpan) -> &'l [&'t str] {
    let rows = rows.start.0 as usize..rows.end.0 as usize;
    lines.get(rows).unwrap_or_default()
}

fn without_endings<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let lines = lines.iter();
    lines
        .map(|line| line.trim_end_matches(['\n', '\r']))
        .collect()
}

/// Returns the lines without any white space.
fn without_blanks(lines: &[&str]) -> Vec<Vec<u8>> {
    let visible = |line: &&str| {
        let bytes = line.bytes().filter(|byte| !byte.is_ascii_whitespace());
        bytes.collect::<Vec<u8>>()
    };
    lines.iter().map(visible).collect()
}

fn as_slices(lines: &[Vec<u8>]) -> Vec<&[u8]> {
    lines.iter().map(Vec::as_slice).collect()
}

#[cfg(test)]
mod tests {
    use git::merge::{EntryMode, TreePath};
    use git::staging::{FileDiff, Side};

    use super::hunk_parts;
    use crate::workbench::changed_words::WhitespaceChanges;

    fn diff(base: &str, work: &str) -> FileDiff {
        let content = |text: &str| Some((EntryMode::Plain, text.as_bytes().to_vec()));
        let path = TreePath::new("a");
        FileDiff::of_contents(&path, Side::Unstaged, content(base), content(work))
    }

    /// Returns the rows of the parts: those of the base, those of the work text.
    fn parts(base: &str, work: &str, whitespace: WhitespaceChanges) -> Vec<[(u32, u32); 2]> {
        let parts = hunk_parts(&diff(base, work), whitespace).into_iter();
        let rows = parts
            .map(|part| [part.shown.base, part.shown.work].map(|rows| (rows.start.0, rows.end.0)));
        rows.collect()
    }

    #[test]
    fn all_hunks_are_shown_whole() {
        let (base, work) = ("a\nb\nc\n", " a\nb\nC\n");
        let shown = parts(base, work, WhitespaceChanges::Shown);
        assert_eq!(shown, [[(0, 1), (0, 1)], [(2, 3), (2, 3)]]);
    }

    #[test]
    fn changes_of_white_space_alone_are_left_out() {
        let ignored = WhitespaceChanges::Ignored;
        let rows = parts("a\nb\nc\n", " a\nb\nC\n", ignored);
        assert_eq!(rows, [[(2, 3), (2, 3)]]);
        assert!(parts("a\nb\n", "a\n\n\tb\n", ignored).is_empty());
        // One hunk in which only the middle line differs by more.
        let rows = parts("a\nb\nc\n", " a\n B\n c\n", ignored);
        assert_eq!(rows, [[(1, 2), (1, 2)]]);
    }

    #[test]
    fn a_part_knows_its_hunk_of_the_true_diff() {
        let diff = diff("a\nb\nc\n", " a\n B\n c\n");
        let parts = hunk_parts(&diff, WhitespaceChanges::Ignored);
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].hunk, diff.hunks[0]);
        assert_eq!(parts[0].hunk.work.len(), 3);
    }
}
