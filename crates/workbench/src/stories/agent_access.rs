//! The lists of agents' rights, by the keyboard alone.

use composer_panel::actions::{ShowMcpServers, ShowPermissions, ShowTrust};
use composer_panel::agents::{
    AccessChange, CommandGrant, FakeAgents, FakeRequest, FolderAccess, GuideAccess, HookAccess,
    HookFileAccess, HookResult, KeptRule, PendingHooks, PendingMcpServer, RuleList, RuleOrigin,
    SandboxAccess, ServerAccess, ServerDecision, ServerTool,
};
use gpui_kit::TestAppContext;

use super::a11y::names;
use super::agents::open;
use super::{Story, path};

fn rule(rule: &str, list: RuleList, origin: RuleOrigin) -> KeptRule {
    KeptRule {
        rule: rule.to_owned(),
        list,
        origin,
    }
}

fn server(name: &str, decision: ServerDecision, written: &str) -> ServerAccess {
    ServerAccess {
        entry: PendingMcpServer {
            name: name.to_owned(),
            path: path("/p/.mcp.json"),
            written: written.to_owned(),
            mark: "1".to_owned(),
        },
        is_own: false,
        origin: "of the project, in .mcp.json".to_owned(),
        decision,
        status: "waits for your approval".to_owned(),
        needs_sign_in: false,
        is_started: false,
        tools: Vec::new(),
        log: Vec::new(),
    }
}

/// The labels of the rows that the open list shows.
fn rows(story: &mut Story) -> Vec<String> {
    let mut names = names(story, "a list of rights");
    names.retain(|name| !name.is_empty());
    names
}

fn has(story: &mut Story, text: &str) {
    let rows = rows(story);
    assert!(
        rows.iter().any(|row| row.contains(text)),
        "{text}: {rows:?}"
    );
}

fn lacks(story: &mut Story, text: &str) {
    let rows = rows(story);
    assert!(
        !rows.iter().any(|row| row.contains(text)),
        "{text}: {rows:?}"
    );
}

fn changes(fake: &FakeAgents) -> Vec<AccessChange> {
    fake.take_access_changes()
}

#[gpui_kit::test]
fn kept_rules_are_listed_with_their_origin_and_removed(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let here = RuleOrigin::Project("/p".to_owned());
    let (allow, deny) = (
        rule("Bash(cargo test:*)", RuleList::Allow, here),
        rule("Bash(rm:*)", RuleList::Deny, RuleOrigin::User),
    );
    let grant = CommandGrant {
        rule: "Bash(npm ci)".to_owned(),
        access: "host registry.npmjs.org:443".to_owned(),
        origin: RuleOrigin::User,
    };
    fake.set_access(FolderAccess {
        rules: vec![
            deny.clone(),
            allow.clone(),
            rule("Edit(**)", RuleList::Allow, RuleOrigin::Session),
        ],
        sandbox: SandboxAccess {
            sentences: vec!["Commands reach no network".to_owned()],
            grants: vec![grant.clone()],
        },
        problems: vec!["permissions.json:1: a rule is not understood".to_owned()],
        ..FolderAccess::default()
    });
    // From the prompt of the panel.
    story.keys("ctrl-alt-b alt-p");
    story.settle();
    for text in [
        "permissions.json:1: a rule is not understood",
        "Edit(**), Remove this rule",
        "Bash(cargo test:*), Remove this rule",
        "Commands reach no network",
    ] {
        has(&mut story, text);
    }
    story.input("cargo").keys("enter");
    story.settle();
    assert_eq!(changes(&fake), [AccessChange::RemoveRule(allow)]);
    lacks(&mut story, "Bash(cargo test:*)");
    assert!(story.is_asking(), "the list stays open");
    story.keys("escape");

    // A rule that restricts agents is removed after a question, whose safe answer has the focus.
    story.act(ShowPermissions).input("rm:").keys("enter");
    story.settle();
    has(&mut story, "Remove a rule that restricts agents?");
    story.keys("enter");
    story.settle();
    assert_eq!(changes(&fake), []);
    has(&mut story, "Bash(rm:*), Remove this rule");
    story.keys("enter");
    story.settle();
    story.keys("right enter");
    story.settle();
    assert_eq!(changes(&fake), [AccessChange::RemoveRule(deny)]);
    lacks(&mut story, "Bash(rm:*)");
    story.keys("escape");
    story.act(ShowPermissions).input("npm").keys("enter");
    story.settle();
    assert_eq!(changes(&fake), [AccessChange::RemoveGrant(grant)]);
}

#[gpui_kit::test]
fn a_refused_change_of_rights_is_explained(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    fake.set_access(FolderAccess {
        rules: vec![rule("WebFetch", RuleList::Allow, RuleOrigin::User)],
        ..FolderAccess::default()
    });
    story.act(ShowPermissions);
    fake.refuse(
        FakeRequest::Access,
        Some("permissions.json cannot be written"),
    );
    story.input("webfetch").keys("enter");
    story.settle();
    has(&mut story, "WebFetch, Remove this rule");
    assert_eq!(changes(&fake), []);
    fake.refuse(FakeRequest::Access, None);
    story.keys("enter");
    story.settle();
    lacks(&mut story, "WebFetch, Remove");
    // A list that cannot be read is a notice.
    story.keys("escape");
    fake.refuse(FakeRequest::Access, Some("the engines did not start"));
    story.act(ShowTrust);
    assert_eq!(story.reports(), ["the engines did not start"]);
}

#[gpui_kit::test]
fn a_server_is_approved_after_its_whole_entry_was_shown(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let written = format!(
        "{{\n{}  \"command\": \"./last\"\n}}",
        "  \"a\": 1,\n".repeat(20)
    );
    let waiting = server("files", ServerDecision::Undecided, &written);
    let entry = waiting.entry.clone();
    fake.set_access(FolderAccess {
        servers: vec![waiting],
        ..FolderAccess::default()
    });
    story.keys("ctrl-alt-b alt-c");
    story.settle();
    has(
        &mut story,
        "files waits for your approval, of the project, in .mcp.json",
    );
    story.input("allow").keys("enter");
    story.settle();
    has(
        &mut story,
        "Let the MCP server \u{201c}files\u{201d} run? (1 of 2)",
    );
    lacks(&mut story, "Allow");
    story.keys("right enter");
    story.settle();
    has(
        &mut story,
        "Let the MCP server \u{201c}files\u{201d} run? (2 of 2)",
    );
    assert_eq!(changes(&fake), []);
    story.keys("right enter");
    story.settle();
    assert_eq!(changes(&fake), [AccessChange::AllowServer(entry.clone())]);
    story.keys("escape");
    story.act(ShowMcpServers).input("revoke").keys("enter");
    story.settle();
    assert_eq!(changes(&fake), [AccessChange::RefuseServer(entry)]);
}

#[gpui_kit::test]
fn tools_are_switched_and_servers_started_and_signed_in(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let tool = |name: &str| ServerTool {
        name: name.to_owned(),
        about: "Reads a file".to_owned(),
        is_on: true,
    };
    fake.set_access(FolderAccess {
        servers: vec![ServerAccess {
            tools: vec![tool("mcp__docs__read"), tool("mcp__docs__write")],
            log: vec!["first line".to_owned(), "it stumbled".to_owned()],
            needs_sign_in: true,
            ..server("docs", ServerDecision::Allowed, "{}")
        }],
        ..FolderAccess::default()
    });
    story.act(ShowMcpServers).input("mcp__docs__write");
    has(&mut story, "Turn this tool off");
    story.keys("enter");
    story.settle();
    has(&mut story, "Turn this tool on");
    let off = |is_on| AccessChange::SetTool {
        name: "mcp__docs__write".to_owned(),
        is_on,
    };
    story.keys("enter");
    story.settle();
    assert_eq!(changes(&fake), [off(false), off(true)]);
    story.keys("escape");
    story.act(ShowMcpServers).input("start docs").keys("enter");
    story.settle();
    assert_eq!(
        changes(&fake),
        [AccessChange::StartServer("docs".to_owned())]
    );
    story.keys("escape");

    story.act(ShowMcpServers).input("sign in").keys("enter");
    story.settle();
    has(&mut story, "Open this page in your browser?");
    story.keys("right enter");
    story.settle();
    let opened = story.cx.opened_url();
    assert_eq!(opened.as_deref(), Some("https://docs.example/authorize"));
    assert_eq!(story.reports(), ["the server \"docs\" is ready"]);
    story.keys("escape");

    story.act(ShowMcpServers).input("show log");
    has(&mut story, "it stumbled");
    story.keys("enter");
    story.settle();
    assert_eq!(story.text(), "first line\nit stumbled");
}

#[gpui_kit::test]
fn trust_and_consent_to_hooks_are_given_and_revoked(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let file = PendingHooks {
        path: path("/p/.claude/settings.json"),
        commands: vec!["./check".to_owned()],
        mark: "1".to_owned(),
    };
    fake.set_access(FolderAccess {
        trusted_folders: vec![path("/elsewhere")],
        hooks: vec![HookFileAccess {
            file: file.clone(),
            is_allowed: false,
            hooks: vec![HookAccess {
                event: "Stop".to_owned(),
                command: "./check".to_owned(),
                last: Some(HookResult {
                    at_ms: 1_699_999_880_000,
                    result: "failed with code 3: no".to_owned(),
                }),
            }],
        }],
        guides: vec![GuideAccess {
            name: "AGENTS.md".to_owned(),
            about: "instructions for every session".to_owned(),
            is_active: false,
        }],
        ..FolderAccess::default()
    });
    story.keys("ctrl-alt-b alt-t");
    story.settle();
    for text in [
        "/elsewhere, Revoke trust",
        "Stop: ./check, failed with code 3: no, 2 min ago",
        "AGENTS.md, instructions for every session",
    ] {
        has(&mut story, text);
    }
    story.input("elsewhere").keys("enter");
    story.settle();
    let trust = |folder: &str, is_trusted| AccessChange::SetTrusted {
        folder: path(folder),
        is_trusted,
    };
    assert_eq!(changes(&fake), [trust("/elsewhere", false)]);
    story.keys("escape");
    story.act(ShowTrust).input("trust this").keys("enter");
    story.settle();
    story.keys("right enter");
    story.settle();
    assert_eq!(changes(&fake), [trust("/p", true)]);
    story.keys("escape");
    story.act(ShowTrust).input("allow these").keys("enter");
    story.settle();
    has(&mut story, "Let the hooks in .claude/settings.json run?");
    story.keys("right enter");
    story.settle();
    assert_eq!(changes(&fake), [AccessChange::AllowHooks(file.clone())]);
    story.keys("escape");
    story.act(ShowTrust).input("revoke consent").keys("enter");
    story.settle();
    assert_eq!(changes(&fake), [AccessChange::RevokeHooks(file)]);
}
