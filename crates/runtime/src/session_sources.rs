//! The texts that prompts of a session name and that only the running program has.
//!
//! Knows: the windows' problems, language servers, MCP servers, the store, the guide. Must not know: how a text joins a prompt.
//! Start at `SessionSources`.

use std::sync::Arc;
use std::time::Duration;

use agent::Error;
use agent::context::{OpenFiles, ShownProblems, session_excerpt};
use agent::language::{DiagnosticsAnswer, LanguageQueries};
use agent::prompt_sources::{PromptSource, PromptSources};
use agent::store::SessionStore;
use base::AbsPath;
use futures::future::{BoxFuture, FutureExt as _, ready};

use crate::language_servers;
use crate::mcp_pool::McpServers;

/// Maximum number of problems in a prompt.
const MAX_PROBLEMS: usize = 100;
/// Maximum number of files that language servers check for a prompt without a window.
const MAX_CHECKED_FILES: usize = 200;
/// Time for their reports.
const REPORT_TIME: Duration = Duration::from_secs(20);

/// Returns the files of a folder that the windows show.
pub(crate) type WindowFiles = Arc<dyn Fn(&AbsPath) -> OpenFiles + Send + Sync>;

/// The sources of one session.
pub(crate) struct SessionSources {
    /// The windows.
    pub(crate) windows: Option<WindowFiles>,
    /// The language servers of the session's tree.
    pub(crate) language: Option<Arc<dyn LanguageQueries>>,
    /// The MCP servers of the session, which it keeps running.
    pub(crate) servers: Option<Arc<McpServers>>,
    /// All sessions.
    pub(crate) store: SessionStore,
    /// The user's folder: that of the session, or the checkout of its worktree.
    pub(crate) project: AbsPath,
}

impl PromptSources for SessionSources {
    fn read(
        &self,
        root: &AbsPath,
        source: PromptSource,
    ) -> BoxFuture<'static, Result<String, Error>> {
        let servers = self.servers.clone();
        let running = move || {
            let none = "no MCP server runs for this session";
            servers.ok_or_else(|| Error::SourceUnread(none.to_owned()))
        };
        match source {
            PromptSource::Problems { file } => self.problems(root, file),
            PromptSource::Terminal { id } => ready(self.terminal(&id)).boxed(),
            PromptSource::Session { id } => self.session(root, id),
            PromptSource::Guide { name } => ready(guide_text(name.as_deref())).boxed(),
            PromptSource::Resource { server, uri } => {
                async move { running()?.resource_text(&server, &uri).await }.boxed()
            }
            PromptSource::ServerPrompt {
                server,
                name,
                arguments,
            } => async move { running()?.prompt_text(&server, &name, arguments).await }.boxed(),
        }
    }
}

impl SessionSources {
    /// Returns the problems that the window lists, or else those that the session's language servers
    /// find.
    fn problems(
        &self,
        root: &AbsPath,
        file: Option<String>,
    ) -> BoxFuture<'static, Result<String, Error>> {
        // In a worktree, the window's problems are those of other files.
        let shown = self.windows.as_ref().filter(|_| *root == self.project);
        if let Some(shown) = shown.and_then(|windows| windows(root).problems) {
            return ready(Ok(shown_problems(&shown, file.as_deref()))).boxed();
        }
        let Some(language) = self.language.clone() else {
            let none = "there are no problems to read: no language server runs for this folder";
            return ready(Err(Error::SourceUnread(none.to_owned()))).boxed();
        };
        let root = root.clone();
        async move {
            let (paths, left_out) = match &file {
                Some(file) => (vec![file.clone()], 0),
                None => files_to_check(root).await,
            };
            let answer = language.diagnostics(paths, REPORT_TIME).await?;
            Ok(reported_problems(&answer, file.as_deref(), left_out))
        }
        .boxed()
    }

    /// Returns the quote of a terminal that the user mentioned in a window of the folder.
    fn terminal(&self, id: &str) -> Result<String, Error> {
        let files = self.windows.as_ref().map(|windows| windows(&self.project));
        let terminals = files.map(|files| files.terminals).unwrap_or_default();
        let quoted = terminals.into_iter().find(|(of, _)| of == id);
        quoted.map(|(_, text)| text).ok_or_else(|| {
            let gone = "the window does not have this command of a terminal any more; choose it after @terminal again";
            Error::SourceUnread(gone.to_owned())
        })
    }

    /// Returns an excerpt of another session of the folder.
    fn session(&self, root: &AbsPath, id: String) -> BoxFuture<'static, Result<String, Error>> {
        let store = self.store.clone();
        let roots = [root.to_string(), self.project.to_string()];
        let reading = tokio::task::spawn_blocking(move || {
            let mut lines = store.sessions(usize::MAX)?.into_iter();
            let found = lines.find(|line| line.id == id && roots.contains(&line.root));
            let Some(found) = found else {
                let text = format!("this folder has no session {id}");
                return Err(Error::SourceUnread(text));
            };
            let session = store.read(&id)?;
            Ok(session_excerpt(&found.title, &session.records))
        });
        async move {
            reading.await.unwrap_or_else(|error| {
                let text = format!("the session could not be read: {error}");
                Err(Error::SourceUnread(text))
            })
        }
        .boxed()
    }
}

/// Returns the part of the guide that a prompt names.
fn guide_text(name: Option<&str>) -> Result<String, Error> {
    guide::cited(name).ok_or_else(|| {
        let name = name.unwrap_or_default();
        let none = "; @docs lists its pages and sections";
        Error::SourceUnread(format!("the guide says nothing about {name:?}{none}"))
    })
}

/// Returns the files of a folder that servers may check, relative to it, and the number of those
/// left out.
async fn files_to_check(root: AbsPath) -> (Vec<String>, usize) {
    let listing = tokio::task::spawn_blocking(move || {
        let all = language_servers::documents(std::slice::from_ref(&root)).unwrap_or_default();
        let count = all.len();
        let names = all.into_iter().take(MAX_CHECKED_FILES);
        let names = names.filter_map(|path| Some(base::path_text(path.relative_to(&root)?)));
        (names.collect(), count.saturating_sub(MAX_CHECKED_FILES))
    });
    listing.await.unwrap_or_default()
}

fn shown_problems(shown: &ShownProblems, file: Option<&str>) -> String {
    let file = file.map(|file| file.trim_start_matches("./"));
    let listed = shown.listed.iter();
    let listed = listed.filter(|(path, _)| file.is_none_or(|file| path == file));
    let lines: Vec<&str> = listed.map(|(_, line)| line.as_str()).collect();
    let more = match (shown.more, file) {
        (0, _) => String::new(),
        (more, None) => format!("[and {more} more]\n"),
        (more, Some(_)) => format!("[{more} problems of the folder are not listed]\n"),
    };
    problem_list(&lines) + &more
}

fn reported_problems(answer: &DiagnosticsAnswer, file: Option<&str>, left_out: usize) -> String {
    let lines = answer.files.iter().flat_map(|reported| {
        reported.diagnostics.iter().map(|it| {
            let severity = if it.is_error { "error" } else { "warning" };
            format!("{}:{}: {severity}: {}", reported.path, it.line, it.message)
        })
    });
    let lines: Vec<String> = lines.collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut text = problem_list(&lines);
    if let Some(file) = file {
        // Of a whole folder, most files are not for a server.
        let unreported = answer.unreported.iter().filter(|(path, _)| path == file);
        text.extend(unreported.map(|(path, why)| format!("[{path} was not checked: {why}]\n")));
    }
    if left_out > 0 {
        text.push_str(&format!(
            "[{left_out} files of the folder were not checked]\n"
        ));
    }
    text
}

/// Returns problems one below the other, the first ones if there are many.
fn problem_list(lines: &[&str]) -> String {
    let mut text: String = lines
        .iter()
        .take(MAX_PROBLEMS)
        .map(|line| format!("{}\n", line.replace('\n', "\n  ")))
        .collect();
    if lines.is_empty() {
        text.push_str("[no problems]\n");
    }
    if let Some(more @ 1..) = lines.len().checked_sub(MAX_PROBLEMS) {
        text.push_str(&format!("[and {more} more]\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use agent::language::{FileDiagnostic, ReportedFile};

    use super::*;

    #[test]
    fn shown_problems_are_those_of_the_file() {
        let line = |path: &str, text: &str| (path.to_owned(), format!("{path}:1:2: {text}"));
        let shown = ShownProblems {
            listed: vec![
                line("a.rs", "error: x\nbecause"),
                line("b.rs", "warning: y"),
            ],
            more: 0,
        };
        let check = |file: Option<&str>, expected: &str| {
            assert_eq!(shown_problems(&shown, file), expected);
        };
        check(
            None,
            "a.rs:1:2: error: x\n  because\nb.rs:1:2: warning: y\n",
        );
        check(Some("./b.rs"), "b.rs:1:2: warning: y\n");
        check(Some("c.rs"), "[no problems]\n");
        let many = ShownProblems {
            listed: vec![line("a.rs", "error: x"); MAX_PROBLEMS + 3],
            more: 5,
        };
        let text = shown_problems(&many, None);
        assert!(text.ends_with("[and 3 more]\n[and 5 more]\n"), "{text}");
    }

    #[test]
    fn a_terminal_is_read_if_the_user_mentioned_it() {
        let folder = host::TempFolder::new().expect("a folder");
        let ledger = ledger::Ledger::open(&folder.path().join("ledger.db"), 1);
        let project = AbsPath::new("/p").expect("absolute");
        let files = OpenFiles {
            terminals: vec![("7-3".to_owned(), "$ make".to_owned())],
            ..OpenFiles::default()
        };
        let of = project.clone();
        let sources = SessionSources {
            windows: Some(Arc::new(move |root: &AbsPath| {
                assert_eq!(*root, of);
                files.clone()
            })),
            language: None,
            servers: None,
            store: SessionStore::start(ledger.expect("a ledger").ledger).expect("a store"),
            project,
        };
        assert_eq!(sources.terminal("7-3").expect("mentioned"), "$ make");
        let error = sources.terminal("7-4").expect_err("not mentioned");
        assert!(error.to_string().contains("@terminal"), "{error}");
    }

    #[test]
    fn the_guide_is_cited_by_page_section_and_words() {
        let contents = guide_text(None).expect("the contents");
        assert!(contents.contains("- safety: "), "{contents}");
        for name in ["safety", "safety#folder-trust", "undo a landing"] {
            let text = guide_text(Some(name)).expect("a part");
            assert!(!text.is_empty(), "{name}");
        }
        let error = guide_text(Some("zzzz")).expect_err("no such part");
        assert!(error.to_string().contains("@docs"), "{error}");
    }

    #[test]
    fn reports_name_unchecked_files() {
        let answer = DiagnosticsAnswer {
            files: vec![ReportedFile {
                path: "a.rs".to_owned(),
                diagnostics: vec![FileDiagnostic {
                    line: 3,
                    is_error: true,
                    message: "wrong".to_owned(),
                }],
            }],
            unreported: vec![("b.txt".to_owned(), "no server".to_owned())],
        };
        assert_eq!(
            reported_problems(&answer, None, 2),
            "a.rs:3: error: wrong\n[2 files of the folder were not checked]\n"
        );
        let other = DiagnosticsAnswer {
            files: Vec::new(),
            ..answer
        };
        assert_eq!(
            reported_problems(&other, Some("b.txt"), 0),
            "[no problems]\n[b.txt was not checked: no server]\n"
        );
    }
}
