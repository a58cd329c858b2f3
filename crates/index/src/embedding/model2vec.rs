//! Third-party tables in the layout of model2vec: `model.safetensors` beside `tokenizer.json`.
//!
//! `embeddings` may be f32, f16 or i8; `weights` (one number per token) and `mapping` (the row of
//! each token) are applied. The tokenizer must be a WordPiece one.
//! Limitations: only tokens that words can have are kept, since punctuation is never looked up.

use serde_json::Value;

use super::format::{self, TableError};
use super::{DIMS, EmbeddingTable};

/// Converts a third-party table, given the contents of both files. Returns an error if a file is
/// damaged, the tokenizer is not a WordPiece one, a token has no row, or rows are empty or longer
/// than `DIMS`. Shorter rows are padded with zeros.
pub(super) fn read(safetensors: &[u8], tokenizer: &str) -> Result<EmbeddingTable, TableError> {
    let file = Tensors::parse(safetensors)?;
    let tokens = tokens(tokenizer)?;
    let embeddings = file.tensor("embeddings")?;
    let [rows, dims] = embeddings.shape[..] else {
        return Err(TableError::Unfit(
            "its embeddings are not a matrix".to_owned(),
        ));
    };
    if dims > DIMS || dims == 0 {
        return Err(TableError::Unfit(format!(
            "its rows have {dims} numbers; at most {DIMS} fit"
        )));
    }
    let numbers = embeddings.numbers()?;
    let weights = file
        .tensor("weights")
        .and_then(|tensor| tensor.numbers())
        .ok();
    let mapping = file
        .tensor("mapping")
        .and_then(|tensor| tensor.numbers())
        .ok();
    let mut spelt = Vec::new();
    let mut kept = Vec::new();
    for (token, number) in tokens {
        let row = mapping.as_ref().map_or(Some(number), |mapping| {
            mapping.get(number).map(|row| *row as usize)
        });
        let Some(row) = row.filter(|row| *row < rows) else {
            return Err(TableError::Unfit(format!(
                "it has no row for the token {token}"
            )));
        };
        let weight = weights
            .as_ref()
            .and_then(|weights| weights.get(number))
            .copied()
            .unwrap_or(1.0) as f32;
        spelt.push(token);
        kept.extend(
            numbers[row * dims..][..dims]
                .iter()
                .map(|number| *number as f32 * weight),
        );
        kept.resize(spelt.len() * DIMS, 0.0);
    }
    format::parse(format::pack(&spelt, &kept)?.into())
}

/// Returns the tokens that a word can have, sorted, with their numbers.
fn tokens(tokenizer: &str) -> Result<Vec<(String, usize)>, TableError> {
    let unfit = |why: &str| TableError::Unfit(format!("its tokenizer {why}"));
    let value: Value = serde_json::from_str(tokenizer)
        .map_err(|error| unfit(&format!("is not valid JSON: {error}")))?;
    let model = &value["model"];
    if model["type"]
        .as_str()
        .is_some_and(|kind| kind != "WordPiece")
    {
        return Err(unfit("is not a WordPiece tokenizer"));
    }
    let vocabulary = model["vocab"]
        .as_object()
        .ok_or_else(|| unfit("has no vocabulary"))?;
    let is_word = |token: &str| {
        let letters = token.strip_prefix("##").unwrap_or(token);
        let is_plain =
            |byte: u8| byte == b'_' || byte.is_ascii_digit() || byte.is_ascii_lowercase();
        !letters.is_empty() && letters.len() <= 200 && letters.bytes().all(is_plain)
    };
    let mut tokens: Vec<_> = vocabulary
        .iter()
        .filter(|(token, _)| is_word(token))
        .filter_map(|(token, number)| Some((token.clone(), number.as_u64()? as usize)))
        .collect();
    tokens.sort();
    if tokens.is_empty() {
        Err(unfit("has no lower-case word"))
    } else {
        Ok(tokens)
    }
}

/// A safetensors file: a length, a JSON header of that length, the numbers.
struct Tensors<'a> {
    head: Value,
    data: &'a [u8],
}

struct Tensor<'a> {
    kind: String,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

impl<'a> Tensors<'a> {
    /// Splits a file into its JSON header and its numbers. Returns an error if the header is
    /// truncated or is not valid JSON.
    fn parse(bytes: &'a [u8]) -> Result<Self, TableError> {
        let torn = TableError::Torn("its safetensors file has no header");
        let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
            return Err(torn);
        };
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((head, data)) = rest.split_at_checked(length) else {
            return Err(torn);
        };
        match serde_json::from_slice(head) {
            Ok(head) => Ok(Self { head, data }),
            Err(_) => Err(torn),
        }
    }

    /// Returns the tensor with this name. Returns an error if the header lacks it or its bytes
    /// reach beyond the end of the file.
    fn tensor(&self, name: &str) -> Result<Tensor<'a>, TableError> {
        let entry = &self.head[name];
        let list = |key: &str| -> Vec<usize> {
            let list = entry[key].as_array().into_iter().flatten();
            list.filter_map(|number| number.as_u64().map(|number| number as usize))
                .collect()
        };
        let (Some(kind), &[start, end]) = (entry["dtype"].as_str(), &list("data_offsets")[..])
        else {
            return Err(TableError::Unfit(format!("it has no {name}")));
        };
        let Some(bytes) = self.data.get(start..end) else {
            return Err(TableError::Torn("a tensor reaches beyond the end"));
        };
        Ok(Tensor {
            kind: kind.to_owned(),
            shape: list("shape"),
            bytes,
        })
    }
}

impl Tensor<'_> {
    /// Decodes all numbers. Returns an error if their type is unknown, one is not finite, or their
    /// count does not match the shape.
    fn numbers(&self) -> Result<Vec<f64>, TableError> {
        let numbers: Vec<f64> = match self.kind.as_str() {
            "F32" => self.each(|bytes| f64::from(f32::from_le_bytes(bytes))),
            "F64" => self.each(f64::from_le_bytes),
            "F16" => self.each(|bytes| f64::from(half(u16::from_le_bytes(bytes)))),
            "I8" => self.each(|[byte]| f64::from(byte as i8)),
            "I32" => self.each(|bytes| f64::from(i32::from_le_bytes(bytes))),
            "I64" => self.each(|bytes| i64::from_le_bytes(bytes) as f64),
            other => return Err(TableError::Unfit(format!("it has numbers of type {other}"))),
        };
        let count = self
            .shape
            .iter()
            .try_fold(1_usize, |count, side| count.checked_mul(*side));
        if count == Some(numbers.len()) && numbers.iter().all(|number| number.is_finite()) {
            Ok(numbers)
        } else {
            Err(TableError::Torn(
                "a tensor's size does not match its type and shape",
            ))
        }
    }

    /// Decodes each group of `N` bytes with `number`. Ignores an incomplete group at the end.
    fn each<const N: usize>(&self, number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        self.bytes
            .as_chunks::<N>()
            .0
            .iter()
            .map(|bytes| number(*bytes))
            .collect()
    }
}

/// Converts an IEEE half-precision number to a float.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2.0_f32.powi(exponent - 15),
    }
}
