//! A command that runs, or ran, beside the session, and what it printed since it was last asked.
//!
//! Invariant: memory stays within about a megabyte a command, whatever it prints; the rest is kept on the disk
//! up to a limit, or counted and dropped.
//! Start at `Terminal::start`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_channel::Receiver;
use host::AppendLog;
use host::process::{Denial, Ended, Launch, Planted, Spawned, spawn};
use tokio::sync::mpsc;

use crate::screen::Cleaner;
use crate::sources::Sources;

use super::rooms::Room;

/// Bytes that are held back before an output gets a file of its own.
const EARLY: usize = 64 << 10;
/// Bytes of one output that are kept on the disk.
const KEPT: u64 = 256 << 20;
/// Between two asks for room on the disk, in bytes.
const CLAIM: u64 = 8 << 20;
/// Bytes since the last answer that are held: so many of the beginning …
const HEAD: usize = 256 << 10;
/// … and so many of the end.
const TAIL: usize = 512 << 10;

/// A command that was started.
pub(super) struct Terminal {
    pub(super) command: String,
    /// By the session's clock.
    pub(super) began: Duration,
    spawned: Spawned,
    ended: Receiver<Ended>,
    end: OnceLock<Ended>,
    heard: Arc<Mutex<Heard>>,
    /// Whether the session was told how it ended.
    is_told: AtomicBool,
}

/// What a command printed since it was last asked.
pub(super) struct Fresh {
    /// Beginning and end, or all of it.
    pub(super) text: String,
    /// Lines that are missing between the two.
    pub(super) lost: usize,
}

impl Terminal {
    /// Starts a command whose output goes to `progress` too, as far as somebody keeps up there.
    pub(super) fn start(
        launch: &Launch,
        command: &str,
        sources: &Arc<Sources>,
        room: &Arc<Room>,
        progress: mpsc::Sender<String>,
    ) -> Result<Self, host::Error> {
        let heard = Arc::new(Mutex::new(Heard::new(sources, room)));
        let hearing = Arc::clone(&heard);
        let spawned = spawn(
            launch,
            Box::new(move |bytes| {
                let piece = lock(&hearing).hear(bytes);
                if progress.capacity() > 0 && !piece.is_empty() {
                    // Nobody keeps up: they see the next piece.
                    progress
                        .try_send(String::from_utf8_lossy(&piece).into_owned())
                        .ok();
                }
            }),
        )?;
        Ok(Self {
            command: command.to_owned(),
            began: sources.clock.elapsed(),
            ended: spawned.ended(),
            end: OnceLock::new(),
            spawned,
            heard,
            is_told: AtomicBool::new(false),
        })
    }

    /// Waits for its end.
    pub(super) async fn wait(&self) -> Ended {
        if let Some(end) = self.end.get() {
            return *end;
        }
        let end = self.ended.recv().await.unwrap_or(Ended {
            end: host::process::End::Exited(-1),
            left: 0,
        });
        *self.end.get_or_init(|| end)
    }

    /// How it ended, if it has.
    pub(super) fn end(&self) -> Option<Ended> {
        if let Ok(end) = self.ended.try_recv() {
            return Some(*self.end.get_or_init(|| end));
        }
        self.end.get().copied()
    }

    /// What it printed since this was last asked.
    pub(super) fn fresh(&self) -> Fresh {
        lock(&self.heard).take()
    }

    /// The handle of all it printed; `None` where that could not be kept.
    pub(super) fn whole(&self) -> Option<String> {
        lock(&self.heard).whole()
    }

    /// Types into it.
    pub(super) fn write(&self, chars: &str) -> bool {
        self.spawned.write(chars.as_bytes().to_vec())
    }

    pub(super) fn has_screen(&self) -> bool {
        self.spawned.has_screen()
    }

    pub(super) fn interrupt(&self) {
        self.spawned.interrupt();
    }

    /// Ends it and all it started. Blocks up to `grace` and a moment.
    pub(super) fn stop(&self, grace: Duration) {
        self.spawned.stop(grace);
    }

    /// What its bounds forbade it so far.
    pub(super) fn denials(&self) -> Vec<Denial> {
        self.spawned.denials()
    }

    /// What it left that other programs run by themselves.
    pub(super) fn planted(&self) -> Vec<Planted> {
        self.spawned.planted()
    }

    /// Its living processes.
    #[cfg(test)]
    pub(super) fn members(&self) -> Vec<u32> {
        self.spawned.members()
    }

    pub(super) fn is_told(&self) -> bool {
        self.is_told.load(Ordering::Relaxed)
    }

    pub(super) fn tell(&self) {
        self.is_told.store(true, Ordering::Relaxed);
    }
}

/// Takes in what a command prints.
struct Heard {
    sources: Arc<Sources>,
    room: Arc<Room>,
    cleaner: Cleaner,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    lost_lines: usize,
    store: Store,
}

/// Where all of an output is.
enum Store {
    /// Here, since it is short so far.
    Early(Vec<u8>),
    /// In a file of this handle.
    File {
        handle: String,
        log: Box<dyn AppendLog>,
        /// Bytes that room was asked for.
        claimed: u64,
    },
    /// In a file that does not grow any more.
    Full(String),
    /// Nowhere.
    None,
}

impl Heard {
    fn new(sources: &Arc<Sources>, room: &Arc<Room>) -> Self {
        Self {
            sources: Arc::clone(sources),
            room: Arc::clone(room),
            cleaner: Cleaner::default(),
            head: Vec::new(),
            tail: VecDeque::new(),
            lost_lines: 0,
            store: Store::Early(Vec::new()),
        }
    }

    /// Takes a piece; answers it cleaned.
    fn hear(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(bytes.len());
        self.cleaner.feed(bytes, &mut clean);
        self.put(&clean);
        clean
    }

    fn put(&mut self, clean: &[u8]) {
        self.save(clean);
        let room = HEAD.saturating_sub(self.head.len());
        let room = if self.tail.is_empty() {
            room.min(clean.len())
        } else {
            0
        };
        let (head, rest) = clean.split_at(room);
        self.head.extend_from_slice(head);
        // Of a piece that is longer than the whole end, only its own end counts.
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
            Store::Early(early) => {
                early.extend_from_slice(clean);
                if early.len() > EARLY {
                    self.open();
                }
            }
            Store::File {
                handle,
                log,
                claimed,
            } => {
                let length = log.len() + clean.len() as u64;
                if length > *claimed {
                    let files = self.sources.files.as_ref();
                    if length > KEPT || self.room.whole.claim(files, CLAIM).is_err() {
                        let note = b"\n[the output went on, and is not kept any further]\n";
                        // What is there already is what the handle stands for.
                        log.append(note).ok();
                        self.store = Store::Full(std::mem::take(handle));
                        return;
                    }
                    *claimed += CLAIM.max(clean.len() as u64);
                }
                if log.append(clean).is_err() {
                    self.store = Store::Full(std::mem::take(handle));
                }
            }
            Store::Full(_) | Store::None => {}
        }
    }

    /// Gives what was held back a file.
    fn open(&mut self) {
        let Store::Early(early) = std::mem::replace(&mut self.store, Store::None) else {
            return;
        };
        let files = self.sources.files.as_ref();
        let claimed = self.room.whole.claim(files, CLAIM);
        let begun = claimed.and_then(|()| self.room.whole.begin(files));
        let written = begun.and_then(|(handle, mut log)| {
            log.append(&early)?;
            Ok((handle, log))
        });
        match written {
            Ok((handle, log)) => {
                self.store = Store::File {
                    handle,
                    log,
                    claimed: CLAIM,
                };
            }
            Err(error) => base::report(&format!("an output is not kept: {error}")),
        }
    }

    fn whole(&mut self) -> Option<String> {
        self.flush();
        if matches!(self.store, Store::Early(_)) {
            self.open();
        }
        match &self.store {
            Store::File { handle, .. } | Store::Full(handle) => Some(handle.clone()),
            Store::Early(_) | Store::None => None,
        }
    }

    /// Lets the line that is not complete yet count as it is.
    fn flush(&mut self) {
        let mut rest = Vec::new();
        self.cleaner.flush(&mut rest);
        self.put(&rest);
    }

    fn take(&mut self) -> Fresh {
        self.flush();
        let mut bytes = std::mem::take(&mut self.head);
        // A char that is not complete yet waits for the rest of it.
        let is_split = self.tail.is_empty();
        bytes.extend(self.tail.drain(..));
        if is_split {
            let waits = incomplete(&bytes);
            self.head = bytes.split_off(bytes.len() - waits);
        }
        Fresh {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            lost: std::mem::take(&mut self.lost_lines),
        }
    }
}

/// Bytes at the end that begin a char and do not end it.
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
