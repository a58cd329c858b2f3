//! The program that Git and ssh run to ask the user.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use super::wire::{ANSWERED, SOCKET, TOKEN, read_part, write_part};

/// Asks the process whose socket is in the environment, and prints the answer. `arguments` are those
/// of the program, without its name. Returns the exit code: 0 if the user answered, else 1.
///
/// The program must be one that only Git and ssh run, such as a link with a name of its own, because
/// hooks inherit the same environment.
pub fn askpass_client(arguments: &[OsString]) -> i32 {
    match ask(arguments) {
        Ok(()) => 0,
        // The caller reports that it got no answer.
        Err(_) => 1,
    }
}

fn ask(arguments: &[OsString]) -> io::Result<()> {
    let variable = |name: &str| std::env::var_os(name).ok_or(ErrorKind::NotFound);
    let prompt = arguments.first().map(|it| it.to_string_lossy());
    let hint = variable("SSH_ASKPASS_PROMPT").unwrap_or_default();
    let mut stream = UnixStream::connect(variable(SOCKET)?)?;
    write_part(&mut stream, variable(TOKEN)?.as_encoded_bytes())?;
    write_part(&mut stream, hint.as_encoded_bytes())?;
    write_part(&mut stream, prompt.unwrap_or_default().as_bytes())?;
    // The user may take any time.
    let mut verdict = [0];
    stream.read_exact(&mut verdict)?;
    if verdict[0] != ANSWERED {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let answer = read_part(&mut stream)?;
    let mut output = io::stdout();
    output.write_all(&answer)?;
    output.write_all(b"\n")?;
    output.flush()
}
