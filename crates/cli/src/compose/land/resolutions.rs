//! Resolutions of conflicts on the command line: `a2:src/x.rs=branch`.

use composer::board::SavedBoard;
use composer::conflict::Resolution;
use composer::land::CheckRunner;
use composer::landing::{LandingResult, LandingService};
use host::{Files as _, RealFiles};

use crate::compose::history::job;
use crate::error_text;

/// The largest file that resolves a conflict, in bytes.
const MAX_RESOLVED_BYTES: u64 = 100 << 20;

/// Resolves the named files, and returns a result for each.
pub(super) fn apply(
    landings: &LandingService,
    saved: &SavedBoard,
    resolutions: &[String],
    checks: &dyn CheckRunner,
) -> Result<Vec<LandingResult>, String> {
    let mut parsed = Vec::new();
    for text in resolutions {
        let (id, path, resolution) = parse(text)?;
        parsed.push((job(saved, id)?, path, resolution));
    }
    let results = parsed.into_iter().map(|(job, path, resolution)| {
        // A file that cannot be resolved does not undo the others.
        let resolved = landings.resolve_file((job, &saved.jobs), (path, &resolution), checks);
        resolved.unwrap_or_else(|error| LandingResult::failed(vec![job.job.clone()], &error))
    });
    Ok(results.collect())
}

/// Parses a resolution as the job, the path and the resolution. Reads a file named there, which
/// must be UTF-8 and at most `MAX_RESOLVED_BYTES`.
fn parse(text: &str) -> Result<(&str, &str, Resolution), String> {
    let parts = text
        .split_once(':')
        .and_then(|(job, rest)| rest.rsplit_once('=').map(|(path, side)| (job, path, side)));
    let (job, path, side) = parts.ok_or_else(|| {
        format!("\"{text}\" settles nothing; write it as a2:src/x.rs=branch, =agent or =FILE")
    })?;
    let resolution = match side {
        "branch" => Resolution::Branch,
        "agent" => Resolution::Agent,
        file => {
            let file = crate::folder(None, &RealFiles)?.join(file);
            let bytes = RealFiles
                .read(&file, MAX_RESOLVED_BYTES)
                .map_err(error_text)?;
            let text = String::from_utf8(bytes);
            Resolution::Text(text.map_err(|_| format!("{file} is not UTF-8 text"))?)
        }
    };
    Ok((job, path, resolution))
}

#[cfg(test)]
mod tests {
    use super::{Resolution, parse};

    fn check(text: &str, expected: Option<(&str, &str, Resolution)>) {
        assert_eq!(parse(text).ok(), expected, "{text}");
    }

    #[test]
    fn resolutions_are_parsed() {
        check(
            "a2:src/x.rs=branch",
            Some(("a2", "src/x.rs", Resolution::Branch)),
        );
        check("a2:a=b.rs=agent", Some(("a2", "a=b.rs", Resolution::Agent)));
        check("a2:src/x.rs", None);
        check("src/x.rs=branch", None);
        check("a2:x=no such file", None);
    }
}
