//! The command on a real repository.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests write into leased worktrees as an agent would"
)]

use std::path::PathBuf;

use base::AbsPath;
use clap::Parser as _;
use host::process::{ProcessRequest, run};
use host::{Dirs, TempFolder};
use serde_json::Value;

use crate::Streams;
use crate::command::AgentArguments;

struct Place {
    folder: TempFolder,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: TempFolder::new().expect("a folder"),
        };
        std::fs::create_dir(place.hub()).expect("a folder");
        std::fs::write(place.hub().join("file"), "one\n").expect("a file");
        place.git(&["init", "--quiet"]);
        place.git(&["add", "--all"]);
        let name = ["-c", "user.name=A", "-c", "user.email=a@localhost"];
        place.git(&[&name[..], &["commit", "--quiet", "--message=one"]].concat());
        place
    }

    fn hub(&self) -> AbsPath {
        self.folder.path().join("hub")
    }

    fn git(&self, words: &[&str]) {
        let finished =
            run(&ProcessRequest::new("git", &self.hub()).with_arguments(words.iter().copied()));
        assert!(finished.expect("git").is_success(), "{words:?}");
    }

    fn ask(&self, words: &[&str]) -> Result<String, String> {
        let hub = self.hub().to_string();
        let all = ["burin-agent", "worktree", "--root", &hub].into_iter();
        let arguments = AgentArguments::try_parse_from(all.chain(words.iter().copied()));
        let mut output = Vec::new();
        let mut streams = Streams {
            input: &mut std::io::empty(),
            output: &mut output,
            errors: &mut std::io::sink(),
        };
        let dirs = Dirs::under(&self.folder.path().join("own"));
        let command = arguments.map_err(|error| error.to_string())?.command;
        command.perform(&dirs, &mut streams)?;
        String::from_utf8(output).map_err(|error| error.to_string())
    }

    fn ask_json(&self, words: &[&str]) -> Value {
        let said = self.ask(&[words, &["--json"]].concat()).expect("an answer");
        serde_json::from_str(&said).expect("JSON")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Mounts by root would outlive a failed test.
        for id in ["wt-1", "wt-2"] {
            self.ask(&["release", id, "--discard"]).ok();
        }
    }
}

#[test]
fn a_lease_from_its_making_to_its_end() {
    let place = Place::new();
    assert!(
        place
            .ask(&["list"])
            .expect("a list")
            .contains("there are no leases")
    );
    let leases = place.ask_json(&["lease", "--count", "2"]);
    assert_eq!(leases.as_array().map(Vec::len), Some(2));
    let root = PathBuf::from(leases[0]["root"].as_str().expect("a root"));
    assert_eq!(leases[0]["env"]["BURIN_LEASE"], "wt-1");
    std::fs::write(root.join("new"), "x\n").expect("a file");

    let list = place.ask(&["list"]).expect("a list");
    assert!(
        list.contains("wt-1  yours") && list.contains("1 file not committed"),
        "{list}"
    );
    let listed = place.ask_json(&["list"]);
    assert_eq!(listed["leases"][0]["is_dirty"], true);
    assert_eq!(listed["leases"][1]["is_dirty"], false);
    assert_eq!(listed["leases"][0]["is_orphan"], false);
    let shown = place.ask(&["show", "wt-1"]).expect("it");
    assert!(
        shown.contains("not committed: new") && shown.contains("PORT="),
        "{shown}"
    );

    let refused = place.ask(&["release", "wt-1"]).expect_err("a refusal");
    assert!(
        refused.contains("--discard") && root.join("new").exists(),
        "{refused}"
    );
    let said = place.ask(&["archive", "wt-1"]).expect("an answer");
    assert!(
        said.contains("worktree restore wt-1") && !root.exists(),
        "{said}"
    );
    place.ask(&["restore", "wt-1"]).expect("it back");
    assert_eq!(std::fs::read(root.join("new")).expect("a file"), b"x\n");

    place
        .ask(&["release", "wt-1", "--discard"])
        .expect("it gone");
    let cleared = place.ask_json(&["gc", "--quota", "0"]);
    let kept = cleared["kept"][0].as_str().unwrap_or_default();
    assert!(kept.contains("wt-2") && kept.contains("yours"), "{cleared}");
    place.ask(&["release", "wt-2"]).expect("it gone");
    assert!(
        place
            .ask(&["show", "wt-2"])
            .expect_err("nothing")
            .contains("no lease wt-2")
    );
    assert!(
        place
            .ask(&["show", "two"])
            .expect_err("nothing")
            .contains("not the name of a lease")
    );
}
