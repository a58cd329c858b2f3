//! Names that occur around the caret.

use base::Row;

use crate::EditorState;

/// Rows above and below the caret that are searched.
const ROWS: u32 = 10;
/// Maximum number of names returned.
const MAX_NAMES: usize = 24;
/// Shortest word that counts as a name, in bytes.
const SHORTEST: usize = 3;

/// Returns the identifiers in the rows around the caret, the nearest rows first, without duplicates
/// and bounded in number.
pub fn names_near(state: &EditorState) -> Vec<String> {
    let snapshot = &state.snapshot;
    let row = snapshot.point_at(state.caret).row;
    let last = snapshot.last_row();
    let mut names: Vec<String> = Vec::new();
    for distance in 0..=ROWS {
        let above = row.0.checked_sub(distance);
        let below = (distance > 0).then_some(row.0 + distance);
        for row in above.into_iter().chain(below).filter(|row| *row <= last.0) {
            for name in split_words(&snapshot.row_text(Row(row))) {
                if names.len() == MAX_NAMES {
                    return names;
                }
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
    }
    names
}

fn split_words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|ch: char| !(ch.is_alphanumeric() || ch == '_'));
    words.filter(|word| {
        word.len() >= SHORTEST && word.starts_with(|ch: char| ch.is_alphabetic() || ch == '_')
    })
}

#[cfg(test)]
mod tests;
