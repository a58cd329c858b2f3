//! "Did you mean": finds the known word nearest to an unknown one.

/// Returns the candidate nearest to `word` by edit distance, ignoring case and separators; `None`
/// if none is close enough to be a typing error.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = fold(word);
    let allowed = (plain.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (distance(&plain, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns `; did you mean "x"?` with the nearest candidate, to append to a message; empty if there
/// is none.
pub(crate) fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates)
        .map_or_else(String::new, |found| format!("; did you mean \"{found}\"?"))
}

/// Normalises a word so that camelCase, kebab-case and snake_case are equal.
fn fold(word: &str) -> String {
    word.chars()
        .filter(|char| char.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns the Levenshtein distance in chars, using one row of memory.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, left_char) in left.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, right_char) in right.iter().enumerate() {
            let substitution = diagonal + usize::from(left_char != *right_char);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests;
