//! Appending without waiting for the disk: one thread, many rows to a transaction.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::{Entry, Error, Ledger};

/// Rows that may wait for the thread. When there are more the appender waits: that lasts no longer than a
/// transaction, and losing what was spent would be worse.
const WAITING: usize = 1024;
/// Rows to a transaction.
const GROUP: usize = 512;
/// Rows kept for another try when the disk refuses them; beyond it the oldest go, and it is said.
const KEPT: usize = 16 * WAITING;
/// How long after a refusal the disk is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// A thread that appends in the order in which it was told. Dropping it writes what is left.
#[derive(Debug)]
pub struct Writer {
    sender: Option<SyncSender<Command>>,
    thread: Option<JoinHandle<()>>,
    trouble: Arc<Mutex<Option<String>>>,
}

#[derive(Debug)]
enum Command {
    Append(Box<Entry>),
    Flush(SyncSender<Result<(), Error>>),
}

impl Writer {
    /// Takes a handle of its own: see `Ledger::again`.
    pub fn start(ledger: Ledger) -> Result<Self, Error> {
        let (sender, receiver) = sync_channel(WAITING);
        let trouble = Arc::new(Mutex::new(None));
        let path = ledger.path.clone();
        let work = Work {
            ledger,
            waiting: Vec::new(),
            trouble: trouble.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || work.run(&receiver))
            .map_err(|error| Error::io("start the thread that writes to", &path, &error))?;
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
            trouble,
        })
    }

    /// Has a row appended soon: within milliseconds, as long as the disk takes it.
    pub fn append(&self, entry: Entry) -> Result<(), Error> {
        self.tell(Command::Append(Box::new(entry)))
    }

    /// Waits until everything appended before it is on the disk.
    pub fn flush(&self) -> Result<(), Error> {
        let (answer, answered) = sync_channel(1);
        self.tell(Command::Flush(answer))?;
        answered.recv().unwrap_or(Err(Error::Closed))
    }

    /// What keeps rows from the disk at this moment, as a sentence; they are tried again.
    pub fn trouble(&self) -> Option<String> {
        self.trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn tell(&self, command: Command) -> Result<(), Error> {
        let sender = self.sender.as_ref().ok_or(Error::Closed)?;
        sender.send(command).map_err(|_| Error::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.sender.take());
        if self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err())
        {
            base::never!("the ledger's thread panicked");
        }
    }
}

struct Work {
    ledger: Ledger,
    /// In order; written from the front.
    waiting: Vec<Entry>,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Work {
    fn run(mut self, commands: &Receiver<Command>) {
        loop {
            let command = match self.waiting.is_empty() {
                true => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => commands.recv_timeout(AGAIN),
            };
            let mut flushed = Vec::new();
            match command {
                Ok(command) => {
                    self.take(command, &mut flushed);
                    while self.waiting.len() < KEPT
                        && let Ok(command) = commands.try_recv()
                    {
                        self.take(command, &mut flushed);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if let Err(error) = self.write() {
                        log::error!("{} rows are lost: {error}", self.waiting.len());
                    }
                    return;
                }
            }
            self.write_and_answer(flushed);
        }
    }

    fn take(&mut self, command: Command, flushed: &mut Vec<SyncSender<Result<(), Error>>>) {
        match command {
            Command::Append(entry) => self.waiting.push(*entry),
            Command::Flush(answer) => flushed.push(answer),
        }
    }

    fn write_and_answer(&mut self, flushed: Vec<SyncSender<Result<(), Error>>>) {
        for answer in flushed {
            // Who asked may have gone; then nobody wants to know.
            answer.send(self.write()).ok();
        }
        let trouble = self.write().err().map(|error| error.to_string());
        if let Some(trouble) = &trouble {
            log::warn!("{trouble}");
        }
        if self.waiting.len() >= KEPT {
            let lost = self.waiting.len() - KEPT / 2;
            self.waiting.drain(..lost);
            log::error!("the ledger cannot be written: {lost} rows are lost");
        }
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Writes everything that waits. A row that the tables refuse is dropped alone, and said.
    fn write(&mut self) -> Result<(), Error> {
        while !self.waiting.is_empty() {
            let group = self.waiting.len().min(GROUP);
            match self.ledger.append(&self.waiting[..group]) {
                Ok(()) => drop(self.waiting.drain(..group)),
                Err(Error::Refused { .. }) if group > 1 => self.write_one_by_one(group)?,
                Err(error @ Error::Refused { .. }) => {
                    log::error!("{error}");
                    self.waiting.remove(0);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write_one_by_one(&mut self, group: usize) -> Result<(), Error> {
        for _ in 0..group {
            match self.ledger.append(&self.waiting[..1]) {
                Err(error @ Error::Refused { .. }) => log::error!("{error}"),
                other => other?,
            }
            self.waiting.remove(0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
