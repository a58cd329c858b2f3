//! The complaints about other terminals, and the tests that hold against each.

/// A file with tests.
struct TestFile {
    name: &'static str,
    text: &'static str,
}

/// A complaint: the reports, the behaviour that is wanted, and the tests of it.
struct Complaint {
    reports: &'static str,
    wanted: &'static str,
    tests: &'static [(&'static TestFile, &'static str)],
}

macro_rules! files {
    ($($name:ident: $path:literal;)*) => {
        $(
            static $name: TestFile = TestFile {
                name: $path,
                text: include_str!(concat!("../../../../", $path)),
            };
        )*
    };
}

files! {
    APP: "app/src/terminals.rs";
    COMMANDS: "crates/terminal/src/commands/tests.rs";
    EMULATOR: "crates/terminal/src/emulator/tests.rs";
    HOSTILE: "crates/terminal/src/emulator/tests/hostile.rs";
    KEYS: "crates/terminal/src/keys/tests.rs";
    PASTE: "crates/terminal/src/paste/tests.rs";
    RESTORE: "crates/terminal/src/restore/tests.rs";
    SCANNER: "crates/terminal/src/scanner/tests.rs";
    SESSION: "crates/terminal/src/session/tests.rs";
    PANEL: "crates/terminal_panel/src/panel/tests.rs";
    LIFE: "crates/terminal_panel/src/view/tests/life.rs";
    TYPING: "crates/terminal_panel/src/view/tests/typing.rs";
}

static COMPLAINTS: [Complaint; 16] = [
    Complaint {
        reports: "zed#4525, zed#5709, zed community#349",
        wanted: "a million lines of output leave the window usable and end complete",
        tests: &[
            (&HOSTILE, "many_lines_keep_the_last_ones_and_their_numbers"),
            (&SESSION, "a_flood_of_output_ends_complete"),
            (&LIFE, "a_flood_is_drawn_at_most_once_a_frame"),
        ],
    },
    Complaint {
        reports: "tabby#3604",
        wanted: "the scrollback is capped and memory stays flat",
        tests: &[(&HOSTILE, "scrollback_is_capped_and_memory_stays_flat")],
    },
    Complaint {
        reports: "zed#14543, zed#27033, zed#18354, zed#16730, zed#54920",
        wanted: "keys of the shell reach it, and AltGr and Option produce their characters",
        tests: &[
            (&KEYS, "keys_have_the_bytes_of_xterm"),
            (&KEYS, "text_of_the_layout_comes_before_alt"),
            (&TYPING, "keys_of_the_window_go_to_the_program"),
            (&TYPING, "altgr_and_option_type_their_characters"),
            (&TYPING, "all_keys_go_to_the_program_on_request"),
        ],
    },
    Complaint {
        reports: "zed#30683",
        wanted: "shrinking while scrolled back loses no line",
        tests: &[(&EMULATOR, "shrinking_while_scrolled_back_loses_no_line")],
    },
    Complaint {
        reports: "zed#5939, zed#962, alacritty#6176",
        wanted: "text and links are right after a very narrow size",
        tests: &[
            (
                &EMULATOR,
                "a_very_narrow_terminal_keeps_its_text_when_it_widens",
            ),
            (
                &EMULATOR,
                "a_short_text_stays_on_the_screen_through_narrow_sizes",
            ),
            (&LIFE, "resizing_to_very_narrow_and_back_keeps_the_text"),
        ],
    },
    Complaint {
        reports: "zed#21626",
        wanted: "selecting the first visible line does not scroll",
        tests: &[(
            &EMULATOR,
            "selecting_the_first_visible_line_does_not_scroll",
        )],
    },
    Complaint {
        reports: "zed#17916, zed#8030, zed#16789",
        wanted: "the last line is visible at the same place through all sizes",
        tests: &[(&LIFE, "the_last_line_stays_at_the_lower_edge")],
    },
    Complaint {
        reports: "wezterm#3466",
        wanted: "input is echoed while output floods, and frames are bounded",
        tests: &[
            (&SESSION, "input_reaches_a_program_that_floods_the_terminal"),
            (&LIFE, "a_flood_is_drawn_at_most_once_a_frame"),
        ],
    },
    Complaint {
        reports: "connectbot#171, wterm#33, superset#5256",
        wanted: "a pasted terminator does not end the brackets",
        tests: &[
            (&PASTE, "pasted_text_cannot_end_its_brackets"),
            (&TYPING, "a_paste_of_many_lines_is_asked_about"),
        ],
    },
    Complaint {
        reports: "microsoft/terminal#13014",
        wanted: "a forged bracket mode does not make a paste run, and output does not fill the clipboard unseen",
        tests: &[
            (
                &PASTE,
                "several_lines_are_confirmed_unless_a_prompt_reads_brackets",
            ),
            (&EMULATOR, "clipboard_access_is_limited"),
            (&LIFE, "the_clipboard_is_written_only_with_the_focus"),
        ],
    },
    Complaint {
        reports: "mkosi#3974",
        wanted: "an OSC string without an end hides no output",
        tests: &[
            (
                &HOSTILE,
                "endless_strings_neither_grow_nor_hide_later_output",
            ),
            (
                &SCANNER,
                "a_string_without_end_is_cut_and_the_rest_is_shown",
            ),
        ],
    },
    Complaint {
        reports: "atuin#3794, zmx#112, powerlevel10k#2967",
        wanted: "the prompt is not erased on a resize",
        tests: &[(&COMMANDS, "an_open_prompt_stays_through_resizes")],
    },
    Complaint {
        reports: "zed#16813",
        wanted: "composed text is drawn at the cursor and sent when it is committed",
        tests: &[(&TYPING, "composed_text_is_sent_only_when_committed")],
    },
    Complaint {
        reports: "vscode#134063, vscode#168643",
        wanted: "restored text says that it is restored, and its program is a new one",
        tests: &[
            (&RESTORE, "restored_rows_are_faint_text_above_a_notice"),
            (&SESSION, "restored_text_comes_before_the_output"),
            (&PANEL, "terminals_return_and_start_when_seen"),
        ],
    },
    Complaint {
        reports: "microsoft/terminal#4200",
        wanted: "reflow keeps cursor, marks and selection on their text",
        tests: &[
            (&COMMANDS, "marks_follow_their_text_through_reflow"),
            (
                &EMULATOR,
                "a_selection_follows_its_text_and_ends_when_that_changes",
            ),
            (
                &EMULATOR,
                "the_cursor_stays_on_its_line_when_its_start_returns",
            ),
        ],
    },
    Complaint {
        reports: "changelog of Alacritty",
        wanted: "a deleted folder, floods of bells and wide characters at the edge do no harm",
        tests: &[
            (&APP, "a_deleted_folder_is_replaced_by_the_windows_folder"),
            (&SESSION, "a_shell_in_a_deleted_folder_goes_on"),
            (&HOSTILE, "floods_of_events_are_bounded"),
            (&HOSTILE, "a_wide_character_in_the_last_column_wraps"),
        ],
    },
];

#[test]
fn every_complaint_has_its_tests() {
    for complaint in &COMPLAINTS {
        assert!(!complaint.tests.is_empty(), "{}", complaint.reports);
        for (file, test) in complaint.tests {
            assert!(
                file.text.contains(&format!("fn {test}(")),
                "{} has no test {test}, which shows that {} ({})",
                file.name,
                complaint.wanted,
                complaint.reports,
            );
        }
    }
}
