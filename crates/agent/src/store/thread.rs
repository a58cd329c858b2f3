//! The writer thread, which combines waiting writes in one transaction.
//!
//! A transaction costs one disk sync, and a caller that arrives during one waits for two. Rows
//! without a waiting caller are therefore delayed briefly: usually a write with a waiting caller
//! follows and takes them along. A second thread checkpoints the ledger's log into its file, so
//! that no caller waits for that.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use ledger::{Ledger, LedgerEntry};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};

use super::{StoreChanges, StoreWrite, UnwrittenRecords, list};
use crate::error::Error;

/// Maximum number of writes per transaction.
const GROUP: usize = 256;
/// Delay of rows without a waiting caller.
const LINGER: Duration = Duration::from_millis(5);
/// Maximum number of rows kept for a retry while the disk refuses them. Beyond it the newest are
/// lost, and the loss is reported.
const KEPT: usize = 16 * 1024;
/// Number of transactions between checkpoints.
const CARRY_OVER: u32 = 64;

/// Starts the writer thread, which owns `ledger` and ends when `waiting` is closed, and its helper
/// for checkpoints. Returns before the first write. Counts the transactions that changed the list
/// of sessions in `changes`, and reports refused rows in `unwritten`.
pub(super) fn start(
    ledger: Ledger,
    waiting: mpsc::Receiver<StoreWrite>,
    (changes, unwritten): (watch::Sender<StoreChanges>, watch::Sender<UnwrittenRecords>),
) -> Result<(), Error> {
    // The runtime only provides the timer.
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(Error::StoreNotStarted)?;
    let tidier = ledger.reopen()?;
    ledger.disable_auto_checkpoint()?;
    let (carry_over, asked) = sync_channel(1);
    let thread = std::thread::Builder::new().name("checkpoints".to_owned());
    let started = thread.spawn(move || carry_over_when(&asked, &tidier));
    started.map_err(Error::StoreNotStarted)?;
    let work = StoreWriter {
        ledger,
        held: Vec::new(),
        transactions: 0,
        carry_over,
        changes,
        unwritten,
    };
    let thread = std::thread::Builder::new().name("records".to_owned());
    let started = thread.spawn(move || work.run(&runtime, waiting));
    started.map(drop).map_err(Error::StoreNotStarted)
}

/// Runs a checkpoint on every request; ends when all senders are gone.
fn carry_over_when(asked: &Receiver<()>, ledger: &Ledger) {
    while asked.recv().is_ok() {
        if let Err(error) = ledger.checkpoint() {
            // The rows are safe in the log, and the next checkpoint may succeed.
            log::warn!("{error}");
        }
    }
}

/// Takes the waiting writes, and further ones until one has a waiting caller. Returns `None` when
/// all senders are gone.
async fn gather(waiting: &mut mpsc::Receiver<StoreWrite>) -> Option<Vec<StoreWrite>> {
    let mut group = vec![waiting.recv().await?];
    let until = Instant::now() + LINGER;
    loop {
        while group.len() < GROUP
            && let Ok(write) = waiting.try_recv()
        {
            group.push(write);
        }
        let is_urgent = group.iter().any(|write| write.done.is_some());
        if is_urgent || group.len() >= GROUP {
            return Some(group);
        }
        match timeout_at(until, waiting.recv()).await {
            Ok(Some(write)) => group.push(write),
            Ok(None) | Err(_) => return Some(group),
        }
    }
}

struct StoreWriter {
    ledger: Ledger,
    /// Rows without a waiting caller that the disk refused; they are written first the next time.
    held: Vec<LedgerEntry>,
    /// Number of transactions since the last checkpoint.
    transactions: u32,
    carry_over: SyncSender<()>,
    changes: watch::Sender<StoreChanges>,
    unwritten: watch::Sender<UnwrittenRecords>,
}

impl StoreWriter {
    fn run(mut self, runtime: &Runtime, mut waiting: mpsc::Receiver<StoreWrite>) {
        while let Some(group) = runtime.block_on(gather(&mut waiting)) {
            self.write(group);
            self.transactions += 1;
            if self.transactions >= CARRY_OVER {
                self.transactions = 0;
                // If the checkpoint thread is busy, it already has a request.
                self.carry_over.try_send(()).ok();
            }
        }
        if !self.held.is_empty()
            && let Err(error) = self.ledger.append(&self.held)
        {
            // The views may be gone by now, so that the log is the last place.
            log::error!("{} records are lost: {error}", self.held.len());
            let lost = std::mem::take(&mut self.held).len();
            self.report(lost, &error);
        }
    }

    fn write(&mut self, mut group: Vec<StoreWrite>) {
        let mut entries = std::mem::take(&mut self.held);
        let held = entries.len();
        for write in &mut group {
            entries.append(&mut write.entries.clone());
        }
        if entries.is_empty() || self.append(&entries).is_ok() {
            self.note_written();
            for done in group.into_iter().filter_map(|write| write.done) {
                // The caller may have gone.
                done.send(Ok(())).ok();
            }
            return;
        }
        // One write is refused, or the disk fails: write them one by one, in order.
        entries.truncate(held);
        self.held = entries;
        self.write_held();
        for write in group {
            self.write_one(write);
        }
    }

    fn append(&mut self, entries: &[LedgerEntry]) -> Result<(), ledger::Error> {
        self.ledger.append(entries)?;
        let records = u64::from(entries.iter().any(list::is_listed_record));
        let marks = u64::from(entries.iter().any(|it| matches!(it, LedgerEntry::Mark(_))));
        if records + marks > 0 {
            self.changes.send_modify(|changes| {
                changes.records += records;
                changes.marks += marks;
            });
        }
        Ok(())
    }

    fn write_one(&mut self, write: StoreWrite) {
        // Held rows must be written first: a session's numbers must not have a gap.
        let written = if self.held.is_empty() {
            self.append(&write.entries).map_err(|error| {
                let is_refused = matches!(error, ledger::Error::Refused { .. });
                if is_refused {
                    Error::SessionChanged(error)
                } else {
                    Error::Ledger(error)
                }
            })
        } else {
            Err(Error::LedgerUnavailable)
        };
        match (written, write.done) {
            (written, Some(done)) => {
                // The caller may have gone.
                done.send(written).ok();
            }
            (Err(error), None) => self.hold_back(write.entries, &error),
            (Ok(()), None) => {}
        }
    }

    fn write_held(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let held = std::mem::take(&mut self.held);
        for (ix, entry) in held.iter().enumerate() {
            match self.append(std::slice::from_ref(entry)) {
                Ok(()) => {}
                Err(error @ ledger::Error::Refused { .. }) => self.report(1, &error),
                Err(error) => {
                    self.held = held[ix..].to_vec();
                    self.report(0, &error);
                    return;
                }
            }
        }
        self.note_written();
    }

    fn hold_back(&mut self, entries: Vec<LedgerEntry>, error: &Error) {
        self.held.extend(entries);
        let lost = self.held.len().saturating_sub(KEPT);
        self.held.truncate(KEPT);
        match error {
            // The reason was reported with the rows that these wait for.
            Error::LedgerUnavailable => {
                let cause = self.unwritten.borrow().cause.clone();
                self.report(lost, &cause);
            }
            error => self.report(lost, error),
        }
    }

    /// Reports the rows that wait, and `lost` further ones that do not.
    fn report(&self, lost: usize, error: &dyn std::fmt::Display) {
        self.unwritten.send_modify(|unwritten| {
            unwritten.waiting = self.held.len();
            unwritten.lost += lost;
            unwritten.cause = error.to_string();
        });
    }

    /// Reports that no row waits any more.
    fn note_written(&self) {
        self.unwritten
            .send_if_modified(|unwritten| std::mem::take(&mut unwritten.waiting) > 0);
    }
}

#[cfg(test)]
mod tests;
