//! The agents of another machine in the panel of a window.
//!
//! The panel of this computer's agents stays behind the other one, with its sessions, and comes back as it
//! was.
//! Invariant: a path of another machine is never opened as a file of this computer, and its changes are
//! never shown in this computer's texts.
//! Start at `choose_machine`.

use base::{AbsPath, LineFeeds, printable};
use composer_panel::actions::UseAnotherMachine;
use composer_panel::{ComposerPanel, PanelEvent};
use gpui_kit::{AppContext as _, Context, Focusable as _, Window};
use ui::ActiveSettings as _;

use super::{Workbench, WorkbenchRegion, agents};
use crate::pickers::choices;

/// Key of the notices of this module.
pub(super) const NOTICE: &str = "another machine";

/// Lets the user choose between this computer and the machines of the settings.
pub(super) fn choose_machine(
    workbench: &mut Workbench,
    _: &UseAnotherMachine,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let settings = cx.settings().clone();
    let machines = &settings.agents.machines.0;
    if machines.is_empty() {
        let sentence = "The settings name no machine. Add one to `agents.machines`, with its \"host\" and \"folder\".";
        return workbench.tell(NOTICE, sentence, window, cx);
    }
    let machines: Vec<(String, String)> = machines
        .iter()
        .map(|(name, setting)| {
            let detail = format!("{} \u{b7} {}", setting.host, setting.folder);
            (name.clone(), detail)
        })
        .collect();
    let current = workbench.agents.panel.read(cx).machine();
    let choices = choices::machines(machines, current, cx.weak_entity());
    workbench.pick(choices, window, cx);
}

impl Workbench {
    /// Shows the agents of the machine `name` of the settings, or those of this computer.
    pub(crate) fn use_machine(
        &mut self,
        name: Option<&str>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(name) = name else {
            self.agents.panel = self.agents.local.clone();
            self.agents.machine_subscriptions.clear();
            return agents::show_agents(self, window, cx);
        };
        let setting = cx.settings().agents.machines.0.get(name).cloned();
        let opened = setting.and_then(|setting| {
            let folder = AbsPath::new(&setting.folder)?;
            let open = self.services.machine_agents.as_ref()?;
            Some((open(name, &setting)?, folder))
        });
        let Some((service, folder)) = opened else {
            let sentence =
                format!("The machine \u{201c}{name}\u{201d} cannot be used from this window.");
            return self.tell(NOTICE, sentence, window, cx);
        };
        let panel = cx.new(|cx| ComposerPanel::new(Some(service), Some(folder), window, cx));
        let focus = panel.read(cx).focus_handle(cx);
        self.agents.machine_subscriptions = vec![
            cx.subscribe_in(&panel, window, agents::agents_event),
            cx.on_focus_in(&focus, window, |this, _, _| {
                this.focused_region = WorkbenchRegion::Agents;
            }),
        ];
        self.agents.panel = panel;
        agents::show_agents(self, window, cx);
    }
}

/// Returns why a request of another machine's panel is not done, as a sentence. The requests are about files
/// of that machine.
pub(super) fn refusal(event: &PanelEvent, machine: &str) -> Option<String> {
    match event {
        PanelEvent::OpenFile(path, _) => Some(format!(
            "{} is a file on {machine}. Open it there; the panel shows its changes.",
            path.printable()
        )),
        PanelEvent::WriteDispute { path, .. } => Some(format!(
            "{} is a file on {machine}. Choose a side in the panel, or edit the result there.",
            printable(path, LineFeeds::Escape)
        )),
        PanelEvent::EditBuffers(_) => Some(format!(
            "A text with unsaved changes on {machine} stays as it is."
        )),
        _ => None,
    }
}
