//! Tests that facts are complete on any machine.

use crate::dirs::Dirs;
use crate::facts::{FactVerdict, facts};
use crate::temp::TempFolder;

#[test]
fn every_fact_has_a_value_and_every_problem_advice() {
    let folder = TempFolder::new().expect("a temporary folder");
    let facts = facts(&Dirs::under(folder.path()));
    for fact in &facts {
        assert!(!fact.name.is_empty() && !fact.value.is_empty(), "{fact:?}");
        if let FactVerdict::Warn(advice) | FactVerdict::Bad(advice) = &fact.verdict {
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
        Some(&FactVerdict::Good)
    );
}

#[test]
fn an_uncreatable_folder_is_reported() {
    let folder = TempFolder::new().expect("a temporary folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("a file");
    let facts = facts(&Dirs::under(&file));
    let state = facts.iter().find(|fact| fact.name == "state folder");
    assert!(
        matches!(state.map(|fact| &fact.verdict), Some(FactVerdict::Bad(_))),
        "{state:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn probing_a_silent_display_times_out() {
    // The socket of this machine's display 100; nothing ever answers there.
    let Ok(listener) = std::net::TcpListener::bind("127.0.0.1:6100") else {
        return test_support::skip("another program listens on port 6100");
    };
    let started = std::time::Instant::now();
    let answer = super::display::connect_x11("localhost:100");
    assert!(started.elapsed() < super::PROBE_TIMEOUT * 4);
    assert!(answer.is_err_and(|error| error.to_string().contains("no response")));
    drop(listener);
}
