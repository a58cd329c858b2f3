//! Terminals across restarts of Burin: text, folder and place in the panel.

use std::time::Duration;

use base::LogErr as _;
use gpui_kit::{AppContext as _, Context, Task, Window};
use ui::RestTimer;

use super::TerminalPanel;
use crate::service::{SavedPane, TerminalRequest};

/// Time between a change and saving it.
const DELAY: Duration = Duration::from_secs(2);

/// The schedule of saving.
pub(super) struct SavedPanes {
    /// Whether something changed since the terminals were last saved.
    is_due: bool,
    timer: RestTimer<TerminalPanel>,
    /// The save in progress.
    running: Option<Task<()>>,
    /// Whether the saved terminals were loaded: before that, nothing replaces them.
    is_loaded: bool,
}

impl SavedPanes {
    pub(super) fn new() -> Self {
        Self {
            is_due: false,
            timer: RestTimer::new(DELAY, |it| &mut it.saving.timer, TerminalPanel::save),
            running: None,
            is_loaded: false,
        }
    }

    /// Returns whether the saved terminals were loaded, or cannot be.
    pub(super) fn is_loaded(&self) -> bool {
        self.is_loaded
    }
}

impl TerminalPanel {
    /// Loads the saved terminals and adds them to the panel.
    pub(super) fn load_saved(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let saved = self.service.load_saved();
        self._load = Some(cx.spawn_in(window, async move |this, cx| {
            let panes = saved.await;
            let restored = this.update_in(cx, |this, window, cx| {
                this.saving.is_loaded = true;
                match panes {
                    Ok(panes) => this.restore(panes, window, cx),
                    Err(error) => log::warn!("cannot restore the terminals: {error}"),
                }
                this.release_held(cx);
                this.focus_loaded(window, cx);
            });
            // The window may be gone.
            restored.ok();
        }));
    }

    /// Replaces the focus on the empty panel by that of a terminal.
    fn focus_loaded(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.focus.is_focused(window) {
            self.focus(window, cx);
        }
    }

    fn restore(&mut self, panes: Vec<SavedPane>, window: &mut Window, cx: &mut Context<Self>) {
        // A terminal that was opened meanwhile stays the shown one.
        let shown = self.tabs.get(self.active).map(|tab| tab.id);
        let mut last = None;
        self.active = self.tabs.len();
        for pane in panes {
            let Some(pane) = self.fill_held(pane, cx) else {
                continue;
            };
            let request = TerminalRequest {
                folder: pane.terminal.folder.clone(),
                ..TerminalRequest::default()
            };
            let view = self.create_view(request, Some(pane.terminal), window, cx);
            view.update(cx, |view, _| view.set_shell(pane.shell));
            if last == Some(pane.tab) && !self.tabs.is_empty() {
                self.add_split(self.active, view, window, cx);
            } else {
                self.add_tab(view, pane.name, window, cx);
            }
            last = Some(pane.tab);
        }
        let shown = self.tabs.iter().position(|tab| Some(tab.id) == shown);
        self.active = shown.unwrap_or_default();
        self.panes_changed(cx);
    }

    /// Saves all terminals after a delay, unless that is planned already.
    pub(super) fn save_soon(&mut self, cx: &mut Context<Self>) {
        self.saving.is_due = true;
        // A running timer is not restarted: a program that prints all the time would otherwise never be saved.
        let is_planned = self.saving.timer.is_running() || self.saving.running.is_some();
        if self.saving.is_loaded && !is_planned {
            self.saving.timer.put_off(cx);
        }
    }

    fn save(&mut self, cx: &mut Context<Self>) {
        if !std::mem::take(&mut self.saving.is_due) {
            return;
        }
        let mut panes = Vec::new();
        let tabs = self.tabs.iter();
        let tabs = tabs.map(|tab| (tab.name.clone(), None, tab.panes.as_slice()));
        let in_editor = self.in_editor.iter().map(|pane| {
            let placement = pane.view.read(cx).placement.as_ref();
            let name = placement.and_then(|it| it.name.clone());
            (name, placement.map(|it| it.id), std::slice::from_ref(pane))
        });
        for (number, (name, editor, of_tab)) in (0..).zip(tabs.chain(in_editor)) {
            // The output of a task belongs to the window's run.
            let kept = of_tab.iter();
            for pane in kept.filter(|pane| !pane.view.read(cx).is_task()) {
                let view = pane.view.read(cx);
                let (text, shell) = (view.text_to_save(), view.kept_shell());
                panes.push((number, name.clone(), editor, text, shell));
            }
        }
        let service = self.service.clone();
        self.saving.running = Some(cx.spawn(async move |this, cx| {
            let read = cx.background_spawn(async move {
                let panes = panes
                    .into_iter()
                    .filter_map(|(tab, name, editor, text, shell)| {
                        let terminal = text.read()?;
                        Some(SavedPane {
                            tab,
                            name,
                            editor,
                            terminal,
                            shell,
                        })
                    });
                panes.collect::<Vec<_>>()
            });
            service.save(read.await).await.log_err();
            let done = this.update(cx, |this, cx| {
                this.saving.running = None;
                if this.saving.is_due {
                    this.save_soon(cx);
                }
            });
            // The window may be gone.
            done.ok();
        }));
    }
}
