//! Splits a prompt of the user into the tasks of several agents.

use crate::job::JobSpec;
use crate::protocol::{JobCommand, StartAgents};
use crate::roles::role_for;

/// The name of the demo model, which plays a script on the sample project.
pub const DEMO_MODEL: &str = "demo";
/// Maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 48;

impl StartAgents {
    /// Returns the command that adds the jobs, all with the model `model`. A prompt with two or
    /// more lines that begin with `- ` gives one job per such line; otherwise `agents` jobs share
    /// the prompt. For best-of-N, the command adds at least two candidates with the whole prompt.
    pub(crate) fn job_command(&self, model: &str) -> JobCommand {
        let task = |prompt: &str, titled: &str| JobSpec {
            title: title(titled),
            prompt: prompt.to_owned(),
            role: role_for(self.mode).to_owned(),
            model: model.to_owned(),
            agent: self.agent.clone(),
            ..JobSpec::default()
        };
        if self.is_best_of {
            let only = task(&self.prompt, &self.prompt);
            return JobCommand::AddBestOf(only, self.agents.max(2));
        }
        let items: Vec<&str> = self
            .prompt
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("- "))
            .collect();
        let tasks = match items.len() {
            0 | 1 => (1..=self.agents.max(1))
                .map(|number| task(&share(&self.prompt, number, self.agents), &self.prompt))
                .collect(),
            _ => items.iter().map(|item| task(item, item)).collect(),
        };
        JobCommand::Add(tasks)
    }
}

/// Returns the prompt for agent `number`, from 1, of `count` when all share one task: the task with
/// a rule for dividing it. If `count` is 1, returns the task itself.
pub fn share(task: &str, number: usize, count: usize) -> String {
    if count < 2 {
        return task.to_owned();
    }
    format!(
        "{task}\n\nYou are agent {number} of {count} at this task. Each of you works in a tree of its own at the same \
         time; what all of you do is put together afterwards. If the task has several parts, do those whose place in \
         it, going round, is {number}; if it has one, do what you can do of it without the others."
    )
}

/// Returns a short title for a task: its first line that is not blank, cut to 48 characters with
/// `…`.
pub fn title(task: &str) -> String {
    let line = task.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    match line.char_indices().nth(MAX_TITLE_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use agent::record::SessionMode;

    use super::*;

    #[test]
    fn mode_decides_the_role_of_the_agents() {
        let check = |mode, role| {
            let start = StartAgents {
                prompt: "- one\n- two".to_owned(),
                model: String::new(),
                agent: None,
                mode,
                agents: 1,
                is_best_of: false,
            };
            let JobCommand::Add(jobs) = start.job_command("demo") else {
                panic!("jobs are added");
            };
            let roles: Vec<&str> = jobs.iter().map(|job| job.role.as_str()).collect();
            assert_eq!(roles, [role, role]);
        };
        check(SessionMode::Build, "builder");
        check(SessionMode::Plan, "planner");
        check(SessionMode::Ask, "advisor");
    }
}
