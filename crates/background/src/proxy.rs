//! The proxy of a program on another machine: passes bytes between its input and output and the
//! background process of this machine.
//!
//! Invariant: the proxy ends with its input, with its output and with the background process, and when
//! the other side is silent for long. It keeps no process alive.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use host::{Clock as _, Dirs, RealClock};

use crate::launch::{LocalServer, ServerProgram};
use crate::{Error, launch};

/// The line before the first byte of the background process. Text of a login shell may come before it.
pub(crate) const MARK: &[u8] = b"burin-agent: connected\n";

/// Time without a byte from the other side after which it counts as gone. A client sends a sign of life
/// more often.
const SILENCE: Duration = Duration::from_secs(300);
/// Interval at which the silence is measured.
const LOOK_PAUSE: Duration = Duration::from_secs(20);
/// Size of the pieces that are passed on, in bytes.
const PIECE: usize = 64 << 10;

/// Connects `input` and `output` to the background process, which is started from `program` if it does
/// not run. Returns at the end of the input or of the output, when the background process ends, or when
/// nothing came for minutes. The threads for both directions may go on until the program ends.
pub fn proxy(
    dirs: &Dirs,
    program: &ServerProgram,
    input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> Result<(), Error> {
    dirs.create()?;
    let server = LocalServer {
        dirs: dirs.clone(),
        program: program.clone(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(server.make_ready())?;
    let stream = UnixStream::connect(launch::socket(dirs)?.as_path())?;
    output.write_all(MARK)?;
    output.flush()?;
    carry(stream, input, output, SILENCE)
}

/// Passes bytes on in both directions until one ends or nothing comes for `silence`.
fn carry(
    stream: UnixStream,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    silence: Duration,
) -> Result<(), Error> {
    let clock = Arc::new(RealClock::default());
    let latest = Arc::new(AtomicU64::new(0));
    // Each direction sends once, when it ends.
    let (sender, ended) = channel();
    let (to_server, from_server) = (stream.try_clone()?, stream.try_clone()?);
    let came = {
        let (clock, latest) = (clock.clone(), latest.clone());
        move || latest.store(millis(clock.elapsed()), Ordering::Relaxed)
    };
    pass_on("proxy input", input, to_server, came, sender.clone())?;
    pass_on("proxy output", from_server, output, || {}, sender)?;
    loop {
        match ended.recv_timeout(LOOK_PAUSE.min(silence)) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let since = millis(clock.elapsed());
                let since = since.saturating_sub(latest.load(Ordering::Relaxed));
                if since > millis(silence) {
                    log::warn!("the other machine was silent for {} s", since / 1000);
                    break;
                }
            }
        }
    }
    // The background process must not count this client any more.
    stream.shutdown(Shutdown::Both).ok();
    Ok(())
}

/// Passes bytes on in a thread until an end or an error, then reports the end.
fn pass_on(
    name: &str,
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    came: impl Fn() + Send + 'static,
    ended: Sender<()>,
) -> Result<(), Error> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(move || {
        let mut piece = vec![0; PIECE];
        // An error is an end: the other side connects again.
        while let Ok(count @ 1..) = from.read(&mut piece) {
            came();
            let bytes = piece.get(..count).unwrap_or_default();
            if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
                break;
            }
        }
        // The proxy may have ended already.
        ended.send(()).ok();
    })?;
    Ok(())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts `carry` and returns the far end of the server, the far end of the client, and the thread.
    fn carried(silence: Duration) -> (UnixStream, UnixStream, thread::JoinHandle<()>) {
        let pair = || UnixStream::pair().expect("sockets");
        let ((server, stream), (client, own)) = (pair(), pair());
        let output = own.try_clone().expect("a socket");
        let thread = thread::spawn(move || {
            carry(stream, own, output, silence).expect("carried");
        });
        (server, client, thread)
    }

    fn is_at_end(mut stream: &UnixStream) -> bool {
        stream.read(&mut [0]).is_ok_and(|count| count == 0)
    }

    #[test]
    fn bytes_pass_in_both_directions_until_the_input_ends() {
        let (mut server, mut client, thread) = carried(SILENCE);
        let bytes: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
        let sent = bytes.clone();
        let mut writer = client.try_clone().expect("a socket");
        let writing = thread::spawn(move || writer.write_all(&sent).expect("sent"));
        let mut taken = vec![0; bytes.len()];
        server.read_exact(&mut taken).expect("all of it");
        writing.join().expect("written");
        assert!(taken == bytes);
        server.write_all(b"answer").expect("sent");
        let mut answer = [0; 6];
        client.read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"answer");
        client.shutdown(Shutdown::Write).expect("an end");
        thread.join().expect("it ends");
        assert!(is_at_end(&server));
    }

    #[test]
    fn the_end_of_the_background_process_ends_the_proxy() {
        let (server, _client, thread) = carried(SILENCE);
        drop(server);
        thread.join().expect("it ends");
    }

    #[test]
    fn a_silent_client_ends_the_proxy() {
        let (server, _client, thread) = carried(Duration::from_millis(1));
        thread.join().expect("it ends");
        assert!(is_at_end(&server));
    }
}
