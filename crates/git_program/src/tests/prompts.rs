//! A login of Git at a server, with the answers of the user.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use zeroize::Zeroizing;

use super::{Fixture, environment};
use crate::askpass::{PromptKind, PromptServer, askpass_client};
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::{CheckoutTrust, GitProgram, find_program};
use crate::remote::FetchRequest;

/// Holds the prompt in the process that Git runs to ask.
const PROMPT: &str = "BURIN_TEST_PROMPT";
/// `me:s3cret`, as a request carries it.
const LOGIN: &str = "Authorization: Basic bWU6czNjcmV0";

/// Reads the head of a request; empty at the end of the connection.
fn request_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Serves 401 to requests without a login and 404 to the others, whose heads it sends on.
fn serve(listener: &TcpListener, logins: &mpsc::Sender<String>) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else {
            return;
        };
        let head = request_head(&mut stream);
        let is_login = head.contains("Authorization:");
        let status = if is_login {
            "404 Not Found"
        } else {
            "401 Unauthorized"
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).ok();
        if is_login && logins.send(head).is_err() {
            return;
        }
    }
}

/// Returns a script that asks through this test program, which prints two lines of its own first.
fn askpass_script() -> String {
    let program = std::env::current_exe().expect("the path of this program");
    let name = "tests::prompts::a_login_is_answered_by_the_user";
    format!(
        "{PROMPT}=\"$1\" '{}' --quiet --nocapture --exact {name} | sed -n 3p",
        program.display()
    )
}

#[test]
fn a_login_is_answered_by_the_user() {
    if let Some(prompt) = std::env::var_os(PROMPT) {
        std::process::exit(askpass_client(&[prompt]));
    }
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.hook("askpass", &askpass_script());
    let script = fixture.root.join(".git/hooks/askpass");
    let (server, prompts) = PromptServer::start(fixture.folder.path(), script).expect("a socket");
    let environment = environment(fixture.folder.path());
    let program = find_program("git", &environment).expect("git");
    let git = GitProgram::new(
        program,
        fixture.root.clone(),
        environment,
        CheckoutTrust::Trusted,
    );
    let git = git.expect("trusted").with_prompts(server);
    let user = thread::spawn(move || {
        let mut kinds = Vec::new();
        while let Ok(prompt) = prompts.recv_blocking() {
            kinds.push(prompt.kind);
            let answer = if prompt.kind == PromptKind::Username {
                "me"
            } else {
                "s3cret"
            };
            prompt.reply.answer(&Zeroizing::new(answer.to_owned()));
        }
        kinds
    });
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (sender, logins) = mpsc::channel();
    thread::spawn(move || serve(&listener, &sender));
    fixture.run(&[
        "remote",
        "add",
        "there",
        &format!("http://127.0.0.1:{port}/r.git"),
    ]);
    let request = FetchRequest {
        remote: Some("there".to_owned()),
        ..FetchRequest::default()
    };
    let ended = git.fetch(&request, &Cancellation::default(), &mut |_| {});
    // The server of prompts ends with its last user.
    drop(git);
    let kinds = user.join().expect("no panic");
    let Err(Error::Failed { message, .. }) = ended else {
        panic!("{ended:?}");
    };
    if message.contains("remote-http") {
        return test_support::skip("this git has no HTTP");
    }
    assert_eq!(
        kinds,
        [PromptKind::Username, PromptKind::Password],
        "{message}"
    );
    assert!(logins.recv().expect("a login").contains(LOGIN));
    assert!(!message.contains("s3cret"), "{message}");
}
