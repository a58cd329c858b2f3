//! What is kept of approvals and tokens, and which servers are found.

use std::sync::Arc;

use base::AbsPath;
use connect::mcp::{Approval, Approvals, Origin, ServerEntry, Tokens};
use host::{Dirs, FakeFiles, Files, RealFiles, TempFolder};

use super::{Consents, TokenFolder, gather};

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

/// The servers of `/project`, the project's as given and one of the person's.
fn found(files: &FakeFiles, project: &str) -> Vec<ServerEntry> {
    let dirs = Dirs::below(&path("/own"));
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

    // Whitespace is no letter of the entry, everything else is.
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
        origin: Origin::Project {
            file: path("/other/.mcp.json"),
        },
        ..it.clone()
    };
    assert_eq!(consents.approval(&elsewhere), Approval::Unasked);

    // The person's own are not spoken of.
    let refused = consents.set(&entries[1], Approval::Allowed);
    assert!(refused.is_err_and(|why| why.contains("is your own")));
}

#[tokio::test]
async fn tokens_are_for_this_user_alone_and_for_one_address() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempFolder::new().expect("a folder");
    let tokens = TokenFolder::new(Arc::new(RealFiles), folder.path());
    let url = "https://a.example/mcp";
    assert_eq!(tokens.load(url).await, None);
    tokens
        .keep(url, Some("secret\nof it".to_owned()))
        .await
        .expect("kept");
    assert_eq!(tokens.load(url).await.as_deref(), Some("secret\nof it"));
    assert_eq!(tokens.load("https://b.example/mcp").await, None);
    let kept = folder.path().join("mcp/tokens");
    let listing = RealFiles.list(&kept).expect("a folder");
    assert_eq!(listing.entries.len(), 1);
    let mode = |path: &AbsPath| {
        let metadata = path.as_path().metadata().expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(&listing.entries[0].path), 0o600);
    tokens.keep(url, None).await.expect("forgotten");
    assert_eq!(tokens.load(url).await, None);
    tokens.keep(url, None).await.expect("nothing to forget");
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_used() {
    let files = FakeFiles::new();
    found(&files, r#"{ "mcpServers": { "it": { "command": "a" } } }"#);
    let dirs = Dirs::below(&path("/own"));
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
