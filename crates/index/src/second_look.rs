//! A second look at the best places of an answer, by something slower that knows more of meaning.
//!
//! Knows: `hit`. Must not know: who encodes, or where.
//! Invariant: a second look orders what was found; it never finds or loses a place, and where it fails the first order
//! stands.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use crate::hit::Hit;

/// How many of the best places are looked at again.
pub const LOOKED_AT: usize = 50;
/// So many bytes of a place are looked at: most encoders read no more than the first few hundred tokens.
const MOST_BYTES: usize = 1_200;
/// How much the second look counts beside the first. Both are told in deviations from their mean.
const SHARE: f32 = 0.5;
/// Vectors that are kept, some megabytes; all are forgotten when there are more.
const MOST_KNOWN: usize = 4_096;

/// Gives texts their places among meanings.
pub trait Encoder: Send + Sync {
    /// Which one it is: vectors of two encoders have nothing to do with each other.
    fn name(&self) -> &str;

    /// A vector for every text, in their order and all of one length. May take seconds.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String>;
}

/// Finds the encoder that the person wants now, if any.
type Choose = dyn Fn() -> Result<Option<Arc<dyn Encoder>>, String> + Send + Sync;

/// Looks a second time at the best places. Vectors of texts that were seen before are not asked for again.
pub struct SecondLook {
    choose: Box<Choose>,
    known: Mutex<Known>,
}

/// Vectors by what they are of.
#[derive(Default)]
struct Known {
    encoder: String,
    vectors: HashMap<u64, Arc<[f32]>>,
}

impl SecondLook {
    /// `choose` is asked before each look, in the background.
    pub fn new(
        choose: impl Fn() -> Result<Option<Arc<dyn Encoder>>, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            choose: Box::new(choose),
            known: Mutex::default(),
        }
    }

    /// Who looks now, if anybody does.
    pub(crate) fn encoder(&self) -> Result<Option<Arc<dyn Encoder>>, String> {
        (self.choose)()
    }

    /// Orders places anew: half by how good they were, half by how like the question the encoder finds them.
    ///
    /// # Errors
    /// The encoder's sentence, or one about what it gave.
    pub(crate) fn order(
        &self,
        encoder: &dyn Encoder,
        question: &str,
        mut hits: Vec<Hit>,
    ) -> Result<Vec<Hit>, String> {
        let texts: Vec<String> = hits.iter().map(text_of).collect();
        let mut all = vec![question];
        all.extend(texts.iter().map(String::as_str));
        let vectors = self.vectors(encoder, &all)?;
        let (asked, seen) = vectors.split_first().ok_or("nothing was looked at")?;
        let likeness: Vec<f32> = seen.iter().map(|vector| cosine(asked, vector)).collect();
        let first: Vec<f32> = hits.iter().map(|hit| hit.score).collect();
        let (first, second) = (deviations(&first), deviations(&likeness));
        for (ix, hit) in hits.iter_mut().enumerate() {
            hit.score = (1.0 - SHARE) * first[ix] + SHARE * second[ix];
            hit.parts.second_look = Some(likeness[ix]);
        }
        hits.sort_by(|left, right| right.score.total_cmp(&left.score));
        Ok(hits)
    }

    /// The vectors of texts: those that are known, and the others from the encoder, all in one call.
    fn vectors(&self, encoder: &dyn Encoder, texts: &[&str]) -> Result<Vec<Arc<[f32]>>, String> {
        let keys: Vec<u64> = texts.iter().map(|text| key(text)).collect();
        let mut found = self.recall(encoder, &keys);
        let unknown: Vec<usize> = (0..texts.len()).filter(|ix| found[*ix].is_none()).collect();
        if !unknown.is_empty() {
            let asked: Vec<&str> = unknown.iter().map(|ix| texts[*ix]).collect();
            let given = encoder.vectors(&asked)?;
            let size = given.first().map_or(0, Vec::len);
            let is_sound = |vector: &Vec<f32>| {
                vector.len() == size && vector.iter().all(|number| number.is_finite())
            };
            if given.len() != asked.len() || size == 0 || !given.iter().all(is_sound) {
                let name = encoder.name();
                return Err(format!(
                    "{name} gave vectors that do not fit the texts it was given"
                ));
            }
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for (ix, vector) in unknown.into_iter().zip(given) {
                let vector: Arc<[f32]> = vector.into();
                // Somebody may have asked another encoder meanwhile.
                if known.encoder == encoder.name() {
                    known.vectors.insert(keys[ix], vector.clone());
                }
                found[ix] = Some(vector);
            }
        }
        let found: Vec<Arc<[f32]>> = found.into_iter().flatten().collect();
        let size = found.first().map_or(0, |vector| vector.len());
        match found.iter().all(|vector| vector.len() == size) {
            true => Ok(found),
            false => {
                // The endpoint serves another model under the same name now.
                self.known
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .vectors
                    .clear();
                Err(format!(
                    "{} gave vectors of another length than before",
                    encoder.name()
                ))
            }
        }
    }

    /// What is known of this encoder's vectors.
    fn recall(&self, encoder: &dyn Encoder, keys: &[u64]) -> Vec<Option<Arc<[f32]>>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.encoder != encoder.name() || known.vectors.len() + keys.len() > MOST_KNOWN {
            known.vectors.clear();
            known.encoder = encoder.name().to_owned();
        }
        let vectors = keys.iter().map(|key| known.vectors.get(key).cloned());
        vectors.collect()
    }
}

impl fmt::Debug for SecondLook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecondLook").finish_non_exhaustive()
    }
}

/// What is looked at of a place: its file's name, its symbol, and how it begins.
fn text_of(hit: &Hit) -> String {
    let file = hit.path.file_name().unwrap_or_default().to_string_lossy();
    let symbol = hit.symbol.as_deref().unwrap_or_default();
    let code = &hit.text[..hit.text.floor_char_boundary(MOST_BYTES)];
    format!("{file} {symbol}\n{code}")
}

fn key(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// From -1 to 1; 0 where either has no direction.
fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let dot = |one: &[f32], other: &[f32]| -> f32 {
        let pairs = one.iter().zip(other);
        pairs.map(|(one, other)| one * other).sum()
    };
    let lengths = (dot(left, left) * dot(right, right)).sqrt();
    match lengths > 0.0 && lengths.is_finite() {
        true => dot(left, right) / lengths,
        false => 0.0,
    }
}

/// How far each lies from the mean, in standard deviations; 0 for all where they are equal.
fn deviations(values: &[f32]) -> Vec<f32> {
    let count = values.len().max(1) as f32;
    let mean = values.iter().sum::<f32>() / count;
    let spread = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f32>()
        / count;
    let spread = spread.sqrt();
    let deviation = |value: &f32| match spread > f32::EPSILON {
        true => (value - mean) / spread,
        false => 0.0,
    };
    values.iter().map(deviation).collect()
}

#[cfg(test)]
mod tests;
