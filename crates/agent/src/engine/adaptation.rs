//! Changes of models' profiles in one session: by the variant of an experiment, and by alarms about tools.
//!
//! An edit tool that fails more often than usual with a model gives way to a simpler format for a day. A tool of an
//! MCP server or the network is rested. Other tools stay, because a session cannot work without them. The changes
//! begin with a turn, so that a turn has one list of tools.
//!
//! Invariant: every change of the tools by an alarm is recorded, for the user and for the model.
//! Invariant: a session keeps its variant, and its subagents share it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use model::{EditTool, Effort, Profile, ToolSpec};
use quality::experiment::{Experiment, Variant};
use quality::{AlarmRecord, ExposureRecord, QualityRecord};

use super::session::{OfferedTools, SessionTask, offered};
use super::turn::harness_note;
use crate::record::SessionRecord;
use crate::tool::{Tool, ToolClass};

/// The part of a session in an experiment.
#[derive(Clone)]
pub struct SessionVariant {
    experiment: Arc<Experiment>,
    /// The session whose id decides; `None` until the session has an id.
    subject: Option<Arc<str>>,
}

impl SessionVariant {
    /// Creates the part of a session that starts or is resumed; its id decides about the variant.
    pub fn new(experiment: Arc<Experiment>) -> Self {
        Self {
            experiment,
            subject: None,
        }
    }

    /// Sets the id that decides, unless the session above has decided.
    pub(super) fn begin(&mut self, session: &Arc<str>) {
        self.subject.get_or_insert_with(|| session.clone());
    }

    /// Returns the reasoning effort of the variant; `None` leaves that of the session.
    pub(super) fn effort(&self) -> Option<Effort> {
        self.variant()?.effort
    }

    /// Returns the id of the experiment.
    pub(super) fn experiment(&self) -> &str {
        &self.experiment.id
    }

    fn variant(&self) -> Option<&Variant> {
        let subject = self.subject.as_ref()?;
        Some(self.experiment.variant_of(subject))
    }

    /// Returns the row that says which variant the session has.
    pub(super) fn exposure(&self, at_ms: u64) -> Option<QualityRecord> {
        let variant = self.variant()?;
        Some(QualityRecord::Exposure(ExposureRecord {
            experiment: self.experiment.id.clone(),
            subject: self.subject.as_ref()?.as_ref().to_owned(),
            variant: variant.name.clone(),
            at_ms,
        }))
    }
}

/// Changes of tools after alarms, for one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Remedies {
    model: String,
    /// The format that replaces the usual edit tool.
    edit: Option<EditTool>,
    /// Own names of the tools that are not offered.
    rested: BTreeSet<String>,
    /// The reason of each change as a clause, by the own name of the tool.
    reasons: BTreeMap<String, String>,
}

/// The changes of profiles in one session.
#[derive(Default)]
pub(super) struct Adaptation {
    remedies: Remedies,
    /// Profiles with all changes, by model. Emptied when the changes change.
    known: Mutex<HashMap<String, AdaptedProfile>>,
}

/// A profile with the changes of a session.
struct AdaptedProfile {
    usual: Arc<Profile>,
    adapted: Arc<Profile>,
}

impl Adaptation {
    /// Returns the profile `usual` of a model with the changes of this session.
    pub(super) fn profile(
        &self,
        model: &str,
        usual: Arc<Profile>,
        variant: Option<&SessionVariant>,
    ) -> Arc<Profile> {
        let variant = variant.and_then(SessionVariant::variant);
        let edit = self.remedies.edit.filter(|_| self.remedies.model == model);
        if variant.is_none() && edit.is_none() {
            return usual;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(model)
            && Arc::ptr_eq(&known.usual, &usual)
        {
            return known.adapted.clone();
        }
        let by_variant = variant.and_then(|it| it.profiles.adapted(model, &usual));
        let mut adapted = by_variant.unwrap_or_else(|| (*usual).clone());
        adapted.edit = edit.unwrap_or(adapted.edit);
        let adapted = Arc::new(adapted);
        let known_profile = AdaptedProfile {
            usual,
            adapted: adapted.clone(),
        };
        known.insert(model.to_owned(), known_profile);
        adapted
    }

    /// Removes the tools that are rested for a model.
    pub(super) fn filter(&self, model: &str, specs: &mut Vec<(String, ToolSpec)>) {
        if self.remedies.model == model {
            specs.retain(|(own, _)| !self.remedies.rested.contains(own));
        }
    }

    fn set(&mut self, remedies: Remedies) {
        self.remedies = remedies;
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        known.clear();
    }
}

impl SessionTask {
    /// Returns the profile of a model in this session.
    pub(super) fn adapted_profile(&self, model: &str) -> Arc<Profile> {
        let usual = self.models().profile(model);
        let variant = self.start.variant.as_ref();
        self.adaptation.profile(model, usual, variant)
    }

    /// Applies the alarms about the tools of the session's model to the offered tools. Returns the records about
    /// changes, for the user and for the model.
    pub(super) fn apply_alarms(&mut self) -> Vec<SessionRecord> {
        let now_ms = self.harness().parts.sources.clock.wall_ms();
        // Calls count for the model that made them; `auto` is none.
        let caller = self.transcript.last_model().unwrap_or(&self.model);
        let troubles = self.harness().tool_health().troubles(caller, now_ms);
        if troubles.is_empty() && self.adaptation.remedies == Remedies::default() {
            return Vec::new();
        }
        let variant = self.start.variant.as_ref();
        let usual =
            Adaptation::default().profile(&self.model, self.models().profile(&self.model), variant);
        let usual_tools = offered(&self.start, &usual, None);
        let remedies = Remedies::of(&self.model, &troubles, usual.edit, &usual_tools);
        if remedies == self.adaptation.remedies {
            return Vec::new();
        }
        let before = std::mem::take(&mut self.adaptation.remedies);
        self.adaptation.set(remedies);
        self.update_tools();
        let sentences = self.adaptation.remedies.sentences(&before);
        let mut records: Vec<SessionRecord> = sentences
            .into_iter()
            .map(|text| SessionRecord::Noted { text })
            .collect();
        if self.has_begun {
            let names = self
                .offered
                .specs
                .iter()
                .map(|(_, spec)| spec.name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            records.push(harness_note(format!(
                "Your tools changed: from now on they are {names}. Do not call others that occur above."
            )));
        }
        records
    }
}

impl Remedies {
    /// Returns the changes after these alarms; the default without any.
    fn of(model: &str, troubles: &[AlarmRecord], usual: EditTool, tools: &OfferedTools) -> Self {
        let mut remedies = Self {
            model: model.to_owned(),
            ..Self::default()
        };
        let is_troubled =
            |edit: EditTool| troubles.iter().any(|alarm| alarm.tool == own_name(edit));
        if let Some(edit) = fallback(usual, is_troubled) {
            remedies.edit = Some(edit);
        }
        for alarm in troubles {
            let is_edit = alarm.tool == own_name(usual) && remedies.edit.is_some();
            let tool = tools.specs.iter().find(|(own, _)| *own == alarm.tool);
            let tool = tool.and_then(|(_, spec)| tools.tools.get(&spec.name));
            let may_rest = tool.is_some_and(|tool| may_rest(&**tool));
            if may_rest {
                remedies.rested.insert(alarm.tool.clone());
            }
            if is_edit || may_rest {
                remedies
                    .reasons
                    .insert(alarm.tool.clone(), alarm.sentence());
            }
        }
        if remedies.reasons.is_empty() {
            return Self::default();
        }
        remedies
    }

    /// Returns sentences for the user about the changes since `before`.
    fn sentences(&self, before: &Self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (tool, reason) in &self.reasons {
            if before.reasons.contains_key(tool) {
                continue;
            }
            let consequence = match self.edit {
                Some(edit) if !self.rested.contains(tool) => {
                    format!(
                        "files are edited with {} until it works again",
                        own_name(edit)
                    )
                }
                _ => "it is not offered for a day".to_owned(),
            };
            sentences.push(format!(
                "The tool {tool} fails more often than usual ({reason}), so {consequence}."
            ));
        }
        let back = before.reasons.keys();
        let back = back.filter(|tool| !self.reasons.contains_key(*tool));
        sentences.extend(back.map(|tool| format!("The tool {tool} is used as usual again.")));
        sentences
    }
}

/// Returns the simpler format that replaces a troubled one; `None` if the usual format works or nothing simpler does.
fn fallback(usual: EditTool, is_troubled: impl Fn(EditTool) -> bool) -> Option<EditTool> {
    if !is_troubled(usual) {
        return None;
    }
    let simpler: &[EditTool] = match usual {
        EditTool::ApplyPatch | EditTool::Hashline => &[EditTool::StrReplace, EditTool::WholeFile],
        EditTool::StrReplace | EditTool::SearchReplace => &[EditTool::WholeFile],
        EditTool::WholeFile => &[],
    };
    simpler.iter().copied().find(|edit| !is_troubled(*edit))
}

/// Returns the own name of the tool of an edit format.
fn own_name(edit: EditTool) -> &'static str {
    match edit {
        EditTool::StrReplace => "edit",
        EditTool::ApplyPatch => "apply_patch",
        EditTool::Hashline => "edit_lines",
        EditTool::SearchReplace => "edit_blocks",
        EditTool::WholeFile => "write",
    }
}

/// Returns whether a session can work without a tool.
fn may_rest(tool: &dyn Tool) -> bool {
    match tool.class() {
        ToolClass::Foreign | ToolClass::Network => true,
        ToolClass::Read
        | ToolClass::Edit
        | ToolClass::Execute
        | ToolClass::Interact
        | ToolClass::Delegate => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_simpler_format_that_works_is_used() {
        let of = |usual, troubled: &[EditTool]| fallback(usual, |edit| troubled.contains(&edit));
        use EditTool::{ApplyPatch, SearchReplace, StrReplace, WholeFile};
        assert_eq!(of(ApplyPatch, &[]), None);
        assert_eq!(of(ApplyPatch, &[ApplyPatch]), Some(StrReplace));
        assert_eq!(of(ApplyPatch, &[ApplyPatch, StrReplace]), Some(WholeFile));
        assert_eq!(of(SearchReplace, &[SearchReplace]), Some(WholeFile));
        assert_eq!(of(StrReplace, &[StrReplace, WholeFile]), None);
        assert_eq!(of(WholeFile, &[WholeFile]), None);
    }
}
