//! The thread that writes: whatever waits becomes one transaction.
//!
//! A transaction is a trip to the disk, and who comes second waits for two of them. So rows that nobody waits for
//! hold still for a moment: mostly somebody comes right behind them who does wait, and takes them along.
//! A second thread carries rows over from the ledger's log into its file, so that nobody waits for that.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use ledger::{Entry, Error, Ledger};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::Write;

/// Groups of rows to a transaction.
const GROUP: usize = 256;
/// How long rows that nobody waits for hold still.
const LINGER: Duration = Duration::from_millis(5);
/// Rows kept for another try while the disk refuses them; beyond it the newest are lost, and it is said.
const KEPT: usize = 16 * 1024;
/// Transactions after which the log is carried over.
const CARRY_OVER: u32 = 64;

pub(super) fn start(ledger: Ledger, waiting: mpsc::Receiver<Write>) -> Result<(), String> {
    let cannot = |error| format!("cannot start the thread that writes records: {error}");
    // For its clock alone.
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(cannot)?;
    let tidier = ledger.again().map_err(|error| error.to_string())?;
    ledger
        .leave_checkpoints()
        .map_err(|error| error.to_string())?;
    let (carry_over, asked) = sync_channel(1);
    let thread = std::thread::Builder::new().name("checkpoints".to_owned());
    let started = thread.spawn(move || carry_over_when(&asked, &tidier));
    started.map_err(cannot)?;
    let work = Work {
        ledger,
        held: Vec::new(),
        transactions: 0,
        carry_over,
    };
    let thread = std::thread::Builder::new().name("records".to_owned());
    let started = thread.spawn(move || work.run(&runtime, waiting));
    started.map(drop).map_err(cannot)
}

/// Ends when nobody is left who could ask.
fn carry_over_when(asked: &Receiver<()>, ledger: &Ledger) {
    while asked.recv().is_ok() {
        if let Err(error) = ledger.checkpoint() {
            // The rows are safe in the log, and the next time may do better.
            log::warn!("{error}");
        }
    }
}

/// Takes what waits, and what comes while nobody waits for it. `None` when nobody is left who could send.
async fn gather(waiting: &mut mpsc::Receiver<Write>) -> Option<Vec<Write>> {
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

struct Work {
    ledger: Ledger,
    /// Rows that nobody waits for and the disk refused; they go first the next time.
    held: Vec<Entry>,
    /// Since the log was last carried over.
    transactions: u32,
    carry_over: SyncSender<()>,
}

impl Work {
    fn run(mut self, runtime: &Runtime, mut waiting: mpsc::Receiver<Write>) {
        while let Some(group) = runtime.block_on(gather(&mut waiting)) {
            self.write(group);
            self.transactions += 1;
            if self.transactions >= CARRY_OVER {
                self.transactions = 0;
                // Where the thread is still at it, it has been asked already.
                self.carry_over.try_send(()).ok();
            }
        }
        if !self.held.is_empty() && self.ledger.append(&self.held).is_err() {
            log::error!(
                "{} records are lost: the ledger cannot be written",
                self.held.len()
            );
        }
    }

    fn write(&mut self, mut group: Vec<Write>) {
        let mut entries = std::mem::take(&mut self.held);
        let held = entries.len();
        for write in &mut group {
            entries.append(&mut write.entries.clone());
        }
        if entries.is_empty() || self.ledger.append(&entries).is_ok() {
            for done in group.into_iter().filter_map(|write| write.done) {
                // Who asked may have gone; then nobody wants to know.
                done.send(Ok(())).ok();
            }
            return;
        }
        // One of them is refused, or the disk is in trouble: each for itself, in order.
        entries.truncate(held);
        self.held = entries;
        self.write_held();
        for write in group {
            self.write_one(write);
        }
    }

    fn write_one(&mut self, write: Write) {
        // Nothing overtakes what is held: a session's numbers must have no gap.
        let written = match self.held.is_empty() {
            true => self.ledger.append(&write.entries),
            false => Err(Error::Closed),
        };
        let error = match (written, &write.done) {
            (Ok(()), _) => None,
            (Err(error @ Error::Refused { .. }), _) => Some(format!(
                "another program has written to this session meanwhile; open it again to go on from there ({error})"
            )),
            (Err(Error::Closed), _) if !self.held.is_empty() => {
                Some("the ledger cannot be written at the moment".to_owned())
            }
            (Err(error), _) => Some(error.to_string()),
        };
        match (error, write.done) {
            (error, Some(done)) => {
                let answer = error.map_or(Ok(()), Err);
                done.send(answer).ok();
            }
            (Some(error), None) => self.hold(write.entries, &error),
            (None, None) => {}
        }
    }

    fn write_held(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let held = std::mem::take(&mut self.held);
        for (ix, entry) in held.iter().enumerate() {
            match self.ledger.append(std::slice::from_ref(entry)) {
                Ok(()) => {}
                Err(error @ Error::Refused { .. }) => log::error!("{error}"),
                Err(error) => {
                    log::warn!("{error}");
                    self.held = held[ix..].to_vec();
                    return;
                }
            }
        }
    }

    fn hold(&mut self, entries: Vec<Entry>, error: &str) {
        log::warn!("{error}; {} records wait", entries.len());
        self.held.extend(entries);
        if self.held.len() > KEPT {
            log::error!("{} records are lost", self.held.len() - KEPT);
            self.held.truncate(KEPT);
        }
    }
}

#[cfg(test)]
mod tests;
