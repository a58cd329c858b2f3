//! A child process is killed at any moment of a landing; the repository stays consistent.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::land::LandingStep;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Runs as the child: lands everything in the queue, then undoes the last landing and lands it again. It is a
/// test only so that the test program can start itself; run directly, it has nothing to land.
#[test]
fn child() {
    let Ok(folder) = std::env::var("BURIN_LANDING_CHILD") else {
        return;
    };
    let folder = AbsPath::new(folder).unwrap();
    let clock = Arc::new(RealClock::default());
    let files = Arc::new(super::dying::Dying::of_environment());
    let (landings, _) =
        Landings::open(&folder.join("hub"), &folder.join("state"), files, clock).unwrap();
    let mut last = None;
    while let Some(id) = landings.next().unwrap() {
        let outcome = landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap();
        landed(&outcome);
        last = Some(id);
    }
    if let Some(last) = last {
        let (undo, _) = landings.undo(last, &UnsavedBuffers::new()).unwrap();
        landings.undo(undo, &UnsavedBuffers::new()).unwrap();
    }
}

#[test]
fn a_killed_landing_is_before_or_after() {
    let kills: u64 = std::env::var("BURIN_KILLS").map_or(24, |kills| kills.parse().unwrap());
    let mut hub = hub_with_two_names();
    let (mut told, mut cut_short, mut killed) = (BTreeSet::new(), 0, 0);
    for round in 0..kills {
        if round % 40 == 39 {
            hub = hub_with_two_names();
        }
        let random = &mut StdRng::seed_from_u64(round);
        let work = hub.session(&format!("s{round}"));
        write(
            &work.root,
            &format!("new{round}/file.txt"),
            &format!("{round}\n"),
        );
        let shared = format!("{}{round}\n", hub.read("shared.txt"));
        write(&work.root, "shared.txt", &shared);
        write(&hub.root, "untracked.txt", "the person's\n");
        let (landings, _) = hub.open();
        let id = enqueue(&landings, &work);
        let before = hub.tip();
        killed += u64::from(kill_one(&hub, random, round));
        let (landings, sentences) = hub.open();
        cut_short += usize::from(!sentences.is_empty());
        told.extend(
            sentences
                .iter()
                .map(|it| it.split(';').next_back().unwrap().to_owned()),
        );
        let summaries = landings.list().unwrap();
        let is_landed = |summary: &crate::land::LandingSummary| {
            matches!(
                summary.step,
                LandingStep::Landed {
                    undone_by: None,
                    ..
                }
            )
        };
        // The branch is at its old or new commit, and the checkout matches; the same holds for an
        // undo.
        let after = hub.tip();
        assert_eq!(
            hub.status(),
            "?? untracked.txt\n",
            "round {round}: {sentences:?}"
        );
        hub.assert_sound();
        hub.assert_no_drafts();
        let has_landed = hub.read("shared.txt") == shared;
        assert_eq!(has_landed, after != before, "round {round}");
        assert_eq!(
            hub.root.join(format!("new{round}")).as_path().exists(),
            has_landed,
            "round {round}"
        );
        if !has_landed && summaries.iter().any(|it| it.step == LandingStep::Waiting) {
            assert_eq!(landings.next().unwrap(), Some(id));
            landed(&landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap());
        } else if !has_landed {
            // The child was killed between the undo and the undo of that undo.
            let undo = summaries
                .iter()
                .rfind(|it| it.undoes == Some(id) && is_landed(it))
                .unwrap();
            landed(&landings.undo(undo.id, &UnsavedBuffers::new()).unwrap().1);
        }
        assert_eq!(hub.read("shared.txt"), shared, "round {round}");
        assert_eq!(hub.status(), "?? untracked.txt\n");
        hub.assert_sound();
    }
    println!("{kills} rounds, {killed} killed, {cut_short} cut short: {told:#?}");
}

/// A repository with a file that is written in place, because it has a hard link outside.
fn hub_with_two_names() -> Hub {
    let hub = Hub::new(&[("shared.txt", ""), ("moved/a.txt", "a\n")]);
    let (from, to) = (hub.root.join("shared.txt"), hub.folder.path().join("also"));
    std::fs::hard_link(from.as_path(), to.as_path()).unwrap();
    hub
}

/// Starts the child and kills it. Returns whether it died before it was done.
fn kill_one(hub: &Hub, random: &mut StdRng, round: u64) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "land::tests::kills::child",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("BURIN_LANDING_CHILD", hub.folder.path().as_path())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Every second child dies at a chosen file operation, the others at a random moment.
    let is_counted = round.is_multiple_of(2);
    if is_counted {
        command.env("BURIN_DIES_AT", random.random_range(0..110).to_string());
    }
    let mut child = command.spawn().unwrap();
    if !is_counted {
        std::thread::sleep(Duration::from_millis(random.random_range(5..160)));
        child.kill().unwrap();
    }
    !child.wait().unwrap().success()
}
