//! The command on a folder with automations.

use base::AbsPath;
use clap::Parser as _;
use host::{Dirs, Files as _, RealFiles, TempFolder};
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
        let folder = place.root().join(automation::FOLDER);
        RealFiles.create_folder(&folder).expect("a folder");
        place
    }

    fn root(&self) -> AbsPath {
        self.folder.path().join("project")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(automation::FOLDER).join(name);
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("written");
    }

    fn ask(&self, words: &[&str], input: &str) -> Result<String, String> {
        let root = self.root().to_string();
        let all = ["burin-agent", "automations", "--root", &root].into_iter();
        let arguments = AgentArguments::try_parse_from(all.chain(words.iter().copied()));
        let mut output = Vec::new();
        let mut streams = Streams {
            input: &mut input.as_bytes(),
            output: &mut output,
            errors: &mut std::io::sink(),
        };
        let dirs = Dirs::under(&self.folder.path().join("own"));
        dirs.create().expect("folders");
        let command = arguments.map_err(|error| error.to_string())?.command;
        command.perform(&dirs, &mut streams)?;
        String::from_utf8(output).map_err(|error| error.to_string())
    }

    fn state(&self) -> String {
        let listed = self.ask(&["list", "--json"], "").expect("listed");
        let listed: Value = serde_json::from_str(&listed).expect("JSON");
        listed[0]["state"].as_str().expect("a state").to_owned()
    }
}

const TEXT: &str = "---\non: { schedule: 0 7 * * *, zone: UTC }\n---\nRead the log.\n";

#[test]
fn automation_is_listed_trusted_and_turned_off() {
    let place = Place::new();
    let none = place.ask(&["list"], "").expect("listed");
    assert!(none.starts_with("there are no automations in"), "{none}");
    place.write("nightly.md", TEXT);
    assert_eq!(place.state(), "off");
    let declined = place.ask(&["trust", "nightly"], "n\n").expect("an answer");
    assert!(declined.contains("Read the log.") && declined.contains("stays off"));
    assert_eq!(place.state(), "off");
    let trusted = place.ask(&["trust", "nightly"], "y\n").expect("an answer");
    assert!(trusted.contains("is on"), "{trusted}");
    let listed = place.ask(&["list"], "").expect("listed");
    assert!(
        listed.starts_with("nightly  on  schedule 0 7 * * * (UTC)  next "),
        "{listed}"
    );
    place.write("nightly.md", &TEXT.replace("log", "mail"));
    assert_eq!(place.state(), "changed since you trusted it, off");
    place
        .ask(&["trust", "nightly", "--yes"], "")
        .expect("trusted");
    assert_eq!(place.state(), "on");
    place.ask(&["off", "nightly"], "").expect("turned off");
    assert_eq!(place.state(), "off");
    assert_eq!(place.ask(&["history"], ""), Ok(String::new()));
    let unknown = place.ask(&["history", "other"], "").expect_err("unknown");
    assert!(unknown.contains("no automation \"other\""), "{unknown}");
}

#[test]
fn invalid_file_is_listed_with_its_problem() {
    let place = Place::new();
    place.write(
        "nightly.md",
        &TEXT.replace("---\nRead", "rolle: x\n---\nRead"),
    );
    let listed = place.ask(&["list"], "").expect("listed");
    assert!(listed.starts_with("nightly  invalid"), "{listed}");
    assert!(listed.contains("line 3: unknown key \"rolle\""), "{listed}");
    let refused = place
        .ask(&["trust", "nightly", "--yes"], "")
        .expect_err("invalid");
    assert!(refused.contains("unknown key"), "{refused}");
}
