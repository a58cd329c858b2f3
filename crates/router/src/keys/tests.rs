//! Tests that keys are found in their sources and never shown.

use std::collections::HashMap;
use std::sync::Mutex;

use futures::FutureExt;
use futures::executor::block_on;
use futures::future::BoxFuture;

use super::*;

const KEY: &str = "sk-canary-0123456789";

/// An environment and programs, both scripted.
struct World {
    keychain: Result<Option<String>, String>,
    variables: HashMap<String, String>,
    programs: HashMap<String, Result<String, String>>,
    ran: Mutex<Vec<String>>,
}

impl SecretSource for World {
    fn environment(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn keychain<'a>(&'a self, provider: &'a str) -> BoxFuture<'a, Result<Option<Secret>, Error>> {
        self.ran
            .lock()
            .expect("lock")
            .push(format!("keychain {provider}"));
        let found = self.keychain.clone();
        let found = found
            .map(|key| key.map(Secret::new))
            .map_err(Error::Keychain);
        async move { found }.boxed()
    }

    fn run<'a>(
        &'a self,
        command: &'a [String],
        _timeout: Duration,
    ) -> BoxFuture<'a, Result<ProgramOutput, Error>> {
        self.ran.lock().expect("lock").push(command.join(" "));
        let output = self.programs.get(&command[0]).cloned();
        let output = output.unwrap_or(Err("cannot start it: not found".to_owned()));
        let output = output.map(|text| ProgramOutput::new(text.into_bytes()));
        async move { output.map_err(Error::Program) }.boxed()
    }
}

fn world(variables: &[(&str, &str)], programs: &[(&str, Result<&str, &str>)]) -> World {
    let own = |text: &&str| (*text).to_owned();
    World {
        variables: variables
            .iter()
            .map(|(name, value)| (own(name), own(value)))
            .collect(),
        programs: programs
            .iter()
            .map(|(name, output)| (own(name), output.map(str::to_owned).map_err(str::to_owned)))
            .collect(),
        keychain: Ok(None),
        ran: Mutex::default(),
    }
}

fn find(world: &World, sources: &[KeySource]) -> Result<Option<(String, String)>, Error> {
    let keys = Keys { secrets: world };
    let found = block_on(keys.find("maker", sources))?;
    Ok(found.map(|found| (found.secret.expose().to_owned(), found.source)))
}

fn variable(name: &str) -> KeySource {
    KeySource::Environment(name.to_owned())
}

#[test]
fn first_source_with_a_key_wins() {
    let mut world = world(&[("EMPTY", "  "), ("B", "key-b\n")], &[]);
    world.keychain = Ok(Some("key-c".to_owned()));
    let own = |key: &str, source: &str| Ok(Some((key.to_owned(), source.to_owned())));
    let sources = [
        variable("A"),
        variable("EMPTY"),
        variable("B"),
        KeySource::Keychain,
    ];
    assert_eq!(find(&world, &sources), own("key-b", "B"));
    assert!(
        world.ran.lock().expect("lock").is_empty(),
        "later sources are not asked"
    );
    assert_eq!(
        find(&world, &[variable("A"), KeySource::Keychain]),
        own("key-c", "the keychain")
    );
    let ran = world.ran.lock().expect("lock").join("|");
    assert_eq!(ran, "keychain maker");
    let value = [KeySource::Value(Secret::new("key-v"))];
    assert_eq!(find(&world, &value), own("key-v", "the settings"));
}

#[test]
fn a_refusal_of_the_keychain_is_reported_if_no_other_source_has_a_key() {
    let mut world = world(&[("B", "key-b")], &[]);
    world.keychain = Err("the keychain is locked".to_owned());
    let found = find(&world, &[KeySource::Keychain, variable("B")]);
    assert_eq!(found, Ok(Some(("key-b".to_owned(), "B".to_owned()))));
    let error = find(&world, &[KeySource::Keychain, variable("A")]).expect_err("refused");
    assert_eq!(error.to_string(), "the keychain is locked");
}

#[test]
fn missing_keychain_is_ignored_but_failing_command_reported() {
    let world = world(&[], &[("pass", Err("it exited with exit status: 1"))]);
    assert_eq!(find(&world, &[KeySource::Keychain]), Ok(None));
    let words = ["pass", "show", KEY].map(str::to_owned).to_vec();
    let error = find(&world, &[KeySource::Command(words)]).expect_err("reported");
    assert_eq!(
        error.to_string(),
        "the key command pass failed: it exited with exit status: 1"
    );
    let error = find(&world, &[KeySource::Command(Vec::new())]).expect_err("reported");
    assert!(error.to_string().contains("empty"), "{error}");
}

#[test]
fn secret_is_never_displayed() {
    let secret = Secret::new(format!(" {KEY}\n"));
    assert_eq!(secret.expose(), KEY);
    let shown = format!(
        "{secret} {secret:?} {:#?}",
        KeySource::Value(secret.clone())
    );
    assert!(!shown.contains(KEY));
    assert_eq!(
        secret.mask(&format!("wrong key {KEY}, {KEY}!")),
        "wrong key <key>, <key>!"
    );
    let mut bytes = format!("a{KEY}b{KEY}").into_bytes();
    secret.blot(&mut bytes);
    let stars = "*".repeat(KEY.len());
    assert_eq!(
        String::from_utf8(bytes).expect("text"),
        format!("a{stars}b{stars}")
    );
    assert_eq!(Secret::new("").mask("text"), "text");
}

#[tokio::test]
async fn system_programs() {
    let run = |command: &[&str], seconds: f32| {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        async move {
            let timeout = Duration::from_secs_f32(seconds);
            let path = std::env::var_os("PATH").expect("a PATH");
            let secrets = SystemSecrets {
                environment: vec![("PATH".into(), path), ("GIVEN".into(), "it".into())],
                variable: |_| None,
            };
            let output = secrets.run(&command, timeout).await;
            let output = output.map_err(|error| error.to_string());
            output.map(|output| output.first_line().expose().to_owned())
        }
    };
    assert_eq!(
        run(&["sh", "-c", "echo one; echo two"], 10.0).await,
        Ok("one".to_owned())
    );
    assert_eq!(
        run(&["sh", "-c", "echo $GIVEN $HOME"], 10.0).await,
        Ok("it".to_owned())
    );
    let failed = run(
        &["sh", "-c", "echo sk-secret; echo sk-secret >&2; exit 3"],
        10.0,
    )
    .await;
    let failed = failed.expect_err("it failed");
    assert!(
        failed.contains('3') && !failed.contains("sk-secret"),
        "{failed}"
    );
    assert!(
        run(&["sleep", "30"], 0.05)
            .await
            .expect_err("late")
            .contains("no answer")
    );
    assert!(
        run(&["no-such-program-here"], 1.0)
            .await
            .expect_err("absent")
            .contains("cannot start")
    );
}
