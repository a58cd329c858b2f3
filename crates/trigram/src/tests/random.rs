//! Seeded random texts, patterns and searches.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::FakeFiles;
use project::WalkBackend;
use project::search::{SearchEvent, SearchQuery, SearchScope, search};

/// A seeded sequence of numbers.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Few letters, so that repetitions occur, including some with unusual case folding.
const LETTERS: &[&str] = &[
    "a", "b", "k", "s", "A", "K", "S", "ſ", "\u{212a}", "é", "É", "ß", "_", " ", "1", "\n", "\r\n",
    "İ", "i", "I", "ı",
];

/// Returns a text of at most this many letters.
pub(crate) fn text(numbers: &mut Numbers, most: usize) -> String {
    let length = numbers.below(most) + 1;
    (0..length).map(|_| *numbers.one_of(LETTERS)).collect()
}

const ATOMS: &[&str] = &[
    "a",
    "b",
    "k",
    "s",
    "K",
    "ſ",
    "é",
    "ab",
    "abk",
    "sak",
    "ssk",
    ".",
    "\\w",
    "[ab]",
    "[^a]",
    "[a-s]",
    "\\s",
    "\\bk",
    "^",
    "$",
    "\\d",
    "(?i:ks)",
    "(?-i:Ks)",
    "\\pL",
    "\\u{212a}",
    "[kK]",
    "i",
    "İ",
];
const REPEATS: &[&str] = &[
    "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0}", "{5,6}",
];

/// Returns a pattern of some depth.
pub(crate) fn pattern(numbers: &mut Numbers, depth: usize) -> String {
    if depth == 0 {
        return (*numbers.one_of(ATOMS)).to_owned();
    }
    match numbers.below(7) {
        0 | 1 => (0..=numbers.below(3))
            .map(|_| pattern(numbers, depth - 1))
            .collect(),
        2 => format!(
            "({}|{})",
            pattern(numbers, depth - 1),
            pattern(numbers, depth - 1)
        ),
        3 => format!(
            "(?:{}){}",
            pattern(numbers, depth - 1),
            numbers.one_of(REPEATS)
        ),
        4 => format!("{}{}", numbers.one_of(ATOMS), numbers.one_of(REPEATS)),
        5 if numbers.below(4) == 0 => format!("{}\\n{}", pattern(numbers, 0), pattern(numbers, 0)),
        _ => pattern(numbers, depth - 1),
    }
}

/// Returns the number of matches of a search in each text; `None` if the pattern is invalid.
pub(crate) fn matches_in(query: &SearchQuery, texts: &[String]) -> Option<Vec<usize>> {
    let root = AbsPath::new("/texts").expect("absolute");
    let fake = FakeFiles::new();
    for (ix, text) in texts.iter().enumerate() {
        fake.write(&root.join(ix.to_string()), text.as_bytes());
    }
    let scope = SearchScope::new(WalkBackend::Listed(Arc::new(fake)), root.clone());
    let (sender, events) = async_channel::unbounded();
    search(query, &scope, &AtomicBool::new(false), &sender).ok()?;
    let mut counts = vec![0; texts.len()];
    while let Ok(event) = events.try_recv() {
        if let SearchEvent::File(file) = event {
            let ix: usize = file.path.name().parse().expect("a number");
            counts[ix] = file.rows.len().max(1);
        }
    }
    Some(counts)
}

/// Returns all results of a search in a fixed order.
pub(crate) fn found(query: &SearchQuery, scope: &SearchScope) -> BTreeSet<String> {
    let (sender, events) = async_channel::unbounded();
    let result = search(query, scope, &AtomicBool::new(false), &sender);
    let mut all = BTreeSet::new();
    all.extend(result.err().map(|error| error.to_string()));
    while let Ok(event) = events.try_recv() {
        match event {
            SearchEvent::File(file) => {
                all.insert(format!("{file:?}"));
            }
            SearchEvent::Problem(problem) => {
                all.insert(problem.0);
            }
            SearchEvent::Done(_) => {}
        }
    }
    all
}
