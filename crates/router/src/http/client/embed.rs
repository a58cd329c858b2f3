//! Vectors of texts from a provider. One request, one answer: nothing of it streams.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use model::{Failure, FailureClass, ModelId};
use tokio::time::{Instant, timeout, timeout_at};

use super::{HttpClient, key_header, site};
use crate::http::exchange::MOST_ERROR;
use crate::http::{Broken, Call, Method, Reply};
use crate::keys::Secret;
use crate::wire::{Site, Wire, encode_embeddings, read_embeddings, refused};

/// The most of an answer that is read: a few hundred vectors of the longest kind.
const MOST: usize = 32 << 20;
/// How long the text of a refusal may take, once its status is there: a body that is cut or stalls still says what it
/// said.
const REFUSAL: Duration = Duration::from_secs(2);
/// How long all of it may take. Somebody looks at an answer that would be better with it, and does not wait longer.
const PATIENCE: Duration = Duration::from_secs(10);

impl HttpClient {
    /// The vectors of texts, in their order and all of one length. Asks once, and gives up after ten seconds.
    ///
    /// # Errors
    /// The provider is not known, has no such endpoint or no key, cannot be reached, or answers with something else.
    pub async fn embed(&self, model: &ModelId, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
        let (config, transport) = self.shared.provider(model)?;
        if !matches!(config.wire, Wire::Chat | Wire::Responses) {
            let message = format!(
                "{} gives no vectors in a way that we know; name a model of a provider that speaks as OpenAI does.",
                config.name
            );
            return Err(Failure::new(FailureClass::InvalidRequest, message));
        }
        let encoded = encode_embeddings(&model.model, texts);
        let key = self.shared.key(model, config).await?;
        let call = Call {
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
                "{} gave no vectors within {} s, so the request was given up.",
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
        mut reply: Reply,
        site: &Site,
        count: usize,
    ) -> Result<Vec<Vec<f32>>, Failure> {
        if !(200..300).contains(&reply.status) {
            let body = refusal(&mut reply).await;
            let now = (self.shared.now)();
            return Err(refused(site, reply.status, &reply.headers, &body, &[], now));
        }
        let mut body = Vec::new();
        while let Some(piece) = reply.body.next().await {
            let piece = piece.map_err(|Broken(cause)| {
                let message = format!("The answer of {} broke off: {cause}.", site.name());
                Failure::new(FailureClass::Torn, message)
            })?;
            body.extend_from_slice(&piece);
            if body.len() > MOST {
                let message = format!("{} answers without an end.", site.name());
                return Err(Failure::new(FailureClass::Malformed, message));
            }
        }
        read_embeddings(&body, count).map_err(|why| {
            let message = format!("{} was asked for vectors, and {why}.", site.name());
            Failure::new(FailureClass::Malformed, message)
        })
    }
}

/// What a refusal says, as far as it comes.
async fn refusal(reply: &mut Reply) -> Vec<u8> {
    let deadline = Instant::now() + REFUSAL;
    let mut body = Vec::new();
    while body.len() < MOST_ERROR
        && let Ok(Some(Ok(piece))) = timeout_at(deadline, reply.body.next()).await
    {
        body.extend_from_slice(&piece);
    }
    body.truncate(MOST_ERROR);
    body
}

/// Nothing that a provider says of the key goes further.
fn without(key: Option<&Secret>, mut failure: Failure) -> Failure {
    if let Some(key) = key {
        failure.message = key.mask(&failure.message);
    }
    failure
}

#[cfg(test)]
mod tests;
