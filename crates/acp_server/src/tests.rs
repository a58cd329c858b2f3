//! Sessions from an editor's view: a scripted model behind the real tools, protocol messages in
//! front. Every message that is sent matches the protocol's schema.

mod asking;
mod peer;
mod remembered;
mod turns;

/// Lines that hide, move or disguise the command they run.
pub(crate) fn hostile_lines() -> Vec<String> {
    let lines = include_str!("../../base/src/printable/hostile-lines.json");
    serde_json::from_str(lines).expect("a list of lines")
}
