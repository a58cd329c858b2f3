//! Single-instance support: a second start passes its arguments to the first and exits.
//!
//! The first instance holds a lock file and listens on a socket beside it; both are in a folder
//! that only this user can enter. The lock dies with its process, so a socket left by a crash is
//! harmless.
//! Invariant: a start that cannot reach the first instance runs on its own, so that the user always
//! gets a window.

use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use base::AbsPath;

use crate::content_hash::ContentHash;
use crate::error::{Error, ErrorReason};
use crate::files::{FileLock, Files};

/// Maximum length of a message in bytes; arguments are far shorter.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// Time that either side waits for the other.
const HANDOFF_TIMEOUT: Duration = Duration::from_secs(2);

/// The first instance's reply to an accepted message.
const ACCEPTED: u8 = b'+';

/// The outcome of `claim`.
pub enum Instance {
    /// This process is the first; messages of later starts arrive here.
    First(HandoffReceiver),
    /// Another process is the first, and it accepted the message.
    Other,
    /// Another process is the first, but it did not answer.
    Silent,
}

/// Receives the messages of later starts. Releases the claim on drop.
pub struct HandoffReceiver {
    messages: async_channel::Receiver<Vec<u8>>,
    socket: AbsPath,
    _lock: FileLock,
}

impl HandoffReceiver {
    /// Returns the next message of a later start; `None` if the socket broke.
    pub async fn next(&self) -> Option<Vec<u8>> {
        self.messages.recv().await.ok()
    }
}

impl Drop for HandoffReceiver {
    fn drop(&mut self) {
        // An error is harmless: the next start takes over a socket that stays.
        std::fs::remove_file(self.socket.as_path()).ok();
    }
}

/// Claims `name` in `folder` for this process, or sends `message` to the process that holds it.
/// Each read and write blocks for at most two seconds.
///
/// `folder` must be private to the user: a process that can enter it can have files opened.
pub fn claim(
    files: &dyn Files,
    folder: &AbsPath,
    name: &str,
    message: &[u8],
) -> Result<Instance, Error> {
    let socket = private_socket(folder, name)?;
    let Some(lock) = files.lock(&folder.join(format!("{name}.lock")))? else {
        return Ok(match hand_over(&socket, message) {
            Ok(()) => Instance::Other,
            // The other instance hangs, or is exiting.
            Err(_) => Instance::Silent,
        });
    };
    // This process holds the lock, so any socket of that name is stale.
    match std::fs::remove_file(socket.as_path()) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::from_io(&socket, "remove", &error)),
    }
    let listener = UnixListener::bind(socket.as_path())
        .map_err(|error| Error::from_io(&socket, "listen at", &error))?;
    // Full when sixteen starts wait for a hanging window; the seventeenth waits too, until its own
    // timeout.
    let (sender, messages) = async_channel::bounded(16);
    thread::Builder::new()
        .name("instance".to_owned())
        .spawn(move || listen(&listener, &sender))
        .map_err(|error| Error::new(&socket, "listen at", ErrorReason::Other(error.to_string())))?;
    Ok(Instance::First(HandoffReceiver {
        messages,
        socket,
        _lock: lock,
    }))
}

/// Bytes of a socket's path that every system takes: macOS has 104, one of which ends it.
const MAX_SOCKET_PATH: usize = 103;

/// Returns the path of a socket: in `folder`, or in a private temporary folder if the path would be
/// too long for a socket. The folder must be private to the user. Fails if the temporary folder
/// belongs to another user.
pub fn private_socket(folder: &AbsPath, name: &str) -> Result<AbsPath, Error> {
    socket_path(folder, name, &std::env::temp_dir())
}

/// Returns the path of the socket: in `folder`, or, if that path is too long for a socket, in a
/// private folder below `temporary`, under a name that depends on the long path.
fn socket_path(folder: &AbsPath, name: &str, temporary: &Path) -> Result<AbsPath, Error> {
    let path = folder.join(format!("{name}.socket"));
    let length = |path: &AbsPath| path.as_path().as_os_str().len();
    let Some(temporary) = AbsPath::new(temporary) else {
        return Ok(path);
    };
    if length(&path) <= MAX_SOCKET_PATH {
        return Ok(path);
    }
    let user = rustix::process::geteuid().as_raw();
    let private = temporary.join(format!("burin-{user}"));
    match std::fs::DirBuilder::new().mode(0o700).create(&private) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Error::from_io(&private, "create the folder", &error));
        }
        Ok(()) | Err(_) => {}
    }
    let owner = std::fs::symlink_metadata(private.as_path())
        .map_err(|error| Error::from_io(&private, "look at", &error))?;
    if !owner.is_dir() || owner.uid() != user || owner.mode() & 0o077 != 0 {
        let reason = "it belongs to another user; set TMPDIR to a folder of yours";
        return Err(Error::new(
            &private,
            "listen in",
            ErrorReason::Other(reason.to_owned()),
        ));
    }
    let hash = ContentHash::of(path.as_path().as_os_str().as_bytes());
    // Half of the hash keeps the path short.
    Ok(private.join(format!("{:016x}.socket", hash.0 >> 64)))
}

fn listen(listener: &UnixListener, messages: &async_channel::Sender<Vec<u8>>) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else {
            continue;
        };
        let Ok(message) = read_message(&mut stream) else {
            continue;
        };
        if messages.send_blocking(message).is_err() {
            return;
        }
        // A start that has exited needs no reply.
        stream.write_all(&[ACCEPTED]).ok();
    }
}

/// Reads a message: its length in four bytes, the least significant first, and its bytes. Fails if
/// one read takes longer than `HANDOFF_TIMEOUT` or the length exceeds `MAX_MESSAGE_BYTES`.
fn read_message(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(HANDOFF_TIMEOUT))?;
    stream.set_write_timeout(Some(HANDOFF_TIMEOUT))?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_MESSAGE_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length];
    stream.read_exact(&mut message)?;
    Ok(message)
}

/// Sends a message to the first instance and waits for its reply. Fails if it does not accept the
/// message in time, or if the message is longer than `MAX_MESSAGE_BYTES`.
fn hand_over(socket: &AbsPath, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len())
        .ok()
        .filter(|_| message.len() <= MAX_MESSAGE_BYTES)
        .ok_or(io::ErrorKind::InvalidInput)?;
    let mut stream = UnixStream::connect(socket.as_path())?;
    stream.set_read_timeout(Some(HANDOFF_TIMEOUT))?;
    stream.set_write_timeout(Some(HANDOFF_TIMEOUT))?;
    stream.write_all(&length.to_le_bytes())?;
    stream.write_all(message)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    if answer[0] == ACCEPTED {
        Ok(())
    } else {
        Err(io::ErrorKind::InvalidData.into())
    }
}

#[cfg(test)]
mod tests;
