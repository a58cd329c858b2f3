//! What goes over the network to each provider, as pure functions: a request to bytes, bytes to events.
//!
//! Must not know: sockets, clocks, keys; what a model is called decides nothing, `WireOptions` decide.
//! Invariant: equal requests give equal bytes, so that a provider's cache finds its prefix again.
//! Invariant: a `Decoder` gives the same events however its bytes are cut into chunks, and ends them once.
//! Start at `encode` and `Decoder`.

mod answer;
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
mod responses;
mod schema;
mod text_input;

use model::{Failure, Fim, Request};

pub use decoder::Decoder;
pub use dialect::Dialect;
pub use embeddings::{encode_embeddings, read_embeddings};
pub use failure::{Site, refused};
pub use fim::{FimOptions, FimTemplate, FimWire};
pub use limits::{rate_limits, retry_after};
pub use options::{EffortMap, EffortValue, SchemaSupport, Thinking, WireOptions};
pub use profile::profile_options;

/// A provider's way of speaking about chats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions and its dialects.
    Chat,
    /// Gemini `streamGenerateContent`.
    Gemini,
}

/// A request as it goes over the network, but for its host and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Where it is posted.
    pub path: Path,
    /// What it says beside the key, in order.
    pub headers: Vec<(String, String)>,
    /// The JSON.
    pub body: Vec<u8>,
}

/// Where a request is posted, relative to a provider's base address.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Below the base address, such as `https://host/v1`.
    Base(String),
    /// Below the base address without its version (`/v1`).
    Root(String),
}

/// A chat request's bytes.
///
/// Fails where the model cannot do what is asked; nothing is left out in silence that changes the answer's
/// shape.
pub fn encode(
    wire: Wire,
    dialect: &Dialect,
    options: &WireOptions,
    request: &Request,
) -> Result<Encoded, Failure> {
    let mut encoded = match wire {
        Wire::Anthropic => anthropic::encode(options, request),
        Wire::Responses => responses::encode(options, request),
        Wire::Chat => chat::encode(dialect, options, request),
        Wire::Gemini => gemini::encode(options, request),
    }?;
    if !request.omit.is_empty() {
        encoded.body = omit::without(&encoded.body, &request.omit);
    }
    Ok(encoded)
}

/// What reads the answer to `request`. `site` names the provider in failures.
pub fn decoder(wire: Wire, dialect: &Dialect, request: &Request, site: Site) -> Decoder {
    match wire {
        Wire::Anthropic => anthropic::decoder(request, site),
        Wire::Responses => responses::decoder(request, site),
        Wire::Chat => chat::decoder(dialect, request, site),
        Wire::Gemini => gemini::decoder(request, site),
    }
}

/// A fill-in-the-middle request's bytes.
pub fn encode_fim(
    fim: &FimOptions,
    options: &WireOptions,
    request: &Fim,
) -> Result<Encoded, Failure> {
    fim::encode(fim, options, request)
}

/// What reads the answer to a fill-in-the-middle request.
pub fn fim_decoder(fim: &FimOptions, request: &Fim, site: Site) -> Decoder {
    fim::decoder(fim, request, site)
}

#[cfg(test)]
pub(crate) mod tests;
