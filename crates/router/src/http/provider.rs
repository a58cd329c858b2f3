//! Provider configurations as data: names, addresses, protocols and options.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Failure, FailureClass, ModelRequest};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{HttpTimeouts, host, is_loopback};
use crate::keys::KeySource;
use crate::wire::{ChatDialect, EndpointPath, FimOptions, FimTemplate, WireOptions, WireProtocol};

const PROVIDERS: &str = include_str!("../../../../assets/models/providers.json");
const DIALECTS: &str = include_str!("../../../../assets/models/dialects.json");
const TEMPLATES: &str = include_str!("../../../../assets/models/fim-templates.json");

/// Configuration of one provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// Display name of the provider.
    pub name: String,
    /// Wire protocol for chats.
    pub wire: WireProtocol,
    /// Wire protocol for chats with a predicted answer, if `wire` has none.
    #[serde(default)]
    pub prediction_wire: Option<WireProtocol>,
    /// Name of its OpenAI Chat dialect; the standard one if empty.
    #[serde(default)]
    pub dialect: String,
    /// Base address, including the version where the wire requires one: `https://host/v1`.
    pub base_url: String,
    /// Environment variables that override the base address; the first one set applies.
    #[serde(default)]
    pub base_url_env: Vec<String>,
    /// Environment variables that may contain its key.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// Further sources of its key, which take precedence.
    #[serde(default)]
    pub key: Vec<KeySource>,
    /// Header for the key; `authorization` with `Bearer` if empty.
    #[serde(default)]
    pub key_header: String,
    /// Whether every request requires a key.
    #[serde(default = "yes")]
    pub needs_key: bool,
    /// Whether plain HTTP is allowed although it is not on this machine.
    #[serde(default)]
    pub allow_plain_http: bool,
    /// Default options of its models, in the format of `WireOptions`; a model's profile overrides
    /// them.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// The user's options for single models, in the same format; they override profiles.
    #[serde(default)]
    pub models: BTreeMap<String, Map<String, Value>>,
    /// Fill-in-the-middle options, if supported.
    #[serde(default)]
    pub fim: Option<FimOptions>,
    /// Discovery on this machine, if supported.
    #[serde(default)]
    pub probe: Option<DiscoveryProbe>,
    /// Timeouts for its responses.
    #[serde(default)]
    limits: LimitsFile,
}

/// Discovery of a local server and its models.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscoveryProbe {
    /// Path of the model list.
    pub path: EndpointPath,
    /// JSON pointer to the list of models in the response.
    pub list: String,
    /// JSON pointer to the name in an entry.
    pub model: String,
    /// JSON pointer to the context window in an entry; empty if none.
    #[serde(default)]
    pub context: String,
    /// Expected value of `owned_by`, to distinguish servers with the same protocol.
    #[serde(default)]
    pub owner: String,
    /// A further request about the server as a whole.
    #[serde(default)]
    pub server: Option<ServerProbe>,
}

/// A request about a server as a whole.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerProbe {
    /// Path of the request.
    pub path: EndpointPath,
    /// JSON pointer to the context window in tokens.
    pub context: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LimitsFile {
    connect_s: f64,
    first_byte_s: f64,
    idle_s: f64,
}

impl Default for LimitsFile {
    fn default() -> Self {
        // A long prompt on a machine without an accelerator takes minutes before its first token.
        Self {
            connect_s: 15.0,
            first_byte_s: 300.0,
            idle_s: 120.0,
        }
    }
}

/// A default for serde.
fn yes() -> bool {
    true
}

/// All providers, with the dialects and templates that they refer to.
#[derive(Clone, Debug)]
pub struct Providers {
    /// Providers by their id.
    pub all: BTreeMap<String, ProviderConfig>,
    dialects: BTreeMap<String, ChatDialect>,
    templates: BTreeMap<String, FimTemplate>,
}

impl Providers {
    /// Returns the built-in providers, and the problems in their files: none, as a test verifies.
    pub fn builtin() -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut providers = Self {
            all: BTreeMap::new(),
            dialects: read("the built-in dialects", DIALECTS, &mut problems),
            templates: read("the built-in templates", TEMPLATES, &mut problems),
        };
        let files: Map<String, Value> = read("the built-in providers", PROVIDERS, &mut problems);
        problems.extend(providers.add(&files));
        (providers, problems)
    }

    /// Adds the user's providers. For a known id, only the given members are overridden. Skips
    /// invalid entries and returns one sentence about each.
    pub fn add(&mut self, user: &Map<String, Value>) -> Vec<String> {
        let builtin: Map<String, Value> = serde_json::from_str(PROVIDERS).unwrap_or_default();
        let mut problems = Vec::new();
        for (id, members) in user {
            let Value::Object(members) = members else {
                problems.push(format!("the provider \"{id}\" must be an object"));
                continue;
            };
            let mut merged = match builtin.get(id) {
                Some(Value::Object(known)) => known.clone(),
                _ => Map::new(),
            };
            merged
                .entry("name")
                .or_insert_with(|| Value::from(id.as_str()));
            merged.extend(members.clone());
            match serde_json::from_value::<ProviderConfig>(Value::Object(merged)) {
                Ok(config)
                    if config.dialect.is_empty() || self.dialects.contains_key(&config.dialect) =>
                {
                    self.all.insert(id.clone(), config);
                }
                Ok(config) => problems.push(format!(
                    "the provider \"{id}\" uses the unknown dialect \"{}\"; available are {}",
                    config.dialect,
                    self.dialects.keys().cloned().collect::<Vec<_>>().join(", ")
                )),
                // The parser's message may quote a value, and a value may be a key.
                Err(error) => problems.push(format!(
                    "the provider \"{id}\" cannot be used: {}",
                    without_values(&error.to_string())
                )),
            }
        }
        problems
    }

    /// Applies base addresses from environment variables that the configurations name. Of the
    /// variables of one provider, the first that is not blank wins. `variable` returns a variable's
    /// value.
    pub fn apply_environment(&mut self, variable: impl Fn(&str) -> Option<String>) {
        for config in self.all.values_mut() {
            let mut values = config.base_url_env.iter().filter_map(|name| variable(name));
            if let Some(value) = values.find(|value| !value.trim().is_empty()) {
                config.base_url = address(&value, &config.base_url);
            }
        }
    }

    /// Returns the environment variables that contain keys; no child process may see them.
    pub fn key_variables(&self) -> Vec<String> {
        let mut names = Vec::new();
        for config in self.all.values() {
            names.extend(config.key_env.iter().cloned());
            names.extend(config.key.iter().filter_map(|source| match source {
                KeySource::Environment(name) => Some(name.clone()),
                _ => None,
            }));
        }
        names.sort();
        names.dedup();
        names
    }

    /// Returns the dialect of a provider, or the standard dialect if the dialect's name is empty or
    /// unknown.
    pub fn dialect(&self, config: &ProviderConfig) -> ChatDialect {
        let named = self.dialects.get(&config.dialect);
        named.cloned().unwrap_or_default()
    }

    /// Returns the fill-in-the-middle template with this name, or `None` if there is no such
    /// template.
    pub fn template(&self, name: &str) -> Option<&FimTemplate> {
        self.templates.get(name)
    }
}

impl ProviderConfig {
    /// Returns the sources of its key, in order of precedence.
    pub fn key_sources(&self) -> Vec<KeySource> {
        let variables = self.key_env.iter().cloned().map(KeySource::Environment);
        let mut sources = self.key.clone();
        sources.extend(variables);
        // A keychain may ask the user to unlock it, so a server that needs no key skips it.
        if self.needs_key {
            sources.push(KeySource::Keychain);
        }
        sources
    }

    /// Returns the timeouts of the provider's requests. An invalid number counts as 300 seconds.
    pub fn limits(&self) -> HttpTimeouts {
        let seconds =
            |number: f64| Duration::try_from_secs_f64(number).unwrap_or(Duration::from_secs(300));
        HttpTimeouts {
            connect: seconds(self.limits.connect_s),
            first_byte: seconds(self.limits.first_byte_s),
            idle: seconds(self.limits.idle_s),
        }
    }

    /// Returns the wire protocol for a chat request to a model with these options.
    pub(super) fn chat_wire(&self, options: &WireOptions, request: &ModelRequest) -> WireProtocol {
        match self.prediction_wire {
            Some(wire) if options.prediction(request).is_some() => wire,
            _ => self.wire,
        }
    }

    /// Returns its host, for error sentences.
    pub fn host(&self) -> &str {
        host(&self.base_url)
    }

    /// Returns the full address of a path. Fails if plain HTTP would carry a conversation over a
    /// network.
    pub fn url(&self, path: &EndpointPath) -> Result<String, Failure> {
        let base = self.base_url.trim().trim_end_matches('/');
        let is_secure = base.starts_with("https://");
        let is_allowed = self.allow_plain_http || is_loopback(host(base));
        let is_plain_allowed = base.starts_with("http://") && is_allowed;
        if !(is_secure || is_plain_allowed) {
            let message = format!(
                "{} would be reached at {} without encryption. Use an https address, or set \
                 allow_plain_http for this provider.",
                self.name,
                host(base)
            );
            return Err(Failure::new(FailureClass::InvalidRequest, message));
        }
        Ok(match path {
            EndpointPath::Base(path) => format!("{base}/{path}"),
            EndpointPath::Root(path) => {
                let versions = ["/v1beta", "/v1"];
                let root = versions
                    .iter()
                    .find_map(|version| base.strip_suffix(version));
                format!("{}/{path}", root.unwrap_or(base))
            }
        })
    }
}

/// Parses an address from an environment variable, which may lack the scheme or the path.
fn address(value: &str, default: &str) -> String {
    let value = value.trim().trim_end_matches('/');
    if value.contains("://") {
        return value.to_owned();
    }
    let host = match value.strip_prefix("0.0.0.0") {
        // A listening address such as 0.0.0.0 is not one to connect to.
        Some(port) => format!("127.0.0.1{port}"),
        None => value.to_owned(),
    };
    let scheme = if is_loopback(&host) { "http" } else { "https" };
    let path = default.split_once("://").map_or("", |(_, rest)| rest);
    let path = path.find('/').map_or("", |at| &path[at..]);
    if host.contains('/') {
        format!("{scheme}://{host}")
    } else {
        format!("{scheme}://{host}{path}")
    }
}

fn read<T: serde::de::DeserializeOwned + Default>(
    name: &str,
    text: &str,
    problems: &mut Vec<String>,
) -> T {
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            problems.push(format!("{name} cannot be read: {error}"));
            T::default()
        }
    }
}

/// Removes the quoted values from a parser's message.
fn without_values(message: &str) -> String {
    let mut quoted = message.split('"');
    let mut masked = quoted.next().unwrap_or_default().to_owned();
    for (at, part) in quoted.enumerate() {
        masked.push_str(if at % 2 == 0 { "…" } else { part });
    }
    masked
}

#[cfg(test)]
mod tests;
