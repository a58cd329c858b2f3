//! `burin-agent` as a process, with MCP servers and external agents: scripted ones, and real ones
//! from npm if they are installed.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test looks at the disk and starts the program by itself, and says when it is skipped"
)]

mod program {
    mod compose;
    mod desk;
    mod eight;
    mod ends;
    mod environment;
    mod guests;
    mod home;
    mod hosted_jobs;
    mod index;
    mod kills;
    mod left;
    mod machines;
    mod npm;
    mod obeys;
    mod opened;
    mod own_provider;
    mod permits;
    mod planted;
    mod quality;
    mod rewrites;
    mod server_contents;
    mod servers;
    mod shown;
    mod spent;
    mod told;
}
