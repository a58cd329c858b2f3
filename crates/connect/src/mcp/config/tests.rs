//! Configurations as users and other editors write them.

use host::FakeFiles;
use serde_json::json;

use super::*;

fn workspace() -> AbsPath {
    AbsPath::new("/project").expect("absolute")
}

fn variables() -> Variables {
    Variables::from([("KEY".to_owned(), "k".to_owned())])
}

fn one(entry: &Value) -> Result<ServerTransport, Error> {
    let servers = json!({ "it": entry });
    let (entries, problems) = parse(&servers, &ServerOrigin::User, &workspace(), &variables());
    assert!(problems.is_empty(), "{problems:?}");
    entries.into_iter().next().expect("one entry").reach
}

#[test]
fn process_entry_is_parsed_in_other_editors_format() {
    let reach = one(&json!({
        "type": "stdio",
        "command": "npx", "args": ["-y", "server", "${workspaceFolder}"],
        "env": { "TOKEN": "${env:KEY}", "PORT": 80, "ON": true }, "cwd": "tools",
        "somethingOfOthers": {}
    }));
    let environment = [("ON", "true"), ("PORT", "80"), ("TOKEN", "k")];
    let expected = ServerTransport::Process {
        command: "npx".to_owned(),
        arguments: ["-y", "server", "/project"].map(str::to_owned).into(),
        environment: environment
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        folder: workspace().join("tools"),
    };
    assert_eq!(reach, Ok(expected));
}

#[test]
fn an_address_is_read_with_its_headers() {
    let reach =
        one(&json!({ "url": "https://a.example/mcp", "headers": { "X": "Bearer ${KEY}" } }));
    let headers = [("X".to_owned(), "Bearer k".to_owned())].into();
    let url = "https://a.example/mcp".to_owned();
    assert_eq!(
        reach,
        Ok(ServerTransport::Http {
            url,
            headers,
            client: OAuthClient::default()
        })
    );
}

#[test]
fn invalid_entries_are_reported() {
    let check = |entry: Value, expected: &str| {
        let error = one(&entry).expect_err("no sense");
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(json!({}), "neither a command nor a url");
    check(json!({ "command": "a", "url": "http://b" }), "both");
    check(json!({ "url": "ftp://b" }), "neither http nor https");
    check(json!({ "type": "sse", "url": "http://b/sse" }), "HTTP+SSE");
    check(json!({ "command": "${env:NONE}" }), "NONE is not set");

    let wrong = json!({ "a": { "args": 7 }, "b": { "command": "b" } });
    let (entries, problems) = parse(&wrong, &ServerOrigin::User, &workspace(), &variables());
    assert_eq!(entries.len(), 1);
    assert!(
        problems[0].0.contains("\"a\" in your settings"),
        "{problems:?}"
    );
    let (_, problems) = parse(&json!([]), &ServerOrigin::User, &workspace(), &variables());
    assert!(problems[0].0.contains("not an object"), "{problems:?}");
}

#[test]
fn nearer_file_wins_and_invalid_file_is_reported() {
    let files = FakeFiles::new();
    let write = |name: &str, text: &str| {
        let path = workspace().join(name);
        files.folder(&path.parent().expect("a folder"));
        files.write(&path, text);
    };
    let server =
        |command: &str| json!({ "mcpServers": { "a": { "command": command } } }).to_string();
    write(".cursor/mcp.json", &server("cursor"));
    write(".mcp.json", "{ nonsense");
    write(".burin/mcp.json", &server("burin"));
    let theirs = json!({ "a": { "command": "mine" }, "b": { "command": "b", "disabled": true } });
    let (entries, problems) = gather(Some(&theirs), &workspace(), &files, &variables());
    let lines: Vec<_> = entries
        .iter()
        .map(|entry| entry.reach.as_ref().expect("a way").summary())
        .collect();
    assert_eq!(lines, ["burin", "b"]);
    assert!(matches!(&entries[0].origin, ServerOrigin::Project { .. }));
    assert!(entries[1].is_disabled);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].0.contains(".mcp.json is not JSON"),
        "{problems:?}"
    );
}

#[test]
fn a_fingerprint_follows_the_meaning_not_the_order() {
    let one = ServerFingerprint::of("a", &json!({ "command": "x", "args": [1, 2] }));
    assert_eq!(
        one,
        ServerFingerprint::of("a", &json!({ "args": [1, 2], "command": "x" }))
    );
    for other in [
        json!({ "command": "x", "args": [2, 1] }),
        json!({ "command": "x" }),
    ] {
        assert_ne!(one, ServerFingerprint::of("a", &other));
    }
    assert_ne!(
        one,
        ServerFingerprint::of("b", &json!({ "command": "x", "args": [1, 2] }))
    );
    assert_eq!(one.0.len(), 64);
}

#[test]
fn oauth_client_is_parsed_in_other_editors_format() {
    let reach = one(&json!({
        "url": "https://it.example/mcp",
        "auth": { "CLIENT_ID": "we", "CLIENT_SECRET": "${env:KEY}", "scopes": ["read"] }
    }));
    let Ok(ServerTransport::Http { client, .. }) = reach else {
        panic!("{reach:?}");
    };
    let expected = OAuthClient {
        id: Some("we".to_owned()),
        secret: Some("k".to_owned()),
        document: None,
    };
    assert_eq!(client, expected);
}
