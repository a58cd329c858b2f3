//! Requests embeddings from a provider: one request, one response, no streaming.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use model::{Failure, FailureClass, ModelId};
use tokio::time::{Instant, timeout, timeout_at};

use super::{HttpClient, key_header, site};
use crate::http::exchange::MAX_ERROR_BYTES;
use crate::http::{ConnectionBroken, HttpRequest, HttpResponse, Method};
use crate::keys::Secret;
use crate::wire::{RequestTarget, WireProtocol, encode_embeddings, read_embeddings, refused};

/// Maximum size of a response in bytes: a few hundred vectors of the longest kind.
const MAX_RESPONSE_BYTES: usize = 32 << 20;
/// Timeout for the body of an error response after its status: a truncated or stalled body is still
/// informative.
const REFUSAL: Duration = Duration::from_secs(2);
/// Timeout of the whole request. The user is looking at results that embeddings would improve, and
/// does not wait longer.
const PATIENCE: Duration = Duration::from_secs(10);

impl HttpClient {
    /// Returns the embeddings of `texts`, in order and of equal length. Tries once, and times out
    /// after ten seconds.
    ///
    /// # Errors
    ///
    /// Fails if the provider is unknown, lacks the endpoint or a key, is unreachable, or sends an
    /// invalid response.
    pub async fn embed(&self, model: &ModelId, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
        let (config, transport) = self.shared.provider(model)?;
        if !matches!(config.wire, WireProtocol::Chat | WireProtocol::Responses) {
            let message = format!(
                "{} has no supported embeddings endpoint; choose a model of an OpenAI-compatible \
                 provider.",
                config.name
            );
            return Err(Failure::new(FailureClass::InvalidRequest, message));
        }
        let encoded = encode_embeddings(&model.model, texts);
        let key = self.shared.key(model, config).await?;
        let call = HttpRequest {
            method: Method::Post,
            url: config.url(&encoded.path)?,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            key: key.clone().map(|secret| key_header(config, secret)),
            body: Bytes::from(encoded.body),
        };
        let site = site(config, model);
        let asked = async {
            let reply = transport.call(call, config.limits().connect).await?;
            self.read(reply, &site, texts.len()).await
        };
        let answer = timeout(PATIENCE, asked).await.unwrap_or_else(|_| {
            let message = format!(
                "{} returned no embeddings within {} s, so the request timed out.",
                site.name(),
                PATIENCE.as_secs()
            );
            Err(Failure::new(FailureClass::Stalled, message))
        });
        if let Err(failure) = &answer
            && failure.class == FailureClass::Authentication
        {
            self.shared.forget_key(&model.provider).await;
        }
        answer.map_err(|failure| without(key.as_ref(), failure))
    }

    async fn read(
        &self,
        mut reply: HttpResponse,
        site: &RequestTarget,
        count: usize,
    ) -> Result<Vec<Vec<f32>>, Failure> {
        if !(200..300).contains(&reply.status) {
            let body = refusal(&mut reply).await;
            let now = (self.shared.now)();
            return Err(refused(site, reply.status, &reply.headers, &body, &[], now));
        }
        let mut body = Vec::new();
        while let Some(piece) = reply.body.next().await {
            let piece = piece.map_err(|ConnectionBroken(cause)| {
                let message = format!("The answer of {} broke off: {cause}.", site.name());
                Failure::new(FailureClass::Torn, message)
            })?;
            body.extend_from_slice(&piece);
            if body.len() > MAX_RESPONSE_BYTES {
                let message = format!("{} sent a response that is too long.", site.name());
                return Err(Failure::new(FailureClass::Malformed, message));
            }
        }
        read_embeddings(&body, count).map_err(|why| {
            let message = format!(
                "The embeddings response of {} is invalid: {why}.",
                site.name()
            );
            Failure::new(FailureClass::Malformed, message)
        })
    }
}

/// Reads the body of an error response as far as it arrives.
async fn refusal(reply: &mut HttpResponse) -> Vec<u8> {
    let deadline = Instant::now() + REFUSAL;
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES
        && let Ok(Some(Ok(piece))) = timeout_at(deadline, reply.body.next()).await
    {
        body.extend_from_slice(&piece);
    }
    body.truncate(MAX_ERROR_BYTES);
    body
}

/// Masks the key in a failure, in case the provider quotes it.
fn without(key: Option<&Secret>, mut failure: Failure) -> Failure {
    if let Some(key) = key {
        failure.message = key.mask(&failure.message);
    }
    failure
}

#[cfg(test)]
mod tests;
