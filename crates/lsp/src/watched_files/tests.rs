//! Watchers and the events that they want.

use serde_json::{Value, json};

use super::*;

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

fn registered(watchers: Value) -> (FileWatchers, Vec<String>) {
    let (mut all, mut violations) = (FileWatchers::default(), Violations::default());
    let options = json!({ "watchers": watchers });
    all.register("1".to_owned(), &options, &mut violations);
    (all, violations.phrases())
}

/// Checks which paths a watcher with this pattern wants in the folders `/w` and `/v`.
fn check(pattern: Value, wanted: &[&str], unwanted: &[&str]) {
    let (watchers, violations) = registered(json!([{ "globPattern": pattern }]));
    assert_eq!(violations, Vec::<String>::new());
    let folders = [path("/w"), path("/v")];
    let wants = |name: &str| {
        let (path, change) = (path(name), FileChangeType::Changed);
        watchers.wants(&FileEvent { path, change }, &folders)
    };
    for name in wanted {
        assert!(wants(name), "{pattern} {name}");
    }
    for name in unwanted {
        assert!(!wants(name), "{pattern} {name}");
    }
}

#[test]
fn globs_are_relative_to_each_folder_of_the_server() {
    check(
        json!("**/*.{rs,toml}"),
        &["/w/a.rs", "/w/b/c/Cargo.toml", "/v/a.rs"],
        &["/w/a.py", "/other/a.rs"],
    );
    check(
        json!("Cargo.toml"),
        &["/w/Cargo.toml"],
        &["/w/a/Cargo.toml"],
    );
    check(json!("**"), &["/w/a", "/v/b/.env"], &["/x"]);
    check(json!("*.[jt]s{,x}"), &["/w/a.ts", "/w/a.jsx"], &["/w/a.cs"]);
}

#[test]
fn absolute_globs_reach_outside_the_folders() {
    check(
        json!("/opt/lib/**/*.py"),
        &["/opt/lib/a/b.py"],
        &["/w/opt/lib/a.py"],
    );
    check(
        json!("/w/tsconfig.json"),
        &["/w/tsconfig.json"],
        &["/w/a/tsconfig.json"],
    );
}

#[test]
fn relative_patterns_have_a_uri_or_a_workspace_folder_as_base() {
    let pattern = |base: Value| json!({ "baseUri": base, "pattern": "*.py" });
    check(
        pattern(json!("file:///s%20p")),
        &["/s p/a.py"],
        &["/w/a.py", "/s p/b/a.py"],
    );
    let folder = json!({ "uri": "file:///s", "name": "s" });
    check(pattern(folder), &["/s/a.py"], &["/a.py"]);
}

#[test]
fn kinds_restrict_the_events() {
    let wants = |kind: Value, change: FileChangeType| {
        let (watchers, _) = registered(json!([{ "globPattern": "*", "kind": kind }]));
        let path = path("/w/a");
        watchers.wants(&FileEvent { path, change }, &[self::path("/w")])
    };
    use FileChangeType::{Changed, Created, Deleted};
    for (kind, expected) in [
        (json!(1), [true, false, false]),
        (json!(6), [false, true, true]),
        (json!(0), [false, false, false]),
        (Value::Null, [true, true, true]),
        (json!("x"), [true, true, true]),
    ] {
        let wanted = [Created, Changed, Deleted].map(|change| wants(kind.clone(), change));
        assert_eq!(wanted, expected, "{kind}");
    }
}

#[test]
fn malformed_watchers_hide_no_others() {
    let (watchers, violations) = registered(json!([
        { "globPattern": "[" },
        { "globPattern": 7 },
        { "globPattern": { "baseUri": 3, "pattern": "*" } },
        null,
        { "globPattern": "*.rs" },
    ]));
    assert_eq!(violations, ["4 malformed items"]);
    let (path, change) = (path("/w/a.rs"), FileChangeType::Created);
    assert!(watchers.wants(&FileEvent { path, change }, &[self::path("/w")]));
}

#[test]
fn ten_thousand_watchers_are_bounded() {
    let watcher = |ix: usize| json!({ "globPattern": format!("{ix}/**/*.py") });
    let (watchers, violations) = registered((0..10_000).map(watcher).collect());
    assert_eq!(watchers.watchers().count(), MAX_WATCHERS);
    assert_eq!(violations, ["1 dropped item"]);
    let long = json!([{ "globPattern": "a".repeat(4_000) }]);
    let mut watchers = FileWatchers::default();
    let mut violations = Violations::default();
    for id in 0..100 {
        let options = json!({ "watchers": long });
        watchers.register(id.to_string(), &options, &mut violations);
    }
    let bytes: usize = watchers.watchers().map(FileWatcher::pattern_length).sum();
    assert!(bytes <= MAX_PATTERN_BYTES, "{bytes}");
}

#[test]
fn a_registration_replaces_the_earlier_one_of_its_id() {
    let (mut watchers, _) = registered(json!([{ "globPattern": "*.a" }]));
    let mut violations = Violations::default();
    let options = json!({ "watchers": [{ "globPattern": "*.b" }] });
    watchers.register("1".to_owned(), &options, &mut violations);
    assert_eq!(watchers.watchers().count(), 1);
    watchers.unregister("1");
    assert!(watchers.is_empty());
}
