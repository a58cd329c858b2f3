//! Tests of prompts over the socket, without Git.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use async_channel::Receiver;
use base::AbsPath;
use host::TempFolder;
use zeroize::Zeroizing;

use super::PromptKind;
use super::server::{Prompt, PromptServer};
use super::wire::{ANSWERED, REFUSED, SOCKET, TOKEN, read_part, write_part};

struct Fixture {
    _folder: TempFolder,
    server: Arc<PromptServer>,
    prompts: Receiver<Prompt>,
}

fn fixture() -> Fixture {
    let folder = TempFolder::new().expect("a folder");
    let program = AbsPath::new("/bin/askpass").expect("absolute");
    let (server, prompts) = PromptServer::start(folder.path(), program).expect("a socket");
    Fixture {
        _folder: folder,
        server,
        prompts,
    }
}

/// Asks as the client does; returns the answer, or `None` for a refusal.
fn ask(socket: &std::ffi::OsStr, token: &[u8], text: &str) -> Option<Vec<u8>> {
    let mut stream = UnixStream::connect(socket).expect("a server");
    write_part(&mut stream, token).expect("it reads");
    // A refused token closes the connection early.
    write_part(&mut stream, b"").ok();
    write_part(&mut stream, text.as_bytes()).ok();
    let mut verdict = [0];
    stream.read_exact(&mut verdict).ok()?;
    match verdict[0] {
        ANSWERED => Some(read_part(&mut stream).expect("an answer").to_vec()),
        other => {
            assert_eq!(other, REFUSED);
            None
        }
    }
}

fn value(variables: &[(std::ffi::OsString, std::ffi::OsString)], name: &str) -> std::ffi::OsString {
    let found = variables.iter().find(|(variable, _)| variable == name);
    found.expect("a variable").1.clone()
}

#[test]
fn an_answer_reaches_the_program_that_asked() {
    let fixture = fixture();
    let session = fixture.server.session();
    let variables = session.variables();
    let (socket, token) = (value(&variables, SOCKET), value(&variables, TOKEN));
    let asking =
        thread::spawn(move || ask(&socket, token.as_encoded_bytes(), "Password for 'h': "));
    let prompt = fixture.prompts.recv_blocking().expect("a prompt");
    assert_eq!(
        (prompt.text.as_str(), prompt.kind),
        ("Password for 'h': ", PromptKind::Password)
    );
    prompt.reply.answer(&Zeroizing::new("s3cret".to_owned()));
    assert_eq!(
        asking.join().expect("no panic").as_deref(),
        Some(&b"s3cret"[..])
    );
    assert!(!format!("{:?}", fixture.server).contains("s3cret"));
}

#[test]
fn a_dropped_prompt_and_an_unknown_token_are_refused() {
    let fixture = fixture();
    let session = fixture.server.session();
    let variables = session.variables();
    let (socket, token) = (value(&variables, SOCKET), value(&variables, TOKEN));
    let asking = {
        let (socket, token) = (socket.clone(), token.clone());
        thread::spawn(move || ask(&socket, token.as_encoded_bytes(), "Username: "))
    };
    drop(fixture.prompts.recv_blocking().expect("a prompt"));
    assert_eq!(asking.join().expect("no panic"), None);
    assert_eq!(ask(&socket, b"guess", "Username: "), None);
    drop(session);
    assert_eq!(
        ask(&socket, token.as_encoded_bytes(), "Username: "),
        None,
        "an ended call"
    );
    assert!(fixture.prompts.is_empty());
}

#[test]
fn the_server_ends_with_open_connections() {
    let fixture = fixture();
    let session = fixture.server.session();
    let socket = value(&session.variables(), SOCKET);
    let mut open = UnixStream::connect(&socket).expect("a server");
    open.write_all(&[1, 0]).expect("it reads");
    drop(session);
    drop(fixture.server);
    let path = AbsPath::new(&socket).expect("absolute");
    assert!(!host::Files::exists(&host::RealFiles, &path));
}
