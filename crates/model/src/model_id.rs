//! The id of a model at a provider.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Id of a model at a provider, written `provider/model`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelId {
    /// Name of the provider in the configuration, such as `anthropic` or `local`.
    pub provider: String,
    /// Name of the model in the provider's spelling; may contain slashes.
    pub model: String,
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

impl ModelId {
    /// Parses `provider/model`, split at the first slash. `None` if either half is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, model) = text.split_once('/')?;
        if provider.is_empty() || model.is_empty() {
            return None;
        }
        Some(Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
        })
    }
}
