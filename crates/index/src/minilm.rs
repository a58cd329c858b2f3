//! all-MiniLM-L6-v2: six layers of attention that give a text its place among meanings.
//!
//! Hundreds of times slower than `table`, which was distilled from it. For training, measuring, and as a second look
//! at the best few where its weights are present. Must not know: chunks, the index.
//! Limits: letters with marks are looked up as they are, where the original takes the marks off.

use std::path::Path;

use base::AbsPath;
use candle_core::{D, DType, Device, Tensor, safetensors};
use candle_nn::ops::{layer_norm, softmax_last_dim};
use host::{Files, RealFiles};

use crate::second_look::Encoder;
use crate::wordpiece::Vocabulary;

mod attention;
mod spelling;

use attention::{Layer, Weights};

/// The names of the files in the folder of the model.
pub const FILES: [&str; 2] = ["model.safetensors", "vocab.txt"];
/// How many numbers a vector has.
pub const WIDTH: usize = 384;
/// Tokens of a text that a second look reads: it waits for fifty of them.
const LOOKED_AT: usize = 128;
/// The model knows no more positions than this; two of them are its marks.
const MOST_POSITIONS: usize = 256;
const LARGEST_FILE: u64 = 200 << 20;
const CLS: u32 = 101;
const SEP: u32 = 102;
const LAYERS: usize = 6;
/// As in the original; a float cannot tell it from nothing.
const EPSILON: f32 = 1e-12;
/// So many positions go through at once: enough to be fast, few enough to stay in the caches.
const POSITIONS_AT_ONCE: usize = 4_096;

/// Why the model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MiniLmError {
    /// A file of the model is missing or cannot be read.
    #[error("cannot read the model MiniLM: {0}")]
    Files(#[from] host::Error),
    /// The weights are not those of this model.
    #[error("the weights of MiniLM do not fit: {0}")]
    Weights(#[from] candle_core::Error),
    /// The path is not absolute.
    #[error("the folder of MiniLM must be an absolute path, not {0}")]
    Folder(String),
}

/// The model with its weights.
pub struct MiniLm {
    vocabulary: Vocabulary,
    words: Tensor,
    /// Of every position, the kind of text added.
    positions: Tensor,
    norm: (Tensor, Tensor),
    layers: Vec<Layer>,
}

impl MiniLm {
    /// Reads [`FILES`] in `dir`.
    ///
    /// # Errors
    /// A file is missing, or the weights are those of another model.
    pub fn open(dir: &Path) -> Result<Self, MiniLmError> {
        let folder =
            AbsPath::new(dir).ok_or_else(|| MiniLmError::Folder(dir.display().to_string()))?;
        let read = |name: &str| {
            Ok::<_, host::Error>(
                RealFiles
                    .read_with_stat(&folder.join(name), LARGEST_FILE)?
                    .0,
            )
        };
        let vocabulary = String::from_utf8_lossy(&read(FILES[1])?).into_owned();
        let weights = Weights::new(safetensors::load_buffer(&read(FILES[0])?, &Device::Cpu)?);
        let kind = weights
            .get("embeddings.token_type_embeddings.weight")?
            .narrow(0, 0, 1)?;
        let positions = weights.get("embeddings.position_embeddings.weight")?;
        Ok(Self {
            vocabulary: Vocabulary::new(vocabulary.lines()),
            words: weights.get("embeddings.word_embeddings.weight")?,
            positions: positions
                .broadcast_add(&kind)?
                .narrow(0, 0, MOST_POSITIONS)?,
            norm: weights.norm("embeddings.LayerNorm")?,
            layers: (0..LAYERS)
                .map(|number| Layer::new(&weights, number))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The tokens and their numbers.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The vector of every text, of length one. `most_tokens` counts the two marks.
    ///
    /// # Errors
    /// The weights do not fit.
    pub fn encode(&self, texts: &[&str], most_tokens: usize) -> Result<Vec<Vec<f32>>, MiniLmError> {
        let most = most_tokens.clamp(2, MOST_POSITIONS) - 2;
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

    /// For every list of tokens, without marks, the mean of what the last layer says of them and the marks.
    ///
    /// # Errors
    /// A token or a position is beyond what the model knows.
    pub fn means(&self, texts: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, MiniLmError> {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|number| texts[*number].len());
        let mut means = vec![Vec::new(); texts.len()];
        let mut rest = &order[..];
        while let Some(longest) = rest.len().checked_sub(1) {
            // From the longest down, so that what is too large for memory shows at once.
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
        // What is only there to fill up is never attended to.
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

    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let vectors = self.encode(texts, LOOKED_AT);
        vectors.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
