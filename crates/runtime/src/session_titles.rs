//! Titles of sessions: which model writes them, and its request.
//!
//! Invariant: a session gets at most one request for a title in a process, and none if the user
//! named it, if it is a fork, or if the demo model works in it. Without an answer the first words
//! of the prompt stay.
//! The same models draft the messages of commits, on request (`commit_messages`).
//! Start at `SessionTitles`; `title_requests` sends the requests.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use agent::record::{SessionRecord, Stored, TurnEnd};
use agent::store::{SessionState, SessionSummary, title};
use agent::stored_parts::texts;
use model::{
    CacheMark, Effort, Message, ModelId, ModelRequest, Price, Role, SystemBlock, TokenCount, Usage,
};

use crate::models::setup::{AUTO, DEMO, Setup};

/// Instructions for the title.
const INSTRUCTIONS: &str = "Write a title for the conversation below, in the language of its user: at most six \
                            words that say what the user wants. No quotation marks, no full stop. Answer with the \
                            title alone.";
/// Maximum size of the texts that are sent, in characters each.
const MAX_TEXT: usize = 2_000;
/// Maximum output, with room for models that think before they answer.
const MAX_OUTPUT: TokenCount = TokenCount(1_000);
/// Later turns do not get a title: the first words have been in the list for long.
const MAX_TURNS: u64 = 2;
/// The models for titles, and the sessions for which one was requested.
pub(crate) struct SessionTitles {
    setting: String,
    /// The candidates of `auto` in the settings; all models if it is empty.
    auto: Vec<String>,
    models: Vec<TitleModel>,
    requested: Mutex<HashSet<String>>,
}

/// A model that may write titles.
#[derive(Clone, Debug, PartialEq)]
struct TitleModel {
    id: ModelId,
    price: Option<Price>,
    is_local: bool,
}

impl SessionTitles {
    /// Takes the models and the setting at the start of the program.
    pub(crate) fn new(setup: &Setup) -> Self {
        let models = setup.models.iter().map(|found| TitleModel {
            id: found.id.clone(),
            price: found.price.clone(),
            is_local: found.is_local,
        });
        Self {
            setting: setup.settings.title_model.clone(),
            auto: setup.settings.auto.clone(),
            models: models.collect(),
            requested: Mutex::default(),
        }
    }

    /// Returns the model that writes the title of a session; `None` if it gets none.
    pub(crate) fn model_for(&self, line: &SessionSummary) -> Option<ModelId> {
        let is_first = line.turns > 0 && line.turns <= MAX_TURNS;
        let is_done = line.state == SessionState::Ended(TurnEnd::Done);
        let is_own = line.parent.is_none() && line.forked_from.is_none();
        if !is_first || !is_done || !is_own || line.has_title || line.model.starts_with(DEMO) {
            return None;
        }
        choose(&self.setting, &line.model, &self.models)
    }

    /// Returns the model that drafts the message of a commit, where `default` is the default model of
    /// the settings; `None` if the settings exclude it, or if only the demo model is there. With
    /// `auto`, a model of this machine comes first.
    pub(crate) fn model_for_commit(&self, default: &str) -> Option<ModelId> {
        if default.starts_with(DEMO) {
            return None;
        }
        if self.setting != AUTO || default != AUTO {
            return choose(&self.setting, default, &self.models);
        }
        let is_candidate = |it: &&TitleModel| {
            let id = it.id.to_string();
            !id.starts_with(DEMO) && (self.auto.is_empty() || self.auto.contains(&id))
        };
        let candidates = || self.models.iter().filter(is_candidate);
        let local = candidates().find(|it| it.is_local);
        local.map_or_else(|| cheapest(candidates()), |it| Some(it.id.clone()))
    }

    /// Notes a request for a session. Returns whether it is the first one.
    pub(crate) fn begin(&self, id: &str) -> bool {
        let mut requested = self
            .requested
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        requested.insert(id.to_owned())
    }

    /// Returns the price of a model, if it is known.
    pub(crate) fn price(&self, model: &ModelId) -> Option<&Price> {
        let found = self.models.iter().find(|it| it.id == *model)?;
        found.price.as_ref()
    }
}

/// Returns the model for the titles of a session that works with `used`. `auto` is the cheapest
/// model of the same provider with a known price; a local server answers with the model that it has
/// loaded.
fn choose(setting: &str, used: &str, models: &[TitleModel]) -> Option<ModelId> {
    let find = |name: &str| {
        let id = ModelId::parse(name)?;
        models.iter().find(|it| it.id == id)
    };
    if setting != AUTO {
        return find(setting).map(|it| it.id.clone());
    }
    let used = find(used)?;
    if used.is_local {
        return Some(used.id.clone());
    }
    let same_provider = models
        .iter()
        .filter(|it| it.id.provider == used.id.provider);
    cheapest(same_provider)
}

/// Returns the cheapest model with a known price.
fn cheapest<'m>(models: impl Iterator<Item = &'m TitleModel>) -> Option<ModelId> {
    let usual = Usage {
        input: TokenCount(1_000),
        output: TokenCount(50),
        ..Usage::default()
    };
    let priced = models.filter_map(|it| Some((it.price.as_ref()?.cost(&usual)?, &it.id)));
    priced
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, id)| id.clone())
}

/// Builds the request for a title from the first prompt and the first answer.
pub(crate) fn request(model: ModelId, records: &[Stored]) -> Option<ModelRequest> {
    let mut prompt = String::new();
    let mut answer = String::new();
    for stored in records {
        match &stored.record {
            SessionRecord::Prompted { parts, .. } if prompt.is_empty() => prompt = texts(parts),
            SessionRecord::Answered { parts, .. } => answer = texts(parts),
            SessionRecord::TurnEnded { .. } => break,
            _ => {}
        }
    }
    let cut = |text: &str| text.chars().take(MAX_TEXT).collect::<String>();
    if prompt.trim().is_empty() {
        return None;
    }
    let text = format!("User:\n{}\n\nAnswer:\n{}", cut(&prompt), cut(&answer));
    let message = Message::text(Role::User, text);
    let mut request = ModelRequest::new(model, vec![message], MAX_OUTPUT);
    request.effort = Some(Effort::Minimal);
    request.system.push(SystemBlock {
        text: INSTRUCTIONS.to_owned(),
        cache: CacheMark::None,
    });
    Some(request)
}

/// Returns the title in an answer; `None` if there is none.
pub(crate) fn title_of(answer: &str) -> Option<String> {
    let line = title(answer);
    let line = line.trim_matches(['"', '\'', '`', '*', '#', '\u{201c}', '\u{201d}', ' ']);
    let line = line.strip_suffix('.').unwrap_or(line);
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests;
