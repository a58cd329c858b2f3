//! Tests the answers to Git about a layer, and those that the shell script gives itself.

use std::fs;

use super::*;

/// Creates a layer with files of these names; names that end in `/` are folders.
fn layer(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
            continue;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"text").unwrap();
    }
    folder
}

fn asked(layer: &Path, token: &[u8]) -> (Vec<u8>, Vec<String>) {
    let answer = build_answer(layer, layer, ROOT_XATTRS, token).unwrap();
    let mut words = answer
        .split(|byte| *byte == 0)
        .map(<[u8]>::to_vec)
        .collect::<Vec<_>>();
    assert_eq!(words.pop().as_deref(), Some(&b""[..]), "ends in a zero");
    let token = words.remove(0);
    let names = words
        .iter()
        .map(|name| String::from_utf8_lossy(name).into_owned());
    (token, names.collect())
}

#[test]
fn an_untouched_lease_has_nothing_to_tell() {
    let layer = layer(&[]);
    let (token, all) = asked(layer.path(), b"");
    assert_eq!(all, ["/"], "nobody was told anything yet");
    let (again, none) = asked(layer.path(), &token);
    assert_eq!((again, none), (token, vec![]));
}

#[test]
fn changes_in_the_layer_are_reported_each_time() {
    let check = |names: &[&str], told: &[&str]| {
        let layer = layer(names);
        let (token, _) = asked(layer.path(), b"burin:1:");
        for _ in 0..2 {
            let (again, found) = asked(layer.path(), &token);
            assert_eq!(found, told, "{names:?}");
            assert_eq!(again, token);
        }
    };
    check(&["a.txt"], &[".burin-nobody", "a.txt"]);
    // Without the kernel's marks a folder is reported as a whole.
    check(
        &["src/a.txt", "src/deep/b.txt"],
        &[
            ".burin-nobody",
            "src/",
            "src/.burin-nobody",
            "src/deep/.burin-nobody",
        ],
    );
    check(&["odd%\n*name"], &[".burin-nobody", "odd%\n*name"]);
}

#[test]
fn vanished_names_are_reported_once_more() {
    let layer = layer(&["new.txt"]);
    let (token, _) = asked(layer.path(), b"burin:1:");
    fs::remove_file(layer.path().join("new.txt")).unwrap();
    let (later, told) = asked(layer.path(), &token);
    assert_eq!(told, [".burin-nobody", "new.txt"]);
    assert_eq!(asked(layer.path(), &later).1, [".burin-nobody"]);
}

#[test]
fn too_many_changes_and_foreign_tokens_mean_everything() {
    let check = |token: &[u8]| {
        let layer = layer(&["a"]);
        assert_eq!(asked(layer.path(), token).1, ["/"]);
    };
    check(b"");
    check(b"1700000000000000000");
    check(b"burin:2:a\n");
    check(b"burin:1:*");
    let names: Vec<_> = (0..3000).map(|ix| format!("{ix:040}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let layer = layer(&names);
    // They are reported by name, but the token is too long to carry them.
    let (token, told) = asked(layer.path(), b"burin:1:");
    assert_eq!((token.as_slice(), told.len()), (&b"burin:1:*"[..], 3001));
    assert_eq!(asked(layer.path(), &token).1, ["/"]);
    let names: Vec<_> = (0..6000).map(|ix| ix.to_string()).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let layer = self::layer(&names);
    let (token, told) = asked(layer.path(), b"burin:1:");
    assert_eq!(
        (token.as_slice(), told),
        (&b"burin:1:*"[..], vec!["/".to_owned()])
    );
}

#[test]
fn tokens_encode_their_names() {
    let mut seed = 7_u64;
    for _ in 0..500 {
        let mut names = BTreeSet::new();
        for _ in 0..seed % 7 {
            let mut name = Vec::new();
            for _ in 0..1 + seed % 9 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let letters = b"%25\n*A/0\xffx";
                name.push(letters[(seed >> 33) as usize % letters.len()]);
            }
            names.insert(name);
        }
        seed = seed.wrapping_add(1);
        let changed = ChangedNames(names);
        assert_eq!(ChangedNames::of_token(&changed.token(false)), Some(changed));
    }
}

/// Runs the shell command of a layer with a token; the program only prints its arguments.
fn shell(folder: &Path, token: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let program = folder.join("it's a program");
    fs::write(&program, "#!/bin/sh\necho \"$@\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let line = command(&program, &folder.join("lay er"), true).unwrap();
    let mut shell = std::process::Command::new("sh");
    // Git runs it in the same way.
    shell.args(["-c", &format!("{line} \"$@\""), &line, "2", token]);
    let done = shell.current_dir(folder.join("tree")).output().unwrap();
    assert!(done.stderr.is_empty(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn shell_answers_only_for_untouched_leases() {
    let world = tempfile::tempdir().unwrap();
    let folder = world.path();
    for name in ["lay er", "tree", "git"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    let asked = |token: &str| {
        let layer = folder.join("lay er");
        format!("--what-changed-in {} user 2 {token}\n", layer.display())
    };
    assert_eq!(shell(folder, "burin:1:"), asked("burin:1:"), "no index");
    fs::write(folder.join("git/index"), "").unwrap();
    assert_eq!(shell(folder, "burin:1:"), "burin:1:\0");
    assert_eq!(
        shell(folder, "burin:1:a"),
        asked("burin:1:a"),
        "was told more"
    );
    assert_eq!(shell(folder, ""), asked(""), "was told nothing");
    for name in ["a", ".a", "..a", "*"] {
        let path = folder.join("lay er").join(name);
        for is_link in [true, false] {
            if is_link {
                std::os::unix::fs::symlink("nowhere", &path).unwrap()
            } else {
                fs::write(&path, "").unwrap()
            }
            // Simulates that git has written its index since.
            fs::write(folder.join("git/index"), "").unwrap();
            assert_eq!(shell(folder, "burin:1:"), asked("burin:1:"), "{name}");
            fs::remove_file(&path).unwrap();
        }
    }
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(9);
    let layer = fs::File::open(folder.join("lay er")).unwrap();
    layer.set_modified(later).unwrap();
    assert_eq!(
        shell(folder, "burin:1:"),
        asked("burin:1:"),
        "something went"
    );
    fs::remove_dir(folder.join("lay er")).unwrap();
    assert_eq!(shell(folder, "burin:1:"), asked("burin:1:"), "no layer");
}
