//! Worktrees that are leased to agents: ready in milliseconds, owned by one, never lost.
