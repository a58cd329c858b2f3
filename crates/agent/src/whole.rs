//! Outputs that are longer than what a model is shown, kept whole under a handle such as `out-3`.
//!
//! Invariant: a handle names the same bytes for as long as the session's folder is there, also after a restart.
//! Limits: a session keeps up to a gigabyte; what is more is not kept, and the answer says so.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use base::AbsPath;
use host::{AppendLog, Error, Files, Reason};

/// How a handle begins.
const PREFIX: &str = "out-";
/// Bytes that one session may keep.
const SESSION_LIMIT: u64 = 1 << 30;
/// Bytes that stay free on the disk, whatever there is to keep.
const LEFT_FREE: u64 = 1 << 30;

/// The kept outputs of one session.
#[derive(Debug)]
pub struct Whole {
    folder: AbsPath,
    /// The next number; `None` until the folder was looked at.
    next: Mutex<Option<u64>>,
    kept: AtomicU64,
}

impl Whole {
    /// The outputs of a session below `state`, the private folder of all sessions.
    pub fn new(state: &AbsPath, session: &str) -> Self {
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '-' || sign == '_';
        let name: String = session
            .chars()
            .map(|sign| if is_plain(sign) { sign } else { '_' })
            .collect();
        Self {
            folder: state.join("outputs").join(name),
            next: Mutex::new(None),
            kept: AtomicU64::new(0),
        }
    }

    /// Keeps a text; answers its handle.
    ///
    /// # Errors
    /// When it cannot be written, or there is no room for it.
    pub fn keep(&self, files: &dyn Files, bytes: &[u8]) -> Result<String, Error> {
        let (handle, mut log) = self.begin(files)?;
        self.claim(files, bytes.len() as u64)?;
        log.append(bytes)?;
        Ok(handle)
    }

    /// Begins an output that is added to; what is added is first claimed.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn begin(&self, files: &dyn Files) -> Result<(String, Box<dyn AppendLog>), Error> {
        let handle = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let number = match *next {
                Some(number) => number,
                None => self.first_free(files)?,
            };
            *next = Some(number + 1);
            format!("{PREFIX}{number}")
        };
        let log = files.open_log(&self.folder.join(format!("{handle}.txt")))?;
        Ok((handle, log))
    }

    /// Asks for room for so many bytes more.
    ///
    /// # Errors
    /// When the session keeps a gigabyte already, or less than that would be left on the disk.
    pub fn claim(&self, files: &dyn Files, bytes: u64) -> Result<(), Error> {
        let refused = |reason| Err(Error::new(&self.folder, "keep an output in", reason));
        let free = files.free_bytes(&self.folder);
        if free.is_some_and(|free| free < LEFT_FREE.saturating_add(bytes)) {
            return refused(Reason::NoSpace);
        }
        let kept = self.kept.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if kept > SESSION_LIMIT {
            self.kept.fetch_sub(bytes, Ordering::Relaxed);
            return refused(Reason::TooLarge {
                size: kept,
                limit: SESSION_LIMIT,
            });
        }
        Ok(())
    }

    /// Where the output of a handle lies; `None` where the text is no handle.
    pub fn path(&self, handle: &str) -> Option<AbsPath> {
        is_handle(handle).then(|| self.folder.join(format!("{handle}.txt")))
    }

    /// Looks which numbers an earlier run has given away.
    fn first_free(&self, files: &dyn Files) -> Result<u64, Error> {
        files.create_folder(&self.folder)?;
        let listing = files.list(&self.folder)?;
        let numbers = listing.entries.iter().filter_map(|entry| {
            let name = entry.path.name();
            let number = name.strip_prefix(PREFIX)?.strip_suffix(".txt")?;
            number.parse::<u64>().ok()
        });
        Ok(numbers.max().map_or(1, |last| last + 1))
    }
}

/// Whether a text is a handle.
pub fn is_handle(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    #[test]
    fn handles_go_on_after_a_restart() {
        let files = FakeFiles::new();
        let state = AbsPath::new("/state").expect("absolute");
        files.folder(&state);
        let first = Whole::new(&state, "a/b");
        assert_eq!(first.keep(&files, b"one").as_deref(), Ok("out-1"));
        assert_eq!(first.keep(&files, b"two").as_deref(), Ok("out-2"));
        let again = Whole::new(&state, "a/b");
        assert_eq!(again.keep(&files, b"three").as_deref(), Ok("out-3"));
        let path = again.path("out-2").expect("a handle");
        assert_eq!(path, state.join("outputs/a_b/out-2.txt"));
        assert_eq!(files.content(&path).as_deref(), Some(&b"two"[..]));
        for no in ["out-", "out-x", "../out-1", "src/out-1", "1"] {
            assert_eq!(again.path(no), None, "{no}");
        }
    }

    #[test]
    fn a_session_keeps_a_gigabyte_at_most() {
        let files = FakeFiles::new();
        let whole = Whole::new(&AbsPath::new("/state").expect("absolute"), "s");
        assert!(whole.claim(&files, SESSION_LIMIT).is_ok());
        assert!(whole.claim(&files, 1).is_err());
    }
}
