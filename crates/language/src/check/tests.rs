//! Checks with a scripted server: diagnostics, crashes, kills, and processes that are left.

use std::collections::BTreeSet;

use host::process::{ProcessRequest, run};
use host::{RealClock, RealFiles, TempFolder};
use serde_json::{Value, json};
use settings::SettingsSource;

use super::*;
use crate::InstalledServers;

/// Time that no check needs here.
const LONG: Duration = Duration::from_secs(120);

/// A folder with documents and a scripted server for SQL.
struct World {
    folder: TempFolder,
}

impl World {
    fn new(documents: &[&str]) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let world = Self { folder };
        for name in documents {
            let path = world.path(name);
            let parent = path.parent().expect("a folder");
            RealFiles.create_folder(&parent).expect("a folder");
            let written = RealFiles.write_private(&path, "aé🙂b\n".as_bytes());
            written.expect("a file");
        }
        world
    }

    fn path(&self, name: &str) -> AbsPath {
        self.folder.path().join("p").join(name)
    }

    fn check_for(
        &self,
        behaviour: &str,
        time: Duration,
        trusted: bool,
    ) -> Result<CheckReport, Error> {
        let server = scripted_server(behaviour, "SQL");
        self.check_with(("script", &server), time, trusted)
    }

    fn check_with(
        &self,
        (id, server): (&str, &Value),
        time: Duration,
        trusted: bool,
    ) -> Result<CheckReport, Error> {
        let text = json!({ "lsp": { "servers": { id: server } } }).to_string();
        let (settings, problems) =
            settings::parse(&[(SettingsSource::User, "settings.json", &text)]);
        assert_eq!(problems, []);
        let root = self.folder.path().join("p");
        let installed = InstalledServers::new(self.folder.path().join("servers"));
        let files: Arc<dyn Files> = Arc::new(RealFiles);
        let servers = FolderServers::open(files, root, settings, installed, trusted);
        assert_eq!(servers.problems(), Vec::<String>::new());
        let names = RealFiles.list(&self.path(".")).expect("a folder").entries;
        let request = CheckRequest {
            documents: names.into_iter().map(|entry| entry.path).collect(),
            timeout: time,
            logs: self.folder.path().join("logs"),
            clock: Arc::new(RealClock::default()),
        };
        check(&servers, &request)
    }

    /// Checks all documents, and that no process is left.
    fn check(&self, behaviour: &str) -> CheckReport {
        let report = self.check_for(behaviour, LONG, true).expect("may start");
        assert_eq!(self.living(), BTreeSet::new());
        report
    }

    /// The ids of all processes that the script had.
    fn pids(&self) -> Vec<String> {
        let bytes = RealFiles.read(&self.path("server-pids"), 1 << 20);
        let text = String::from_utf8(bytes.unwrap_or_default()).expect("text");
        text.lines().map(str::to_owned).collect()
    }

    /// Those of its processes that live.
    fn living(&self) -> BTreeSet<String> {
        let pids = self.pids();
        let is_alive = |pid: &&String| {
            let request = ProcessRequest::new("kill", self.folder.path());
            let request = request.with_arguments(["-0", pid.as_str()]);
            run(&request).expect("kill runs").is_success()
        };
        pids.iter().filter(is_alive).cloned().collect()
    }

    fn log(&self) -> String {
        let logs = self.folder.path().join("logs");
        crate::read_log(&RealFiles, &logs, "script").expect("a log")
    }
}

/// The settings of a scripted server.
fn scripted_server(behaviour: &str, language: &str) -> Value {
    let script = test_support::data("language-server.sh");
    json!({
        "command": script.canonicalize().expect("the script"),
        "args": [behaviour],
        "languages": [language],
    })
}

fn summary(report: &CheckReport) -> Vec<String> {
    let diagnostics = report.diagnostics.iter();
    let lines = diagnostics.map(|it| {
        let (line, column) = it.start;
        format!(
            "{}:{line}:{column}: {:?}: {}",
            it.path.name(),
            it.severity,
            it.message
        )
    });
    let failures = report.failures.iter().chain(&report.binary);
    lines
        .chain(failures.map(|it| format!("! {}", it.reason)))
        .collect()
}

#[test]
fn published_diagnostics_of_all_documents_are_collected() {
    let world = World::new(&["a.sql", "b.sql", "c.txt"]);
    let report = world.check("push");
    let expected = [
        "a.sql:1:2: Error: it is wrong",
        "b.sql:1:2: Error: it is wrong",
    ];
    assert_eq!(summary(&report), expected);
    assert_eq!((report.checked, world.pids().len()), (2, 1));
    let log = world.log();
    for words in ["-> {", "<- {", "!! started as push", "## started"] {
        assert!(log.contains(words), "{log}");
    }
}

#[test]
fn requested_diagnostics_are_collected() {
    let world = World::new(&["a.sql"]);
    assert_eq!(
        summary(&world.check("pull")),
        ["a.sql:1:2: Warning: it is odd"]
    );
}

#[test]
fn a_limited_number_of_requests_is_under_way() {
    let names: Vec<String> = (0..40).map(|ix| format!("a{ix}.sql")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let world = World::new(&names);
    let report = world.check("batch");
    assert_eq!((report.checked, summary(&report).len()), (40, 40));
    let most = RealFiles.read(&world.path("server-held"), 16);
    assert_eq!(most.expect("a number"), b"32\n");
}

#[test]
fn a_server_that_still_works_is_awaited() {
    let world = World::new(&["a.sql", "b.sql"]);
    let expected = [
        "a.sql:1:2: Error: it is wrong",
        "b.sql:1:2: Error: it is wrong",
    ];
    assert_eq!(summary(&world.check("late")), expected);
}

#[test]
fn a_server_that_omits_empty_reports_completes() {
    let world = World::new(&["a.ts"]);
    let server = ("vtsls", &scripted_server("tacit", "TypeScript"));
    let report = world.check_with(server, LONG, true).expect("may start");
    assert_eq!((summary(&report), report.checked), (Vec::new(), 1));
}

#[test]
fn a_crashed_server_is_started_again() {
    let world = World::new(&["a.sql"]);
    let report = world.check("crash-once");
    assert_eq!(summary(&report), ["a.sql:1:2: Error: it is wrong"]);
    assert_eq!(world.pids().len(), 2);
}

#[test]
fn the_fifth_crash_is_the_last() {
    let world = World::new(&["a.sql"]);
    let report = world.check("crash");
    let reason = "! the server exited with code 3: fatal: it fell over; it crashed 5 times";
    assert_eq!(summary(&report), [reason]);
    assert_eq!(world.pids().len(), 5);
}

#[test]
fn a_silent_server_is_a_failure_when_the_time_is_over() {
    let world = World::new(&["a.sql"]);
    let time = Duration::from_secs(2);
    let report = world.check_for("silent", time, true).expect("may start");
    assert!(
        summary(&report)[0].starts_with("! the server "),
        "{report:?}"
    );
    assert_eq!(world.living(), BTreeSet::new());
}

#[test]
fn a_server_that_does_not_exit_is_killed() {
    let world = World::new(&["a.sql"]);
    let report = world.check("stubborn");
    assert_eq!(summary(&report), ["a.sql:1:2: Error: it is wrong"]);
}

#[test]
fn an_untrusted_folder_gets_no_process() {
    let world = World::new(&["a.sql"]);
    let refused = world.check_for("push", LONG, false).expect_err("refused");
    assert!(matches!(refused, Error::Untrusted(_)));
    assert_eq!(world.pids(), Vec::<String>::new());
}

#[test]
fn a_thread_that_panicked_is_a_failure() {
    let report = report_of("sql".to_owned(), Err(Box::new("a panic")));
    let failures: Vec<_> = report.failures.iter().map(|it| &it.server).collect();
    assert_eq!(failures, [&Some("sql".to_owned())]);
}
