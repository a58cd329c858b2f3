//! Selection of the completion model: the configured one, or the best available one.
//!
//! Must not know: how models are discovered. The caller passes each model's profile and the request
//! forms of its server.

use model::{FimForm, FimFormat, ModelId, NextEditFormat, Profile};

use crate::engine::{TabKind, TabModel};

/// A configured model that may be used for completion, with the request forms that its server
/// takes.
#[derive(Clone, Debug)]
pub struct ModelCandidate {
    /// Identifier of the model.
    pub id: ModelId,
    /// Known capabilities of the model.
    pub profile: Profile,
    /// Whether the model runs on this machine.
    pub is_local: bool,
    /// Request forms that its server accepts.
    pub takes: Vec<FimForm>,
}

/// The reason why the model that the user named cannot complete. Its text is a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TabModelError {
    /// No model has this name.
    #[error("There is no model \"{0}\" for Tab; `burin-agent models` lists the available ones.")]
    Unknown(String),
    /// The model has no suitable request form.
    #[error(
        "{0} supports neither fill-in-the-middle nor next-edit prediction according to its profile; \
         choose another model for Tab, or set fim or next_edit in profiles.json."
    )]
    Unsuitable(String),
}

/// Selects the completion model. `wanted` is `auto` or `provider/model`. Returns `None` if no model
/// is suitable.
///
/// # Errors
/// If the named model cannot be used.
///
/// Local models come before remote ones, next-edit models before fill-in-the-middle models.
pub fn choose(
    wanted: &str,
    candidates: &[ModelCandidate],
) -> Result<Option<TabModel>, TabModelError> {
    if wanted == "auto" {
        let able = candidates.iter().filter_map(|it| Some((it, kind(it)?)));
        // `min_by_key` returns the first of equals, so the order of discovery decides.
        let best = able.min_by_key(|(it, kind)| rank(it, *kind));
        return Ok(best.map(|(it, kind)| tab_model(it, kind)));
    }
    let Some(found) = candidates.iter().find(|it| it.id.to_string() == wanted) else {
        return Err(TabModelError::Unknown(wanted.to_owned()));
    };
    match kind(found) {
        Some(kind) => Ok(Some(tab_model(found, kind))),
        None => Err(TabModelError::Unsuitable(wanted.to_owned())),
    }
}

fn tab_model(candidate: &ModelCandidate, kind: TabKind) -> TabModel {
    TabModel {
        id: candidate.id.clone(),
        kind,
        // Servers on the user's machine process one request at a time unless told otherwise.
        is_serial: candidate.is_local,
    }
}

/// Returns how a model can be queried, or `None` if it cannot complete.
fn kind(candidate: &ModelCandidate) -> Option<TabKind> {
    let takes = |form: FimForm| candidate.takes.contains(&form);
    let predicts = candidate.profile.next_edit.filter(|format| match format {
        NextEditFormat::Mercury => takes(FimForm::Edit),
        // Instinct uses a chat request, which every server accepts.
        NextEditFormat::Instinct => true,
        _ => takes(FimForm::Raw),
    });
    let fills = candidate.profile.fim.is_some() && takes(FimForm::Gap);
    let gap = fills.then_some(TabKind::Gap);
    predicts.map(TabKind::NextEdit).or(gap)
}

/// Sort key of a model; lower is better.
fn rank(candidate: &ModelCandidate, kind: TabKind) -> (u8, u8) {
    let far = u8::from(!candidate.is_local);
    let by_kind = match kind {
        TabKind::NextEdit(NextEditFormat::Sweep | NextEditFormat::Zeta21) => 0,
        TabKind::NextEdit(NextEditFormat::Zeta2 | NextEditFormat::Mercury) => 1,
        TabKind::NextEdit(NextEditFormat::Zeta1 | NextEditFormat::Instinct) => 4,
        TabKind::Gap => match candidate.profile.fim {
            Some(FimFormat::Codestral | FimFormat::Qwen | FimFormat::Endpoint) => 2,
            _ => 3,
        },
    };
    (far, by_kind)
}

#[cfg(test)]
mod tests;
