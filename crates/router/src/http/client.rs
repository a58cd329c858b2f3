//! The client for all providers: finds the key, encodes the request, and decodes the answer.

mod embed;
mod refused_predictions;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use model::{
    Attempt, Failure, FailureClass, Fim, ModelClient, ModelId, ModelRequest, Profile, StreamEvent,
};
use tokio::sync::Mutex;

use self::refused_predictions::{ModelAddress, RefusedPredictions};
use super::{
    HttpRequest, KeyHeader, Method, NetworkTransport, ProviderConfig, Providers, Transport,
    exchange,
};
use crate::keys::{Keys, Secret, SecretSource};
use crate::wire::{
    Decoder, EncodedRequest, RequestTarget, WireOptions, decoder, encode, encode_fim, fim_decoder,
    profile_options,
};

/// Looks up model profiles.
pub trait ProfileSource: Send + Sync {
    /// Returns the profile of a model; `None` leaves it to the provider's options.
    fn profile(&self, model: &ModelId) -> Option<Profile>;
}

impl<F: Fn(&ModelId) -> Option<Profile> + Send + Sync> ProfileSource for F {
    fn profile(&self, model: &ModelId) -> Option<Profile> {
        self(model)
    }
}

/// Client for all configured providers. It retries nothing but a request whose prediction the provider
/// refuses, without it.
#[derive(Clone)]
pub struct HttpClient {
    shared: Arc<HttpClientInner>,
}

struct HttpClientInner {
    providers: Providers,
    profiles: Arc<dyn ProfileSource>,
    secrets: Arc<dyn SecretSource>,
    /// One per provider, so that each has its own connection pool.
    transports: HashMap<String, Arc<dyn Transport>>,
    /// Resolved keys; a rejected key is looked up again.
    keys: HashMap<String, Mutex<Option<Secret>>>,
    refused_predictions: RefusedPredictions,
    now: fn() -> SystemTime,
}

impl HttpClient {
    /// Creates a client over the network. Requires tokio's runtime.
    pub fn new(
        providers: Providers,
        profiles: Arc<dyn ProfileSource>,
        secrets: Arc<dyn SecretSource>,
    ) -> Self {
        Self::with_transport(providers, profiles, secrets, |_| {
            Arc::new(NetworkTransport::default())
        })
    }

    /// Creates a client over other transports, such as a recorder or recordings.
    pub fn with_transport(
        providers: Providers,
        profiles: Arc<dyn ProfileSource>,
        secrets: Arc<dyn SecretSource>,
        transport: impl Fn(&str) -> Arc<dyn Transport>,
    ) -> Self {
        let ids = || providers.all.keys();
        let transports = ids().map(|id| (id.clone(), transport(id))).collect();
        let keys = ids().map(|id| (id.clone(), Mutex::default())).collect();
        Self {
            shared: Arc::new(HttpClientInner {
                profiles,
                secrets,
                transports,
                keys,
                refused_predictions: RefusedPredictions::default(),
                providers,
                now: SystemTime::now,
            }),
        }
    }

    fn start(
        &self,
        model: ModelId,
        attempt: Attempt,
        write: impl FnOnce(&RequestContext<'_>) -> Result<(EncodedRequest, Decoder), Failure>
        + Send
        + 'static,
    ) -> BoxStream<'static, StreamEvent> {
        let shared = self.shared.clone();
        let prepared = async move {
            match shared.prepare(&model, attempt, write).await {
                Ok(events) => shared.clone().forget_refused_key(&model, events),
                Err(failure) => stream::iter([StreamEvent::Failed(failure)]).boxed(),
            }
        };
        stream::once(prepared).flatten().boxed()
    }

    /// Sends a request as it is.
    fn send_once(
        &self,
        request: ModelRequest,
        attempt: Attempt,
    ) -> BoxStream<'static, StreamEvent> {
        self.start(request.model.clone(), attempt, move |context| {
            let RequestContext {
                config, options, ..
            } = context;
            let dialect = context.providers.dialect(config);
            let wire = config.chat_wire(options, &request);
            let encoded = encode(wire, &dialect, options, &request)?;
            let decoder = decoder(wire, &dialect, &request, context.target());
            Ok((encoded, decoder))
        })
    }

    /// Sends a request with a prediction; if the provider refuses the prediction, remembers that and
    /// sends the request without it.
    async fn send_predicted(
        self,
        address: ModelAddress,
        request: ModelRequest,
        attempt: Attempt,
    ) -> BoxStream<'static, StreamEvent> {
        let plain = refused_predictions::without(request.clone());
        let mut events = self.send_once(request, attempt.clone());
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            match event {
                StreamEvent::RateLimits(_) => seen.push(event),
                StreamEvent::Failed(failure) if refused_predictions::is_refused(&failure) => {
                    let now = (self.shared.now)();
                    self.shared.refused_predictions.note(address, now);
                    // Another body needs another key.
                    let key = Some(attempt.idempotency_key).filter(|key| !key.is_empty());
                    let attempt = Attempt {
                        idempotency_key: key.map(|key| key + "-plain").unwrap_or_default(),
                        ..attempt
                    };
                    events = self.send_once(plain, attempt);
                    break;
                }
                event => {
                    seen.push(event);
                    break;
                }
            }
        }
        stream::iter(seen).chain(events).boxed()
    }
}

impl ModelClient for HttpClient {
    fn send(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        self.send_attempt(request, Attempt::default())
    }

    fn complete(&self, request: Fim) -> BoxStream<'static, StreamEvent> {
        self.complete_attempt(request, Attempt::default())
    }

    fn send_attempt(
        &self,
        request: ModelRequest,
        attempt: Attempt,
    ) -> BoxStream<'static, StreamEvent> {
        let Some(address) = self.shared.predicted(&request) else {
            return self.send_once(request, attempt);
        };
        let now = (self.shared.now)();
        if self.shared.refused_predictions.has(&address, now) {
            return self.send_once(refused_predictions::without(request), attempt);
        }
        let sending = self.clone().send_predicted(address, request, attempt);
        stream::once(sending).flatten().boxed()
    }

    fn complete_attempt(&self, request: Fim, attempt: Attempt) -> BoxStream<'static, StreamEvent> {
        self.start(request.model.clone(), attempt, move |context| {
            let Some(mut fim) = context.config.fim.clone() else {
                let message = format!(
                    "{} does not support fill-in-the-middle; choose another model for completions.",
                    context.config.name
                );
                return Err(Failure::new(FailureClass::InvalidRequest, message));
            };
            if let Some(name) = &context.options.fim_template {
                fim.template = context.providers.template(name).cloned();
            }
            let encoded = encode_fim(&fim, context.options, &request)?;
            Ok((encoded, fim_decoder(&fim, &request, context.target())))
        })
    }
}

/// Everything needed to encode a request.
struct RequestContext<'a> {
    providers: &'a Providers,
    config: &'a ProviderConfig,
    options: &'a WireOptions,
    model: &'a ModelId,
}

impl RequestContext<'_> {
    fn target(&self) -> RequestTarget {
        request_target(self.config, self.model)
    }
}

/// Names the request's target for error sentences.
fn request_target(config: &ProviderConfig, model: &ModelId) -> RequestTarget {
    RequestTarget {
        provider: config.name.clone(),
        host: config.host().to_owned(),
        model: model.model.clone(),
    }
}

impl HttpClientInner {
    /// Returns the provider of a model, with its transport.
    fn provider(&self, model: &ModelId) -> Result<(&ProviderConfig, &Arc<dyn Transport>), Failure> {
        let config = self.providers.all.get(&model.provider);
        config
            .zip(self.transports.get(&model.provider))
            .ok_or_else(|| {
                let message = format!(
                    "There is no provider \"{}\"; use one of {}, or add it to the settings.",
                    model.provider,
                    self.providers
                        .all
                        .keys()
                        .cloned()
                        .collect::<Vec<_>>()
                        .join(", ")
                );
                Failure::new(FailureClass::NoSuchModel, message)
            })
    }

    /// Returns the address of a request's model, if the request has a prediction.
    fn predicted(&self, request: &ModelRequest) -> Option<ModelAddress> {
        request.usable_prediction()?;
        let config = self.providers.all.get(&request.model.provider)?;
        Some(ModelAddress {
            base_url: config.base_url.clone(),
            model: request.model.model.clone(),
        })
    }

    /// Encodes a request by `write` and returns its stream, which sends it when first polled. May
    /// run a key command or read the keychain. Fails if `write` fails, the provider is unknown, its
    /// options or address are invalid, or a required key is missing.
    async fn prepare(
        &self,
        model: &ModelId,
        attempt: Attempt,
        write: impl FnOnce(&RequestContext<'_>) -> Result<(EncodedRequest, Decoder), Failure>,
    ) -> Result<BoxStream<'static, StreamEvent>, Failure> {
        let (config, transport) = self.provider(model)?;
        let profile = self.profiles.profile(model);
        let profile = profile.as_ref().map(profile_options).unwrap_or_default();
        let own = config.models.get(&model.model).cloned().unwrap_or_default();
        let options = WireOptions::layered([&config.options, &profile, &own]).map_err(|error| {
            let message = format!("The options of {model} cannot be read: {error}.");
            Failure::new(FailureClass::InvalidRequest, message)
        })?;
        let context = RequestContext {
            providers: &self.providers,
            config,
            options: &options,
            model,
        };
        let (encoded, decoder) = write(&context)?;
        let url = config.url(&encoded.path)?;
        let key = self.key(model, config).await?;
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(encoded.headers);
        if !attempt.idempotency_key.is_empty() {
            headers.push(("idempotency-key".to_owned(), attempt.idempotency_key));
            headers.push(("x-retry-count".to_owned(), attempt.retries.to_string()));
        }
        let call = HttpRequest {
            method: Method::Post,
            url,
            headers,
            key: key.map(|secret| key_header(config, secret)),
            body: Bytes::from(encoded.body),
        };
        let now = (self.now)();
        Ok(exchange(
            transport,
            call,
            config.limits(),
            decoder,
            context.target(),
            now,
        ))
    }

    /// Returns the provider's key, from the cache or from its sources. Returns `Ok(None)` if the
    /// provider has no key and needs none. Fails with `Authentication` if a key command fails, or
    /// if a needed key is missing.
    async fn key(
        &self,
        model: &ModelId,
        config: &ProviderConfig,
    ) -> Result<Option<Secret>, Failure> {
        let Some(cached) = self.keys.get(&model.provider) else {
            return Ok(None);
        };
        let mut cached = cached.lock().await;
        if let Some(secret) = cached.as_ref() {
            return Ok(Some(secret.clone()));
        }
        let keys = Keys {
            secrets: self.secrets.as_ref(),
        };
        let failure = |message| Failure::new(FailureClass::Authentication, message);
        let found = keys.find(&model.provider, &config.key_sources()).await;
        let found = found.map_err(|why| failure(format!("No key for {}: {why}.", config.name)))?;
        match found {
            Some(found) => {
                *cached = Some(found.secret.clone());
                Ok(Some(found.secret))
            }
            None if config.needs_key => Err(failure(format!(
                "There is no key for {}. Set {}, or enter one in the settings.",
                config.name,
                config.key_env.first().map_or("a key", String::as_str)
            ))),
            None => Ok(None),
        }
    }

    /// Drops a rejected key; it may have been replaced, so the next request looks it up again.
    fn forget_refused_key(
        self: Arc<Self>,
        model: &ModelId,
        events: BoxStream<'static, StreamEvent>,
    ) -> BoxStream<'static, StreamEvent> {
        let provider = model.provider.clone();
        events
            .then(move |event| -> BoxFuture<'static, StreamEvent> {
                let is_refused = matches!(
                    &event,
                    StreamEvent::Failed(failure) if failure.class == FailureClass::Authentication
                );
                if !is_refused {
                    return std::future::ready(event).boxed();
                }
                let (shared, provider) = (self.clone(), provider.clone());
                async move {
                    shared.forget_key(&provider).await;
                    event
                }
                .boxed()
            })
            .boxed()
    }

    async fn forget_key(&self, provider: &str) {
        if let Some(cached) = self.keys.get(provider) {
            *cached.lock().await = None;
        }
    }
}

/// Returns the header that carries the key. The default is `authorization` with `Bearer`; the
/// provider's configuration can name another header, which carries the key alone.
pub(super) fn key_header(config: &ProviderConfig, secret: Secret) -> KeyHeader {
    match config.key_header.as_str() {
        "" => KeyHeader {
            name: "authorization".to_owned(),
            before: "Bearer ",
            secret,
        },
        name => KeyHeader {
            name: name.to_lowercase(),
            before: "",
            secret,
        },
    }
}

#[cfg(test)]
mod tests;
