//! One task for several agents.

/// Returns the extra instructions for agent `number` of `count` when all share one task.
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

/// A task in a few words.
pub fn title(task: &str) -> String {
    let line = task.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    match line.char_indices().nth(48) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.to_owned(),
    }
}
