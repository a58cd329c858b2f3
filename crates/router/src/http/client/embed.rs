//! Requests embeddings from a provider: one request, one response, no streaming.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use model::{Failure, FailureClass, ModelId};
use tokio::time::{Instant, timeout, timeout_at};

use super::{HttpClient, key_header, request_target};
use crate::http::exchange::MAX_ERROR_BYTES;
use crate::http::{ConnectionBroken, HttpRequest, HttpResponse, Method};
use crate::keys::Secret;
use crate::wire::{RequestTarget, WireProtocol, encode_embeddings, read_embeddings, refused};

/// Maximum size of a response in bytes: a few hundred vectors of the longest kind.
const MAX_RESPONSE_BYTES: usize = 32 << 20;
/// Timeout for the body of an error response after its status: a truncated or stalled body is still
/// informative.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout of the whole request. The user is looking at results that embeddings would improve, and
/// does not wait longer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

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
        let target = request_target(config, model);
        let asked = async {
            let response = transport.call(call, config.limits().connect).await?;
            self.read(response, &target, texts.len()).await
        };
        let answer = timeout(REQUEST_TIMEOUT, asked).await.unwrap_or_else(|_| {
            let message = format!(
                "{} returned no embeddings within {} s, so the request timed out.",
                target.name(),
                REQUEST_TIMEOUT.as_secs()
            );
            Err(Failure::new(FailureClass::Stalled, message))
        });
        if let Err(failure) = &answer
            && failure.class == FailureClass::Authentication
        {
            self.shared.forget_key(&model.provider).await;
        }
        answer.map_err(|failure| masked(key.as_ref(), failure))
    }

    /// Reads the response with the embeddings of `count` texts. Fails if its status is not a
    /// success, if it breaks off (`Torn`), or if it is too long or invalid (`Malformed`).
    async fn read(
        &self,
        mut response: HttpResponse,
        target: &RequestTarget,
        count: usize,
    ) -> Result<Vec<Vec<f32>>, Failure> {
        if !(200..300).contains(&response.status) {
            let body = error_body(&mut response).await;
            let now = (self.shared.now)();
            return Err(refused(
                target,
                response.status,
                &response.headers,
                &body,
                &[],
                now,
            ));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.body.next().await {
            let chunk = chunk.map_err(|ConnectionBroken(cause)| {
                let message = format!("The answer of {} broke off: {cause}.", target.name());
                Failure::new(FailureClass::Torn, message)
            })?;
            body.extend_from_slice(&chunk);
            if body.len() > MAX_RESPONSE_BYTES {
                let message = format!("{} sent a response that is too long.", target.name());
                return Err(Failure::new(FailureClass::Malformed, message));
            }
        }
        read_embeddings(&body, count).map_err(|why| {
            let message = format!(
                "The embeddings response of {} is invalid: {why}.",
                target.name()
            );
            Failure::new(FailureClass::Malformed, message)
        })
    }
}

/// Reads the body of an error response as far as it arrives.
async fn error_body(response: &mut HttpResponse) -> Vec<u8> {
    let deadline = Instant::now() + ERROR_BODY_TIMEOUT;
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES
        && let Ok(Some(Ok(chunk))) = timeout_at(deadline, response.body.next()).await
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(MAX_ERROR_BYTES);
    body
}

/// Masks the key in a failure, in case the provider quotes it.
fn masked(key: Option<&Secret>, mut failure: Failure) -> Failure {
    if let Some(key) = key {
        failure.message = key.mask(&failure.message);
    }
    failure
}

#[cfg(test)]
mod tests;
