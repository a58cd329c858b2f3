//! Every command of the panel. The first line of each is its help text.
//!
//! Contexts for keymaps: `Composer` is the whole panel, with the flag `prompt` while the prompt box has the keyboard,
//! `transcript` while the transcript has it, `sessions` while the list of sessions has it, and `board` while the board
//! has it, with `review` while its keys go to the changes.

gpui_kit::actions!(
    agents,
    [
        /// Show or hide the panel for agents.
        TogglePanel,
        /// Go to the panel for agents, or back to the text.
        FocusPanel,
        /// Begin a session with an agent.
        NewSession,
        /// Show the sessions of this folder.
        ShowSessions,
        /// Say what was typed to the agent.
        Send,
        /// Stop what the agent does.
        Stop,
        /// Choose the model that answers.
        ChooseModel,
        /// Go on to the next way of working: build, plan, ask.
        NextMode,
        /// Allow what the agent asks leave for, this once.
        AllowOnce,
        /// Allow this and what is like it until the session ends.
        AllowForSession,
        /// Show more of what the agent asks leave for: nothing can be allowed before all of it was shown.
        ShowRest,
        /// Refuse what the agent asks leave for.
        Refuse,
        /// Let the instructions, rules and skills of this folder join prompts.
        TrustFolder,
        /// Keep the instructions, rules and skills of this folder out of prompts.
        DistrustFolder,
        /// Let the hooks of this folder run, as they are now.
        AllowHooks,
        /// Show or hide the board: agents that work in worktrees of their own.
        ShowBoard,
        /// Go on to the next number of agents that a prompt starts.
        NextCount,
        /// Go from the agents of the board to their changes, or back.
        JumpToReview,
        /// Accept the chosen change, or settle the chosen conflict as the agent has it; once more takes it back.
        AcceptHunk,
        /// Reject the chosen change, or settle the chosen conflict as the branch has it; once more takes it back.
        RejectHunk,
        /// Accept the change at the caret, or settle the conflict with this text.
        AcceptHere,
        /// Reject the change at the caret.
        RejectHere,
        /// Write how the chosen conflict is to end.
        WriteDispute,
        /// Give up a landing that does not fit the branch; the work stays.
        GiveUpLanding,
        /// Accept every change of the chosen agent that was not rejected.
        AcceptAgent,
        /// Take back what was last decided about changes.
        UndoVerdict,
        /// Put the accepted changes onto your branch.
        Land,
        /// Take the latest landing back.
        UndoLanding,
        /// Begin another agent from the work of the chosen one.
        ForkAgent,
        /// Lay the chosen agent's work over your own files, uncommitted.
        BringHere,
        /// Lay what you did in your own files over the chosen agent's.
        SendThere,
        /// Take the chosen agent's files back to what a turn found.
        RestoreTurn,
        /// Take back the latest return to a turn.
        UndoRestore,
        /// Run the project's checks for all that did the same task, and compare them.
        CompareAgents,
        /// Let the chosen agent wait, or go on.
        PauseAgent,
        /// Stop the chosen agent; its work stays.
        StopAgent,
        /// Take the chosen agent off the board; refused while it holds work that did not land.
        RemoveAgent,
        /// Go to the next thing in the transcript.
        SelectNext,
        /// Go to the previous thing in the transcript.
        SelectPrevious,
        /// Go to the end of the transcript.
        SelectLast,
        /// Open or close a call, a thought, or what joined the prompt; open a session.
        Open,
        /// Open the file that a call is about.
        OpenFile,
        /// Copy what is chosen.
        Copy,
        /// Go from the transcript to the prompt, or from the prompt to the text.
        Cancel,
    ]
);
