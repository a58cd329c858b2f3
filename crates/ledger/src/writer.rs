//! Appends without waiting for the disk: one thread, many rows per transaction.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::{Error, Ledger, LedgerEntry};

/// Capacity of the queue to the thread, in rows. When it is full the appender blocks; that lasts at
/// most one transaction, and losing spending records would be worse.
const QUEUE_CAPACITY: usize = 1024;
/// Maximum number of rows per transaction.
const MAX_GROUP: usize = 512;
/// Maximum number of rows kept for a retry while the disk fails; beyond it the oldest are dropped
/// and the loss is logged.
const MAX_PENDING: usize = 16 * QUEUE_CAPACITY;
/// Delay before a failed write is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Handle of a thread that appends rows in order, so that callers do not wait for the disk.
/// Dropping it writes the remaining rows and blocks until then.
#[derive(Debug)]
pub struct LedgerWriter {
    sender: Option<SyncSender<WriterCommand>>,
    thread: Option<JoinHandle<()>>,
    error: Arc<Mutex<Option<String>>>,
}

#[derive(Debug)]
enum WriterCommand {
    Append(Box<LedgerEntry>),
    Flush(SyncSender<Result<(), Error>>),
}

impl LedgerWriter {
    /// Starts the thread, which owns `ledger`; see `Ledger::reopen` for a separate handle. Fails if
    /// the thread cannot be started.
    pub fn start(ledger: Ledger) -> Result<Self, Error> {
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        let error = Arc::new(Mutex::new(None));
        let path = ledger.path.clone();
        let work = WriterThread {
            ledger,
            pending: Vec::new(),
            error: error.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || work.run(&receiver))
            .map_err(|error| Error::io("start the writer thread of", &path, &error))?;
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
            error,
        })
    }

    /// Queues a row; it reaches the disk within milliseconds as long as the disk accepts writes.
    /// Blocks while the queue is full; fails only if the thread has ended.
    pub fn append(&self, entry: LedgerEntry) -> Result<(), Error> {
        self.send_command(WriterCommand::Append(Box::new(entry)))
    }

    /// Blocks until every row appended so far is on the disk.
    ///
    /// # Errors
    ///
    /// Returns the error that keeps rows from the disk, or that the thread has ended.
    pub fn flush(&self) -> Result<(), Error> {
        let (answer, answered) = sync_channel(1);
        self.send_command(WriterCommand::Flush(answer))?;
        answered.recv().unwrap_or(Err(Error::Closed))
    }

    /// Returns the error that currently keeps rows from the disk, as a sentence, while the rows are
    /// retried; `None` if writing works.
    pub fn write_error(&self) -> Option<String> {
        self.error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Sends a command to the thread, and blocks while the queue is full. Fails with `Closed` if
    /// the thread has ended.
    fn send_command(&self, command: WriterCommand) -> Result<(), Error> {
        let sender = self.sender.as_ref().ok_or(Error::Closed)?;
        sender.send(command).map_err(|_| Error::Closed)
    }
}

impl Drop for LedgerWriter {
    fn drop(&mut self) {
        drop(self.sender.take());
        if self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err())
        {
            base::never!("the ledger's writer thread panicked");
        }
    }
}

struct WriterThread {
    ledger: Ledger,
    /// Rows not yet written, oldest first.
    pending: Vec<LedgerEntry>,
    error: Arc<Mutex<Option<String>>>,
}

impl WriterThread {
    fn run(mut self, commands: &Receiver<WriterCommand>) {
        loop {
            let command = if self.pending.is_empty() {
                commands.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                commands.recv_timeout(RETRY_DELAY)
            };
            let mut flushed = Vec::new();
            match command {
                Ok(command) => {
                    self.handle_command(command, &mut flushed);
                    while self.pending.len() < MAX_PENDING
                        && let Ok(command) = commands.try_recv()
                    {
                        self.handle_command(command, &mut flushed);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if let Err(error) = self.write() {
                        log::error!("{} ledger rows lost: {error}", self.pending.len());
                    }
                    return;
                }
            }
            self.write_and_answer(flushed);
        }
    }

    fn handle_command(
        &mut self,
        command: WriterCommand,
        flushed: &mut Vec<SyncSender<Result<(), Error>>>,
    ) {
        match command {
            WriterCommand::Append(entry) => self.pending.push(*entry),
            WriterCommand::Flush(answer) => flushed.push(answer),
        }
    }

    fn write_and_answer(&mut self, flushed: Vec<SyncSender<Result<(), Error>>>) {
        for answer in flushed {
            // The caller may be gone; then the result is dropped.
            answer.send(self.write()).ok();
        }
        let error = self.write().err().map(|error| error.to_string());
        if let Some(error) = &error {
            log::warn!("{error}");
        }
        if self.pending.len() >= MAX_PENDING {
            let lost = self.pending.len() - MAX_PENDING / 2;
            self.pending.drain(..lost);
            log::error!("cannot write to the ledger: {lost} rows lost");
        }
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    /// Writes all pending rows. A row that the tables reject is dropped alone and logged.
    fn write(&mut self) -> Result<(), Error> {
        while !self.pending.is_empty() {
            let group = self.pending.len().min(MAX_GROUP);
            match self.ledger.append(&self.pending[..group]) {
                Ok(()) => drop(self.pending.drain(..group)),
                Err(Error::Refused { .. }) if group > 1 => self.write_one_by_one(group)?,
                Err(error @ Error::Refused { .. }) => {
                    log::error!("{error}");
                    self.pending.remove(0);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes the first `group` pending rows, each in a transaction of its own; drops and logs
    /// those that the tables reject. Other errors end it, with the row still pending.
    fn write_one_by_one(&mut self, group: usize) -> Result<(), Error> {
        for _ in 0..group {
            match self.ledger.append(&self.pending[..1]) {
                Err(error @ Error::Refused { .. }) => log::error!("{error}"),
                other => other?,
            }
            self.pending.remove(0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
