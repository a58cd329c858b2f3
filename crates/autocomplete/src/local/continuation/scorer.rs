//! The learned tables: boosted oblivious trees over integer features.
//!
//! Each tree compares `depth` features with thresholds, the same ones on every path, and the results
//! number one of its leaves; the leaves' values, in units of `1 / UNIT` log odds, are summed. This
//! is the form of CatBoost's trees (Prokhorenkova et al. 2018).
//! Invariant: a score depends on nothing but the features: the sum is one of integers.

use super::features::{GUESS_FEATURES, GuessVector, TOKEN_FEATURES, TokenVector};
use super::tables::{Reader, TableError, sealed, unsealed};

const MAGIC: &[u8; 8] = b"TABTREE2";

/// Log odds are stored in parts of this.
const UNIT: f32 = 1024.0;

/// Maximum number of comparisons per tree.
const MAX_DEPTH: usize = 8;

/// The tables of the local tier: one for single tokens, one for whole guesses.
pub struct TabScorer {
    token: TreeTable,
    guess: TreeTable,
    policy: ShowPolicy,
}

/// When a guess is worth its place on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShowPolicy {
    /// Cost of reading a wrong guess, in keystrokes. A higher value ends doubtful guesses earlier.
    pub look: u16,
    /// Probability below which a guess is not shown, in thousandths, before anything is learned from
    /// the user.
    pub threshold: u16,
}

/// A sum of trees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeTable {
    /// Sum without any tree.
    pub base: i32,
    /// The trees, in the order of their training.
    pub trees: Vec<ObliviousTree>,
}

/// A tree whose nodes of one level share their comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObliviousTree {
    /// Index of a feature, and the value that a feature of the upper half exceeds.
    pub splits: Vec<(u8, i16)>,
    /// One value for each result of the comparisons; the first comparison is the lowest bit.
    pub leaves: Vec<i16>,
}

impl TreeTable {
    /// Returns the probability, from 0 to 1, for these features.
    pub fn likelihood(&self, features: &[i16]) -> f32 {
        let log_odds = self.sum(features) as f32 / UNIT;
        1.0 / (1.0 + (-log_odds).exp())
    }

    fn sum(&self, features: &[i16]) -> i32 {
        let mut sum = self.base;
        for tree in &self.trees {
            let mut leaf = 0;
            for (level, (feature, threshold)) in tree.splits.iter().enumerate() {
                let value = features.get(usize::from(*feature)).copied().unwrap_or(0);
                leaf |= usize::from(value > *threshold) << level;
            }
            sum += i32::from(tree.leaves.get(leaf).copied().unwrap_or(0));
        }
        sum
    }

    /// Returns log odds in the unit of the leaves.
    pub fn quantized(log_odds: f32) -> i16 {
        (log_odds * UNIT)
            .round()
            .clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
    }

    fn write(&self, features: usize, bytes: &mut Vec<u8>) {
        bytes.extend((features as u16).to_le_bytes());
        bytes.extend((self.trees.len() as u16).to_le_bytes());
        bytes.extend(self.base.to_le_bytes());
        for tree in &self.trees {
            bytes.push(tree.splits.len() as u8);
            for (feature, threshold) in &tree.splits {
                bytes.push(*feature);
                bytes.extend(threshold.to_le_bytes());
            }
            tree.leaves
                .iter()
                .for_each(|leaf| bytes.extend(leaf.to_le_bytes()));
        }
    }

    fn read(bytes: &mut Reader<'_>, features: usize) -> Result<Self, TableError> {
        if usize::from(u16::from_le_bytes(bytes.take()?)) != features {
            return Err(TableError::OtherFeatures);
        }
        let count = u16::from_le_bytes(bytes.take()?);
        let base = i32::from_le_bytes(bytes.take()?);
        let mut trees = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let [depth] = bytes.take()?;
            if usize::from(depth) > MAX_DEPTH {
                return Err(TableError::Damaged);
            }
            let mut splits = Vec::with_capacity(usize::from(depth));
            for _ in 0..depth {
                let [feature] = bytes.take()?;
                splits.push((feature, i16::from_le_bytes(bytes.take()?)));
            }
            let mut leaves = Vec::with_capacity(1 << depth);
            for _ in 0..1_usize << depth {
                leaves.push(i16::from_le_bytes(bytes.take()?));
            }
            trees.push(ObliviousTree { splits, leaves });
        }
        Ok(Self { base, trees })
    }
}

impl TabScorer {
    /// Makes the scorer from trained tables.
    pub fn new(token: TreeTable, guess: TreeTable, policy: ShowPolicy) -> Self {
        Self {
            token,
            guess,
            policy,
        }
    }

    /// Returns when a guess is worth its place.
    pub fn policy(&self) -> ShowPolicy {
        self.policy
    }

    /// Returns the same tables with another policy.
    pub fn with_policy(self, policy: ShowPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Whether there is anything to score with.
    #[cfg(test)]
    pub(super) fn has_trees(&self) -> bool {
        !self.token.trees.is_empty() && !self.guess.trees.is_empty()
    }

    /// Returns the cost of reading a wrong guess, in keystrokes.
    pub(crate) fn look(&self) -> f32 {
        f32::from(self.policy.look)
    }

    /// Returns the probability, from 0 to 1, below which a guess is not shown.
    pub(crate) fn threshold(&self) -> f32 {
        f32::from(self.policy.threshold) / 1000.0
    }

    /// Reads tables written by `to_bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TableError> {
        let mut reader = unsealed(MAGIC, bytes)?;
        let policy = ShowPolicy {
            look: u16::from_le_bytes(reader.take()?),
            threshold: u16::from_le_bytes(reader.take()?),
        };
        let token = TreeTable::read(&mut reader, TOKEN_FEATURES)?;
        let guess = TreeTable::read(&mut reader, GUESS_FEATURES)?;
        Ok(Self::new(token, guess, policy))
    }

    /// Returns the bytes of the file that ships.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut content = Vec::new();
        content.extend(self.policy.look.to_le_bytes());
        content.extend(self.policy.threshold.to_le_bytes());
        self.token.write(TOKEN_FEATURES, &mut content);
        self.guess.write(GUESS_FEATURES, &mut content);
        sealed(MAGIC, &content)
    }

    /// Returns the probability that a token is right, from 0 to 1.
    pub(super) fn token(&self, features: &TokenVector) -> f32 {
        self.token.likelihood(features)
    }

    /// Returns the probability that all of a guess is right, from 0 to 1.
    pub(super) fn guess(&self, features: &GuessVector) -> f32 {
        self.guess.likelihood(features)
    }
}

#[cfg(test)]
mod tests;
