//! Layouts round-trip, and a damaged file loses only the layout.

use base::AbsPath;
use host::FakeFiles;
use serde_json::json;

use super::{LayoutProblem, WindowLayouts};

#[test]
fn layouts_round_trip() {
    let files = FakeFiles::new();
    let file = AbsPath::new("/state/windows.json").expect("absolute");
    assert_eq!(
        WindowLayouts::load(&files, &file),
        (WindowLayouts::default(), None)
    );
    files.folder(&AbsPath::new("/state").expect("absolute"));
    let mut state = WindowLayouts::default();
    state.windows.insert(
        "/a/project".into(),
        json!({ "tabs": ["a", "b"], "scroll": 1.5 }),
    );
    state.store(&files, &file).expect("stored");
    assert_eq!(WindowLayouts::load(&files, &file), (state, None));
}

#[test]
fn damaged_layouts_are_reported() {
    let files = FakeFiles::new();
    let file = AbsPath::new("/state/windows.json").expect("absolute");
    for content in ["", "{\"a\": ", "[1]", "\u{0}"] {
        files.write(&file, content);
        let (state, problem) = WindowLayouts::load(&files, &file);
        assert_eq!(state, WindowLayouts::default());
        let problem = problem.expect("a problem").to_string();
        assert!(
            problem.contains("windows start with the default layout"),
            "{problem}"
        );
    }
}

#[test]
fn layouts_of_a_newer_program_are_refused() {
    let files = FakeFiles::new();
    let file = AbsPath::new("/state/windows.json").expect("absolute");
    let check = |content: &str, expected: Option<LayoutProblem>| {
        files.write(&file, content);
        let (state, problem) = WindowLayouts::load(&files, &file);
        assert_eq!(problem, expected, "{content}");
        assert!(!state.windows.contains_key("version"), "{content}");
    };
    let newer = || Some(LayoutProblem::Newer { file: file.clone() });
    check(r#"{ "version": 2, "session": {} }"#, newer());
    check(r#"{ "version": 900 }"#, newer());
    check(r#"{ "version": 1, "session": {} }"#, None);
    check(r#"{ "session": {} }"#, None);
    let sentence = newer().expect("a problem").to_string();
    assert!(sentence.contains("a newer Burin") && sentence.contains("/state/windows.json"));
}
