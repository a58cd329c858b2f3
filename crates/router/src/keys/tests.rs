//! Tests that keys are found in their sources and never shown.

use std::collections::HashMap;
use std::sync::Mutex;

use futures::FutureExt;
use futures::executor::block_on;
use futures::future::BoxFuture;

use super::*;

const KEY: &str = "sk-canary-0123456789";

/// A vault with these variables and these programs.
#[derive(Default)]
struct World {
    variables: HashMap<String, String>,
    programs: HashMap<String, Result<String, String>>,
    ran: Mutex<Vec<String>>,
    inputs: Mutex<Vec<String>>,
}

impl SecretSource for World {
    fn environment(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn run<'a>(
        &'a self,
        words: &'a [String],
        input: Option<Secret>,
        _patience: Duration,
    ) -> BoxFuture<'a, Result<ProgramOutput, String>> {
        self.ran.lock().expect("lock").push(words.join(" "));
        let input = input.map(|input| input.expose().to_owned());
        self.inputs.lock().expect("lock").extend(input);
        let told = self.programs.get(&words[0]).cloned();
        let told = told.unwrap_or(Err("cannot start it: not found".to_owned()));
        async move { told.map(|text| ProgramOutput::new(text.into_bytes())) }.boxed()
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
            .map(|(name, told)| (own(name), told.map(str::to_owned).map_err(str::to_owned)))
            .collect(),
        ..World::default()
    }
}

fn find(world: &World, sources: &[KeySource]) -> Result<Option<(String, String)>, String> {
    let keys = Keys {
        vault: world,
        platform: Platform::Linux,
    };
    let found = block_on(keys.find("maker", sources))?;
    Ok(found.map(|found| (found.secret.expose().to_owned(), found.source)))
}

fn variable(name: &str) -> KeySource {
    KeySource::Environment(name.to_owned())
}

#[test]
fn first_source_with_a_key_wins() {
    let world = world(
        &[("EMPTY", "  "), ("B", "key-b\n")],
        &[("secret-tool", Ok("key-c\nrest"))],
    );
    let own = |key: &str, place: &str| Ok(Some((key.to_owned(), place.to_owned())));
    let sources = [
        variable("A"),
        variable("EMPTY"),
        variable("B"),
        KeySource::Keychain,
    ];
    assert_eq!(find(&world, &sources), own("key-b", "B"));
    assert!(
        world.ran.lock().expect("lock").is_empty(),
        "nothing is asked that need not be"
    );
    assert_eq!(
        find(&world, &[variable("A"), KeySource::Keychain]),
        own("key-c", "the keychain")
    );
    let ran = world.ran.lock().expect("lock").join("|");
    assert_eq!(ran, "secret-tool lookup service burin account maker");
    let value = [KeySource::Value(Secret::new("key-v"))];
    assert_eq!(find(&world, &value), own("key-v", "the settings"));
}

#[test]
fn missing_keychain_is_ignored_but_failing_command_reported() {
    let world = world(&[], &[("pass", Err("it exited with exit status: 1"))]);
    assert_eq!(find(&world, &[KeySource::Keychain]), Ok(None));
    let words = ["pass", "show", KEY].map(str::to_owned).to_vec();
    let error = find(&world, &[KeySource::Command(words)]).expect_err("told");
    assert_eq!(
        error,
        "the key command pass failed: it exited with exit status: 1"
    );
    let error = find(&world, &[KeySource::Command(Vec::new())]).expect_err("told");
    assert!(error.contains("empty"), "{error}");
}

#[test]
fn key_is_stored_through_standard_input_only() {
    for platform in [Platform::Linux, Platform::Macos] {
        let world = world(&[], &[("secret-tool", Ok("")), ("security", Ok(""))]);
        let keys = Keys {
            vault: &world,
            platform,
        };
        assert_eq!(block_on(keys.store("maker", &Secret::new(KEY))), Ok(()));
        assert!(!world.ran.lock().expect("lock").join(" ").contains(KEY));
        assert!(world.inputs.lock().expect("lock").join(" ").contains(KEY));
    }
    let world = World::default();
    let keys = Keys {
        vault: &world,
        platform: Platform::Other,
    };
    assert!(block_on(keys.store("maker", &Secret::new(KEY))).is_err());
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
    let run = |words: &[&str], input: Option<&str>, seconds: f32| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let input = input.map(Secret::new);
        async move {
            let patience = Duration::from_secs_f32(seconds);
            let path = std::env::var_os("PATH").expect("a PATH");
            let vault = SystemSecrets {
                environment: vec![("PATH".into(), path), ("GIVEN".into(), "it".into())],
            };
            let output = vault.run(&words, input, patience).await;
            output.map(|output| output.first_line().expose().to_owned())
        }
    };
    assert_eq!(
        run(&["sh", "-c", "echo one; echo two"], None, 10.0).await,
        Ok("one".to_owned())
    );
    assert_eq!(
        run(&["sh", "-c", "echo $GIVEN $HOME"], None, 10.0).await,
        Ok("it".to_owned())
    );
    assert_eq!(
        run(&["cat"], Some("given"), 10.0).await,
        Ok("given".to_owned())
    );
    let failed = run(
        &["sh", "-c", "echo sk-secret; echo sk-secret >&2; exit 3"],
        None,
        10.0,
    )
    .await;
    let failed = failed.expect_err("it failed");
    assert!(
        failed.contains('3') && !failed.contains("sk-secret"),
        "{failed}"
    );
    assert!(
        run(&["sleep", "30"], None, 0.05)
            .await
            .expect_err("late")
            .contains("no answer")
    );
    assert!(
        run(&["no-such-program-here"], None, 1.0)
            .await
            .expect_err("absent")
            .contains("cannot start")
    );
}
