//! Tests names and documentation of commands.

use std::collections::HashSet;

use crate::command::Command;

#[test]
fn every_command_has_a_unique_name_and_help_text() {
    let commands = Command::all();
    assert!(commands.len() > 100, "{}", commands.len());
    let mut names = HashSet::new();
    for command in commands {
        let (name, doc) = (command.name(), command.doc());
        assert!(names.insert(name), "{name} is taken twice");
        assert!(
            name.chars()
                .all(|char| char.is_ascii_lowercase() || char == '-'),
            "{name}"
        );
        assert!(
            doc.ends_with('.') && doc.starts_with(|char: char| char.is_ascii_uppercase()),
            "{doc}"
        );
    }
}
