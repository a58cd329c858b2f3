//! `git`: reads the repository without starting a process.

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use git::{CompareTarget, FileStatus, Repository};
use model::{Profile, ToolSpec};
use serde_json::json;

use crate::error::sentence;
use crate::tool::{LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

use super::arguments::CallArguments;
use super::paths::{ToolPath, resolve};
use super::{ToolOptions, blocking, invalid, of, spec, truncate, unexpected};

/// Default number of commits shown.
const COMMITS: u64 = 20;
/// Maximum number of commits shown.
const MAX_COMMITS: u64 = 500;
/// Maximum size of a diff, in bytes.
const DIFF: usize = 8 << 20;

/// The tool that reads the Git repository.
pub(super) struct GitTool {
    pub(super) options: Arc<ToolOptions>,
}

/// The parsed arguments of a call.
#[derive(Clone, Debug)]
struct GitRequest {
    what: GitAction,
    /// The path relative to the root.
    path: Option<String>,
    revision: Option<String>,
    limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GitAction {
    Status,
    Diff { is_staged: bool },
    Log,
    Show,
    Blame,
}

impl GitRequest {
    /// Parses the arguments of a call; also returns the resolved path, if one is given. Fails with
    /// the result of the call if one is invalid, the path is outside the root, or blame has no
    /// path.
    fn read(
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<(Self, Option<ToolPath>), ToolResult> {
        let arguments = CallArguments::of(call)?;
        let is_staged = arguments.flag("staged")?;
        let what = match arguments.needed("action")? {
            "status" => GitAction::Status,
            "diff" => GitAction::Diff { is_staged },
            "log" => GitAction::Log,
            "show" => GitAction::Show,
            "blame" => GitAction::Blame,
            other => {
                let text = format!(
                    "git: `action` must be status, diff, log, show or blame, not {other:?}; for anything else use a command"
                );
                return Err(invalid(text));
            }
        };
        let found = arguments
            .text("path")?
            .map(|path| resolve(context, path))
            .transpose()?;
        if let Some(outside) = found.as_ref().filter(|place| !place.is_inside) {
            return Err(unexpected(format!(
                "{} is outside the project folder; name a path below it.",
                outside.name()
            )));
        }
        if what == GitAction::Blame && found.is_none() {
            return Err(arguments.missing("path"));
        }
        let limit = arguments
            .number("limit")?
            .unwrap_or(COMMITS)
            .clamp(1, MAX_COMMITS);
        let asked = Self {
            what,
            path: found
                .as_ref()
                .map(|place| place.shown.clone())
                .filter(|path| !path.is_empty()),
            revision: arguments
                .text("revision")?
                .map(|text| text.trim().to_owned()),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
        };
        Ok((asked, found))
    }
}

impl Tool for GitTool {
    fn name(&self) -> &str {
        "git"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Reads the git repository: `status`; `diff` (of the working tree, with `staged` of the index, with `revision` between A..B); `log`; `show` (a commit, or with `path` a file as of it); `blame`. Changes nothing.";
        Some(spec(
            "git",
            profile,
            description,
            1,
            &[
                (
                    "action",
                    json!({ "type": "string", "enum": ["status", "diff", "log", "show", "blame"] }),
                ),
                ("path", of("string", "Only this file or folder")),
                (
                    "revision",
                    of("string", "A commit, branch or tag; HEAD if left out"),
                ),
                ("staged", of("boolean", "Compare HEAD with the index")),
                ("limit", of("integer", "How many commits, 20 if omitted")),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let (asked, place) = GitRequest::read(call, context)?;
        let scope = place
            .as_ref()
            .map_or(LockScope::Tree(String::new()), ToolPath::tree);
        let what = format!("{:?}", asked.what).to_lowercase();
        let what = what.split(' ').next().unwrap_or_default().to_owned();
        Ok(ToolAccess {
            reads: vec![scope],
            title: match &asked.path {
                Some(path) => format!("git {what} {path}"),
                None => format!("git {what}"),
            },
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let (call, context) = (call.clone(), context.clone());
        let state = self.options.states.of(&context);
        blocking(move || match answer_text(&call, &context) {
            Ok(text) => truncate::answer(&context, &state, text),
            Err(answer) => answer,
        })
    }
}

/// Runs the action and returns its text, which is not truncated here except for diffs. `Err` is the
/// result of a failed call. Blocks on the disk.
fn answer_text(call: &ToolCall, context: &ToolContext) -> Result<String, ToolResult> {
    let (asked, _) = GitRequest::read(call, context)?;
    let failed = |error: git::Error| unexpected(sentence(&error));
    let repository = Repository::discover(&context.root).map_err(|error| {
        let error = sentence(&error);
        unexpected(format!("{error} Continue without it: use list and read."))
    })?;
    // The root may be a subfolder of the working tree.
    let above = context.root.relative_to(repository.workdir());
    let above = above.map(Path::to_path_buf).unwrap_or_default();
    let path = asked.path.as_ref().map(|path| above.join(path));
    let path = path.or_else(|| Some(above.clone()).filter(|above| !above.as_os_str().is_empty()));
    let path = path.as_deref();
    let revision = asked.revision.as_deref().unwrap_or("HEAD");
    match asked.what {
        GitAction::Status => status(context, &repository, &asked).map_err(failed),
        GitAction::Diff { is_staged } => {
            let compared = match (asked.revision.as_deref(), is_staged) {
                (Some(range), _) => between(range)?,
                (None, true) => CompareTarget::Staged,
                (None, false) => CompareTarget::Head,
            };
            let (text, is_cut) = repository.diff(&compared, path, DIFF).map_err(failed)?;
            Ok(match (text.is_empty(), is_cut) {
                (true, _) => "No difference.".to_owned(),
                (false, true) => format!("{text}\n(the diff is truncated; name a path)\n"),
                (false, false) => text,
            })
        }
        GitAction::Log => log(&repository, revision, path, asked.limit).map_err(failed),
        GitAction::Show => {
            show(&repository, revision, path.filter(|_| asked.path.is_some())).map_err(failed)?
        }
        GitAction::Blame => blame(context, &repository, &asked, path.unwrap_or(Path::new(""))),
    }
}

/// Parses `A..B`, or one commit compared with its parent.
fn between(range: &str) -> Result<CompareTarget, ToolResult> {
    match range.split_once("..") {
        None => Ok(CompareTarget::Commit(range.to_owned())),
        Some((one, two)) => {
            let two = two.trim_start_matches('.');
            let or_head = |revision: &str| {
                if revision.is_empty() {
                    "HEAD".to_owned()
                } else {
                    revision.to_owned()
                }
            };
            Ok(CompareTarget::Between(or_head(one), or_head(two)))
        }
    }
}

/// Formats the branch and the changed files below the session's root and the requested path, if
/// any. Fails if the statuses cannot be read.
fn status(
    context: &ToolContext,
    repository: &Repository,
    asked: &GitRequest,
) -> Result<String, git::Error> {
    let mut text = match repository.branch() {
        Some(branch) if branch.is_detached => format!("At commit {}, on no branch.\n", branch.name),
        Some(branch) => {
            let far = match (branch.ahead, branch.behind) {
                (0, 0) => String::new(),
                (ahead, behind) => format!(", {ahead} ahead and {behind} behind of its upstream"),
            };
            format!("On branch {}{far}.\n", branch.name)
        }
        None => "HEAD cannot be read.\n".to_owned(),
    };
    let statuses = repository.statuses()?;
    let mut files: Vec<(String, FileStatus)> = statuses
        .files()
        .filter(|(_, status)| *status != FileStatus::Ignored)
        .filter_map(|(path, status)| {
            Some((
                path.relative_to(&context.root)?
                    .to_string_lossy()
                    .into_owned(),
                status,
            ))
        })
        .filter(|(path, _)| {
            asked
                .path
                .as_ref()
                .is_none_or(|below| Path::new(path).starts_with(below))
        })
        .collect();
    files.sort();
    if files.is_empty() {
        text.push_str("Nothing changed.\n");
    }
    for (path, status) in files {
        text.push_str(&format!(
            "{} {path}\n",
            format!("{status:?}").to_lowercase()
        ));
    }
    Ok(text)
}

/// Formats up to `limit` commits reachable from `revision`, newest first, one a line; with `path`,
/// relative to the working tree, those that changed it. Fails if the history cannot be read.
fn log(
    repository: &Repository,
    revision: &str,
    path: Option<&Path>,
    limit: usize,
) -> Result<String, git::Error> {
    let commits = repository.log(revision, path, limit)?;
    if commits.is_empty() {
        return Ok("No commits.".to_owned());
    }
    let lines = commits.iter().map(|commit| {
        let summary = commit.message.lines().next().unwrap_or_default();
        format!(
            "{} {} {}  {summary}\n",
            short(&commit.id),
            date(commit.seconds),
            commit.author
        )
    });
    Ok(lines.collect())
}

/// Formats the commit `revision` with its diff or, with `path` relative to the working tree,
/// returns the text of that file as of it. The inner error is the result of the call if there is no
/// such file or it is binary; the outer one comes from the repository.
fn show(
    repository: &Repository,
    revision: &str,
    path: Option<&Path>,
) -> Result<Result<String, ToolResult>, git::Error> {
    if let Some(path) = path {
        let bytes = repository.bytes_at(revision, path)?;
        return Ok(match bytes {
            Some(bytes) => match text::decode(&bytes) {
                decoded if decoded.binary => Err(unexpected(format!(
                    "{} is not text at {revision}.",
                    path.display()
                ))),
                decoded => Ok(decoded.text.into_owned()),
            },
            None => Err(unexpected(format!(
                "There is no file {} at {revision}. Look with `log` for revisions that have it.",
                path.display()
            ))),
        });
    }
    let commit = repository.commit(revision)?;
    let (diff, is_cut) =
        repository.diff(&CompareTarget::Commit(revision.to_owned()), None, DIFF)?;
    let more = if is_cut {
        "(the diff is truncated)\n"
    } else {
        ""
    };
    Ok(Ok(format!(
        "commit {}\n{}\n{}\n\n{}\n\n{diff}{more}",
        commit.id,
        commit.author,
        date(commit.seconds),
        commit.message.trim_end()
    )))
}

/// Formats the lines of `path`, relative to the working tree, in HEAD, each with commit, date and
/// author. Fails with the result of the call if there are none or they cannot be read.
fn blame(
    context: &ToolContext,
    repository: &Repository,
    asked: &GitRequest,
    path: &Path,
) -> Result<String, ToolResult> {
    let failed = |error: git::Error| unexpected(sentence(&error));
    let blamed = repository.blame(path).map_err(failed)?;
    // Blame describes the lines of HEAD, so the text is that of HEAD as well.
    let bytes = repository
        .bytes_at("HEAD", path)
        .map_err(failed)?
        .unwrap_or_default();
    let decoded = text::decode(&bytes);
    let lines: Vec<&str> = decoded.text.lines().collect();
    let mut text = String::new();
    for hunk in &blamed {
        for row in hunk.lines.clone() {
            let line = lines.get(row).copied().unwrap_or_default();
            text.push_str(&format!(
                "{} {} {:<12} {:>5} {line}\n",
                short(&hunk.id),
                date(hunk.seconds),
                hunk.author,
                row + 1
            ));
        }
    }
    if text.is_empty() {
        Err(unexpected(format!(
            "{} has no lines in HEAD below {}.",
            asked.path.as_deref().unwrap_or("."),
            context.root
        )))
    } else {
        Ok(text)
    }
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// Formats a day as `2026-01-31`, by the Gregorian calendar, in UTC.
fn date(seconds: i64) -> String {
    let days = seconds.div_euclid(86_400) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months are counted from March, so that the leap day is the last of a year.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        let cases = [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_700_000_000, "2023-11-14"),
            (-1, "1969-12-31"),
            (4_102_444_800, "2100-01-01"),
        ];
        for (seconds, day) in cases {
            assert_eq!(date(seconds), day);
        }
    }
}
