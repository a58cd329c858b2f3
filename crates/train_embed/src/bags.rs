//! Texts as weighted bags of tokens, the only form in which the table sees a text.

use index::embedding::{DIMS, each_weighed};
use index::wordpiece::Vocabulary;
use index::words::MAX_IDENTIFIER_BYTES;

use super::mine::Pair;

/// Texts as bags of weighted tokens, by their number.
#[derive(Default)]
pub(super) struct Bags {
    entries: Vec<(u32, f32)>,
    ends: Vec<usize>,
}

impl Bags {
    /// Reads the texts in order; their numbers start at 0.
    pub(super) fn new<'a>(vocabulary: &Vocabulary, texts: impl Iterator<Item = &'a str>) -> Self {
        let mut bags = Self::default();
        for text in texts {
            bags.push(vocabulary, text);
        }
        bags
    }

    /// Adds a text, which gets the next number.
    pub(super) fn push(&mut self, vocabulary: &Vocabulary, text: &str) {
        each_weighed(vocabulary, text, |token, weight| {
            self.entries.push((token, weight as f32 / 16.0))
        });
        self.ends.push(self.entries.len());
    }

    /// Returns the number of texts.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the distinct tokens of a text and their weights, in numerical order of the tokens;
    /// panics for an unknown number.
    pub(super) fn get(&self, number: usize) -> &[(u32, f32)] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[number]]
    }
}

/// Sets `out` to the weighted sum of the table's rows for the tokens of a text.
pub(super) fn sum(table: &[f32], bag: &[(u32, f32)], out: &mut [f32]) {
    out.fill(0.0);
    for (token, weight) in bag {
        let row = &table[*token as usize * DIMS..][..DIMS];
        out.iter_mut()
            .zip(row)
            .for_each(|(sum, number)| *sum += weight * number);
    }
}

/// Scales `numbers` to length one and returns their previous length, at least 1e-6.
pub(super) fn unit(numbers: &mut [f32]) -> f32 {
    let length = numbers
        .iter()
        .map(|number| number * number)
        .sum::<f32>()
        .sqrt()
        .max(1e-6);
    numbers.iter_mut().for_each(|number| *number /= length);
    length
}

/// Returns the code of a pair with each whole occurrence of the function's name replaced by `fn_x`,
/// because the name reveals the function too easily.
pub(super) fn masked(pair: &Pair) -> String {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut code = String::with_capacity(pair.code.len());
    let mut rest = pair.code.as_str();
    while let Some(at) = rest
        .find(&pair.name)
        .filter(|_| !pair.name.is_empty() && pair.name.len() < MAX_IDENTIFIER_BYTES)
    {
        let (before, after) = (&rest[..at], &rest[at + pair.name.len()..]);
        let is_whole = !before.ends_with(is_name) && !after.starts_with(is_name);
        code.push_str(before);
        code.push_str(if is_whole { "fn_x" } else { &pair.name });
        rest = after;
    }
    code.push_str(rest);
    code
}

#[cfg(test)]
mod tests {
    use super::masked;
    use crate::mine::Pair;

    #[test]
    fn a_masked_function_does_not_say_its_name() {
        let pair = |name: &str, code: &str| Pair {
            query: String::new(),
            name: name.to_owned(),
            code: code.to_owned(),
            path: String::new(),
            package: String::new(),
        };
        assert_eq!(
            masked(&pair("read", "fn read() { reads(); read_all(); a.read() }")),
            "fn fn_x() { reads(); read_all(); a.fn_x() }"
        );
        assert_eq!(masked(&pair("", "x")), "x");
    }
}
