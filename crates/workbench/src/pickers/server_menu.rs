//! Menu of the folder's language servers: their states, and the actions that change them.

use base::{LineFeeds, printable};
use gpui_kit::{App, Context, SharedString, Task, WeakEntity, Window};
use language::{MissingServer, ServerKey, ServerState, ServerStatus, StartRefusal};
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use crate::workbench::Workbench;

/// An action on a language server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerAction {
    /// Ends it and starts it again, or starts it.
    Restart(ServerKey),
    /// Ends it until it is restarted.
    Stop(ServerKey),
    /// Opens its log.
    ShowLog(String),
    /// Shows its capabilities.
    ShowCapabilities(ServerKey),
    /// Installs it, after a question.
    Install(String),
    /// Trusts the folder, which lets its servers start.
    Trust,
}

/// A row of the menu: a state, or an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerRow {
    title: String,
    detail: String,
    icon: Icon,
    /// `None` for a row that only informs.
    action: Option<ServerAction>,
}

/// Picker delegate that shows the servers and changes them.
pub(crate) struct ServerMenu {
    workbench: WeakEntity<Workbench>,
    rows: Vec<ServerRow>,
    /// Indices of the rows that match the query.
    matching: Vec<usize>,
}

impl ServerMenu {
    /// Creates the menu with these rows.
    pub(crate) fn new(workbench: WeakEntity<Workbench>, rows: Vec<ServerRow>) -> Self {
        Self {
            workbench,
            matching: (0..rows.len()).collect(),
            rows,
        }
    }

    fn matching(&self, query: &str) -> Vec<usize> {
        let query = query.trim().to_lowercase();
        let all = self.rows.iter().enumerate();
        all.filter(|(_, row)| row.title.to_lowercase().contains(&query))
            .map(|(ix, _)| ix)
            .collect()
    }
}

/// Returns the rows for the state of a folder's servers. `refusal` says why none starts.
pub(crate) fn rows(
    refusal: Option<StartRefusal>,
    statuses: &[ServerStatus],
    missing: &[MissingServer],
) -> Vec<ServerRow> {
    let mut rows = Vec::new();
    if let Some(refusal) = refusal {
        rows.push(information(refusal.to_string(), String::new()));
        if refusal == StartRefusal::Untrusted {
            rows.push(action(
                "Trust this folder",
                Icon::Check,
                ServerAction::Trust,
            ));
        }
        return rows;
    }
    for status in statuses {
        let id = &status.key.id;
        rows.push(information(
            format!("{id}: {}", state_text(status)),
            detail_text(status),
        ));
        let key = status.key.clone();
        let is_ended = matches!(
            status.state,
            ServerState::Stopped | ServerState::Failed(_) | ServerState::Idle
        );
        let verb = if is_ended { "Start" } else { "Restart" };
        let restart = ServerAction::Restart(key.clone());
        rows.push(action(format!("{verb} {id}"), Icon::Refresh, restart));
        if !is_ended {
            let stop = ServerAction::Stop(key.clone());
            rows.push(action(format!("Stop {id}"), Icon::Stop, stop));
        }
        if matches!(status.state, ServerState::Running { .. }) {
            let show = ServerAction::ShowCapabilities(key);
            rows.push(action(
                format!("Show capabilities of {id}"),
                Icon::FileText,
                show,
            ));
        }
        let log = ServerAction::ShowLog(id.clone());
        rows.push(action(format!("Show log of {id}"), Icon::FileText, log));
    }
    for server in missing {
        let MissingServer { id, language, .. } = server;
        if server.is_installable {
            let install = ServerAction::Install(id.clone());
            let mut row = action(format!("Install {id}"), Icon::Plus, install);
            row.detail = format!("for {language}");
            rows.push(row);
        } else {
            let title = format!("{id} for {language} is not installed");
            rows.push(information(title, server.advice.clone()));
        }
    }
    rows
}

fn action(title: impl Into<String>, icon: Icon, action: ServerAction) -> ServerRow {
    ServerRow {
        title: title.into(),
        detail: String::new(),
        icon,
        action: Some(action),
    }
}

fn information(title: String, detail: String) -> ServerRow {
    ServerRow {
        title,
        detail,
        icon: Icon::Info,
        action: None,
    }
}

/// Returns the name, the memory, the latest request and the violations of a server.
fn detail_text(status: &ServerStatus) -> String {
    let name = status.name.clone().filter(|name| *name != status.key.id);
    let memory = status
        .memory
        .map(|bytes| format!("{} MB", bytes / 1_000_000));
    // The method without its area, such as `hover` of `textDocument/hover`: the row is narrow.
    let asked = status.last_request.and_then(|it| it.rsplit('/').next());
    let asked = asked.map(|name| format!("last request {name}"));
    let parts = name.into_iter().chain(memory).chain(asked);
    let parts: Vec<String> = parts.chain(status.violations.iter().cloned()).collect();
    printable(&parts.join(", "), LineFeeds::Escape).into_owned()
}

/// Returns the state of a server in words.
fn state_text(status: &ServerStatus) -> String {
    let text = match &status.state {
        ServerState::Starting => "starting".to_owned(),
        ServerState::Running { version } => {
            let version = version.as_deref().unwrap_or_default();
            let documents = match status.documents {
                1 => "1 open file".to_owned(),
                count => format!("{count} open files"),
            };
            let work = status.progress.iter().map(|work| work.title.as_str());
            let parts = [version].into_iter().filter(|it| !it.is_empty());
            let parts: Vec<&str> = parts.chain([documents.as_str()]).chain(work).collect();
            let state = if status.is_responding {
                "running"
            } else {
                "does not answer"
            };
            format!("{state}, {}", parts.join(", "))
        }
        ServerState::Restarting(reason) => format!("starting again: {reason}"),
        ServerState::Failed(reason) => format!("failed: {reason}"),
        ServerState::Stopped => "stopped".to_owned(),
        ServerState::Idle => "idle, starts with the next file".to_owned(),
    };
    printable(&text, LineFeeds::Escape).into_owned()
}

impl PickerDelegate for ServerMenu {
    type Found = Vec<usize>;

    fn name(&self) -> SharedString {
        "Language servers".into()
    }

    fn placeholder(&self) -> SharedString {
        "Language servers of this folder".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        Task::ready(self.matching(query))
    }

    fn accept(&mut self, matching: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.matching = matching;
        let has_action = |ix: &usize| self.rows.get(*ix).is_some_and(|row| row.action.is_some());
        self.matching.iter().position(has_action).unwrap_or(0)
    }

    fn count(&self) -> usize {
        self.matching.len()
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            "No open file of this folder has a language server".into()
        } else {
            "No matching entries".into()
        }
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some(row) = self.matching.get(ix).and_then(|ix| self.rows.get(*ix)) else {
            return PickerRow::new("");
        };
        let shown = PickerRow::new(row.title.clone())
            .detail(row.detail.clone())
            .start(row.icon);
        match row.action {
            Some(_) => shown,
            None => shown.muted(),
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let row = self.matching.get(ix).and_then(|ix| self.rows.get(*ix));
        let action = row.and_then(|row| row.action.clone());
        let (Some(action), Some(workbench)) = (action, self.workbench.upgrade()) else {
            return AfterConfirm::Stay;
        };
        // The picker closes first: the action may open a question in its place.
        window.defer(cx, move |window, cx| {
            workbench.update(cx, |workbench, cx| {
                workbench.run_server_action(action, window, cx);
            });
        });
        AfterConfirm::Close
    }
}

#[cfg(test)]
mod tests {
    use base::AbsPath;

    use super::*;

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    fn status(id: &str, state: ServerState) -> ServerStatus {
        ServerStatus {
            key: ServerKey {
                id: id.to_owned(),
                root: path("/p"),
            },
            program: path("/bin").join(id),
            state,
            name: None,
            is_responding: true,
            memory: None,
            documents: 1,
            progress: Vec::new(),
            violations: Vec::new(),
            last_request: None,
        }
    }

    fn check(rows: &[ServerRow], expected: &[&str]) {
        let titles: Vec<&str> = rows.iter().map(|row| row.title.as_str()).collect();
        assert_eq!(titles, expected);
    }

    #[test]
    fn a_server_is_stopped_while_it_runs_and_started_afterwards() {
        let version = Some("1.96".to_owned());
        let running = status("rust-analyzer", ServerState::Running { version });
        check(
            &rows(None, &[running], &[]),
            &[
                "rust-analyzer: running, 1.96, 1 open file",
                "Restart rust-analyzer",
                "Stop rust-analyzer",
                "Show capabilities of rust-analyzer",
                "Show log of rust-analyzer",
            ],
        );
        let failed = status("ty", ServerState::Failed("it exited\nat once".to_owned()));
        check(
            &rows(None, &[failed], &[]),
            &[
                "ty: failed: it exited\u{240a}at once",
                "Start ty",
                "Show log of ty",
            ],
        );
    }

    #[test]
    fn details_are_the_name_the_memory_the_request_and_the_violations() {
        let version = Some("1.4".to_owned());
        let status = ServerStatus {
            name: Some("Pyrefly\nLSP".to_owned()),
            is_responding: false,
            memory: Some(63_900_000),
            violations: vec!["3 malformed items".to_owned()],
            last_request: Some("textDocument/hover"),
            ..status("pyrefly", ServerState::Running { version })
        };
        let rows = rows(None, &[status], &[]);
        let (title, detail) = (rows[0].title.as_str(), rows[0].detail.as_str());
        assert_eq!(title, "pyrefly: does not answer, 1.4, 1 open file");
        assert_eq!(
            detail,
            "Pyrefly\u{240a}LSP, 63 MB, last request hover, 3 malformed items"
        );
        assert_eq!(rows[1].title, "Restart pyrefly");
    }

    #[test]
    fn missing_servers_are_offered_and_untrusted_folders_start_none() {
        let missing = |id: &str, is_installable| MissingServer {
            id: id.to_owned(),
            language: "Go".to_owned(),
            is_installable,
            advice: "apt install it".to_owned(),
        };
        let servers = [missing("gopls", false), missing("other", true)];
        let found = rows(None, &[], &servers);
        check(&found, &["gopls for Go is not installed", "Install other"]);
        assert_eq!(found[0].detail, "apt install it");
        let refused = rows(Some(StartRefusal::Untrusted), &[], &servers);
        let sentence = "This folder is not trusted, so no language server starts in it";
        check(&refused, &[sentence, "Trust this folder"]);
        assert_eq!(refused[1].action, Some(ServerAction::Trust));
        let off = rows(Some(StartRefusal::Disabled), &[], &servers);
        let sentence = "Language servers are off: the setting \"lsp.enabled\" is false";
        check(&off, &[sentence]);
    }
}
