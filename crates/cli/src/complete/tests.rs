//! The command over small projects: without a model, and with a scripted one.
#![expect(clippy::disallowed_methods, reason = "these tests look at real files")]

mod infilling;

use std::process::ExitCode;

use base::AbsPath;
use host::{Dirs, Files, RealFiles, TempFolder};
use serde_json::{Value, json};

use super::CompleteCommand;
use super::text::CharPosition;
use crate::Streams;

struct World {
    folder: TempFolder,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self {
            folder: TempFolder::new().expect("a folder"),
        };
        for (path, text) in files {
            world.write(&format!("project/{path}"), text);
        }
        world
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        let folder = path.parent().expect("a parent");
        std::fs::create_dir_all(folder.as_path()).expect("a folder");
        std::fs::write(path.as_path(), text).expect("written");
    }

    fn path(&self, path: &str) -> AbsPath {
        self.folder.path().join(path)
    }

    /// Runs the command; returns the exit code, the answer and the errors.
    fn complete(&self, file: &str, at: &str, provider: &str) -> (ExitCode, Value, String) {
        let history = self.path("history.json");
        let has_history = RealFiles.exists(&history);
        let complete = CompleteCommand {
            root: Some(self.path("project").as_path().to_owned()),
            file: file.into(),
            at: at.parse().expect("a place"),
            history: has_history.then(|| history.as_path().to_owned()),
            provider: provider.to_owned(),
            json: true,
        };
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let mut streams = Streams {
            input: &mut std::io::empty(),
            output: &mut output,
            errors: &mut errors,
        };
        let dirs = Dirs::under(&self.path("own"));
        let done = complete.run(&RealFiles, &dirs, &mut streams);
        let mut errors = String::from_utf8_lossy(&errors).into_owned();
        let code = done.unwrap_or_else(|sentence| {
            errors.push_str(&sentence);
            ExitCode::FAILURE
        });
        let value = serde_json::from_slice(&output).unwrap_or_default();
        (code, value, errors)
    }
}

#[test]
fn positions_count_characters_from_one() {
    let text = text::Snapshot::new("ä = 1\nb\n");
    let offset = |place: &str| {
        let place: CharPosition = place.parse()?;
        place.offset(&text).map(|offset| offset.0)
    };
    assert_eq!(offset("1:1"), Ok(0));
    assert_eq!(offset("1:2"), Ok(2));
    assert_eq!(offset("2:2"), Ok(8));
    assert!(
        offset("2:3")
            .expect_err("behind the end")
            .contains("no column 3")
    );
    assert!(
        offset("9:1")
            .expect_err("behind the end")
            .contains("no line 9")
    );
    assert!(offset("1").expect_err("no column").contains("LINE:COLUMN"));
    assert!(offset("0:1").expect_err("from one").contains("both from 1"));
}

#[test]
fn local_tier_suggests_the_repeated_edit() {
    let world = World::new(&[(
        "src/main.rs",
        "fn main() {\n    log::warn(\"a\");\n    log::warn(\"b\");\n    log::info(\"c\");\n    log::info(\"d\");\n}\n",
    )]);
    world.write(
        "history.json",
        r#"[{ "file": "src/main.rs", "at": [2, 10], "old": "info", "new": "warn" },
            { "file": "src/main.rs", "at": [3, 10], "old": "info", "new": "warn" }]"#,
    );
    let (code, answer, errors) = world.complete("src/main.rs", "3:14", "local");
    assert_eq!(code, ExitCode::SUCCESS, "{errors}");
    let edit = &answer["suggestions"][0]["edits"][0];
    assert_eq!(
        (&edit["start"], &edit["old"]),
        (&json!([4, 10]), &json!("info"))
    );
    assert_eq!(edit["new"], "warn");
    assert_eq!(answer["suggestions"][0]["file"], "src/main.rs");
}

#[test]
fn mismatched_history_is_an_error() {
    let world = World::new(&[("a.rs", "fn main() {}\n")]);
    world.write(
        "history.json",
        r#"[{ "file": "a.rs", "at": [1, 1], "old": "x", "new": "y" }]"#,
    );
    let (code, _, errors) = world.complete("a.rs", "1:1", "local");
    assert_eq!(code, ExitCode::FAILURE);
    assert!(
        errors.contains("edit 1: its new text is not at 1:1 of a.rs"),
        "{errors}"
    );
}

#[test]
fn outside_files_and_unknown_providers_are_refused() {
    let world = World::new(&[("a.rs", "fn main() {}\n")]);
    let (code, _, errors) = world.complete("/etc/passwd", "1:1", "local");
    assert_eq!(code, ExitCode::FAILURE);
    assert!(errors.contains("is outside"), "{errors}");
    let (_, _, errors) = world.complete("a.rs", "1:1", "nobody");
    assert!(
        errors.contains("write local, auto, demo, or provider/model"),
        "{errors}"
    );
    let (_, _, errors) = world.complete("a.rs", "1:1", "nobody/x");
    assert!(
        errors.contains("there is no provider \"nobody\""),
        "{errors}"
    );
}

/// A server that fills gaps by this script, as the provider `vllm`.
fn served(world: &World, rules: &Value) -> mockllm::MockServer {
    let script = json!({ "rules": rules }).to_string();
    let script = mockllm::Script::parse("complete", &script).expect("a script");
    let server = mockllm::MockServer::start(script).expect("listens");
    let settings = json!({ "models": { "providers": [
        { "name": "vllm", "wire": "vllm", "url": format!("{}/v1", server.url()) }
    ] } });
    world.write("own/config/settings.json", &settings.to_string());
    server
}

#[test]
fn a_model_fills_the_gap_by_its_template() {
    let world = World::new(&[("src/main.rs", "fn main() {\n    let x = ;\n}\n")]);
    let server = served(
        &world,
        &json!([{
            "match": { "prefix": { "regex": "^<\\|fim_prefix\\|>fn main\\(\\) \\{\\n    let x = <\\|fim_suffix\\|>;\\n\\}\\n<\\|fim_middle\\|>$" } },
            "reply": [{ "text": "compute(1)" }],
        }]),
    );
    let (code, answer, errors) = world.complete("src/main.rs", "2:13", "vllm/qwen2.5-coder");
    assert_eq!(code, ExitCode::SUCCESS, "{errors} {:?}", server.requests());
    let edit = &answer["suggestions"][0]["edits"][0];
    assert_eq!(edit["new"], "compute(1)");
    assert_eq!(answer["suggestions"][0]["shape"], "ghost");
    assert!(
        answer["status"]
            .as_str()
            .is_some_and(|it| it.contains("vllm/qwen2.5-coder"))
    );
}

#[test]
fn a_model_that_predicts_edits_is_sent_its_own_prompt() {
    let text = "fn main() {\n    let price = 1;\n    show(prise);\n}\n";
    let world = World::new(&[("src/main.rs", text)]);
    let server = served(
        &world,
        &json!([{
            "match": { "prefix": { "contains": "<|file_sep|>current/src/main.rs\nfn main() {" } },
            "reply": [{ "text": text.replace("prise", "price") }],
        }]),
    );
    let (code, answer, errors) = world.complete("src/main.rs", "2:19", "vllm/sweep-next-edit-1.5b");
    assert_eq!(code, ExitCode::SUCCESS, "{errors} {:?}", server.requests());
    let edit = &answer["suggestions"][0]["edits"][0];
    assert_eq!((&edit["old"], &edit["new"]), (&json!("s"), &json!("c")));
    assert_eq!(edit["start"], json!([3, 13]));
}

#[test]
fn server_failure_differs_from_an_empty_suggestion() {
    let world = World::new(&[("a.rs", "fn main() {}\n")]);
    let server = served(
        &world,
        &json!([{ "match": { "prefix": { "contains": "main" } }, "reply": [{ "text": "" }] }]),
    );
    let (code, answer, _) = world.complete("a.rs", "1:12", "vllm/qwen2.5-coder");
    assert_eq!(code, ExitCode::from(4));
    assert_eq!(answer["suggestions"], json!([]));
    drop(server);
    let (code, _, errors) = world.complete("a.rs", "1:12", "vllm/qwen2.5-coder");
    assert_eq!(code, ExitCode::from(97), "{errors}");
}
