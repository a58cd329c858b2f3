//! A command that runs, or ran, in the background, and its output since the last result.
//!
//! Invariant: a command uses at most about a megabyte of memory for output; the rest is saved to
//! disk up to a limit, or counted and dropped.
//! Start at `CommandTerminal::start`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use host::AppendLog;
use host::process::{
    Denial, ExitReport, LaunchRequest, PlantedFile, ProcessExit, SpawnedProcess, spawn,
};
use reduce::terminal_text::Cleaner;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::command_feed::{CommandFeed, CommandFeeds};
use crate::services::SessionServices;

use super::state::ToolState;

/// Bytes held in memory before an output gets a file.
const EARLY: usize = 64 << 10;
/// Maximum size of an output on disk, in bytes.
const KEPT: u64 = 256 << 20;
/// Bytes of disk space reserved at a time.
const CLAIM: u64 = 8 << 20;
/// Maximum number of bytes kept from the beginning of the output since the last result.
const HEAD: usize = 256 << 10;
/// Maximum number of bytes kept from the end of that output.
const TAIL: usize = 512 << 10;

/// The exit of a process whose exit was lost.
pub(super) const LOST: ExitReport = ExitReport {
    exit: ProcessExit::Exited(-1),
    orphans: 0,
};

/// The feed of a command, with all feeds.
pub(super) type FeedOfCommand = (Arc<CommandFeeds>, Arc<CommandFeed>);

/// A command that was started, and its output.
pub(super) struct CommandTerminal {
    pub(super) command: String,
    /// Start time by the session's clock.
    pub(super) began: Duration,
    spawned: Arc<SpawnedProcess>,
    ended: watch::Receiver<Option<ExitReport>>,
    /// Whether the user has taken it over.
    taken: watch::Receiver<bool>,
    output: Arc<Mutex<OutputCollector>>,
    /// Whether the session has seen its exit.
    is_told: AtomicBool,
}

/// Output since the last result.
pub(super) struct NewOutput {
    /// Beginning and end, or all of it.
    pub(super) text: String,
    /// Number of lines omitted between the two.
    pub(super) lost: usize,
}

impl CommandTerminal {
    /// Starts a command. Its output also goes to `progress`, as far as the channel has room, and to its feed, if it has
    /// one.
    pub(super) fn start(
        launch: &LaunchRequest,
        command: &str,
        sources: &Arc<SessionServices>,
        room: &Arc<ToolState>,
        progress: mpsc::Sender<String>,
        feed: Option<FeedOfCommand>,
    ) -> Result<Self, host::Error> {
        let output = Arc::new(Mutex::new(OutputCollector::new(sources, room)));
        let hearing = Arc::clone(&output);
        let fed = feed.as_ref().map(|(_, feed)| Arc::clone(feed));
        let spawned = spawn(
            launch,
            Box::new(move |bytes| {
                if let Some(feed) = &fed {
                    feed.push(bytes);
                }
                let piece = lock(&hearing).push(bytes);
                if progress.capacity() > 0 && !piece.is_empty() {
                    // The channel is full: the receiver gets the next chunk.
                    progress
                        .try_send(String::from_utf8_lossy(&piece).into_owned())
                        .ok();
                }
            }),
        )?;
        let spawned = Arc::new(spawned);
        let taken = match &feed {
            Some((_, feed)) => {
                feed.set_process(&spawned);
                feed.taken()
            }
            None => watch::channel(false).1,
        };
        Ok(Self {
            command: command.to_owned(),
            began: sources.clock.elapsed(),
            ended: watch_exit(&spawned, feed),
            taken,
            spawned,
            output,
            is_told: AtomicBool::new(false),
        })
    }

    /// Waits for the command to exit, however often it is called. An exit that was lost counts as
    /// code -1.
    pub(super) async fn wait(&self) -> ExitReport {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await;
        end.ok().and_then(|end| *end).unwrap_or(LOST)
    }

    /// Returns the exit if it has happened. Does not wait.
    pub(super) fn exit(&self) -> Option<ExitReport> {
        *self.ended.borrow()
    }

    /// Returns whether the user has taken the command over, so that the agent cannot type into it.
    pub(super) fn is_taken(&self) -> bool {
        *self.taken.borrow()
    }

    /// Returns a sleep of this time, which stops while the user has the command. It does not hold the command.
    pub(super) fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        sleep_beside_user(self.taken.clone(), time)
    }

    /// Takes the output since the last call; the next call does not return it again.
    pub(super) fn fresh(&self) -> NewOutput {
        lock(&self.output).take()
    }

    /// Returns the handle of the saved output, which is complete up to `KEPT` bytes; `None` if it
    /// could not be saved.
    pub(super) fn output_handle(&self) -> Option<String> {
        lock(&self.output).output_handle()
    }

    /// Writes to the command's input. Returns false if it has no open input, or if too much of
    /// earlier input waits.
    pub(super) fn write(&self, chars: &str) -> bool {
        self.spawned.write(chars.as_bytes().to_vec())
    }

    /// Returns whether the command runs in a terminal rather than with pipes.
    pub(super) fn has_screen(&self) -> bool {
        self.spawned.has_terminal()
    }

    /// Interrupts the command as Ctrl-C does; it may go on.
    pub(super) fn interrupt(&self) {
        self.spawned.interrupt();
    }

    /// Stops the command and all its children. Blocks up to `grace` and a moment.
    pub(super) fn stop(&self, grace: Duration) {
        self.spawned.stop(grace);
    }

    /// Returns the accesses the sandbox has denied so far.
    pub(super) fn denials(&self) -> Vec<Denial> {
        self.spawned.denials()
    }

    /// Returns the files it left that other programs would execute.
    pub(super) fn planted(&self) -> Vec<PlantedFile> {
        self.spawned.planted()
    }

    /// Returns the ids of its living processes.
    #[cfg(test)]
    pub(super) fn members(&self) -> Vec<u32> {
        self.spawned.members()
    }

    /// Returns whether a result has already reported the exit to the model.
    pub(super) fn was_reported(&self) -> bool {
        self.is_told.load(Ordering::Relaxed)
    }

    /// Notes that a result reports the exit to the model.
    pub(super) fn mark_reported(&self) {
        self.is_told.store(true, Ordering::Relaxed);
    }
}

/// Returns the exit of a process, once it has ended. Notes it in the feed first, so that a command which the user has is
/// given back before its result is there.
fn watch_exit(
    process: &SpawnedProcess,
    feed: Option<FeedOfCommand>,
) -> watch::Receiver<Option<ExitReport>> {
    let exit = process.exit_receiver();
    let (sender, ended) = watch::channel(None);
    thread::spawn(move || {
        let report = exit.recv_blocking().unwrap_or(LOST);
        if let Some((feeds, feed)) = feed {
            feeds.end(&feed, report.exit);
        }
        sender.send_replace(Some(report));
    });
    ended
}

async fn sleep_beside_user(mut taken: watch::Receiver<bool>, time: Duration) {
    let mut left = time;
    loop {
        // A feed that is gone has no user.
        taken.wait_for(|taken| !*taken).await.ok();
        let began = Instant::now();
        let is_taken = async {
            if taken.wait_for(|taken| *taken).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = tokio::time::sleep(left) => return,
            () = is_taken => left = left.saturating_sub(began.elapsed()),
        }
    }
}

/// Collects the output of a command.
struct OutputCollector {
    sources: Arc<SessionServices>,
    room: Arc<ToolState>,
    cleaner: Cleaner,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    lost_lines: usize,
    store: OutputStore,
}

/// The storage of the complete output.
enum OutputStore {
    /// In memory, while it is short.
    Early(Vec<u8>),
    /// In a file with this handle.
    File {
        handle: String,
        log: Box<dyn AppendLog>,
        /// Bytes of disk space reserved so far.
        claimed: u64,
    },
    /// In a file that has reached its limit.
    Full(String),
    /// Not stored: saving failed.
    None,
}

impl OutputCollector {
    fn new(sources: &Arc<SessionServices>, room: &Arc<ToolState>) -> Self {
        Self {
            sources: Arc::clone(sources),
            room: Arc::clone(room),
            cleaner: Cleaner::default(),
            head: Vec::new(),
            tail: VecDeque::new(),
            lost_lines: 0,
            store: OutputStore::Early(Vec::new()),
        }
    }

    /// Takes a chunk and returns it without control sequences.
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(bytes.len());
        self.cleaner.feed(bytes, &mut clean);
        self.append(&clean);
        clean
    }

    fn append(&mut self, clean: &[u8]) {
        self.save(clean);
        let room = HEAD.saturating_sub(self.head.len());
        let room = if self.tail.is_empty() {
            room.min(clean.len())
        } else {
            0
        };
        let (head, rest) = clean.split_at(room);
        self.head.extend_from_slice(head);
        // If the chunk is longer than the tail buffer, only its end is kept.
        let skipped = rest.len().saturating_sub(TAIL);
        let (skipped, rest) = rest.split_at(skipped);
        let over = (self.tail.len() + rest.len())
            .saturating_sub(TAIL)
            .min(self.tail.len());
        let over = if skipped.is_empty() {
            over
        } else {
            self.tail.len()
        };
        self.lost_lines += self
            .tail
            .drain(..over)
            .filter(|byte| *byte == b'\n')
            .count();
        self.lost_lines += skipped.iter().filter(|byte| **byte == b'\n').count();
        self.tail.extend(rest);
    }

    fn save(&mut self, clean: &[u8]) {
        match &mut self.store {
            OutputStore::Early(early) => {
                early.extend_from_slice(clean);
                if early.len() > EARLY {
                    self.open();
                }
            }
            OutputStore::File {
                handle,
                log,
                claimed,
            } => {
                let length = log.len() + clean.len() as u64;
                if length > *claimed {
                    let files = self.sources.files.as_ref();
                    if length > KEPT || self.room.whole.claim(files, CLAIM).is_err() {
                        let note = b"\n[the output went on, and is not kept any further]\n";
                        // The handle refers to the bytes that are already in the file.
                        log.append(note).ok();
                        self.store = OutputStore::Full(std::mem::take(handle));
                        return;
                    }
                    *claimed += CLAIM.max(clean.len() as u64);
                }
                if log.append(clean).is_err() {
                    self.store = OutputStore::Full(std::mem::take(handle));
                }
            }
            OutputStore::Full(_) | OutputStore::None => {}
        }
    }

    /// Moves the output from memory to a file.
    fn open(&mut self) {
        let OutputStore::Early(early) = std::mem::replace(&mut self.store, OutputStore::None)
        else {
            return;
        };
        let files = self.sources.files.as_ref();
        let claimed = self.room.whole.claim(files, CLAIM);
        let begun = claimed.and_then(|()| self.room.whole.create(files));
        let written = begun.and_then(|(handle, mut log)| {
            log.append(&early)?;
            Ok((handle, log))
        });
        match written {
            Ok((handle, log)) => {
                self.store = OutputStore::File {
                    handle,
                    log,
                    claimed: CLAIM,
                };
            }
            Err(error) => base::report(&format!("an output is not kept: {error}")),
        }
    }

    /// Returns the handle of the saved output, which is moved to a file now if it is still in
    /// memory; `None` if saving failed. Takes an incomplete last line as it is.
    fn output_handle(&mut self) -> Option<String> {
        self.flush();
        if matches!(self.store, OutputStore::Early(_)) {
            self.open();
        }
        match &self.store {
            OutputStore::File { handle, .. } | OutputStore::Full(handle) => Some(handle.clone()),
            OutputStore::Early(_) | OutputStore::None => None,
        }
    }

    /// Takes the incomplete line as it is.
    fn flush(&mut self) {
        let mut rest = Vec::new();
        self.cleaner.flush(&mut rest);
        self.append(&rest);
    }

    fn take(&mut self) -> NewOutput {
        self.flush();
        let mut bytes = std::mem::take(&mut self.head);
        // An incomplete character waits for the rest of it.
        let is_split = self.tail.is_empty();
        bytes.extend(self.tail.drain(..));
        if is_split {
            let waits = incomplete(&bytes);
            self.head = bytes.split_off(bytes.len() - waits);
        }
        NewOutput {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            lost: std::mem::take(&mut self.lost_lines),
        }
    }
}

/// Returns the number of trailing bytes that form an incomplete character.
fn incomplete(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0x80..=0xBF => continue,
            _ => 1,
        };
        return if length > back { back } else { 0 };
    }
    0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
