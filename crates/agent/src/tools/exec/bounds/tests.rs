//! What the sandbox forbids, and what becomes of it. The bounds are a fake: they forbid one thing until it is granted.

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::AbsPath;
use host::process::{Bound, BoundStart, Bounds, Denial, End, Planted};
use serde_json::json;

use super::{Wanted, question};
use crate::ask::{Desk, Question};
use crate::confine::Sandbox;
use crate::outcome::{Detail, Outcome};
use crate::tool::{Answer, Call, Input, Shown};
use crate::tools::tests::World;

/// Forbids to change `/etc/motd`, as long as nobody grants it.
#[derive(Default)]
struct FakeSandbox {
    kept: Mutex<Vec<(String, Vec<Denial>)>>,
    starts: Arc<AtomicUsize>,
    /// How often bounds for reading were asked for.
    readings: Arc<AtomicUsize>,
    is_missing: bool,
    planted: Vec<Planted>,
}

struct FakeBounds {
    granted: Vec<Denial>,
    planted: Vec<Planted>,
    starts: Arc<AtomicUsize>,
}

struct FakeBound(Vec<Denial>, Vec<Planted>);

fn motd() -> Denial {
    Denial::Write(AbsPath::new("/etc/motd").expect("absolute"))
}

impl Sandbox for FakeSandbox {
    fn bounds(&self, granted: &[Denial]) -> Result<Arc<dyn Bounds>, String> {
        match self.is_missing {
            true => Err("the kernel has no user namespaces".to_owned()),
            false => Ok(Arc::new(FakeBounds {
                granted: granted.to_vec(),
                planted: self.planted.clone(),
                starts: self.starts.clone(),
            })),
        }
    }

    fn reading(&self) -> Result<Arc<dyn Bounds>, String> {
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

    fn grant(&self, command: &str, more: &[Denial]) -> Result<(), String> {
        let mut kept = self.kept.lock().expect("whole");
        kept.push((command.to_owned(), more.to_vec()));
        Ok(())
    }

    fn has_own_ground(&self) -> bool {
        false
    }
}

impl Bounds for FakeBounds {
    fn start(&self, start: BoundStart) -> Result<Box<dyn Bound>, String> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        let is_granted = self.granted.contains(&motd());
        let words: &[u8] = match is_granted {
            true => b"written\n",
            false => b"Read-only file system\n",
        };
        let [_, output, _] = start.streams;
        std::fs::File::from(output)
            .write_all(words)
            .map_err(|error| error.to_string())?;
        let denials = match is_granted {
            true => Vec::new(),
            false => vec![motd()],
        };
        Ok(Box::new(FakeBound(denials, self.planted.clone())))
    }
}

impl Bound for FakeBound {
    fn id(&self) -> u32 {
        1
    }

    fn wait(&self) -> (End, usize) {
        let code = i32::from(!self.0.is_empty());
        (End::Exited(code), 0)
    }

    fn denials(&self) -> Vec<Denial> {
        self.0.clone()
    }

    fn planted(&self) -> Vec<Planted> {
        self.1.clone()
    }

    fn interrupt(&self) {}

    fn stop(&self, _grace: Duration) {}

    fn members(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// A world in which the person answers this to whatever is asked, and what was asked.
fn world(sandbox: FakeSandbox, answer: Option<&'static str>) -> (World, Arc<Mutex<Vec<Question>>>) {
    let mut world = World::real();
    let asked: Arc<Mutex<Vec<Question>>> = Arc::default();
    let heard = asked.clone();
    world.context.desk = Desk::new(move |question| {
        heard.lock().expect("whole").push(question);
        Box::pin(std::future::ready(answer.map(str::to_owned)))
    });
    world.context.sandbox = Some(Arc::new(sandbox));
    (world, asked)
}

async fn run(world: &World) -> Answer {
    let input = json!({ "command": "echo hi > /etc/motd" });
    world.call("exec_command", input).await
}

#[tokio::test]
async fn what_was_forbidden_is_told_where_the_person_skips_it() {
    for answer in [Some("Skip"), Some("hm"), None] {
        let (world, asked) = world(FakeSandbox::default(), answer);
        let answer = run(&world).await;
        assert_eq!(answer.outcome, Outcome::UnexpectedEnvironment);
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
async fn what_is_allowed_once_is_asked_for_again() {
    let sandbox = FakeSandbox::default();
    let starts = sandbox.starts.clone();
    let (world, asked) = world(sandbox, Some("Allow once"));
    for round in 1..=2 {
        let answer = run(&world).await;
        assert_eq!(answer.outcome, Outcome::Ok, "{}", answer.text());
        assert!(answer.text().starts_with("written\n"), "{}", answer.text());
        assert_eq!(asked.lock().expect("whole").len(), round);
        assert_eq!(starts.load(Ordering::Relaxed), 2 * round);
    }
}

#[tokio::test]
async fn what_is_allowed_for_a_command_is_not_asked_again() {
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
async fn nothing_runs_bare_where_there_is_no_sandbox() {
    let sandbox = FakeSandbox {
        is_missing: true,
        ..FakeSandbox::default()
    };
    let (world, asked) = world(sandbox, None);
    world.write("kept", "");
    let input = json!({ "command": "rm kept" });
    let answer = world.call("exec_command", input).await;
    assert_eq!(answer.outcome, Outcome::UnexpectedEnvironment);
    assert_eq!(answer.detail, Some(Detail::SandboxUnavailable));
    assert!(answer.text().contains("the kernel has no user namespaces"));
    assert!(
        host::Files::exists(&host::RealFiles, &world.context.root.join("kept")),
        "it was not run"
    );
    assert_eq!(asked.lock().expect("whole").len(), 1);
}

#[tokio::test]
async fn the_person_may_run_it_outside() {
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
async fn what_was_put_aside_is_told_to_both_and_what_stayed_to_the_person() {
    let path = |text: &str| AbsPath::new(text).expect("absolute");
    let left = |name: &str, aside: Option<AbsPath>| Planted {
        path: path("/folder").join(name),
        sentence: format!("/folder/{name} is new; it runs"),
        aside,
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
    assert_eq!(answer.outcome, Outcome::Ok, "{}", answer.text());
    let what = "/folder/.envrc".to_owned();
    assert_eq!(answer.detail, Some(Detail::Planted { what }));
    let text = answer.text();
    assert!(
        text.contains("put aside") && text.contains("/folder/.envrc"),
        "{text}"
    );
    assert!(!text.contains(".npmrc"), "{text}");
    let shown = answer.shown.iter().find_map(|shown| match shown {
        Shown::Text(text) => Some(text.as_str()),
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
async fn commands_that_only_read_run_in_bounds_for_reading() {
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
async fn the_question_names_the_rule_that_is_kept() {
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
fn the_question_names_the_whole_command_and_all_that_it_would_allow() {
    let command = format!("ls #\n{}rm victim.txt", " ".repeat(200));
    let call = Call {
        id: "c1".to_owned(),
        tool: "exec_command".to_owned(),
        input: Input::Json(json!({ "command": command })),
        waits: false,
    };
    let wanted = Wanted::read(&call).expect("a command");
    let hosts: Vec<Denial> = (0..9)
        .map(|number| Denial::Host(format!("h{number}.example"), 443))
        .collect();
    let asked = question(&wanted, &hosts, &[]).text;
    assert!(asked.contains(&command), "{asked}");
    for denial in &hosts {
        assert!(asked.contains(&denial.to_string()), "{asked}");
    }
}
