//! New leases: clean, complete, with a warm index, and independent of each other and of the
//! checkout.

use std::fs;
use std::os::unix::fs::MetadataExt;

use worktree::{Discard, LeaseRequest, TreeBackend};

use super::world::{World, backends, commit, git, one, read, tree, try_git, write};

#[test]
fn a_fresh_lease_is_clean_and_whole_by_every_backend() {
    for backend in backends() {
        let world = World::new().by(backend);
        let before = world.fingerprint();
        let pool = world.pool();
        let lease = one(&pool);
        let root = lease.root.as_path();
        assert_eq!(lease.backend, backend);
        assert_eq!(git(root, ["status", "--porcelain"]), "", "{backend:?}");
        assert_eq!(tree(root), tree(&world.main_repo()), "{backend:?}");
        let head = git(&world.main_repo(), ["rev-parse", "HEAD", "HEAD^{tree}"]);
        assert_eq!(git(root, ["rev-parse", "HEAD", "HEAD^{tree}"]), head);
        assert_eq!(git(root, ["branch", "--show-current"]).trim(), "burin/wt-1");
        assert_eq!(
            git(root, ["write-tree"]),
            git(root, ["rev-parse", "HEAD^{tree}"])
        );
        git(root, ["fsck"]);
        assert_eq!(world.fingerprint(), before, "{backend:?}");
    }
}

#[test]
fn the_first_status_reads_no_file() {
    for backend in backends() {
        let world = World::new().by(backend);
        // Git does not trust a time stamp of the second in which the index was written, so these files and the commit
        // are as recent as possible.
        write(
            &world.main_repo().join("src/main.rs"),
            "fn main() { young() }\n",
        );
        git(
            &world.main_repo(),
            ["commit", "--quiet", "--all", "--message=young"],
        );
        let lease = one(&world.pool());
        let index = lease.git_dir.join("index");
        let before = fs::metadata(&index).unwrap().ino();
        let words = ["status", "--porcelain"];
        assert_eq!(git(lease.root.as_path(), words), "");
        // If Git had read a file, it would have updated the index.
        assert_eq!(
            fs::metadata(&index).unwrap().ino(),
            before,
            "{backend:?}: the index was rewritten"
        );
        // An immediate change is detected, even with the same size and time.
        write(
            &lease.root.as_path().join("src/main.rs"),
            "fn main() { yeung() }\n",
        );
        assert_eq!(git(lease.root.as_path(), words), " M src/main.rs\n");
    }
}

#[test]
fn the_index_of_a_fresh_lease_has_the_metadata_of_its_files() {
    let own_files = |backend: &TreeBackend| *backend != TreeBackend::Overlay;
    for backend in backends().into_iter().filter(own_files) {
        let world = World::new().by(backend);
        let pool = world.pool();
        // The second lease comes from a base that is there already.
        for lease in [one(&pool), one(&pool)] {
            let root = lease.root.as_path();
            // Without a refresh, a file whose metadata differ counts as changed.
            assert_eq!(git(root, ["diff-files"]), "", "{backend:?}");
            assert_eq!(git(root, ["diff-index", "HEAD"]), "", "{backend:?}");
            let listed = git(root, ["ls-files", "--debug", "-z"]);
            let entries: Vec<&str> = listed.split('\0').collect();
            // The metadata of a file come after its name, before the name of the next.
            let mut names = vec![entries[0]];
            for (ix, text) in entries.iter().enumerate().skip(1) {
                let (metadata, next) = split_debug(text);
                let found = fs::symlink_metadata(root.join(names[ix - 1])).unwrap();
                let time = |seconds: i64, nanoseconds: i64| format!("{seconds}:{nanoseconds}");
                for (name, expected) in [
                    ("ctime", time(found.ctime(), found.ctime_nsec())),
                    ("mtime", time(found.mtime(), found.mtime_nsec())),
                    ("ino", (found.ino() as u32).to_string()),
                    ("size", found.size().to_string()),
                ] {
                    let noted = metadata.iter().find(|(key, _)| *key == name).unwrap();
                    assert_eq!(
                        noted.1,
                        expected,
                        "{backend:?}: {name} of {}",
                        names[ix - 1]
                    );
                }
                names.push(next);
            }
            assert_eq!(names.len(), 8, "{names:?}");
        }
    }
}

/// Splits what `git ls-files --debug` says about one file from the name of the next.
fn split_debug(text: &str) -> (Vec<(&str, &str)>, &str) {
    let (metadata, next) = text.rsplit_once('\n').unwrap();
    let pairs = metadata.split(['\n', '\t']).filter_map(|pair| {
        let (key, value) = pair.split_once(": ")?;
        Some((key.trim(), value.trim()))
    });
    (pairs.collect(), next)
}

#[test]
fn git_status_of_folders_matches_their_files() {
    for backend in backends() {
        let world = World::new().by(backend);
        let lease = one(&world.pool());
        let root = lease.root.as_path();
        let check = |expected: &[&str]| {
            let status = git(root, ["status", "--porcelain"]);
            let remembered: Vec<_> = status
                .lines()
                .filter_map(|it| it.strip_prefix("?? "))
                .collect();
            // This makes Git read every folder again.
            let words = [
                "ls-files",
                "--others",
                "--exclude-standard",
                "--directory",
                "--no-empty-directory",
            ];
            let anew = git(root, words);
            assert_eq!(remembered, expected, "{backend:?}");
            assert_eq!(anew.lines().collect::<Vec<_>>(), expected, "{backend:?}");
        };
        check(&[]);
        write(&root.join("src/deep/new.txt"), "x\n");
        check(&["src/deep/new.txt"]);
        write(&root.join("nested/a/b.txt"), "x\n");
        write(&root.join("src/deep/er/new.txt"), "x\n");
        check(&["nested/", "src/deep/er/new.txt", "src/deep/new.txt"]);
        fs::remove_file(root.join("src/deep/new.txt")).unwrap();
        fs::rename(root.join("nested/a"), root.join("src/deep/a")).unwrap();
        check(&["src/deep/a/", "src/deep/er/new.txt"]);
        write(&root.join("src/deep/.gitignore"), "a/\n");
        check(&["src/deep/.gitignore", "src/deep/er/new.txt"]);
        fs::remove_dir_all(root.join("src/deep/er")).unwrap();
        check(&["src/deep/.gitignore"]);
    }
}

#[test]
fn writes_in_one_lease_are_invisible_elsewhere() {
    for backend in backends() {
        let world = World::new().by(backend);
        let pool = world.pool();
        let leases = pool
            .lease(LeaseRequest {
                count: 3,
                is_kept: false,
                with_changes: false,
            })
            .unwrap();
        let before = tree(&world.main_repo());
        write(&leases[0].root.as_path().join("src/main.rs"), "changed\n");
        fs::remove_file(leases[0].root.as_path().join("readme.md")).unwrap();
        write(&leases[0].root.as_path().join("new/file"), "x\n");
        assert_eq!(tree(&world.main_repo()), before);
        assert_eq!(tree(leases[1].root.as_path()), before);
        let again = one(&pool);
        assert_eq!(tree(again.root.as_path()), before);
        let said = git(leases[0].root.as_path(), ["status", "--porcelain"]);
        assert_eq!(
            said, " D readme.md\n M src/main.rs\n?? new/\n",
            "{backend:?}"
        );
    }
}

#[test]
fn commits_in_a_lease_do_not_reach_the_main_repository() {
    for backend in backends() {
        let world = World::new().by(backend);
        let before = world.fingerprint();
        let pool = world.pool();
        let lease = one(&pool);
        let root = lease.root.as_path();
        write(&root.join("src/main.rs"), "fn main() { one() }\n");
        let id = commit(root, "work");
        assert_eq!(
            git(root, ["log", "-1", "--format=%an <%ae>"]).trim(),
            "Person <person@localhost>"
        );
        assert_eq!(git(root, ["rev-list", "--count", "HEAD"]).trim(), "2");
        assert!(try_git(&world.main_repo(), ["cat-file", "-e", &id]).is_err());
        assert_eq!(git(root, ["status", "--porcelain"]), "");
        assert_eq!(world.fingerprint(), before);
    }
}

#[test]
fn folders_of_the_commit_can_be_renamed_and_replaced() {
    for backend in backends() {
        let world = World::new().by(backend);
        let lease = one(&world.pool());
        let root = lease.root.as_path();
        git(root, ["mv", "readme.md", "other.md"]);
        fs::remove_dir_all(root.join("src")).unwrap();
        write(&root.join("src"), "a file now\n");
        commit(root, "replaced");
        assert_eq!(git(root, ["status", "--porcelain"]), "");
        git(root, ["checkout", "--quiet", "HEAD~1"]);
        assert_eq!(tree(root), tree(&world.main_repo()));
    }
}

#[test]
fn leases_have_ports_names_and_an_environment_of_their_own() {
    let world = World::new();
    let leases = world
        .pool()
        .lease(LeaseRequest {
            count: 3,
            is_kept: false,
            with_changes: false,
        })
        .unwrap();
    let mut ports: Vec<u16> = leases
        .iter()
        .flat_map(|lease| lease.ports.clone())
        .collect();
    assert_eq!(ports.len(), 48);
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 48);
    let mut names: Vec<_> = leases.iter().map(|lease| lease.name.clone()).collect();
    names.dedup();
    assert_eq!(names.len(), 3);
    for lease in &leases {
        assert!(lease.name.len() <= 48, "{}", lease.name);
        assert!(
            lease
                .name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        );
        let env = lease.env();
        let value = |name: &str| {
            let found = env.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        assert_eq!(value("BURIN_LEASE").as_deref(), Some(lease.id.as_str()));
        assert_eq!(value("PORT"), value("BURIN_PORT_0"));
        assert_eq!(
            value("BURIN_PORT_15"),
            Some((lease.ports.end - 1).to_string())
        );
    }
    // A port in use is not assigned.
    let mut other = World::new();
    other.settings.first_port = 31_000;
    let _taken = std::net::TcpListener::bind(("127.0.0.1", 31_003)).unwrap();
    assert!(one(&other.pool()).ports.start > 31_003);
}

#[test]
fn build_folders_are_shared_and_written_apart() {
    for backend in backends() {
        let world = World::new().by(backend);
        let main_repo = world.main_repo();
        write(&main_repo.join("target/debug/built"), "slow to make\n");
        write(&main_repo.join("node_modules/a/index.js"), "x\n");
        // Folders that are not ignored are not shared.
        fs::create_dir(main_repo.join(".venv")).unwrap();
        let lease = one(&world.pool());
        let root = lease.root.as_path();
        let names: Vec<_> = lease
            .shared
            .iter()
            .map(|shared| shared.path.as_str())
            .collect();
        assert_eq!(names, ["target", "node_modules"], "{backend:?}");
        assert_eq!(read(root.join("target/debug/built")), "slow to make\n");
        write(&root.join("target/debug/built"), "mine\n");
        fs::remove_file(root.join("node_modules/a/index.js")).unwrap();
        assert_eq!(read(main_repo.join("target/debug/built")), "slow to make\n");
        assert!(main_repo.join("node_modules/a/index.js").exists());
        assert_eq!(git(root, ["status", "--porcelain"]), "");
    }
}

#[test]
fn too_large_shared_folders_are_left_out() {
    let mut world = World::new().by(TreeBackend::Copy);
    world.settings.shared_limit = 10_000;
    write(&world.main_repo().join("target/big"), &"x".repeat(100_000));
    let lease = one(&world.pool());
    assert!(!lease.root.as_path().join("target").exists());
    assert!(
        matches!(&lease.shared[0].way, worktree::ShareMethod::LeftOut(why) if why.contains("MiB"))
    );
}

#[test]
fn secrets_come_along_only_when_they_are_named() {
    let world = World::new();
    let main_repo = world.main_repo();
    write(&main_repo.join(".env"), "TOKEN=1\n");
    assert!(!one(&world.pool()).root.as_path().join(".env").exists());
    write(&main_repo.join(".worktreeinclude"), "/.env\n");
    let lease = one(&world.pool());
    assert_eq!(read(lease.root.as_path().join(".env")), "TOKEN=1\n");
    assert_eq!(git(lease.root.as_path(), ["status", "--porcelain"]), "");
}

#[test]
fn the_next_base_links_unchanged_files() {
    let world = World::new();
    let pool = world.pool();
    let old = one(&pool);
    let main_repo = world.main_repo();
    write(&main_repo.join("readme.md"), "# Two\n");
    fs::remove_file(main_repo.join("run.sh")).unwrap();
    write(&main_repo.join("src/new.rs"), "x\n");
    commit(&main_repo, "two");
    let new = one(&pool);
    assert_eq!(tree(new.root.as_path()), tree(&main_repo));
    for lease in [&old, &new] {
        assert_eq!(git(lease.root.as_path(), ["status", "--porcelain"]), "");
    }
    assert_eq!(pool.list().unwrap().bases.len(), 2);
    let mut old = old;
    pool.give_back(&mut old, Discard::Nothing).unwrap();
    let cleared = pool.gc(u64::MAX).unwrap();
    assert!(
        cleared.removed.iter().any(|line| line.starts_with("base")),
        "{cleared:?}"
    );
    assert_eq!(tree(new.root.as_path()), tree(&main_repo));
    git(new.root.as_path(), ["checkout", "--quiet", "HEAD~1"]);
}

#[test]
fn line_ends_are_as_git_would_have_written_them() {
    let world = World::new();
    let main_repo = world.main_repo();
    git(&main_repo, ["config", "core.autocrlf", "true"]);
    write(
        &main_repo.join(".gitattributes"),
        "*.bin -text\n*.sh text eol=lf\n*.bat text eol=crlf\n",
    );
    write(&main_repo.join("plain.txt"), "one\ntwo\n");
    write(&main_repo.join("a.bin"), "one\ntwo\n");
    write(&main_repo.join("a.sh"), "one\ntwo\n");
    write(&main_repo.join("a.bat"), "one\r\ntwo\r\n");
    commit(&main_repo, "ends");
    // The files that Git itself would check out.
    let peer = world.path().join("peer");
    let name = peer.to_str().unwrap();
    git(&main_repo, ["worktree", "add", "--quiet", "--detach", name]);
    let lease = one(&world.pool());
    assert_eq!(tree(lease.root.as_path()), tree(&peer));
    assert!(read(lease.root.as_path().join("plain.txt")).contains("\r\n"));
    assert_eq!(git(lease.root.as_path(), ["status", "--porcelain"]), "");
}

#[test]
fn built_files_stay_as_old_as_their_sources() {
    let world = World::new();
    let main_repo = world.main_repo();
    let time = |path: &std::path::Path| fs::metadata(path).unwrap().modified().unwrap();
    let (old, young) = ("src/main.rs", "readme.md");
    write(&main_repo.join(young), "young\n");
    let file = fs::File::options().append(true).open(main_repo.join(old));
    let minute = std::time::Duration::from_secs(60);
    let ago = std::time::SystemTime::now() - minute;
    file.unwrap().set_modified(ago).unwrap();
    git(
        &main_repo,
        ["commit", "--quiet", "--all", "--message=young"],
    );
    let lease = one(&world.pool());
    let root = lease.root.as_path();
    assert_eq!(time(&main_repo.join(old)), time(&root.join(old)));
    // A file of the present second gets an earlier time, never one after its build outputs.
    assert!(time(&root.join(young)) <= time(&main_repo.join(young)));
    assert!(time(&root.join(young)) + minute > time(&main_repo.join(young)));
}
