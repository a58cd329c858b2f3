//! The other machine whose agents the panel shows: its name in the header, and the state of the connection.
//!
//! Invariant: no path of another machine is opened as a file of this computer.

use base::{LineFeeds, printable};
use futures::StreamExt as _;
use gpui_kit::{AnyElement, Context, IntoElement as _, Task, Window};
use ui::{Banner, Button, ButtonStyle, Icon, Tone};

use super::ComposerPanel;
use super::sessions::ListReading;
use crate::actions::UseAnotherMachine;

/// The connection to another machine.
#[derive(Default)]
pub(super) struct MachineLink {
    /// The reason why the machine is not reached, as a sentence.
    problem: Option<String>,
    task: Option<Task<()>>,
}

impl ComposerPanel {
    /// Returns the name of the machine whose agents the panel shows; `None` for this computer.
    pub fn machine(&self) -> Option<String> {
        self.agents.as_ref()?.machine()
    }

    /// Follows the connection to another machine.
    pub(super) fn follow_machine(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(mut problems) = self.agents.as_ref().map(|it| it.link_problems()) else {
            return;
        };
        self.link.task = Some(cx.spawn_in(window, async move |this, cx| {
            while let Some(problem) = problems.next().await {
                let taken = this.update_in(cx, |this, window, cx| {
                    this.link_changed(problem, window, cx);
                });
                if taken.is_err() {
                    return;
                }
            }
        }));
    }

    /// Shows the state of the connection. What could not be read meanwhile is read when it is back.
    fn link_changed(
        &mut self,
        problem: Option<String>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let before = std::mem::replace(&mut self.link.problem, problem);
        if let (Some(before), None) = (before, &self.link.problem) {
            // What failed for this reason is read again.
            let is_over = |error: &mut String| before.starts_with(error.as_str());
            self.error.take_if(is_over);
            self.load_models(window, cx);
            self.load_trust(cx);
            self.follow_sessions(ListReading::Now, cx);
        }
        cx.notify();
    }

    /// Explains that a dropped file is not on the machine.
    pub(super) fn refuse_file(&mut self, name: &str, cx: &mut Context<Self>) {
        let name = printable(name, LineFeeds::Escape);
        let machine = self.machine().unwrap_or_default();
        self.error = Some(format!(
            "{name} is a file of this computer, and the agents work on {machine}. Only images can be dropped."
        ));
        cx.notify();
    }

    /// Renders the name of the machine for the header, a button that chooses another one.
    pub(super) fn render_machine(&self) -> Option<AnyElement> {
        let button = Button::new("agent-machine-name", self.machine()?);
        let button = button.icon(Icon::Globe).style(ButtonStyle::Plain);
        Some(
            button
                .action(Box::new(UseAnotherMachine))
                .into_any_element(),
        )
    }

    /// Returns whether the machine is not reached.
    pub(super) fn is_cut_off(&self) -> bool {
        self.link.problem.is_some()
    }

    /// Returns whether the banner about the connection already says this sentence.
    pub(super) fn is_link_problem(&self, sentence: &str) -> bool {
        let problem = self.link.problem.as_deref();
        problem.is_some_and(|problem| problem.contains(sentence))
    }

    /// Renders a banner while the machine is not reached.
    pub(super) fn render_link_problem(&self) -> Option<AnyElement> {
        let problem = self.link.problem.clone()?;
        Some(Banner::new("agent-machine", Tone::Warning, problem).into_any_element())
    }
}
