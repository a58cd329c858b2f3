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
    for name in ["system", "git", "state folder", "free space", "open files"] {
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
