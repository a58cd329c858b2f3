//! An editor that writes its lines by hand, and the world that its agent works in.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use agent::context::TrustedFolders;
use agent::engine::ScriptedGateway;
use agent::store::SessionStore;
use base::AbsPath;
use connect::acp::agent::serve;
use connect::acp::peers::check_message;
use host::{Dirs, Files as _, RealFiles, TempFolder};
use ledger::Ledger;
use model::{ResponseScript, ScriptedClient, Tier, TokenCount};
use runtime::agent_services::SelectableModel;
use runtime::sandbox_policy::Confinement;
use runtime::session_factory::SessionFactory;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split,
};
use tokio::task::JoinHandle;

use crate::engine::AcpEngine;
use crate::opening::SessionOpener;

const PATIENCE: Duration = Duration::from_secs(60);

/// The capabilities of an editor that supports everything.
pub(super) fn able() -> Value {
    json!({
        "fs": { "readTextFile": true, "writeTextFile": true },
        "session": { "notices": {}, "compaction": {}, "configOptions": { "boolean": {} } }
    })
}

/// A folder, a ledger and a model that plays scripts.
pub(super) struct World {
    pub(super) client: ScriptedClient,
    pub(super) root: AbsPath,
    pub(super) store: SessionStore,
    engine: Arc<AcpEngine>,
    _folder: TempFolder,
}

/// An editor at the other end of the line.
pub(super) struct Peer {
    to: WriteHalf<DuplexStream>,
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
    asked: HashMap<u64, String>,
    served: JoinHandle<Result<(), connect::Error>>,
}

impl World {
    /// A world in which edits below the root need permission.
    pub(super) fn new(scripts: impl IntoIterator<Item = ResponseScript>) -> Self {
        Self::with(scripts, false)
    }

    /// A world in which no call needs permission.
    pub(super) fn allowing(scripts: impl IntoIterator<Item = ResponseScript>) -> Self {
        Self::with(scripts, true)
    }

    fn with(scripts: impl IntoIterator<Item = ResponseScript>, allows_asked: bool) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(&folder.path().join("own"));
        dirs.create().expect("folders");
        let root = folder.path().join("project");
        RealFiles.create_folder(&root).expect("a folder");
        // Without this rule, edits below the root need no permission.
        let rules = br#"{ "permissions": { "edits": "ask" } }"#;
        let file = dirs.config.join("permissions.json");
        RealFiles.write_private(&file, rules).expect("a file");
        let ledger = Ledger::open(&dirs.state.join("ledger.db"), 0).expect("a ledger");
        let store = SessionStore::start(ledger.ledger).expect("a store");
        let client = ScriptedClient::new(scripts);
        let gateway = ScriptedGateway::new(client.clone());
        let opener = SessionOpener {
            factory: Arc::new(SessionFactory::new(
                gateway,
                store.clone(),
                &dirs,
                TrustedFolders::all(),
                None,
            )),
            dirs,
            models: vec![SelectableModel {
                id: "maker/large".to_owned(),
                is_local: false,
                takes_images: None,
                has_tools: true,
                tier: Tier::Standard,
                price: None,
                context: TokenCount(200_000),
                efforts: Vec::new(),
            }],
            default: "auto".to_owned(),
            allows_asked,
            confinement: Confinement::default(),
        };
        Self {
            client,
            root,
            store,
            engine: Arc::new(AcpEngine::new(opener)),
            _folder: folder,
        }
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        if let Some(folder) = path.parent() {
            RealFiles.create_folder(&folder).expect("a folder");
        }
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("a file");
    }

    pub(super) fn read(&self, path: &str) -> String {
        let bytes = RealFiles.read(&self.root.join(path), 1 << 20);
        String::from_utf8(bytes.expect("a file")).expect("text")
    }

    pub(super) fn peer(&self) -> Peer {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = split(theirs);
        let served = tokio::spawn(serve(self.engine.clone(), input, output));
        let (from, to) = split(ours);
        Peer {
            to,
            from: BufReader::new(from).lines(),
            asked: HashMap::new(),
            served,
        }
    }

    /// Starts an editor with a session in the project; returns it with the session's id.
    pub(super) async fn session(&self) -> (Peer, String) {
        let mut peer = self.peer();
        peer.hello(able()).await;
        let session = peer.begin(self.wanted()).await;
        (peer, session)
    }

    pub(super) fn wanted(&self) -> Value {
        json!({ "cwd": self.root.as_path(), "mcpServers": [] })
    }

    pub(super) fn loading(&self, session: &str) -> Value {
        json!({ "sessionId": session, "cwd": self.root.as_path(), "mcpServers": [] })
    }
}

impl Peer {
    pub(super) async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.to
            .write_all(line.as_bytes())
            .await
            .expect("it listens");
    }

    /// Sends a request and returns its id.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.asked.len() as u64;
        self.asked.insert(id, method.to_owned());
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    /// Returns the next message, after checking it against the schema of its method.
    pub(super) async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.from.next_line()).await;
        let line = line.expect("in time").expect("a pipe").expect("a line");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        let fits = check_message(&message, &|id| self.asked.get(&id.as_u64()?).cloned());
        assert_eq!(fits, Ok(()));
        message
    }

    /// Waits for the response to a request; returns it with the messages that arrived before it.
    pub(super) async fn answer_of(&mut self, id: u64) -> (Value, Vec<Value>) {
        let mut told = Vec::new();
        loop {
            let message = self.hear().await;
            if message.get("method").is_none() && message["id"] == id {
                return (message, told);
            }
            told.push(message);
        }
    }

    pub(super) async fn answer(&mut self, method: &str, params: Value) -> (Value, Vec<Value>) {
        let id = self.ask(method, params).await;
        self.answer_of(id).await
    }

    pub(super) async fn hello(&mut self, able: Value) {
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": able });
        let (answer, _) = self.answer("initialize", hello).await;
        assert_eq!(answer["result"]["agentInfo"]["name"], "burin-agent");
        let able = &answer["result"]["agentCapabilities"]["sessionCapabilities"];
        // Unsupported capabilities are not offered.
        assert_eq!(able["additionalDirectories"], Value::Null);
        assert!(able["list"].is_object() && able["resume"].is_object());
    }

    /// Starts a session and waits for its commands; returns its id.
    pub(super) async fn begin(&mut self, wanted: Value) -> String {
        let (answer, before) = self.answer("session/new", wanted).await;
        assert!(before.is_empty(), "{before:?}");
        let session = answer["result"]["sessionId"].as_str();
        let session = session.expect("an id").to_owned();
        let commands = self.hear().await;
        let update = &commands["params"]["update"];
        assert_eq!(update["sessionUpdate"], "available_commands_update");
        session
    }

    pub(super) async fn begin_turn(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
        self.ask("session/prompt", prompt).await
    }

    /// Runs a turn without questions; returns its end and the messages that arrived before it.
    pub(super) async fn turn(&mut self, session: &str, text: &str) -> (Value, Vec<Value>) {
        let id = self.begin_turn(session, text).await;
        let (end, told) = self.answer_of(id).await;
        let asked = told.iter().find(|it| it["method"] != "session/update");
        assert_eq!(asked, None);
        (end, told)
    }

    /// Waits for a permission request; returns it with the messages that arrived before it.
    pub(super) async fn question(&mut self) -> (Value, Vec<Value>) {
        let mut told = Vec::new();
        loop {
            let message = self.hear().await;
            if message["method"] == "session/request_permission" {
                return (message, told);
            }
            told.push(message);
        }
    }

    /// Waits for a matching update.
    pub(super) async fn until(&mut self, wanted: impl Fn(&Value) -> bool) {
        while !wanted(&self.hear().await["params"]["update"]) {}
    }

    /// Answers a question with the choice of a kind.
    pub(super) async fn choose(&mut self, question: &Value, kind: &str) {
        let options = question["params"]["options"].as_array().expect("options");
        let option = options.iter().find(|option| option["kind"] == kind);
        let id = &option.expect("an option")["optionId"];
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": id } });
        self.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": outcome }))
            .await;
    }

    pub(super) async fn cancel(&mut self, session: &str) {
        let params = json!({ "sessionId": session });
        self.send(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }))
            .await;
    }

    /// Closes the connection; returns the result of serving.
    pub(super) async fn hang_up(mut self) -> Result<(), connect::Error> {
        self.to.shutdown().await.expect("a pipe");
        let served = tokio::time::timeout(PATIENCE, self.served).await;
        served.expect("in time").expect("no panic")
    }
}

/// The state that an editor shows after all updates.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shown {
    /// The messages with their kinds, by id.
    pub(super) messages: Vec<(String, String)>,
    /// Final states of the calls, in order.
    pub(super) calls: Vec<Value>,
    pub(super) plan: Value,
    pub(super) title: Value,
    order: BTreeMap<String, usize>,
}

impl Shown {
    pub(super) fn of(told: &[Value]) -> Self {
        let mut shown = Self::default();
        for message in told {
            shown.take(&message["params"]["update"]);
        }
        shown
    }

    fn take(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            kind @ ("agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk") => {
                let key = format!("{kind} {}", update["messageId"]);
                let at = *self.order.entry(key.clone()).or_insert(self.messages.len());
                if at == self.messages.len() {
                    self.messages.push((kind.to_owned(), String::new()));
                }
                let text = update["content"]["text"].as_str();
                self.messages[at].1.push_str(text.unwrap_or("(no text)"));
            }
            "tool_call" | "tool_call_update" => self.merge(update),
            "plan" => self.plan = update["entries"].clone(),
            "session_info_update" => self.title = update["title"].clone(),
            _ => {}
        }
    }

    fn merge(&mut self, update: &Value) {
        let id = &update["toolCallId"];
        let found = self.calls.iter().position(|call| call["toolCallId"] == *id);
        let at = found.unwrap_or_else(|| {
            assert_eq!(update["sessionUpdate"], "tool_call", "{update}");
            // Fields that a new call leaves out.
            self.calls
                .push(json!({ "kind": "other", "status": "pending" }));
            self.calls.len() - 1
        });
        for (name, value) in update.as_object().expect("an object") {
            if name != "sessionUpdate" {
                self.calls[at][name] = value.clone();
            }
        }
    }

    pub(super) fn call(&self, id: &str) -> &Value {
        let found = self.calls.iter().find(|call| call["toolCallId"] == id);
        found.unwrap_or_else(|| panic!("no call {id} in {:#?}", self.calls))
    }

    /// Returns the messages of one kind.
    pub(super) fn said(&self, kind: &str) -> Vec<&str> {
        let of_kind = self.messages.iter().filter(|(it, _)| it == kind);
        of_kind.map(|(_, text)| text.as_str()).collect()
    }
}

/// Returns the kinds of updates; adjacent repetitions are merged.
pub(super) fn kinds(told: &[Value]) -> Vec<&str> {
    let kinds = told
        .iter()
        .map(|message| &message["params"]["update"]["sessionUpdate"]);
    let mut kinds: Vec<&str> = kinds.filter_map(Value::as_str).collect();
    kinds.dedup();
    kinds
}
