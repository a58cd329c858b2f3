//! An SSH server on loopback, with a key of the user that has a passphrase.
#![expect(
    clippy::disallowed_methods,
    reason = "the story runs a server and writes its files"
)]

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use base::AbsPath;

use super::Fixture;

/// The passphrase of the user's key.
pub(super) const PASSPHRASE: &str = "s3cret words";

/// A running server; ends on drop.
pub(super) struct SshServer {
    folder: PathBuf,
    port: u16,
    user: String,
    /// The folder with the programs of git.
    programs: String,
    server: Child,
}

impl SshServer {
    /// Starts a server; `None`, with the test reported as skipped, without the programs of OpenSSH.
    #[track_caller]
    pub(super) fn start(fixture: &Fixture) -> Option<Self> {
        let places = ["/usr/sbin/sshd", "/usr/bin/sshd"].map(Path::new);
        let Some(sshd) = places.into_iter().find(|path| path.exists()) else {
            test_support::skip("needs sshd of openssh-server");
            return None;
        };
        if Command::new("ssh").arg("-V").output().is_err() {
            test_support::skip("needs ssh of openssh-client");
            return None;
        }
        let user = output("id", &["-un"]);
        if user == "root" && std::fs::create_dir_all("/run/sshd").is_err() {
            test_support::skip("sshd of root needs the folder /run/sshd");
            return None;
        }
        let folder = fixture.folder.join("ssh").as_path().to_owned();
        std::fs::create_dir(&folder).expect("a folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        write_files(&folder, port);
        drop(listener);
        Some(Self {
            server: run_server(sshd, &folder.join("config")),
            folder,
            port,
            user,
            programs: fixture.git(&["--exec-path"]),
        })
    }

    /// Returns the address of a repository.
    pub(super) fn address(&self, root: &AbsPath) -> String {
        let Self { user, port, .. } = self;
        format!("ssh://{user}@127.0.0.1:{port}{root}")
    }

    /// Returns the command of ssh. `strict` says what happens with an unknown host.
    pub(super) fn command(&self, strict: &str) -> String {
        let file = |name: &str| self.folder.join(name).display().to_string();
        format!(
            "ssh -F /dev/null -i '{}' -o IdentitiesOnly=yes -o IdentityAgent=none \
             -o UserKnownHostsFile='{}' -o StrictHostKeyChecking={strict}",
            file("user"),
            file("known_hosts"),
        )
    }

    /// Makes the host unknown to the client.
    pub(super) fn forget_host(&self) {
        std::fs::write(self.folder.join("known_hosts"), "").expect("written");
    }

    /// Makes git find its programs on the other side, whatever the `PATH` of the server.
    pub(super) fn name_programs(&self, fixture: &Fixture) {
        let program = format!("{}/git-upload-pack", self.programs);
        fixture.git(&["config", "remote.there.uploadpack", &program]);
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

/// Writes the keys and the configuration of the server.
fn write_files(folder: &Path, port: u16) {
    let path = |name: &str| folder.join(name).display().to_string();
    for (name, passphrase) in [("host", ""), ("user", PASSPHRASE)] {
        let file = path(name);
        let arguments = ["-q", "-t", "ed25519", "-N", passphrase, "-f", &file];
        output("ssh-keygen", &arguments);
    }
    let public = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a key");
    let write = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).expect("written");
    };
    write("authorized_keys", public("user.pub"));
    write(
        "known_hosts",
        format!("[127.0.0.1]:{port} {}", public("host.pub")),
    );
    let (host, keys) = (path("host"), path("authorized_keys"));
    write(
        "config",
        format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {host}\nAuthorizedKeysFile {keys}\nPidFile none\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PermitRootLogin prohibit-password\nAllowTcpForwarding no\nX11Forwarding no\nLogLevel INFO\n"
        ),
    );
}

/// Starts the server and waits until it listens.
fn run_server(sshd: &Path, config: &Path) -> Child {
    let mut server = Command::new(sshd)
        .args(["-D", "-e", "-f"])
        .arg(config)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sshd starts");
    let mut lines = BufReader::new(server.stderr.take().expect("its log")).lines();
    let mut log = String::new();
    let listens = lines.by_ref().map_while(Result::ok).any(|line| {
        log.push_str(&line);
        line.contains("Server listening")
    });
    assert!(listens, "sshd does not listen: {log}");
    // A full pipe would stop the server.
    thread::spawn(move || lines.for_each(drop));
    server
}

/// Runs a program and returns its output.
fn output(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|error| panic!("{program}: {error}"));
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program}: {errors}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
