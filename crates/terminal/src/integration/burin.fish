# Burin's shell integration for fish, read from a folder in XDG_DATA_DIRS.
#
# Restores the user's XDG_DATA_DIRS, then marks prompts (OSC 133), the command line (OSC 633;E) and the folder (OSC 7).
# Fish 4 marks prompts and the folder itself.

if set -q BURIN_DATA_DIR
    # Commands must not see the nonce: it proves that a command line comes from this shell.
    set -g __burin_nonce $BURIN_SHELL_NONCE
    if test -n "$BURIN_HAD_DATA_DIRS"
        set -l user
        for folder in (string split : -- $XDG_DATA_DIRS)
            if test "$folder" != "$BURIN_DATA_DIR"
                set -a user $folder
            end
        end
        set -gx XDG_DATA_DIRS (string join : -- $user)
    else
        set -e XDG_DATA_DIRS
    end
    set -e BURIN_SHELL_NONCE
    set -e BURIN_DATA_DIR
    set -e BURIN_HAD_DATA_DIRS

    if status is-interactive
        function __burin_preexec --on-event fish_preexec
            set -l text (string replace -a -- \\ \\\\ "$argv[1]" | string replace -a -- ';' '\\x3b' | string join '\\x0a')
            set text (string replace -ar -- '[\a\e]' '' $text)
            printf '\e]633;E;%s;%s\a' $text $__burin_nonce
            if test (string split . -- $version)[1] -lt 4
                printf '\e]133;C\a'
            end
        end

        if test (string split . -- $version)[1] -lt 4
            function __burin_postexec --on-event fish_postexec
                printf '\e]133;D;%s\a' $status
            end

            function __burin_folder --on-variable PWD
                printf '\e]7;file://%s%s\a' $hostname (string escape --style=url -- $PWD)
            end

            # The user's files define the prompt later: the first one is wrapped when it is shown.
            function __burin_install --on-event fish_prompt
                functions -e __burin_install
                __burin_folder
                if functions -q __burin_user_prompt
                    return
                end
                functions -c fish_prompt __burin_user_prompt
                function fish_prompt
                    printf '\e]133;A\a'
                    __burin_user_prompt
                    printf '\e]133;B\a'
                end
            end
        end
    end
end
