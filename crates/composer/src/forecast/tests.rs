//! Tests forecasts of sessions in real repositories.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up repositories on disk and ask the real git"
)]

mod eight_sessions;
mod recorded;
mod stories;
mod timing;

use std::sync::Arc;

use git::merge::Changes;

use super::{
    ChangeGatherer, ChangedTrees, ForecastInput, ForecastParty, ForecastReport, Forecaster,
};
use crate::land::tests::{Hub, git, write};
use crate::work::{CommitId, SessionChanges, SessionWork, UnsavedBuffers};

fn session(name: &str, base: &str, changes: Changes) -> SessionChanges {
    SessionChanges {
        session: name.to_owned(),
        title: format!("work of {name}"),
        base: CommitId(base.to_owned()),
        changes: Arc::new(changes),
    }
}

fn who(name: &str) -> ForecastParty {
    ForecastParty::Session(name.to_owned())
}
