# Burin's shell integration for bash, loaded with --init-file.
#
# Reads the files that bash would have read, then marks prompts (OSC 133), the command line (OSC 633;E) and the folder
# (OSC 7).

# Commands must not see the nonce: it proves that a command line comes from this shell.
__burin_nonce=$BURIN_SHELL_NONCE
unset BURIN_SHELL_NONCE

if [ -n "$BURIN_SHELL_LOGIN" ]; then
    unset BURIN_SHELL_LOGIN
    [ -r /etc/profile ] && . /etc/profile
    if [ -r ~/.bash_profile ]; then
        . ~/.bash_profile
    elif [ -r ~/.bash_login ]; then
        . ~/.bash_login
    elif [ -r ~/.profile ]; then
        . ~/.profile
    fi
else
    [ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
    [ -r ~/.bashrc ] && . ~/.bashrc
fi

# Sets REPLY to $1, percent-encoded.
__burin_encode() {
    local LC_ALL=C text=$1 at letter code
    REPLY=
    for ((at = 0; at < ${#text}; at++)); do
        letter=${text:at:1}
        case $letter in
            [A-Za-z0-9/._~-]) REPLY+=$letter ;;
            *)
                printf -v code '%02X' "'$letter"
                REPLY+=%${code: -2}
                ;;
        esac
    done
}

# Prints the marks of a command that starts. Runs in PS0.
__burin_start() {
    local entry number text
    entry=$(HISTTIMEFORMAT='' builtin history 1)
    entry=${entry#"${entry%%[![:space:]]*}"}
    number=${entry%%[!0-9]*}
    # A command that the history omits would be reported as the one before it.
    if [ -n "$number" ] && [ "$number" != "$__burin_history" ]; then
        text=${entry#"$number"}
        text=${text#\*}
        text=${text#"${text%%[![:space:]]*}"}
        text=${text//\\/\\\\}
        text=${text//;/\\x3b}
        text=${text//$'\n'/\\x0a}
        text=${text//[$'\a\e']/}
        builtin printf '\e]633;E;%s;%s\a' "$text" "$__burin_nonce"
    fi
    builtin printf '\e]133;C\a'
}

# Runs before the user's PROMPT_COMMAND, which gets the exit code of the command.
__burin_before_prompt() {
    local code=$?
    builtin printf '\e]133;D;%s\a' "$code"
    return "$code"
}

# Runs after the user's PROMPT_COMMAND, which may have set the prompt.
__burin_after_prompt() {
    local code=$? entry REPLY
    __burin_encode "$PWD"
    builtin printf '\e]7;file://%s%s\a' "$HOSTNAME" "$REPLY"
    entry=$(HISTTIMEFORMAT='' builtin history 1)
    entry=${entry#"${entry%%[![:space:]]*}"}
    __burin_history=${entry%%[!0-9]*}
    case $PS1 in
        *133\;A*) ;;
        *) PS1='\[\e]133;A\a\]'$PS1'\[\e]133;B\a\]' ;;
    esac
    case $PS2 in
        *133\;A*) ;;
        *) PS2='\[\e]133;A;k=s\a\]'$PS2 ;;
    esac
    return "$code"
}

__burin_install() {
    # PS0 came with bash 4.4.
    if ((BASH_VERSINFO[0] < 4 || (BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] < 4))); then
        return
    fi
    case $PS1$PS0 in
        *133\;* | *633\;*) return ;;
    esac
    PS0='$(__burin_start)'$PS0
    if [ "${#PROMPT_COMMAND[@]}" -gt 1 ]; then
        PROMPT_COMMAND=(__burin_before_prompt "${PROMPT_COMMAND[@]}" __burin_after_prompt)
    else
        local own=${PROMPT_COMMAND%"${PROMPT_COMMAND##*[![:space:];]}"}
        PROMPT_COMMAND="__burin_before_prompt${own:+; $own}; __burin_after_prompt"
    fi
}

__burin_install
unset -f __burin_install
