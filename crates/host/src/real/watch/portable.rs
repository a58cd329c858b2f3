//! A watcher based on `notify`, for systems that watch whole trees themselves.
//!
//! The stream of the root is never changed while the root exists: changing the paths of a stream
//! ends it, and events in between are lost. Visible paths outside the root have a separate stream,
//! which is recreated for every set; comparing states finds the changes in between. Paths that the
//! system does not watch are polled, and so is the identity of the root.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use base::AbsPath;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::EVENTS;
use super::batch::EventBatch;
use super::polled::{PolledPaths, folder_of};
use super::reported::{WatchedDisk, WatchedPaths, impaired, translate};
use crate::error::{Error, ErrorReason};
use crate::path_at::PathAt;
use crate::system_calls;
use crate::watch::{WatchControl, WatchRequest, Watcher};

/// Poll interval for the root, and for paths that cannot be watched.
const POLL: Duration = Duration::from_secs(2);
/// Interval at which the thread checks whether the receiver still exists.
const IDLE: Duration = Duration::from_secs(1);

/// A message to the thread.
enum WatchMessage {
    Event(notify::Result<notify::Event>),
    Visible(Vec<AbsPath>),
    End,
}

struct NotifyControl(Sender<WatchMessage>);

struct NotifyWatcher {
    paths: WatchedPaths,
    messages: Sender<WatchMessage>,
    /// The stream of the root; `None` if the system refuses it, or while there is no root.
    root_stream: Option<RecommendedWatcher>,
    outside_stream: Option<RecommendedWatcher>,
    /// Device and inode of the root; `None` while there is none.
    root_identity: Option<(u64, u64)>,
    /// The visible paths that lie outside the root.
    outside: PolledPaths,
    visible: Vec<AbsPath>,
    /// The visible paths, polled if the root has no stream.
    unwatched: PolledPaths,
    next_poll: Instant,
}

/// Starts watching a folder through `notify`, and the thread that batches its events. Fails if the
/// root cannot be watched.
pub(super) fn start(request: WatchRequest) -> Result<Watcher, Error> {
    let root = request.root.clone();
    let metadata = fs::metadata(&root).map_err(|error| Error::from_io(&root, "watch", &error))?;
    if !metadata.is_dir() {
        return Err(Error::new(&root, "watch", ErrorReason::NotAFolder));
    }
    let (sender, events) = async_channel::bounded(EVENTS);
    // Unbounded between our own threads: the reader never blocks.
    let (messages, received) = mpsc::channel();
    let control = NotifyControl(messages.clone());
    let mut watcher = NotifyWatcher::new(EventBatch::new(request, sender), messages);
    watcher.watch_root();
    watcher.paths.batch.ready();
    std::thread::Builder::new()
        .name("watch".into())
        .spawn(move || watcher.run(&received))
        .map_err(|error| Error::from_io(&root, "watch", &error))?;
    Ok(Watcher {
        events,
        control: Box::new(control),
    })
}

impl WatchControl for NotifyControl {
    fn set_visible(&self, paths: Vec<AbsPath>) {
        // Fails only when the thread has ended.
        self.0.send(WatchMessage::Visible(paths)).ok();
    }
}

impl Drop for NotifyControl {
    fn drop(&mut self) {
        self.0.send(WatchMessage::End).ok();
    }
}

impl NotifyWatcher {
    fn new(batch: EventBatch, messages: Sender<WatchMessage>) -> Self {
        let root_names = names_in_events(&batch.root);
        let root_identity = identity(&batch.root);
        Self {
            paths: WatchedPaths::new(batch, root_names),
            messages,
            root_stream: None,
            outside_stream: None,
            root_identity,
            outside: PolledPaths::default(),
            visible: Vec::new(),
            unwatched: PolledPaths::default(),
            next_poll: Instant::now() + POLL,
        }
    }

    fn run(mut self, messages: &mpsc::Receiver<WatchMessage>) {
        while !self.paths.batch.is_closed() {
            let until_poll = self.next_poll.saturating_duration_since(Instant::now());
            let wait = self.paths.batch.wait().unwrap_or(IDLE).min(until_poll);
            match messages.recv_timeout(wait) {
                Ok(WatchMessage::Event(event)) => {
                    for event in translate(event) {
                        self.paths.take(event, &RealDisk);
                    }
                }
                Ok(WatchMessage::Visible(paths)) => self.set_visible(paths),
                Ok(WatchMessage::End) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if Instant::now() >= self.next_poll {
                self.next_poll = Instant::now() + POLL;
                self.poll();
            }
            self.paths.batch.send();
        }
    }

    /// Starts the stream of the root.
    fn watch_root(&mut self) {
        let root = self.paths.batch.root.clone();
        match self.stream(&[root], RecursiveMode::Recursive) {
            Ok(stream) => self.root_stream = Some(stream),
            Err(error) => {
                self.paths.batch.problem(impaired(&error));
                self.poll_visible();
            }
        }
    }

    fn stream(&self, paths: &[AbsPath], mode: RecursiveMode) -> notify::Result<RecommendedWatcher> {
        let messages = self.messages.clone();
        let mut stream = notify::recommended_watcher(move |event| {
            // Fails only when the thread has ended.
            messages.send(WatchMessage::Event(event)).ok();
        })?;
        for path in paths {
            stream.watch(path.as_path(), mode)?;
        }
        Ok(stream)
    }

    fn set_visible(&mut self, visible: Vec<AbsPath>) {
        if visible == self.visible {
            return;
        }
        self.visible = visible;
        let root = self.paths.batch.root.clone();
        let outside: Vec<_> = (self.visible.iter())
            .filter(|path| !path.is_within(&root))
            .cloned()
            .collect();
        // Their state before the stream: what changes from now on is noticed.
        self.outside.set(outside.iter().cloned());
        self.outside_stream = None;
        let folders: BTreeSet<_> = outside.iter().map(folder_of).collect();
        let folders: Vec<_> = folders
            .into_iter()
            .filter(|it| !it.is_within(&root))
            .collect();
        if !folders.is_empty() {
            // Those that the system does not watch are polled.
            self.outside_stream = self.stream(&folders, RecursiveMode::NonRecursive).ok();
        }
        let outside = outside.iter().flat_map(|path| {
            let names = names_in_events(path).into_iter();
            names.map(|name| (PathBuf::from(name.as_path()), path.clone()))
        });
        let outside = outside.collect();
        self.paths.set_visible(self.visible.clone(), outside);
        self.compare_outside();
        self.poll_visible();
    }

    fn compare_outside(&mut self) {
        let batch = &mut self.paths.batch;
        self.outside.poll(|path, _| batch.change(path.clone()));
    }

    /// Polls the visible paths if no stream reports them.
    fn poll_visible(&mut self) {
        let is_watched = self.root_stream.is_some();
        let visible = self.visible.iter().filter(|_| !is_watched);
        self.unwatched.set(visible.cloned());
    }

    fn poll(&mut self) {
        if self.outside_stream.is_none() {
            self.compare_outside();
        }
        let batch = &mut self.paths.batch;
        self.unwatched.poll(|path, _| batch.change(path.clone()));
        self.check_root();
    }

    /// Notices that the root was removed, moved away or replaced, which a stream does not report or
    /// reports as any other change.
    fn check_root(&mut self) {
        let root = self.paths.batch.root.clone();
        let now = identity(&root);
        if now == self.root_identity {
            return;
        }
        self.root_identity = now;
        self.root_stream = None;
        self.paths.batch.change(root.clone());
        if now.is_some() {
            self.paths.set_root_names(names_in_events(&root));
            self.watch_root();
            self.paths.batch.rescan();
        }
    }
}

/// The folders on this machine.
struct RealDisk;

impl WatchedDisk for RealDisk {
    fn is_folder(&self, path: &AbsPath) -> bool {
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }

    fn entries(&self, path: &AbsPath) -> Vec<(AbsPath, bool)> {
        // It may be gone again.
        let Ok(entries) = fs::read_dir(path) else {
            return Vec::new();
        };
        let entries = entries.flatten().map(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            (path.join(entry.file_name()), is_folder)
        });
        entries.collect()
    }
}

fn identity(path: &AbsPath) -> Option<(u64, u64)> {
    let status = PathAt::absolute(path).status().ok()?;
    status
        .file_type
        .is_dir()
        .then_some((status.device, status.inode))
}

/// Returns the names that a path can have in events: as given, and as the system names it, without
/// links and in the stored spelling. A missing file is named by its folder.
fn names_in_events(path: &AbsPath) -> Vec<AbsPath> {
    let mut names = vec![path.clone()];
    let mut add = |real: Option<PathBuf>| {
        let real = real.and_then(|real| AbsPath::new(&real));
        names.extend(real);
    };
    add(system_calls::real_path(path.as_path()));
    // A visible link is reported where it lies, and its target where that lies.
    if let (Some(folder), Some(name)) = (path.as_path().parent(), path.as_path().file_name()) {
        add(system_calls::real_path(folder).map(|folder| folder.join(name)));
    }
    names.sort();
    names.dedup();
    names
}
