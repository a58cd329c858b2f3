//! Tests of the location of Burin's folders.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;

use base::AbsPath;

use super::{Dirs, create_private};
use crate::temp::TempFolder;

fn dirs(variables: &[(&str, &str)]) -> Result<Dirs, String> {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| OsString::from(value))
    };
    Dirs::from_variables(variable, ".cache/burin").map_err(|error| error.to_string())
}

fn paths(dirs: &Dirs) -> [String; 3] {
    [&dirs.config, &dirs.state, &dirs.cache].map(ToString::to_string)
}

#[test]
fn burin_variables_override_xdg_and_home() {
    let home = dirs(&[("HOME", "/h")]).expect("folders");
    assert_eq!(
        paths(&home),
        [
            "/h/.config/burin",
            "/h/.local/state/burin",
            "/h/.cache/burin"
        ]
    );
    let some = dirs(&[
        ("HOME", "/h"),
        ("XDG_CONFIG_HOME", "/x"),
        ("XDG_CACHE_HOME", "not/absolute"),
        ("BURIN_STATE_DIR", "/s"),
    ]);
    let some = some.expect("folders");
    assert_eq!(paths(&some), ["/x/burin", "/s", "/h/.cache/burin"]);
    let message = dirs(&[]).expect_err("no home");
    assert!(
        message.contains("HOME") && message.contains("BURIN_CONFIG_DIR"),
        "{message}"
    );
}

#[test]
fn a_system_has_its_own_place_for_the_cache() {
    let variable = |xdg: bool| {
        move |name: &str| match name {
            "HOME" => Some(OsString::from("/h")),
            "XDG_CACHE_HOME" if xdg => Some(OsString::from("/x")),
            _ => None,
        }
    };
    let below = "Library/Caches/burin.noindex";
    let dirs = Dirs::from_variables(variable(false), below).expect("folders");
    assert_eq!(dirs.cache.to_string(), "/h/Library/Caches/burin.noindex");
    assert_eq!(dirs.config.to_string(), "/h/.config/burin");
    let dirs = Dirs::from_variables(variable(true), below).expect("folders");
    assert_eq!(dirs.cache.to_string(), "/x/burin");
}

#[test]
fn created_folders_are_private() {
    let folder = TempFolder::new().expect("a temporary folder");
    let dirs = Dirs::under(folder.path());
    dirs.create().expect("created");
    let mode = |path: &AbsPath| {
        let metadata = std::fs::metadata(path).expect("a folder");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(&dirs.state), 0o700);
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&dirs.state, open).expect("a mode");
    create_private(&dirs.state).expect("there already");
    assert_eq!(mode(&dirs.state), 0o700);
}

#[test]
fn state_of_a_newer_program_is_refused_and_unchanged() {
    let folder = crate::temp::TempFolder::new().expect("a folder");
    let dirs = Dirs::under(folder.path());
    dirs.create().expect("folders");
    let file = dirs.state.join("format");
    dirs.check_format().expect("no file is the first format");
    for (text, is_known) in [
        ("1\n", true),
        ("", true),
        ("2\n", false),
        ("300", false),
        ("2-beta", false),
    ] {
        std::fs::write(file.as_path(), text).expect("written");
        let checked = dirs.check_format();
        assert_eq!(checked.is_ok(), is_known, "{text:?}");
        let kept = std::fs::read_to_string(file.as_path()).expect("the file");
        assert_eq!(kept, text);
    }
    let sentence = dirs.check_format().expect_err("newer").to_string();
    assert!(sentence.contains("a newer Burin wrote it"), "{sentence}");
}
