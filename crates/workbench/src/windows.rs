//! The windows of the process, and the session that restores them.
//!
//! Invariant: the stored session contains every open window. A window that closes while others stay
//! open is removed; the last one remains, so that the next start restores it.
//! Invariant: starting with files only neither restores nor drops stored windows: they return at
//! the next start without arguments. Starting with folders begins another session; the tabs of a
//! folder that left the session return when it is opened again.
//! Start at `start`, which `app` calls, and `open_folder`.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, Platform, path_text, text_path};
use editor::DocumentModel;
use gpui_kit::component::TitleBar;
use gpui_kit::{
    AnyWindowHandle, App, AppContext as _, Bounds, Entity, TitlebarOptions, WindowBounds,
    WindowDecorations, WindowOptions, point, px, size,
};
use host::Files;
use project::DocumentKey;
use settings::Restore;
use ui::{ActivePlatform as _, ActiveSettings as _, Tone};

use crate::documents::Documents;
use crate::menus;
use crate::notices::Notice;
use crate::services::Services;
use crate::session::{SavedBounds, SavedSession, SavedWindow};
use crate::target::LineColumn;
use crate::traffic_lights;
use crate::window_registry::{
    self, OpenWindow, StoredSession, WindowRegistry, read_session, write_session,
};
use crate::workbench::{WindowStart, Workbench, help, updates};

/// Request from the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenRequest {
    /// Folders to open, each in its own window.
    pub folders: Vec<AbsPath>,
    /// Files to open, with an optional line and column.
    pub files: Vec<(AbsPath, Option<LineColumn>)>,
}

impl OpenRequest {
    /// Spells the folders as the disk stores them, so that every spelling of a folder has one window.
    /// Blocks on the disk.
    fn with_stored_folders(mut self, files: &dyn Files) -> Self {
        for folder in &mut self.folders {
            *folder = files.stored_path(folder);
        }
        self
    }
}

/// Number of files from the command line that are read before the first frame.
const AT_ONCE: usize = 4;
/// Default size of a window, in logical pixels.
const WIDTH: f32 = 1280.0;
const HEIGHT: f32 = 820.0;

/// Opens the requested folders and files, or else restores the last session. `problems` are shown
/// in the first window. Blocks on the disk, before the first frame.
pub fn start(request: OpenRequest, problems: Vec<String>, cx: &mut App) {
    let files = Services::of(cx).files;
    let request = request.with_stored_folders(&*files);
    let StoredSession {
        mut session,
        problem,
        is_newer,
    } = read_session(cx);
    let restore = take_restore(&mut session, cx);
    let mut openings = openings(&request, &mut session, restore);
    if request.folders.is_empty() {
        let spelled = openings.into_iter();
        openings = spelled.map(|it| it.with_stored_folder(&*files)).collect();
    }
    // Empty unless the request has files only.
    let unopened = std::mem::take(&mut session.windows);
    cx.set_global(WindowRegistry {
        session,
        unopened,
        open_folder: Some(open_folder),
        shut_down: Some(shut_down),
        restart: Some(restart),
        is_kept: is_newer,
        ..WindowRegistry::default()
    });
    // The recent folders are known now.
    menus::refresh(cx);
    let last = openings.pop();
    for opening in openings {
        open_window(opening, cx);
    }
    if let Some(last) = last {
        let held = editor::hold_work(cx);
        // Keeps the documents alive until their tabs hold them.
        let _ready: Vec<_> = request
            .files
            .iter()
            .take(AT_ONCE)
            .filter_map(|(path, _)| Documents::open_now(path, cx))
            .collect();
        open_window_with(last, request.files, cx);
        release_at_first_frame(held, cx);
    }
    let Some(first) = front(cx) else {
        return;
    };
    let left_over = take_unclaimed(cx);
    let problems: Vec<String> = problem.into_iter().chain(problems).collect();
    with_window(&first, cx, move |workbench, window, cx| {
        workbench.show_recovered(left_over, window, cx);
        workbench.report_all_problems(window, cx);
        for sentence in problems {
            workbench.report_error(sentence, window, cx);
        }
        help::show_crashes(workbench, window, cx);
        workbench.focus_active(window, cx);
    });
}

/// Returns which stored windows to restore: all of them after a restart, else those that the settings choose.
fn take_restore(session: &mut SavedSession, cx: &App) -> Restore {
    if std::mem::take(&mut session.is_restart) {
        Restore::LastSession
    } else {
        cx.settings().files.restore
    }
}

/// Takes the recovered documents that neither a tab nor a stored window will request.
fn take_unclaimed(cx: &mut App) -> Vec<Entity<DocumentModel>> {
    let mut paths: HashSet<AbsPath> = all(cx)
        .iter()
        .flat_map(|(_, workbench)| workbench.read(cx).waiting_paths(cx))
        .collect();
    let mut keys = HashSet::new();
    let unopened = cx.global::<WindowRegistry>().unopened.iter();
    for editor in unopened.flat_map(SavedWindow::editors) {
        let path = editor.path.as_deref().map(text_path);
        paths.extend(path.and_then(AbsPath::new));
        keys.extend(editor.document.map(DocumentKey));
    }
    Documents::take_unclaimed(&paths, &keys, cx)
}

/// Releases background work after the front window has drawn a frame, or soon if no frame comes.
fn release_at_first_frame(held: editor::HeldWork, cx: &mut App) {
    const LONGEST: Duration = Duration::from_millis(500);
    let held = Rc::new(RefCell::new(Some(held)));
    let in_time = held.clone();
    let window = cx
        .global::<WindowRegistry>()
        .open
        .last()
        .map(|open| open.window);
    if let Some(window) = window {
        let listening = window.update(cx, |_, window, _| {
            // The first callback runs before a frame is on screen, the second after it.
            window.on_next_frame(move |window, _| {
                window.on_next_frame(move |_, _| drop(held.take()));
            });
        });
        // A window that closed at once draws no frame.
        listening.ok();
    }
    cx.spawn(async move |cx| {
        cx.background_executor().timer(LONGEST).await;
        drop(in_time.take());
    })
    .detach();
}

/// Handles the request of a later start or of the system: opens folders in new windows, and files
/// in the front window, which is activated. Without a window, a new one shows the files. Requests
/// take effect in their order, as soon as the disk has answered how it spells the folders.
pub fn open_request(request: OpenRequest, cx: &mut App) {
    let files = Services::of(cx).files;
    let earlier = cx.global_mut::<WindowRegistry>().opening.take();
    let opening = cx.spawn(async move |cx| {
        if let Some(earlier) = earlier {
            earlier.await;
        }
        let spelled = cx.background_spawn(async move { request.with_stored_folders(&*files) });
        let request = spelled.await;
        cx.update(|cx| open_stored(request, cx));
    });
    cx.global_mut::<WindowRegistry>().opening = Some(opening);
}

/// Handles the request of a later start for a new window, which shows the files, or is empty if there are neither files
/// nor folders. Folders open in windows of their own, as in every request.
pub fn open_in_new_window(request: OpenRequest, cx: &mut App) {
    let OpenRequest { folders, files } = request;
    if files.is_empty() && folders.is_empty() {
        open_window(WindowStart::default(), cx);
        return;
    }
    if !files.is_empty() {
        let opening = WindowStart {
            for_files: true,
            ..WindowStart::default()
        };
        open_window_with(opening, files, cx);
    }
    if !folders.is_empty() {
        let files = Vec::new();
        open_request(OpenRequest { folders, files }, cx);
    }
}

/// Handles a request whose folders are spelled as they are stored.
fn open_stored(request: OpenRequest, cx: &mut App) {
    let has_folders = !request.folders.is_empty();
    for folder in request.folders {
        open_stored_folder(folder, cx);
    }
    let Some(front) = front(cx) else {
        if request.files.is_empty() {
            return reopen(cx);
        }
        let opening = WindowStart {
            for_files: true,
            ..WindowStart::default()
        };
        open_window_with(opening, request.files, cx);
        return;
    };
    with_window(&front, cx, move |workbench, window, cx| {
        workbench.open_files(request.files, window, cx);
        if !has_folders {
            window.activate_window();
        }
    });
}

/// Handles a click on the program's icon while it runs: activates the front window, or else opens
/// the window that was closed last, or an empty one.
pub fn reopen(cx: &mut App) {
    if let Some(front) = front(cx) {
        return with_window(&front, cx, |_, window, _| window.activate_window());
    }
    let opening = window_registry::take_set_aside(cx).map(reopening);
    // Reading the file blocks this thread, which has no window to draw yet.
    let files = Services::of(cx).files;
    let opening = opening.unwrap_or_default().with_stored_folder(&*files);
    open_window(opening, cx);
}

/// Returns the windows to open, and removes from the session those they replace.
fn openings(
    request: &OpenRequest,
    session: &mut SavedSession,
    restore: Restore,
) -> Vec<WindowStart> {
    if !request.folders.is_empty() {
        let folders = request.folders.iter();
        let openings = folders
            .map(|folder| WindowStart {
                saved: session.take_window(&path_text(folder)),
                folder: Some(folder.clone()),
                for_files: false,
            })
            .collect();
        for window in std::mem::take(&mut session.windows) {
            session.note_closed(window);
        }
        return openings;
    }
    if !request.files.is_empty() {
        return vec![WindowStart {
            for_files: true,
            ..WindowStart::default()
        }];
    }
    let mut windows = std::mem::take(&mut session.windows);
    let kept = match restore {
        Restore::LastSession => windows.len(),
        Restore::LastWindow => windows.len().min(1),
        Restore::Nothing => 0,
    };
    for window in windows.drain(..windows.len() - kept) {
        session.note_closed(window);
    }
    let openings: Vec<WindowStart> = windows.into_iter().map(reopening).collect();
    if openings.is_empty() {
        vec![WindowStart::default()]
    } else {
        openings
    }
}

fn reopening(saved: SavedWindow) -> WindowStart {
    let folder = saved.folder.as_deref().map(text_path);
    WindowStart {
        folder: folder.and_then(AbsPath::new),
        for_files: saved.for_files,
        saved: Some(saved),
    }
}

/// Opens a window for a folder, or activates the window that shows the folder, in any spelling of its
/// path. The disk is asked in the background. `None` opens a window without a folder at once.
pub fn open_folder(folder: Option<AbsPath>, cx: &mut App) {
    match folder {
        Some(folder) => {
            let request = OpenRequest {
                folders: vec![folder],
                files: Vec::new(),
            };
            open_request(request, cx);
        }
        None => {
            open_window(WindowStart::default(), cx);
        }
    }
}

/// Opens a window for a folder spelled as it is stored, or activates the window that shows it.
fn open_stored_folder(folder: AbsPath, cx: &mut App) {
    let shown = cx.global::<WindowRegistry>().open.iter().find_map(|open| {
        let workbench = workbench_of(open)?;
        let root = workbench.read(cx).root(cx)?;
        (root == folder).then_some(open.window)
    });
    if let Some(window) = shown {
        // A window that is closing need not be activated.
        window
            .update(cx, |_, window, _| window.activate_window())
            .ok();
        return;
    }
    let opening = WindowStart {
        saved: take_stored(&path_text(&folder), cx),
        folder: Some(folder),
        for_files: false,
    };
    open_window(opening, cx);
}

/// Takes the stored window of a folder that is not open.
fn take_stored(folder: &str, cx: &mut App) -> Option<SavedWindow> {
    let windows = cx.global_mut::<WindowRegistry>();
    let is_it = |window: &SavedWindow| window.folder.as_deref() == Some(folder);
    match windows.unopened.iter().position(is_it) {
        Some(index) => Some(windows.unopened.remove(index)),
        None => windows.session.take_closed(folder),
    }
}

/// Opens a new window. Returns `None` if the system refuses to open a window.
pub fn open_window(opening: WindowStart, cx: &mut App) -> Option<Entity<Workbench>> {
    open_window_with(opening, Vec::new(), cx)
}

/// Opens a window with files, before its first frame.
fn open_window_with(
    opening: WindowStart,
    files: Vec<(AbsPath, Option<LineColumn>)>,
    cx: &mut App,
) -> Option<Entity<Workbench>> {
    let for_files = opening.for_files;
    let options = window_options(opening.saved.as_ref().and_then(|saved| saved.bounds), cx);
    let opened = gpui_kit::open_window(options, cx, |window, cx| {
        let workbench = cx.new(|cx| Workbench::new(opening, window, cx));
        workbench.update(cx, |workbench, cx| workbench.open_files(files, window, cx));
        workbench
    });
    match opened {
        Ok((window, workbench)) => {
            let open = OpenWindow {
                window,
                id: workbench.entity_id(),
                workbench: workbench.downgrade().into(),
                for_files,
                saved: SavedWindow::default(),
            };
            cx.global_mut::<WindowRegistry>().open.push(open);
            with_window(&workbench, cx, |workbench, window, cx| {
                workbench.focus_active(window, cx)
            });
            Some(workbench)
        }
        Err(error) => {
            log::error!("cannot open a window: {error}");
            None
        }
    }
}

fn window_options(saved: Option<SavedBounds>, cx: &App) -> WindowOptions {
    let bounds = match saved.filter(|saved| saved.width > 100.0 && saved.height > 100.0) {
        Some(saved) => {
            let bounds = Bounds {
                origin: point(px(saved.x), px(saved.y)),
                size: size(px(saved.width), px(saved.height)),
            };
            match (saved.is_full_screen, saved.is_maximized) {
                (true, _) => WindowBounds::Fullscreen(bounds),
                (false, true) => WindowBounds::Maximized(bounds),
                (false, false) => WindowBounds::Windowed(bounds),
            }
        }
        None => WindowBounds::Windowed(Bounds::centered(None, size(px(WIDTH), px(HEIGHT)), cx)),
    };
    WindowOptions {
        window_bounds: Some(bounds),
        window_min_size: Some(size(px(360.0), px(240.0))),
        window_decorations: (cx.platform() == Platform::Linux).then_some(WindowDecorations::Client),
        app_id: Some("burin".to_owned()),
        titlebar: Some(TitlebarOptions {
            traffic_light_position: Some(traffic_lights::position(cx.settings().window.zoom)),
            ..TitleBar::title_bar_options()
        }),
        ..TitleBar::window_options()
    }
}

/// Calls `act` in the window of a workbench.
fn with_window(
    workbench: &Entity<Workbench>,
    cx: &mut App,
    act: impl FnOnce(&mut Workbench, &mut gpui_kit::Window, &mut gpui_kit::Context<Workbench>),
) {
    let id = workbench.entity_id();
    let window = cx
        .global::<WindowRegistry>()
        .open
        .iter()
        .find(|open| open.id == id)
        .map(|open| open.window);
    let Some(window) = window else {
        return;
    };
    let done = window.update(cx, |_, window, cx| {
        workbench.update(cx, |this, cx| act(this, window, cx))
    });
    // A window that closed at once has nothing to show.
    done.ok();
}

/// Returns the workbench of a window; `None` if it no longer exists.
fn workbench_of(open: &OpenWindow) -> Option<Entity<Workbench>> {
    open.workbench.upgrade()?.downcast().ok()
}

/// Returns the workbench of the window opened last; `None` if no window is open.
fn front(cx: &App) -> Option<Entity<Workbench>> {
    cx.global::<WindowRegistry>()
        .open
        .last()
        .and_then(workbench_of)
}

/// Returns every window with its workbench.
pub fn all(cx: &App) -> Vec<(AnyWindowHandle, Entity<Workbench>)> {
    let open = cx
        .try_global::<WindowRegistry>()
        .into_iter()
        .flat_map(|windows| &windows.open);
    open.filter_map(|open| Some((open.window, workbench_of(open)?)))
        .collect()
}

/// Quits: stores the windows, waits until the journal is on disk, and ends the program.
pub fn shut_down(cx: &mut App) {
    store_all(cx);
    cx.quit();
}

/// Restarts: stores the windows, waits until the journal is on disk, ends the program and starts it again. The next start
/// restores all windows, whatever the settings say.
pub(crate) fn restart(cx: &mut App) {
    if cx.has_global::<WindowRegistry>() {
        cx.global_mut::<WindowRegistry>().session.is_restart = true;
    }
    store_all(cx);
    updates::start_again(cx);
}

/// Stores the windows and waits until the journal is on disk. From here on, a window that closes
/// stays in the session.
pub(crate) fn store_all(cx: &mut App) {
    if !cx.has_global::<WindowRegistry>() {
        return;
    }
    let open: Vec<_> = cx
        .global::<WindowRegistry>()
        .open
        .iter()
        .filter_map(workbench_of)
        .collect();
    cx.global_mut::<WindowRegistry>().is_ending = true;
    for workbench in open {
        with_window(&workbench, cx, |workbench, window, cx| {
            workbench.store_now(window, cx)
        });
    }
    let session = Arc::new(cx.global::<WindowRegistry>().session.clone());
    let services = Services::of(cx);
    // Both block briefly, when nothing is drawn any more.
    if !cx.global::<WindowRegistry>().is_kept {
        write_session(&session, &services);
    }
    if let Some(sentence) = Documents::flush(cx) {
        log::error!("{sentence}");
    }
}

/// Shows the events of the recovery journal until the process exits.
pub fn listen(journal: async_channel::Receiver<project::JournalEvent>, cx: &mut App) {
    cx.spawn(async move |cx| {
        while let Ok(event) = journal.recv().await {
            cx.update(|cx| journal_event(&event, cx));
        }
    })
    .detach();
}

/// Shows the sentences of a channel as errors in the front window until it closes.
pub fn report(sentences: async_channel::Receiver<String>, cx: &mut App) {
    cx.spawn(async move |cx| {
        while let Ok(sentence) = sentences.recv().await {
            cx.update(|cx| {
                let Some(front) = front(cx) else {
                    return;
                };
                with_window(&front, cx, |workbench, window, cx| {
                    workbench.report_error(sentence, window, cx);
                });
            });
        }
    })
    .detach();
}

/// Reports an event of the recovery journal in the front window.
fn journal_event(event: &project::JournalEvent, cx: &mut App) {
    let Some(front) = front(cx) else {
        return;
    };
    let notice = match event {
        project::JournalEvent::Failing(sentence) => Notice::new(
            Tone::Error,
            format!("what you type is not protected against a crash now: {sentence}"),
        ),
        project::JournalEvent::Healthy => Notice::new(
            Tone::Success,
            "what you type is protected against a crash again",
        ),
    };
    with_window(&front, cx, |workbench, window, cx| {
        workbench.report(notice.key("journal"), window, cx)
    });
}
