//! Names of the tools: our own, those of a profile, and those that models learned elsewhere.

use model::ToolNames;

/// Own name of the tool that asks the user a question.
pub(crate) const ASK_USER: &str = "ask_user";

/// Our own name, the name in Pascal case, and the names in other programs.
const NAMES: &[(&str, &str, &[&str])] = &[
    (
        "read",
        "Read",
        &[
            "read_file",
            "view_file",
            "open_file",
            "cat",
            "view_image",
            "view",
            "read_text_file",
        ],
    ),
    (
        "list",
        "LS",
        &["ls", "list_dir", "list_directory", "list_files"],
    ),
    (
        "glob",
        "Glob",
        &["glob_file_search", "file_search", "find_files", "find_path"],
    ),
    (
        "grep",
        "Grep",
        &[
            "grep_search",
            "search_files",
            "search_file_content",
            "ripgrep",
            "rg",
            "search",
        ],
    ),
    (
        "semantic_search",
        "SemanticSearch",
        &["codebase_search", "code_search", "search_codebase"],
    ),
    (
        "symbols",
        "Symbols",
        &["find_symbol", "symbol_search", "workspace_symbols"],
    ),
    (
        "diagnostics",
        "Diagnostics",
        &["read_lints", "get_diagnostics", "lints", "problems"],
    ),
    (
        "definition",
        "Definition",
        &["go_to_definition", "goto_definition", "find_definition"],
    ),
    (
        "references",
        "References",
        &["find_references", "find_usages", "list_code_usages"],
    ),
    ("hover", "Hover", &["get_hover", "hover_info"]),
    ("rename", "Rename", &["rename_symbol"]),
    (
        "code_action",
        "CodeAction",
        &["code_actions", "quick_fix", "apply_code_action"],
    ),
    (
        "edit",
        "Edit",
        &[
            "replace",
            "str_replace",
            "search_replace",
            "edit_file",
            "replace_in_file",
            "MultiEdit",
        ],
    ),
    ("apply_patch", "ApplyPatch", &["applypatch", "patch"]),
    (
        "edit_lines",
        "EditLines",
        &["hashline_edit", "edit_anchors"],
    ),
    ("edit_blocks", "EditBlocks", &["search_replace_blocks"]),
    (
        "write",
        "Write",
        &["write_file", "create_file", "write_to_file", "create"],
    ),
    (
        "move",
        "Move",
        &["move_file", "rename_file", "move_path", "mv"],
    ),
    (
        "delete",
        "Delete",
        &["delete_file", "remove_file", "delete_path", "rm"],
    ),
    (
        "exec_command",
        "Bash",
        &[
            "bash",
            "shell",
            "run_shell_command",
            "run_terminal_cmd",
            "run_command",
            "execute_command",
            "terminal",
            "local_shell",
            "container.exec",
        ],
    ),
    (
        "write_stdin",
        "BashInput",
        &[
            "send_input",
            "BashOutput",
            "TaskOutput",
            "read_background_output",
        ],
    ),
    ("run_tests", "RunTests", &["run_test", "execute_tests"]),
    (
        "fetch",
        "WebFetch",
        &["web_fetch", "fetch_url", "read_url", "open_url"],
    ),
    // There is no such tool here; permission rules written for other programs name it.
    (
        "web_search",
        "WebSearch",
        &["google_web_search", "search_web"],
    ),
    (
        "plan",
        "TodoWrite",
        &[
            "todo",
            "todowrite",
            "todo_write",
            "update_plan",
            "write_todos",
        ],
    ),
    (
        ASK_USER,
        "AskUserQuestion",
        &[
            "request_user_input",
            "ask",
            "ask_followup_question",
            "ask_question",
        ],
    ),
    (
        "memory",
        "Memory",
        &["update_memory", "save_memory", "remember"],
    ),
    ("git", "Git", &["git_read"]),
    (
        "spawn_agent",
        "Agent",
        &["task", "invoke_agent", "subagent"],
    ),
];

/// Returns a tool's name in a profile's style: `exec_command` or its Pascal form. Names of tools
/// that are not ours are returned unchanged.
pub fn display_name(own: &str, names: ToolNames) -> String {
    let found = NAMES.iter().find(|(name, ..)| *name == own);
    match (found, names) {
        (Some((_, pascal, _)), ToolNames::Pascal) => (*pascal).to_owned(),
        _ => own.to_owned(),
    }
}

/// Returns our own name for any name under which models know a tool, such as `Bash`, ignoring case
/// if no exact name matches. Returns `None` for tools that are not ours.
pub fn by_name(name: &str) -> Option<&'static str> {
    let exact = NAMES
        .iter()
        .find(|(own, pascal, _)| *own == name || *pascal == name);
    let is_alike = |other: &str| other.eq_ignore_ascii_case(name);
    let alike = || {
        NAMES.iter().find(|(own, pascal, others)| {
            is_alike(own) || is_alike(pascal) || others.iter().any(|other| is_alike(other))
        })
    };
    exact.or_else(alike).map(|(own, ..)| *own)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_means_one_tool() {
        let mut seen = BTreeSet::new();
        for (own, pascal, others) in NAMES {
            let mut names: BTreeSet<String> =
                others.iter().map(|name| name.to_lowercase()).collect();
            names.insert(own.to_lowercase());
            names.insert(pascal.to_lowercase());
            for name in names {
                assert_eq!(by_name(&name), Some(*own), "{name}");
                assert!(seen.insert(name.clone()), "{name} means two tools");
            }
        }
    }

    #[test]
    fn names_go_by_profile() {
        assert_eq!(display_name("exec_command", ToolNames::Pascal), "Bash");
        assert_eq!(
            display_name("exec_command", ToolNames::Snake),
            "exec_command"
        );
        assert_eq!(
            display_name("mcp__files__read", ToolNames::Pascal),
            "mcp__files__read"
        );
        assert_eq!(by_name("str_replace_based_edit_tool"), None);
        assert_eq!(by_name("mcp__files__read"), None);
    }
}
