//! Turns with scripted models and fake tools, under a paused clock.

mod adapting;
mod ask_by_tool_class;
mod cancelling;
mod doubles;
mod effort;
mod enduring;
mod fakes;
mod filling;
mod hooking;
mod judging;
mod language;
mod leaving;
mod long;
mod observing;
mod own_tools;
mod pinning;
mod queueing;
mod refusing;
mod resuming;
mod spawning;
mod switching;
mod taking_over;
mod turns;
mod written;
