//! A watcher based on `notify`, for systems that watch whole trees themselves.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base::{AbsPath, LogErr};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::EVENTS;
use super::batch::EventBatch;
use crate::error::{Error, ErrorReason};
use crate::watch::{WatchControl, WatchRequest, Watcher};

/// Interval at which the thread checks whether the receiver still exists.
const IDLE: Duration = Duration::from_secs(1);

struct NotifyControl {
    watcher: Mutex<RecommendedWatcher>,
    root: AbsPath,
    visible: Mutex<Vec<AbsPath>>,
}

/// Starts watching a folder through `notify`, and the thread that batches its events. Fails if the
/// root cannot be watched.
pub(super) fn start(request: WatchRequest) -> Result<Watcher, Error> {
    let root = request.root.clone();
    let failed =
        |error: &notify::Error| Error::new(&root, "watch", ErrorReason::Other(error.to_string()));
    let (sender, events) = async_channel::bounded(EVENTS);
    // Unbounded between two of our own threads: the reader never blocks.
    let (raw, raw_events) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(raw).map_err(|error| failed(&error))?;
    watcher
        .watch(root.as_path(), RecursiveMode::Recursive)
        .map_err(|error| failed(&error))?;
    let mut batch = EventBatch::new(request, sender);
    batch.ready();
    std::thread::Builder::new()
        .name("watch".into())
        .spawn(move || run(batch, &raw_events))
        .map_err(|error| Error::from_io(&root, "watch", &error))?;
    Ok(Watcher {
        events,
        control: Box::new(NotifyControl {
            watcher: Mutex::new(watcher),
            root,
            visible: Mutex::default(),
        }),
    })
}

impl WatchControl for NotifyControl {
    fn set_visible(&self, paths: Vec<AbsPath>) {
        let outside = |path: &AbsPath| !path.is_within(&self.root);
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let mut visible = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        for path in visible.iter().filter(|path| outside(path)) {
            watcher.unwatch(path.as_path()).log_err();
        }
        *visible = paths;
        for path in visible.iter().filter(|path| outside(path)) {
            watcher
                .watch(path.as_path(), RecursiveMode::NonRecursive)
                .log_err();
        }
    }
}

fn run(mut batch: EventBatch, events: &mpsc::Receiver<notify::Result<notify::Event>>) {
    while !batch.is_closed() {
        match events.recv_timeout(batch.wait().unwrap_or(IDLE)) {
            Ok(Ok(event)) => take(&mut batch, &event),
            Ok(Err(error)) => batch.problem(format!("changes may be noticed late: {error}")),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        batch.send();
    }
}

fn take(batch: &mut EventBatch, event: &notify::Event) {
    if event.need_rescan() {
        batch.rescan();
        return;
    }
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    for path in event.paths.iter().filter_map(AbsPath::new) {
        if is_wanted(batch, &path) {
            batch.change(path);
        }
    }
}

/// The system watches the whole tree, so the ignored state of the parent folders is checked here.
fn is_wanted(batch: &EventBatch, path: &AbsPath) -> bool {
    let folders = path.as_path().ancestors().skip(1).filter_map(AbsPath::new);
    let mut above = folders.take_while(|folder| folder.is_within(&batch.root));
    !batch.is_ignored(path, path.as_path().is_dir())
        && !above.any(|folder| batch.is_ignored(&folder, true))
}
