//! Saves outputs that exceed a result's budget, under handles such as `out-3`.
//!
//! Invariant: a handle names the same bytes while the session's folder exists, even after a
//! restart. Limits: a session saves up to a gigabyte; further output is not saved, and the result
//! says so.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use base::AbsPath;
use host::{AppendLog, Error, ErrorReason, Files};

/// Prefix of every handle.
const PREFIX: &str = "out-";
/// Maximum size of one session's outputs, in bytes.
const SESSION_LIMIT: u64 = 1 << 30;
/// Minimum free space on the disk, in bytes.
const LEFT_FREE: u64 = 1 << 30;

/// The saved outputs of one session.
#[derive(Debug)]
pub struct SavedOutputs {
    folder: AbsPath,
    /// The next number; `None` until the folder was scanned.
    next: Mutex<Option<u64>>,
    kept: AtomicU64,
}

impl SavedOutputs {
    /// Returns the outputs of the session with the id `session`, in a folder of its own below
    /// `state`, the private folder of all sessions. Creates nothing yet.
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

    /// Saves a text under a new handle, such as `out-3`, and returns the handle.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or there is no space for it.
    pub fn save(&self, files: &dyn Files, bytes: &[u8]) -> Result<String, Error> {
        let (handle, mut log) = self.create(files)?;
        self.claim(files, bytes.len() as u64)?;
        log.append(bytes)?;
        Ok(handle)
    }

    /// Creates an output to append to. Space for appended bytes is reserved with `claim` first.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn create(&self, files: &dyn Files) -> Result<(String, Box<dyn AppendLog>), Error> {
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

    /// Reserves space for further bytes of any output of the session. Writes nothing; a reservation
    /// is never returned.
    ///
    /// # Errors
    ///
    /// If the session has saved a gigabyte already, or less than that would stay free on the disk.
    pub fn claim(&self, files: &dyn Files, bytes: u64) -> Result<(), Error> {
        let refused = |reason| Err(Error::new(&self.folder, "keep an output in", reason));
        let free = files.free_bytes(&self.folder);
        if free.is_some_and(|free| free < LEFT_FREE.saturating_add(bytes)) {
            return refused(ErrorReason::NoSpace);
        }
        let kept = self.kept.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if kept > SESSION_LIMIT {
            self.kept.fetch_sub(bytes, Ordering::Relaxed);
            return refused(ErrorReason::TooLarge {
                size: kept,
                limit: SESSION_LIMIT,
            });
        }
        Ok(())
    }

    /// Returns the path of a handle's output, whether or not it exists; `None` if the text is not a
    /// handle.
    pub fn path(&self, handle: &str) -> Option<AbsPath> {
        is_handle(handle).then(|| self.folder.join(format!("{handle}.txt")))
    }

    /// Finds the first number that earlier runs have not used.
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

/// Returns whether a text has the form of a handle, such as `out-3`; the output need not exist.
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
        let first = SavedOutputs::new(&state, "a/b");
        assert_eq!(first.save(&files, b"one").as_deref(), Ok("out-1"));
        assert_eq!(first.save(&files, b"two").as_deref(), Ok("out-2"));
        let again = SavedOutputs::new(&state, "a/b");
        assert_eq!(again.save(&files, b"three").as_deref(), Ok("out-3"));
        let path = again.path("out-2").expect("a handle");
        assert_eq!(path, state.join("outputs/a_b/out-2.txt"));
        assert_eq!(files.content(&path).as_deref(), Some(&b"two"[..]));
        for no in ["out-", "out-x", "../out-1", "src/out-1", "1"] {
            assert_eq!(again.path(no), None, "{no}");
        }
    }

    #[test]
    fn session_saves_at_most_a_gigabyte() {
        let files = FakeFiles::new();
        let whole = SavedOutputs::new(&AbsPath::new("/state").expect("absolute"), "s");
        assert!(whole.claim(&files, SESSION_LIMIT).is_ok());
        assert!(whole.claim(&files, 1).is_err());
    }
}
