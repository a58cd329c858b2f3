//! Layouts come back, and damaged ones cost nothing but themselves.

use base::AbsPath;
use host::FakeFiles;
use serde_json::json;

use super::State;

#[test]
fn what_is_stored_is_loaded() {
    let files = FakeFiles::new();
    let file = AbsPath::new("/state/windows.json").expect("absolute");
    assert_eq!(State::load(&files, &file), (State::default(), None));
    files.folder(&AbsPath::new("/state").expect("absolute"));
    let mut state = State::default();
    state.windows.insert(
        "/a/project".into(),
        json!({ "tabs": ["a", "b"], "scroll": 1.5 }),
    );
    state.store(&files, &file).expect("stored");
    assert_eq!(State::load(&files, &file), (state, None));
}

#[test]
fn a_damaged_file_is_a_sentence() {
    let files = FakeFiles::new();
    let file = AbsPath::new("/state/windows.json").expect("absolute");
    for content in ["", "{\"a\": ", "[1]", "\u{0}"] {
        files.write(&file, content);
        let (state, problem) = State::load(&files, &file);
        assert_eq!(state, State::default());
        let problem = problem.expect("a problem");
        assert!(problem.contains("windows start afresh"), "{problem}");
    }
}
