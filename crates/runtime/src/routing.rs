//! Starts the router, and resolves the names of models as users write them.

use std::sync::Arc;

use host::{Clock as _, RealClock};
use model::policy::route::SwitchBoundary;
use model::policy::{Cap, Caps, Retry, StepDescription, StepPurpose};
use model::{Cost, ModelId};
use router::actor::{RouteConfig, Router, RouterConfig, RouterHandle, RoutingOptions, WallClock};
use settings::ModelSettings;

use crate::Error;
use crate::models::setup::{AUTO, DEMO, Setup};
use crate::usage_store::LedgerUsageStore;

/// Returns the model that `wanted` names (`provider/model`, `auto` or `demo`), and the options for
/// routing requests to it. For `auto`, the options depend on `question`. Adds the models that the
/// settings list for `auto`, and the named model, to `setup`. Fails if `wanted` has another form,
/// or if its provider is unknown.
pub fn choose(
    wanted: &str,
    question: &str,
    setup: &mut Setup,
) -> Result<(ModelId, RoutingOptions), Error> {
    if wanted != DEMO {
        for named in setup.settings.auto.clone() {
            if let Some(named) = ModelId::parse(&named) {
                setup.add_named(&named);
            }
        }
    }
    let (model, options) = named_or_auto(wanted, question)?;
    if wanted != DEMO && wanted != AUTO && setup.add_named(&model).is_none() {
        let known: Vec<&str> = setup.providers.iter().map(|it| it.id.as_str()).collect();
        return Err(Error::Unknown(format!(
            "there is no provider \"{}\": there are {}; others go into the settings, under models.providers",
            model.provider,
            known.join(", ")
        )));
    }
    Ok((model, options))
}

/// Returns the model that `wanted` names, and the options for routing requests to it, as `choose`
/// does, without looking whether there is such a model. Fails if `wanted` has another form.
pub(crate) fn named_or_auto(
    wanted: &str,
    question: &str,
) -> Result<(ModelId, RoutingOptions), Error> {
    let id = |provider: &str, model: &str| ModelId {
        provider: provider.to_owned(),
        model: model.to_owned(),
    };
    if wanted == DEMO {
        return Ok((id(DEMO, DEMO), RoutingOptions::named()));
    }
    if wanted == AUTO {
        let step = StepDescription {
            prompt: question,
            purpose: StepPurpose::Work,
            files_touched: 0,
            diff_lines: 0,
            plan_depth: 0,
            context_fill: 0,
            stalls: 0,
        };
        let terms = RoutingOptions::auto(&step, SwitchBoundary::NewTurn);
        return Ok((id("auto", "auto"), terms));
    }
    let named = ModelId::parse(wanted).ok_or_else(|| {
        Error::Unknown(format!(
            "\"{wanted}\" is not a model: write auto, {DEMO}, or provider/model as `burin-agent models` lists them"
        ))
    })?;
    Ok((named, RoutingOptions::named()))
}

/// Starts the router with these routes on tokio's current runtime, with the budgets of the
/// settings. Usage goes to `usage_store`.
pub fn start(
    routes: Vec<RouteConfig>,
    settings: &ModelSettings,
    usage_store: Arc<LedgerUsageStore>,
) -> RouterHandle {
    let clock = RealClock::default();
    let seed = clock.wall_ms();
    Router::start(RouterConfig {
        routes,
        auto: settings
            .auto
            .iter()
            .filter_map(|name| ModelId::parse(name))
            .collect(),
        caps: budget_caps(settings),
        // A user on the command line prefers a failure to a wait of minutes.
        retry: Retry::default(),
        retry_alone: Retry::default(),
        usage_store,
        clock: WallClock::new(move || clock.wall_ms()),
        seed,
    })
}

fn budget_caps(settings: &ModelSettings) -> Caps {
    let cap = |dollars: f32| Cap {
        // Zero sets no limit.
        cost: (dollars > 0.0).then(|| Cost((f64::from(dollars) * 1e9) as u64)),
        tokens: None,
    };
    Caps {
        turn: cap(settings.budget_turn),
        agent: cap(settings.budget_agent),
        day: cap(settings.budget_day),
        allow_unknown_price: settings.unknown_prices,
    }
}

#[cfg(test)]
mod tests;
