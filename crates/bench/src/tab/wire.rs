//! Time from a keystroke to its request at the server, without the debounce: the engine handles the edit, gathers
//! context from a project of 15,000 files and builds the prompt, the router sends it, and a loopback socket receives the
//! whole request.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use autocomplete::context::{ContextSnippet, ContextSource, Diagnostic, SnippetReason};
use autocomplete::engine::{
    CompletionEngine, CompletionRequest, EngineEffect, EngineInput, EngineOptions, TabKind,
    TabModel,
};
use autocomplete::validate::{RecentEdits, check};
use autocomplete::{
    ChangeCause, DocumentEdit, EditorState, SuggestedEdit, Suggestion, SuggestionId,
    SuggestionSource,
};
use base::{AbsPath, Row, Span};
use futures::StreamExt;
use model::ModelId;
use model::policy::AgentId;
use router::actor::{RouterHandle, RouterRequest as Asked};
use syntax::{Budget, PlainTree, SyntaxTree, language_named};
use text::{Buffer, EditOrigin, Timestamp};

use crate::corpus;
use crate::figure::Figure;
use crate::interleave::quantile;
use crate::router::world::{start_router, wire_lanes};

/// Files of the project.
const FILES: usize = 15_000;
/// Number of keystrokes measured, and of those before them that are not.
const KEYS: usize = 300;
const FIRST: usize = 20;
/// Maximum times in milliseconds.
const P50: f64 = 1.0;
const P99: f64 = 5.0;
const CHECK: f64 = 1.0;

/// Times of a keystroke in milliseconds.
struct Pressed {
    /// In the engine.
    machine: f64,
    /// From the keystroke until the server has the whole request.
    wire: f64,
    /// For checking a suggestion at the caret.
    check: f64,
}

/// Definitions in the project by name.
struct Project {
    definitions: HashMap<String, Vec<ContextSnippet>>,
    files: usize,
}

/// Measures the figures.
pub(super) fn run() -> Result<Vec<Figure>, String> {
    let project = Project::read()?;
    let (url, came) = serve()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let _inside = runtime.enter();
    let router = start_router(wire_lanes(&url));
    let mut keys = Keys::new(&project)?;
    let (mut machine, mut whole, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    for key in 0..FIRST + KEYS {
        let pressed = keys.press(&router, &runtime, &came)?;
        if key >= FIRST {
            machine.push(pressed.machine);
            whole.push(pressed.wire);
            checks.push(pressed.check);
        }
    }
    let files = project.files;
    let figure = |what: &str, of: &[f64], share, goal| {
        let value = quantile(of.iter().copied(), share);
        Figure::alone(
            format!("{what}, {files} files"),
            value,
            "ms",
            of.len(),
            goal,
        )
    };
    Ok(vec![
        figure("key to request at the server, p50", &whole, 0.5, Some(P50)),
        figure("key to request at the server, p99", &whole, 0.99, Some(P99)),
        figure("of that in the machine, p50", &machine, 0.5, None),
        figure("of that in the machine, p99", &machine, 0.99, None),
        figure(
            "check of a suggestion in 2,000 lines, p50",
            &checks,
            0.5,
            Some(CHECK),
        ),
        figure(
            "check of a suggestion in 2,000 lines, p99",
            &checks,
            0.99,
            None,
        ),
    ])
}

/// A large Rust file in which keys are pressed in many rows.
struct Keys<'a> {
    project: &'a Project,
    engine: CompletionEngine,
    buffer: Buffer,
    tree: SyntaxTree,
    path: Option<AbsPath>,
    pressed: u32,
    now: Duration,
}

impl<'a> Keys<'a> {
    fn new(project: &'a Project) -> Result<Self, String> {
        let language = language_named("Rust").ok_or("there is no grammar for Rust")?;
        language.prepare();
        let buffer = Buffer::new(&corpus::rust_file(2_000)?);
        let mut tree = SyntaxTree::new(language);
        drop(tree.parse(&buffer.snapshot(), &mut Budget::unlimited()));
        let id = ModelId {
            provider: "mock".to_owned(),
            model: "tab".to_owned(),
        };
        let model = TabModel {
            id,
            kind: TabKind::Gap,
            is_serial: false,
        };
        let engine = CompletionEngine::new(EngineOptions {
            root: AbsPath::new("/project"),
            ..EngineOptions::model(model)
        });
        Ok(Self {
            project,
            engine,
            buffer,
            tree,
            path: AbsPath::new("/project/src/large.rs"),
            pressed: 0,
            now: Duration::from_secs(1),
        })
    }

    /// Presses a key at the end of another row.
    fn press(
        &mut self,
        router: &RouterHandle,
        runtime: &tokio::runtime::Runtime,
        came: &Receiver<Instant>,
    ) -> Result<Pressed, String> {
        self.pressed += 1;
        self.now += Duration::from_secs(3);
        let before = self.buffer.snapshot();
        let row = Row(self.pressed * 37 % before.row_count());
        let at = before.row_end(row);
        let origin = EditOrigin::typing(Timestamp(0));
        let change = self.buffer.replace(Span::at(at), "x", &origin);
        let after = self.buffer.snapshot();
        self.tree.edit(&before, &after, &change);
        drop(self.tree.parse(&after, &mut Budget::unlimited()));
        let state = EditorState {
            path: self.path.clone(),
            snapshot: after,
            syntax: Some(self.tree.snapshot()),
            language: Some(self.tree.language()),
            caret: at + 1,
            rows: (Row(row.0.saturating_sub(30)), Row(row.0 + 30)),
            indent: "    ".to_owned(),
        };
        let check = checking(&state);
        let edit = DocumentEdit {
            before,
            state,
            change,
            cause: ChangeCause::Typed,
        };
        let started = Instant::now();
        let input = EngineInput::Edited(Box::new(edit));
        let mut effects = self.engine.handle(self.now, input, self.project);
        // Skips the debounce.
        effects.extend(self.engine.handle(
            self.now + Duration::from_secs(1),
            EngineInput::Time,
            self.project,
        ));
        let asked = effects.into_iter().rev().find_map(|effect| match effect {
            EngineEffect::Ask {
                body: CompletionRequest::Fim(fim),
                ..
            } => Some(fim),
            _ => None,
        });
        let asked = asked.ok_or("a keystroke sent no request")?;
        let in_machine = started.elapsed();
        let told = router.submit(Asked::fim(*asked, AgentId(0)));
        let answer = runtime.spawn(told.collect::<Vec<_>>());
        let arrived = came.recv_timeout(Duration::from_secs(10));
        let arrived = arrived.map_err(|_| "no request arrived within ten seconds")?;
        runtime
            .block_on(answer)
            .map_err(|error| error.to_string())?;
        // Like in a window, after the request was sent.
        drop(self.engine.take_retired());
        let ms = |took: Duration| took.as_secs_f64() * 1_000.0;
        Ok(Pressed {
            machine: ms(in_machine),
            wire: ms(arrived.duration_since(started)),
            check,
        })
    }
}

/// Returns the milliseconds for checking a suggestion at a caret.
fn checking(state: &EditorState) -> f64 {
    let suggestion = Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: state.snapshot.revision(),
        edits: vec![SuggestedEdit {
            span: Span::at(state.caret),
            old: "".into(),
            new: " // what stands here".into(),
        }],
        source: SuggestionSource::Continuation,
        confidence: 0.5,
    };
    let started = Instant::now();
    // Whether it passes depends on the row.
    let verdict = check(state, &suggestion, &RecentEdits::default());
    let took = started.elapsed().as_secs_f64() * 1_000.0;
    drop(verdict);
    took
}

impl Project {
    /// Reads the definitions in the first files of the corpus, like an index.
    fn read() -> Result<Self, String> {
        let mut paths = Vec::new();
        corpus::collect(&corpus::root()?, &mut paths);
        paths.sort();
        paths.truncate(FILES);
        let language = language_named("Rust").ok_or("there is no grammar for Rust")?;
        let mut definitions: HashMap<String, Vec<ContextSnippet>> = HashMap::new();
        let files = paths.len();
        for path in paths {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            if text.len() > 100_000 {
                continue;
            }
            let Some(tree) = PlainTree::parse(language, &text) else {
                continue;
            };
            for item in tree.outline(&text) {
                let whole = &text[item.span.start.0..item.span.end.0];
                let excerpt = ContextSnippet {
                    path: path.to_string_lossy().into_owned(),
                    text: whole[..whole.floor_char_boundary(800)].to_owned(),
                    why: SnippetReason::Definition,
                };
                let known = definitions.entry(item.name).or_default();
                if known.len() < 4 {
                    known.push(excerpt);
                }
            }
        }
        Ok(Self { definitions, files })
    }
}

impl ContextSource for Project {
    fn definitions(&self, _: &EditorState, names: &[String]) -> Vec<ContextSnippet> {
        let found = names.iter().filter_map(|name| self.definitions.get(name));
        found.flatten().take(40).cloned().collect()
    }

    fn snippets(&self, _: &EditorState) -> Vec<ContextSnippet> {
        Vec::new()
    }

    fn viewed(&self, _: &EditorState) -> Vec<ContextSnippet> {
        Vec::new()
    }

    fn unmerged(&self, _: &EditorState, _: &[String]) -> Vec<ContextSnippet> {
        Vec::new()
    }

    fn diagnostics(&self, _: &EditorState) -> Vec<Diagnostic> {
        Vec::new()
    }
}

/// Starts a server that reports when a whole request has arrived, and responds with an empty completion.
fn serve() -> Result<(String, Receiver<Instant>), String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let (tell, came) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let tell = tell.clone();
            std::thread::spawn(move || answer(stream, &tell));
        }
    });
    Ok((format!("http://{address}"), came))
}

/// Serves one connection until it ends.
fn answer(stream: TcpStream, tell: &Sender<Instant>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim().to_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        tell.send(Instant::now()).ok()?;
        let events = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"stop\"}]}\n\n\
                      data: [DONE]\n\n";
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
            events.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(events.as_bytes()).ok()?;
    }
}
