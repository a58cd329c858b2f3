//! all-MiniLM-L6-v2: a transformer of six layers that embeds a text.
//!
//! Hundreds of times slower than `embedding`, which was distilled from it. Used for training and
//! benchmarks, and to rerank the best results if its weights are installed. Must not know: chunks,
//! the index.
//! Limitations: accented letters are looked up as they are, while the original removes the accents.

use std::path::Path;

use base::AbsPath;
use candle_core::{D, DType, Device, Tensor, safetensors};
use candle_nn::ops::{layer_norm, softmax_last_dim};
use host::{Files, RealFiles};

use crate::rerank::{Encoder, RerankError};
use crate::wordpiece::Vocabulary;

mod attention;
mod spelling;

use attention::{AttentionLayer, LayerWeights};

/// The names of the model's files in its folder: weights, then vocabulary.
pub const FILES: [&str; 2] = ["model.safetensors", "vocab.txt"];
/// The dimension of a vector.
pub const WIDTH: usize = 384;
/// Number of tokens of a text that reranking reads; it waits for fifty texts.
const RERANK_TOKENS: usize = 128;
/// Number of positions of the model, including its two special tokens.
const MAX_POSITIONS: usize = 256;
const MAX_FILE_BYTES: u64 = 200 << 20;
const CLS: u32 = 101;
const SEP: u32 = 102;
const LAYERS: usize = 6;
/// The original's value; added to a norm, a 32-bit float cannot distinguish it from zero.
const EPSILON: f32 = 1e-12;
/// Number of positions processed at once: enough to be fast, few enough to fit into the caches.
const POSITIONS_AT_ONCE: usize = 4_096;

/// The reason that the model cannot be used: missing files, weights of another model, or a relative
/// path.
#[derive(Debug, thiserror::Error)]
pub enum MiniLmError {
    /// A file of the model is missing or unreadable.
    #[error("cannot read the model MiniLM: {0}")]
    Files(#[from] host::Error),
    /// The weights do not belong to this model.
    #[error("the weights of MiniLM do not fit: {0}")]
    Weights(#[from] candle_core::Error),
    /// The path is not absolute.
    #[error("the folder of MiniLM must be an absolute path: {0}")]
    Folder(String),
}

impl From<MiniLmError> for RerankError {
    fn from(error: MiniLmError) -> Self {
        Self::Encoder(error.to_string())
    }
}

/// The transformer all-MiniLM-L6-v2 with its weights, run on the CPU.
pub struct MiniLm {
    vocabulary: Vocabulary,
    words: Tensor,
    /// The position embeddings, with the token type embedding added.
    positions: Tensor,
    norm: (Tensor, Tensor),
    layers: Vec<AttentionLayer>,
}

impl MiniLm {
    /// Reads [`FILES`] in `dir`, an absolute path. Blocks on the disk.
    ///
    /// # Errors
    ///
    /// A file is missing, or the weights do not belong to this model.
    pub fn open(dir: &Path) -> Result<Self, MiniLmError> {
        let folder =
            AbsPath::new(dir).ok_or_else(|| MiniLmError::Folder(dir.display().to_string()))?;
        let read = |name: &str| {
            Ok::<_, host::Error>(
                RealFiles
                    .read_with_stat(&folder.join(name), MAX_FILE_BYTES)?
                    .0,
            )
        };
        let vocabulary = String::from_utf8_lossy(&read(FILES[1])?).into_owned();
        let weights = LayerWeights::new(safetensors::load_buffer(&read(FILES[0])?, &Device::Cpu)?);
        let kind = weights
            .get("embeddings.token_type_embeddings.weight")?
            .narrow(0, 0, 1)?;
        let positions = weights.get("embeddings.position_embeddings.weight")?;
        Ok(Self {
            vocabulary: Vocabulary::new(vocabulary.lines()),
            words: weights.get("embeddings.word_embeddings.weight")?,
            positions: positions
                .broadcast_add(&kind)?
                .narrow(0, 0, MAX_POSITIONS)?,
            norm: weights.norm("embeddings.LayerNorm")?,
            layers: (0..LAYERS)
                .map(|number| AttentionLayer::new(&weights, number))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns the tokens and their numbers.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns a vector of length one and [`WIDTH`] numbers for every text, in order. Each text is
    /// cut to `most_tokens`, which includes the two special tokens. Takes milliseconds per text.
    ///
    /// # Errors
    ///
    /// The weights do not fit.
    pub fn encode(&self, texts: &[&str], most_tokens: usize) -> Result<Vec<Vec<f32>>, MiniLmError> {
        let most = most_tokens.clamp(2, MAX_POSITIONS) - 2;
        let tokens: Vec<Vec<u32>> = texts
            .iter()
            .map(|text| spelling::tokens(&self.vocabulary, text, most))
            .collect();
        let mut vectors = self.means(&tokens)?;
        for vector in &mut vectors {
            let length = vector
                .iter()
                .map(|number| number * number)
                .sum::<f32>()
                .sqrt();
            vector
                .iter_mut()
                .for_each(|number| *number /= length.max(f32::MIN_POSITIVE));
        }
        Ok(vectors)
    }

    /// Returns, for every list of tokens without special tokens, the mean of the last layer's
    /// output, special tokens included.
    ///
    /// # Errors
    /// A token or position exceeds the model's range.
    pub fn means(&self, texts: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, MiniLmError> {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|number| texts[*number].len());
        let mut means = vec![Vec::new(); texts.len()];
        let mut rest = &order[..];
        while let Some(longest) = rest.len().checked_sub(1) {
            // Longest texts first, so that a lack of memory shows at once.
            let length = texts[rest[longest]].len() + 2;
            let (before, batch) =
                rest.split_at(rest.len() - (POSITIONS_AT_ONCE / length).clamp(1, rest.len()));
            let lists: Vec<&[u32]> = batch
                .iter()
                .map(|number| texts[*number].as_slice())
                .collect();
            for (number, mean) in batch.iter().zip(self.forward(&lists, length)?) {
                means[*number] = mean;
            }
            rest = before;
        }
        Ok(means)
    }

    /// Runs the model on one batch and returns the mean output of every text. `texts` exclude the
    /// special tokens; `length` is the longest text's number of tokens with them, to which the
    /// others are padded. Returns an error if a token or `length` exceeds the model's range.
    fn forward(&self, texts: &[&[u32]], length: usize) -> Result<Vec<Vec<f32>>, MiniLmError> {
        let mut ids = Vec::with_capacity(texts.len() * length);
        let mut known = Vec::with_capacity(texts.len() * length);
        for text in texts {
            let end = ids.len() + length;
            ids.push(CLS);
            ids.extend_from_slice(text);
            ids.push(SEP);
            known.resize(ids.len(), 1.0_f32);
            ids.resize(end, 0);
            known.resize(end, 0.0);
        }
        let count = texts.len();
        let known = Tensor::from_vec(known, (count, length), &Device::Cpu)?;
        let ids = Tensor::from_vec(ids, count * length, &Device::Cpu)?;
        let words = self
            .words
            .index_select(&ids, 0)?
            .reshape((count, length, WIDTH))?;
        let states = words.broadcast_add(&self.positions.narrow(0, 0, length)?)?;
        let mut states = layer_norm(
            &states.reshape((count * length, WIDTH))?,
            &self.norm.0,
            &self.norm.1,
            EPSILON,
        )?;
        // Padding is never attended to.
        let mask = ((&known - 1.0)? * 1e9)?.reshape((count, 1, 1, length))?;
        for layer in &self.layers {
            states = layer.forward(&states, &mask, count, length)?;
        }
        let states = states.reshape((count, length, WIDTH))?;
        let sums = states.broadcast_mul(&known.unsqueeze(D::Minus1)?)?.sum(1)?;
        let means = sums.broadcast_div(&known.sum_keepdim(1)?)?;
        Ok(means.to_dtype(DType::F32)?.to_vec2()?)
    }
}

impl Encoder for MiniLm {
    fn name(&self) -> &str {
        "MiniLM"
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, RerankError> {
        Ok(self.encode(texts, RERANK_TOKENS)?)
    }
}

#[cfg(test)]
mod tests;
