//! What every session of the program is given: models, tools, context, rules and the ledger, put together.
//!
//! This is the one place where the parts of an agent meet.

use std::collections::HashMap;
use std::sync::Arc;

use agent::engine::{Harness, HarnessParts, Limits, NoContext, PlainCompactor, RouterMind};
use agent::leave::{AllowAll, AskFirst, Judge};
use agent::sources::Sources;
use agent::store::Store;
use host::{Dirs, RealClock, RealFiles};
use model::{Price, Profile, Tier, TokenCount};
use router::actor::{LaneConfig, RouterHandle};

/// The way to models for sessions: the router, with what is known of each model it may ask.
pub(crate) fn mind(router: RouterHandle, lanes: &[Known]) -> RouterMind {
    let profiles = lanes
        .iter()
        .map(|known| (known.name.clone(), known.profile.clone()));
    let prices = lanes
        .iter()
        .filter_map(|known| Some((known.name.clone(), known.price.clone()?)));
    let mut profiles: HashMap<String, Arc<Profile>> = profiles.collect();
    // A model that stands for itself is known by its provider alone, too.
    for known in lanes {
        if let Some((provider, model)) = known.name.split_once('/')
            && provider == model
        {
            profiles.insert(provider.to_owned(), known.profile.clone());
        }
    }
    RouterMind {
        router,
        profiles,
        prices: prices.collect(),
        usual: Arc::new(usual(lanes)),
    }
}

/// What is known of a model.
pub(crate) struct Known {
    name: String,
    profile: Arc<Profile>,
    price: Option<Price>,
}

impl Known {
    /// What a way to a model tells of it.
    pub(crate) fn of(lane: &LaneConfig) -> Self {
        Self {
            name: lane.lane.model.to_string(),
            profile: Arc::new(lane.profile.clone()),
            price: lane.price.clone(),
        }
    }
}

/// How whoever `auto` chooses is spoken to: as the models are that it would choose from, and within the smallest
/// context of the good ones.
fn usual(lanes: &[Known]) -> Profile {
    let able = lanes.iter().map(|known| &known.profile);
    let able = able.filter(|profile| profile.tools == Some(true) && profile.tier >= Tier::Standard);
    let least = able.clone().map(|profile| profile.context.0).min();
    let best = able.max_by_key(|profile| profile.tier);
    let mut usual = best.map_or_else(Profile::harmless, |best| best.as_ref().clone());
    usual.tools = Some(true);
    usual.context = TokenCount(least.unwrap_or(128_000).max(32_000));
    usual.max_output = TokenCount(usual.max_output.0.max(8_192));
    usual
}

/// Everything that sessions share.
pub(crate) fn harness(mind: RouterMind, store: Store, dirs: &Dirs) -> Arc<Harness> {
    let sources = Arc::new(Sources {
        files: Arc::new(RealFiles),
        clock: Arc::new(RealClock::default()),
        state: dirs.state.clone(),
        buffers: None,
        search: None,
        diagnostics: None,
        web: None,
    });
    Harness::new(HarnessParts {
        store,
        sources,
        mind: Arc::new(mind),
        tools: Vec::new(),
        contexts: Arc::new(NoContext(SYSTEM.to_owned())),
        compactor: Arc::new(PlainCompactor),
        limits: Limits::default(),
        farewell: Arc::new(|_| {}),
    })
}

const SYSTEM: &str = "You are Burin, a coding agent. You work in the folder that the person names. Say what you did and \
                      what you could not do.";

/// Who judges the calls of a session.
pub(crate) fn judge(allows_all: bool) -> Arc<dyn Judge> {
    match allows_all {
        true => Arc::new(AllowAll),
        false => Arc::new(AskFirst::default()),
    }
}
