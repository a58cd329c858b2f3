//! Settings and trust lists that cannot be read do not turn the check of landings off.

use host::TempFolder;

use super::*;

/// A user with a repository.
struct World {
    _folder: TempFolder,
    dirs: Dirs,
    checkout: AbsPath,
}

impl World {
    fn new(user: &str) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = RealFiles.canonicalize(folder.path()).expect("it exists");
        let checkout = root.join("repo");
        RealFiles
            .create_folder(&checkout.join(".burin"))
            .expect("a folder");
        let dirs = Dirs::under(&root.join("own"));
        dirs.create().expect("folders");
        let world = Self {
            _folder: folder,
            dirs,
            checkout,
        };
        world.write(&world.dirs.config.join(USER_SETTINGS), user);
        world
    }

    fn write(&self, path: &AbsPath, text: &str) {
        let written = RealFiles.write_private(path, text.as_bytes());
        written.expect("a file");
    }

    /// Checks whether landings are checked, or that the error contains these texts.
    fn check(&self, expected: Result<bool, &[&str]>) {
        let result = checks_landings(&self.dirs, &self.checkout);
        match (result, expected) {
            (Ok(result), Ok(expected)) => assert_eq!(result, expected),
            (Err(error), Err(texts)) => {
                let error = error.to_string();
                assert!(texts.iter().all(|it| error.contains(it)), "{error}");
            }
            (result, expected) => panic!("{result:?} instead of {expected:?}"),
        }
    }
}

fn check(user: &str, expected: Result<bool, &[&str]>) {
    World::new(user).check(expected);
}

#[test]
fn the_user_turns_the_check_on() {
    check("", Ok(false));
    check(r#"{ "lsp": { "check_landings": true } }"#, Ok(true));
    check(r#"{ "lsp": { "check_landings": false } }"#, Ok(false));
    // The value is certain although another one is not.
    check(r#"{ "lsp": { "servers": 7 } }"#, Ok(false));
}

#[test]
fn invalid_settings_leave_it_open() {
    let file: &[&str] = &["config/settings.json:1:"];
    check(r#"{ "lsp": {"#, Err(file));
    check("7", Err(file));
    check(r#"{ "lsp": { "check_landings": "yes" } }"#, Err(file));
    // A server that would find the errors may be left out.
    let servers = r#"{ "lsp": { "check_landings": true, "servers": 7 } }"#;
    check(servers, Err(&["settings.json:1:", "lsp.servers"]));
    for (chosen, expected) in [
        (r#""editor": { "language_servers": 7 }"#, Err(file)),
        (
            r#""languages": { "SQL": { "language_servers": 7 } }"#,
            Err(file),
        ),
        (r#""languages": { "SQL": { "tab_size": {} } }"#, Ok(true)),
        (r#""editor": { "tab_size": {} }"#, Ok(true)),
    ] {
        let lsp = r#""lsp": { "check_landings": true }"#;
        check(&format!("{{ {lsp}, {chosen} }}"), expected);
    }
}

#[test]
fn an_unreadable_file_leaves_it_open() {
    let world = World::new("");
    let path = world.dirs.config.join(USER_SETTINGS);
    RealFiles.remove(&path).expect("removed");
    world.check(Ok(false));
    RealFiles.create_folder(&path).expect("a folder");
    world.check(Err(&["settings.json"]));
}

#[test]
fn an_unreadable_trust_list_leaves_it_open() {
    let world = World::new(r#"{ "lsp": { "check_landings": true } }"#);
    world.write(&world.dirs.state.join("trusted.json"), "{ folders");
    world.check(Err(&["trusted.json"]));
}

#[test]
fn settings_of_a_trusted_project_must_be_readable() {
    let world = World::new(r#"{ "lsp": { "check_landings": true } }"#);
    world.write(&world.checkout.join(PROJECT_SETTINGS), "{");
    world.check(Ok(true));
    let trusted = trust::set_trusted(&RealFiles, &world.dirs, &world.checkout, true);
    trusted.expect("stored");
    world.check(Err(&["repo/.burin/settings.json:1:"]));
}
