//! Discovers model servers on this machine.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::future::join_all;
use model::TokenCount;
use serde_json::Value;
use tokio::time::timeout;

use super::{
    DiscoveryProbe, HttpRequest, Method, ProviderConfig, Providers, Transport, is_loopback,
};
use crate::wire::EndpointPath;

/// Maximum size of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 4 << 20;

/// A server that responded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveredServer {
    /// Id of the provider.
    pub provider: String,
    /// Display name of the provider.
    pub name: String,
    /// Base address of the server.
    pub base_url: String,
    /// Models that it serves.
    pub models: Vec<DiscoveredModel>,
}

/// A model that a server lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveredModel {
    /// Name of the model on that server.
    pub name: String,
    /// Context window in tokens, if the server reports it.
    pub context: Option<TokenCount>,
}

/// Probes all local providers' addresses concurrently, each within `time_limit`. Sends no keys.
/// Skips servers that do not respond. Never fails.
pub async fn discover(
    providers: &Providers,
    transport: &Arc<dyn Transport>,
    time_limit: Duration,
) -> Vec<DiscoveredServer> {
    let local = providers.all.iter().filter_map(|(id, config)| {
        let probe = config.probe.as_ref()?;
        is_loopback(config.host()).then(|| ask(transport, id, config, probe, time_limit))
    });
    let found = join_all(local).await;
    found.into_iter().flatten().collect()
}

/// Probes one provider's address, each request within `time_limit`. Returns `None` if it does not
/// respond with a list of models, or if the list shows a different kind of server. An empty list
/// counts only if the probe requires no owner.
async fn ask(
    transport: &Arc<dyn Transport>,
    id: &str,
    config: &ProviderConfig,
    probe: &DiscoveryProbe,
    time_limit: Duration,
) -> Option<DiscoveredServer> {
    let answer = get(transport, config, &probe.path, time_limit).await?;
    let entries = answer.pointer(&probe.list)?.as_array()?;
    let is_owned = |entry: &&Value| {
        probe.owner.is_empty()
            || entry.get("owned_by").and_then(Value::as_str) == Some(&probe.owner)
    };
    let all = match &probe.server {
        Some(server) => {
            let answer = get(transport, config, &server.path, time_limit).await;
            answer.and_then(|answer| tokens(&answer, &server.context))
        }
        None => None,
    };
    let models = entries.iter().filter(is_owned).filter_map(|entry| {
        Some(DiscoveredModel {
            name: entry.pointer(&probe.model)?.as_str()?.to_owned(),
            context: tokens(entry, &probe.context).or(all),
        })
    });
    let models: Vec<DiscoveredModel> = models.collect();
    // A different kind of server may listen there.
    if models.is_empty() && !(entries.is_empty() && probe.owner.is_empty()) {
        return None;
    }
    Some(DiscoveredServer {
        provider: id.to_owned(),
        name: config.name.clone(),
        base_url: config.base_url.clone(),
        models,
    })
}

/// Returns the number at a JSON pointer; `None` if `pointer` is empty, or leads to no non-negative
/// integer.
fn tokens(value: &Value, pointer: &str) -> Option<TokenCount> {
    if pointer.is_empty() {
        return None;
    }
    value.pointer(pointer)?.as_u64().map(TokenCount)
}

/// Returns the JSON at a path; `None` on a timeout, an error or another kind of response.
async fn get(
    transport: &Arc<dyn Transport>,
    config: &ProviderConfig,
    path: &EndpointPath,
    time_limit: Duration,
) -> Option<Value> {
    let call = HttpRequest {
        method: Method::Get,
        url: config.url(path).ok()?,
        headers: Vec::new(),
        key: None,
        body: Bytes::new(),
    };
    let answer = async {
        let mut response = transport.call(call, time_limit).await.ok()?;
        if response.status != 200 {
            return None;
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.body.next().await {
            body.extend_from_slice(&chunk.ok()?);
            if body.len() > MAX_RESPONSE_BYTES {
                return None;
            }
        }
        serde_json::from_slice(&body).ok()
    };
    timeout(time_limit, answer).await.ok()?
}

#[cfg(test)]
mod tests;
