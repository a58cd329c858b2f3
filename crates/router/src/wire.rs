//! Wire protocols of all providers, as pure functions: requests to bytes, bytes to events.
//!
//! Must not know: sockets, clocks, keys; a model's name decides nothing, `WireOptions` do.
//! Invariant: equal requests yield equal bytes, so that a provider's cache recognizes its prefix.
//! Invariant: a `Decoder` yields the same events for every division of its bytes into chunks, and
//! exactly one last event.
//! Start at `encode` and `Decoder`.

mod anthropic;
mod body;
mod calls;
mod chat;
mod decoder;
mod dialect;
mod embeddings;
mod failure;
mod fim;
mod frames;
mod gemini;
mod history;
mod json;
mod limits;
mod omit;
mod options;
mod profile;
mod response;
mod responses;
mod schema;
mod text_input;

use model::{Failure, Fim, ModelRequest};

pub use decoder::Decoder;
pub use dialect::ChatDialect;
pub use embeddings::{encode_embeddings, read_embeddings};
pub use failure::{RequestTarget, refused};
pub use fim::{FimOptions, FimTemplate, FimWire};
pub use limits::{rate_limits, retry_after};
pub(crate) use options::PREDICTION;
pub use options::{EffortMap, EffortValue, SchemaSupport, ThinkingMode, WireOptions};
pub use profile::profile_options;

/// Wire protocol of a provider for chats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireProtocol {
    /// Anthropic's Messages API, streaming.
    Anthropic,
    /// OpenAI's Responses API, streaming.
    Responses,
    /// OpenAI Chat Completions and its dialects.
    Chat,
    /// Gemini's `streamGenerateContent` method, streaming.
    Gemini,
}

/// A request ready to send, except for host and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRequest {
    /// Path of the endpoint.
    pub path: EndpointPath,
    /// Headers except for the key, in order.
    pub headers: Vec<(String, String)>,
    /// The body as JSON.
    pub body: Vec<u8>,
}

/// Path of an endpoint, relative to a provider's base address.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndpointPath {
    /// Below the base address, such as `https://host/v1`.
    Base(String),
    /// Below the base address without its version (`/v1`).
    Root(String),
}

/// Encodes a chat request.
///
/// Fails if the model does not support the request; nothing that affects the form of the answer is
/// silently dropped.
pub fn encode(
    wire: WireProtocol,
    dialect: &ChatDialect,
    options: &WireOptions,
    request: &ModelRequest,
) -> Result<EncodedRequest, Failure> {
    let mut encoded = match wire {
        WireProtocol::Anthropic => anthropic::encode(options, request),
        WireProtocol::Responses => responses::encode(options, request),
        WireProtocol::Chat => chat::encode(dialect, options, request),
        WireProtocol::Gemini => gemini::encode(options, request),
    }?;
    if !request.omit.is_empty() {
        encoded.body = omit::without(&encoded.body, &request.omit);
    }
    Ok(encoded)
}

/// Creates the decoder for the answer to `request`. `target` names the provider in failures.
pub fn decoder(
    wire: WireProtocol,
    dialect: &ChatDialect,
    request: &ModelRequest,
    target: RequestTarget,
) -> Decoder {
    match wire {
        WireProtocol::Anthropic => anthropic::decoder(request, target),
        WireProtocol::Responses => responses::decoder(request, target),
        WireProtocol::Chat => chat::decoder(dialect, request, target),
        WireProtocol::Gemini => gemini::decoder(request, target),
    }
}

/// Encodes a fill-in-the-middle request for a server with these abilities. Fails if the server
/// takes only raw prompts and there is no template.
pub fn encode_fim(
    fim: &FimOptions,
    options: &WireOptions,
    request: &Fim,
) -> Result<EncodedRequest, Failure> {
    fim::encode(fim, options, request)
}

/// Creates the decoder for the answer to a fill-in-the-middle request.
pub fn fim_decoder(fim: &FimOptions, request: &Fim, target: RequestTarget) -> Decoder {
    fim::decoder(fim, request, target)
}

#[cfg(test)]
pub(crate) mod tests;
