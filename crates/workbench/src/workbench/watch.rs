//! Reacts to events around a window: its size, its focus, settings, changes on disk, Git.

use base::{AbsPath, LogErr as _};
use editor::DocumentModel;
use gpui_kit::{App, AppContext as _, Context, Entity, Focusable as _, Window};
use project::DiskOutcome;
use text::Snapshot;
use ui::{ActiveSettings as _, Tone};

use super::{Workbench, WorkbenchRegion, mentions};
use crate::configuration::{ConfigSource, Configuration, ConfigurationEvent};
use crate::documents::Documents;
use crate::notices::Notice;
use crate::workbench::{agents, blame, folders, quitting, suggestions, updates};
use crate::{awake, system_notices, traffic_lights, window_registry};

impl Workbench {
    /// Reports the problems of the settings, at startup and after every change.
    pub(crate) fn report_all_problems(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let configuration = Configuration::of(cx);
        for part in [
            ConfigSource::Settings,
            ConfigSource::Keymap,
            ConfigSource::Themes,
            ConfigSource::Vimrc,
        ] {
            report_problems(self, &configuration, part, window, cx);
        }
    }

    /// Compares open texts whose path is `wanted` with the disk.
    pub(super) fn check_documents(
        &mut self,
        wanted: impl Fn(&AbsPath) -> bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let documents = Documents::all(cx)
            .into_iter()
            .filter(|document| names_of(document, cx).iter().any(&wanted));
        let documents: Vec<_> = documents.collect();
        for document in documents {
            let check = document.update(cx, |document, cx| document.check_disk(cx));
            cx.spawn_in(window, async move |this, cx| {
                let Some(outcome) = check.await else {
                    return;
                };
                this.update_in(cx, |this, window, cx| {
                    report_outcome(this, &document, &outcome, window, cx)
                })
                .ok();
            })
            .detach();
        }
    }

    /// Passes the files on screen to the watchers.
    pub(super) fn watch_visible(&self, cx: &mut Context<Self>) {
        match &self.folder {
            Some(folder) => {
                let mut here = Vec::new();
                for entry in self.items.values() {
                    here.extend(entry.item.path(cx));
                    for document in entry.item.documents(cx) {
                        here.extend(names_of(&document, cx));
                    }
                }
                folder
                    .read(cx)
                    .set_visible(without_doubles(here.into_iter()));
            }
            None => {
                // One watcher serves all windows without a folder.
                let all = Documents::all(cx).into_iter();
                let all = all.flat_map(|document| names_of(&document, cx));
                Configuration::of(cx)
                    .read(cx)
                    .set_visible(without_doubles(all));
            }
        }
        self.load_heads(cx);
    }

    /// Reads the Git status of the window's folder again.
    pub(super) fn refresh_git(&mut self, cx: &mut Context<Self>) {
        if let Some(folder) = &self.folder {
            folder.update(cx, |folder, cx| folder.refresh_git(cx));
        }
    }

    /// Loads the committed version of every visible text, for the change bars.
    pub(super) fn load_heads(&self, cx: &mut Context<Self>) {
        let documents: Vec<_> = self
            .items
            .values()
            .flat_map(|entry| entry.item.documents(cx))
            .collect();
        for document in documents {
            let Some(path) = document.read(cx).path().cloned() else {
                continue;
            };
            let known = document.read(cx).head().cloned();
            cx.spawn(async move |_, cx| {
                let head = cx
                    .background_spawn(async move { read_head(&path, known.as_ref()) })
                    .await;
                if let HeadChange::Other(head) = head {
                    document.update(cx, |document, cx| document.set_head(head, cx));
                }
            })
            .detach();
        }
    }
}

/// Subscribes the window to its panels and to global state. Call this once.
pub(super) fn watch_window(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let configuration = Configuration::of(cx);
    let tree = workbench.tree.panel.clone();
    let agents = workbench.agents.local.clone();
    let prediction = workbench.prediction.clone();
    let modal = workbench.modal.clone();
    let in_tree = tree.read(cx).focus_handle(cx);
    let in_agents = agents.read(cx).focus_handle(cx);
    let source = mentions::mention_source(cx.weak_entity());
    agents.update(cx, |agents, _| agents.set_mentions(source));
    workbench._subscriptions = vec![
        cx.subscribe_in(&configuration, window, configuration_event),
        cx.subscribe_in(&agents, window, agents::agents_event),
        cx.observe(&agents, |this, _, cx| {
            this.status.update(cx, |status, cx| status.note_agents(cx));
            this.note_work(cx);
        }),
        cx.subscribe_in(&prediction, window, suggestions::prediction_event),
        cx.observe(&prediction, |this, _, cx| {
            this.status
                .update(cx, |status, cx| status.note_suggestions(cx));
        }),
        cx.subscribe_in(&tree, window, |this, _, event, window, cx| {
            folders::tree_event(this, event, window, cx)
        }),
        cx.observe_window_bounds(window, |this, _, cx| this.store_soon(cx)),
        cx.observe_window_activation(window, activation_changed),
        cx.observe_window_appearance(window, |_, _, cx| {
            Configuration::of(cx).update(cx, |configuration, cx| configuration.apply_theme(cx));
        }),
        cx.observe_pending_input(window, |this, _, cx| {
            this.status.update(cx, |_, cx| cx.notify());
        }),
        cx.on_focus_lost(window, Workbench::keyboard_lost),
        cx.observe_in(&modal, window, Workbench::modal_changed),
        cx.on_focus_in(&in_tree, window, |this, _, _| {
            this.focused_region = WorkbenchRegion::Tree;
        }),
        cx.on_focus_in(&in_agents, window, |this, _, _| {
            this.focused_region = WorkbenchRegion::Agents;
        }),
    ];
    let this = cx.weak_entity();
    window.on_window_should_close(cx, move |window, cx| {
        let closes = this.update(cx, |this, cx| {
            let asks = quitting::asks_before_closing(this, cx.entity_id(), window, cx);
            if !asks {
                window_closes(this, window, cx);
            }
            !asks
        });
        closes.log_err().unwrap_or(true)
    });
}

/// Handles the closing window. Does not ask: unsaved text is kept in the journal, and in memory
/// while the process runs.
fn window_closes(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    workbench.store_now(window, cx);
    let documents: Vec<_> = workbench
        .items
        .values()
        .flat_map(|entry| entry.item.documents(cx))
        .collect();
    for document in documents {
        if document.read(cx).document().is_dirty() {
            Documents::keep_waiting(document, cx);
        }
    }
    awake::note(cx.entity_id(), false, cx);
    window_registry::closing(cx.entity().entity_id(), cx);
}

fn activation_changed(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    if window.is_window_active() {
        window_registry::on_activated(cx.entity().entity_id(), cx);
        system_notices::dismiss(cx.entity_id(), cx);
        // The watcher may have missed changes while another application was active.
        workbench.check_documents(|_| true, window, cx);
        updates::check_program(workbench, window, cx);
    } else {
        workbench.autosave_on_leaving(window, cx);
    }
    cx.notify();
}

fn configuration_event(
    workbench: &mut Workbench,
    configuration: &Entity<Configuration>,
    event: &ConfigurationEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let part = match event {
        ConfigurationEvent::Changed(part) => part,
        ConfigurationEvent::NotWritten(sentence) => {
            if window.is_window_active() || window_registry::is_only_one(cx) {
                workbench.report_error(sentence.clone(), window, cx);
            }
            return;
        }
        ConfigurationEvent::Files(paths) => {
            let is_wanted =
                |path: &AbsPath| paths.as_ref().is_none_or(|paths| paths.contains(path));
            return workbench.check_documents(is_wanted, window, cx);
        }
    };
    if window.is_window_active() || window_registry::is_only_one(cx) {
        report_problems(workbench, configuration, *part, window, cx);
    }
    workbench.prediction.update(cx, |prediction, cx| {
        prediction.settings_changed(window, cx);
    });
    if let Some(servers) = workbench.language_servers(cx) {
        servers.update(cx, |servers, cx| servers.settings_changed(cx));
    }
    blame::settings_changed(workbench, cx);
    traffic_lights::follow(cx.settings().window.zoom, window);
    workbench.follow_layout(cx);
    cx.notify();
}

fn report_problems(
    workbench: &mut Workbench,
    configuration: &Entity<Configuration>,
    part: ConfigSource,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let problems = configuration.read(cx).problems_of(part).to_vec();
    let theme = configuration.read(cx).theme_problem().map(str::to_owned);
    let Some(first) = problems.first() else {
        if let Some(sentence) = theme.filter(|_| part == ConfigSource::Settings) {
            workbench.report(
                Notice::new(Tone::Warning, sentence).key("theme"),
                window,
                cx,
            );
        }
        return;
    };
    let more = match problems.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let notice = Notice::new(Tone::Warning, format!("{first}{more}")).key(format!("{part:?}"));
    let notice = match part {
        ConfigSource::Settings => notice.action("Open settings", crate::actions::app::OpenSettings),
        ConfigSource::Keymap => notice.action("Open key bindings", crate::actions::app::OpenKeymap),
        ConfigSource::Snippets => {
            notice.action("Open snippets", crate::actions::snippets::Configure)
        }
        ConfigSource::Vimrc => notice.action("Show all", crate::actions::vim::ShowVimrcProblems),
        ConfigSource::Themes => notice,
    };
    workbench.report(notice, window, cx);
}

fn report_outcome(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    outcome: &DiskOutcome,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    // The banner above the text shows other outcomes; only those without a banner are reported.
    if let DiskOutcome::Unreadable(error) = outcome {
        let key = format!("disk-{}", document.entity_id());
        workbench.report(
            Notice::new(Tone::Warning, error.to_string()).key(key),
            window,
            cx,
        );
    }
}

/// Returns the path of a document and its link target: both are watched, because a change of either
/// changes the text.
fn names_of(document: &Entity<DocumentModel>, cx: &App) -> Vec<AbsPath> {
    let document = document.read(cx).document();
    let names = document.path().into_iter().chain(document.real_path());
    names.cloned().collect()
}

fn without_doubles(paths: impl Iterator<Item = AbsPath>) -> Vec<AbsPath> {
    let mut paths: Vec<AbsPath> = paths.collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

enum HeadChange {
    Same,
    Other(Option<Snapshot>),
}

fn read_head(path: &AbsPath, known: Option<&Snapshot>) -> HeadChange {
    let nothing = || match known {
        Some(_) => HeadChange::Other(None),
        None => HeadChange::Same,
    };
    let Some(bytes) = git::checked_out(path).ok().flatten() else {
        return nothing();
    };
    let decoded = text::decode(&bytes);
    if decoded.binary {
        return nothing();
    }
    if known.is_some_and(|known| {
        known.len().0 == decoded.text.len() && *known.to_string() == *decoded.text
    }) {
        return HeadChange::Same;
    }
    HeadChange::Other(Some(Snapshot::new(&decoded.text)))
}
