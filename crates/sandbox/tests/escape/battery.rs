//! Runs every attempt, inside and outside, for every user.
//!
//! Each user's part runs in its own process that was started with a secret in its environment.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sandbox::scan::Quarantine;
use sandbox::{Policy, ScanBaseline};

use crate::attempts::{Attempt, Class, all};
use crate::effects::Before;
use crate::policies::{Left, inside, outside, usual, with_hosts};
use crate::scene::{Ground, KINDS, Kind, SECRET, Scene, git, has};

const PATIENCE: Duration = Duration::from_secs(20);

/// The id of an unprivileged user.
const NOBODY: u32 = 65534;

#[test]
fn no_attempt_escapes() {
    in_parts("battery::no_attempt_escapes", part);
}

static GROUNDS: AtomicUsize = AtomicUsize::new(0);

/// Runs `part` as the current user and, if that is root, also as an ordinary user.
pub(crate) fn in_parts(test: &str, part: fn()) {
    if std::env::var_os("BX_PART").is_some() {
        return part();
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
    // Other users may not be able to enter the build folder.
    let program = folder.path().join("program");
    // `cp` writes the copy: if this process held it open for writing while another test forked, the
    // copy could not be executed (`ETXTBSY`).
    let copied = Command::new("cp")
        .arg(std::env::current_exe().expect("myself"))
        .arg(&program)
        .status();
    assert!(copied.is_ok_and(|status| status.success()), "not copied");
    let own = rustix::process::getuid().as_raw();
    let users = if own == 0 { vec![0, NOBODY] } else { vec![own] };
    let mut failures = Vec::new();
    for user in users {
        let mut command = Command::new(&program);
        command
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env("BX_PART", user.to_string())
            .env("LAUNCHER_TOKEN", SECRET)
            .current_dir("/");
        // Tests run concurrently, and each removes its own.
        let number = GROUNDS.fetch_add(1, Ordering::Relaxed);
        // Differs from the scene's name: processes that carry the scene's name are killed with it.
        let name = format!("bx-part-{}-{number}", std::process::id());
        let ground = Path::new("/var/lib").join(name);
        if user != own {
            fs::create_dir_all(&ground).expect("a folder");
            chown(&ground, Some(user), Some(user)).expect("an owner");
            command
                .uid(user)
                .gid(user)
                .env("BX_GROUND", &ground)
                .env("HOME", &ground);
        }
        let status = command.status().expect("a part");
        if user != own {
            fs::remove_dir_all(&ground).ok();
        }
        if !status.success() {
            failures.push(user);
        }
    }
    assert!(failures.is_empty(), "it failed for the users {failures:?}");
}

/// Number of times a control is tried before it counts as ineffective.
const TRIES: usize = 5;

/// The result of one attempt in one scene.
#[derive(Default)]
struct Tally {
    inside: AtomicUsize,
    told: AtomicUsize,
    controls: AtomicUsize,
    skipped: Mutex<Vec<String>>,
    escapes: Mutex<Vec<String>>,
    lame: Mutex<Vec<String>>,
}

impl Tally {
    fn note(list: &Mutex<Vec<String>>, text: String) {
        list.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }
}

fn part() {
    let is_whole = std::env::var("BURIN_BATTERY").is_ok_and(|word| word == "all");
    let only = std::env::var("BX_ONLY").ok();
    let user = rustix::process::getuid().as_raw();
    let ground = Ground::new(&format!("battery-{user}"));
    let mut work = Vec::new();
    for (number, (class, attempt)) in all().into_iter().enumerate() {
        if only
            .as_ref()
            .is_some_and(|only| !attempt.name.contains(only.as_str()))
        {
            continue;
        }
        let kinds = if is_whole {
            KINDS.to_vec()
        } else if attempt.home != Kind::Plain || class == Class::Git {
            // If the attempt requires a scene, that one is used; otherwise they take turns.
            vec![attempt.home]
        } else {
            vec![KINDS[(number + user as usize) % KINDS.len()]]
        };
        work.extend(kinds.into_iter().map(|kind| (class, attempt, kind, false)));
        work.push((class, attempt, attempt.home, true));
    }
    let tally = Tally::default();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism()
            .map_or(2, usize::from)
            .clamp(2, 8)
        {
            scope.spawn(|| {
                while let Some((class, attempt, kind, is_control)) =
                    work.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    if *is_control {
                        control(*class, attempt, &ground, &tally)
                    } else {
                        attack(*class, attempt, *kind, &ground, &tally)
                    }
                }
            });
        }
    });
    report(user, tally);
}

fn report(user: u32, tally: Tally) {
    let list = |list: Mutex<Vec<String>>| {
        let mut list = list.into_inner().unwrap_or_else(PoisonError::into_inner);
        list.sort();
        list
    };
    let (skipped, escapes, lame) = (list(tally.skipped), list(tally.escapes), list(tally.lame));
    println!(
        "user {user}: {} attempts inside, {} of them told as denials, {} escapes; {} controls outside, {} without effect",
        tally.inside.into_inner(),
        tally.told.into_inner(),
        escapes.len(),
        tally.controls.into_inner(),
        lame.len(),
    );
    for line in &skipped {
        println!("  not attempted: {line}");
    }
    let failures = [("escaped", escapes), ("has a control without effect", lame)];
    let failures: Vec<String> = failures
        .into_iter()
        .flat_map(|(what, list)| list.into_iter().map(move |line| format!("{what}: {line}")))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn policy(attempt: &Attempt, scene: &Scene) -> Policy {
    if attempt.has_hosts {
        with_hosts(scene)
    } else {
        usual(scene)
    }
}

fn is_missing(attempt: &Attempt, tally: &Tally) -> bool {
    let is_missing = !attempt.tool.is_empty() && !has(attempt.tool);
    if is_missing {
        let why = format!("{}: there is no {}", attempt.name, attempt.tool);
        Tally::note(&tally.skipped, why);
    }
    is_missing
}

fn attack(class: Class, attempt: &Attempt, kind: Kind, ground: &Ground, tally: &Tally) {
    if is_missing(attempt, tally) {
        return;
    }
    let mut scene = ground.scene(kind);
    let before = Before::of(&scene);
    let control = ScanBaseline::of(&scene.work(), &[]);
    let policy = policy(attempt, &scene);
    let left = inside(
        &policy,
        &scene,
        attempt.program,
        &[attempt.flag, attempt.text],
        PATIENCE,
    );
    let left = match left {
        Ok(left) => left,
        Err(refused) => {
            let why = format!(
                "{:?} {} ({kind:?}): refused, {refused}",
                class, attempt.name
            );
            return Tally::note(&tally.escapes, why);
        }
    };
    tally.inside.fetch_add(1, Ordering::Relaxed);
    if !left.denials.is_empty() {
        tally.told.fetch_add(1, Ordering::Relaxed);
    }
    let mut effects = before.effects(&mut scene, &left.output);
    if class == Class::Git {
        effects.extend(after_the_scan(&control, &scene));
    }
    if !effects.is_empty() {
        let said = said(&left);
        let why = format!(
            "{:?} {} ({kind:?}): {}{said}",
            class,
            attempt.name,
            effects.join("; ")
        );
        Tally::note(&tally.escapes, why);
    }
}

/// Quarantines everything that would run, and runs the user's git.
pub(crate) fn after_the_scan(control: &ScanBaseline, scene: &Scene) -> Vec<String> {
    let mut found = control.changes();
    found.retain(sandbox::scan::Finding::is_armed);
    let aside = base::AbsPath::new(scene.base.join("aside")).expect("an absolute path");
    let mut effects = Vec::new();
    if let Err(error) = Quarantine::isolate(&found, &scene.work(), &aside, &host::RealFiles) {
        effects.push(format!("cannot be put aside: {error}"));
    }
    if fired(scene) {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        effects.push(format!("the person's git ran it, after {found:?}"));
    }
    effects
}

/// Runs every git command that users run, everywhere, and returns whether something was executed.
pub(crate) fn fired(scene: &Scene) -> bool {
    let work = fs::canonicalize(scene.work()).expect("a workspace");
    let mut folders = vec![
        work.clone(),
        scene.base.join("hub"),
        scene.base.join("other"),
    ];
    within(&work, 0, &mut folders);
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for arguments in [
            &["status"][..],
            &["diff"],
            &["-c", "core.editor=true", "commit", "-qam", "mine"],
        ] {
            git(folder, &scene.base.join("home"), arguments);
        }
    }
    scene.base.join("fired").exists()
}

/// Folders in which a user may run git.
fn within(folder: &Path, depth: usize, folders: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && entry.file_name() != ".git" && depth < 2 {
            if entry.path().join(".git").exists() || entry.path().join("HEAD").exists() {
                folders.push(entry.path());
            }
            within(&entry.path(), depth + 1, folders);
        }
    }
}

fn control(class: Class, attempt: &Attempt, ground: &Ground, tally: &Tally) {
    if !attempt.no_control.is_empty() {
        let why = format!("the control of {}: {}", attempt.name, attempt.no_control);
        return Tally::note(&tally.skipped, why);
    }
    if attempt.is_for_root && !rustix::process::getuid().is_root() || is_missing(attempt, tally) {
        return;
    }
    tally.controls.fetch_add(1, Ordering::Relaxed);
    // A race is not won each time.
    let tries = (0..TRIES).map(|_| without(class, attempt, ground));
    let mut lost = None;
    for tried in tries {
        match tried {
            Ok(()) => return,
            Err(said) => lost = Some(said),
        }
    }
    let said = lost.unwrap_or_default();
    Tally::note(&tally.lame, format!("{:?} {}{said}", class, attempt.name));
}

/// Tries without a sandbox; returns the output if that had no effect.
fn without(class: Class, attempt: &Attempt, ground: &Ground) -> Result<(), String> {
    let mut scene = ground.scene(attempt.home);
    let before = Before::of(&scene);
    let left = outside(
        &scene,
        attempt.program,
        &[attempt.flag, attempt.text],
        PATIENCE,
    );
    let mut effects = before.effects(&mut scene, &left.output);
    if class == Class::Git && effects.is_empty() && fired(&scene) {
        effects.push("the person's git ran it".to_owned());
    }
    if effects.is_empty() {
        Err(said(&left))
    } else {
        Ok(())
    }
}

fn said(left: &Left) -> String {
    let end = left.output.len().saturating_sub(300);
    let end = (end..left.output.len()).find(|at| left.output.is_char_boundary(*at));
    let end = &left.output[end.unwrap_or(left.output.len())..];
    format!(
        "\n    ended with {} and said {end:?}, denials {:?}",
        left.code, left.denials
    )
}

#[test]
fn the_leaked_descriptor_is_open_in_the_control() {
    // If it closed by itself, the attempts to read it would not be conclusive.
    let ground = Ground::new("leak");
    let scene = ground.scene(Kind::NoGit);
    let left = outside(&scene, "/bin/sh", &["-c", "cat /proc/self/fd/$F"], PATIENCE);
    assert!(left.output.contains(SECRET), "{}", left.output);
    assert_eq!(
        fs::metadata(&scene.base).expect("a scene").uid(),
        rustix::process::getuid().as_raw()
    );
}
