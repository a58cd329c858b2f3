//! The folders of a server.

use std::thread;

use serde_json::{Value, json};

use super::fake::{FakeServer, WAIT, connect, options, path, running};
use crate::{LanguageServer, Request};

fn capabilities(notifications: Value) -> Value {
    let folders = json!({ "supported": true, "changeNotifications": notifications });
    json!({ "workspace": { "workspaceFolders": folders }, "workspaceSymbolProvider": true })
}

fn folder(name: &str) -> Value {
    json!({ "uri": format!("file:///{name}"), "name": name })
}

#[test]
fn folders_that_are_added_early_are_part_of_the_initialization() {
    let (server, _events, mut fake) = connect(options());
    server.add_folder(&path("/v"));
    thread::scope(|scope| {
        let client = scope.spawn(|| server.initialize(WAIT));
        let request = fake.expect("initialize");
        let folders = &request["params"]["workspaceFolders"];
        assert_eq!(*folders, json!([folder("w"), folder("v")]));
        // One that comes in between follows.
        server.add_folder(&path("/u"));
        let result = json!({ "capabilities": capabilities(json!(true)) });
        fake.respond(&request, result);
        client.join().expect("no panic").expect("initialized");
    });
    fake.expect("initialized");
    let message = fake.expect("workspace/didChangeWorkspaceFolders");
    let event = json!({ "added": [folder("u")], "removed": [] });
    assert_eq!(message["params"]["event"], event);
}

#[test]
fn a_server_is_notified_of_folders_if_it_wants_to() {
    // The id of a registration counts as true.
    for notifications in [json!(true), json!("id")] {
        let (server, _events, mut fake) = running(capabilities(notifications));
        server.add_folder(&path("/w"));
        server.add_folder(&path("/v"));
        server.remove_folder(&path("/w"));
        for event in [
            json!({ "added": [folder("v")], "removed": [] }),
            json!({ "added": [], "removed": [folder("w")] }),
        ] {
            let message = fake.expect("workspace/didChangeWorkspaceFolders");
            assert_eq!(message["params"]["event"], event);
        }
    }
}

#[test]
fn other_servers_may_ask_for_the_folders_or_register_later() {
    let (server, _events, mut fake) = running(capabilities(json!(false)));
    server.add_folder(&path("/v"));
    let folders = fake.ask(json!(1), "workspace/workspaceFolders", Value::Null);
    assert_eq!(folders, json!([folder("w"), folder("v")]));
    let method = "workspace/didChangeWorkspaceFolders";
    let params = json!({ "registrations": [{ "id": "f", "method": method }] });
    fake.send(json!({ "id": 2, "method": "client/registerCapability", "params": params }));
    let message = fake.expect(method);
    assert_eq!(message["params"]["event"]["added"], json!([folder("v")]));
}

/// Returns the names of the symbols that a handle finds; the server answers with one symbol in each of these files.
fn symbols(server: &LanguageServer, fake: &mut FakeServer, files: &[&str]) -> Vec<String> {
    let request: Request<_> = server.workspace_symbols("").expect("offered");
    let sent = fake.expect("workspace/symbol");
    let position = json!({ "line": 0, "character": 0 });
    let symbol = |file: &&str| {
        let range = json!({ "start": position, "end": position });
        let location = json!({ "uri": format!("file://{file}"), "range": range });
        json!({ "name": file, "kind": 12, "location": location })
    };
    fake.respond(&sent, files.iter().map(symbol).collect());
    let symbols = request.wait(WAIT).expect("an answer");
    symbols.into_iter().map(|symbol| symbol.name).collect()
}

#[test]
fn the_handle_of_a_folder_omits_symbols_of_other_folders() {
    let (server, _events, mut fake) = running(capabilities(json!(false)));
    server.add_folder(&path("/v"));
    server.add_folder(&path("/w/inner"));
    let files = ["/w/a.rs", "/v/a.rs", "/usr/lib/a.rs", "/w/inner/a.rs"];
    assert_eq!(symbols(&server, &mut fake, &files), files);
    let w = server.for_folder(&path("/w"));
    assert_eq!(
        symbols(&w, &mut fake, &files),
        ["/w/a.rs", "/usr/lib/a.rs", "/w/inner/a.rs"]
    );
    let inner = server.for_folder(&path("/w/inner"));
    assert_eq!(
        symbols(&inner, &mut fake, &files),
        ["/usr/lib/a.rs", "/w/inner/a.rs"]
    );
}
