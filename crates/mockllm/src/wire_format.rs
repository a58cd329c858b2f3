//! The names of the wire formats; `wire` parses and encodes them.

use serde::Deserialize;

/// The protocol of a request: an API of a provider, or a direct call by a client inside the
/// process.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// The Anthropic Messages API.
    Anthropic,
    /// The OpenAI Responses API.
    Responses,
    /// OpenAI Chat Completions and everything that speaks it.
    Chat,
    /// The Gemini generateContent API.
    Gemini,
    /// The `/infill` endpoint of llama.cpp.
    Infill,
    /// `/v1/completions` and DeepSeek's `/beta/completions`.
    Completions,
    /// The `/v1/fim/completions` endpoint of Mistral.
    Mistral,
    /// The `/api/generate` endpoint of Ollama.
    Ollama,
    /// No wire: a client inside the process.
    Direct,
}

impl WireFormat {
    /// Returns whether its provider caches only prefixes that the request marks.
    pub(crate) fn caches_where_marked(self) -> bool {
        matches!(self, Self::Anthropic | Self::Direct)
    }
}
