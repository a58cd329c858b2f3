//! All actions of the panel. The first line of each is its help text.
//!
//! Key contexts: `Composer` is the whole panel; the flags `prompt`, `queue`, `transcript`, `sessions`,
//! `changes`, `comment`, `automations` and `board` mark the part that has the focus, and `review` is added to `board` while the list of
//! changes has it.

gpui_kit::actions!(
    agents,
    [
        /// Toggle the agent panel.
        TogglePanel,
        /// Focus the agent panel, or return to the editor.
        FocusPanel,
        /// Start a new agent session.
        NewSession,
        /// Start a session of an external agent, such as Claude Code, in its own worktree.
        NewExternalSession,
        /// Choose an option of the external agent: its mode, model or effort.
        ChooseAgentOption,
        /// Use the agents of another machine over SSH, or those of this computer again.
        UseAnotherMachine,
        /// Show the sessions of this folder.
        ShowSessions,
        /// Rename the session.
        RenameSession,
        /// Archive the session, or list an archived one among the others again.
        ArchiveSession,
        /// Show the archived sessions, or the others again.
        ShowArchived,
        /// Delete the session: it is no longer listed and cannot be continued.
        DeleteSession,
        /// Fork the session from the selected message: continue a copy, and leave the session as it is.
        ForkSession,
        /// Export the session as Markdown.
        ExportSession,
        /// Add the selected lines to the prompt for the agent.
        AddSelection,
        /// Send the prompt to the agent.
        Send,
        /// Queue the prompt until the running turn ends.
        QueuePrompt,
        /// Focus the queued messages above the prompt.
        FocusQueue,
        /// Move the selected queued message back into the prompt.
        EditQueued,
        /// Remove the selected queued message.
        RemoveQueued,
        /// Move the selected queued message up.
        MoveQueuedUp,
        /// Move the selected queued message down.
        MoveQueuedDown,
        /// Send the selected queued message with the next request.
        SendQueuedNow,
        /// Send the messages that are held, one turn after the other.
        SendQueue,
        /// In the first line of the prompt: recall an earlier prompt. In an empty prompt: take the
        /// last queued message back.
        PreviousPrompt,
        /// In the last line of the prompt: recall a later prompt, and at last the draft.
        NextPrompt,
        /// Accept the selected suggestion for the prompt.
        AcceptCompletion,
        /// Stop the running turn of the agent.
        Stop,
        /// Choose the model for the next request.
        ChooseModel,
        /// Choose the reasoning effort for the next request.
        ChooseEffort,
        /// Show the cost of models by day, model and agent, or return to the session.
        ShowSpending,
        /// Show the quality of agents' work: kept text, alarms about tools, experiments; or return to the session.
        ShowQuality,
        /// Show the automations of this folder: state, next time, results; trust, run and turn them off.
        ShowAutomations,
        /// Trust the selected automation as it is shown: let it run by itself.
        TrustAutomation,
        /// Turn the selected automation off.
        TurnOffAutomation,
        /// Run the selected automation now.
        RunAutomation,
        /// Show what fills the context of the session, or hide it.
        ShowContext,
        /// Compact the conversation of the session: replace older parts by a summary, to free context.
        CompactSession,
        /// Edit the summary of the selected compaction, or of the latest one.
        EditSummary,
        /// Pin the selected item of the transcript, or unpin it: it is sent again after each compaction.
        PinMessage,
        /// Save the edited summary.
        SaveSummary,
        /// Switch to the next mode: build, plan, ask.
        NextMode,
        /// Build the plan of the session: switch to the build mode and its model, and start.
        BuildPlan,
        /// Allow the requested tool call once.
        AllowOnce,
        /// Allow this and matching tool calls for the rest of the session.
        AllowForSession,
        /// Show more of the text to be approved; it can be allowed only after all of it was shown.
        ShowRest,
        /// Reject the requested tool call.
        Refuse,
        /// Trust this folder: let its instructions, rules and skills join prompts.
        TrustFolder,
        /// Revoke trust in this folder: keep its instructions, rules and skills out of prompts.
        DistrustFolder,
        /// Allow the hooks of this folder to run, as they are now.
        AllowHooks,
        /// Show the permissions of agents: kept rules, and the sandbox; remove what you no longer want.
        ShowPermissions,
        /// Show the MCP servers of this folder: state, approval, tools and log; sign in, reconnect.
        ShowMcpServers,
        /// Show trusted folders, hooks, and the instructions, rules and skills of this folder.
        ShowTrust,
        /// Toggle the board of agents in worktrees.
        ShowBoard,
        /// Change the number of agents that a prompt starts.
        NextCount,
        /// Move the focus between the agents on the board and their changes.
        JumpToReview,
        /// Accept the selected change, or resolve the selected conflict with the agent's version;
        /// repeat to withdraw.
        AcceptHunk,
        /// Reject the selected change, or resolve the selected conflict with the branch's version;
        /// repeat to withdraw.
        RejectHunk,
        /// Accept the change at the caret, or resolve the conflict with this text.
        AcceptHere,
        /// Reject the change at the caret.
        RejectHere,
        /// Edit the resolution of the selected conflict.
        WriteDispute,
        /// Abandon a landing that conflicts with the branch; the work stays in its worktree.
        GiveUpLanding,
        /// Accept all changes of the selected agent, except the rejected ones.
        AcceptAgent,
        /// Undo the latest decision about changes.
        UndoVerdict,
        /// Land the accepted changes on your branch.
        Land,
        /// Land the accepted changes, even with new errors or unchecked.
        LandWithErrors,
        /// Undo the latest landing.
        UndoLanding,
        /// Fork the selected agent: start another one from its work.
        ForkAgent,
        /// Copy the selected agent's work into your checkout, uncommitted.
        BringHere,
        /// Copy your uncommitted work into the selected agent's worktree.
        SendThere,
        /// Restore the selected agent's worktree to the start of a turn.
        RestoreTurn,
        /// Undo the latest restore or rejection of files.
        UndoRestore,
        /// Run the project's checks for all best-of-N candidates and compare them.
        CompareAgents,
        /// Pause or resume the selected agent.
        PauseAgent,
        /// Stop the selected agent; its work stays.
        StopAgent,
        /// Remove the selected agent from the board; refused while it has unlanded work.
        RemoveAgent,
        /// Review the changes of the open session in this folder.
        ReviewChanges,
        /// Keep all changes of the open session in this folder.
        KeepAllChanges,
        /// Reject all changes of the open session in this folder, except kept ones.
        RejectAllChanges,
        /// Keep all changes of the selected file.
        KeepFileChanges,
        /// Reject all changes of the selected file.
        RejectFileChanges,
        /// Reject all changes of the turn that made the selected one.
        RejectTurnChanges,
        /// Comment on the selected change, or on the one at the caret: the agent that made it answers.
        CommentOnChange,
        /// Restore the files to the selected message: take back what the session changed since.
        RestoreCheckpoint,
        /// Select the next item of the transcript.
        SelectNext,
        /// Select the previous item of the transcript.
        SelectPrevious,
        /// Select the last item of the transcript.
        SelectLast,
        /// Expand or collapse a call, a thought or the context of a prompt; open a session.
        Open,
        /// Open the file that a call is about.
        OpenFile,
        /// Open the command of the selected call in a terminal: watch it, type into it, take it over.
        OpenTerminal,
        /// Choose a running command of an agent and open it in a terminal.
        ShowAgentTerminals,
        /// Copy the selected item.
        Copy,
        /// Move the focus from the transcript to the prompt, or from the prompt to the editor.
        Cancel,
    ]
);
