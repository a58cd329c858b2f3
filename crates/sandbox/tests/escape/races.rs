//! Races: links are swapped while a shell inside, and the file tools outside, write through their
//! name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use base::AbsPath;
use host::{ExpectedContent, Files, RealFiles, SaveRequest};

use crate::policies::{inside, usual};
use crate::scene::{Ground, Kind};

fn races() -> usize {
    let given = std::env::var("BURIN_RACES").ok();
    given.and_then(|number| number.parse().ok()).unwrap_or(1000)
}

/// Asserts that a folder contains nothing new.
fn untouched(folder: &Path) -> bool {
    let names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let is_known = |name: &String| matches!(name.as_str(), "file.txt" | "folder" | "empty");
    names.iter().all(is_known)
        && fs::read_to_string(folder.join("file.txt")).is_ok_and(|text| text == "outside\n")
        && fs::read(folder.join("empty")).is_ok_and(|text| text.is_empty())
}

#[test]
fn file_tools_never_write_through_swapped_links() {
    let ground = Ground::new("races");
    let scene = ground.scene(Kind::Plain);
    let work = AbsPath::new(fs::canonicalize(scene.work()).expect("a folder")).expect("absolute");
    let outside = scene.base.join("outside");
    let tools = RealFiles
        .open_beneath(&work)
        .expect("files beneath a folder");
    let is_over = AtomicBool::new(false);
    let (mut written, mut refused) = (0, 0);
    thread::scope(|scope| {
        // A thread that replaces a name alternately by a folder and a link that leads out, and a
        // file by a file and a link.
        scope.spawn(|| {
            let (name, file) = (work.join("d"), work.join("f"));
            while !is_over.load(Ordering::Relaxed) {
                fs::create_dir(&name).ok();
                // Never follows a link: this is the code that plants them.
                fs::File::create_new(&file).ok();
                thread::yield_now();
                fs::remove_dir_all(&name).ok();
                fs::remove_file(&file).ok();
                symlink(&outside, &name).ok();
                symlink(outside.join("file.txt"), &file).ok();
                thread::yield_now();
                fs::remove_file(&name).ok();
                fs::remove_file(&file).ok();
            }
        });
        for number in 0..races() {
            let path = match number % 4 {
                0 => work.join("d/new.txt"),
                1 => work.join("d/file.txt"),
                2 => work.join("f"),
                _ => work.join("d/deep/new.txt"),
            };
            let done = match number % 5 {
                0 => tools.create_file(&path),
                1 => tools.create_folder(&path),
                2 | 3 => tools.remove(&path),
                _ => {
                    let recovery = work.join("recovery");
                    let request = SaveRequest {
                        path: &path,
                        content: b"raced",
                        expected: ExpectedContent::Anything,
                        recovery_folder: &recovery,
                    };
                    tools.save(&request).map(|_| ())
                }
            };
            match done {
                Ok(()) => written += 1,
                Err(_) => refused += 1,
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    println!(
        "{} races of file tools: {written} done within, {refused} refused",
        races()
    );
    let names: Vec<_> = fs::read_dir(&outside)
        .expect("a folder")
        .flatten()
        .collect();
    let text = fs::read_to_string(outside.join("file.txt"));
    assert!(untouched(&outside), "{names:?}, file.txt holds {text:?}");
    assert!(
        written > 0 && refused > 0,
        "the swapping did not meet the writing"
    );
}

#[test]
fn a_shell_never_writes_through_swapped_links() {
    let ground = Ground::new("shells");
    let scene = ground.scene(Kind::Plain);
    let work = fs::canonicalize(scene.work()).expect("a folder");
    let outside = scene.base.join("outside");
    let is_over = AtomicBool::new(false);
    let script = format!(
        "i=0; ok=0; while [ $i -lt {} ]; do echo x 2>/dev/null > d/new.txt && ok=$((ok+1)); echo x 2>/dev/null > f; i=$((i+1)); done; echo $ok",
        races()
    );
    let left = thread::scope(|scope| {
        scope.spawn(|| {
            let (name, file) = (work.join("d"), work.join("f"));
            while !is_over.load(Ordering::Relaxed) {
                fs::create_dir(&name).ok();
                thread::yield_now();
                fs::remove_dir_all(&name).ok();
                fs::remove_file(&file).ok();
                symlink(&outside, &name).ok();
                symlink(outside.join("file.txt"), &file).ok();
                thread::yield_now();
                fs::remove_file(&name).ok();
                fs::remove_file(&file).ok();
            }
        });
        let mut policy = usual(&scene);
        policy.limits.cpu_seconds = None;
        let left = inside(
            &policy,
            &scene,
            "/bin/sh",
            &["-c", &script],
            Duration::from_secs(120),
        );
        is_over.store(true, Ordering::Relaxed);
        left
    });
    let left = left.expect("a sandbox");
    println!(
        "{} races of a shell, {} of them written within",
        races(),
        left.output.trim()
    );
    assert!(untouched(&outside));
    let written: usize = left
        .output
        .trim()
        .lines()
        .last()
        .and_then(|line| line.parse().ok())
        .unwrap_or(0);
    assert!(
        written > 0,
        "the shell wrote nothing at all: {}",
        left.output
    );
}
