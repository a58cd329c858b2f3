//! Follows what is written in open texts: by suggestions, the user and formatters.
//!
//! A thread owns the tracker, so that a key costs the window a message. Agents write to the disk, and their texts are
//! followed by the logs of their trees (`composer::retention_recorder`).
//!
//! Knows: `retention`, `quality`. Must not know: windows, the ledger.
//! Invariant: a text that is read again from the disk is out of sight where it differs, because an agent, Git or
//! another program wrote it, and nothing says which.
//! Limitations: a text is followed while it is open. Commits are not seen here.
//! Start at `TextRecorder::start`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use autocomplete::ChangeCause;
use base::{AbsPath, Revision};
use host::Clock;
use quality::{KeptRecord, QualityRecord, UnitRecord};
use retention::{
    Milestone, RetentionEvent, RetentionTracker, UnitId, Writer, WriterCall, WriterKind,
};
use text::{Author, Change, Snapshot};

use crate::Error;

/// Capacity of the channel to the thread, in edits. If it is full, an edit is left out; the next one is found by
/// comparing texts then, and counts for its own writer.
const WAITING: usize = 4096;
/// Interval of the measurements that no edit brings about. A measurement is right whenever it is taken.
const INTERVAL: Duration = Duration::from_secs(600);
/// Name of the tool of accepted suggestions.
const TAB: &str = "tab";

/// Receives rows, each with the time that it is about, in milliseconds since 1970.
type QualitySink = dyn Fn(Vec<(u64, QualityRecord)>) + Send;

/// The recorder of the open texts of a program. Dropping it ends its thread, which measures what is open as closed.
pub struct TextRecorder(SyncSender<RecorderMessage>);

enum RecorderMessage {
    Opened(AbsPath, Snapshot),
    Edited(AbsPath, Box<RecordedEdit>),
    Closed(AbsPath),
}

/// An edit of an open text.
#[derive(Clone, Debug)]
pub struct RecordedEdit {
    /// The change.
    pub change: Change,
    /// The text after it.
    pub after: Snapshot,
    /// The cause of the change.
    pub cause: ChangeCause,
}

impl TextRecorder {
    /// Starts the thread. `run` distinguishes this run of the program; rows go to `sink`, which must not wait.
    ///
    /// # Errors
    ///
    /// The system starts no thread.
    pub fn start(
        run: String,
        clock: Arc<dyn Clock>,
        sink: impl Fn(Vec<(u64, QualityRecord)>) + Send + 'static,
    ) -> Result<Self, Error> {
        let (sender, receiver) = sync_channel(WAITING);
        let recording = TextRecording {
            run,
            clock,
            sink: Box::new(sink),
            last_ms: 0,
            tracker: RetentionTracker::default(),
            revisions: HashMap::new(),
            units: HashMap::new(),
        };
        std::thread::Builder::new()
            .name("text recorder".to_owned())
            .spawn(move || recording.run(&receiver))
            .map_err(Error::ThreadNotStarted)?;
        Ok(Self(sender))
    }

    /// Follows a text that was opened. Never waits.
    pub fn opened(&self, path: AbsPath, text: Snapshot) {
        self.send(RecorderMessage::Opened(path, text));
    }

    /// Records an edit of an open text. Never waits.
    pub fn edited(&self, path: AbsPath, edit: RecordedEdit) {
        self.send(RecorderMessage::Edited(path, Box::new(edit)));
    }

    /// Ends following a text that was closed. Never waits.
    pub fn closed(&self, path: AbsPath) {
        self.send(RecorderMessage::Closed(path));
    }

    fn send(&self, message: RecorderMessage) {
        if self.0.try_send(message).is_err() {
            log::debug!("an edit found no room on the way to the recorder");
        }
    }
}

/// The state of the thread.
struct TextRecording {
    run: String,
    clock: Arc<dyn Clock>,
    sink: Box<QualitySink>,
    /// The latest time; the user may set the clock back.
    last_ms: u64,
    tracker: RetentionTracker,
    /// The latest revision of each open text: two windows tell of the same edit.
    revisions: HashMap<AbsPath, Revision>,
    /// Ids and times of the changes with rows.
    units: HashMap<UnitId, (String, u64)>,
}

impl TextRecording {
    fn run(mut self, messages: &Receiver<RecorderMessage>) {
        loop {
            let message = if self.units.is_empty() {
                messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                messages.recv_timeout(INTERVAL)
            };
            let now_ms = self.now_ms();
            match message {
                Ok(message) => self.take(message, now_ms),
                Err(RecvTimeoutError::Timeout) => self.tracker.advance(now_ms),
                Err(RecvTimeoutError::Disconnected) => {
                    self.tracker.close_all(now_ms);
                    self.send_rows();
                    return;
                }
            }
            self.send_rows();
        }
    }

    fn now_ms(&mut self) -> u64 {
        self.last_ms = self.last_ms.max(self.clock.wall_ms());
        self.last_ms
    }

    fn take(&mut self, message: RecorderMessage, now_ms: u64) {
        match message {
            RecorderMessage::Opened(path, text) => {
                self.revisions.insert(path.clone(), text.revision());
                self.tracker.open(&path.to_string(), text);
            }
            RecorderMessage::Edited(path, edit) => {
                let known = self.revisions.insert(path.clone(), edit.change.after);
                if known != Some(edit.change.after) {
                    let writer = writer(edit.cause, edit.change.author);
                    let edited = (&edit.change, &edit.after);
                    self.tracker
                        .edit(&path.to_string(), edited, &writer, now_ms);
                }
            }
            RecorderMessage::Closed(path) => {
                self.revisions.remove(&path);
                self.tracker.close(&path.to_string(), now_ms);
            }
        }
    }

    fn send_rows(&mut self) {
        let mut rows = Vec::new();
        for event in self.tracker.take_events() {
            match event {
                RetentionEvent::Began(start) => {
                    if start.writer.kind == WriterKind::Agent {
                        continue;
                    }
                    let id = format!("{}-{}", self.run, start.unit.0);
                    self.units.insert(start.unit, (id.clone(), start.at_ms));
                    let row = UnitRecord::of(&start, id);
                    rows.push((start.at_ms, QualityRecord::Unit(row)));
                }
                RetentionEvent::Measured(measured) => {
                    let Some((id, at_ms)) = self.units.get(&measured.unit).cloned() else {
                        continue;
                    };
                    // Nothing but commits comes after a day, and they are not seen here.
                    if matches!(measured.milestone, Milestone::Day | Milestone::Closed) {
                        self.units.remove(&measured.unit);
                    }
                    let at_ms = at_ms.saturating_add(measured.after_ms);
                    rows.push((at_ms, QualityRecord::Kept(KeptRecord::of(&measured, id))));
                }
            }
        }
        if !rows.is_empty() {
            (self.sink)(rows);
        }
    }
}

fn writer(cause: ChangeCause, author: Author) -> Writer {
    let kind = match (cause, author) {
        (ChangeCause::Accepted, _) => WriterKind::Tab,
        (ChangeCause::Undone, _) => WriterKind::Undo,
        (_, Author::User) => WriterKind::Person,
        (_, Author::Agent { .. }) => WriterKind::Agent,
        (_, Author::Formatter) => WriterKind::Formatter,
        (_, Author::Shell | Author::Disk) => WriterKind::Git,
    };
    let call = (kind == WriterKind::Tab).then(|| {
        Arc::new(WriterCall {
            tool: TAB.to_owned(),
            ..WriterCall::default()
        })
    });
    Writer { kind, call }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver};

    use base::Span;
    use host::FakeClock;
    use text::{Buffer, EditKind, EditOrigin, Timestamp};

    use super::*;

    fn path() -> AbsPath {
        AbsPath::new("/work/a.rs").unwrap()
    }

    /// A recorder, its clock, and its rows.
    fn recorder() -> (TextRecorder, Arc<FakeClock>, Receiver<QualityRecord>) {
        let clock = Arc::new(FakeClock::at(1_000));
        let (sender, rows) = mpsc::channel();
        let sink = move |new: Vec<(u64, QualityRecord)>| {
            for (_, row) in new {
                sender.send(row).unwrap();
            }
        };
        let recorder = TextRecorder::start("run".to_owned(), clock.clone(), sink);
        (recorder.unwrap(), clock, rows)
    }

    fn edit(
        buffer: &mut Buffer,
        range: std::ops::Range<usize>,
        text: &str,
        author: Author,
    ) -> RecordedEdit {
        let origin = EditOrigin::new(author, EditKind::Other, Timestamp(0));
        let change = buffer.replace(Span::from(range), text, &origin);
        let cause = match author {
            Author::User => ChangeCause::Typed,
            _ => ChangeCause::Other,
        };
        RecordedEdit {
            change,
            after: buffer.snapshot(),
            cause,
        }
    }

    #[test]
    fn accepted_text_is_followed_through_later_edits() {
        let (recorder, _clock, rows) = recorder();
        let mut buffer = Buffer::new("let a = ;\n");
        recorder.opened(path(), buffer.snapshot());
        let mut accepted = edit(&mut buffer, 8..8, "one + two", Author::User);
        accepted.cause = ChangeCause::Accepted;
        recorder.edited(path(), accepted.clone());
        // A second window tells of the same edit.
        recorder.edited(path(), accepted);
        recorder.edited(path(), edit(&mut buffer, 14..17, "zwei", Author::User));
        recorder.edited(path(), edit(&mut buffer, 8..11, "eins", Author::Disk));
        recorder.closed(path());
        drop(recorder);
        let rows: Vec<QualityRecord> = rows.iter().collect();
        let units = rows.iter().filter_map(|row| match row {
            QualityRecord::Unit(it) => Some((it.writer.as_str(), it.inserted)),
            _ => None,
        });
        assert_eq!(units.collect::<Vec<_>>(), [("tab", 3), ("person", 1)]);
        let kept = rows.iter().find_map(|row| match row {
            QualityRecord::Kept(it) if it.unit == "run-0" => Some(it),
            _ => None,
        });
        let kept = kept.expect("the suggestion was measured");
        assert_eq!((kept.milestone.as_str(), kept.inserted.kept), ("closed", 1));
        let mut fates: Vec<&str> = kept
            .inserted
            .losses
            .iter()
            .map(|it| it.fate.as_str())
            .collect();
        fates.sort_unstable();
        assert_eq!(fates, ["checked_out", "reworked_by_person"]);
    }

    #[test]
    fn undone_suggestions_are_reverted() {
        let (recorder, _clock, rows) = recorder();
        let mut buffer = Buffer::new("let a = ;\n");
        recorder.opened(path(), buffer.snapshot());
        let mut accepted = edit(&mut buffer, 8..8, "one", Author::User);
        accepted.cause = ChangeCause::Accepted;
        recorder.edited(path(), accepted);
        let mut undone = edit(&mut buffer, 8..11, "", Author::User);
        undone.cause = ChangeCause::Undone;
        recorder.edited(path(), undone);
        drop(recorder);
        let kept: Vec<KeptRecord> = rows
            .iter()
            .filter_map(|row| match row {
                QualityRecord::Kept(it) => Some(it),
                _ => None,
            })
            .collect();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].inserted.losses[0].fate, "reverted");
    }
}
