//! Hostile repositories: every way to make git run something, in every place that git trusts. An
//! obedient agent plants it, the scan quarantines it, and the user's git runs nothing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sandbox::ScanBaseline;

use crate::battery::{after_the_scan, fired, in_parts};
use crate::policies::{inside, outside, usual};
use crate::scene::{Ground, Kind};

/// Ways to make git run `$X`; each writes to `$C`, a configuration, and may use `$D`, the git
/// folder it belongs to, and `$R`, the folder of files.
const WAYS: &[(&str, &str)] = &[
    ("fsmonitor", "printf '[core]\\n fsmonitor = %s\\n' $X >> $C"),
    (
        "hooks elsewhere",
        "mkdir -p $R/h; printf '#!/bin/sh\\nexec %s\\n' $X > $R/h/pre-commit; chmod +x $R/h/pre-commit; echo y > $R/a.txt; printf '[core]\\n hooksPath = %s\\n' $R/h >> $C",
    ),
    (
        "hook before commits",
        "mkdir -p $D/hooks; printf '#!/bin/sh\\nexec %s\\n' $X > $D/hooks/pre-commit; chmod +x $D/hooks/pre-commit; echo y > $R/a.txt",
    ),
    (
        "hook of the index",
        "mkdir -p $D/hooks; printf '#!/bin/sh\\nexec %s\\n' $X > $D/hooks/post-index-change; chmod +x $D/hooks/post-index-change; touch -d 2001-01-01 $R/a.txt",
    ),
    (
        "hook of references",
        "mkdir -p $D/hooks; printf '#!/bin/sh\\nexec %s\\n' $X > $D/hooks/reference-transaction; chmod +x $D/hooks/reference-transaction; echo y > $R/a.txt",
    ),
    (
        "filter",
        "printf '[filter \"e\"]\\n clean = %s\\n' $X >> $C; echo '* filter=e' > $R/.gitattributes; echo y > $R/a.txt",
    ),
    (
        "filter that stays",
        "printf '[filter \"e\"]\\n process = %s\\n' $X >> $C; echo '* filter=e' > $R/.gitattributes; echo y > $R/a.txt",
    ),
    (
        "difference",
        "printf '[diff]\\n external = %s\\n' $X >> $C; echo y > $R/a.txt",
    ),
    (
        "text of contents",
        "printf '[diff \"e\"]\\n textconv = %s\\n' $X >> $C; echo '* diff=e' > $R/.gitattributes; echo y > $R/a.txt",
    ),
    (
        "signature",
        "printf '[gpg]\\n program = %s\\n[commit]\\n gpgsign = true\\n' $X >> $C; echo y > $R/a.txt",
    ),
    (
        "hook of messages",
        "mkdir -p $D/hooks; printf '#!/bin/sh\\nexec %s\\n' $X > $D/hooks/commit-msg; chmod +x $D/hooks/commit-msg; echo y > $R/a.txt",
    ),
    (
        "include",
        "printf '[core]\\n fsmonitor = %s\\n' $X > $R/evil; printf '[include]\\n path = %s\\n' $R/evil >> $C",
    ),
];

/// Places; each creates `C`, `D` and `R`, and ends with the step that makes git look there.
const PLACES: &[(&str, &str, &str)] = &[
    ("in the repository", "D=$W/.git; C=$D/config; R=$W", ":"),
    (
        "in the configuration of its worktree",
        "D=$W/.git; C=$D/config.worktree; R=$W; git config extensions.worktreeConfig true",
        ":",
    ),
    (
        "in a repository within, linked",
        "git init -q sub; cd sub; echo x > a.txt; git add a.txt; git -c user.name=a -c user.email=b commit -qm x; cd ..; git add sub; D=$W/sub/.git; C=$D/config; R=$W/sub",
        ":",
    ),
    (
        "in a look-alike",
        "git init -q t; cd t; echo x > a.txt; git add a.txt; git -c user.name=a -c user.email=b commit -qm x; cd ..; mkdir look; mv t/.git/* look/; mv t/a.txt look/; D=$W/look; C=$D/config; R=$W/look; printf '[core]\\n bare = false\\n worktree = .\\n' >> $C",
        ":",
    ),
    (
        "behind a pointer",
        "git init -q p; cd p; echo x > a.txt; git add a.txt; git -c user.name=a -c user.email=b commit -qm x; cd ..; mv p/.git kept; echo 'gitdir: ../kept' > p/.git; D=$W/kept; C=$D/config; R=$W/p",
        ":",
    ),
];

#[test]
fn git_runs_nothing_after_a_hostile_repository() {
    in_parts("hostile::git_runs_nothing_after_a_hostile_repository", part);
}

fn part() {
    let ground = Ground::new("hostile");
    let patience = Duration::from_secs(20);
    let mut repositories = Vec::new();
    for (way, plant) in WAYS {
        for (place, begin, end) in PLACES {
            repositories.push((format!("{way} {place}"), format!("{begin}\n{plant}\n{end}")));
        }
    }
    assert!(repositories.len() >= 60, "{}", repositories.len());
    let next = AtomicUsize::new(0);
    let lame = std::sync::Mutex::new(Vec::new());
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, text)) =
                    repositories.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let scene = ground.scene(Kind::Plain);
                    let left = outside(&scene, "/bin/sh", &["-c", text], patience);
                    if !fired(&scene) {
                        let mut lame = lame.lock().expect("the list");
                        lame.push(format!("{name}: {}", left.output));
                    }
                    drop(scene);
                    let scene = ground.scene(Kind::Plain);
                    let control = ScanBaseline::of(&scene.work(), &[]);
                    let left = inside(&usual(&scene), &scene, "/bin/sh", &["-c", text], patience);
                    let mut effects = after_the_scan(&control, &scene);
                    if let Err(refused) = left {
                        effects.push(refused.to_string());
                    }
                    if !effects.is_empty() {
                        let mut failures = failures.lock().expect("the list");
                        failures.push(format!("{name}: {}", effects.join("; ")));
                    }
                }
            });
        }
    });
    let (lame, count) = (lame.into_inner().expect("the list"), repositories.len());
    println!(
        "{count} hostile repositories, {} of them run something without a sandbox",
        count - lame.len()
    );
    let failures = failures.into_inner().expect("the list");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        lame.is_empty(),
        "these would have run nothing anyway, and prove nothing:\n{}",
        lame.join("\n")
    );
}
