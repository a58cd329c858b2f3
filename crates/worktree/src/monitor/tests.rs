use std::fs;

use super::*;

/// A layer with files of these names, folders where a name ends in `/`.
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
    let answer = tell(layer, layer, ROOT, token).unwrap();
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
fn what_lies_in_the_layer_is_told_each_time() {
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
    // Without the kernel's marks a folder is told as a whole.
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
fn what_is_gone_without_a_trace_is_told_once_more() {
    let layer = layer(&["new.txt"]);
    let (token, _) = asked(layer.path(), b"burin:1:");
    fs::remove_file(layer.path().join("new.txt")).unwrap();
    let (later, told) = asked(layer.path(), &token);
    assert_eq!(told, [".burin-nobody", "new.txt"]);
    assert_eq!(asked(layer.path(), &later).1, [".burin-nobody"]);
}

#[test]
fn too_much_and_what_is_not_ours_is_everything() {
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
    // Told by name, and no more remembered.
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
fn a_token_says_what_it_was_made_of() {
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
        let changed = Changed(names);
        assert_eq!(Changed::of_token(&changed.token(false)), Some(changed));
    }
}

#[test]
fn the_line_for_the_shell_survives_odd_paths() {
    let line = command(Path::new("/a b/it's"), Path::new("/x$y"), true);
    assert_eq!(
        line.unwrap(),
        "test -x '/a b/it'\\''s' && exec '/a b/it'\\''s' 2>/dev/null --what-changed-in '/x$y' user"
    );
}
