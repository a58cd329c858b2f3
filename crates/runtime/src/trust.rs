//! Folder trust: the instructions, rules, skills, hooks and MCP servers of a folder, and whether
//! the user allows them.
//!
//! Instructions, rules and skills join prompts if the folder is trusted. Hooks and MCP servers run
//! only with consent to exactly them.
//! Invariant: an unreadable item is not trusted.
//! Invariant: a consent covers the content the user saw; changed content needs a new consent.

use std::sync::Arc;

use agent::context::{TrustedFolders, guides};
use agent::hooks::{self, HookFile, HookRunner, Hooks, ProcessHookRunner};
use agent::trust::{FolderTrust, PendingHooks, PendingMcpServer};
use base::AbsPath;
use connect::mcp::{Approval, Approvals as _, ServerEntry, ServerOrigin};
use host::{ContentHash, Dirs, Files, RealFiles};
use serde_json::{Value, json};

use crate::Error;
use crate::mcp_pool::{self, Consents};
use crate::permissions::Permissions;

/// The largest list of trusted folders that is read, in bytes.
const MAX_TRUST_BYTES: u64 = 1 << 20;
/// The folder below the state folder that holds the agents' worktrees of all repositories.
const WORKTREES: &str = "worktrees";

/// Returns the trust state of a folder. Blocks on the disk.
pub(crate) fn load(dirs: &Dirs, root: &AbsPath) -> FolderTrust {
    let waiting = hooks::find(&RealFiles, &dirs.state, root).into_iter();
    let waiting = waiting.filter(|file| !file.has_consent && !file.hooks.is_empty());
    let consents = Consents::new(Arc::new(RealFiles), &dirs.state);
    let (entries, _) = mcp_pool::gather(&RealFiles, dirs, root);
    let mut problems = Permissions::read(dirs).rules(root).1;
    problems.extend(consents.problems(&entries));
    FolderTrust {
        guides: guides(&RealFiles, root),
        is_trusted: is_trusted(&RealFiles, dirs, root),
        hooks: waiting.map(|file| shown_hooks(&file)).collect(),
        servers: entries
            .iter()
            .filter(|entry| waits(entry, &consents))
            .map(|entry| shown_server(dirs, entry))
            .collect(),
        problems,
    }
}

/// Returns whether a server of the project waits for a decision of the user.
fn waits(entry: &ServerEntry, consents: &Consents) -> bool {
    // An invalid entry does not run, whatever the user decides.
    let can_run = !entry.is_disabled && entry.reach.is_ok();
    can_run && entry.origin != ServerOrigin::User && consents.approval(entry) == Approval::Unasked
}

/// Returns a server as shown to the user for consent.
pub(crate) fn shown_server(dirs: &Dirs, entry: &ServerEntry) -> PendingMcpServer {
    PendingMcpServer {
        name: entry.name.clone(),
        written: format!("{:#}", entry.written),
        mark: mark(&entry.fingerprint.0),
        path: match &entry.origin {
            ServerOrigin::Project { file } => file.clone(),
            ServerOrigin::User => mcp_pool::own_file(dirs),
        },
    }
}

/// Returns the hooks of a file as shown to the user for consent.
pub(crate) fn shown_hooks(file: &HookFile) -> PendingHooks {
    let commands = file.hooks.iter().map(|hook| hook.command().to_owned());
    PendingHooks {
        mark: mark(&file.text),
        path: file.path.clone(),
        commands: commands.collect(),
    }
}

fn mark(text: &str) -> String {
    format!("{:032x}", ContentHash::of(text.as_bytes()).0)
}

/// Returns the user's folder trust; each query reads the current state.
pub(crate) fn trust(dirs: &Dirs) -> TrustedFolders {
    let dirs = dirs.clone();
    TrustedFolders::new(move |root| is_trusted(&RealFiles, &dirs, root))
}

/// Allows the hooks in `shown`, which the user has seen. Fails with `Error::Changed` at the first
/// file whose contents differ from the shown contents. Blocks on the disk.
pub(crate) fn consent_to_hooks(
    dirs: &Dirs,
    root: &AbsPath,
    shown: &[PendingHooks],
) -> Result<(), Error> {
    let files = hooks::find(&RealFiles, &dirs.state, root);
    for shown in shown {
        let file = files.iter().find(|file| file.path == shown.path);
        let same = file.filter(|file| mark(&file.text) == shown.mark);
        let file = same.ok_or_else(|| Error::Changed(shown.path.clone()))?;
        hooks::consent::give(&RealFiles, &dirs.state, root, &file.text)?;
    }
    Ok(())
}

/// Withdraws the consent to the hooks in `shown`. Fails with `Error::Changed` if the file's contents
/// differ from the shown contents, so that there is no consent to withdraw. Blocks on the disk.
pub fn revoke_hooks(dirs: &Dirs, root: &AbsPath, shown: &PendingHooks) -> Result<(), Error> {
    let files = hooks::find(&RealFiles, &dirs.state, root);
    let file = files.iter().find(|file| shown_hooks(file) == *shown);
    let file = file.ok_or_else(|| Error::Changed(shown.path.clone()))?;
    Ok(hooks::consent::revoke(
        &RealFiles,
        &dirs.state,
        root,
        &file.text,
    )?)
}

/// Allows all current hooks of a folder without showing them, at the user's explicit request.
/// Blocks on the disk.
pub fn consent_to_all_hooks(dirs: &Dirs, root: &AbsPath) -> Result<(), Error> {
    for file in hooks::find(&RealFiles, &dirs.state, root) {
        if !file.has_consent {
            hooks::consent::give(&RealFiles, &dirs.state, root, &file.text)?;
        }
    }
    Ok(())
}

/// Stores the user's decision about the server in `shown`, which the user has seen. Fails with
/// `Error::Changed` if the server's entry differs from the shown entry. Blocks on the disk.
pub(crate) fn decide_server(
    dirs: &Dirs,
    root: &AbsPath,
    shown: &PendingMcpServer,
    may_run: bool,
) -> Result<(), Error> {
    let (entries, _) = mcp_pool::gather(&RealFiles, dirs, root);
    let same = entries
        .into_iter()
        .find(|entry| shown_server(dirs, entry) == *shown);
    let entry = same.ok_or_else(|| Error::Changed(shown.path.clone()))?;
    let approval = if may_run {
        Approval::Allowed
    } else {
        Approval::Refused
    };
    Consents::new(Arc::new(RealFiles), &dirs.state).set(&entry, approval)
}

/// Returns the allowed hooks of a folder, or `None` if there are none, and notices about problems
/// and about hooks without consent. A notice about hooks without consent ends with `how`, which
/// says how to allow the hooks. Blocks on the disk.
pub fn hooks_of(dirs: &Dirs, root: &AbsPath, how: &str) -> (Option<Arc<Hooks>>, Vec<String>) {
    hooks_in(dirs, root, how, Arc::new(ProcessHookRunner))
}

/// Returns the allowed hooks like `hooks_of`, run by this runner. Blocks on the disk.
pub(crate) fn hooks_in(
    dirs: &Dirs,
    root: &AbsPath,
    how: &str,
    runner: Arc<dyn HookRunner>,
) -> (Option<Arc<Hooks>>, Vec<String>) {
    let (mut all, mut notices) = (Vec::new(), Vec::new());
    for file in hooks::find(&RealFiles, &dirs.state, root) {
        let problems = file.problems.iter();
        notices.extend(problems.map(|problem| format!("{}: {problem}", file.path)));
        if file.has_consent {
            all.extend(file.hooks)
        } else {
            notices.push(format!(
                "the hooks in {} do not run: look at them, and {how}",
                file.path
            ))
        }
    }
    let hooks = (!all.is_empty()).then(|| Arc::new(Hooks::new(all, runner)));
    (hooks, notices)
}

/// Returns whether the user trusts a folder or one of its ancestors, as `try_is_trusted` does.
/// Returns false if the list of trusted folders cannot be read.
pub fn is_trusted(files: &dyn Files, dirs: &Dirs, root: &AbsPath) -> bool {
    try_is_trusted(files, dirs, root).unwrap_or_default()
}

/// Returns whether the user trusts a folder or one of its ancestors. Trust in a folder that contains
/// the agents' worktrees does not cover them: agents write them, and their repository may be one that
/// the user does not trust.
///
/// # Errors
/// The list of trusted folders cannot be read.
pub(crate) fn try_is_trusted(
    files: &dyn Files,
    dirs: &Dirs,
    root: &AbsPath,
) -> Result<bool, Error> {
    let known = read(files, dirs)?;
    let mut known = known.iter().filter_map(AbsPath::new);
    let worktrees = dirs.state.join(WORKTREES);
    let real = files.canonicalize(&worktrees).ok();
    let places: Vec<AbsPath> = real.into_iter().chain([worktrees]).collect();
    let is_around = |folder: &AbsPath| {
        let mut places = places.iter();
        places.any(|place| root.is_within(place) && place.is_within(folder))
    };
    Ok(known.any(|folder| root.is_within(&folder) && !is_around(&folder)))
}

/// Returns the folders that the user trusts.
///
/// # Errors
/// The list of trusted folders cannot be read.
pub(crate) fn trusted_folders(files: &dyn Files, dirs: &Dirs) -> Result<Vec<AbsPath>, Error> {
    let known = read(files, dirs)?;
    Ok(known.iter().filter_map(AbsPath::new).collect())
}

/// Stores whether the user trusts a folder. Blocks on the disk.
///
/// # Errors
/// If the list cannot be read or written; it is left unchanged then.
pub fn set_trusted(
    files: &dyn Files,
    dirs: &Dirs,
    root: &AbsPath,
    is_trusted: bool,
) -> Result<(), Error> {
    let mut known = read(files, dirs)?;
    let name = root.to_string();
    known.retain(|folder| *folder != name);
    if is_trusted {
        known.push(name);
    }
    let text = format!("{:#}\n", json!({ "folders": known }));
    files.write_private(&list(dirs), text.as_bytes())?;
    Ok(())
}

fn list(dirs: &Dirs) -> AbsPath {
    dirs.state.join("trusted.json")
}

/// Reads the list of trusted folders, which is empty if its file is missing. Returns an error if
/// the file cannot be read or is not JSON.
fn read(files: &dyn Files, dirs: &Dirs) -> Result<Vec<String>, Error> {
    let path = list(dirs);
    let bytes = match files.read(&path, MAX_TRUST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let sentence = format!("{path}, the list of trusted folders, cannot be read: {error}");
        Error::InvalidFile(sentence)
    })?;
    let folders = value.get("folders").and_then(Value::as_array);
    let folders = folders.into_iter().flatten();
    Ok(folders
        .filter_map(|it| Some(it.as_str()?.to_owned()))
        .collect())
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    #[test]
    fn trust_covers_subfolders_and_can_be_revoked() {
        let (files, dirs) = (FakeFiles::new(), Dirs::under(&path("/burin")));
        files.folder(&dirs.state);
        let check = |root: &str, expected: bool| {
            assert_eq!(is_trusted(&files, &dirs, &path(root)), expected, "{root}");
        };
        check("/p", false);
        set_trusted(&files, &dirs, &path("/p"), true).expect("written");
        check("/p", true);
        check("/p/inner", true);
        check("/pp", false);
        check("/", false);
        set_trusted(&files, &dirs, &path("/p"), false).expect("written");
        check("/p", false);
    }

    #[test]
    fn trust_in_a_folder_around_the_worktrees_does_not_cover_them() {
        let (files, dirs) = (FakeFiles::new(), Dirs::under(&path("/home/ada/burin")));
        files.folder(&dirs.state);
        let worktree = dirs.state.join("worktrees/theirs-1/a1");
        let check = |root: &AbsPath, expected: bool| {
            assert_eq!(is_trusted(&files, &dirs, root), expected, "{root}");
        };
        set_trusted(&files, &dirs, &path("/home/ada"), true).expect("written");
        check(&path("/home/ada/p"), true);
        check(&dirs.state.join("sample"), true);
        check(&worktree, false);
        check(&worktree.join("inner"), false);
        // The user may trust one worktree by itself.
        set_trusted(&files, &dirs, &worktree, true).expect("written");
        check(&worktree.join("inner"), true);
        check(&dirs.state.join("worktrees/theirs-1/a2"), false);
    }

    #[test]
    fn a_consent_is_for_what_was_shown() {
        let folder = host::TempFolder::new().expect("a folder");
        let dirs = Dirs::under(&folder.path().join("own"));
        dirs.create().expect("folders");
        let root = folder.path().join("p");
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            let parent = path.parent().expect("a folder");
            RealFiles.create_folder(&parent).expect("a folder");
            RealFiles
                .write_private(&path, text.as_bytes())
                .expect("a file");
        };
        let hooks = |command: &str| {
            let hook = json!({ "type": "command", "command": command });
            json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } }).to_string()
        };
        let server = |command: &str| json!({ "mcpServers": { "s": { "command": command } } });
        write(".claude/settings.json", &hooks("./a"));
        write(".mcp.json", &server("./a").to_string());
        let shown = load(&dirs, &root);
        assert_eq!(shown.hooks[0].commands, ["./a"]);
        assert!(shown.servers[0].written.contains("./a"));

        write(".claude/settings.json", &hooks("./b"));
        write(".mcp.json", &server("./b").to_string());
        let refused = consent_to_hooks(&dirs, &root, &shown.hooks).expect_err("changed");
        assert!(
            refused.to_string().contains("changed meanwhile"),
            "{refused}"
        );
        let refused = decide_server(&dirs, &root, &shown.servers[0], true).expect_err("changed");
        assert!(
            refused.to_string().contains("changed meanwhile"),
            "{refused}"
        );
        assert!(hooks_of(&dirs, &root, "wait").0.is_none());

        let shown = load(&dirs, &root);
        consent_to_hooks(&dirs, &root, &shown.hooks).expect("as it is");
        decide_server(&dirs, &root, &shown.servers[0], true).expect("as it is");
        assert!(hooks_of(&dirs, &root, "wait").0.is_some());
        let left = load(&dirs, &root);
        assert!(left.hooks.is_empty() && left.servers.is_empty(), "{left:?}");
    }

    #[test]
    fn invalid_trust_list_trusts_nothing_and_stays_unchanged() {
        let (files, dirs) = (FakeFiles::new(), Dirs::under(&path("/burin")));
        files.folder(&dirs.state);
        files.write(&list(&dirs), "{ folders");
        assert!(!is_trusted(&files, &dirs, &path("/p")));
        let refused = set_trusted(&files, &dirs, &path("/p"), true).expect_err("unreadable");
        assert!(refused.to_string().contains("trusted.json"), "{refused}");
        assert_eq!(
            files.read(&list(&dirs), MAX_TRUST_BYTES).expect("there"),
            b"{ folders"
        );
    }
}
