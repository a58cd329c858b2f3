//! Providers as data: what they are called, where they are, how they are spoken to.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Failure, FailureClass};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Limits, host, is_loopback};
use crate::keys::KeySource;
use crate::wire::{Dialect, FimOptions, FimTemplate, Path, Wire};

const PROVIDERS: &str = include_str!("../../../../assets/models/providers.json");
const DIALECTS: &str = include_str!("../../../../assets/models/dialects.json");
const TEMPLATES: &str = include_str!("../../../../assets/models/fim-templates.json");

/// One provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// Its name for people.
    pub name: String,
    /// What it speaks.
    pub wire: Wire,
    /// Whose dialect of OpenAI Chat, by the dialect's name; the plain one if empty.
    #[serde(default)]
    pub dialect: String,
    /// Where it is, with the version where its wire wants one there: `https://host/v1`.
    pub base_url: String,
    /// Variables of the environment that say otherwise, the first that is set.
    #[serde(default)]
    pub base_url_env: Vec<String>,
    /// Variables of the environment that hold its key.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// Where else its key is found: these come first.
    #[serde(default)]
    pub key: Vec<KeySource>,
    /// The header that holds the key; `authorization` with `Bearer` if empty.
    #[serde(default)]
    pub key_header: String,
    /// Whether it answers nobody without a key.
    #[serde(default = "yes")]
    pub needs_key: bool,
    /// Whether it may be asked over plain HTTP though it is not on this machine.
    #[serde(default)]
    pub allow_plain_http: bool,
    /// What its models can do, as `WireOptions` reads it; a model's profile wins.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// What the person says of single models, in the same form; this wins over profiles.
    #[serde(default)]
    pub models: BTreeMap<String, Map<String, Value>>,
    /// How it fills gaps, if it does.
    #[serde(default)]
    pub fim: Option<FimOptions>,
    /// How it is found on this machine.
    #[serde(default)]
    pub probe: Option<Probe>,
    /// How long it may be silent.
    #[serde(default)]
    limits: LimitsFile,
}

/// How a server on this machine is found, and its models with it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// What is asked.
    pub path: Path,
    /// Where the answer lists models, as a JSON pointer.
    pub list: String,
    /// Where an entry says the model's name.
    pub model: String,
    /// Where it says how many tokens fit; empty if nowhere.
    #[serde(default)]
    pub context: String,
    /// What `owned_by` says where several servers use one protocol.
    #[serde(default)]
    pub owner: String,
    /// What else is asked, about all models together.
    #[serde(default)]
    pub server: Option<ServerProbe>,
}

/// A question about a server as a whole.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerProbe {
    /// What is asked.
    pub path: Path,
    /// Where the answer says how many tokens fit.
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

fn yes() -> bool {
    true
}

/// All providers, with the dialects and templates that they name.
#[derive(Clone, Debug)]
pub struct Providers {
    /// By id.
    pub all: BTreeMap<String, ProviderConfig>,
    dialects: BTreeMap<String, Dialect>,
    templates: BTreeMap<String, FimTemplate>,
}

impl Providers {
    /// Those that come with us, and what is wrong with their files: nothing, which a test proves.
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

    /// Adds the person's own: an id that is known changes only the members that are given. What cannot be
    /// used is left out and told.
    pub fn add(&mut self, own: &Map<String, Value>) -> Vec<String> {
        let builtin: Map<String, Value> = serde_json::from_str(PROVIDERS).unwrap_or_default();
        let mut problems = Vec::new();
        for (id, members) in own {
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
                Ok(config) if config.dialect.is_empty() || self.dialects.contains_key(&config.dialect) => {
                    self.all.insert(id.clone(), config);
                }
                Ok(config) => problems.push(format!(
                    "the provider \"{id}\" names the dialect \"{}\", which does not exist; there are {}",
                    config.dialect,
                    self.dialects.keys().cloned().collect::<Vec<_>>().join(", ")
                )),
                // The words of the reader may quote a value, and a value may be a key.
                Err(error) => problems.push(format!(
                    "the provider \"{id}\" cannot be used: {}",
                    without_values(&error.to_string())
                )),
            }
        }
        problems
    }

    /// Takes base addresses from the environment, where it has them.
    pub fn apply_environment(&mut self, variable: impl Fn(&str) -> Option<String>) {
        for config in self.all.values_mut() {
            let mut values = config.base_url_env.iter().filter_map(|name| variable(name));
            if let Some(value) = values.find(|value| !value.trim().is_empty()) {
                config.base_url = address(&value, &config.base_url);
            }
        }
    }

    /// The variables of the environment that hold keys; no child process may see them.
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

    /// The dialect that a provider speaks.
    pub fn dialect(&self, config: &ProviderConfig) -> Dialect {
        let named = self.dialects.get(&config.dialect);
        named.cloned().unwrap_or_default()
    }

    /// A template for gaps by its name.
    pub fn template(&self, name: &str) -> Option<&FimTemplate> {
        self.templates.get(name)
    }
}

impl ProviderConfig {
    /// Where its key is looked for, in order.
    pub fn key_sources(&self) -> Vec<KeySource> {
        let variables = self.key_env.iter().cloned().map(KeySource::Environment);
        let mut sources = self.key.clone();
        sources.extend(variables);
        // A keychain may ask the person to unlock it: not for a server that needs no key.
        if self.needs_key {
            sources.push(KeySource::Keychain);
        }
        sources
    }

    /// How long it may be silent.
    pub fn limits(&self) -> Limits {
        let seconds =
            |number: f64| Duration::try_from_secs_f64(number).unwrap_or(Duration::from_secs(300));
        Limits {
            connect: seconds(self.limits.connect_s),
            first_byte: seconds(self.limits.first_byte_s),
            idle: seconds(self.limits.idle_s),
        }
    }

    /// Its host, for sentences.
    pub fn host(&self) -> &str {
        host(&self.base_url)
    }

    /// The whole address of a path. Fails where plain HTTP would carry a conversation over a network.
    pub fn url(&self, path: &Path) -> Result<String, Failure> {
        let base = self.base_url.trim().trim_end_matches('/');
        let is_secure = base.starts_with("https://");
        let is_allowed = self.allow_plain_http || is_loopback(host(base));
        let is_plain_allowed = base.starts_with("http://") && is_allowed;
        if !(is_secure || is_plain_allowed) {
            let message = format!(
                "{} is asked at {}, but not over an encrypted connection. Use an https address, or set \
                 allow_plain_http for this provider.",
                self.name,
                host(base)
            );
            return Err(Failure::new(FailureClass::InvalidRequest, message));
        }
        Ok(match path {
            Path::Base(path) => format!("{base}/{path}"),
            Path::Root(path) => {
                let versions = ["/v1beta", "/v1"];
                let root = versions
                    .iter()
                    .find_map(|version| base.strip_suffix(version));
                format!("{}/{path}", root.unwrap_or(base))
            }
        })
    }
}

/// An address as people write it in the environment: with a scheme or without, with a path or without.
fn address(value: &str, usual: &str) -> String {
    let value = value.trim().trim_end_matches('/');
    if value.contains("://") {
        return value.to_owned();
    }
    let host = match value.strip_prefix("0.0.0.0") {
        // What a server listens on is not where it is reached.
        Some(port) => format!("127.0.0.1{port}"),
        None => value.to_owned(),
    };
    let scheme = if is_loopback(&host) { "http" } else { "https" };
    let path = usual.split_once("://").map_or("", |(_, rest)| rest);
    let path = path.find('/').map_or("", |at| &path[at..]);
    match host.contains('/') {
        true => format!("{scheme}://{host}"),
        false => format!("{scheme}://{host}{path}"),
    }
}

fn read<T: serde::de::DeserializeOwned + Default>(
    what: &str,
    text: &str,
    problems: &mut Vec<String>,
) -> T {
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            problems.push(format!("{what} cannot be read: {error}"));
            T::default()
        }
    }
}

/// A reader's words without what it quotes.
fn without_values(words: &str) -> String {
    let mut quoted = words.split('"');
    let mut kept = quoted.next().unwrap_or_default().to_owned();
    for (at, piece) in quoted.enumerate() {
        kept.push_str(if at % 2 == 0 { "…" } else { piece });
    }
    kept
}

#[cfg(test)]
mod tests;
