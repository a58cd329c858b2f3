//! Logs of servers: the messages in both directions and standard error, in one bounded file per server.
//!
//! Invariant: the files of a server have at most twice `MAX_LOG_BYTES` and one entry.
//! Start at `ServerLog::open`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::{AbsPath, LogErr as _};
use host::{AppendLog, Clock, Files};
use lsp::{MessageDirection, MessageLog};

/// Length of a log at which it becomes the older log and a new one begins.
const MAX_LOG_BYTES: u64 = 1 << 20;
/// Bytes of one entry; the rest of a longer one is left out.
const MAX_ENTRY_BYTES: usize = 1 << 12;

/// The origin of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogSource {
    /// A message to the server.
    Sent,
    /// A message from the server.
    Received,
    /// A line of the server's standard error.
    ErrorOutput,
    /// Burin, about the process.
    Process,
}

/// The log of one server. Cheap to clone; all clones write to the same file.
#[derive(Clone)]
pub(crate) struct ServerLog {
    inner: Arc<Mutex<LogFile>>,
    clock: Arc<dyn Clock>,
}

struct LogFile {
    files: Arc<dyn Files>,
    folder: AbsPath,
    id: String,
    /// `None` if the file cannot be written; later entries are dropped then.
    file: Option<Box<dyn AppendLog>>,
}

impl ServerLog {
    /// Opens the log of a server in `folder`. A log that cannot be written drops its entries.
    pub(crate) fn open(
        files: Arc<dyn Files>,
        clock: Arc<dyn Clock>,
        folder: AbsPath,
        id: &str,
    ) -> Self {
        let mut inner = LogFile {
            files,
            folder,
            id: id.to_owned(),
            file: None,
        };
        inner.reopen();
        Self {
            inner: Arc::new(Mutex::new(inner)),
            clock,
        }
    }

    /// Adds an entry.
    pub(crate) fn add(&self, source: LogSource, text: &str) {
        let entry = entry(self.clock.elapsed(), source, text);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.append(entry.as_bytes());
    }
}

impl MessageLog for ServerLog {
    fn message(&self, direction: MessageDirection, json: &[u8]) {
        let source = match direction {
            MessageDirection::ToServer => LogSource::Sent,
            MessageDirection::FromServer => LogSource::Received,
        };
        self.add(source, &String::from_utf8_lossy(json));
    }
}

impl LogFile {
    fn append(&mut self, entry: &[u8]) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.append(entry) {
            log::warn!("the log of {} ends here: {error}", self.id);
            self.file = None;
        } else if file.len() > MAX_LOG_BYTES {
            self.reopen();
        }
    }

    /// Opens the file; moves a long one aside first.
    fn reopen(&mut self) {
        self.file = None;
        let path = current(&self.folder, &self.id);
        let open = || {
            self.files.create_folder(&self.folder)?;
            let length = self.files.stat(&path).map_or(0, |stat| stat.stamp.size);
            if length > MAX_LOG_BYTES {
                let older = older(&self.folder, &self.id);
                if self.files.exists(&older) {
                    self.files.remove(&older)?;
                }
                self.files.rename(&path, &older)?;
            }
            self.files.open_log(&path)
        };
        self.file = open().log_err();
    }
}

/// Returns the entries of a server's logs in `folder`, oldest first; `None` if it has none.
pub fn read_log(files: &dyn Files, folder: &AbsPath, id: &str) -> Option<String> {
    let limit = 2 * MAX_LOG_BYTES;
    let read = |path: AbsPath| files.read(&path, limit).ok();
    let parts = [read(older(folder, id)), read(current(folder, id))];
    let bytes = parts.into_iter().flatten().reduce(|mut older, newer| {
        older.extend(newer);
        older
    })?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn current(folder: &AbsPath, id: &str) -> AbsPath {
    folder.join(format!("{}.log", file_name(id)))
}

fn older(folder: &AbsPath, id: &str) -> AbsPath {
    folder.join(format!("{}.old.log", file_name(id)))
}

/// Returns the id with everything replaced that has a meaning in paths: settings may contain any id.
fn file_name(id: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
    let plain = id.chars().map(|it| if is_plain(it) { it } else { '_' });
    plain.collect()
}

/// Formats an entry as one line.
fn entry(time: Duration, source: LogSource, text: &str) -> String {
    let mark = match source {
        LogSource::Sent => "->",
        LogSource::Received => "<-",
        LogSource::ErrorOutput => "!!",
        LogSource::Process => "##",
    };
    let end = text.floor_char_boundary(MAX_ENTRY_BYTES);
    let (shown, rest) = text.split_at(end.min(text.len()));
    let cut = match rest.len() {
        0 => String::new(),
        count => format!(" … {count} bytes more"),
    };
    let shown = shown.trim_end().replace('\n', "\\n");
    format!("{:10.3} {mark} {shown}{cut}\n", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use host::{FakeClock, FakeFiles};

    use super::*;

    fn log() -> (Arc<FakeFiles>, ServerLog, AbsPath) {
        let files = Arc::new(FakeFiles::new());
        let folder = AbsPath::new("/logs").expect("absolute");
        let clock = Arc::new(FakeClock::at(0));
        let log = ServerLog::open(files.clone(), clock, folder.clone(), "a/b");
        (files, log, folder)
    }

    #[test]
    fn an_entry_is_one_line_with_its_direction() {
        let (files, log, folder) = log();
        log.add(LogSource::Sent, "{}");
        log.add(LogSource::ErrorOutput, "one\ntwo\n");
        let text = read_log(files.as_ref(), &folder, "a/b").expect("a log");
        assert_eq!(text, "     0.000 -> {}\n     0.000 !! one\\ntwo\n");
        assert_eq!(read_log(files.as_ref(), &folder, "c"), None);
    }

    #[test]
    fn logs_stay_bounded_and_keep_the_latest() {
        let (files, log, folder) = log();
        let long = "x".repeat(MAX_ENTRY_BYTES * 2);
        for number in 0..1000 {
            log.add(LogSource::Received, &format!("{number} {long}"));
        }
        let text = read_log(files.as_ref(), &folder, "a/b").expect("a log");
        assert!(text.len() < 2 * usize::try_from(MAX_LOG_BYTES).expect("small") + 8192);
        assert!(text.contains("<- 999 x") && text.contains("bytes more"));
    }
}
