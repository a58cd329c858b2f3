//! Trees with a scripted server for SQL, inside the sandbox of a session.

use std::time::Duration;

use agent::language::{
    DiagnosticsAnswer, LineRange, SymbolLocation, SymbolPosition, SymbolRelation, TextChange,
};
use agent::tool::{ToolAccess, ToolClass, ToolResult};
use agent::{CallObserver as _, ObservedCall};
use composer::folder_review::FolderReviews;
use host::process::{ProcessRequest, run};
use host::{Files as _, RealFiles, TempFolder};
use serde_json::json;

use super::file_changes::tests::{call, context, log};
use super::*;
use crate::sandbox_policy::{Confinement, SessionRoot};

/// Time for the reports of the scripted server.
const TIME: Duration = Duration::from_secs(60);

/// A user with a scripted server, and a tree with one file that it serves.
struct World {
    folder: TempFolder,
    dirs: Dirs,
    tree: AgentTree,
    /// The behaviour of the server.
    behaviour: &'static str,
}

impl World {
    fn new() -> Self {
        Self::with("types")
    }

    fn with(behaviour: &'static str) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("tree");
        RealFiles.create_folder(&root).expect("a folder");
        let root = RealFiles.canonicalize(&root).expect("it exists");
        let dirs = Dirs::under(&folder.path().join("own"));
        dirs.create().expect("folders");
        let (sandbox, problems) = sandbox_policy::sandbox(
            &dirs,
            SessionRoot::for_user_folder(&root),
            &Confinement::default(),
        );
        assert_eq!(problems, Vec::<String>::new());
        let tree = AgentTree {
            checkout: root.clone(),
            is_trusted: true,
            sandbox: TreeSandbox::On(sandbox.expect("a sandbox")),
            variables: Vec::new(),
            root,
        };
        let world = Self {
            folder,
            dirs,
            tree,
            behaviour,
        };
        world.set("enabled", true);
        world.write("a.sql", "fine\nwrong\n");
        world
    }

    /// Writes the settings with this flag.
    fn set(&self, flag: &str, value: bool) {
        let script = test_support::data("language-server.sh");
        let server = json!({
            "command": script.canonicalize().expect("the script"),
            "args": [self.behaviour, self.mark()],
            "languages": ["SQL"],
        });
        let settings = json!({ "lsp": { flag: value, "servers": { "script": server } } });
        let path = self.dirs.config.join("settings.json");
        let text = settings.to_string();
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("a file");
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.tree.root.join(name);
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("a file");
    }

    /// An argument by which the processes of the server are known.
    fn mark(&self) -> String {
        self.folder.path().to_string()
    }

    /// The number of living processes of the server.
    fn living(&self) -> usize {
        let request = ProcessRequest::new("ps", self.folder.path());
        let output = run(&request.with_arguments(["axww", "-o", "args"])).expect("ps runs");
        let (text, mark) = (output.text(), self.mark());
        let is_server = |line: &&str| line.contains("language-server.sh") && line.contains(&mark);
        text.lines().filter(is_server).count()
    }

    fn log(&self) -> String {
        let path = self.dirs.server_logs().join("agents/script.log");
        let bytes = RealFiles.read(&path, 1 << 20).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    async fn offer_to(&self, tree: AgentTree) -> LanguageOffer {
        let pool = AgentLanguagePool::new(&self.dirs, None, TreeWatchers::default());
        pool.offer(tree, &Arc::default()).await
    }

    async fn queries(&self) -> Arc<dyn LanguageQueries> {
        let offer = self.offer_to(self.tree.clone()).await;
        offer.edit_diagnostics.expect("servers")
    }
}

/// The lines and messages of the reported errors.
fn errors(answer: &DiagnosticsAnswer) -> Vec<(String, u32, String)> {
    let files = answer.files.iter();
    let errors = files.flat_map(|file| {
        let errors = file.diagnostics.iter().filter(|it| it.is_error);
        errors.map(|it| (file.path.clone(), it.line, it.message.clone()))
    });
    errors.collect()
}

fn position(line: u32) -> SymbolPosition {
    SymbolPosition {
        path: "a.sql".to_owned(),
        line,
        column: 1,
    }
}

#[tokio::test]
async fn tools_are_offered_where_servers_may_run() {
    let world = World::new();
    let names = async |tree: AgentTree| {
        let tools = world.offer_to(tree).await.tools;
        tools
            .iter()
            .map(|tool| tool.name().to_owned())
            .collect::<Vec<_>>()
    };
    let all = [
        "diagnostics",
        "definition",
        "references",
        "hover",
        "rename",
        "code_action",
    ];
    assert_eq!(names(world.tree.clone()).await, all);
    let none = Vec::<String>::new();
    let untrusted = AgentTree {
        is_trusted: false,
        ..world.tree.clone()
    };
    assert_eq!(names(untrusted).await, none);
    let weak = AgentTree {
        sandbox: TreeSandbox::Weak,
        ..world.tree.clone()
    };
    assert_eq!(names(weak).await, none);
    for flag in ["enabled", "agents"] {
        world.set(flag, false);
        assert_eq!(names(world.tree.clone()).await, none, "{flag}");
    }
    world.set("diagnostics_after_edit", false);
    let offer = world.offer_to(world.tree.clone()).await;
    assert!(offer.edit_diagnostics.is_none() && offer.tools.len() == all.len());
    world.set("enabled", true);
    RealFiles
        .trash(&world.tree.root.join("a.sql"))
        .expect("in the trash");
    world.write("a.unknown", "");
    assert_eq!(names(world.tree.clone()).await, none);
    assert_eq!(world.living(), 0);
}

#[tokio::test]
async fn servers_answer_inside_the_sandbox_and_end_with_the_session() {
    let world = World::new();
    let queries = world.queries().await;
    let error = |line| {
        let message = "mismatched types [script]".to_owned();
        vec![("a.sql".to_owned(), line, message)]
    };
    let paths = || vec!["a.sql".to_owned(), "none.sql".to_owned()];
    let answer = queries.diagnostics(paths(), TIME).await.expect("an answer");
    assert_eq!(errors(&answer), error(2), "{answer:?} {}", world.log());
    let missing = "it does not exist, or is no text file of moderate size";
    assert_eq!(
        answer.unreported,
        [("none.sql".to_owned(), missing.to_owned())]
    );
    // The server cannot write into the tree, as the script tries to.
    assert!(!RealFiles.exists(&world.tree.root.join("server-pids")));
    assert!(world.living() > 0);
    // Another program changes the file.
    world.write("a.sql", "one\ntwo\nwrong\n");
    let answer = queries.diagnostics(paths(), TIME).await.expect("an answer");
    assert_eq!(errors(&answer), error(3));
    world.write("a.sql", "one\n");
    let answer = queries.diagnostics(paths(), TIME).await.expect("an answer");
    assert_eq!(errors(&answer), []);
    drop(queries);
    while world.living() > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn symbols_are_found_and_renamed() {
    let world = World::new();
    world.write("a.sql", "fine\r\nwords\r\n");
    let queries = world.queries().await;
    let found = queries.locations(SymbolRelation::References, position(2));
    let location = SymbolLocation {
        path: "a.sql".to_owned(),
        line: 1,
        text: "fine".to_owned(),
    };
    assert_eq!(found.await.expect("an answer"), [location]);
    let found = queries.locations(SymbolRelation::Definition, position(2));
    assert_eq!(found.await.expect("an answer"), []);
    let hover = queries.hover(position(1)).await.expect("an answer");
    assert_eq!(hover.as_deref(), Some("a word"));
    let change = |new: &str| {
        vec![TextChange {
            path: "a.sql".to_owned(),
            old: Some("fine\r\nwords\r\n".to_owned()),
            new: new.to_owned(),
        }]
    };
    let renamed = queries.rename(position(1), "better".to_owned()).await;
    assert_eq!(renamed.expect("changes"), change("better\r\nwords\r\n"));
    let lines = || LineRange {
        path: "a.sql".to_owned(),
        first: 1,
        last: 2,
    };
    let actions = queries.code_actions(lines()).await.expect("actions");
    assert_eq!((actions.len(), actions[0].is_preferred), (1, true));
    let title = actions[0].title.clone();
    let changed = queries.code_action_changes(lines(), title).await;
    assert_eq!(changed.expect("changes"), change("right\r\nwords\r\n"));
    let unknown = queries.code_action_changes(lines(), "other".to_owned());
    assert!(unknown.await.is_err());
}

#[tokio::test]
async fn files_without_a_server_are_named_with_the_reason() {
    let world = World::new();
    world.write("a.txt", "text\n");
    let queries = world.queries().await;
    let none = queries.diagnostics(Vec::new(), Duration::ZERO).await;
    assert_eq!(none.expect("an answer"), DiagnosticsAnswer::default());
    assert_eq!(world.living(), 0);
    let answer = queries.diagnostics(vec!["a.txt".to_owned()], TIME).await;
    let reason = "no installed language server serves it".to_owned();
    let expected = DiagnosticsAnswer {
        files: Vec::new(),
        unreported: vec![("a.txt".to_owned(), reason)],
    };
    assert_eq!(answer.expect("an answer"), expected);
    let outside = SymbolPosition {
        path: "a.txt".to_owned(),
        ..position(1)
    };
    let error = queries.hover(outside).await.expect_err("no server");
    assert!(error.to_string().contains("no installed language server"));
}

#[tokio::test]
async fn settings_of_a_project_count_only_with_stored_trust() {
    let world = World::new();
    let folder = world.tree.root.join(".burin");
    RealFiles.create_folder(&folder).expect("a folder");
    let own = json!({ "lsp": { "servers": { "script": { "args": ["silent", world.mark()] } } } });
    world.write(".burin/settings.json", &own.to_string());
    let arguments = || {
        let settings = language_servers::checkout_settings(&world.dirs, &world.tree.root);
        settings.lsp.servers.0["script"].args.clone()
    };
    let expected = |behaviour: &str| Some(vec![behaviour.to_owned(), world.mark()]);
    assert_eq!(arguments(), expected("types"));
    crate::trust::set_trusted(&RealFiles, &world.dirs, &world.tree.root, true).expect("stored");
    assert_eq!(arguments(), expected("silent"));
}

#[tokio::test]
async fn servers_without_queries_end() {
    let world = World::new();
    let queries = world.queries().await;
    let paths = vec!["a.sql".to_owned()];
    let answer = queries.diagnostics(paths.clone(), TIME).await;
    assert_eq!(errors(&answer.expect("an answer")).len(), 1);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(601)).await;
    tokio::time::resume();
    while world.living() > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The next query starts them again.
    let answer = queries.diagnostics(paths, TIME).await;
    assert_eq!(errors(&answer.expect("an answer")).len(), 1);
}

/// Runs a command of an agent that does `action`.
async fn run_command(observer: &SessionCallObserver, root: &AbsPath, action: impl FnOnce() + Send) {
    let observed = ObservedCall {
        class: ToolClass::Execute,
        call: &call(),
        access: &ToolAccess::default(),
        context: &context(root),
    };
    let run = Box::pin(async {
        action();
        ToolResult::ok("done")
    });
    observer.observe(observed, run).await;
}

/// Checks that reports follow the changes that commands make of a file that is not open.
async fn check_unopened_file(world: World, watchers: TreeWatchers) {
    let pool = AgentLanguagePool::new(&world.dirs, None, watchers.clone());
    let offer = pool.offer(world.tree.clone(), &Arc::default()).await;
    let queries = offer.edit_diagnostics.expect("servers");
    let observer = SessionCallObserver {
        reviews: FolderReviews::new(&world.dirs, watchers.clone(), None),
        watchers,
        language: Arc::new(pool),
    };
    let root = &world.tree.root;
    let messages = async || {
        let answer = queries.diagnostics(vec!["a.sql".to_owned()], TIME).await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.unreported, [], "{}", world.log());
        let errors = errors(&answer).into_iter();
        errors.map(|(_, _, message)| message).collect::<Vec<_>>()
    };
    assert_eq!(messages().await, Vec::<String>::new());
    run_command(&observer, root, || world.write("b.sql", "one")).await;
    assert_eq!(messages().await, ["b.sql has one [script S1]"]);
    run_command(&observer, root, || world.write("b.sql", "three")).await;
    assert_eq!(messages().await, ["b.sql has three [script S1]"]);
    run_command(&observer, root, || {
        RealFiles.remove(&root.join("b.sql")).expect("removed");
    })
    .await;
    assert_eq!(messages().await, Vec::<String>::new());
}

#[tokio::test]
async fn servers_are_notified_of_files_that_commands_change() {
    check_unopened_file(World::with("reads"), TreeWatchers::default()).await;
}

#[tokio::test]
async fn servers_of_a_logged_tree_are_notified_of_files_that_commands_change() {
    let world = World::with("reads");
    let watchers = TreeWatchers::default();
    let log = log(&world.tree.root, &world.folder.path().join("log"));
    watchers.add(Arc::new(Mutex::new(log)));
    check_unopened_file(world, watchers).await;
}
