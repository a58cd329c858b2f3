//! What a start costs: a bare command, a sandbox from nothing, an order in a room, and bubblewrap with
//! the same binds where it is installed. All variants are measured in turn, so that a busy moment hits
//! them alike.
#![expect(clippy::print_stdout, reason = "a measurement is for reading")]
#![expect(
    clippy::disallowed_methods,
    reason = "clocks and processes are what is measured"
)]

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base::AbsPath;
use sandbox::{End, Order, Person, Policy, Room};

/// One way to run `true`.
struct Variant<'a> {
    name: &'static str,
    run: Box<dyn Fn() -> bool + 'a>,
    took: Vec<Duration>,
}

fn main() {
    sandbox::prepare();
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let rounds = rounds.unwrap_or(300);
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let policy = policy(folder.path());
    let room = Room::open(&policy).unwrap_or_else(|refused| panic!("{refused}"));
    let mut variants = variants(&policy, &room);
    measure(&mut variants, rounds);
    report(&mut variants);
    println!(
        "room: {:.0} starts/s one after the other",
        per_second(&policy, &room, rounds)
    );
}

fn policy(workspace: &Path) -> Policy {
    let home = std::env::var_os("HOME").unwrap_or("/root".into());
    let person = Person {
        home: AbsPath::new(home).expect("an absolute home"),
        own: Vec::new(),
        environment: std::env::vars_os().collect(),
    };
    let workspace = AbsPath::new(workspace).expect("an absolute workspace");
    Policy::usual(workspace, &person, &[".vscode", ".envrc"])
}

fn order(folder: &AbsPath) -> Order {
    let nothing = || File::options().read(true).write(true).open("/dev/null");
    let streams = [(); 3].map(|()| nothing().expect("nothing").into());
    Order {
        program: "/bin/true".into(),
        arguments: Vec::new(),
        folder: folder.clone(),
        environment: Vec::new(),
        streams,
        terminal: false,
    }
}

fn variants<'a>(policy: &'a Policy, room: &'a Room) -> Vec<Variant<'a>> {
    let workspace = &policy.workspace;
    let mut variants = vec![
        variant("fork and exec", || {
            Command::new("/bin/true").status().is_ok()
        }),
        variant("room", || {
            let running = room.start(order(workspace)).expect("an order");
            running.wait().end == End::Exit(0)
        }),
        variant("from nothing", || {
            let running = sandbox::start(policy, order(workspace)).expect("an order");
            running.wait().end == End::Exit(0)
        }),
    ];
    if Command::new("bwrap").arg("--version").output().is_ok() {
        let arguments = bubblewrap(policy);
        variants.push(variant("bubblewrap", move || {
            let mut command = Command::new("bwrap");
            command.args(&arguments).stderr(Stdio::inherit());
            command.status().is_ok_and(|status| status.success())
        }));
    }
    variants
}

fn variant<'a>(name: &'static str, run: impl Fn() -> bool + 'a) -> Variant<'a> {
    let (run, took) = (Box::new(run), Vec::new());
    Variant { name, run, took }
}

/// The same view of the disk, told to bubblewrap.
fn bubblewrap(policy: &Policy) -> Vec<String> {
    let mut told: Vec<String> =
        "--unshare-all --die-with-parent --new-session --ro-bind / / --dev /dev \
        --proc /proc --tmpfs /tmp --tmpfs /run --tmpfs /var/tmp"
            .split_whitespace()
            .map(str::to_owned)
            .collect();
    let mut tell = |words: &[&str]| told.extend(words.iter().map(|word| (*word).to_owned()));
    let workspace = policy.workspace.to_string();
    tell(&["--bind", &workspace, &workspace]);
    for path in policy.hidden.iter().chain(&policy.scratch) {
        let text = path.to_string();
        if path.as_path().is_dir() {
            tell(&["--tmpfs", &text]);
        } else if path.as_path().is_file() {
            tell(&["--ro-bind", "/dev/null", &text]);
        }
    }
    tell(&["/bin/true"]);
    told
}

/// Runs every variant once a round.
fn measure(variants: &mut [Variant<'_>], rounds: usize) {
    for round in 0..rounds + 10 {
        for variant in variants.iter_mut() {
            let before = Instant::now();
            assert!((variant.run)(), "{} failed", variant.name);
            let took = before.elapsed();
            // The first rounds warm what there is to warm.
            if round >= 10 {
                variant.took.push(took);
            }
        }
    }
}

fn report(variants: &mut [Variant<'_>]) {
    let mut bare = None;
    for variant in variants {
        variant.took.sort();
        let at = |part: usize| variant.took[variant.took.len() * part / 100].as_secs_f64() * 1e3;
        let bare = *bare.get_or_insert(at(50));
        println!(
            "{:>14}: p10 {:.2} ms, p50 {:.2} ms, p90 {:.2} ms, {:.2} x bare",
            variant.name,
            at(10),
            at(50),
            at(90),
            at(50) / bare
        );
    }
}

fn per_second(policy: &Policy, room: &Room, rounds: usize) -> f64 {
    let before = Instant::now();
    for _ in 0..rounds {
        room.start(order(&policy.workspace))
            .expect("an order")
            .wait();
    }
    rounds as f64 / before.elapsed().as_secs_f64()
}
