//! Landings that do not fit the branch: what they are fought over, settled file by file, or given up.

use composer::board::{Line, Past, Settled};
use composer::desk::{Dispute, Settlement, disputes, has_marks};
use composer::land::{Checks, Resolution, Step, Summary};
use git::merge::TreePath;
use host::{Files as _, RealFiles};

use super::{Landed, Lander, is_of, jobs_of};
use crate::compose::past::of;

/// The largest file that settles a conflict, in bytes.
const MOST: u64 = 100 << 20;

impl Lander {
    /// What is fought over: of each job the latest landing. Blocks on the disk.
    pub(in crate::compose) fn disputes(&self, lines: &[Line]) -> Result<Vec<Dispute>, String> {
        let mut all = Vec::new();
        let mut seen = Vec::new();
        for line in lines {
            if let Some(landing) = self.in_conflict(line)?
                && !seen.contains(&landing.id)
            {
                seen.push(landing.id);
                all.extend(self.disputes_in(line, &landing)?);
            }
        }
        Ok(all)
    }

    /// Settles a file of a job's landing; with the last one it goes on. Blocks on the disk and on the checks.
    pub(in crate::compose) fn settle(
        &self,
        (line, lines): (&Line, &[Line]),
        (path, with): (&str, &Settlement),
        checks: &dyn Checks,
    ) -> Result<Landed, String> {
        let landing = self.in_conflict(line)?;
        let landing = landing.ok_or_else(|| no_conflict(line))?;
        if let Settlement::Text(text) = with {
            let disputes = self.disputes_in(line, &landing)?;
            let dispute = disputes.iter().find(|it| it.path == path);
            let draft = dispute.and_then(|it| it.draft.as_deref());
            if draft.is_some_and(|draft| has_marks(draft, text)) {
                return Err(format!(
                    "{path} still has marks around what differs: take them out, then settle it"
                ));
            }
        }
        let resolution = match with {
            Settlement::Branch => Resolution::Ours,
            Settlement::Agent => Resolution::Theirs,
            Settlement::Text(text) => Resolution::Text(text.clone().into_bytes()),
        };
        let left = self
            .landings
            .resolve(landing.id, &TreePath::new(path), &resolution)
            .map_err(|error| error.to_string())?;
        let lines = lines.iter().filter(|it| is_of(&landing.session, it));
        let lines: Vec<Line> = lines.cloned().collect();
        match left {
            0 => self.go_on(landing.id, &lines, checks),
            1 => Ok(self.goes_on_later(&lines, format!("{path} is settled; one more file is not"))),
            left => Ok(self.goes_on_later(
                &lines,
                format!("{path} is settled; {left} more files are not"),
            )),
        }
    }

    /// Gives up a job's landing that does not fit; its work stays where it is. Blocks on the disk.
    pub(in crate::compose) fn give_up(&self, line: &Line) -> Result<Landed, String> {
        let landing = self.in_conflict(line)?;
        let landing = landing.ok_or_else(|| no_conflict(line))?;
        let dropped = self.landings.drop_landing(landing.id);
        dropped.map_err(|error| error.to_string())?;
        let text = "its landing was given up; the work stays in its worktree".to_owned();
        let settled = landing.undoes.is_none().then_some(Settled::TakenBack);
        Ok(Landed {
            is_good: true,
            settled,
            ..Landed::new(jobs_of(std::slice::from_ref(line)), text)
        })
    }

    fn goes_on_later(&self, lines: &[Line], text: String) -> Landed {
        Landed {
            is_good: true,
            ..Landed::new(jobs_of(lines), text)
        }
    }

    /// The latest landing of a job, where it does not fit the branch.
    fn in_conflict(&self, line: &Line) -> Result<Option<Summary>, String> {
        let landings = self.landings.list().map_err(|error| error.to_string())?;
        let its = landings.into_iter().rfind(|it| is_of(&it.session, line));
        Ok(its.filter(|it| matches!(it.step, Step::Conflicted { .. })))
    }

    fn disputes_in(&self, line: &Line, landing: &Summary) -> Result<Vec<Dispute>, String> {
        let conflicts = self.landings.conflicts(landing.id);
        let conflicts = conflicts.map_err(|error| error.to_string())?;
        let branch = landing.branch.as_str();
        let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        Ok(disputes(&line.job, (branch, &landing.title), &conflicts))
    }
}

fn no_conflict(line: &Line) -> String {
    format!("no landing of {} is in conflict with the branch", line.job)
}

/// Settles what the command line names, each written `a2:src/x.rs=branch`. Says what came of each.
pub(super) fn all(
    lander: &Lander,
    past: &Past,
    settle: &[String],
    checks: &dyn Checks,
) -> Result<Vec<Landed>, String> {
    let mut wanted = Vec::new();
    for text in settle {
        let (job, path, with) = read(text)?;
        wanted.push((of(past, job)?, path, with));
    }
    let settled = wanted.into_iter().map(|(line, path, with)| {
        // One that cannot be settled does not take back what another landed.
        let landed = lander.settle((line, &past.lines), (path, &with), checks);
        landed.unwrap_or_else(|sentence| Landed::new(vec![line.job.clone()], sentence))
    });
    Ok(settled.collect())
}

fn read(text: &str) -> Result<(&str, &str, Settlement), String> {
    let parts = text
        .split_once(':')
        .and_then(|(job, rest)| rest.rsplit_once('=').map(|(path, with)| (job, path, with)));
    let (job, path, with) = parts.ok_or_else(|| {
        format!("\"{text}\" settles nothing; write it as a2:src/x.rs=branch, =agent or =FILE")
    })?;
    let with = match with {
        "branch" => Settlement::Branch,
        "agent" => Settlement::Agent,
        file => {
            let file = crate::folder(None, &RealFiles)?.join(file);
            let bytes = RealFiles.read(&file, MOST);
            let bytes = bytes.map_err(|error| error.to_string())?;
            let text = String::from_utf8(bytes);
            Settlement::Text(text.map_err(|_| format!("{file} is no text in UTF-8"))?)
        }
    };
    Ok((job, path, with))
}

#[cfg(test)]
mod tests {
    use super::{Settlement, read};

    fn check(text: &str, read_as: Option<(&str, &str, Settlement)>) {
        assert_eq!(read(text).ok(), read_as, "{text}");
    }

    #[test]
    fn settlements_are_read() {
        check(
            "a2:src/x.rs=branch",
            Some(("a2", "src/x.rs", Settlement::Branch)),
        );
        check("a2:a=b.rs=agent", Some(("a2", "a=b.rs", Settlement::Agent)));
        check("a2:src/x.rs", None);
        check("src/x.rs=branch", None);
        check("a2:x=no such file", None);
    }
}
