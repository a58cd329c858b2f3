//! One transformer layer: self-attention, then a feed-forward network.

use std::collections::HashMap;

use candle_core::{DType, Error, Tensor};

use super::{EPSILON, WIDTH, layer_norm, softmax_last_dim};

const HEADS: usize = 12;
const OF_HEAD: usize = WIDTH / HEADS;

/// The model's tensors by name.
pub(super) struct LayerWeights {
    tensors: HashMap<String, Tensor>,
}

impl LayerWeights {
    pub(super) fn new(tensors: HashMap<String, Tensor>) -> Self {
        Self { tensors }
    }

    /// Returns a tensor as 32-bit floats, whatever its stored type.
    pub(super) fn get(&self, name: &str) -> Result<Tensor, Error> {
        let tensor = self
            .tensors
            .get(name)
            .ok_or_else(|| Error::Msg(format!("the tensor {name} is missing")))?;
        tensor.to_dtype(DType::F32)
    }

    /// Returns the tensors `name.weight` and `name.bias`. Returns an error if one is missing.
    pub(super) fn norm(&self, name: &str) -> Result<(Tensor, Tensor), Error> {
        Ok((
            self.get(&format!("{name}.weight"))?,
            self.get(&format!("{name}.bias"))?,
        ))
    }
}

struct Linear {
    /// Transposed, so that rows are inputs.
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    /// Loads the layer called `name`. Returns an error if its weight or bias is missing.
    fn new(weights: &LayerWeights, name: &str) -> Result<Self, Error> {
        let (weight, bias) = weights.norm(name)?;
        Ok(Self {
            weight: weight.t()?.contiguous()?,
            bias,
        })
    }

    /// Applies the layer to every row of `states`. Returns an error if the rows have the wrong
    /// length.
    fn forward(&self, states: &Tensor) -> Result<Tensor, Error> {
        states.matmul(&self.weight)?.broadcast_add(&self.bias)
    }
}

/// The weights of one layer.
pub(super) struct AttentionLayer {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    out_norm: (Tensor, Tensor),
    wide: Linear,
    narrow: Linear,
    narrow_norm: (Tensor, Tensor),
}

impl AttentionLayer {
    /// Loads the layer with this number, counted from 0. Returns an error if one of its tensors is
    /// missing.
    pub(super) fn new(weights: &LayerWeights, number: usize) -> Result<Self, Error> {
        let linear = |name: &str| Linear::new(weights, &format!("encoder.layer.{number}.{name}"));
        let norm = |name: &str| weights.norm(&format!("encoder.layer.{number}.{name}.LayerNorm"));
        Ok(Self {
            query: linear("attention.self.query")?,
            key: linear("attention.self.key")?,
            value: linear("attention.self.value")?,
            out: linear("attention.output.dense")?,
            out_norm: norm("attention.output")?,
            wide: linear("intermediate.dense")?,
            narrow: linear("output.dense")?,
            narrow_norm: norm("output")?,
        })
    }

    /// Applies the layer; `states` has a row for every position of `count` texts of `length`
    /// positions.
    pub(super) fn forward(
        &self,
        states: &Tensor,
        mask: &Tensor,
        count: usize,
        length: usize,
    ) -> Result<Tensor, Error> {
        let heads = |tensor: Tensor| {
            tensor
                .reshape((count, length, HEADS, OF_HEAD))?
                .transpose(1, 2)?
                .contiguous()
        };
        let query = (heads(self.query.forward(states)?)? * (OF_HEAD as f64).powf(-0.5))?;
        let key = heads(self.key.forward(states)?)?;
        let value = heads(self.value.forward(states)?)?;
        let scores = query.matmul(&key.t()?)?.broadcast_add(mask)?;
        let seen = softmax_last_dim(&scores)?.matmul(&value)?;
        let seen = seen
            .transpose(1, 2)?
            .contiguous()?
            .reshape((count * length, WIDTH))?;
        let states = (self.out.forward(&seen)? + states)?;
        let states = layer_norm(&states, &self.out_norm.0, &self.out_norm.1, EPSILON)?;
        let wide = self.wide.forward(&states)?.gelu_erf()?;
        let narrow = (self.narrow.forward(&wide)? + states)?;
        layer_norm(&narrow, &self.narrow_norm.0, &self.narrow_norm.1, EPSILON)
    }
}
