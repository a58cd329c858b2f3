//! Finds nearly equal functions by the runs of five words that they share.

use std::collections::{HashMap, HashSet};

use super::{Language, Pairs, Side};

const RUN: usize = 5;
/// One of this many runs is used. The hash of a run decides, so that twins keep the same runs.
const SAMPLE: u64 = 2;
/// Minimum share of common runs at which two functions are twins.
const SHARE: f64 = 0.6;

/// Drops functions of later sides that nearly equal one of an earlier side, so that training does
/// not see measured functions.
pub(super) fn drop_near(pairs: &mut Pairs, language: Language) {
    let mut known: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut sizes = Vec::new();
    for side in Side::ALL {
        let Some(pairs) = pairs.get_mut(&(side, language)) else {
            continue;
        };
        let all: Vec<HashSet<u64>> = pairs.iter().map(|pair| runs(&pair.code)).collect();
        let mut number = 0;
        pairs.retain(|_| {
            number += 1;
            !is_near(&all[number - 1], &known, &sizes)
        });
        if side != Side::Train {
            for runs in all {
                let name = sizes.len() as u32;
                runs.iter()
                    .for_each(|run| known.entry(*run).or_default().push(name));
                sizes.push(runs.len());
            }
        }
    }
}

/// Returns whether a known function shares at least three runs with `runs`, and at least `SHARE` of
/// the runs of the shorter function. `sizes` has the number of runs of each known function.
fn is_near(runs: &HashSet<u64>, known: &HashMap<u64, Vec<u32>>, sizes: &[usize]) -> bool {
    let mut shared: HashMap<u32, usize> = HashMap::new();
    for other in runs.iter().filter_map(|run| known.get(run)).flatten() {
        *shared.entry(*other).or_default() += 1;
    }
    shared.iter().any(|(other, count)| {
        let fewer = runs.len().min(sizes[*other as usize]);
        *count >= 3 && *count as f64 >= SHARE * fewer as f64
    })
}

/// Returns the hashes of a sample of the runs of words in the beginning of `code`.
fn runs(code: &str) -> HashSet<u64> {
    let mut words = Vec::new();
    index::words::each(code, 600, |word| {
        if let index::words::SplitWord::Whole { text, .. } = word {
            words.push(hash(text.as_bytes(), 0xcbf2_9ce4_8422_2325));
        }
    });
    let run = |run: &[u64]| {
        run.iter().fold(0x9e37_79b9_7f4a_7c15, |seed, word| {
            hash(&word.to_le_bytes(), seed)
        })
    };
    words
        .windows(RUN)
        .map(run)
        .filter(|run| run % SAMPLE == 0)
        .collect()
}

/// FNV-1a, so that the same pairs are dropped on every machine.
fn hash(bytes: &[u8], seed: u64) -> u64 {
    bytes.iter().fold(seed, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}
