//! Automations of a fake.

use super::FakeAgents;
use crate::agents::{
    AutomationChange, AutomationEntry, AutomationState, Error, OccurrenceEntry, OccurrenceState,
};

impl FakeAgents {
    /// Sets the automations of the folder.
    pub fn set_automations(&self, automations: Vec<AutomationEntry>) {
        self.with(|state| state.automations = automations);
    }

    /// Takes the changes of automations since the last call.
    pub fn take_automation_changes(&self) -> Vec<AutomationChange> {
        self.with(|state| std::mem::take(&mut state.automation_changes))
    }

    /// Applies a change as far as stories look at it: a run begins at once.
    pub(super) fn apply_automation(
        &self,
        change: AutomationChange,
    ) -> Result<Vec<AutomationEntry>, Error> {
        self.with(|state| {
            let name = match &change {
                AutomationChange::Trust { name, .. }
                | AutomationChange::TurnOff(name)
                | AutomationChange::Run(name) => name.clone(),
            };
            let mut entries = state.automations.iter_mut();
            let missing = || Error::Failed(format!("there is no automation {name}"));
            let entry = entries.find(|entry| entry.name == name);
            let entry = entry.ok_or_else(missing)?;
            match &change {
                AutomationChange::Trust { mark, .. } if *mark != entry.mark => {
                    return Err(Error::Failed(format!("{} changed meanwhile", entry.path)));
                }
                AutomationChange::Trust { .. } => entry.state = AutomationState::On,
                AutomationChange::TurnOff(_) => entry.state = AutomationState::Off,
                AutomationChange::Run(_) => entry.history.insert(0, running()),
            }
            state.automation_changes.push(change);
            Ok(state.automations.clone())
        })
    }
}

fn running() -> OccurrenceEntry {
    OccurrenceEntry {
        number: 1,
        trigger: "run now".to_owned(),
        planned_ms: 0,
        state: OccurrenceState::Running,
        link: crate::agents::RunLink::default(),
        cost_nano: None,
    }
}
