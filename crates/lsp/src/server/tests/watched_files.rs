//! Events about files.

use serde_json::{Value, json};

use super::fake::{FakeServer, path, running};
use crate::{FileChangeType, FileEvent, LanguageServer};

fn register(fake: &mut FakeServer, id: &str, watchers: Value) {
    let method = "workspace/didChangeWatchedFiles";
    let options = json!({ "watchers": watchers });
    let registration = json!({ "id": id, "method": method, "registerOptions": options });
    let params = json!({ "registrations": [registration] });
    assert!(
        fake.ask(json!(1), "client/registerCapability", params)
            .is_null()
    );
}

fn change(server: &LanguageServer, events: &[(&str, FileChangeType)]) {
    let events = events.iter().map(|(name, change)| FileEvent {
        path: path(name),
        change: *change,
    });
    server.files_changed(&events.collect::<Vec<_>>());
}

#[test]
fn a_server_gets_one_notification_with_the_events_that_it_registered_for() {
    let (server, _events, mut fake) = running(json!({}));
    assert!(!server.watches_files());
    change(&server, &[("/w/a.rs", FileChangeType::Created)]);
    register(&mut fake, "1", json!([{ "globPattern": "**/*.rs" }]));
    register(
        &mut fake,
        "2",
        json!([{ "globPattern": "/etc/x", "kind": 4 }]),
    );
    assert!(server.watches_files());
    change(
        &server,
        &[
            ("/w/a.rs", FileChangeType::Created),
            ("/w/a.py", FileChangeType::Created),
            ("/w/b/c.rs", FileChangeType::Changed),
            ("/etc/x", FileChangeType::Changed),
            ("/etc/x", FileChangeType::Deleted),
        ],
    );
    let message = fake.expect("workspace/didChangeWatchedFiles");
    let expected = json!([
        { "uri": "file:///w/a.rs", "type": 1 },
        { "uri": "file:///w/b/c.rs", "type": 2 },
        { "uri": "file:///etc/x", "type": 3 },
    ]);
    assert_eq!(message["params"]["changes"], expected);
}

#[test]
fn an_unregistered_watcher_wants_nothing() {
    let (server, _events, mut fake) = running(json!({}));
    register(&mut fake, "1", json!([{ "globPattern": "**/*.rs" }]));
    register(&mut fake, "2", json!([{ "globPattern": "**/*.py" }]));
    let unregistration = json!({ "id": "1", "method": "workspace/didChangeWatchedFiles" });
    let params = json!({ "unregisterations": [unregistration] });
    fake.ask(json!(2), "client/unregisterCapability", params);
    let kind = FileChangeType::Changed;
    change(&server, &[("/w/a.rs", kind), ("/w/a.py", kind)]);
    let message = fake.expect("workspace/didChangeWatchedFiles");
    let expected = json!([{ "uri": "file:///w/a.py", "type": 2 }]);
    assert_eq!(message["params"]["changes"], expected);
}
