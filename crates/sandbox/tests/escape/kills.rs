//! Kills the program that started a sandbox at any moment, and checks that nothing remains.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::effects::{Before, survivors};
use crate::policies::{inside, text, usual};
use crate::scene::{Ground, Kind, Scene};

fn kills() -> u64 {
    let given = std::env::var("BURIN_KILLS").ok();
    given.and_then(|number| number.parse().ok()).unwrap_or(40)
}

#[test]
fn nothing_remains_when_the_program_is_killed() {
    if let Ok(base) = std::env::var("BX_KILLED") {
        return be_killed(&base);
    }
    let ground = Ground::new("kills");
    let mut is_up = 0;
    for seed in 0..kills() {
        let scene = ground.scene([Kind::Plain, Kind::NoGit, Kind::Linked][seed as usize % 3]);
        is_up += usize::from(kill_once(seed, scene));
    }
    println!("{} kills, {is_up} of them while the command ran", kills());
    assert!(is_up > 0, "no command was ever up");
}

/// Starts, kills and checks; returns whether the command was running by then.
fn kill_once(seed: u64, mut scene: Scene) -> bool {
    let before = Before::of(&scene);
    let mounts = mounts(&scene);
    let mut random = StdRng::seed_from_u64(seed);
    let mut said = tempfile::tempfile().expect("a file");
    let errors = Stdio::from(said.try_clone().expect("a descriptor"));
    let mut child = Command::new(std::env::current_exe().expect("myself"))
        .args([
            "--exact",
            "kills::nothing_remains_when_the_program_is_killed",
            "--nocapture",
        ])
        .env("BX_KILLED", &scene.base)
        .env("BX_MARK", &scene.shared)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors)
        .spawn()
        .expect("a program");
    let up = scene.base.join("work/up");
    if random.random_bool(0.5) {
        // At some point while the sandbox is set up.
        thread::sleep(Duration::from_micros(random.random_range(0..60_000)))
    } else {
        wait_for(|| up.exists());
        thread::sleep(Duration::from_micros(random.random_range(0..5_000)));
    }
    let was_up = up.exists();
    child.kill().expect("killed");
    let status = child.wait().expect("an end");
    remove_what_no_sandbox_made(child.id());
    assert_eq!(
        status.signal(),
        Some(9),
        "seed {seed}: it ended by itself: {status}, {}",
        text(&mut said)
    );
    let is_gone = wait_for(|| survivors(&scene.shared).is_empty());
    assert!(
        is_gone,
        "seed {seed}: processes {:?} are left",
        survivors(&scene.shared)
    );
    assert_eq!(self::mounts(&scene), mounts, "seed {seed}");
    // Its empty cache folders in the home stay: no process is left to remove them.
    let is_cache = |effect: &String| {
        effect.starts_with("home/") && effect.contains("None is Some(\"folder 40700")
    };
    let mut effects = before.effects(&mut scene, "");
    effects.retain(|effect| !is_cache(effect));
    assert_eq!(effects, Vec::<String>::new(), "seed {seed}");
    let names = fs::read_dir(scene.base.join("work")).expect("a folder");
    let names: Vec<String> = names
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !matches!(name.as_str(), ".git" | "src" | "README.md" | "a.txt" | "up"))
        .collect();
    assert_eq!(names, Vec::<String>::new(), "seed {seed}: stubs");
    was_up
}

/// The scene that the killed program had created for itself and could not remove.
fn remove_what_no_sandbox_made(process: u32) {
    let ground = format!("bx-killed-{process}");
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let victim = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let is_in_it = fs::read_link(entry.path().join("cwd"))
            .is_ok_and(|folder| folder.to_string_lossy().contains(&ground));
        if let Some(victim) = victim.and_then(rustix::process::Pid::from_raw)
            && is_in_it
        {
            rustix::process::kill_process(victim, rustix::process::Signal::KILL).ok();
        }
    }
    Ground::remove(&ground);
    let shared = format!("bx-{process}-");
    for folder in ["/tmp", "/var/tmp", "/dev/shm"] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&shared) {
                fs::remove_file(entry.path()).ok();
            }
        }
    }
}

fn wait_for(is_so: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        if is_so() {
            return true;
        }
        thread::sleep(Duration::from_millis(1));
    }
    is_so()
}

/// Returns the mounts of this machine that belong to a scene.
fn mounts(scene: &Scene) -> Vec<String> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let base = scene.base.to_string_lossy().into_owned();
    table
        .lines()
        .filter(|line| line.contains(&base))
        .map(str::to_owned)
        .collect()
}

/// The program to be killed: opens a sandbox in another one's scene, and stays.
fn be_killed(base: &str) {
    let ground = Ground::new("killed");
    let mut scene = ground.scene(Kind::NoGit);
    let own = std::mem::replace(&mut scene.base, base.into());
    let mark = std::env::var("BX_MARK").expect("a mark");
    let script = format!("touch up; (setsid sh -c 'sleep 46; : {mark}' &); sleep 46; : {mark}");
    let left = inside(
        &usual(&scene),
        &scene,
        "/bin/sh",
        &["-c", &script],
        Duration::from_secs(60),
    );
    scene.base = own;
    panic!("it was to be killed: {:?}", left.map(|left| left.output));
}
