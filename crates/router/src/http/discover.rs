//! Which model servers run on this machine.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::future::join_all;
use model::TokenCount;
use serde_json::Value;
use tokio::time::timeout;

use super::{Call, Method, Probe, ProviderConfig, Providers, Transport, is_loopback};
use crate::wire::Path;

/// The most of an answer that is read.
const MOST: usize = 4 << 20;

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundServer {
    /// The provider's id.
    pub provider: String,
    /// Its name for people.
    pub name: String,
    /// Where it is.
    pub base_url: String,
    /// What it serves.
    pub models: Vec<FoundModel>,
}

/// A model that a server says it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundModel {
    /// Its name there.
    pub name: String,
    /// How many tokens fit, where the server says so.
    pub context: Option<TokenCount>,
}

/// Asks every local provider's address at once; each has `patience` to answer. No key is sent.
pub async fn discover(
    providers: &Providers,
    transport: &Arc<dyn Transport>,
    patience: Duration,
) -> Vec<FoundServer> {
    let local = providers.all.iter().filter_map(|(id, config)| {
        let probe = config.probe.as_ref()?;
        is_loopback(config.host()).then(|| ask(transport, id, config, probe, patience))
    });
    let found = join_all(local).await;
    found.into_iter().flatten().collect()
}

async fn ask(
    transport: &Arc<dyn Transport>,
    id: &str,
    config: &ProviderConfig,
    probe: &Probe,
    patience: Duration,
) -> Option<FoundServer> {
    let answer = get(transport, config, &probe.path, patience).await?;
    let entries = answer.pointer(&probe.list)?.as_array()?;
    let is_owned = |entry: &&Value| {
        probe.owner.is_empty()
            || entry.get("owned_by").and_then(Value::as_str) == Some(&probe.owner)
    };
    let all = match &probe.server {
        Some(server) => {
            let answer = get(transport, config, &server.path, patience).await;
            answer.and_then(|answer| tokens(&answer, &server.context))
        }
        None => None,
    };
    let models = entries.iter().filter(is_owned).filter_map(|entry| {
        Some(FoundModel {
            name: entry.pointer(&probe.model)?.as_str()?.to_owned(),
            context: tokens(entry, &probe.context).or(all),
        })
    });
    let models: Vec<FoundModel> = models.collect();
    // A server of another kind may listen there.
    if models.is_empty() && !(entries.is_empty() && probe.owner.is_empty()) {
        return None;
    }
    Some(FoundServer {
        provider: id.to_owned(),
        name: config.name.clone(),
        base_url: config.base_url.clone(),
        models,
    })
}

fn tokens(value: &Value, pointer: &str) -> Option<TokenCount> {
    if pointer.is_empty() {
        return None;
    }
    value.pointer(pointer)?.as_u64().map(TokenCount)
}

/// The JSON at a path; silence, an error and an answer of another kind are all no answer.
async fn get(
    transport: &Arc<dyn Transport>,
    config: &ProviderConfig,
    path: &Path,
    patience: Duration,
) -> Option<Value> {
    let call = Call {
        method: Method::Get,
        url: config.url(path).ok()?,
        headers: Vec::new(),
        key: None,
        body: Bytes::new(),
    };
    let answer = async {
        let mut reply = transport.call(call, patience).await.ok()?;
        if reply.status != 200 {
            return None;
        }
        let mut body = Vec::new();
        while let Some(piece) = reply.body.next().await {
            body.extend_from_slice(&piece.ok()?);
            if body.len() > MOST {
                return None;
            }
        }
        serde_json::from_slice(&body).ok()
    };
    timeout(patience, answer).await.ok()?
}

#[cfg(test)]
mod tests;
