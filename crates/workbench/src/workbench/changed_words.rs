//! Word-level differences within a change, for the diffs of Git and the review of agents' changes.
//!
//! Pure. Invariant: a line that is new or gone as a whole has no marked words, and neither has a
//! change whose sides have little in common.

use std::ops::Range;

use base::{Row, Span};
use text::{Snapshot, Splice, diff_words};

/// Maximum bytes of both sides of a change that are compared word by word.
const MAX_BYTES: usize = 16 * 1024;

/// The treatment of changes of white space alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WhitespaceChanges {
    /// They are changes like others.
    #[default]
    Shown,
    /// They are left out.
    Ignored,
}

/// The differing words of a change, as byte ranges of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedWords {
    /// One list for each removed line; empty if no words are marked.
    removed: Vec<Vec<Range<usize>>>,
    /// One list for each added line; empty if no words are marked.
    added: Vec<Vec<Range<usize>>>,
}

impl ChangedWords {
    /// Returns the words of the removed line with this index.
    pub(super) fn removed_in(&self, ix: usize) -> &[Range<usize>] {
        self.removed.get(ix).map_or(&[], Vec::as_slice)
    }

    /// Returns the spans of the added words in a text in which the added lines begin at the row `first`.
    pub(super) fn added_spans(&self, snapshot: &Snapshot, first: Row) -> Vec<Span> {
        spans_of(&self.added, snapshot, first)
    }

    /// Returns the spans of the removed words in a text in which the removed lines begin at the row `first`.
    pub(super) fn removed_spans(&self, snapshot: &Snapshot, first: Row) -> Vec<Span> {
        spans_of(&self.removed, snapshot, first)
    }
}

/// Returns the spans of the words of lines that begin at the row `first` of a text.
fn spans_of(lines: &[Vec<Range<usize>>], snapshot: &Snapshot, first: Row) -> Vec<Span> {
    let mut spans = Vec::new();
    for (words, row) in lines.iter().zip(first.0..snapshot.row_count()) {
        if words.is_empty() {
            continue;
        }
        let start = snapshot.row_start(Row(row));
        let text = snapshot.row_text(Row(row));
        // An edit may have shortened the row.
        let words = words
            .iter()
            .filter(|word| text.get((*word).clone()).is_some());
        spans.extend(words.map(|word| Span::new(start + word.start, start + word.end)));
    }
    spans
}

/// Compares the lines of a change, without their endings, word by word.
pub(super) fn changed_words(
    before: &[&str],
    after: &[&str],
    whitespace: WhitespaceChanges,
) -> ChangedWords {
    let (old, new) = (before.join("\n"), after.join("\n"));
    if before.is_empty() || after.is_empty() || old.len() + new.len() > MAX_BYTES {
        return ChangedWords::default();
    }
    let splices = diff_words(&old, &new);
    if !has_enough_in_common(&old, &new, &splices) {
        return ChangedWords::default();
    }
    let removed = splices.iter().map(|splice| splice.old.range());
    let added = splices.iter().map(|splice| splice.new.range());
    ChangedWords {
        removed: words_by_line(before, removed, whitespace),
        added: words_by_line(after, added, whitespace),
    }
}

/// Returns whether at least half of the visible characters of the shorter side are in both.
fn has_enough_in_common(old: &str, new: &str, splices: &[Splice]) -> bool {
    let visible = |text: &str| text.bytes().filter(|it| !it.is_ascii_whitespace()).count();
    let gone: usize = splices
        .iter()
        .map(|splice| visible(&old[splice.old.range()]))
        .sum();
    let (before, after) = (visible(old), visible(new));
    let common = before.saturating_sub(gone);
    common > 0 && 2 * common >= before.min(after)
}

/// Divides sorted ranges of the joined lines among the lines.
fn words_by_line(
    lines: &[&str],
    changed: impl Iterator<Item = Range<usize>>,
    whitespace: WhitespaceChanges,
) -> Vec<Vec<Range<usize>>> {
    let mut changed = changed.peekable();
    let mut start = 0;
    let words = lines.iter().map(|line| {
        let end = start + line.len();
        let mut words = Vec::new();
        while let Some(range) = changed.peek().cloned() {
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to {
                add_word(&mut words, line, from - start..to - start, whitespace);
            }
            // The rest of the range belongs to the lines below.
            if range.end > end + 1 {
                break;
            }
            changed.next();
        }
        start = end + 1;
        if is_whole(line, &words) {
            words.clear();
        }
        words
    });
    words.collect()
}

fn add_word(
    words: &mut Vec<Range<usize>>,
    line: &str,
    word: Range<usize>,
    whitespace: WhitespaceChanges,
) {
    let is_blank = |range: Range<usize>| line[range].trim().is_empty();
    if whitespace == WhitespaceChanges::Ignored && is_blank(word.clone()) {
        return;
    }
    match words.last_mut() {
        // Words with only blanks between them are one.
        Some(last) if is_blank(last.end..word.start) => last.end = word.end,
        _ => words.push(word),
    }
}

/// Returns whether the words cover all of a line but its blanks.
fn is_whole(line: &str, words: &[Range<usize>]) -> bool {
    let [word] = words else {
        return false;
    };
    line[..word.start].trim().is_empty() && line[word.end..].trim().is_empty()
}

#[cfg(test)]
mod tests {
    use base::{Row, Span};
    use text::Snapshot;

    use super::{ChangedWords, WhitespaceChanges, changed_words};

    /// Returns the marked words of both sides, joined by bars.
    fn marked(before: &[&str], after: &[&str], whitespace: WhitespaceChanges) -> [String; 2] {
        let words = changed_words(before, after, whitespace);
        let text = |lines: &[&str], words: &[Vec<std::ops::Range<usize>>]| {
            let pairs = lines.iter().zip(words);
            let marked = pairs.flat_map(|(line, words)| words.iter().map(|it| &line[it.clone()]));
            marked.collect::<Vec<_>>().join("|")
        };
        [text(before, &words.removed), text(after, &words.added)]
    }

    #[track_caller]
    fn check(before: &[&str], after: &[&str], expected: [&str; 2]) {
        assert_eq!(
            marked(before, after, WhitespaceChanges::Shown),
            expected.map(str::to_owned)
        );
    }

    #[test]
    fn words_of_changed_lines_are_marked() {
        check(
            &["let a = old(1);"],
            &["let b = new(1);"],
            ["a|old", "b|new"],
        );
        check(&["f(a)"], &["f(a, b)"], ["", ", b"]);
        // A new line has no marked words, the changed one has.
        check(&["call(one)"], &["call(two)", "x = y + z"], ["one", "two"]);
    }

    #[test]
    fn unlike_lines_and_one_sided_changes_have_no_words() {
        check(&["let a = f(b);"], &["return x + y * 2"], ["", ""]);
        check(&[], &["new"], ["", ""]);
        check(&["gone"], &[], ["", ""]);
        let long = "word ".repeat(10_000);
        let longer = format!("{long}x");
        check(&[long.as_str()], &[longer.as_str()], ["", ""]);
    }

    #[test]
    fn ignored_white_space_is_not_marked() {
        let (before, after) = (["if a { b }"], ["    if a  { c }"]);
        let all = marked(&before, &after, WhitespaceChanges::Shown);
        assert_eq!(all[0], " |b");
        let words = marked(&before, &after, WhitespaceChanges::Ignored);
        assert_eq!(words, ["b".to_owned(), "c".to_owned()]);
    }

    #[test]
    fn words_have_their_places_in_the_text() {
        let words = changed_words(&["ab x"], &["ab yy"], WhitespaceChanges::Shown);
        let text = Snapshot::new("first\nab yy\n");
        assert_eq!(words.added_spans(&text, Row(1)), [Span::from(9..11)]);
        let before = Snapshot::new("ab x\n");
        assert_eq!(words.removed_spans(&before, Row(0)), [Span::from(3..4)]);
        // The row was shortened meanwhile.
        let text = Snapshot::new("first\nab\n");
        assert!(words.added_spans(&text, Row(1)).is_empty());
        assert!(ChangedWords::default().removed_in(3).is_empty());
    }
}
