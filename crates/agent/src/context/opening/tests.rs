//! Additions to a prompt, at the start and later.

use super::*;
use futures::FutureExt;
use futures::future::BoxFuture;
use host::{FakeClock, FakeFiles, Files, RealFiles};

use crate::services::{Buffers, CodeMatch, CodeSearch};

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).unwrap()
}

fn code(found: &[CodeLocations]) -> MentionContents<'_> {
    MentionContents {
        code: found,
        ..MentionContents::default()
    }
}

fn sources(files: &FakeFiles) -> SessionServices {
    SessionServices {
        files: Arc::new(files.clone()),
        clock: Arc::new(FakeClock::at(1_795_305_600_000)),
        state: path("/state"),
        buffers: None,
        search: None,
    }
}

fn tools() -> Vec<(String, String)> {
    let names = [
        "read",
        "grep",
        "edit",
        "write",
        "exec_command",
        "skill",
        "fetch",
    ];
    names
        .iter()
        .map(|name| ((*name).to_owned(), (*name).to_owned()))
        .collect()
}

fn opening<'a>(
    sources: &'a SessionServices,
    root: &'a AbsPath,
    profile: &'a Profile,
) -> SessionOpening<'a> {
    SessionOpening {
        sources,
        root,
        profile,
        tools: tools(),
        role: AgentRole::Main,
        mode: SessionMode::Build,
        is_trusted: true,
        config: Some(path("/config")),
        surroundings: SessionEnvironment {
            system: "Linux (x86_64)".into(),
            shell: "bash".into(),
            ..SessionEnvironment::default()
        },
    }
}

fn project() -> FakeFiles {
    let files = FakeFiles::new();
    let contents = [
        ("/p/AGENTS.md", "Run make test.\n"),
        ("/p/web/AGENTS.md", "Two spaces.\n"),
        ("/p/web/app.ts", "let a;\nlet b;\n"),
        (
            "/p/.cursor/rules/names.mdc",
            "---\ndescription: How to name things\n---\nFull words.\n",
        ),
        (
            "/p/.cursor/rules/always.mdc",
            "---\nalwaysApply: true\n---\nBe kind.\n",
        ),
        (
            "/p/.cursor/rules/ts.mdc",
            "---\nglobs: *.ts\n---\nNo any.\n",
        ),
        (
            "/p/.cursor/rules/secret.mdc",
            "---\n---\nOnly when asked.\n",
        ),
        (
            "/p/.agents/skills/release/SKILL.md",
            "---\nname: release\ndescription: Makes a release\n---\nTag it.\n",
        ),
        ("/config/AGENTS.md", "I like tabs.\n"),
    ];
    for (name, text) in contents {
        files.write(&path(name), text);
    }
    files
}

/// Formats additions: place, origin, and the text without its tags.
fn told(joining: &PromptAdditions) -> Vec<String> {
    let records = joining.records.iter().map(|record| {
        let SessionRecord::Joined {
            place,
            origin,
            text,
        } = record
        else {
            panic!("only joined texts: {record:?}");
        };
        let place = match place {
            PromptPosition::System => "system",
            PromptPosition::BeforePrompt => "before",
            PromptPosition::AfterResults => "after",
        };
        let origin = match origin {
            PromptOrigin::Pack { name } => format!("pack {name}"),
            PromptOrigin::Rules { path } => format!("rules {path}"),
            PromptOrigin::Skill { name } => format!("skill {name}"),
            PromptOrigin::Header => "header".to_owned(),
            PromptOrigin::Mention { what } => format!("mention {what}"),
            other => format!("{other:?}"),
        };
        assert!(text.ends_with('\n'), "{origin} ends without a line end");
        format!("{place}: {origin}")
    });
    records.collect()
}

fn texts(joining: &PromptAdditions) -> String {
    let texts = joining.records.iter().map(|record| match record {
        SessionRecord::Joined { text, .. } => text.as_str(),
        _ => "",
    });
    texts.collect()
}

#[test]
fn session_start_orders_stable_parts_first_with_origins() {
    let files = project();
    let (sources, root, profile) = (sources(&files), path("/p"), Profile::harmless());
    let (_, joining) = opening(&sources, &root, &profile).build();
    assert_eq!(
        told(&joining),
        [
            "system: pack generic",
            "system: rules /config/AGENTS.md",
            "system: rules AGENTS.md",
            "system: rules .cursor/rules/always.mdc",
            "system: rules list of rules",
            "system: skill list of skills",
            "before: header",
        ]
    );
    let text = texts(&joining);
    assert!(text.find("I like tabs").unwrap() < text.find("Run make test").unwrap());
    assert!(text.contains("- .cursor/rules/names.mdc: How to name things\n"));
    assert!(!text.contains("No any") && !text.contains("Only when asked"));
    assert!(!text.contains("Tag it"));
    assert!(text.contains("Date: 2026-11-22\n"));
    assert_eq!(joining.problems, Vec::<String>::new());
    // The same input gives the same bytes.
    assert_eq!(opening(&sources, &root, &profile).build().1, joining);
}

#[test]
fn untrusted_projects_add_nothing() {
    let files = project();
    let (sources, root, profile) = (sources(&files), path("/p"), Profile::harmless());
    let mut opening = opening(&sources, &root, &profile);
    opening.is_trusted = false;
    let (mut context, joining) = opening.build();
    let text = texts(&joining);
    assert!(text.contains("I like tabs"));
    for word in ["make test", "Be kind", "release", "names.mdc"] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(joining.problems[0].contains("not trusted"));
    assert_eq!(
        context.touched(&sources, &["web/app.ts".into()]),
        PromptAdditions::default()
    );
    let around = opening.surroundings.clone();
    let prompt = context.prompt(
        &sources,
        &around,
        "@secret @release @web/app.ts",
        MentionContents::default(),
    );
    assert_eq!(told(&prompt), ["before: mention web/app.ts"]);
}

#[test]
fn touched_files_add_their_instructions_once() {
    let files = project();
    let (sources, root, profile) = (sources(&files), path("/p"), Profile::harmless());
    let opening = opening(&sources, &root, &profile);
    let (mut context, beginning) = opening.build();
    let touch = |context: &mut PromptContext, name: &str| context.touched(&sources, &[name.into()]);
    assert_eq!(
        told(&touch(&mut context, "README.md")),
        Vec::<String>::new()
    );
    let first = touch(&mut context, "web/app.ts");
    assert_eq!(
        told(&first),
        [
            "after: rules web/AGENTS.md",
            "after: rules .cursor/rules/ts.mdc"
        ]
    );
    assert_eq!(
        touch(&mut context, "web/app.ts"),
        PromptAdditions::default()
    );
    // A resumed session has the same state.
    let records: Vec<SessionRecord> = beginning.records.into_iter().chain(first.records).collect();
    let mut again = opening.resume(&records);
    assert_eq!(touch(&mut again, "web/app.ts"), PromptAdditions::default());
    assert_eq!(
        again.prompt(
            &sources,
            &opening.surroundings,
            "go on",
            MentionContents::default()
        ),
        PromptAdditions::default()
    );
}

#[test]
fn later_prompts_add_only_environment_changes() {
    let files = project();
    let (sources, root, profile) = (sources(&files), path("/p"), Profile::harmless());
    let opening = opening(&sources, &root, &profile);
    let (mut context, _) = opening.build();
    let mut around = opening.surroundings.clone();
    let none = context.prompt(&sources, &around, "hello", MentionContents::default());
    assert_eq!(none, PromptAdditions::default());
    around.files.open = vec!["web/app.ts".into()];
    let change = context.prompt(&sources, &around, "hello", MentionContents::default());
    assert_eq!(
        texts(&change),
        "<environment now=\"changed\">\nOpen files: web/app.ts\n</environment>\n"
    );
    let none = context.prompt(&sources, &around, "hello", MentionContents::default());
    assert_eq!(none, PromptAdditions::default());
}

#[test]
fn mentions_resolve_to_file_rule_skill_or_symbol() {
    let files = project();
    let (sources, root, profile) = (sources(&files), path("/p"), Profile::harmless());
    let opening = opening(&sources, &root, &profile);
    let found = [CodeLocations {
        name: "Cart".into(),
        places: vec![CodeMatch {
            path: "web/app.ts".into(),
            lines: (1, 2),
            symbol: Some("class Cart".into()),
            text: "class Cart {}".into(),
            score: 1.0,
        }],
    }];
    let check = |text: &str, expected: &[&str], words: &str, problems: usize| {
        let (mut context, _) = opening.build();
        let joining = context.prompt(
            &sources,
            &opening.surroundings,
            text,
            MentionContents {
                code: &found,
                ..MentionContents::default()
            },
        );
        assert_eq!(told(&joining), expected, "{text}");
        assert!(texts(&joining).contains(words), "{text}: {joining:?}");
        assert_eq!(
            joining.problems.len(),
            problems,
            "{text}: {:?}",
            joining.problems
        );
    };
    check(
        "fix @web/app.ts:2",
        &[
            "before: rules web/AGENTS.md",
            "before: rules .cursor/rules/ts.mdc",
            "before: mention web/app.ts:2-2",
        ],
        "     2\tlet b;\n",
        0,
    );
    check(
        "@AGENTS.md and @AGENTS.md",
        &["before: mention AGENTS.md"],
        "Run make test",
        0,
    );
    check(
        "@web/ then",
        &["before: mention web/"],
        "AGENTS.md\napp.ts\n",
        0,
    );
    check(
        "@secret",
        &["before: rules .cursor/rules/secret.mdc"],
        "Only when asked.",
        0,
    );
    check("@release", &["before: skill release"], "Tag it.", 0);
    check(
        "@Cart",
        &["before: mention Cart"],
        "class Cart in web/app.ts:1-2\nclass Cart {}",
        0,
    );
    check("@terminal", &[], "", 1);
    check(
        "@https://a.org",
        &["before: mention https://a.org"],
        "read it with `fetch`",
        0,
    );
    check("@someone said a@b.c", &[], "", 0);
    check("@web/gone.ts", &[], "", 1);
    check("@../config/AGENTS.md", &[], "", 1);
    // There is no repository here.
    check("@diff", &[], "", 1);
}

#[test]
fn mode_changes_add_a_message_both_ways() {
    let files = project();
    let (sources, root, profile) = (sources(&files), path("/p"), Profile::harmless());
    let mut opening = opening(&sources, &root, &profile);
    opening.mode = SessionMode::Plan;
    let (context, joining) = opening.build();
    assert!(texts(&joining).contains("Plan mode:"));
    let SessionRecord::Joined { place, text, .. } = context.mode(SessionMode::Build) else {
        panic!("a text joins");
    };
    assert_eq!(place, PromptPosition::BeforePrompt);
    assert!(text.starts_with("Build mode:"));
}

struct Open;

impl Buffers for Open {
    fn text(&self, path: &AbsPath) -> Option<String> {
        (path.name() == "app.ts").then(|| "unsaved\n".to_owned())
    }
}

struct Index;

impl CodeSearch for Index {
    fn by_meaning(
        &self,
        _: &AbsPath,
        question: String,
        _: Option<String>,
        _: usize,
    ) -> BoxFuture<'static, Result<Vec<CodeMatch>, crate::Error>> {
        let place = CodeMatch {
            path: "cart.rs".into(),
            lines: (2, 3),
            symbol: Some("total".into()),
            text: question,
            score: 1.0,
        };
        async { Ok(vec![place]) }.boxed()
    }

    fn symbols(
        &self,
        _: &AbsPath,
        name: String,
        _: usize,
    ) -> BoxFuture<'static, Result<Vec<CodeMatch>, crate::Error>> {
        let place = CodeMatch {
            path: "x.rs".into(),
            lines: (1, 1),
            symbol: None,
            text: name.clone(),
            score: 1.0,
        };
        let places = if name == "total" {
            vec![place]
        } else {
            Vec::new()
        };
        async { Ok(places) }.boxed()
    }
}

#[test]
fn mentions_prefer_open_texts_and_look_up_symbols() {
    let files = project();
    let (mut sources, root, profile) = (sources(&files), path("/p"), Profile::harmless());
    sources.buffers = Some(Arc::new(Open));
    sources.search = Some(Arc::new(Index));
    let opening = opening(&sources, &root, &profile);
    let (mut context, _) = opening.build();
    let text = "@total() and @other in @web/app.ts";
    let found = crate::context::symbols(&sources, &root, text)
        .now_or_never()
        .unwrap();
    assert_eq!(found.len(), 1);
    let joining = context.prompt(&sources, &opening.surroundings, text, code(&found));
    assert!(texts(&joining).contains("unsaved"));
    assert!(texts(&joining).contains("<symbol name=\"total()\">\ntotal() in x.rs:1-1\ntotal\n"));
}

#[test]
fn codebase_mention_adds_search_results() {
    let files = project();
    let (mut sources, root, profile) = (sources(&files), path("/p"), Profile::harmless());
    let text = "@codebase how is the total computed?";
    let join = |sources: &SessionServices| {
        let opening = opening(sources, &root, &profile);
        let (mut context, _) = opening.build();
        let found = crate::context::symbols(sources, &root, text).now_or_never();
        context.prompt(sources, &opening.surroundings, text, code(&found.unwrap()))
    };
    let without = join(&sources);
    assert_eq!(
        without.problems,
        ["there is no code index, so @codebase has no results"]
    );
    sources.search = Some(Arc::new(Index));
    let joining = join(&sources);
    let expected = "<codebase>\ntotal in cart.rs:2-3\nhow is the total computed?\n</codebase>\n";
    assert!(texts(&joining).contains(expected), "{}", texts(&joining));
}

/// Creates a temporary folder with a repository, using the git binary.
fn repository() -> (host::TempFolder, AbsPath) {
    let folder = host::TempFolder::new().unwrap();
    let root = RealFiles.canonicalize(folder.path()).unwrap();
    let git = |arguments: &[&str]| {
        let mut all = vec![
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.org",
            "-c",
            "init.defaultBranch=main",
        ];
        all.extend(arguments);
        let request = host::process::ProcessRequest::new("git", &root).with_arguments(all);
        assert!(
            host::process::run(&request).unwrap().is_success(),
            "{arguments:?}"
        );
    };
    RealFiles
        .write_private(&root.join("a.txt"), b"one\ntwo\n")
        .unwrap();
    git(&["init", "-q"]);
    git(&["add", "a.txt"]);
    git(&["commit", "-qm", "First"]);
    (folder, root)
}

#[test]
fn repository_state_is_in_header_and_diff_mention() {
    let (_folder, root) = repository();
    let mut sources = sources(&FakeFiles::new());
    sources.files = Arc::new(RealFiles);
    let profile = Profile::harmless();
    let opening = opening(&sources, &root, &profile);
    let (mut context, joining) = opening.build();
    assert!(
        texts(&joining).contains("\nGit: branch main\n"),
        "{joining:?}"
    );
    RealFiles
        .write_private(&root.join("a.txt"), b"one\n2\n")
        .unwrap();
    RealFiles
        .write_private(&root.join("b.txt"), b"new\n")
        .unwrap();
    let joining = context.prompt(
        &sources,
        &opening.surroundings,
        "see @diff",
        MentionContents::default(),
    );
    assert_eq!(told(&joining), ["before: header", "before: mention diff"]);
    let text = texts(&joining);
    assert!(
        text.contains("\nChanged files: a.txt (modified), b.txt (new)\n"),
        "{text}"
    );
    assert!(
        text.contains("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
        "{text}"
    );
    assert!(
        text.contains("--- /dev/null\n+++ b/b.txt\n@@ -1,0 +1,1 @@\n+new\n"),
        "{text}"
    );
}
