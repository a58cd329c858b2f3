//! Every tool against files, real and not, and every way in which it can refuse.

mod changes;
mod commands;
mod files;
mod others;
mod walks;

use std::sync::Arc;

use base::AbsPath;
use host::{Clock, FakeClock, FakeFiles, Files, RealClock, RealFiles, TempFolder};
use model::Profile;
use serde_json::Value;

use super::{Ground, Options, Rooms, all};
use crate::ask::Desk;
use crate::outcome::Outcome;
use crate::sources::Sources;
use crate::tool::{Access, Answer, Call, Input, Tool, ToolContext};

/// A context over any files.
pub(crate) fn context_of(files: Arc<dyn Files>, clock: Arc<dyn Clock>, root: &str) -> ToolContext {
    let path = |path: &str| AbsPath::new(path).expect("absolute");
    let sources = Sources {
        files,
        clock,
        state: path("/state"),
        buffers: None,
        search: None,
        diagnostics: None,
        web: None,
    };
    context_with(sources, path(root))
}

fn context_with(sources: Sources, root: AbsPath) -> ToolContext {
    let (_, stop) = tokio::sync::watch::channel(false);
    let (progress, _) = tokio::sync::mpsc::channel(16);
    ToolContext {
        session: "s1".into(),
        turn: 1,
        root,
        sources: Arc::new(sources),
        sandbox: None,
        desk: Desk::empty(),
        stop,
        profile: Arc::new(Profile::harmless()),
        output_tokens: 10_000,
        progress,
    }
}

/// A project with all tools.
pub(super) struct World {
    pub(super) context: ToolContext,
    pub(super) options: Options,
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
        (Self::over(context, Ground::Files, None), files)
    }

    /// On the disk, in a folder that goes away.
    pub(super) fn real() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("root");
        RealFiles.create_folder(&root).expect("a folder");
        let sources = Sources {
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
            state: folder.path().join("state"),
            buffers: None,
            search: None,
            diagnostics: None,
            web: None,
        };
        let context = context_with(sources, root);
        Self::over(context, Ground::Disk, Some(folder))
    }

    /// In memory, with other options.
    pub(super) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let mut world = Self::fake().0;
        change(&mut world.options);
        world.tools = all(&world.options);
        world
    }

    /// In memory, with what is plugged in.
    pub(super) fn plugged(plug: impl FnOnce(&mut Sources)) -> Self {
        let files = Arc::new(FakeFiles::new());
        let path = |path: &str| AbsPath::new(path).expect("absolute");
        files.folder(&path("/r"));
        files.folder(&path("/state"));
        let mut sources = Sources {
            files,
            clock: Arc::new(FakeClock::at(0)),
            state: path("/state"),
            buffers: None,
            search: None,
            diagnostics: None,
            web: None,
        };
        plug(&mut sources);
        Self::over(context_with(sources, path("/r")), Ground::Files, None)
    }

    fn over(context: ToolContext, ground: Ground, folder: Option<TempFolder>) -> Self {
        let mut options = Options::new(&context.sources);
        options.rooms = Arc::new(Rooms::default());
        options.ground = ground;
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

    pub(super) fn access(&self, name: &str, input: Value) -> Result<Access, Answer> {
        self.tool(name).access(&call(name, input), &self.context)
    }

    /// What the loop does with a call: what it touches, then the call itself.
    pub(super) async fn call(&self, name: &str, input: Value) -> Answer {
        self.input(name, Input::Json(input)).await
    }

    pub(super) async fn input(&self, name: &str, input: Input) -> Answer {
        let tool = self.tool(name);
        let call = Call {
            input,
            ..call(name, Value::Null)
        };
        let answer = match tool.access(&call, &self.context) {
            Ok(access) => {
                assert!(!access.title.is_empty(), "{name} has no title");
                tool.run(&call, &self.context).await
            }
            Err(answer) => answer,
        };
        assert_ne!(
            answer.outcome,
            Outcome::Unknown,
            "{name}: {}",
            answer.text()
        );
        assert!(!answer.content.is_empty(), "{name} says nothing");
        walks::note(name, &answer);
        answer
    }
}

pub(super) fn call(name: &str, input: Value) -> Call {
    Call {
        id: "c1".to_owned(),
        tool: name.to_owned(),
        input: Input::Json(input),
        waits: false,
    }
}

/// That an answer is of a class and says something.
pub(super) fn assert_says(answer: &Answer, outcome: Outcome, says: &str) {
    let text = answer.text();
    assert_eq!(answer.outcome, outcome, "{text}");
    assert!(text.contains(says), "{says:?} is not in {text:?}");
}
