//! Which model completes: the one the settings name, or the best of those that are there.
//!
//! Must not know: how models are found. Whoever finds them says what each is and what its server takes.

use model::{FimForm, FimFormat, ModelId, NextEditFormat, Profile};

use crate::engine::{TabKind, TabModel};

/// A model that could be asked.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name.
    pub id: ModelId,
    /// What is known of it.
    pub profile: Profile,
    /// Whether it runs on this machine.
    pub is_local: bool,
    /// What its server takes.
    pub takes: Vec<FimForm>,
}

/// The model that completes: `wanted` is `auto`, or a name written `provider/model`. `None` where there is none to
/// be had; the error is a sentence about a name that cannot be used.
///
/// Models on this machine come before others, models that predict edits before those that fill gaps.
pub fn choose(wanted: &str, candidates: &[Candidate]) -> Result<Option<TabModel>, String> {
    if wanted == "auto" {
        let able = candidates.iter().filter_map(|it| Some((it, kind(it)?)));
        // Of equals the first stays, so that the order in which they were found decides.
        let best = able.min_by_key(|(it, kind)| rank(it, *kind));
        return Ok(best.map(|(it, kind)| TabModel {
            id: it.id.clone(),
            kind,
        }));
    }
    let Some(found) = candidates.iter().find(|it| it.id.to_string() == wanted) else {
        return Err(format!(
            "There is no model \"{wanted}\" for Tab; `burin-agent models` lists those that are there."
        ));
    };
    match kind(found) {
        Some(kind) => Ok(Some(TabModel {
            id: found.id.clone(),
            kind,
        })),
        None => Err(format!(
            "{wanted} neither fills gaps nor predicts edits, as far as its profile says; choose another for Tab, or \
             say so in profiles.json (fim or next_edit)."
        )),
    }
}

/// How a model is asked, if it can be.
fn kind(candidate: &Candidate) -> Option<TabKind> {
    let takes = |form: FimForm| candidate.takes.contains(&form);
    let predicts = candidate.profile.next_edit.filter(|format| match format {
        NextEditFormat::Mercury => takes(FimForm::Edit),
        // It is asked in a conversation, which every server takes.
        NextEditFormat::Instinct => true,
        _ => takes(FimForm::Raw),
    });
    let fills = candidate.profile.fim.is_some() && takes(FimForm::Gap);
    let gap = fills.then_some(TabKind::Gap);
    predicts.map(TabKind::NextEdit).or(gap)
}

/// The lower the better.
fn rank(candidate: &Candidate, kind: TabKind) -> (u8, u8) {
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
