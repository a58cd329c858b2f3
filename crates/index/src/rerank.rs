//! Reranks the best results with a slower encoder that captures meaning better.
//!
//! Knows: `hit`. Must not know: which encoder, or where it runs.
//! Invariant: reranking never adds or removes results; if it fails, the original order stays.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use crate::hit::SearchHit;

/// Maximum number of results that are reranked. The best results up to this number are reranked;
/// the results after them keep their order.
pub const RERANK_HITS: usize = 50;
/// Bytes of each result that are encoded: most encoders read only the first few hundred tokens.
const MAX_TEXT_BYTES: usize = 1_200;
/// Weight of the reranker's score relative to the original one. Both are standardized.
const RERANK_SHARE: f32 = 0.5;
/// Maximum number of cached vectors, some megabytes; above it the cache is cleared.
const MAX_CACHED_VECTORS: usize = 4_096;

/// A model that embeds texts, for reranking: MiniLM, or an endpoint that the user configured.
pub trait Encoder: Send + Sync {
    /// Identifies the encoder: vectors of different encoders cannot be compared.
    fn name(&self) -> &str;

    /// Returns a vector for every text, in order and all of the same length. May take seconds.
    ///
    /// # Errors
    /// [`RerankError::Encoder`].
    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, RerankError>;
}

/// The reason that results were not reranked. Its display text is made for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RerankError {
    /// No encoder can be had, or it failed: the cause, and the remedy if there is one.
    #[error("{0}")]
    Encoder(String),
    /// The encoder, named here, returned too few or too many vectors, or unusable ones.
    #[error("{0} returned vectors that do not match the texts")]
    WrongVectors(String),
    /// The encoder, named here, now serves another model; the next call starts afresh.
    #[error("{0} returned vectors of another length than before")]
    LengthChanged(String),
    /// No text was given.
    #[error("there was nothing to rerank")]
    NoTexts,
}

/// Returns the encoder selected by the user, if any.
type Choose = dyn Fn() -> Result<Option<Arc<dyn Encoder>>, RerankError> + Send + Sync;

/// Reranks the best results of a search with a slower model. Caches the vectors of texts.
pub struct Reranker {
    choose: Box<Choose>,
    cache: Mutex<VectorCache>,
}

/// Cached vectors by the hash of their text.
#[derive(Default)]
struct VectorCache {
    encoder: String,
    vectors: HashMap<u64, Arc<[f32]>>,
}

impl Reranker {
    /// Creates a reranker. `choose` is called before each use, in the background, and returns the
    /// encoder that the settings ask for, if any.
    pub fn new(
        choose: impl Fn() -> Result<Option<Arc<dyn Encoder>>, RerankError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            choose: Box::new(choose),
            cache: Mutex::default(),
        }
    }

    /// Returns the encoder to use now, or `None` if reranking is off.
    pub(crate) fn encoder(&self) -> Result<Option<Arc<dyn Encoder>>, RerankError> {
        (self.choose)()
    }

    /// Reorders hits by the mean of their standardized score and their standardized similarity to
    /// the query according to the encoder.
    ///
    /// # Errors
    /// The encoder's error, or one about an invalid result.
    pub(crate) fn order(
        &self,
        encoder: &dyn Encoder,
        query: &str,
        mut hits: Vec<SearchHit>,
    ) -> Result<Vec<SearchHit>, RerankError> {
        let texts: Vec<String> = hits.iter().map(text_of).collect();
        let mut all = vec![query];
        all.extend(texts.iter().map(String::as_str));
        let vectors = self.vectors(encoder, &all)?;
        let (query, others) = vectors.split_first().ok_or(RerankError::NoTexts)?;
        let similarity: Vec<f32> = others.iter().map(|vector| cosine(query, vector)).collect();
        let first: Vec<f32> = hits.iter().map(|hit| hit.score).collect();
        let (first, second) = (deviations(&first), deviations(&similarity));
        for (ix, hit) in hits.iter_mut().enumerate() {
            hit.score = (1.0 - RERANK_SHARE) * first[ix] + RERANK_SHARE * second[ix];
            hit.parts.rerank = Some(similarity[ix]);
        }
        hits.sort_by(|left, right| right.score.total_cmp(&left.score));
        Ok(hits)
    }

    /// Returns the vectors of texts: cached ones, and the others from the encoder in one call.
    fn vectors(
        &self,
        encoder: &dyn Encoder,
        texts: &[&str],
    ) -> Result<Vec<Arc<[f32]>>, RerankError> {
        let keys: Vec<u64> = texts.iter().map(|text| key(text)).collect();
        let mut found = self.cached(encoder, &keys);
        let unknown: Vec<usize> = (0..texts.len()).filter(|ix| found[*ix].is_none()).collect();
        if !unknown.is_empty() {
            let asked: Vec<&str> = unknown.iter().map(|ix| texts[*ix]).collect();
            let given = encoder.vectors(&asked)?;
            let size = given.first().map_or(0, Vec::len);
            let is_sound = |vector: &Vec<f32>| {
                vector.len() == size && vector.iter().all(|number| number.is_finite())
            };
            if given.len() != asked.len() || size == 0 || !given.iter().all(is_sound) {
                return Err(RerankError::WrongVectors(encoder.name().to_owned()));
            }
            let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            for (ix, vector) in unknown.into_iter().zip(given) {
                let vector: Arc<[f32]> = vector.into();
                // Another thread may have switched the encoder meanwhile.
                if cache.encoder == encoder.name() {
                    cache.vectors.insert(keys[ix], vector.clone());
                }
                found[ix] = Some(vector);
            }
        }
        let found: Vec<Arc<[f32]>> = found.into_iter().flatten().collect();
        let size = found.first().map_or(0, |vector| vector.len());
        if found.iter().all(|vector| vector.len() == size) {
            Ok(found)
        } else {
            // The endpoint now serves another model under the same name.
            self.cache
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .vectors
                .clear();
            Err(RerankError::LengthChanged(encoder.name().to_owned()))
        }
    }

    /// Returns the cached vectors of this encoder.
    fn cached(&self, encoder: &dyn Encoder, keys: &[u64]) -> Vec<Option<Arc<[f32]>>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.encoder != encoder.name() || cache.vectors.len() + keys.len() > MAX_CACHED_VECTORS
        {
            cache.vectors.clear();
            cache.encoder = encoder.name().to_owned();
        }
        let vectors = keys.iter().map(|key| cache.vectors.get(key).cloned());
        vectors.collect()
    }
}

impl fmt::Debug for Reranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reranker").finish_non_exhaustive()
    }
}

/// Returns the text that represents a hit: its file's name, its symbol, and its beginning.
fn text_of(hit: &SearchHit) -> String {
    let file = hit.path.file_name().unwrap_or_default().to_string_lossy();
    let symbol = hit.symbol.as_deref().unwrap_or_default();
    let code = &hit.text[..hit.text.floor_char_boundary(MAX_TEXT_BYTES)];
    format!("{file} {symbol}\n{code}")
}

/// Returns the hash of a text as its key in the cache.
fn key(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns the cosine similarity; 0 if either vector is zero.
fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let dot = |one: &[f32], other: &[f32]| -> f32 {
        let pairs = one.iter().zip(other);
        pairs.map(|(one, other)| one * other).sum()
    };
    let lengths = (dot(left, left) * dot(right, right)).sqrt();
    if lengths > 0.0 && lengths.is_finite() {
        dot(left, right) / lengths
    } else {
        0.0
    }
}

/// Returns the standard scores; all 0 if the values are equal.
fn deviations(values: &[f32]) -> Vec<f32> {
    let count = values.len().max(1) as f32;
    let mean = values.iter().sum::<f32>() / count;
    let spread = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f32>()
        / count;
    let spread = spread.sqrt();
    let deviation = |value: &f32| {
        if spread > f32::EPSILON {
            (value - mean) / spread
        } else {
            0.0
        }
    };
    values.iter().map(deviation).collect()
}

#[cfg(test)]
mod tests;
