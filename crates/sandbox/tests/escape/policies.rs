//! Runs a program inside and outside, with the same environment.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use base::AbsPath;
use sandbox::{
    DeniedAccess, Network, Policy, ResourceLimits, SandboxError, SpawnRequest, UserEnvironment,
    names, start,
};

use crate::scene::{SECRET, Scene};

/// The result of a program.
pub(crate) struct Left {
    /// The exit code as a shell reports it.
    pub(crate) code: i32,
    /// Both output streams.
    pub(crate) output: String,
    pub(crate) denials: Vec<DeniedAccess>,
}

/// Returns the policy that agents run under.
pub(crate) fn usual(scene: &Scene) -> Policy {
    let path = |name: &str| AbsPath::new(scene.base.join(name)).expect("an absolute path");
    let person = UserEnvironment {
        home: path("home"),
        own: vec![path("home/state")],
        environment: [
            ("PATH".into(), crate::scene::PATH.into()),
            ("HOME".into(), scene.base.join("home").into()),
            ("GITHUB_TOKEN".into(), SECRET.into()),
        ]
        .into(),
    };
    let closed: Vec<&str> = names::closed().map(|name| name.path).collect();
    let mut policy = Policy::usual(scene.work(), &person, &closed);
    policy.environment.extend(scene.variables().iter().cloned());
    policy.limits = ResourceLimits {
        processes: Some(512),
        open_files: Some(1024),
        file_bytes: Some(64 << 20),
        memory: Some(512 << 20),
        cpu_seconds: Some(20),
        private_bytes: 32 << 20,
    };
    policy
}

/// The same with reachable hosts, none of them this machine.
pub(crate) fn with_hosts(scene: &Scene) -> Policy {
    let mut policy = usual(scene);
    let hosts = ["allowed.example", "*.allowed.example"];
    let hosts = hosts.map(|host| host.parse().expect("a host"));
    policy.network = Network::Hosts(hosts.into());
    policy
}

/// Runs a program under a policy, for at most `patience`.
pub(crate) fn inside(
    policy: &Policy,
    scene: &Scene,
    program: &str,
    arguments: &[&str],
    patience: Duration,
) -> Result<Left, SandboxError> {
    let mut output = tempfile::tempfile().expect("a file");
    let twin = |file: &File| OwnedFd::from(file.try_clone().expect("a descriptor"));
    let nothing = OwnedFd::from(File::open("/dev/null").expect("nothing"));
    let order = SpawnRequest {
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        folder: scene.work(),
        environment: Vec::new(),
        streams: [nothing, twin(&output), twin(&output)],
        terminal: false,
    };
    let running = start(policy, order)?;
    let ender = running.kill_handle();
    let (done, is_done) = mpsc::channel();
    let watch = thread::spawn(move || {
        if is_done.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            ender.kill();
        }
    });
    let finished = running.wait();
    done.send(()).ok();
    watch.join().expect("the watch");
    Ok(Left {
        code: finished.exit.code(),
        output: text(&mut output),
        denials: finished.denials,
    })
}

/// Runs a program without a sandbox.
pub(crate) fn outside(
    scene: &Scene,
    program: &str,
    arguments: &[&str],
    patience: Duration,
) -> Left {
    let mut output = tempfile::tempfile().expect("a file");
    let twin = || Stdio::from(output.try_clone().expect("a descriptor"));
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(scene.work())
        .env_clear()
        .env("GITHUB_TOKEN", SECRET)
        .envs(scene.variables().iter().cloned())
        .stdin(Stdio::null())
        .stdout(twin())
        .stderr(twin())
        .spawn()
        .expect("a program");
    let begun = Instant::now();
    let code = loop {
        match child.try_wait().expect("a child") {
            Some(status) => break status.code().unwrap_or(255),
            None if begun.elapsed() > patience => {
                child.kill().ok();
                child.wait().ok();
                break 254;
            }
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    Left {
        code,
        output: text(&mut output),
        denials: Vec::new(),
    }
}

pub(crate) fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().expect("rewound");
    file.take(1 << 20).read_to_end(&mut bytes).expect("read");
    String::from_utf8_lossy(&bytes).into_owned()
}
