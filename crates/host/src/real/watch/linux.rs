//! An inotify watcher with one watch per folder.
//!
//! Folders are added a few at a time between reads of the event queue, the root first. The entries
//! of a folder that appears later are reported with it, since they may predate its watch. If the
//! system grants no more watches, the visible paths are polled every other second.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::{AbsPath, LogErr};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::EVENTS;
use super::batch::EventBatch;
use super::polled::{PolledPaths, folder_of};
use crate::error::{Error, ErrorReason};
use crate::watch::{WatchControl, WatchRequest, Watcher};

/// Number of folders added between two reads of the event queue.
const ADDED_AT_ONCE: usize = 64;
/// Poll interval for paths that cannot be watched.
const POLL: Duration = Duration::from_secs(2);
const BUFFER: usize = 64 * 1024;

struct InotifyControl {
    visible: Arc<Mutex<Option<Vec<AbsPath>>>>,
    /// Writing a byte wakes the thread; closing ends it.
    wake: Mutex<PipeWriter>,
}

struct InotifyWatcher {
    batch: EventBatch,
    /// `None` if the system grants no inotify instance.
    inotify: Option<OwnedFd>,
    /// The folder of each watch.
    paths: HashMap<i32, AbsPath>,
    /// The inverse of `paths`, sorted, so that everything below a folder is a range.
    watches: BTreeMap<AbsPath, i32>,
    to_add: VecDeque<ToAdd>,
    is_starting: bool,
    /// The system refused a watch; no more are requested until one is freed.
    is_limited: bool,
    visible: Vec<AbsPath>,
    polled: PolledPaths,
    next_poll: Instant,
}

struct ToAdd {
    folder: AbsPath,
    /// Whether its subfolders are added too.
    is_deep: bool,
    /// Whether it appeared while watching, so that its entries are reported.
    is_new: bool,
}

/// Starts the thread that watches a folder. Fails if the root is missing or not a folder; refused
/// watches are reported as an event instead.
pub(super) fn start(request: WatchRequest) -> Result<Watcher, Error> {
    let root = request.root.clone();
    let failed = |error: &io::Error| Error::from_io(&root, "watch", error);
    let metadata = fs::metadata(&root).map_err(|error| failed(&error))?;
    if !metadata.is_dir() {
        return Err(Error::new(&root, "watch", ErrorReason::NotAFolder));
    }
    let (sender, events) = async_channel::bounded(EVENTS);
    let (woken, wake) = io::pipe().map_err(|error| failed(&error))?;
    let visible = Arc::new(Mutex::new(None));
    let asked = visible.clone();
    let linux = InotifyWatcher::new(EventBatch::new(request, sender));
    std::thread::Builder::new()
        .name("watch".into())
        .spawn(move || linux.run(woken, &asked))
        .map_err(|error| failed(&error))?;
    Ok(Watcher {
        events,
        control: Box::new(InotifyControl {
            visible,
            wake: Mutex::new(wake),
        }),
    })
}

impl WatchControl for InotifyControl {
    fn set_visible(&self, paths: Vec<AbsPath>) {
        *self.visible.lock().unwrap_or_else(PoisonError::into_inner) = Some(paths);
        let mut wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner);
        // The read end closes only when the thread has ended.
        wake.write_all(&[0]).log_err();
    }
}

impl InotifyWatcher {
    fn new(mut batch: EventBatch) -> Self {
        let inotify = match inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK) {
            Ok(inotify) => Some(inotify),
            Err(errno) => {
                batch.problem(no_instance(errno));
                None
            }
        };
        let root = ToAdd {
            folder: batch.root.clone(),
            is_deep: true,
            is_new: false,
        };
        Self {
            is_limited: inotify.is_none(),
            batch,
            inotify,
            paths: HashMap::new(),
            watches: BTreeMap::new(),
            to_add: VecDeque::from([root]),
            is_starting: true,
            visible: Vec::new(),
            polled: PolledPaths::default(),
            next_poll: Instant::now(),
        }
    }

    fn run(mut self, mut woken: PipeReader, asked: &Mutex<Option<Vec<AbsPath>>>) {
        let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
        while !self.batch.is_closed() {
            match self.wait(&woken) {
                Ok(WakeReason::Ended) => break,
                Ok(WakeReason::Asked) => {
                    let mut bytes = [0; 64];
                    if !matches!(woken.read(&mut bytes), Ok(count) if count > 0) {
                        break;
                    }
                    let paths = asked.lock().unwrap_or_else(PoisonError::into_inner).take();
                    if let Some(paths) = paths {
                        self.set_visible(paths);
                    }
                }
                Ok(WakeReason::Other) | Err(Errno::INTR) => {}
                Err(errno) => {
                    base::report(&format!("watching ended: {errno}"));
                    break;
                }
            }
            self.read_events(&mut buffer);
            self.add_some();
            self.poll_some();
            self.batch.send();
        }
    }

    /// Waits for events, for a request through `woken`, or until something is due; does not wait
    /// while folders are still to be added.
    fn wait(&self, woken: &PipeReader) -> rustix::io::Result<WakeReason> {
        let mut wanted = vec![PollFd::new(woken, PollFlags::IN)];
        if let Some(inotify) = &self.inotify {
            wanted.push(PollFd::new(inotify, PollFlags::IN));
        }
        let until_poll = (!self.polled.0.is_empty())
            .then(|| self.next_poll.saturating_duration_since(Instant::now()));
        let time = if self.to_add.is_empty() {
            self.batch.wait().into_iter().chain(until_poll).min()
        } else {
            Some(Duration::ZERO)
        };
        let time = time.map(|time| Timespec {
            tv_sec: time.as_secs().cast_signed(),
            tv_nsec: time.subsec_nanos().into(),
        });
        poll(&mut wanted, time.as_ref())?;
        let state = wanted[0].revents();
        Ok(if state.contains(PollFlags::IN) {
            WakeReason::Asked
        } else if state.intersects(PollFlags::HUP | PollFlags::ERR) {
            WakeReason::Ended
        } else {
            WakeReason::Other
        })
    }

    /// Reads one buffer of events, so that a busy disk does not starve the other work.
    fn read_events(&mut self, buffer: &mut [MaybeUninit<u8>]) {
        let Some(inotify) = &self.inotify else {
            return;
        };
        let mut events = Vec::new();
        let mut reader = Reader::new(inotify, buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let name = event.file_name();
                    let name = name.map(|name| OsStr::from_bytes(name.to_bytes()).to_owned());
                    events.push((event.wd(), event.events(), name));
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => break,
                Err(errno) => {
                    base::report(&format!("reading watch events: {errno}"));
                    break;
                }
            }
            if reader.is_buffer_empty() {
                break;
            }
        }
        for (watch, flags, name) in events {
            self.take_event(watch, flags, name.as_deref());
        }
    }

    fn take_event(&mut self, watch: i32, flags: ReadFlags, name: Option<&OsStr>) {
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            self.batch.rescan();
            // Folders may have appeared unseen. Those already watched are not added twice.
            self.add_later(self.batch.root.clone(), true, false);
            return;
        }
        let Some(folder) = self.paths.get(&watch).cloned() else {
            return;
        };
        if flags.contains(ReadFlags::IGNORED) {
            self.paths.remove(&watch);
            if self.watches.get(&folder) == Some(&watch) {
                self.watches.remove(&folder);
            }
            return;
        }
        let Some(name) = name else {
            // An event of the watched folder itself; its parent's watch reports the rest.
            if flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF) {
                self.lost(&folder);
            }
            return;
        };
        let path = folder.join(name);
        let is_folder = flags.contains(ReadFlags::ISDIR);
        let is_wanted =
            path.is_within(&self.batch.root) && !self.batch.is_ignored(&path, is_folder);
        if !is_wanted && !self.visible.contains(&path) {
            return;
        }
        if is_folder && flags.intersects(ReadFlags::MOVED_FROM | ReadFlags::DELETE) {
            self.forget_below(&path);
        }
        if is_folder && is_wanted && flags.intersects(ReadFlags::MOVED_TO | ReadFlags::CREATE) {
            self.add_later(path.clone(), true, true);
        }
        self.batch.change(path);
    }

    fn lost(&mut self, folder: &AbsPath) {
        if folder == &self.batch.root {
            self.forget_below(folder);
            self.batch.change(folder.clone());
            // Polled until it exists again.
            self.polled.0.insert(folder.clone(), None);
        }
    }

    fn forget_below(&mut self, folder: &AbsPath) {
        let gone: Vec<_> = self
            .watches
            .range(folder.clone()..)
            .take_while(|(path, _)| path.is_within(folder))
            .map(|(path, watch)| (path.clone(), *watch))
            .collect();
        for (path, watch) in gone {
            self.watches.remove(&path);
            self.paths.remove(&watch);
            if let Some(inotify) = &self.inotify {
                // The system may have removed it already.
                inotify::remove_watch(inotify, watch).ok();
            }
        }
    }

    fn add_later(&mut self, folder: AbsPath, is_deep: bool, is_new: bool) {
        self.to_add.push_back(ToAdd {
            folder,
            is_deep,
            is_new,
        });
    }

    fn add_some(&mut self) {
        for _ in 0..ADDED_AT_ONCE {
            let Some(to_add) = self.to_add.pop_front() else {
                break;
            };
            self.add(&to_add);
        }
        if self.to_add.is_empty() && self.is_starting {
            self.is_starting = false;
            self.batch.ready();
        }
    }

    fn add(&mut self, to_add: &ToAdd) {
        let folder = &to_add.folder;
        if !self.watch(folder) {
            return;
        }
        if !to_add.is_deep {
            return;
        }
        // It may be gone, or unreadable; then there is nothing to watch below it.
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if self.batch.is_ignored(&path, is_folder) {
                continue;
            }
            if to_add.is_new && !self.batch.is_rescanning() {
                self.batch.change(path.clone());
            }
            if is_folder {
                self.add_later(path, true, to_add.is_new);
            }
        }
    }

    /// Returns whether the folder is watched now.
    fn watch(&mut self, folder: &AbsPath) -> bool {
        let Some(inotify) = &self.inotify else {
            return false;
        };
        if self.is_limited {
            return self.watches.contains_key(folder);
        }
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::EXCL_UNLINK;
        match inotify::add_watch(inotify, folder.as_path(), flags) {
            Ok(watch) => {
                // If two paths reach one folder, the newer one is kept.
                if let Some(old) = self.paths.insert(watch, folder.clone())
                    && old != *folder
                {
                    self.watches.remove(&old);
                }
                self.watches.insert(folder.clone(), watch);
                true
            }
            Err(Errno::NOSPC) => {
                self.is_limited = true;
                self.to_add.clear();
                self.batch.problem(no_watch(self.watches.len()));
                self.choose_polled();
                false
            }
            Err(_) => false,
        }
    }

    fn set_visible(&mut self, paths: Vec<AbsPath>) {
        self.visible = paths;
        self.choose_polled();
        let folders: Vec<_> = self.visible.iter().map(folder_of).collect();
        for folder in folders {
            if !self.watches.contains_key(&folder) {
                self.watch(&folder);
            }
        }
        self.choose_polled();
    }

    /// Polls the visible paths that are not watched.
    fn choose_polled(&mut self) {
        let candidates = self.visible.iter().chain([&self.batch.root]);
        let unwatched = candidates.filter(|path| !self.watches.contains_key(&folder_of(path)));
        self.polled.set(unwatched.cloned());
    }

    fn poll_some(&mut self) {
        let now = Instant::now();
        if self.polled.0.is_empty() || now < self.next_poll {
            return;
        }
        self.next_poll = now + POLL;
        let mut is_root_back = false;
        let batch = &mut self.batch;
        self.polled.poll(|path, exists| {
            is_root_back |= path == &batch.root && exists;
            batch.change(path.clone());
        });
        if is_root_back && !self.is_limited {
            self.polled.0.remove(&self.batch.root);
            self.batch.rescan();
            self.add_later(self.batch.root.clone(), true, false);
        }
    }
}

enum WakeReason {
    Asked,
    Ended,
    Other,
}

fn no_instance(errno: Errno) -> String {
    format!(
        "changes on the disk are noticed late: the system grants no more watching ({}); close \
         programs that watch files, or raise fs.inotify.max_user_instances",
        ErrorReason::from_errno(errno)
    )
}

fn no_watch(count: usize) -> String {
    format!(
        "changes on the disk are noticed late in a part of the project: the system grants no more \
         watches after {count} folders; raise fs.inotify.max_user_watches, for instance with \
         \"sudo sysctl fs.inotify.max_user_watches=1048576\", and open the project again"
    )
}
