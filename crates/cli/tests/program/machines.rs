//! Agents of another machine through a real OpenSSH server of its own, which listens on a high port of
//! this computer: sessions survive cuts of the connection, and nothing is left behind.
//!
//! `BURIN_CUTS` sets the number of cuts: half of them kill the client of ssh, half the server's process for
//! the connection.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::home::{Home, Left};

/// The name of the machine in the settings.
const FAR: &str = "far";
/// Calls of a session, each of which appends a line to a file.
const CALLS: usize = 8;
/// Maximum time for processes to start or end.
const LINGERS: Duration = Duration::from_secs(20);

#[test]
fn sessions_of_another_machine_survive_cuts_of_the_connection() {
    let Some(world) = World::new() else {
        return;
    };
    let asked = std::env::var("BURIN_CUTS").ok();
    let cuts = asked.and_then(|it| it.parse::<usize>().ok()).unwrap_or(4);
    let mut dice = Dice(0x5eed_0021);
    let (mut done, mut sessions, mut reconnects) = (0, 0, 0);
    let start = Instant::now();
    while done < cuts {
        let (made, seen) = world.session_with_cuts(&mut dice, done, cuts);
        (done, sessions, reconnects) = (done + made, sessions + 1, reconnects + seen);
        assert!(sessions <= cuts + 20, "the connection is never cut");
    }
    eprintln!(
        "{done} cuts in {sessions} sessions, {reconnects} reported, in {:?}",
        start.elapsed()
    );
    world.end();
}

#[test]
fn a_proxy_ends_with_its_input_and_stops_nothing() {
    let home = Home::new(&rules());
    let mut child = home.start(&["serve", "--stdio"], Stdio::piped());
    let output = child.stdout.take().expect("an output");
    let mut line = String::new();
    BufReader::new(output)
        .read_line(&mut line)
        .expect("a line of the proxy");
    assert_eq!(line, "burin-agent: connected\n");
    let status = |home: &Home| home.run(&["serve", "--status"]);
    assert_eq!(status(&home).code, Some(0), "the process was started");
    drop(child.stdin.take());
    assert!(child.wait().expect("its end").success());
    let left = status(&home);
    assert!(left.output.contains("connected programs: 0"), "{left:?}");
    let left = home.run(&["serve", "--stop"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    wait_until("the process ends", || status(&home).code == Some(1));
}

#[test]
fn sessions_of_another_machine_are_listed_shown_and_marked() {
    let Some(world) = World::new() else {
        return;
    };
    let left = world.near_run(&["run", "--machine", FAR, "--model", "mock/m", "go on"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(left.output.contains("All done."), "{left:?}");
    let listed = world.listed();
    let [session] = listed.as_slice() else {
        panic!("{listed:?}");
    };
    assert_eq!(session["state"], "done");
    let id = session["id"].as_str().expect("an id");
    let shown = world.near_run(&["sessions", "show", id, "--machine", FAR]);
    assert!(shown.output.contains("All done."), "{shown:?}");
    let attached = world.near_run(&["run", "--machine", FAR, "--resume", id]);
    assert_eq!(attached.code, Some(0), "{attached:?}");
    let count = attached.output.matches("✓ exec_command").count();
    assert_eq!(count, CALLS, "{attached:?}");
    let archived = world.near_run(&["sessions", "archive", id, "--machine", FAR]);
    assert_eq!(archived.code, Some(0), "{archived:?}");
    assert!(world.listed().is_empty());
    let refused = world.near_run(&["sessions", "keep", id, "--machine", FAR]);
    assert!(refused.errors.contains("run it there"), "{refused:?}");
    let unknown = world.near_run(&["sessions", "list", "--machine", "moon"]);
    let words = format!("the machines in `agents.machines` are {FAR}");
    assert!(unknown.errors.contains(&words), "{unknown:?}");
    world.end();
}

#[test]
fn a_machine_that_refuses_the_key_is_named_with_the_reason() {
    let Some(world) = World::new() else {
        return;
    };
    std::fs::write(world.far.path("ssh/authorized_keys"), "").expect("written");
    let left = world.near_run(&["sessions", "list", "--machine", FAR]);
    assert_eq!(left.code, Some(1));
    let is_explained = left.errors.contains("\"far\" cannot be reached")
        && left.errors.contains("Permission denied");
    assert!(is_explained, "{left:?}");
    // A host key that is not the known one.
    std::fs::write(world.far.path("ssh/known_hosts"), "").expect("written");
    let left = world.near_run(&["sessions", "list", "--machine", FAR]);
    assert!(
        left.errors.contains("Host key verification failed"),
        "{left:?}"
    );
}

/// The rules of the model: it calls a command some times, and is done.
fn rules() -> Value {
    let command = "echo {step} >> calls.txt; sleep 0.1";
    let call = json!({ "call": { "tool": "exec_command", "arguments": { "command": command } } });
    let steps = (1..=CALLS).map(|step| {
        let text = call.to_string().replace("{step}", &step.to_string());
        let reply: Value = serde_json::from_str(&text).expect("JSON");
        json!({ "match": { "step": step }, "reply": [reply] })
    });
    let end = json!({ "reply": [{ "text": "All done." }] });
    Value::Array(steps.chain([end]).collect())
}

/// A machine with the agents, its SSH server, and this computer.
struct World {
    near: Home,
    far: Home,
    server: Child,
}

impl World {
    /// Starts the machine. Returns `None` if this computer has no SSH server, after it reported the skip.
    fn new() -> Option<Self> {
        let sshd = ["/usr/sbin/sshd", "/usr/bin/sshd"].map(Path::new);
        let Some(sshd) = sshd.into_iter().find(|path| path.exists()) else {
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
        let far = Home::new(&rules());
        far.allow(&["Bash"]);
        let near = Home::new(&rules());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port().to_string();
        let server = start_server(&far, sshd, &port, listener);
        let program = far.path("ssh/agent");
        write_program(&far, &program);
        let file = |name: &str| far.path("ssh").join(name).display().to_string();
        let known = format!("UserKnownHostsFile={}", file("known_hosts"));
        let words = [
            "-F",
            "/dev/null",
            "-p",
            &port,
            "-i",
            &file("user"),
            "-o",
            "IdentitiesOnly=yes",
        ];
        let strict = ["-o", "StrictHostKeyChecking=yes", "-o", &known];
        let options: Vec<&str> = words.into_iter().chain(strict).collect();
        let machine = json!({
            "host": format!("{user}@127.0.0.1"), "folder": far.path("project"), "program": program,
            "ssh_options": options
        });
        let settings = json!({ "agents": { "machines": { FAR: machine } } });
        near.write("config/settings.json", &settings.to_string());
        Some(Self { near, far, server })
    }

    fn near_run(&self, arguments: &[&str]) -> Left {
        self.near.run(arguments)
    }

    /// Returns the sessions of the machine.
    fn listed(&self) -> Vec<Value> {
        let left = self.near_run(&["sessions", "list", "--json", "--machine", FAR]);
        assert_eq!(left.code, Some(0), "{left:?}");
        serde_json::from_str(&left.output).expect("a list")
    }

    /// Runs a session to its end while the connection is cut at random moments. Returns the number of cuts,
    /// and of those that the program reported.
    fn session_with_cuts(&self, dice: &mut Dice, before: usize, wanted: usize) -> (usize, usize) {
        let calls = self.far.path("project/calls.txt");
        std::fs::remove_file(&calls).ok();
        let arguments = [
            "run",
            "--machine",
            FAR,
            "--model",
            "mock/m",
            "--json",
            "go on",
        ];
        let mut child = self.near.start(&arguments, Stdio::piped());
        let output = BufReader::new(child.stdout.take().expect("an output"));
        let events: Arc<Mutex<Vec<Value>>> = Arc::default();
        let has_begun = Arc::new(AtomicBool::new(false));
        let reader = {
            let (events, has_begun) = (events.clone(), has_begun.clone());
            thread::spawn(move || {
                for line in output.lines() {
                    let line = line.expect("a line");
                    let event = serde_json::from_str(&line).expect("JSON");
                    events.lock().expect("not poisoned").push(event);
                    has_begun.store(true, Ordering::Relaxed);
                }
            })
        };
        wait_until("the session begins", || {
            has_begun.load(Ordering::Relaxed) || child.try_wait().is_ok_and(|it| it.is_some())
        });
        let mut cuts = 0;
        while before + cuts < wanted && child.try_wait().expect("its state").is_none() {
            thread::sleep(dice.within(Duration::from_millis(400)));
            let number = before + cuts;
            let seen = events.lock().expect("not poisoned").len();
            if !self.cut(child.id(), number) {
                continue;
            }
            cuts += 1;
            // Every fifth cut is followed by one while the program connects again.
            while number % 5 != 4 && child.try_wait().expect("its state").is_none() {
                if events.lock().expect("not poisoned").len() > seen {
                    break;
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
        reader.join().expect("read");
        let mut errors = String::new();
        let pipe = child.stderr.take().expect("errors");
        for line in BufReader::new(pipe).lines() {
            errors.push_str(&line.expect("a line"));
            errors.push('\n');
        }
        let what = format!("session with {cuts} cuts after {before}");
        let status = child.wait().expect("its end");
        let events = std::mem::take(&mut *events.lock().expect("not poisoned"));
        assert!(status.success(), "{what}: {errors}\n{events:?}");
        self.check(&events, &what);
        let lines = std::fs::read_to_string(&calls).expect("the calls ran");
        let expected: Vec<String> = (1..=CALLS).map(|step| step.to_string()).collect();
        let found: Vec<&str> = lines.lines().collect();
        assert_eq!(found, expected, "{what}: a call ran twice or never");
        (cuts, errors.matches("cannot be reached").count())
    }

    /// Asserts that each record came once, in order and to the end, as the machine has them.
    fn check(&self, events: &[Value], what: &str) {
        let session = events.iter().find(|event| event["event"] == "session");
        let id = session
            .and_then(|event| event["id"].as_str())
            .expect("an id");
        let records = events.iter().filter(|event| event["event"] == "record");
        let records: Vec<&Value> = records.map(|event| &event["record"]).collect();
        let numbers: Vec<u64> = records.iter().filter_map(|it| it["seq"].as_u64()).collect();
        let expected: Vec<u64> = (0..numbers.len() as u64).collect();
        assert_eq!(
            numbers, expected,
            "{what}: a record is missing or came twice"
        );
        let stored = self.far.run(&["sessions", "export", id]);
        let stored: Vec<Value> = stored
            .output
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let stored: Vec<&Value> = stored.iter().collect();
        assert_eq!(records, stored[..records.len()], "{what}");
        let is_end = |record: &&Value| record["kind"] == "turn_ended";
        assert!(
            stored[records.len()..].iter().all(|it| !is_end(it)),
            "{what}: the view did not catch up"
        );
    }

    /// Kills the client of ssh that `program` started, or the server's process for the connection. Returns
    /// whether there was one.
    fn cut(&self, program: u32, number: usize) -> bool {
        let is_victim = |process: &ProcessEntry| match number % 2 {
            0 => process.parent == program && process.line.starts_with("ssh "),
            _ => process.parent == self.server.id(),
        };
        let victims: Vec<ProcessEntry> = processes().into_iter().filter(is_victim).collect();
        for process in &victims {
            let pid = process.pid.to_string();
            // It may have ended meanwhile.
            Command::new("kill").args(["-9", &pid]).output().ok();
        }
        !victims.is_empty()
    }

    /// Ends the background process, and asserts that nothing of the machine runs any more.
    fn end(&self) {
        let proxies = || {
            let place = self.far.path("").display().to_string();
            let all = processes().into_iter();
            let ours = all
                .filter(|it| it.line.contains("serve --stdio") && it.environment.contains(&place));
            ours.map(|it| it.line).collect::<Vec<_>>()
        };
        wait_until("the proxies end", || proxies().is_empty());
        let stopped = self.far.run(&["serve", "--stop", "--force"]);
        assert_eq!(stopped.code, Some(0), "{stopped:?}");
        let place = self.far.path("state").display().to_string();
        wait_until("the background process ends", || {
            let all = processes();
            !all.iter().any(|it| it.environment.contains(&place))
        });
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind either.
        self.far.run(&["serve", "--stop", "--force"]);
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

/// Starts the SSH server with keys of its own, and waits until it listens.
fn start_server(far: &Home, sshd: &Path, port: &str, listener: TcpListener) -> Child {
    let folder = far.path("ssh");
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in ["host", "user"] {
        let file = folder.join(name).display().to_string();
        output(
            "ssh-keygen",
            &["-q", "-t", "ed25519", "-N", "", "-f", &file],
        );
    }
    let public = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a key");
    std::fs::copy(folder.join("user.pub"), folder.join("authorized_keys")).expect("copied");
    let known = format!("[127.0.0.1]:{port} {}", public("host.pub"));
    std::fs::write(folder.join("known_hosts"), known).expect("written");
    let path = |name: &str| folder.join(name).display().to_string();
    let config = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
         UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n\
         AllowTcpForwarding no\nX11Forwarding no\nMaxStartups 100\nLogLevel INFO\n",
        path("host"),
        path("authorized_keys"),
    );
    std::fs::write(folder.join("config"), config).expect("written");
    drop(listener);
    let mut server = Command::new(sshd)
        .args(["-D", "-e", "-f", &path("config")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sshd starts");
    let mut lines = BufReader::new(server.stderr.take().expect("its log")).lines();
    let mut said = String::new();
    let listens = lines.by_ref().map_while(Result::ok).any(|line| {
        said.push_str(&line);
        line.contains("Server listening")
    });
    assert!(listens, "sshd does not listen: {said}");
    // A full pipe would stop the server.
    thread::spawn(move || lines.for_each(drop));
    server
}

/// Writes the program that the machine runs: ours, with the folders of that machine.
fn write_program(far: &Home, path: &Path) {
    let program = std::env::var_os("CARGO_BIN_EXE_burin-agent").expect("a path from Cargo");
    let folder = |name: &str| far.path(name).display().to_string();
    let text = format!(
        "#!/bin/sh\nexport MOCK_KEY=any HOME='{}' BURIN_CONFIG_DIR='{}' BURIN_STATE_DIR='{}' BURIN_CACHE_DIR='{}'\n\
         exec '{}' \"$@\"\n",
        folder(""),
        folder("config"),
        folder("state"),
        folder("cache"),
        PathBuf::from(program).display()
    );
    let mut file = std::fs::File::create(path).expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    let mode = std::fs::Permissions::from_mode(0o755);
    file.set_permissions(mode).expect("executable");
}

/// A running process.
struct ProcessEntry {
    pid: u32,
    parent: u32,
    /// Its command line; the title of a process of sshd.
    line: String,
    environment: String,
}

fn processes() -> Vec<ProcessEntry> {
    let entries = std::fs::read_dir("/proc").expect("the processes").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter_map(|pid| {
            let file = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).ok();
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', " ");
            let stat = text(file("stat")?);
            let mut fields = stat.rsplit_once(") ")?.1.split(' ');
            let is_dead = fields.next()?.starts_with(['Z', 'X']);
            let entry = ProcessEntry {
                pid,
                parent: fields.next()?.parse().ok()?,
                line: text(file("cmdline")?),
                environment: text(file("environ").unwrap_or_default()),
            };
            (!is_dead).then_some(entry)
        })
        .collect()
}

/// Runs a program and returns its output.
fn output(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|error| panic!("{program}: {error}"));
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program}: {errors}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + LINGERS;
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within {LINGERS:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A random number generator (xorshift64*) with the same numbers in each run.
struct Dice(u64);

impl Dice {
    fn within(&mut self, bound: Duration) -> Duration {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let micros = u64::try_from(bound.as_micros()).expect("a short time");
        Duration::from_micros((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % micros.max(1))
    }
}
