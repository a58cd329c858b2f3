//! The names around the caret.

use base::Row;

use crate::Scene;

/// Rows above and below the caret that are looked at.
const ROWS: u32 = 10;
/// The most names.
const MOST: usize = 24;
/// Shorter words are hardly names worth looking up.
const SHORTEST: usize = 3;

/// The names in the rows around the caret, those of the nearest rows first, none twice.
pub fn names_near(scene: &Scene) -> Vec<String> {
    let snapshot = &scene.snapshot;
    let row = snapshot.point_at(scene.caret).row;
    let last = snapshot.last_row();
    let mut names: Vec<String> = Vec::new();
    for distance in 0..=ROWS {
        let above = row.0.checked_sub(distance);
        let below = (distance > 0).then_some(row.0 + distance);
        for row in above.into_iter().chain(below).filter(|row| *row <= last.0) {
            for name in words(&snapshot.row_text(Row(row))) {
                if names.len() == MOST {
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

fn words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|ch: char| !(ch.is_alphanumeric() || ch == '_'));
    words.filter(|word| {
        word.len() >= SHORTEST && word.starts_with(|ch: char| ch.is_alphabetic() || ch == '_')
    })
}

#[cfg(test)]
mod tests;
