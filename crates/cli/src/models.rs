//! Lists the models: keys by presence alone, local servers, other agents; prices, limits, and each
//! model's recent health.

use std::process::ExitCode;

use clap::Args;
use host::{Clock, Dirs, Files, RealClock};
use model::{Price, TokenRate};
use runtime::models::health::{self, Health};
use runtime::models::installed_agents::{self, InstalledAgent};
use runtime::models::setup::{ConfiguredModel, ConfiguredProvider, DEMO, KeyState, Setup};
use serde_json::{Value, json};

use crate::{Streams, write_error};

/// List the available models and their prices
#[derive(Args)]
pub(crate) struct Models {
    /// Print one object {providers, servers, agents, models, demo, problems}
    #[arg(long)]
    json: bool,
}

impl Models {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let mut setup = runtime.block_on(Setup::find(files, dirs));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let agents = installed_agents::find(&path);
        let clock = RealClock::default();
        let (health, problem) = health::read(dirs, clock.wall_ms());
        setup.problems.extend(problem);
        let text = if self.json {
            format!("{:#}\n", to_json(&setup, &agents, &health))
        } else {
            to_text(&setup, &agents, &health)
        };
        let written = streams.output.write_all(text.as_bytes());
        written.map_err(write_error)?;
        if !self.json {
            for problem in &setup.problems {
                // If standard error is closed, the message cannot be shown.
                writeln!(streams.errors, "burin-agent: {problem}").ok();
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn to_text(setup: &Setup, agents: &[InstalledAgent], health: &Health) -> String {
    let mut text = "Providers\n".to_owned();
    let hosted = setup
        .providers
        .iter()
        .filter(|it| it.key != KeyState::NotNeeded);
    for provider in hosted {
        text.push_str(&format!(
            "  {:<12} {}\n",
            provider.id,
            key_in_words(provider)
        ));
    }
    text.push_str("\nServers on this machine\n");
    for server in &setup.servers {
        let count = server.models.len();
        let line = format!(
            "  {:<12} {} at {}, models: {count}\n",
            server.provider, server.name, server.base_url
        );
        text.push_str(&line);
    }
    if setup.servers.is_empty() {
        text.push_str("  none (Ollama, llama.cpp, LM Studio and vLLM are found when they run)\n");
    }
    text.push_str("\nAgents\n");
    for agent in agents {
        let lacks = agent
            .lacks
            .map(|lacks| format!("; to host it, install {lacks}"));
        let lacks = lacks.unwrap_or_default();
        text.push_str(&format!(
            "  {:<12} {}{lacks}\n",
            agent.name,
            agent.program.display()
        ));
    }
    if agents.is_empty() {
        text.push_str("  none on PATH (Claude Code, Codex, Gemini CLI, opencode)\n");
    }
    text.push_str("\nModels            (context and longest answer in tokens; dollars per million tokens in and out)\n");
    for found in &setup.models {
        text.push_str(&line_of(found, health));
    }
    if setup.models.is_empty() {
        text.push_str(
            "  none: set the variable of one of the providers above, or start a server\n",
        );
    }
    text.push_str(&format!(
        "  {DEMO:<44} a script that needs no key: burin-agent ask --model {DEMO} \"hello\"\n"
    ));
    text
}

fn key_in_words(provider: &ConfiguredProvider) -> String {
    match &provider.key {
        KeyState::Found(place) => format!("key found: {place}; {}", provider.base_url),
        KeyState::Missing(variables) => format!("no key: set {}", variables.join(" or ")),
        KeyState::NotNeeded => format!("no key needed; {}", provider.base_url),
        KeyState::Unreadable(why) => format!("the key cannot be read: {why}"),
    }
}

fn line_of(found: &ConfiguredModel, health: &Health) -> String {
    let name = found.id.to_string();
    let profile = &found.profile;
    let limits = format!("{:>8} {:>7}", profile.context.0, profile.max_output.0);
    let price = match (found.is_local, &found.price) {
        (true, _) => "free".to_owned(),
        (false, Some(price)) => {
            format!(
                "{} {}",
                dollars(price.base.input),
                dollars(price.base.output)
            )
        }
        (false, None) => "price unknown".to_owned(),
    };
    let health = health.of(&name).map(|health| format!("  {health}"));
    let health = health.unwrap_or_default();
    format!(
        "  {name:<44} {limits}  {:<8} {price}{health}\n",
        profile.tier.to_string()
    )
}

/// Dollars for a million tokens: a rate counts micro-dollars.
fn dollars(rate: Option<TokenRate>) -> String {
    rate.map_or_else(
        || "?".to_owned(),
        |rate| format!("{:.2}", rate.0 as f64 / 1e6),
    )
}

fn to_json(setup: &Setup, agents: &[InstalledAgent], health: &Health) -> Value {
    let providers = setup.providers.iter().map(|provider| {
        let (key, place, variables) = match &provider.key {
            KeyState::Found(place) => ("found", Some(place), &[][..]),
            KeyState::Missing(variables) => ("missing", None, variables.as_slice()),
            KeyState::NotNeeded => ("not_needed", None, &[][..]),
            KeyState::Unreadable(why) => ("unreadable", Some(why), &[][..]),
        };
        json!({
            "id": provider.id, "name": provider.name, "url": provider.base_url,
            "key": key, "place": place, "variables": variables,
        })
    });
    let servers = setup.servers.iter().map(|server| {
        let models: Vec<&String> = server.models.iter().map(|found| &found.name).collect();
        json!({
            "provider": server.provider, "name": server.name, "url": server.base_url, "models": models,
        })
    });
    let agents = agents.iter().map(|agent| {
        json!({
            "name": agent.name, "program": agent.program.display().to_string(), "lacks": agent.lacks,
        })
    });
    let models = setup.models.iter().map(|found| model_json(found, health));
    json!({
        "providers": providers.collect::<Vec<_>>(),
        "servers": servers.collect::<Vec<_>>(),
        "agents": agents.collect::<Vec<_>>(),
        "models": models.collect::<Vec<_>>(),
        "demo": DEMO,
        "problems": setup.problems,
    })
}

fn model_json(found: &ConfiguredModel, health: &Health) -> Value {
    let name = found.id.to_string();
    let rate = |rate: fn(&Price) -> Option<TokenRate>| {
        let rate = found.price.as_ref().and_then(rate);
        rate.map(|rate| rate.0 as f64 / 1e6)
    };
    json!({
        "id": name,
        "tier": found.profile.tier,
        "context": found.profile.context.0,
        "max_output": found.profile.max_output.0,
        "tools": found.profile.tools,
        "vision": found.profile.vision,
        "local": found.is_local,
        "dollars_per_million": {
            "input": rate(|price| price.base.input),
            "output": rate(|price| price.base.output),
            "cache_read": rate(|price| price.base.cache_read),
            "cache_write": rate(|price| price.base.cache_write_5m),
        },
        "source": found.source.as_ref().map(|(source, _)| source),
        "date": found.source.as_ref().map(|(_, date)| date),
        "health": health.of(&name).map(health::ModelHealth::to_json),
    })
}
