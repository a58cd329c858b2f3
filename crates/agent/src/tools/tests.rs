//! All tools against real and fake files, with every refusal.

mod changes;
mod commands;
mod files;
mod others;
mod running;
mod taken;
mod walks;

use std::sync::Arc;

use base::AbsPath;
use host::{Clock, FakeClock, FakeFiles, Files, RealClock, RealFiles, TempFolder};
use model::Profile;
use serde_json::Value;

use super::{SearchBackend, ToolOptions, ToolStates, all};
use crate::language::LanguageQueries;
use crate::language::scripted::ScriptedLanguage;
use crate::outcome::CallOutcome;
use crate::services::SessionServices;
use crate::tool::{CallInput, Tool, ToolAccess, ToolCall, ToolContext, ToolResult};
use crate::user_prompts::UserPrompts;

/// A context over any files.
pub(crate) fn context_of(files: Arc<dyn Files>, clock: Arc<dyn Clock>, root: &str) -> ToolContext {
    let path = |path: &str| AbsPath::new(path).expect("absolute");
    let sources = SessionServices {
        files,
        clock,
        state: path("/state"),
        buffers: None,
        search: None,
    };
    context_with(sources, path(root))
}

fn context_with(sources: SessionServices, root: AbsPath) -> ToolContext {
    let (_, stop) = tokio::sync::watch::channel(false);
    let (progress, _) = tokio::sync::mpsc::channel(16);
    ToolContext {
        session: "s1".into(),
        turn: 1,
        root,
        sources: Arc::new(sources),
        sandbox: None,
        prompts: UserPrompts::empty(),
        stop,
        profile: Arc::new(Profile::harmless()),
        output_tokens: 10_000,
        progress,
        control_changes: tokio::sync::mpsc::unbounded_channel().0,
    }
}

/// A project with all tools.
pub(super) struct World {
    pub(super) context: ToolContext,
    pub(super) options: ToolOptions,
    tools: Vec<Arc<dyn Tool>>,
    /// Removed at the end.
    _folder: Option<TempFolder>,
}

impl World {
    /// Below `/r`, in memory.
    pub(super) fn fake() -> (Self, Arc<FakeFiles>) {
        let files = Arc::new(FakeFiles::new());
        files.folder(&AbsPath::new("/r").expect("absolute"));
        files.folder(&AbsPath::new("/state").expect("absolute"));
        let context = context_of(files.clone(), Arc::new(FakeClock::at(0)), "/r");
        (Self::over(context, SearchBackend::Files, None), files)
    }

    /// On the disk, in a temporary folder.
    pub(super) fn real() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("root");
        RealFiles.create_folder(&root).expect("a folder");
        let sources = SessionServices {
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
            state: folder.path().join("state"),
            buffers: None,
            search: None,
        };
        let context = context_with(sources, root);
        Self::over(context, SearchBackend::Disk, Some(folder))
    }

    /// In memory, with other options.
    pub(super) fn with(change: impl FnOnce(&mut ToolOptions)) -> Self {
        let mut world = Self::fake().0;
        change(&mut world.options);
        world.tools = all(&world.options);
        world
    }

    /// In memory, with optional services.
    pub(super) fn plugged(plug: impl FnOnce(&mut SessionServices)) -> Self {
        let files = Arc::new(FakeFiles::new());
        let path = |path: &str| AbsPath::new(path).expect("absolute");
        files.folder(&path("/r"));
        files.folder(&path("/state"));
        let mut sources = SessionServices {
            files,
            clock: Arc::new(FakeClock::at(0)),
            state: path("/state"),
            buffers: None,
            search: None,
        };
        plug(&mut sources);
        Self::over(
            context_with(sources, path("/r")),
            SearchBackend::Files,
            None,
        )
    }

    /// In memory, with the tools over these language servers.
    pub(super) fn with_language(language: Arc<ScriptedLanguage>) -> Self {
        let mut world = Self::fake().0;
        let queries: Arc<dyn LanguageQueries> = language;
        let more = super::language::all(&queries, &world.options.states);
        world.tools.extend(more);
        world
    }

    fn over(context: ToolContext, ground: SearchBackend, folder: Option<TempFolder>) -> Self {
        let mut options = ToolOptions::new(&context.sources);
        options.states = Arc::new(ToolStates::default());
        options.search_backend = ground;
        let tools = all(&options);
        Self {
            context,
            options,
            tools,
            _folder: folder,
        }
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.context.root.join(path);
        let files = &self.context.sources.files;
        let folder = path.parent().expect("below the root");
        files.create_folder(&folder).expect("a folder");
        files.write_private(&path, text.as_bytes()).expect("a file");
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        let bytes = self
            .context
            .sources
            .files
            .read(&self.context.root.join(path), 1 << 20);
        bytes
            .ok()
            .map(|bytes| String::from_utf8(bytes).expect("text"))
    }

    pub(super) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let found = self.tools.iter().find(|tool| tool.name() == name);
        Arc::clone(found.unwrap_or_else(|| panic!("there is no tool {name}")))
    }

    pub(super) fn access(&self, name: &str, input: Value) -> Result<ToolAccess, ToolResult> {
        self.tool(name).access(&call(name, input), &self.context)
    }

    /// Handles a call like the engine does: its accesses, then the call itself.
    pub(super) async fn call(&self, name: &str, input: Value) -> ToolResult {
        self.input(name, CallInput::Json(input)).await
    }

    pub(super) async fn input(&self, name: &str, input: CallInput) -> ToolResult {
        let tool = self.tool(name);
        let call = ToolCall {
            input,
            ..call(name, Value::Null)
        };
        let access = match tool.planned_access(&call, &self.context) {
            Some(planned) => planned.await,
            None => tool.access(&call, &self.context),
        };
        let answer = match access {
            Ok(access) => {
                assert!(!access.title.is_empty(), "{name} has no title");
                tool.run(&call, &access, &self.context).await
            }
            Err(answer) => answer,
        };
        assert_ne!(
            answer.outcome,
            CallOutcome::Unknown,
            "{name}: {}",
            answer.text()
        );
        assert!(!answer.content.is_empty(), "{name} says nothing");
        walks::note(name, &answer);
        answer
    }
}

pub(super) fn call(name: &str, input: Value) -> ToolCall {
    ToolCall {
        id: "c1".to_owned(),
        tool: name.to_owned(),
        input: CallInput::Json(input),
        waits: false,
    }
}

/// Checks that a result has this outcome and contains this text.
pub(super) fn assert_says(answer: &ToolResult, outcome: CallOutcome, says: &str) {
    let text = answer.text();
    assert_eq!(answer.outcome, outcome, "{text}");
    assert!(text.contains(says), "{says:?} is not in {text:?}");
}
