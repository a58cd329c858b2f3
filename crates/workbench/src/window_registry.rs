//! The registry of open windows, and the session that restores them.
//!
//! Must not know: how a window is created. Start at `store`, which every window calls.

use std::time::Duration;

use base::{AbsPath, path_text, text_path};
use gpui_kit::{
    AnyEntity, AnyWeakEntity, AnyWindowHandle, App, AppContext as _, EntityId, Global, Task,
};
use project::{LayoutProblem, WindowLayouts};

use crate::services::Services;
use crate::session::{SavedSession, SavedWindow};

/// The windows of the process and the stored session.
#[derive(Default)]
pub(crate) struct WindowRegistry {
    pub(crate) open: Vec<OpenWindow>,
    /// Windows of the session that this start did not open.
    pub(crate) unopened: Vec<SavedWindow>,
    pub(crate) session: SavedSession,
    pub(crate) writing: Option<Task<()>>,
    /// The latest request to open folders or files; it waits for the earlier ones.
    pub(crate) opening: Option<Task<()>>,
    pub(crate) is_ending: bool,
    /// Opens a folder in a window; set by `windows`, which knows how to create one.
    pub(crate) open_folder: Option<fn(Option<AbsPath>, &mut App)>,
    /// Ends the program; set by `windows`, which stores them first.
    pub(crate) shut_down: Option<fn(&mut App)>,
    /// Ends the program and starts it again; set by `windows`.
    pub(crate) restart: Option<fn(&mut App)>,
    /// Whether the stored session stays as it is, because a newer Burin wrote it.
    pub(crate) is_kept: bool,
}

/// An open window; the front one is last in the registry.
pub(crate) struct OpenWindow {
    pub(crate) window: AnyWindowHandle,
    pub(crate) workbench: AnyWeakEntity,
    pub(crate) id: EntityId,
    pub(crate) for_files: bool,
    pub(crate) saved: SavedWindow,
}

impl Global for WindowRegistry {}

/// File of the session in the state folder, and its key there.
const FILE: &str = "windows.json";
const KEY: &str = "session";
/// Delay before writing, to gather further changes.
const WRITE_AFTER: Duration = Duration::from_millis(100);

/// Stores the current state of a window in the session, and schedules writing the session to disk.
/// Ignores windows that are not registered.
pub(crate) fn store(id: EntityId, mut saved: SavedWindow, cx: &mut App) {
    if !cx.has_global::<WindowRegistry>() {
        return;
    }
    let windows = cx.global_mut::<WindowRegistry>();
    let Some(open) = windows.open.iter_mut().find(|open| open.id == id) else {
        return;
    };
    // With a folder, it is an ordinary window.
    open.for_files &= saved.folder.is_none();
    saved.for_files = open.for_files;
    if open.saved != saved {
        open.saved = saved;
        write_soon(cx);
    }
}

fn write_soon(cx: &mut App) {
    let windows = cx.global_mut::<WindowRegistry>();
    if !windows.open.is_empty() {
        let open = windows.open.iter().map(|open| open.saved.clone()).collect();
        windows.session.set_windows(&windows.unopened, open);
    }
    if windows.writing.is_some() || windows.is_kept {
        return;
    }
    let services = Services::of(cx);
    let task = cx.spawn(async move |cx| {
        cx.background_executor().timer(WRITE_AFTER).await;
        let session = cx.update(|cx| {
            let windows = cx.global_mut::<WindowRegistry>();
            windows.writing = None;
            windows.session.clone()
        });
        cx.background_spawn(async move { write_session(&session, &services) })
            .await;
    });
    cx.global_mut::<WindowRegistry>().writing = Some(task);
}

/// Writes the session to the state folder. Blocks on the disk. Logs a failure.
pub(crate) fn write_session(session: &SavedSession, services: &Services) {
    let mut state = WindowLayouts::default();
    match serde_json::to_value(session) {
        Ok(value) => state.windows.insert(KEY.to_owned(), value),
        Err(error) => {
            base::never!("a session is plain data: {error}");
            None
        }
    };
    let file = services.dirs.state.join(FILE);
    if let Err(error) = state.store(services.files.as_ref(), &file) {
        log::warn!("{error}");
    }
}

/// A session as it was stored.
#[derive(Default)]
pub(crate) struct StoredSession {
    /// The session; empty if it cannot be used.
    pub(crate) session: SavedSession,
    /// A sentence about the reason why it cannot be used.
    pub(crate) problem: Option<String>,
    /// Whether a newer Burin wrote it, so that it must not be replaced.
    pub(crate) is_newer: bool,
}

/// Reads the session from the state folder. Blocks on the disk.
pub(crate) fn read_session(cx: &App) -> StoredSession {
    let services = Services::of(cx);
    let (mut state, problem) =
        WindowLayouts::load(services.files.as_ref(), &services.dirs.state.join(FILE));
    let is_newer = matches!(problem, Some(LayoutProblem::Newer { .. }));
    let problem = problem.map(|problem| problem.to_string());
    let Some(value) = state.windows.remove(KEY) else {
        return StoredSession {
            problem,
            is_newer,
            ..StoredSession::default()
        };
    };
    let (session, unread) = SavedSession::read(value);
    StoredSession {
        session,
        problem: problem.or(unread),
        is_newer,
    }
}

/// Handles a closing window: removes the window from the session, unless it is the last window or
/// the program is quitting. The next start restores the windows that stay in the session.
pub(crate) fn closing(id: EntityId, cx: &mut App) {
    let windows = cx.global_mut::<WindowRegistry>();
    if windows.open.len() > 1
        && !windows.is_ending
        && let Some(index) = windows.open.iter().position(|open| open.id == id)
    {
        let closed = windows.open.remove(index);
        windows.session.note_closed(closed.saved);
        write_soon(cx);
    }
}

/// Keeps the windows that were closed last for the session and for `take_set_aside`, after no window
/// is open any more.
pub(crate) fn set_aside_closed(cx: &mut App) {
    if !cx.has_global::<WindowRegistry>() {
        return;
    }
    let windows = cx.global_mut::<WindowRegistry>();
    let closed = windows.open.drain(..).map(|open| open.saved);
    windows.unopened.extend(closed);
    let unopened = windows.unopened.clone();
    windows.session.set_windows(&unopened, Vec::new());
    write_soon(cx);
}

/// Takes the stored window that was closed last, if there is one.
pub(crate) fn take_set_aside(cx: &mut App) -> Option<SavedWindow> {
    let windows = cx.try_global::<WindowRegistry>()?;
    if windows.unopened.is_empty() {
        return None;
    }
    cx.global_mut::<WindowRegistry>().unopened.pop()
}

/// Marks a window as most recently activated: new files open in it.
pub(crate) fn on_activated(id: EntityId, cx: &mut App) {
    if !cx.has_global::<WindowRegistry>() {
        return;
    }
    let open = &mut cx.global_mut::<WindowRegistry>().open;
    if let Some(index) = open.iter().position(|open| open.id == id) {
        let front = open.remove(index);
        open.push(front);
    }
}

/// Returns whether at most one window is open.
pub(crate) fn is_only_one(cx: &App) -> bool {
    cx.try_global::<WindowRegistry>()
        .is_none_or(|windows| windows.open.len() <= 1)
}

/// Records that a folder was opened.
pub(crate) fn note_folder(folder: &AbsPath, cx: &mut App) {
    if cx.has_global::<WindowRegistry>() {
        cx.global_mut::<WindowRegistry>()
            .session
            .note_folder(&path_text(folder));
    }
}

/// Records that a command was run from the palette.
pub(crate) fn note_command(action: &str, cx: &mut App) {
    if cx.has_global::<WindowRegistry>() {
        cx.global_mut::<WindowRegistry>()
            .session
            .note_command(action);
        write_soon(cx);
    }
}

/// Returns the commands recently run from the palette, newest first.
pub(crate) fn recent_commands(cx: &App) -> Vec<String> {
    let windows = cx.try_global::<WindowRegistry>();
    windows.map_or_else(Vec::new, |windows| windows.session.recent_commands.clone())
}

/// Returns the recently opened folders, newest first.
pub(crate) fn recent_folders(cx: &App) -> Vec<AbsPath> {
    let Some(windows) = cx.try_global::<WindowRegistry>() else {
        return Vec::new();
    };
    windows
        .session
        .recent_folders
        .iter()
        .map(|folder| text_path(folder))
        .filter_map(AbsPath::new)
        .collect()
}

/// Stores the windows and ends the program.
pub(crate) fn shut_down(cx: &mut App) {
    let windows = cx.try_global::<WindowRegistry>();
    if let Some(shut_down) = windows.and_then(|windows| windows.shut_down) {
        shut_down(cx);
    }
}

/// Stores the windows, ends the program, and starts it again.
pub(crate) fn restart(cx: &mut App) {
    let windows = cx.try_global::<WindowRegistry>();
    if let Some(restart) = windows.and_then(|windows| windows.restart) {
        restart(cx);
    }
}

/// Opens a folder in a new window, or activates the window that shows the folder. Does nothing
/// before the first window is open.
pub(crate) fn open_folder(folder: AbsPath, cx: &mut App) {
    let open = cx
        .try_global::<WindowRegistry>()
        .and_then(|windows| windows.open_folder);
    if let Some(open) = open {
        open(Some(folder), cx);
    }
}

/// Returns the workbenches of the other windows.
pub(crate) fn others(this: EntityId, cx: &App) -> Vec<AnyEntity> {
    let windows = cx.try_global::<WindowRegistry>().into_iter();
    let open = windows.flat_map(|windows| &windows.open);
    open.filter(|open| open.id != this)
        .filter_map(|open| open.workbench.upgrade())
        .collect()
}
