//! Resolutions of conflicts that the command line names, such as `a2:src/x.rs=branch`.

use composer::board::SavedBoard;
use composer::land::CheckRunner;
use composer::view::ConflictChoice;
use host::{Files as _, RealFiles};
use runtime::compose::history::of;
use runtime::compose::land::{MergeResult, MergeService};

/// The largest file that settles a conflict, in bytes.
const MAX_RESOLVED_BYTES: u64 = 100 << 20;

/// Resolves the files that the command line names, each written `a2:src/x.rs=branch`, and prints
/// the results.
pub(super) fn all(
    lander: &MergeService,
    past: &SavedBoard,
    settle: &[String],
    checks: &dyn CheckRunner,
) -> Result<Vec<MergeResult>, String> {
    let mut wanted = Vec::new();
    for text in settle {
        let (job, path, with) = read(text)?;
        wanted.push((of(past, job)?, path, with));
    }
    let settled = wanted.into_iter().map(|(line, path, with)| {
        // A file that cannot be resolved does not undo the others.
        let landed = lander.resolve_file((line, &past.jobs), (path, &with), checks);
        landed.unwrap_or_else(|sentence| MergeResult::new(vec![line.job.clone()], sentence))
    });
    Ok(settled.collect())
}

fn read(text: &str) -> Result<(&str, &str, ConflictChoice), String> {
    let parts = text
        .split_once(':')
        .and_then(|(job, rest)| rest.rsplit_once('=').map(|(path, with)| (job, path, with)));
    let (job, path, with) = parts.ok_or_else(|| {
        format!("\"{text}\" settles nothing; write it as a2:src/x.rs=branch, =agent or =FILE")
    })?;
    let with = match with {
        "branch" => ConflictChoice::Branch,
        "agent" => ConflictChoice::Agent,
        file => {
            let file = crate::folder(None, &RealFiles)?.join(file);
            let bytes = RealFiles.read(&file, MAX_RESOLVED_BYTES);
            let bytes = bytes.map_err(|error| error.to_string())?;
            let text = String::from_utf8(bytes);
            ConflictChoice::Text(text.map_err(|_| format!("{file} is no text in UTF-8"))?)
        }
    };
    Ok((job, path, with))
}

#[cfg(test)]
mod tests {
    use super::{ConflictChoice, read};

    fn check(text: &str, read_as: Option<(&str, &str, ConflictChoice)>) {
        assert_eq!(read(text).ok(), read_as, "{text}");
    }

    #[test]
    fn settlements_are_read() {
        check(
            "a2:src/x.rs=branch",
            Some(("a2", "src/x.rs", ConflictChoice::Branch)),
        );
        check(
            "a2:a=b.rs=agent",
            Some(("a2", "a=b.rs", ConflictChoice::Agent)),
        );
        check("a2:src/x.rs", None);
        check("src/x.rs=branch", None);
        check("a2:x=no such file", None);
    }
}
