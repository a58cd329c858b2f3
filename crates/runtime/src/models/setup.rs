//! Combines settings, keys, local servers and the built-in tables into the configured models.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autocomplete::ModelCandidate;
use base::AbsPath;
use host::environment::{Recipient, text_variable, variables, withhold};
use host::{Dirs, Files};
use model::policy::route::Privacy;
use model::policy::{KeyName, Route, RouteLimits};
use model::{
    FactsRow, ModelClient, ModelFacts, ModelId, ParallelTools, Price, Prices, Profile, Profiles,
    RowKind, Tier, TokenCount,
};
use router::actor::{RouteConfig, StallLimits};
use router::http::{
    DiscoveredServer, HttpClient, NetworkTransport, ProviderConfig, Providers, Transport, discover,
};
use router::keys::{KeySource, Keys, SecretSource, SystemSecrets};
use router::wire::FimOptions;
use serde_json::{Map, Value, json};
use settings::{ModelSettings, ProviderWire, Settings, SettingsSource};

use crate::Error;

const PRICES: &str = include_str!("../../../../assets/models/prices.json");
const PROFILES: &str = include_str!("../../../../assets/models/profiles.json");
/// The largest settings file or table that is read.
const MAX_SETTINGS_BYTES: u64 = 32 << 20;
/// Timeouts of a local server's model list and of a keychain query.
const PATIENCE: Duration = Duration::from_millis(800);
const KEY_PATIENCE: Duration = Duration::from_secs(3);
/// The maximum concurrent requests to a provider or a local server.
const AT_ONCE: u32 = 64;
const AT_ONCE_LOCAL: u32 = 4;
/// The adapters detect silence on the wire first; this limit catches the rest.
const STALL: StallLimits = StallLimits {
    first_event: Duration::from_secs(330),
    idle: Duration::from_secs(900),
};

/// The assumed context, in tokens, of a remote model whose context is unknown. A smaller model
/// reports an overflow, and the conversation is compacted to fit.
const UNKNOWN_CONTEXT: u64 = 128_000;
/// The context of the demo model, in tokens. With less, its conversations are compacted, which the script does not expect.
const DEMO_CONTEXT: u64 = 100_000;

/// The name of the demo model.
pub const DEMO: &str = "demo";
/// The name that lets the router choose a model.
pub const AUTO: &str = "auto";

/// The providers and models at the start of the program.
pub struct Setup {
    pub settings: ModelSettings,
    pub providers: Vec<ConfiguredProvider>,
    pub servers: Vec<DiscoveredServer>,
    pub models: Vec<ConfiguredModel>,
    /// Errors in the settings and tables, as sentences.
    pub problems: Vec<String>,
    all: Providers,
    prices: Prices,
    profiles: Arc<Profiles>,
}

/// A provider of the built-in table or of the settings.
pub struct ConfiguredProvider {
    pub id: String,
    pub name: String,
    pub base_url: String,
    pub key: KeyState,
}

/// Whether a provider is usable. Keeps only the location of a key, never the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// There is a key, in this place.
    Found(String),
    /// There is none; these environment variables could hold one.
    Missing(Vec<String>),
    /// The provider needs no key.
    NotNeeded,
    /// The user configured a key that cannot be read, for this reason.
    Unreadable(String),
}

/// A model that is ready to use.
pub struct ConfiguredModel {
    pub id: ModelId,
    pub key: KeyName,
    pub profile: Profile,
    pub price: Option<Price>,
    pub is_local: bool,
    /// The same model's name at its maker.
    pub(crate) same_as: Option<ModelId>,
    /// The source of the price, and its date.
    pub source: Option<(String, String)>,
}

impl Setup {
    /// Finds providers and models. Takes up to a few seconds, because it queries servers and a
    /// keychain.
    pub async fn find(files: &dyn Files, dirs: &Dirs) -> Self {
        let mut problems = Vec::new();
        let settings = read_settings(files, dirs, &mut problems).models;
        let (all, wrong) = providers_of(&settings);
        problems.extend(wrong);
        let (prices, wrong) = Prices::parse(PRICES);
        problems.extend(wrong);
        let prices = match own_table(files, dirs, "prices.json", Prices::parse, &mut problems) {
            Some(own) => prices.overlaid(own),
            None => prices,
        };
        let (profiles, wrong) = Profiles::parse(PROFILES);
        problems.extend(wrong);
        let own = own_table(files, dirs, "profiles.json", Profiles::parse, &mut problems);
        let profiles = match own {
            Some(own) => profiles.overlaid(own),
            None => profiles,
        };
        let transport: Arc<dyn Transport> = Arc::new(NetworkTransport::default());
        let vault = secret_source();
        let (servers, providers) = futures::join!(
            discover(&all, &transport, PATIENCE),
            find_keys(&all.all, &vault)
        );
        let mut setup = Self {
            settings,
            providers,
            servers,
            models: Vec::new(),
            problems,
            all,
            prices,
            profiles: Arc::new(profiles),
        };
        setup.models = setup.find_models();
        setup
    }

    /// Adds a model that the user names, even if it is missing from the tables and the servers'
    /// lists. Does nothing if the model is already known. Returns `None` if the model's provider is
    /// unknown.
    pub fn add_named(&mut self, id: &ModelId) -> Option<()> {
        if self.models.iter().all(|known| known.id != *id) {
            let config = self.all.all.get(&id.provider)?;
            let model = self.model(id.clone(), config, None);
            self.models.push(model);
        }
        Some(())
    }

    /// Returns the reasons why the user's own providers offer no model to `auto`, with what to do.
    pub fn unusable_providers(&self) -> Vec<String> {
        let own = self.settings.providers.iter().filter_map(|own| {
            let name = &own.name;
            let provider = self.providers.iter().find(|it| it.id == *name)?;
            if self.models.iter().any(|model| model.id.provider == *name) {
                return None;
            }
            Some(match &provider.key {
                KeyState::Missing(variables) => format!(
                    "your provider \"{name}\" has no key: put it into the environment variable {}",
                    variables.join(" or ")
                ),
                KeyState::Unreadable(why) => {
                    format!("the key of your provider \"{name}\" cannot be read: {why}")
                }
                KeyState::Found(_) | KeyState::NotNeeded => format!(
                    "your provider \"{name}\" names no models for auto: list them as \"models\" in its entry under \
                     models.providers, or ask for {name}/MODEL"
                ),
            })
        });
        own.collect()
    }

    /// Returns the models that can complete, and the request forms their servers accept.
    pub fn tab_candidates(&self) -> Vec<ModelCandidate> {
        let candidates = self.models.iter().map(|found| {
            let config = self.all.all.get(&found.id.provider);
            let fim = config.and_then(|config| config.fim.as_ref());
            ModelCandidate {
                id: found.id.clone(),
                profile: found.profile.clone(),
                is_local: found.is_local,
                takes: fim.map(FimOptions::takes).unwrap_or_default(),
            }
        });
        candidates.collect()
    }

    /// Returns a new client that sends requests to all providers.
    pub(crate) fn client(&self) -> Arc<dyn ModelClient> {
        let (profiles, prices) = (self.profiles.clone(), self.prices.clone());
        let profile = move |id: &ModelId| {
            let facts = prices.find(&id.provider, &id.model);
            Some(profiles.resolve(id, facts.as_ref()))
        };
        let vault = Arc::new(secret_source());
        Arc::new(HttpClient::new(self.all.clone(), Arc::new(profile), vault))
    }

    /// Returns one route for each model, for a router.
    pub fn routes(&self) -> Vec<RouteConfig> {
        let client = self.client();
        let routes = self.models.iter().map(|found| RouteConfig {
            route: Route {
                model: found.id.clone(),
                key: found.key.clone(),
            },
            client: client.clone(),
            price: found.price.clone(),
            profile: found.profile.clone(),
            same_as: found.same_as.clone(),
            privacy: if found.is_local {
                Privacy::Local
            } else {
                Privacy::Any
            },
            auto: true,
            limits: RouteLimits::default(),
            max_concurrency: if found.is_local {
                AT_ONCE_LOCAL
            } else {
                AT_ONCE
            },
            stall: STALL,
        });
        routes.collect()
    }

    /// The models of every provider that has its key, and of every server that answered.
    fn find_models(&self) -> Vec<ConfiguredModel> {
        let mut models = Vec::new();
        for provider in &self.providers {
            let Some(config) = self.all.all.get(&provider.id) else {
                continue;
            };
            let is_chat = |row: &&FactsRow| {
                row.provider == provider.id && matches!(row.kind, None | Some(RowKind::Chat))
            };
            let own = self
                .settings
                .providers
                .iter()
                .find(|it| it.name == provider.id);
            let is_usable = match provider.key {
                KeyState::Found(_) => true,
                // A known provider without a key is a local server, which lists its models itself.
                KeyState::NotNeeded => own.is_some(),
                KeyState::Missing(_) | KeyState::Unreadable(_) => false,
            };
            let id = |model: &String| ModelId {
                provider: provider.id.clone(),
                model: model.clone(),
            };
            if is_usable {
                let rows = self.prices.rows().filter(is_chat);
                let listed = own.map_or(&[][..], |own| &own.models);
                let mut ids: Vec<ModelId> = rows.map(|row| id(&row.model)).collect();
                for listed in listed.iter().map(id) {
                    if !ids.contains(&listed) {
                        ids.push(listed);
                    }
                }
                models.extend(ids.into_iter().map(|id| self.model(id, config, None)));
            }
        }
        for server in &self.servers {
            let Some(config) = self.all.all.get(&server.provider) else {
                continue;
            };
            for found in &server.models {
                let id = ModelId {
                    provider: server.provider.clone(),
                    model: found.name.clone(),
                };
                models.retain(|known: &ConfiguredModel| known.id != id);
                models.push(self.model(id, config, found.context.map(|context| context.0)));
            }
        }
        models
    }

    /// Completes a profile with optimistic defaults: a model that the user configured is taken to
    /// call tools, and one of unknown context to have `UNKNOWN_CONTEXT`. `is_sized` if its context
    /// is known, or is up to a local server.
    fn trusted(&self, mut profile: Profile, id: &ModelId, is_sized: bool) -> Profile {
        let own = self.settings.providers.iter();
        let is_own = own.map(|it| &it.name).any(|name| *name == id.provider)
            || self.settings.auto.contains(&id.to_string());
        if is_own {
            profile.tools = profile.tools.or(Some(true));
        }
        let is_unknown = profile.context == Profile::harmless().context;
        if is_unknown && !is_sized {
            profile.context = TokenCount(UNKNOWN_CONTEXT);
        }
        profile
    }

    fn model(&self, id: ModelId, config: &ProviderConfig, context: Option<u64>) -> ConfiguredModel {
        let is_local = config.probe.is_some() && is_loopback(config.host());
        let mut facts = self.prices.find(&id.provider, &id.model);
        if let Some(context) = context {
            // The server knows its configured context; the table only the model's maximum.
            let known = facts.get_or_insert_with(ModelFacts::default);
            known.row.context = Some(context);
        }
        let price = if is_local {
            Some(Price::FREE)
        } else {
            facts.as_ref().and_then(|facts| facts.price.clone())
        };
        let provider = self.providers.iter().find(|it| it.id == id.provider);
        let profile = self.profiles.resolve(&id, facts.as_ref());
        let is_sized = facts.as_ref().is_some_and(|it| it.row.context.is_some());
        ConfiguredModel {
            profile: self.trusted(profile, &id, is_local || is_sized),
            key: KeyName(match provider.map(|provider| &provider.key) {
                Some(KeyState::Found(place)) => place.clone(),
                _ => String::new(),
            }),
            same_as: facts
                .as_ref()
                .and_then(|facts| ModelId::parse(facts.row.same_as.as_deref()?)),
            source: facts
                .filter(|facts| facts.price.is_some())
                .map(|facts| (facts.row.source, facts.row.date)),
            id,
            price,
            is_local,
        }
    }
}

/// Returns the route to the demo model, which needs no network. Fails if its script is invalid.
pub fn demo() -> Result<RouteConfig, Error> {
    let client = mockllm::DemoClient::new()
        .map_err(|error| Error::Model(format!("the demo model: {error}")))?;
    Ok(RouteConfig {
        route: Route {
            model: ModelId {
                provider: DEMO.to_owned(),
                model: DEMO.to_owned(),
            },
            key: KeyName::default(),
        },
        client: Arc::new(client),
        price: Some(Price::FREE),
        profile: Profile {
            tier: Tier::Small,
            tools: Some(true),
            parallel: ParallelTools::Allowed,
            context: TokenCount(DEMO_CONTEXT),
            ..Profile::harmless()
        },
        same_as: None,
        privacy: Privacy::Local,
        // The demo model plays a script, so `auto` never chooses it.
        auto: false,
        limits: RouteLimits::default(),
        max_concurrency: AT_ONCE,
        stall: STALL,
    })
}

/// Withholds the environment variables that the settings name as API keys from every child process
/// that is started later. Blocks on the disk.
pub fn withhold_keys(files: &dyn Files, dirs: &Dirs) {
    drop(providers(files, dirs));
}

/// Returns the program's own providers and those of the user's settings, with a sentence for each
/// error in the settings. Blocks on the disk.
pub fn providers(files: &dyn Files, dirs: &Dirs) -> (Providers, Vec<String>) {
    let mut problems = Vec::new();
    let settings = read_settings(files, dirs, &mut problems);
    let (all, wrong) = providers_of(&settings.models);
    problems.extend(wrong);
    (all, problems)
}

/// Returns the built-in providers and those of the settings, with a sentence for each error in the
/// settings. Applies the environment, and marks the key variables of the settings as secret.
fn providers_of(settings: &ModelSettings) -> (Providers, Vec<String>) {
    let (mut all, mut problems) = Providers::builtin();
    let usual = all.key_variables();
    problems.extend(all.add(&own_providers(settings)));
    let own = all.key_variables().into_iter();
    // A variable of any name that the settings use for a key holds a secret.
    withhold(own.filter(|name| !usual.contains(name)));
    for own in settings
        .providers
        .iter()
        .filter(|own| own.models.is_empty())
    {
        // A local server can list its models under any name.
        let probe = all.all.get(wire(own.wire).1);
        let probe = probe.and_then(|config| config.probe.clone());
        if let Some(config) = all.all.get_mut(&own.name)
            && config.probe.is_none()
            && is_loopback(config.host())
        {
            config.probe = probe;
        }
    }
    all.apply_environment(|name| secret_source().environment(name));
    (all, problems)
}

/// Returns the source of API keys.
pub(crate) fn secret_source() -> SystemSecrets {
    SystemSecrets {
        environment: variables(Recipient::KeyCommand),
        variable: text_variable,
    }
}

/// Reads the user's settings, and appends a sentence for each error in them to `problems`. Missing
/// and invalid settings get their defaults. Blocks on the disk.
pub(crate) fn read_settings(
    files: &dyn Files,
    dirs: &Dirs,
    problems: &mut Vec<String>,
) -> Settings {
    let path = dirs.config.join("settings.json");
    let text = read_text(files, &path, problems).unwrap_or_default();
    let (settings, wrong) = settings::parse(&[(SettingsSource::User, "settings.json", &text)]);
    problems.extend(wrong.iter().map(ToString::to_string));
    settings
}

/// Reads a table of the user, beside the settings.
fn own_table<T>(
    files: &dyn Files,
    dirs: &Dirs,
    name: &str,
    parse: impl FnOnce(&str) -> (T, Vec<String>),
    problems: &mut Vec<String>,
) -> Option<T> {
    let path = dirs.config.join(Path::new("models").join(name));
    let text = read_text(files, &path, problems)?;
    let (table, wrong) = parse(&text);
    problems.extend(wrong.iter().map(|problem| format!("{path}: {problem}")));
    Some(table)
}

/// Reads a file of at most `MAX_SETTINGS_BYTES`; invalid UTF-8 is replaced. Returns `None` if it is
/// missing or cannot be read; the latter adds a problem.
pub(crate) fn read_text(
    files: &dyn Files,
    path: &AbsPath,
    problems: &mut Vec<String>,
) -> Option<String> {
    try_read_text(files, path).unwrap_or_else(|error| {
        problems.push(error.to_string());
        None
    })
}

/// Reads a file of at most `MAX_SETTINGS_BYTES`; invalid UTF-8 is replaced. Returns `None` if it is
/// missing.
pub(crate) fn try_read_text(
    files: &dyn Files,
    path: &AbsPath,
) -> Result<Option<String>, host::Error> {
    match files.read(path, MAX_SETTINGS_BYTES) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the settings' providers in the form of the built-in file.
fn own_providers(settings: &ModelSettings) -> Map<String, Value> {
    let own = settings.providers.iter().map(|provider| {
        let (wire, dialect) = wire(provider.wire);
        let keys: Vec<&String> = provider.key.iter().collect();
        let members = json!({
            "wire": wire,
            "dialect": dialect,
            "base_url": provider.url,
            "base_url_env": [],
            "key_env": keys,
            "needs_key": !keys.is_empty(),
        });
        (provider.name.clone(), members)
    });
    own.collect()
}

/// Returns the names of a wire protocol and of its dialect in the built-in file. The dialect is
/// empty if the protocol has only one.
fn wire(wire: ProviderWire) -> (&'static str, &'static str) {
    match wire {
        ProviderWire::Openai => ("chat", "openai"),
        ProviderWire::Openrouter => ("chat", "openrouter"),
        ProviderWire::Vllm => ("chat", "vllm"),
        ProviderWire::LlamaCpp => ("chat", "llama.cpp"),
        ProviderWire::Ollama => ("chat", "ollama"),
        ProviderWire::LmStudio => ("chat", "lmstudio"),
        ProviderWire::Deepseek => ("chat", "deepseek"),
        ProviderWire::Mistral => ("chat", "mistral"),
        ProviderWire::Responses => ("responses", "openai"),
        ProviderWire::Anthropic => ("anthropic", ""),
        ProviderWire::Gemini => ("gemini", ""),
    }
}

async fn find_keys(
    all: &std::collections::BTreeMap<String, ProviderConfig>,
    vault: &dyn SecretSource,
) -> Vec<ConfiguredProvider> {
    let found = all.iter().map(|(id, config)| async move {
        ConfiguredProvider {
            id: id.clone(),
            name: config.name.clone(),
            base_url: config.base_url.clone(),
            key: key_state(id, config, vault).await,
        }
    });
    futures::future::join_all(found).await
}

async fn key_state(id: &str, config: &ProviderConfig, vault: &dyn SecretSource) -> KeyState {
    let keys = Keys { secrets: vault };
    let sources = config.key_sources();
    // A keychain that asks the user to unlock it would block everything else.
    let found = tokio::time::timeout(KEY_PATIENCE, keys.find(id, &sources)).await;
    match found {
        Ok(Ok(Some(found))) => KeyState::Found(found.source),
        Ok(Err(error)) => KeyState::Unreadable(error.to_string()),
        Ok(Ok(None)) | Err(_) if !config.needs_key => KeyState::NotNeeded,
        Ok(Ok(None)) | Err(_) => {
            let variables = sources.into_iter().filter_map(|source| match source {
                KeySource::Environment(name) => Some(name),
                KeySource::Keychain | KeySource::Command(_) | KeySource::Value(_) => None,
            });
            KeyState::Missing(variables.collect())
        }
    }
}

/// Whether a host is this machine, whatever the port.
fn is_loopback(host: &str) -> bool {
    let name = host
        .strip_prefix('[')
        .and_then(|rest| rest.split(']').next());
    let name = name.unwrap_or_else(|| host.split(':').next().unwrap_or_default());
    let address = name.parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}
