//! Stored approvals and tokens, and the servers found for a folder.

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use agent::rules::PermissionRules;
use agent::tools::ToolStates;
use base::{AbsPath, NameRules};
use connect::mcp::{Approval, Approvals, ServerEntry, ServerOrigin, TokenStore};
use host::{Dirs, FakeFiles, Files, RealFiles, TempFolder};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::{Consents, McpServers, ServerWait, TokenFolder, ToolRequest, gather};

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

/// Returns the servers of `/project`: the given one, and one of the user.
fn found(files: &FakeFiles, project: &str) -> Vec<ServerEntry> {
    let dirs = Dirs::under(&path("/own"));
    for folder in ["/own/config", "/own/state", "/project"] {
        files.folder(&path(folder));
    }
    files.write(
        &path("/own/config/mcp.json"),
        r#"{ "mcpServers": { "mine": { "command": "m" } } }"#,
    );
    files.write(&path("/project/.mcp.json"), project);
    let (entries, problems) = gather(files, &dirs, &path("/project"));
    assert_eq!(problems, Vec::<String>::new());
    entries
}

#[test]
fn an_approval_is_for_one_entry_in_one_file() {
    let files = Arc::new(FakeFiles::new());
    let project = r#"{ "mcpServers": { "it": { "command": "a" } } }"#;
    let entries = found(&files, project);
    let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["it", "mine"]);
    let consents = Consents::new(files.clone(), &path("/own/state"));
    let it = &entries[0];
    assert_eq!(consents.approval(it), Approval::Unasked);
    for approval in [Approval::Allowed, Approval::Refused, Approval::Unasked] {
        consents.set(it, approval).expect("it is kept");
        assert_eq!(consents.approval(it), approval);
    }
    consents.set(it, Approval::Allowed).expect("it is kept");

    // White space does not change the entry; everything else does.
    let same = found(&files, r#"{"mcpServers":{"it":{"command":"a"}}}"#);
    assert_eq!(consents.approval(&same[0]), Approval::Allowed);
    for other in [
        r#"{ "mcpServers": { "it": { "command": "b" } } }"#,
        r#"{ "mcpServers": { "at": { "command": "a" } } }"#,
        r#"{ "mcpServers": { "it": { "command": "a", "env": { "A": "1" } } } }"#,
    ] {
        let other = &found(&files, other)[0];
        assert_eq!(consents.approval(other), Approval::Unasked, "{other:?}");
    }
    let elsewhere = ServerEntry {
        origin: ServerOrigin::Project {
            file: path("/other/.mcp.json"),
        },
        ..it.clone()
    };
    assert_eq!(consents.approval(&elsewhere), Approval::Unasked);

    // The user's own servers need no approval.
    let refused = consents.set(&entries[1], Approval::Allowed);
    assert!(refused.is_err_and(|error| error.to_string().contains("is your own")));
}

#[test]
fn an_unreadable_approval_keeps_the_server_off_and_is_reported() {
    let fake = FakeFiles::new();
    let entry = &found(&fake, r#"{ "mcpServers": { "it": { "command": "a" } } }"#)[0];
    let folder = TempFolder::new().expect("a folder");
    let consents = Consents::new(Arc::new(RealFiles), folder.path());
    consents.set(entry, Approval::Allowed).expect("stored");
    assert_eq!(consents.problems([entry]), Vec::<String>::new());
    let stored = folder.path().join("mcp/approvals");
    let stored = RealFiles.list(&stored).expect("a folder").entries[0]
        .path
        .clone();
    RealFiles.remove(&stored).expect("removed");
    RealFiles
        .create_folder(&stored)
        .expect("a folder in its place");
    assert_eq!(consents.approval(entry), Approval::Unasked);
    let problems = consents.problems([entry]);
    assert!(problems[0].contains("\"it\""), "{problems:?}");
    assert!(problems[0].contains("does not run"), "{problems:?}");
}

#[tokio::test]
async fn tokens_are_for_this_user_alone_and_for_one_address() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempFolder::new().expect("a folder");
    let tokens = TokenFolder::new(Arc::new(RealFiles), folder.path());
    let url = "https://a.example/mcp";
    assert_eq!(tokens.load(url).await, Ok(None));
    tokens
        .save(url, Some("secret\nof it".to_owned()))
        .await
        .expect("kept");
    assert_eq!(tokens.load(url).await, Ok(Some("secret\nof it".to_owned())));
    assert_eq!(tokens.load("https://b.example/mcp").await, Ok(None));
    let kept = folder.path().join("mcp/tokens");
    let listing = RealFiles.list(&kept).expect("a folder");
    assert_eq!(listing.entries.len(), 1);
    let mode = |path: &AbsPath| {
        let metadata = path.as_path().metadata().expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(&listing.entries[0].path), 0o600);
    tokens.save(url, None).await.expect("forgotten");
    assert_eq!(tokens.load(url).await, Ok(None));
    tokens.save(url, None).await.expect("nothing to forget");
    // Tokens that are there but unreadable are an error, not an absence.
    let path = listing.entries[0].path.clone();
    RealFiles.write_private(&path, &[0xff]).expect("written");
    let unreadable = tokens.load(url).await.expect_err("unreadable");
    assert!(
        unreadable.to_string().contains(&path.to_string()),
        "{unreadable}"
    );
}

#[test]
fn unreadable_entries_are_reported_and_others_used() {
    let files = FakeFiles::new();
    found(&files, r#"{ "mcpServers": { "it": { "command": "a" } } }"#);
    let dirs = Dirs::under(&path("/own"));
    for (own, why) in [
        ("{", "is not JSON"),
        (r#"{ "servers": {} }"#, "has no `mcpServers`"),
    ] {
        files.write(&path("/own/config/mcp.json"), own);
        let (entries, problems) = gather(&files, &dirs, &path("/project"));
        assert_eq!(entries.len(), 1);
        assert!(problems[0].contains("/own/config/mcp.json"), "{problems:?}");
        assert!(problems[0].contains(why), "{problems:?}");
    }
}

/// The responses of a server that speaks plain JSON over HTTP.
fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "slow", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [
            { "name": "good", "inputSchema": { "type": "object" } },
            { "name": "bad", "inputSchema": "string" },
        ] }),
        _ => {
            let error = json!({ "code": -32601, "message": "not known" });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

async fn serve_one(stream: TcpStream) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        stream
            .read_line(&mut line)
            .await
            .ok()
            .filter(|it| *it > 0)?;
        let is_post = line.starts_with("POST");
        loop {
            line.clear();
            stream.read_line(&mut line).await.ok()?;
            let header = line.trim().to_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if header.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let reply = match answer(&message) {
            _ if !is_post => {
                "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".to_owned()
            }
            None => "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
            Some(answer) => {
                let text = answer.to_string();
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
                    text.len()
                )
            }
        };
        stream.get_mut().write_all(reply.as_bytes()).await.ok()?;
    }
}

/// A server that sends no response before `may` is set.
async fn slow_server(may: watch::Receiver<bool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut may = may.clone();
            tokio::spawn(async move {
                may.wait_for(|may| *may).await.ok()?;
                serve_one(stream).await
            });
        }
    });
    url
}

fn servers(folder: &TempFolder, entry: &Value) -> Arc<McpServers> {
    let dirs = Dirs::under(&folder.path().join("own"));
    let files: Arc<dyn Files> = Arc::new(RealFiles);
    files.create_folder(&dirs.config).expect("a folder");
    let own = json!({ "mcpServers": { "it": entry } }).to_string();
    let place = dirs.config.join("mcp.json");
    files
        .write_private(&place, own.as_bytes())
        .expect("written");
    let (entries, problems) = gather(files.as_ref(), &dirs, folder.path());
    assert_eq!(problems, Vec::<String>::new());
    Arc::new(McpServers::start(entries, &files, &dirs, folder.path()))
}

fn request<'a>(rules: &'a PermissionRules, waiting: &'a ServerWait) -> ToolRequest<'a> {
    static STATES: LazyLock<Arc<ToolStates>> = LazyLock::new(Arc::default);
    ToolRequest {
        states: &STATES,
        rules,
        waiting,
    }
}

#[tokio::test]
async fn slow_server_is_awaited_with_a_notice() {
    let (let_it, may) = watch::channel(false);
    let folder = TempFolder::new().expect("a folder");
    let servers = servers(&folder, &json!({ "url": slow_server(may).await }));
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = told.clone();
    let waiting = ServerWait {
        brief: Duration::from_millis(1),
        longest: Duration::from_secs(600),
        tell: Arc::new(move |text| {
            heard.lock().expect("a lock").push(text);
            let_it.send_replace(true);
        }),
    };
    let rules = PermissionRules::default();
    let offer = servers.offer(&request(&rules, &waiting)).await;
    let names: Vec<&str> = offer.tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["mcp__it__good"]);
    // A tool that a rule denies is listed, but not offered.
    let denied = json!({ "deny": ["mcp__it__good"] });
    let (denied, _) = PermissionRules::of(&denied, "/p", NameRules::EXACT);
    let less = servers.offer(&request(&denied, &waiting)).await;
    assert!(less.tools.is_empty());
    let listed = servers.list();
    assert_eq!(listed[0].tools[0].name, "mcp__it__good");
    // The messages arrive by a task.
    while !servers.list()[0]
        .log
        .iter()
        .any(|it| it.contains("is ready"))
    {
        tokio::task::yield_now().await;
    }
    let told = told.lock().expect("a lock").clone();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("waiting up to") && told[0].ends_with(": it"),
        "{told:?}"
    );
    // The tool that is none is named, and costs the other one nothing.
    let notices = offer.notices.join("\n");
    assert!(
        notices.contains("of the MCP server \"it\", the tool \"bad\" is left out"),
        "{notices}"
    );
}

#[tokio::test]
async fn run_starts_without_a_server_that_times_out() {
    let (_never, may) = watch::channel(false);
    let folder = TempFolder::new().expect("a folder");
    let entry = json!({ "url": slow_server(may).await, "startupTimeout": 0.05 });
    let servers = servers(&folder, &entry);
    let waiting = ServerWait {
        brief: Duration::from_millis(1),
        longest: Duration::from_secs(600),
        tell: Arc::new(|_| {}),
    };
    let rules = PermissionRules::default();
    let offer = servers.offer(&request(&rules, &waiting)).await;
    assert!(offer.tools.is_empty());
    let notices = offer.notices.join("\n");
    assert!(
        notices.contains("is not ready yet") && notices.contains("startupTimeout"),
        "{notices}"
    );
}
