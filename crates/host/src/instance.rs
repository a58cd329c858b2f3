//! One running program for each place: a second start hands its arguments to the first and ends.
//!
//! The first one holds a lock file and listens on a socket beside it; both lie in a folder that only
//! this user can enter. The lock goes with its process, so a socket left by a crash is no obstacle.
//! Invariant: a start that cannot reach the first one goes on by itself; nobody is left without a window.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::Duration;

use base::AbsPath;

use crate::error::{Error, Reason};
use crate::files::{Files, Lock};

/// Longer messages, in bytes, are refused: arguments are not.
const LONGEST: usize = 1 << 20;

/// How long either side waits for the other.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the first one answers when it took a message.
const TAKEN: u8 = b'+';

/// Who is the running program.
pub enum Instance {
    /// This process is; what others hand over arrives here.
    First(Handed),
    /// Another one is, and it has taken the message.
    Other,
    /// Another one is, but it did not answer.
    Silent,
}

/// What later starts hand over. Gives the place back when dropped.
pub struct Handed {
    messages: async_channel::Receiver<Vec<u8>>,
    socket: AbsPath,
    _lock: Lock,
}

impl Handed {
    /// The next message, as the other start sent it; `None` when the socket broke.
    pub async fn next(&self) -> Option<Vec<u8>> {
        self.messages.recv().await.ok()
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        // Nobody finds it any more; a name that stays is taken over by the next start.
        std::fs::remove_file(self.socket.as_path()).ok();
    }
}

/// Becomes the running program of `name` in `folder`, or hands `message` to the one there is. Blocks for two
/// seconds at most.
///
/// `folder` must be private to the user: whoever can enter it can ask for files to be opened.
pub fn claim(
    files: &dyn Files,
    folder: &AbsPath,
    name: &str,
    message: &[u8],
) -> Result<Instance, Error> {
    let socket = folder.join(format!("{name}.socket"));
    let Some(lock) = files.lock(&folder.join(format!("{name}.lock")))? else {
        return Ok(match hand_over(&socket, message) {
            Ok(()) => Instance::Other,
            // It hangs, or it is just ending.
            Err(_) => Instance::Silent,
        });
    };
    // With the lock in hand, whatever has the name belongs to nobody.
    match std::fs::remove_file(socket.as_path()) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::from_io(&socket, "remove", &error)),
    }
    let listener = UnixListener::bind(socket.as_path())
        .map_err(|error| Error::from_io(&socket, "listen at", &error))?;
    // Full when sixteen starts wait for a window that hangs; the seventeenth waits with them, and its
    // own patience ends.
    let (sender, messages) = async_channel::bounded(16);
    thread::Builder::new()
        .name("instance".to_owned())
        .spawn(move || listen(&listener, &sender))
        .map_err(|error| Error::new(&socket, "listen at", Reason::Other(error.to_string())))?;
    Ok(Instance::First(Handed {
        messages,
        socket,
        _lock: lock,
    }))
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
        // A start that has gone away needs no answer.
        stream.write_all(&[TAKEN]).ok();
    }
}

fn read_message(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length];
    stream.read_exact(&mut message)?;
    Ok(message)
}

fn hand_over(socket: &AbsPath, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len())
        .ok()
        .filter(|_| message.len() <= LONGEST)
        .ok_or(io::ErrorKind::InvalidInput)?;
    let mut stream = UnixStream::connect(socket.as_path())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&length.to_le_bytes())?;
    stream.write_all(message)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    if answer[0] == TAKEN {
        Ok(())
    } else {
        Err(io::ErrorKind::InvalidData.into())
    }
}

#[cfg(test)]
mod tests;
