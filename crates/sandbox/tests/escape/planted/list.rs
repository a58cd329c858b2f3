//! The cases of planted files.

use super::{Case, case};
use crate::scene::Kind;

/// Returns all cases.
pub(super) fn all() -> Vec<Case> {
    [LINKS, SPECIAL, PROGRAMS, NAMES, ROOTS, HOME, SOCKETS].concat()
}

const COMMIT: &str = "echo mine >> a.txt; git commit -qam mine";

/// Links in a git folder that lead out.
const LINKS: &[Case] = &[
    case("message of a commit", ":", &["rm -f .git/COMMIT_EDITMSG; ln -s $HOME/.bashrc .git/COMMIT_EDITMSG"], COMMIT),
    case("message of a commit, new file", ":", &["rm -f .git/COMMIT_EDITMSG; ln -s $HOME/.bash_login .git/COMMIT_EDITMSG"], COMMIT),
    case("message of a commit, by a second link", ":", &["ln -s $HOME l; rm -f .git/COMMIT_EDITMSG; ln -s ../l/.bashrc .git/COMMIT_EDITMSG"], COMMIT),
    case("message of a commit, by python", ":", &["rm -f .git/COMMIT_EDITMSG; python3 -c 'import os; os.symlink(os.environ[\"HOME\"]+\"/.bashrc\", \".git/COMMIT_EDITMSG\")'"], COMMIT),
    case("message of a commit, made elsewhere", ":", &["ln -s $HOME/.bashrc x; mv -f x .git/COMMIT_EDITMSG"], COMMIT),
    case("log of HEAD", ":", &["rm -f .git/logs/HEAD; ln -s $HOME/.bashrc .git/logs/HEAD"], COMMIT),
    case("log of a branch", ":", &["rm -f .git/logs/refs/heads/main; ln -s $HOME/.bashrc .git/logs/refs/heads/main"], COMMIT),
    case("all logs", ":", &["rm -rf .git/logs || mv .git/logs gone; ln -s $O .git/logs"], COMMIT),
    case("logs of branches", ":", &["rm -rf .git/logs/refs/heads; ln -s $O .git/logs/refs/heads"], COMMIT),
    case("log of the stash", ":", &["mkdir -p .git/logs/refs; ln -s $HOME/.bashrc .git/logs/refs/stash"], "echo x >> a.txt; git stash -q"),
    case("branches", ":", &["mkdir r; cp -r .git/refs/heads r/; rm -rf .git/refs/heads; ln -s $O .git/refs/heads"], "git checkout -qb fresh; echo x >> a.txt; git commit -qam x"),
    case("tags", ":", &["rm -rf .git/refs/tags; ln -s $O .git/refs/tags"], "git tag v1"),
    case("what was fetched", ":", &["ln -sf $HOME/.bashrc .git/FETCH_HEAD"], "git fetch -q . main"),
    case("message of a merge", "git checkout -qb o; echo o >> a.txt; git commit -qam o; git checkout -q main; echo m > m; git add m; git commit -qm m", &["ln -sf $HOME/.bashrc .git/MERGE_MSG"], "git merge -q --no-ff --no-commit o"),
    case("message of a squash", "git checkout -qb o; echo o >> a.txt; git commit -qam o; git checkout -q main", &["ln -sf $HOME/.bashrc .git/SQUASH_MSG"], "git merge -q --squash o"),
    case("mode of a merge", "git checkout -qb o; echo o >> a.txt; git commit -qam o; git checkout -q main", &["ln -sf $HOME/.bashrc .git/MERGE_MODE"], "git merge -q --no-ff --no-commit o"),
    case("index", ":", &["mv .git/index i; ln -s $O/index .git/index; cp i $O/index"], "git add -A; git status").fails(),
    case("index, to a file of the person", ":", &["cp .git/index $W/i; rm .git/index; ln -s $HOME/.index .git/index"], "git add -A"),
    case("packed references", ":", &["rm -f .git/packed-refs; ln -s $HOME/.refs .git/packed-refs"], "git pack-refs --all"),
    case("packs", ":", &["rm -rf .git/objects/pack; ln -s $O .git/objects/pack"], "git gc -q"),
    case("objects", ":", &["for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do for j in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do [ -e .git/objects/$i$j ] || ln -s $O .git/objects/$i$j; done; done"], "echo $$ > new; git add new; for i in 1 2 3; do echo $i > n$i; git add n$i; done"),
    case("information on objects", ":", &["rm -rf .git/objects/info; ln -s $O .git/objects/info"], "git commit-graph write --reachable"),
    case("information", ":", &["mv .git/info i || rm -rf .git/info; ln -s $O .git/info"], "git update-server-info; git sparse-checkout set x"),
    case("resolutions", "git config rerere.enabled true; git checkout -qb o; echo o > a.txt; git commit -qam o; git checkout -q main; echo m > a.txt; git commit -qam m", &["rm -rf .git/rr-cache; ln -s $O .git/rr-cache"], "git merge -q o"),
    case("message by an editor", ":", &["ln -sf $HOME/.bashrc .git/EDIT_DESCRIPTION"], "git branch --edit-description"),
    case("notes", ":", &["ln -sf $HOME/.bashrc .git/NOTES_EDITMSG; rm -f .git/COMMIT_EDITMSG; ln -s $HOME/.bashrc .git/COMMIT_EDITMSG"], COMMIT),
    case("message of a repository within", "git init -q sub; cd sub; echo x > x; git add x; git commit -qm x", &["rm -f sub/.git/COMMIT_EDITMSG; ln -s $HOME/.bashrc sub/.git/COMMIT_EDITMSG"], "cd sub; echo mine >> x; git commit -qam mine"),
    case("message of a fresh repository within", ":", &["git init -q sub; cd sub; echo x > x; git add x; ln -s $HOME/.bashrc .git/COMMIT_EDITMSG"], "cd sub && git commit -qm mine"),
    case("message of a submodule", "git init -q ../lib; git -C ../lib commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule --quiet add $B/lib lib; git commit -qm lib", &["rm -f .git/modules/lib/COMMIT_EDITMSG; ln -s $HOME/.bashrc .git/modules/lib/COMMIT_EDITMSG"], "cd lib; echo x > x; git add x; git commit -qm mine"),
    case("log of a submodule", "git init -q ../lib; git -C ../lib commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule --quiet add $B/lib lib; git commit -qm lib", &["rm -f .git/modules/lib/logs/HEAD; ln -s $HOME/.bashrc .git/modules/lib/logs/HEAD"], "cd lib; echo x > x; git add x; git commit -qm mine"),
    case("message of a worktree", ":", &["rm -f $B/hub/.git/worktrees/work/COMMIT_EDITMSG; ln -s $HOME/.bashrc $B/hub/.git/worktrees/work/COMMIT_EDITMSG"], COMMIT).at(Kind::Linked),
    case("log of a worktree", ":", &["rm -f $B/hub/.git/worktrees/work/logs/HEAD; ln -s $HOME/.bashrc $B/hub/.git/worktrees/work/logs/HEAD"], COMMIT).at(Kind::Linked),
    case("shared log of a worktree", ":", &["rm -f $B/hub/.git/logs/refs/heads/work; ln -s $HOME/.bashrc $B/hub/.git/logs/refs/heads/work"], COMMIT).at(Kind::Linked),
    case("shared packs of a worktree", ":", &["rm -rf $B/hub/.git/objects/pack; ln -s $O $B/hub/.git/objects/pack"], "git gc -q").at(Kind::Linked),
    case("shared tags of a worktree", ":", &["rm -rf $B/hub/.git/refs/tags; ln -s $O $B/hub/.git/refs/tags"], "git tag v1").at(Kind::Linked),
    case("main message of a worktree's repository", ":", &["rm -f $B/hub/.git/COMMIT_EDITMSG; ln -s $HOME/.bashrc $B/hub/.git/COMMIT_EDITMSG"], "cd $B/hub; echo x >> a.txt; git commit -qam mine").at(Kind::Linked),
    case("first repository with a link", ":", &["git init -q; git add -A; ln -s $HOME/.bashrc .git/COMMIT_EDITMSG"], "git commit -qm mine").at(Kind::NoGit),
];

/// Entries that lead out of the workspace without being links.
const SPECIAL: &[Case] = &[
    case(
        "second name for a file",
        ":",
        &["rm -f .git/COMMIT_EDITMSG; ln $HOME/.bashrc .git/COMMIT_EDITMSG"],
        COMMIT,
    )
    .fails(),
    case(
        "second name for a log",
        ":",
        &["rm -f .git/logs/HEAD; ln $HOME/.bashrc .git/logs/HEAD"],
        COMMIT,
    )
    .fails(),
    case(
        "pipe that is read later",
        ":",
        &["rm -f .git/COMMIT_EDITMSG; mkfifo .git/COMMIT_EDITMSG"],
        "(cat .git/COMMIT_EDITMSG > $O/read) & sleep .1; [ -p .git/COMMIT_EDITMSG ] && echo x > .git/COMMIT_EDITMSG; [ -p .git/COMMIT_EDITMSG ] && sh $X; kill %1 2>/dev/null; rm -f $O/read; :",
    ),
];

/// Programs in the workspace that git runs.
const PROGRAMS: &[Case] = &[
    case("hook in a folder of the workspace", "mkdir -p scripts/x; cp .git/hooks/pre-commit.sample scripts/x/pre-commit; chmod +x scripts/x/pre-commit; git config core.hooksPath scripts/x", &["printf '#!/bin/sh\\nsh %s\\n' $X > scripts/x/pre-commit"], COMMIT),
    case("new hook in a folder of the workspace", "mkdir -p scripts/x; git config core.hooksPath scripts/x", &["printf '#!/bin/sh\\nsh %s\\n' $X > scripts/x/post-commit; chmod +x scripts/x/post-commit"], COMMIT),
    case("folder of hooks that is not there yet", "git config core.hooksPath later", &["mkdir later; printf '#!/bin/sh\\nsh %s\\n' $X > later/post-commit; chmod +x later/post-commit"], COMMIT),
    case("folder of hooks exchanged", "mkdir -p scripts/x; git config core.hooksPath scripts/x", &["mkdir y; printf '#!/bin/sh\\nsh %s\\n' $X > y/post-commit; chmod +x y/post-commit; mv scripts s2; mkdir scripts; mv y scripts/x"], COMMIT),
    case("folder of hooks by a link", "mkdir -p real; ln -s real hooks; git config core.hooksPath hooks", &["mkdir y; printf '#!/bin/sh\\nsh %s\\n' $X > y/post-commit; chmod +x y/post-commit; rm hooks; ln -s y hooks"], COMMIT),
    case("folder of hooks of the person", "mkdir -p scripts/x; git config --global core.hooksPath scripts/x", &["printf '#!/bin/sh\\nsh %s\\n' $X > scripts/x/post-commit; chmod +x scripts/x/post-commit"], COMMIT),
    case("included configuration", "git config include.path ../team; printf '[user]\\n name = Ada\\n' > team", &["printf '[core]\\n fsmonitor = %s\\n' $X > team"], "git status"),
    case("included configuration that is not there yet", "git config include.path ../team", &["printf '[core]\\n fsmonitor = %s\\n' $X > team"], "git status"),
    case("configuration included under a condition", "git config includeIf.gitdir:$B/.path ../team", &["printf '[core]\\n fsmonitor = %s\\n' $X > team"], "git status"),
    case("configuration included by another", "git config include.path ../team; printf '[include]\\n path = conf/more\\n' > team; mkdir conf", &["printf '[core]\\n fsmonitor = %s\\n' $X > conf/more"], "git status"),
    case("configuration included by the person's", "git config --global include.path $W/team", &["printf '[core]\\n fsmonitor = %s\\n' $X > team"], "git status"),
    case("monitor", "printf '#!/bin/sh\\n' > monitor; chmod +x monitor; git config core.fsmonitor ./monitor", &["printf 'sh %s\\n' $X >> monitor"], "git status"),
    case("monitor by renaming", "printf '#!/bin/sh\\n' > monitor; chmod +x monitor; git config core.fsmonitor ./monitor", &["printf '#!/bin/sh\\nsh %s\\n' $X > m; chmod +x m; mv m monitor"], "git status"),
    case("monitor in a folder that is moved", "mkdir t; printf '#!/bin/sh\\n' > t/m; chmod +x t/m; git config core.fsmonitor t/m", &["mv t u; mkdir t; printf '#!/bin/sh\\nsh %s\\n' $X > t/m; chmod +x t/m"], "git status"),
    case("filter", "printf '#!/bin/sh\\ncat\\n' > clean; chmod +x clean; git config filter.e.clean ./clean; echo '*.txt filter=e' > .gitattributes", &["printf 'sh %s\\n' $X >> clean"], "echo y > a.txt; git add a.txt"),
    case("filter that stays", "printf '#!/bin/sh\\n' > p; chmod +x p; git config filter.e.process ./p; echo '*.txt filter=e' > .gitattributes", &["printf 'sh %s\\n' $X >> p"], "echo y > a.txt; git add a.txt"),
    case("filter on the way out", "printf '#!/bin/sh\\ncat\\n' > smudge; chmod +x smudge; git config filter.e.smudge ./smudge; echo '*.txt filter=e' > .gitattributes", &["printf 'sh %s\\n' $X >> smudge"], "rm a.txt; git checkout -q a.txt"),
    case("text of contents", "printf '#!/bin/sh\\ncat $1\\n' > text; chmod +x text; git config diff.e.textconv ./text; echo '*.txt diff=e' > .gitattributes", &["printf 'sh %s\\n' $X >> text"], "echo y > a.txt; git diff"),
    case("difference", "printf '#!/bin/sh\\n' > d; chmod +x d; git config diff.external ./d", &["printf 'sh %s\\n' $X >> d"], "echo y > a.txt; git diff"),
    case("difference of a kind", "printf '#!/bin/sh\\n' > d; chmod +x d; git config diff.e.command ./d; echo '*.txt diff=e' > .gitattributes", &["printf 'sh %s\\n' $X >> d"], "echo y > a.txt; git diff"),
    case("merge", "printf '#!/bin/sh\\n' > m; chmod +x m; git config merge.e.driver './m %A'; echo '*.txt merge=e' > .gitattributes; git add .; git commit -qm m; git checkout -qb o; echo o > a.txt; git commit -qam o; git checkout -q main; echo m > a.txt; git commit -qam m", &["printf 'sh %s\\n' $X >> m"], "git merge -q o"),
    case("alias", "printf '#!/bin/sh\\n' > st; chmod +x st; git config alias.st '!./st'", &["printf 'sh %s\\n' $X >> st"], "git st"),
    case("signature", "printf '#!/bin/sh\\n' > sign; chmod +x sign; git config gpg.program ./sign; git config commit.gpgsign true", &["printf 'sh %s\\n' $X >> sign"], COMMIT),
    case("editor", "printf '#!/bin/sh\\n' > edit; chmod +x edit; git config core.editor ./edit", &["printf 'sh %s\\n' $X >> edit"], "unset EDITOR; echo x >> a.txt; git commit -qa"),
    case("editor of sequences", "printf '#!/bin/sh\\n' > edit; chmod +x edit; git config sequence.editor ./edit; git commit -q --allow-empty -m two", &["printf 'sh %s\\n' $X >> edit"], "git rebase -q -i HEAD~1"),
    case("server of a remote", "printf '#!/bin/sh\\n' > up; chmod +x up; git remote add o .; git config remote.o.uploadpack $W/up", &["printf 'sh %s < /dev/null\\n' $X >> up"], "git fetch -q o"),
    case("connection to a remote", "printf '#!/bin/sh\\n' > ssh; chmod +x ssh; git config core.sshCommand $W/ssh; git remote add o ssh://nowhere.example/x", &["printf 'sh %s < /dev/null\\n' $X >> ssh"], "git fetch -q o"),
    case("credentials", "printf '#!/bin/sh\\n' > cred; chmod +x cred; git config credential.helper \"!$W/cred\"", &["printf 'sh %s\\n' $X >> cred"], "printf 'protocol=https\\nhost=x.example\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill"),
    case("hook that is a link", "mkdir scripts; printf '#!/bin/sh\\n' > scripts/pc; chmod +x scripts/pc; ln -s ../../scripts/pc .git/hooks/pre-commit", &["printf 'sh %s\\n' $X >> scripts/pc"], COMMIT),
    case("hook that is a link to nothing", "mkdir scripts; ln -s ../../scripts/pc .git/hooks/pre-commit", &["printf '#!/bin/sh\\nsh %s\\n' $X > scripts/pc; chmod +x scripts/pc"], COMMIT),
    case("hook that is a link, parent moved", "mkdir scripts; printf '#!/bin/sh\\n' > scripts/pc; chmod +x scripts/pc; ln -s ../../scripts/pc .git/hooks/pre-commit", &["mv scripts s2; mkdir scripts; printf '#!/bin/sh\\nsh %s\\n' $X > scripts/pc; chmod +x scripts/pc"], COMMIT),
    case("script that a hook calls", "mkdir scripts; printf '#!/bin/sh\\n' > scripts/lint; chmod +x scripts/lint; printf '#!/bin/sh\\nexec scripts/lint\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", &["printf 'sh %s\\n' $X >> scripts/lint"], COMMIT),
    case("script that a hook reads", "mkdir scripts; echo : > scripts/lib.sh; printf '#!/bin/sh\\n. ./scripts/lib.sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", &["printf 'sh %s\\n' $X >> scripts/lib.sh"], COMMIT),
    case("script that a script of a hook calls", "mkdir scripts; printf '#!/bin/sh\\n' > scripts/b; chmod +x scripts/b; printf '#!/bin/sh\\nscripts/b\\n' > scripts/a; chmod +x scripts/a; printf '#!/bin/sh\\nscripts/a\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", &["printf 'sh %s\\n' $X >> scripts/b"], COMMIT),
    case("script of another language that a hook calls", "echo 'pass' > check.py; printf '#!/bin/sh\\npython3 check.py\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", &["printf 'import os; os.system(\"sh %s\")\\n' $X >> check.py"], COMMIT),
    case("script that a hook finds by git", "printf '#!/bin/sh\\n' > lint; chmod +x lint; printf '#!/bin/sh\\n\"$(git rev-parse --show-toplevel)/lint\"\\n' > .git/hooks/commit-msg; chmod +x .git/hooks/commit-msg", &["printf 'sh %s\\n' $X >> lint"], COMMIT),
    case("husky", "mkdir -p .husky/_; echo : > .husky/pre-commit; printf '#!/bin/sh\\nsh .husky/pre-commit\\n' > .husky/_/pre-commit; chmod +x .husky/_/pre-commit; git config core.hooksPath .husky/_", &["printf 'sh %s\\n' $X >> .husky/pre-commit"], COMMIT),
    case("husky's own", "mkdir -p .husky/_; echo : > .husky/_/h; printf '#!/bin/sh\\n. .husky/_/h\\n' > .husky/_/pre-commit; chmod +x .husky/_/pre-commit; git config core.hooksPath .husky/_", &["printf 'sh %s\\n' $X >> .husky/_/h"], COMMIT),
    case("attributes elsewhere", "git config core.attributesFile .attributes; git config filter.e.clean $X", &["echo '*.txt filter=e' > .attributes"], "echo y > a.txt; git add a.txt"),
    case("program in a worktree", "cd $B/hub; git config core.fsmonitor ./monitor; cd $W; printf '#!/bin/sh\\n' > monitor; chmod +x monitor", &["printf 'sh %s\\n' $X >> monitor"], "git status").at(Kind::Linked),
    case("hook of a worktree", "printf '#!/bin/sh\\n./lint\\n' > $B/hub/.git/hooks/pre-commit; chmod +x $B/hub/.git/hooks/pre-commit; printf '#!/bin/sh\\n' > lint; chmod +x lint", &["printf 'sh %s\\n' $X >> lint"], COMMIT).at(Kind::Linked),
];

/// Targets of protected names, and tricks with names.
const NAMES: &[Case] = &[
    case(
        "file behind a protected name",
        "mkdir .vscode shared; echo '{}' > shared/tasks.json; ln -s ../shared/tasks.json .vscode/tasks.json",
        &["echo evil > shared/tasks.json"],
        "grep -q evil .vscode/tasks.json && sh $X",
    ),
    case(
        "file behind a protected name, by renaming",
        "mkdir .vscode shared; echo '{}' > shared/tasks.json; ln -s ../shared/tasks.json .vscode/tasks.json",
        &["echo evil > e; mv e shared/tasks.json"],
        "grep -q evil .vscode/tasks.json && sh $X",
    ),
    case(
        "file behind a protected name, parent moved",
        "mkdir .vscode shared; echo '{}' > shared/tasks.json; ln -s ../shared/tasks.json .vscode/tasks.json",
        &["mv shared s2; mkdir shared; echo evil > shared/tasks.json"],
        "grep -q evil .vscode/tasks.json && sh $X",
    ),
    case(
        "folder behind a protected name",
        "mkdir shared; ln -s shared .vscode",
        &["echo evil > shared/tasks.json"],
        "grep -q evil .vscode/tasks.json && sh $X",
    ),
    case(
        "protected name that leads nowhere",
        "ln -s shared .vscode",
        &["mkdir shared; echo evil > shared/tasks.json"],
        "grep -q evil .vscode/tasks.json && sh $X",
    ),
    case(
        "protected name that leads nowhere, deeper",
        "mkdir a; ln -s a/b/c .vscode",
        &["mkdir -p a/b/c; echo evil > a/b/c/tasks.json"],
        "grep -q evil .vscode/tasks.json && sh $X",
    ),
    case(
        "protected name that leads to a name of two links",
        "ln -s one .envrc; ln -s two one; echo x > two",
        &["rm one; echo evil > one"],
        "grep -q evil .envrc && sh $X",
    ),
    case(
        "file that a protected one leads to",
        "ln -s conf .envrc; echo x > conf",
        &["echo evil > conf"],
        "grep -q evil .envrc && sh $X",
    ),
    case(
        "file in a protected folder that leads nowhere",
        "mkdir .vscode; ln -s ../later.json .vscode/tasks.json",
        &["echo evil > later.json"],
        "grep -q evil .vscode/tasks.json && sh $X",
    ),
    case(
        "settings of an agent behind a link",
        "mkdir .claude; ln -s ../team.json .claude/settings.json; echo '{}' > team.json",
        &["echo evil > team.json"],
        "grep -q evil .claude/settings.json && sh $X",
    ),
    case(
        "protected name of a folder within, behind a link",
        "mkdir -p sub/.vscode shared; echo '{}' > shared/t; ln -s ../../shared/t sub/.vscode/tasks.json",
        &["echo evil > shared/t"],
        "grep -q evil sub/.vscode/tasks.json && sh $X",
    ),
    case(
        "empty folder of an agent",
        ":",
        &["mkdir .claude"],
        "[ -d .claude ] && sh $X",
    ),
    case(
        "empty folder of an agent in a folder",
        ":",
        &["mkdir -p sub/.claude"],
        "[ -d sub/.claude ] && sh $X",
    ),
    case(
        "name exchanged",
        "mkdir -p sub/.vscode; echo '{}' > sub/.vscode/tasks.json",
        &["mkdir x; echo evil > x/tasks.json; mv sub/.vscode y; mv x sub/.vscode"],
        "grep -q evil sub/.vscode/tasks.json && sh $X",
    ),
    case(
        "keys of a folder",
        ":",
        &["mkdir .ssh; echo evil > .ssh/config"],
        "[ -e .ssh/config ] && sh $X",
    ),
    case(
        "path of the policy",
        "mkdir conf; echo x > conf/keep",
        &["mv conf c2; mkdir conf; echo evil > conf/keep"],
        "grep -q evil conf/keep && sh $X",
    )
    .protected(&["work/conf/keep"]),
    case(
        "path of the policy, deeper",
        "mkdir -p a/b/c; echo x > a/b/c/keep",
        &["mv a z; mkdir -p a/b/c; echo evil > a/b/c/keep"],
        "grep -q evil a/b/c/keep && sh $X",
    )
    .protected(&["work/a/b/c/keep"]),
    case(
        "path of the policy that is not there",
        "mkdir conf",
        &["echo evil > conf/keep"],
        "grep -q evil conf/keep && sh $X",
    )
    .protected(&["work/conf/keep"]),
    case(
        "path of the policy without its folder",
        ":",
        &["mkdir conf; echo evil > conf/keep"],
        "grep -q evil conf/keep && sh $X",
    )
    .protected(&["work/conf/keep"]),
    case(
        "path of the policy behind a link",
        "mkdir real; ln -s real conf; echo x > real/keep",
        &["rm conf; mkdir conf; echo evil > conf/keep"],
        "grep -q evil conf/keep && sh $X",
    )
    .protected(&["work/conf/keep"]),
    case(
        "hidden path moved",
        "mkdir -p vault/in; echo S3CRET-4711-0815 > vault/in/key",
        &["mv vault v2", "cat v2/in/key"],
        ":",
    )
    .hidden(&["work/vault/in"]),
    case(
        "hidden file moved",
        "mkdir -p vault; echo S3CRET-4711-0815 > vault/key",
        &["mv vault v2; mkdir vault", "cat v2/key"],
        ":",
    )
    .hidden(&["work/vault/key"]),
];

/// Further writable folders.
const ROOTS: &[Case] = &[
    case("configuration of a further folder", ":", &["printf '[core]\\n fsmonitor = %s\\n' $X >> $B/other/.git/config"], "cd $B/other; git init -q; git status").writable(&["other"]),
    case("hook of a further folder", "cd $B/other; git init -q; git add .; git commit -qm x", &["printf '#!/bin/sh\\nsh %s\\n' $X > $B/other/.git/hooks/pre-commit; chmod +x $B/other/.git/hooks/pre-commit"], "cd $B/other; echo x >> file.txt; git commit -qam x").writable(&["other"]),
    case("hook of a further folder, by git", "cd $B/other; git init -q; git add .; git commit -qm x", &["cd $B/other; mkdir h; printf '#!/bin/sh\\nsh %s\\n' $X > h/pre-commit; chmod +x h/pre-commit; git config core.hooksPath h"], "cd $B/other; echo x >> file.txt; git commit -qam x").writable(&["other"]),
    case("message of a further folder", "cd $B/other; git init -q; git add .; git commit -qm x", &["cd $B/other; rm -f .git/COMMIT_EDITMSG; ln -s $HOME/.bashrc .git/COMMIT_EDITMSG"], "cd $B/other; echo x >> file.txt; git commit -qam x").writable(&["other"]),
    case("editor of a further folder", ":", &["mkdir $B/other/.vscode; echo evil > $B/other/.vscode/tasks.json"], "[ -e $B/other/.vscode/tasks.json ] && sh $X").writable(&["other"]),
    case("editor within a further folder", ":", &["mkdir -p $B/other/a/.vscode; echo evil > $B/other/a/.vscode/tasks.json"], "[ -e $B/other/a/.vscode/tasks.json ] && sh $X").writable(&["other"]),
    case("keys of a further folder", ":", &["mkdir $B/other/.ssh; echo evil > $B/other/.ssh/authorized_keys"], "[ -e $B/other/.ssh/authorized_keys ] && sh $X").writable(&["other"]),
    case("entering a further folder", ":", &["echo evil > $B/other/.envrc"], "[ -e $B/other/.envrc ] && sh $X").writable(&["other"]),
    case("home as a further folder", ":", &["echo evil >> $HOME/.bashrc; echo evil > $HOME/.zshenv; mkdir -p $HOME/.config/autostart; echo evil > $HOME/.config/autostart/x"], "grep -rq evil $HOME/.bashrc $HOME/.zshenv $HOME/.config/autostart && sh $X").writable(&["home"]),
    case("path that becomes a link", "mkdir out", &["rm -rf out; ln -s $O out", "echo evil > $O/planted; echo evil > out/planted2"], ":").writable(&["work/out"]),
    case("path in a further folder that becomes a link", "mkdir $B/other/out", &["rm -rf $B/other/out || mv $B/other/out $B/other/x; ln -s $O $B/other/out", "echo evil > $O/planted"], ":").writable(&["other", "other/out"]),
    case("path whose parent becomes a link", "mkdir -p a/out; mkdir $O/out", &["mv a b; ln -s $O a", "echo evil > $O/out/planted"], ":").writable(&["work/a/out"]),
    case("file that becomes a link", "echo x > log", &["rm -f log; ln -s $O/file.txt log", "echo evil > $O/file.txt"], ":").writable(&["work/log"]),
    case("path whose parent is moved", "mkdir -p $B/other/a/out", &["mv $B/other/a $B/other/b; mkdir $B/other/a; ln -s $O $B/other/a/out", "echo evil > $O/planted"], ":").writable(&["other", "other/a/out"]),
];

/// The home folder as the workspace.
const HOME: &[Case] = &[
    case("start of a shell", ":", &["echo evil >> $HOME/.bashrc"], "grep -q evil $HOME/.bashrc && sh $X").within("home"),
    case("start of a shell by renaming", ":", &["echo evil > $HOME/x; mv $HOME/x $HOME/.bashrc"], "grep -q evil $HOME/.bashrc && sh $X").within("home"),
    case("start of a shell that is not there", ":", &["echo evil > $HOME/.zshenv"], "grep -q evil $HOME/.zshenv && sh $X").within("home"),
    case("login", ":", &["echo evil > $HOME/.profile"], "grep -q evil $HOME/.profile && sh $X").within("home"),
    case("git of the person", ":", &["printf '[core]\\n fsmonitor = %s\\n' $X >> $HOME/.gitconfig"], "git status").within("home"),
    case("git of the person, elsewhere", "mkdir -p $HOME/.config", &["mkdir -p $HOME/.config/git; printf '[core]\\n fsmonitor = %s\\n' $X > $HOME/.config/git/config"], "git status").within("home"),
    case("autostart", ":", &["mkdir -p $HOME/.config/autostart; echo evil > $HOME/.config/autostart/x.desktop"], "[ -e $HOME/.config/autostart/x.desktop ] && sh $X").within("home"),
    case("units", ":", &["mkdir -p $HOME/.config/systemd/user; echo evil > $HOME/.config/systemd/user/x.service"], "[ -e $HOME/.config/systemd/user/x.service ] && sh $X").within("home"),
    case("settings moved away", ":", &["mv $HOME/.config $HOME/c; mkdir -p $HOME/.config/autostart; echo evil > $HOME/.config/autostart/x"], "[ -e $HOME/.config/autostart/x ] && sh $X").within("home"),
    case("keys that let in", ":", &["echo evil >> $HOME/.ssh/authorized_keys"], "grep -q evil $HOME/.ssh/authorized_keys && sh $X").within("home"),
    case("program on the path", ":", &["echo evil > $HOME/.local/bin/tool"], "grep -q evil $HOME/.local/bin/tool && sh $X").within("home"),
    case("completions", "mkdir -p $HOME/.local/share", &["mkdir -p $HOME/.local/share/bash-completion/completions; echo evil > $HOME/.local/share/bash-completion/completions/x"], "[ -e $HOME/.local/share/bash-completion/completions/x ] && sh $X").within("home"),
    case("start file that is a link", "mkdir $HOME/dotfiles; mv $HOME/.bashrc $HOME/dotfiles/bashrc; ln -s dotfiles/bashrc $HOME/.bashrc", &["echo evil >> $HOME/dotfiles/bashrc"], "grep -q evil $HOME/.bashrc && sh $X").within("home"),
    case("home behind a folder", ":", &["echo evil >> $HOME/.bashrc"], "grep -q evil $HOME/.bashrc && sh $X").writable(&["home"]),
];

/// Sockets of the machine in the workspace.
const SOCKETS: &[Case] = &[
    case(
        "socket in the workspace",
        ":",
        &["python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"host.sock\")'"],
        ":",
    ),
    case(
        "socket in the workspace by its whole path",
        ":",
        &[
            "python3 -c 'import socket,os; socket.socket(socket.AF_UNIX).connect(os.environ[\"W\"]+\"/host.sock\")'",
        ],
        ":",
    ),
    case(
        "socket in the workspace by a link",
        ":",
        &[
            "ln -s host.sock s; python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"s\")'",
        ],
        ":",
    ),
    case(
        "socket in the workspace by another name",
        ":",
        &[
            "mv host.sock s; python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"s\")'",
        ],
        ":",
    ),
    case(
        "socket in the workspace by a second name",
        ":",
        &[
            "ln host.sock s; python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"s\")'",
        ],
        ":",
    ),
    case(
        "socket in the workspace exchanged for one's own",
        ":",
        &[
            "mv host.sock h; python3 -c 'import socket,os\nl=socket.socket(socket.AF_UNIX); l.bind(os.environ[\"W\"]+\"/host.sock\"); l.listen()\nos.rename(\"host.sock\",\"o\"); os.rename(\"h\",\"host.sock\")\nsocket.socket(socket.AF_UNIX).connect(os.environ[\"W\"]+\"/host.sock\")'",
        ],
        ":",
    ),
];
