//! Lines that a diff removed in one place and added in another.
//!
//! Pure. Indentation does not count, so that a block that moved into another one is found. Lines that are frequent, such
//! as a closing bracket, belong to a move only beside rarer ones, which bounds the work.

use std::collections::HashMap;
use std::ops::Range;

/// Minimum number of lines with text in a move.
const MIN_LINES: usize = 3;
/// Number of visible characters that make fewer lines a move.
const MIN_CHARS: usize = 40;
/// Maximum number of added lines with the text of a removed one at which a move is looked for.
const MAX_PLACES: usize = 16;
/// Maximum number of changed lines among which moves are looked for.
const MAX_LINES: usize = 200_000;

/// The lines of one change of a diff, without their endings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineChange<'t> {
    /// The lines before.
    pub removed: Vec<&'t str>,
    /// The lines after.
    pub added: Vec<&'t str>,
}

/// Lines of one change that another change added again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedLines {
    /// Index of the change that removed the lines.
    pub from: usize,
    /// The lines among those that it removed.
    pub removed: Range<usize>,
    /// Index of the change that added the lines.
    pub to: usize,
    /// The lines among those that it added.
    pub added: Range<usize>,
}

/// The place of a line: its change, and its index in it.
type LinePlace = (usize, usize);

/// One side of all changes.
struct ChangedSide<'t> {
    /// The lines of each change, without blanks around them.
    lines: Vec<Vec<&'t str>>,
    /// Whether a line belongs to a move that was found.
    is_taken: Vec<Vec<bool>>,
}

impl<'t> ChangedSide<'t> {
    fn new<'c>(changes: impl Iterator<Item = &'c Vec<&'t str>>) -> Self
    where
        't: 'c,
    {
        let trimmed = changes.map(|lines| lines.iter().map(|line| line.trim()).collect());
        let lines: Vec<Vec<&str>> = trimmed.collect();
        let is_taken = lines.iter().map(|lines| vec![false; lines.len()]);
        Self {
            is_taken: is_taken.collect(),
            lines,
        }
    }

    /// Returns the text at a place; `None` outside of the change, and for a line that belongs to a move.
    fn free(&self, (change, line): LinePlace) -> Option<&'t str> {
        let is_taken = *self.is_taken.get(change)?.get(line)?;
        (!is_taken).then(|| self.lines[change][line])
    }

    fn take(&mut self, change: usize, lines: Range<usize>) {
        self.is_taken[change][lines].fill(true);
    }
}

/// Returns the moved blocks of a diff, each of which has at least three lines with text or forty visible characters, in the
/// order of their removed lines. No line belongs to two of them, and none moves within its own change.
pub fn moved_lines(changes: &[LineChange<'_>]) -> Vec<MovedLines> {
    let count = |change: &LineChange<'_>| change.removed.len() + change.added.len();
    if changes.iter().map(count).sum::<usize>() > MAX_LINES {
        return Vec::new();
    }
    let mut removed = ChangedSide::new(changes.iter().map(|change| &change.removed));
    let mut added = ChangedSide::new(changes.iter().map(|change| &change.added));
    let places = places_of(&added);
    let mut moves = Vec::new();
    for (change, lines) in changes.iter().enumerate() {
        for line in 0..lines.removed.len() {
            let found = longest_at((change, line), &removed, &added, &places);
            if let Some(found) = found {
                removed.take(found.from, found.removed.clone());
                added.take(found.to, found.added.clone());
                moves.push(found);
            }
        }
    }
    moves.sort_by_key(|it| (it.from, it.removed.start));
    moves
}

/// Returns the places of each text among the added lines.
fn places_of<'t>(added: &ChangedSide<'t>) -> HashMap<&'t str, Vec<LinePlace>> {
    let mut places: HashMap<&str, Vec<LinePlace>> = HashMap::new();
    for (change, lines) in added.lines.iter().enumerate() {
        for (line, text) in lines.iter().copied().enumerate() {
            if !text.is_empty() {
                places.entry(text).or_default().push((change, line));
            }
        }
    }
    places
}

/// Returns the longest move that contains a removed line, if it is large enough.
fn longest_at(
    from: LinePlace,
    removed: &ChangedSide<'_>,
    added: &ChangedSide<'_>,
    places: &HashMap<&str, Vec<LinePlace>>,
) -> Option<MovedLines> {
    let places = places.get(removed.free(from)?)?;
    if places.len() > MAX_PLACES {
        return None;
    }
    let targets = places.iter().filter(|(change, _)| *change != from.0);
    let targets = targets.filter(|to| added.free(**to).is_some());
    let found = targets.map(|to| extended(from, *to, removed, added));
    // The first of several that are equally long.
    let longest = found.rev().max_by_key(|it| it.removed.len())?;
    let lines = &removed.lines[longest.from][longest.removed.clone()];
    is_large(lines).then_some(longest)
}

/// Extends a pair of equal lines in both directions, and drops blank lines at the ends.
fn extended(
    from: LinePlace,
    to: LinePlace,
    removed: &ChangedSide<'_>,
    added: &ChangedSide<'_>,
) -> MovedLines {
    let is_same = |one: Option<usize>, two: Option<usize>| {
        let one = one.and_then(|line| removed.free((from.0, line)));
        let two = two.and_then(|line| added.free((to.0, line)));
        one.is_some() && one == two
    };
    let (mut before, mut after) = (0, 1);
    while is_same(from.1.checked_sub(before + 1), to.1.checked_sub(before + 1)) {
        before += 1;
    }
    while is_same(Some(from.1 + after), Some(to.1 + after)) {
        after += 1;
    }
    let lines = &removed.lines[from.0];
    while lines[from.1 - before].is_empty() {
        before -= 1;
    }
    while lines[from.1 + after - 1].is_empty() {
        after -= 1;
    }
    MovedLines {
        from: from.0,
        removed: from.1 - before..from.1 + after,
        to: to.0,
        added: to.1 - before..to.1 + after,
    }
}

fn is_large(lines: &[&str]) -> bool {
    let visible = lines.iter().filter(|line| !line.is_empty());
    let chars = |line: &&str| line.chars().filter(|it| !it.is_whitespace()).count();
    visible.count() >= MIN_LINES || lines.iter().map(chars).sum::<usize>() >= MIN_CHARS
}

#[cfg(test)]
mod tests;
