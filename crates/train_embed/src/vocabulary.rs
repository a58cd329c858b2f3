//! Chooses the tokens of the table: MiniLM's tokens that occur in words, and frequent names in code.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use index::embedding::DIMS;
use index::wordpiece::Vocabulary;
use index::words::{self, SplitWord};

use super::error::Error;
use super::mine::{Pairs, Side};

/// Maximum size of the table with its tokens, in bytes.
const MOST_BYTES: usize = 9_960_000;
/// Approximate size of a token: its header, its spelling beyond the previous token's, and its row.
const BYTES_A_TOKEN: usize = DIMS + 7;
/// Minimum number of functions, and of packages, in which a name must occur to become a token.
const FEWEST_OF_WORD: u32 = 6;
const FEWEST_OF_COMPOUND: u32 = 12;
const FEWEST_PACKAGES: u32 = 3;
/// MiniLM's tokens are sorted by frequency. This many are kept even if they do not occur in code, since queries
/// may contain them.
const COMMON: usize = 16_000;
const FEWEST_OF_RARE: u32 = 2;

const FILE: &str = "vocabulary.txt";

#[derive(Clone, Copy, Default)]
struct Count {
    functions: u32,
    packages: u32,
    last_package: u32,
    last_function: u32,
}

/// Reads the tokens that `run` wrote, sorted, each with its count in the training pairs. Unreadable
/// lines are left out.
pub(super) fn read(folder: &Path) -> Result<Vec<(String, u32)>, Error> {
    let path = folder.join(FILE);
    let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    let rows = text.lines().filter_map(|line| line.split_once('\t'));
    Ok(rows
        .filter_map(|(token, count)| Some((token.to_owned(), count.parse().ok()?)))
        .collect())
}

/// Chooses the tokens of the table (MiniLM's that occur, frequent words and compounds) within its
/// maximum size, and writes them with their counts to `folder`.
pub(super) fn run(pairs: &Pairs, base: &Vocabulary, folder: &Path) -> Result<(), Error> {
    let (simple, compound) = counts(pairs);
    let new = |counts: &BTreeMap<String, Count>, fewest: u32, is_known: &dyn Fn(&str) -> bool| {
        let good = |count: &Count| count.functions >= fewest && count.packages >= FEWEST_PACKAGES;
        let names = counts
            .iter()
            .filter(|(name, count)| good(count) && name.len() < 40 && !is_known(name));
        names
            .map(|(name, count)| (name.clone(), count.functions))
            .collect::<Vec<_>>()
    };
    let words = new(&simple, FEWEST_OF_WORD, &|name| {
        base.whole_token(name).is_some()
    });
    let mut compounds = new(&compound, FEWEST_OF_COMPOUND, &|name| {
        base.whole_token(name).is_some()
    });
    compounds.sort_by_key(|(name, count)| (u32::MAX - count, name.clone()));
    let mut tokens: BTreeSet<String> = words.iter().map(|(name, _)| name.clone()).collect();
    let fresh = tokens.len();
    tokens.extend(met(base, &words, &simple));
    let kept = tokens.len() - fresh;
    let room = (MOST_BYTES / BYTES_A_TOKEN).saturating_sub(tokens.len());
    tokens.extend(compounds.into_iter().take(room).map(|(name, _)| name));
    eprintln!(
        "{} tokens: {kept} of MiniLM, {fresh} words, {} compounds",
        tokens.len(),
        tokens.len() - kept - fresh
    );
    let counted = used(&tokens, &simple, &compound);
    let text: String = tokens
        .iter()
        .zip(counted)
        .map(|(token, count)| format!("{token}\t{count}\n"))
        .collect();
    let path = folder.join(FILE);
    std::fs::write(&path, text).map_err(Error::io("write", &path))
}

/// Counts the functions and packages that contain each simple word or part, and each compound.
fn counts(pairs: &Pairs) -> (BTreeMap<String, Count>, BTreeMap<String, Count>) {
    let mut simple = HashMap::<String, Count>::new();
    let mut compound = HashMap::<String, Count>::new();
    let mut packages = HashMap::new();
    let pairs = pairs.iter().filter(|((side, _), _)| *side == Side::Train);
    for (function, pair) in (1_u32..).zip(pairs.flat_map(|(_, pairs)| pairs)) {
        let next = packages.len() as u32 + 1;
        let package = *packages.entry(&pair.package).or_insert(next);
        for text in [&pair.query, &pair.code] {
            words::each(text, index::embedding::MAX_WORDS, |word| {
                let (counts, name) = match word {
                    SplitWord::Whole {
                        text,
                        is_compound: true,
                    } => (&mut compound, text),
                    SplitWord::Whole { text, .. } | SplitWord::Part(text) => (&mut simple, text),
                };
                if !counts.contains_key(name) {
                    counts.insert(name.to_owned(), Count::default());
                }
                let Some(count) = counts.get_mut(name) else {
                    return;
                };
                count.functions += u32::from(count.last_function != function);
                count.packages += u32::from(count.last_package != package);
                (count.last_function, count.last_package) = (function, package);
            });
        }
    }
    (simple.into_iter().collect(), compound.into_iter().collect())
}

/// Returns the tokens of MiniLM that are still worth a row beside the new words.
fn met(
    base: &Vocabulary,
    words: &[(String, u32)],
    simple: &BTreeMap<String, Count>,
) -> Vec<String> {
    let new: BTreeSet<&str> = words.iter().map(|(name, _)| name.as_str()).collect();
    let mut counts = vec![0; base.len()];
    for (word, count) in simple
        .iter()
        .filter(|(word, _)| !new.contains(word.as_str()))
    {
        base.split_word(word, &mut |token| counts[token as usize] += count.functions);
    }
    let is_plain = |token: &str| {
        let letters = token.strip_prefix("##").unwrap_or(token);
        !letters.is_empty()
            && letters
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let keeps = |token: &u32| {
        let spelt = base.spelling(*token);
        let is_common = (*token as usize) < COMMON && !spelt.starts_with("##");
        let is_short = spelt.trim_start_matches('#').len() <= 2;
        is_plain(spelt) && (is_common || is_short || counts[*token as usize] >= FEWEST_OF_RARE)
    };
    (0..base.len() as u32)
        .filter(keeps)
        .map(|token| base.spelling(token).to_owned())
        .collect()
}

/// Returns the number of functions in which each token occurs.
fn used(
    tokens: &BTreeSet<String>,
    simple: &BTreeMap<String, Count>,
    compound: &BTreeMap<String, Count>,
) -> Vec<u32> {
    let vocabulary = Vocabulary::new(tokens.iter().map(String::as_str));
    let mut counts = vec![0; vocabulary.len()];
    for (word, count) in simple {
        vocabulary.split_word(word, &mut |token| counts[token as usize] += count.functions);
    }
    for (word, count) in compound {
        if let Some(token) = vocabulary.whole_token(word) {
            counts[token as usize] += count.functions;
        }
    }
    counts
}
