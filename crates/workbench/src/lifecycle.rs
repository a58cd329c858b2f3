//! Requests of the system to the program as a whole: commands without a window, the Dock, the end.
//!
//! Every handler is a function of `App`, so that tests run it on any system; the systems differ only
//! in which of them they call. Start at `init`.

use base::{AbsPath, Platform, text_path};
use composer_panel::AgentCounts;
use gpui_kit::{Action, App};
use ui::ActivePlatform as _;

use crate::actions::{app, file};
use crate::documents::Documents;
use crate::workbench::quitting::{self, ProgramEnd, RunningWork};
use crate::{system_notices, window_registry, windows};

/// Registers the commands that work without a window, and what happens when the program ends or the
/// computer sleeps.
pub(crate) fn init(cx: &mut App) {
    // The window from which the command comes cannot ask while it handles the command.
    cx.on_action(|_: &app::Quit, cx| cx.defer(|cx| end(ProgramEnd::Quit, cx)));
    cx.on_action(|_: &app::Restart, cx| cx.defer(|cx| end(ProgramEnd::Restart, cx)));
    cx.on_action(|_: &app::NewWindow, cx| windows::open_folder(None, cx));
    cx.on_action(|folder: &app::OpenRecentFolder, cx| {
        if let Some(folder) = AbsPath::new(text_path(&folder.0)) {
            windows::open_folder(Some(folder), cx);
        }
    });
    cx.on_action(|_: &app::Hide, cx| cx.hide());
    cx.on_action(|_: &app::HideOthers, cx| cx.hide_other_apps());
    cx.on_action(|_: &app::ShowAll, cx| cx.unhide_other_apps());
    if cx.platform() == Platform::MacOs {
        in_front_window::<file::New>(cx);
        in_front_window::<file::Open>(cx);
        in_front_window::<file::OpenFolder>(cx);
        in_front_window::<file::OpenRecent>(cx);
        in_front_window::<app::About>(cx);
        in_front_window::<app::InstallCommand>(cx);
        in_front_window::<app::OpenSettings>(cx);
        in_front_window::<app::OpenKeymap>(cx);
        in_front_window::<app::SelectTheme>(cx);
    }
    cx.on_system_notification_response(|response, cx| show_window_of(&response.tag, cx));
    cx.on_window_closed(|cx, _| window_closed(cx)).detach();
    // The system also ends the program without the command: from the Dock, or when the user logs
    // out. Nothing is asked then, because nothing is lost.
    cx.on_app_quit(|cx| {
        windows::store_all(cx);
        async {}
    })
    .detach();
    cx.on_system_sleep(|cx| {
        if let Some(sentence) = Documents::flush(cx) {
            log::error!("{sentence}");
        }
    })
    .detach();
}

/// Ends the program. Asks in the front window first if agents are at work or commands run in terminals.
fn end(end: ProgramEnd, cx: &mut App) {
    let open = windows::all(cx);
    let commands = open.iter().map(|(_, it)| it.read(cx).running_commands(cx));
    let work = RunningWork {
        commands: commands.sum(),
        agents: agents_at_work(cx),
    };
    let active = cx.active_window();
    let mut open = windows::all(cx);
    open.sort_by_key(|(window, _)| Some(*window) == active);
    let front = open.pop().filter(|_| work != RunningWork::default());
    let Some((window, workbench)) = front else {
        return end_now(end, cx);
    };
    let asked = window.update(cx, |_, window, cx| {
        window.activate_window();
        workbench.update(cx, |workbench, cx| {
            quitting::ask_to_end(workbench, work, end, window, cx);
        });
    });
    // A window that closes at this moment cannot ask.
    if asked.is_err() {
        end_now(end, cx);
    }
}

fn end_now(end: ProgramEnd, cx: &mut App) {
    match end {
        ProgramEnd::Quit => windows::shut_down(cx),
        ProgramEnd::Restart => windows::restart(cx),
    }
}

/// Counts the agents of the whole program: those of every window, and sessions that go on without
/// one.
fn agents_at_work(cx: &App) -> AgentCounts {
    let open = windows::all(cx);
    let roots: Vec<_> = open
        .iter()
        .filter_map(|(_, it)| it.read(cx).root(cx))
        .collect();
    let mut agents = AgentCounts::default();
    if open
        .iter()
        .any(|(_, it)| it.read(cx).agents_outlive_windows())
    {
        return agents;
    }
    for (_, workbench) in &open {
        quitting::add(
            &mut agents,
            workbench.read(cx).local_agents().read(cx).agent_counts(),
        );
    }
    // Each panel knows all sessions of the program once it was shown.
    let panels = open
        .iter()
        .map(|(_, it)| it.read(cx).local_agents().read(cx));
    let outside = panels.map(|panel| panel.agents_outside(&roots));
    quitting::add(
        &mut agents,
        outside
            .max_by_key(|it| it.working + it.waiting)
            .unwrap_or_default(),
    );
    agents
}

/// Activates the window of a notification that the user clicked, and shows its session.
fn show_window_of(tag: &str, cx: &mut App) {
    let open = windows::all(cx).into_iter();
    let mut open = open.filter(|(_, workbench)| system_notices::tag(workbench.entity_id()) == tag);
    if let Some((window, workbench)) = open.next() {
        cx.activate(true);
        let activated = window.update(cx, |_, window, cx| {
            window.activate_window();
            workbench.update(cx, |workbench, cx| {
                workbench.show_notified_session(window, cx)
            });
        });
        // A window that closes at this moment need not be activated.
        activated.ok();
    }
}

/// Runs a command of a window while none is active: in the front window, or in a new one while none
/// is open. On macOS the program and its menus outlive the last window.
fn in_front_window<A: Action>(cx: &mut App) {
    cx.on_action(|action: &A, cx| {
        if cx.active_window().is_some() {
            return;
        }
        if cx.windows().is_empty() {
            windows::open_folder(None, cx);
        }
        if let Some((window, _)) = windows::all(cx).pop() {
            let action = action.boxed_clone();
            let run = window.update(cx, |_, window, cx| {
                window.activate_window();
                window.dispatch_action(action, cx);
            });
            // A window that closed at once runs nothing.
            run.ok();
        }
    });
}

/// Reacts to a closed window: Linux ends the program with its last window, macOS keeps it.
fn window_closed(cx: &mut App) {
    if !cx.windows().is_empty() {
        return;
    }
    match cx.platform() {
        Platform::Linux => windows::shut_down(cx),
        Platform::MacOs => window_registry::set_aside_closed(cx),
    }
}
