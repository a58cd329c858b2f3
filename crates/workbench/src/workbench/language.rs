//! Language servers in the window: the menu of servers, installation, and messages.

use std::path::Path;
use std::rc::Rc;

use base::{ByteOffset, LineFeeds, Span, printable};
use composer_panel::actions::TrustFolder;
use editor::{DocumentModel, MenuSection};
use gpui_kit::{
    App, AppContext as _, Context, Div, Entity, InteractiveElement as _, Stateful, Subscription,
    Window,
};
use host::RealFiles;
use language::{FolderServers, InstallPlan, ServerMessage};
use lsp::MessageSeverity;
use serde_json::Value;
use text::{Author, Edit};
use ui::{ButtonStyle, Menu, Tone};

use super::{Workbench, refactor, shown_problems};
use crate::actions::language::{
    FindReferences, FormatDocument, GoToDefinition, PeekDefinition, PeekReferences, RenameSymbol,
    RestartServers, ShowCodeActions, ShowServers,
};
use crate::documents::Documents;
use crate::folder::OpenFolder;
use crate::language_servers::{LanguageServers, LanguageServersEvent};
use crate::notices::Notice;
use crate::open_options::OpenOptions;
use crate::pickers::server_menu::{self, ServerAction, ServerMenu};
use crate::question::QuestionSpec;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(show_servers))
        .on_action(cx.listener(restart_servers))
}

/// Returns the entries of the context menu of a text that ask its language servers; none without a server.
pub(super) fn menu_section(model: &Entity<DocumentModel>) -> MenuSection {
    let model = model.downgrade();
    Rc::new(move |menu: Menu, cx: &App| {
        let Some(model) = model.upgrade() else {
            return menu;
        };
        let served = OpenFolder::servers_of(&model, cx);
        let has_server =
            served.is_some_and(|(servers, path)| !servers.read(cx).servers_of(&path).is_empty());
        if !has_server {
            return menu;
        }
        let menu = menu
            .action("Go to definition", Box::new(GoToDefinition))
            .action("Find references", Box::new(FindReferences))
            .action("Peek definition", Box::new(PeekDefinition))
            .action("Peek references", Box::new(PeekReferences))
            .separator();
        if !model.read(cx).document().can_edit() {
            return menu;
        }
        menu.action("Rename symbol\u{2026}", Box::new(RenameSymbol))
            .action("Code actions\u{2026}", Box::new(ShowCodeActions))
            .action("Format", Box::new(FormatDocument))
            .separator()
    })
}

/// Follows the language servers of a folder.
pub(super) fn follow(
    folder: &Entity<OpenFolder>,
    window: &Window,
    cx: &mut Context<Workbench>,
) -> Subscription {
    let servers = folder.read(cx).language_servers().clone();
    cx.subscribe_in(&servers, window, |workbench, _, event, window, cx| {
        match event {
            LanguageServersEvent::Message(message) => show_message(workbench, message, window, cx),
            LanguageServersEvent::EditRequested(edit) => {
                refactor::apply_requested(edit, window, cx);
            }
            LanguageServersEvent::DiagnosticsChanged => {
                shown_problems::problems_changed(workbench, cx);
                for strip in workbench.strips.values() {
                    strip.update(cx, |_, cx| cx.notify());
                }
            }
            LanguageServersEvent::StatusChanged => {}
        }
        let status = workbench.status.clone();
        status.update(cx, |status, cx| status.note_language(cx));
    })
}

impl Workbench {
    /// Returns the language servers of the open folder.
    pub(crate) fn language_servers(&self, cx: &gpui_kit::App) -> Option<Entity<LanguageServers>> {
        let folder = self.folder.as_ref()?;
        Some(folder.read(cx).language_servers().clone())
    }

    /// Starts the language servers anew, after the settings or the trust in the folder changed.
    pub(super) fn reload_language_servers(&self, cx: &mut Context<Self>) {
        if let Some(servers) = self.language_servers(cx) {
            servers.update(cx, LanguageServers::reload);
        }
    }

    /// Runs an action of the menu of servers.
    pub(crate) fn run_server_action(
        &mut self,
        action: ServerAction,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(servers) = self.language_servers(cx) else {
            return;
        };
        match action {
            ServerAction::Restart(key) => servers.read(cx).restart(&key),
            ServerAction::Stop(key) => servers.read(cx).stop(&key),
            ServerAction::ShowLog(id) => {
                let path = self.services.dirs.server_logs().join(format!("{id}.log"));
                self.open_path(path, OpenOptions::lasting(), window, cx);
            }
            ServerAction::ShowCapabilities(key) => {
                let capabilities = servers.read(cx).capabilities(&key);
                match capabilities {
                    Some(capabilities) => show_json(self, &capabilities, window, cx),
                    None => self.report_error(format!("{} does not run", key.id), window, cx),
                }
            }
            ServerAction::Install(id) => ask_to_install(self, id, window, cx),
            ServerAction::Trust => {
                let panel = self.agents.local.clone();
                panel.update(cx, |panel, cx| panel.trust_folder(&TrustFolder, window, cx));
            }
        }
    }
}

/// Shows a value in an untitled text.
fn show_json(
    workbench: &mut Workbench,
    value: &Value,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let document = Documents::untitled(cx);
    document.update(cx, |document, cx| {
        let insert = Edit::new(Span::at(ByteOffset(0)), format!("{value:#}\n"));
        document.edit(&[insert], Author::User, cx);
        document.set_language(syntax::language_for(Path::new("a.json"), ""), cx);
    });
    workbench.leave_place(cx);
    let pane = workbench.layout.active_pane();
    workbench.open_document_in(document, pane, OpenOptions::lasting(), window, cx);
}

fn show_servers(
    workbench: &mut Workbench,
    _: &ShowServers,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(servers) = workbench.language_servers(cx) else {
        return;
    };
    let measured = servers.read(cx).measure_memory(cx);
    cx.spawn_in(window, async move |workbench, cx| {
        measured.await;
        let shown = workbench.update_in(cx, |workbench, window, cx| {
            let servers = servers.read(cx);
            let rows =
                server_menu::rows(servers.refusal(), &servers.statuses(), &servers.missing());
            let menu = ServerMenu::new(cx.weak_entity(), rows);
            workbench.pick(menu, window, cx);
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

fn restart_servers(
    workbench: &mut Workbench,
    _: &RestartServers,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.reload_language_servers(cx);
}

fn show_message(
    workbench: &mut Workbench,
    message: &ServerMessage,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let tone = match message.severity {
        MessageSeverity::Error => Tone::Error,
        MessageSeverity::Warning => Tone::Warning,
        MessageSeverity::Info | MessageSeverity::Debug => Tone::Info,
    };
    let text = printable(message.text.trim(), LineFeeds::Keep);
    let sentence = format!("{}: {text}", message.server);
    let notice = Notice::new(tone, sentence).key(format!("lsp {}", message.server));
    workbench.report(notice, window, cx);
}

/// Shows the commands that install a server, and runs them if the user agrees.
fn ask_to_install(
    workbench: &mut Workbench,
    id: String,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let servers = workbench.language_servers(cx);
    let folder = servers.and_then(|servers| servers.read(cx).folder());
    let Some(folder) = folder else {
        return;
    };
    cx.spawn_in(window, async move |workbench, cx| {
        let (planned, wanted) = (folder.clone(), id.clone());
        let plan = cx
            .background_spawn(async move { plan(&planned, &wanted) })
            .await;
        // The window may have been closed.
        let asked = workbench.update_in(cx, |workbench, window, cx| match plan {
            Ok(plan) => {
                let answer = workbench.ask(install_question(&id, &plan), window, cx);
                Some((plan, answer))
            }
            Err(error) => {
                workbench.report_error(error.to_string(), window, cx);
                None
            }
        });
        let Ok(Some((plan, answer))) = asked else {
            return;
        };
        if answer.await != Ok(0) {
            return;
        }
        let done = cx.background_spawn(async move {
            let installed = folder.installed();
            installed.install(&RealFiles, &plan, &mut |_| {})
        });
        let started = workbench.update_in(cx, |workbench, window, cx| {
            let sentence = format!("{id} is being installed\u{2026}");
            let notice = Notice::new(Tone::Info, sentence).key(format!("install {id}"));
            workbench.report(notice, window, cx);
        });
        started.ok();
        let done = done.await;
        let shown = workbench.update_in(cx, |workbench, window, cx| {
            if let Some(servers) = workbench.language_servers(cx) {
                servers.read(cx).find_servers();
            }
            let notice = match done {
                Ok(()) => Notice::new(Tone::Success, format!("{id} is installed")),
                Err(error) => Notice::new(Tone::Error, error.to_string()),
            };
            workbench.report(notice.key(format!("install {id}")), window, cx);
        });
        shown.ok();
    })
    .detach();
}

/// Returns the commands that install a server.
fn plan(folder: &FolderServers, id: &str) -> Result<InstallPlan, language::Error> {
    let server = folder.server(id)?;
    let installed = folder.installed();
    installed.plan(&RealFiles, server, folder.root())
}

fn install_question(id: &str, plan: &InstallPlan) -> QuestionSpec {
    QuestionSpec {
        title: format!("Install {id}?").into(),
        detail: format!("Burin will run:\n{}", plan.commands().join("\n")).into(),
        answers: vec![
            ("Install".into(), ButtonStyle::Primary),
            ("Cancel".into(), ButtonStyle::Plain),
        ],
        safest: 1,
    }
}
