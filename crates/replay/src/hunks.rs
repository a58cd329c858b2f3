//! The changes of a file in a commit as hunks that are applied in turn.

use base::{ByteOffset, Span};
use text::Snapshot;

/// A replacement in the text with all earlier hunks applied.
#[derive(Clone, Debug)]
pub struct Hunk {
    /// Replaced span, without the common prefix and suffix.
    pub old: Span,
    /// New text of the span.
    pub new: String,
    /// Rows of the old text, the second one exclusive; for an insertion, the row before it.
    pub rows: (u32, u32),
    /// New rows.
    pub new_rows: Vec<String>,
    /// Old rows.
    pub old_rows: Vec<String>,
}

/// Returns the hunks between two texts, from the top.
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let (before, after) = (Snapshot::new(old), Snapshot::new(new));
    let mut shift_bytes = 0_isize;
    let mut shift_rows = 0_i64;
    let mut hunks = Vec::new();
    for rows in before.diff_rows(&after) {
        let (from, to) = (before.span_of(rows.before), after.span_of(rows.after));
        let (gone, come) = (before.text(from).into_owned(), after.text(to).into_owned());
        let start = from.start.0.saturating_add_signed(shift_bytes);
        let first = (i64::from(rows.before.start.0) + shift_rows).max(0) as u32;
        let head = alike(gone.chars(), come.chars());
        let (short_gone, short_come) = (&gone[head..], &come[head..]);
        let tail = alike(short_gone.chars().rev(), short_come.chars().rev());
        let end = gone.len() - tail;
        hunks.push(Hunk {
            old: Span::new(ByteOffset(start + head), ByteOffset(start + end)),
            new: come[head..come.len() - tail].to_owned(),
            rows: match rows.before.len() {
                0 => (first.saturating_sub(1), first.max(1)),
                count => (first, first + count),
            },
            new_rows: come.lines().map(str::to_owned).collect(),
            old_rows: gone.lines().map(str::to_owned).collect(),
        });
        shift_bytes += come.len() as isize - gone.len() as isize;
        shift_rows += i64::from(rows.after.len()) - i64::from(rows.before.len());
    }
    hunks
}

fn alike(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    let same = a.zip(b).take_while(|(a, b)| a == b);
    same.map(|(ch, _)| ch.len_utf8()).sum()
}

impl Hunk {
    /// Returns the changed tokens of each row, before and after; empty if rows were added or removed.
    pub fn row_changes(&self) -> Vec<(Vec<String>, Vec<String>)> {
        if self.old_rows.len() != self.new_rows.len() {
            return Vec::new();
        }
        let rows = self.old_rows.iter().zip(&self.new_rows);
        rows.filter_map(|(old, new)| {
            let (old, new) = (tokens(old), tokens(new));
            let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let (old, new) = (&old[start..], &new[start..]);
            let end = old
                .iter()
                .rev()
                .zip(new.iter().rev())
                .take_while(|(a, b)| a == b)
                .count();
            let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
            (old != new).then(|| (old.to_vec(), new.to_vec()))
        })
        .collect()
    }
}

/// Splits a row into words and single characters.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for ch in text.chars() {
        let is_word = ch.is_alphanumeric() || ch == '_';
        match tokens.last_mut() {
            Some(last) if is_word && in_word => last.push(ch),
            _ if ch.is_whitespace() => {}
            _ => tokens.push(ch.to_string()),
        }
        in_word = is_word;
    }
    tokens
}
