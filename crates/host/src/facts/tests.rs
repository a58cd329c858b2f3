//! Facts are sentences about whatever machine this is.

use crate::dirs::Dirs;
use crate::facts::{Verdict, facts};
use crate::temp::TempFolder;

#[test]
fn every_fact_says_something_and_every_complaint_says_what_to_do() {
    let folder = TempFolder::new().expect("a temporary folder");
    let facts = facts(&Dirs::below(folder.path()));
    for fact in &facts {
        assert!(!fact.name.is_empty() && !fact.value.is_empty(), "{fact:?}");
        if let Verdict::Warn(advice) | Verdict::Bad(advice) = &fact.verdict {
            assert!(advice.len() > 10, "{fact:?}");
        }
    }
    let named = |name: &str| facts.iter().find(|fact| fact.name == name);
    for name in [
        "system",
        "git",
        "fonts",
        "state folder",
        "free space",
        "Vulkan drivers",
    ] {
        assert!(named(name).is_some(), "no fact about {name}");
    }
    assert_eq!(
        named("state folder").map(|fact| &fact.verdict),
        Some(&Verdict::Good)
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_bad() {
    let folder = TempFolder::new().expect("a temporary folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("a file");
    let facts = facts(&Dirs::below(&file));
    let state = facts.iter().find(|fact| fact.name == "state folder");
    assert!(
        matches!(state.map(|fact| &fact.verdict), Some(Verdict::Bad(_))),
        "{state:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_display_that_takes_calls_and_says_nothing_is_not_waited_for_for_ever() {
    // Where the 100th display of this machine would listen; nothing is ever answered there.
    let Ok(listener) = std::net::TcpListener::bind("127.0.0.1:6100") else {
        return eprintln!("skipped: something listens there already");
    };
    let started = std::time::Instant::now();
    let answer = super::display::connect_x11("localhost:100");
    assert!(started.elapsed() < super::PATIENCE * 4);
    assert!(answer.is_err_and(|why| why.contains("said nothing")));
    drop(listener);
}
