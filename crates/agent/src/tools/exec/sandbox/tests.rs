//! Denials and the user's decisions. The sandbox is a fake that denies one access until it is
//! granted.

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::AbsPath;
use host::process::{
    Denial, PlantedFile, ProcessExit, SandboxSpawner, SandboxStartError, SandboxedCommand,
    SandboxedProcess,
};
use serde_json::json;

use super::{ExecRequest, question};
use crate::error::Error;
use crate::outcome::{CallOutcome, Detail};
use crate::sandbox::CommandSandbox;
use crate::tool::{CallInput, ToolCall, ToolDisplay, ToolResult};
use crate::tools::tests::World;
use crate::user_prompts::{UserPrompts, UserQuestion};

/// Denies changes to `/etc/motd` until they are granted.
#[derive(Default)]
struct FakeSandbox {
    kept: Mutex<Vec<(String, Vec<Denial>)>>,
    starts: Arc<AtomicUsize>,
    /// The number of read-only sandboxes created.
    readings: Arc<AtomicUsize>,
    is_missing: bool,
    planted: Vec<PlantedFile>,
}

struct FakeBounds {
    granted: Vec<Denial>,
    planted: Vec<PlantedFile>,
    starts: Arc<AtomicUsize>,
}

struct FakeBound(Vec<Denial>, Vec<PlantedFile>);

fn motd() -> Denial {
    Denial::Write(AbsPath::new("/etc/motd").expect("absolute"))
}

impl CommandSandbox for FakeSandbox {
    fn bounds(&self, granted: &[Denial]) -> Result<Arc<dyn SandboxSpawner>, Error> {
        if self.is_missing {
            Err(Error::SandboxUnavailable(
                "the kernel has no user namespaces".to_owned(),
            ))
        } else {
            Ok(Arc::new(FakeBounds {
                granted: granted.to_vec(),
                planted: self.planted.clone(),
                starts: self.starts.clone(),
            }))
        }
    }

    fn read_only_bounds(&self) -> Result<Arc<dyn SandboxSpawner>, Error> {
        self.readings.fetch_add(1, Ordering::Relaxed);
        self.bounds(&[])
    }

    fn rules(&self, command: &str) -> Vec<String> {
        vec![format!("Bash({command})")]
    }

    fn granted(&self, command: &str) -> Vec<Denial> {
        let kept = self.kept.lock().expect("whole");
        let found = kept.iter().find(|(like, _)| like == command);
        found
            .map(|(_, denials)| denials.clone())
            .unwrap_or_default()
    }

    fn grant(&self, command: &str, more: &[Denial]) -> Result<(), Error> {
        let mut kept = self.kept.lock().expect("whole");
        kept.push((command.to_owned(), more.to_vec()));
        Ok(())
    }

    fn has_own_worktree(&self) -> bool {
        false
    }
}

impl SandboxSpawner for FakeBounds {
    fn start(
        &self,
        start: SandboxedCommand,
    ) -> Result<Box<dyn SandboxedProcess>, SandboxStartError> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        let is_granted = self.granted.contains(&motd());
        let words: &[u8] = if is_granted {
            b"written\n"
        } else {
            b"Read-only file system\n"
        };
        let [_, output, _] = start.streams;
        std::fs::File::from(output)
            .write_all(words)
            .map_err(|error| SandboxStartError(error.to_string()))?;
        let denials = if is_granted { Vec::new() } else { vec![motd()] };
        Ok(Box::new(FakeBound(denials, self.planted.clone())))
    }
}

impl SandboxedProcess for FakeBound {
    fn id(&self) -> u32 {
        1
    }

    fn wait(&self) -> (ProcessExit, usize) {
        let code = i32::from(!self.0.is_empty());
        (ProcessExit::Exited(code), 0)
    }

    fn denials(&self) -> Vec<Denial> {
        self.0.clone()
    }

    fn planted(&self) -> Vec<PlantedFile> {
        self.1.clone()
    }

    fn interrupt(&self) {}

    fn stop(&self, _grace: Duration) {}

    fn members(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// Creates a context in which the user gives this answer, and a log of the questions.
fn world(
    sandbox: FakeSandbox,
    answer: Option<&'static str>,
) -> (World, Arc<Mutex<Vec<UserQuestion>>>) {
    let mut world = World::real();
    let asked: Arc<Mutex<Vec<UserQuestion>>> = Arc::default();
    let heard = asked.clone();
    world.context.prompts = UserPrompts::new(move |question| {
        heard.lock().expect("whole").push(question);
        Box::pin(std::future::ready(answer.map(str::to_owned)))
    });
    world.context.sandbox = Some(Arc::new(sandbox));
    (world, asked)
}

async fn run(world: &World) -> ToolResult {
    let input = json!({ "command": "echo hi > /etc/motd" });
    world.call("exec_command", input).await
}

#[tokio::test]
async fn skipped_denial_is_reported_to_the_model() {
    for answer in [Some("Skip"), Some("hm"), None] {
        let (world, asked) = world(FakeSandbox::default(), answer);
        let answer = run(&world).await;
        assert_eq!(answer.outcome, CallOutcome::UnexpectedEnvironment);
        let what = "/etc/motd".to_owned();
        assert_eq!(answer.detail, Some(Detail::SandboxDenied { what }));
        let text = answer.text();
        assert!(
            text.contains("Read-only file system")
                && text.contains("did not allow it to change /etc/motd"),
            "{text}"
        );
        let asked = asked.lock().expect("whole");
        let [question] = &asked[..] else {
            panic!("{asked:?}");
        };
        assert_eq!(
            question.text,
            "The sandbox did not allow \u{201c}echo hi > /etc/motd\u{201d} to change /etc/motd."
        );
        assert_eq!(question.options.first().map(String::as_str), Some("Skip"));
    }
}

#[tokio::test]
async fn access_allowed_once_is_asked_again() {
    let sandbox = FakeSandbox::default();
    let starts = sandbox.starts.clone();
    let (world, asked) = world(sandbox, Some("Allow once"));
    for round in 1..=2 {
        let answer = run(&world).await;
        assert_eq!(answer.outcome, CallOutcome::Ok, "{}", answer.text());
        assert!(answer.text().starts_with("written\n"), "{}", answer.text());
        assert_eq!(asked.lock().expect("whole").len(), round);
        assert_eq!(starts.load(Ordering::Relaxed), 2 * round);
    }
}

#[tokio::test]
async fn access_allowed_for_a_command_is_remembered() {
    let (world, asked) = world(
        FakeSandbox::default(),
        Some("Always in this project for Bash(echo hi > /etc/motd)"),
    );
    for _ in 0..2 {
        let answer = run(&world).await;
        assert!(answer.text().starts_with("written\n"), "{}", answer.text());
    }
    assert_eq!(asked.lock().expect("whole").len(), 1);
}

#[tokio::test]
async fn no_command_runs_unconfined_without_a_sandbox() {
    let sandbox = FakeSandbox {
        is_missing: true,
        ..FakeSandbox::default()
    };
    let (world, asked) = world(sandbox, None);
    world.write("kept", "");
    let input = json!({ "command": "rm kept" });
    let answer = world.call("exec_command", input).await;
    assert_eq!(answer.outcome, CallOutcome::UnexpectedEnvironment);
    assert_eq!(answer.detail, Some(Detail::SandboxUnavailable));
    assert!(answer.text().contains("the kernel has no user namespaces"));
    assert!(
        host::Files::exists(&host::RealFiles, &world.context.root.join("kept")),
        "it was not run"
    );
    assert_eq!(asked.lock().expect("whole").len(), 1);
}

#[tokio::test]
async fn user_may_run_a_command_outside_the_sandbox() {
    let sandbox = FakeSandbox {
        is_missing: true,
        ..FakeSandbox::default()
    };
    let (world, _) = world(sandbox, Some("Run outside the sandbox"));
    let input = json!({ "command": "echo bare" });
    let answer = world.call("exec_command", input).await;
    assert!(answer.text().starts_with("bare\n"), "{}", answer.text());
}

#[tokio::test]
async fn quarantined_files_are_reported_to_model_and_user() {
    let path = |text: &str| AbsPath::new(text).expect("absolute");
    let left = |name: &str, aside: Option<AbsPath>| PlantedFile {
        path: path("/folder").join(name),
        sentence: format!("/folder/{name} is new; it runs"),
        quarantine: aside,
    };
    let sandbox = FakeSandbox {
        planted: vec![
            left(".envrc", Some(path("/state/aside/1"))),
            left(".npmrc", None),
        ],
        ..FakeSandbox::default()
    };
    let (world, _) = world(sandbox, Some("Allow once"));
    let answer = run(&world).await;
    assert_eq!(answer.outcome, CallOutcome::Ok, "{}", answer.text());
    let what = "/folder/.envrc".to_owned();
    assert_eq!(answer.detail, Some(Detail::Planted { what }));
    let text = answer.text();
    assert!(
        text.contains("put aside") && text.contains("/folder/.envrc"),
        "{text}"
    );
    assert!(!text.contains(".npmrc"), "{text}");
    let shown = answer.display.iter().find_map(|shown| match shown {
        ToolDisplay::Text(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(
        shown,
        Some(
            "Put aside before anything could run it:\n- /folder/.envrc is new; it runs\nTo be looked at before other \
             programs use it:\n- /folder/.npmrc is new; it runs\nIt lies in /state/aside/1; `burin-agent sandbox \
             --restore /state/aside/1` brings it back."
        )
    );
}

#[tokio::test]
async fn read_only_commands_run_in_the_read_only_sandbox() {
    for (command, expected) in [("cat a.txt", 1), ("touch a.txt", 0), ("cat .env", 0)] {
        let sandbox = FakeSandbox::default();
        let readings = sandbox.readings.clone();
        let (world, _) = world(sandbox, None);
        world
            .call("exec_command", json!({ "command": command }))
            .await;
        assert_eq!(readings.load(Ordering::Relaxed), expected, "{command}");
    }
}

#[tokio::test]
async fn denial_question_names_the_saved_rule() {
    let (world, asked) = world(FakeSandbox::default(), None);
    run(&world).await;
    let asked = asked.lock().expect("whole");
    let options = &asked[0].options;
    assert!(
        options.contains(&"Always in this project for Bash(echo hi > /etc/motd)".to_owned()),
        "{options:?}"
    );
}
#[test]
fn denial_question_names_command_and_all_accesses() {
    let command = format!("ls #\n{}rm victim.txt", " ".repeat(200));
    let call = ToolCall {
        id: "c1".to_owned(),
        tool: "exec_command".to_owned(),
        input: CallInput::Json(json!({ "command": command })),
        waits: false,
    };
    let wanted = ExecRequest::read(&call).expect("a command");
    let hosts: Vec<Denial> = (0..9)
        .map(|number| Denial::Host(format!("h{number}.example"), 443))
        .collect();
    let asked = question(&wanted, &hosts, &[]).text;
    assert!(asked.contains(&command), "{asked}");
    for denial in &hosts {
        assert!(asked.contains(&denial.to_string()), "{asked}");
    }
}
