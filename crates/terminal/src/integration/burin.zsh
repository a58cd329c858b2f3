# Burin's shell integration for zsh, read as .zshenv of a folder in ZDOTDIR.
#
# Restores the user's ZDOTDIR, so that zsh reads the user's other files, then marks prompts (OSC 133), the command line
# (OSC 633;E) and the folder (OSC 7).

# Commands must not see the nonce: it proves that a command line comes from this shell.
typeset -g __burin_nonce=$BURIN_SHELL_NONCE
unset BURIN_SHELL_NONCE

if [[ -n ${BURIN_USER_ZDOTDIR+set} ]]; then
    export ZDOTDIR=$BURIN_USER_ZDOTDIR
    unset BURIN_USER_ZDOTDIR
else
    unset ZDOTDIR
fi

if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
    source "${ZDOTDIR:-$HOME}/.zshenv"
fi

if [[ -o interactive ]]; then
    __burin_encode() {
        emulate -L zsh -o no_multibyte
        local text=$1 letter code
        integer at
        REPLY=
        for ((at = 1; at <= ${#text}; at++)); do
            letter=$text[at]
            if [[ $letter == [A-Za-z0-9/._~-] ]]; then
                REPLY+=$letter
            else
                printf -v code '%02X' "'$letter"
                REPLY+=%$code
            fi
        done
    }

    __burin_preexec() {
        emulate -L zsh
        local text=$1
        text=${text//\\/\\\\}
        text=${text//;/\\x3b}
        text=${text//$'\n'/\\x0a}
        text=${text//[$'\a\e']/}
        builtin print -rn -- $'\e]633;E;'"$text;$__burin_nonce"$'\a\e]133;C\a'
    }

    __burin_precmd() {
        local code=$?
        emulate -L zsh
        local REPLY
        __burin_encode "$PWD"
        builtin print -rn -- $'\e]133;D;'"$code"$'\a\e]7;file://'"$HOST$REPLY"$'\a'
        # The user's own hooks may set the prompt anew each time.
        if [[ $PS1 != *'133;'* ]]; then
            PS1=$'%{\e]133;A\a%}'$PS1$'%{\e]133;B\a%}'
        fi
        if [[ $PS2 != *'133;'* ]]; then
            PS2=$'%{\e]133;A;k=s\a%}'$PS2
        fi
    }

    # The user's files run later: the first prompt installs the hooks behind theirs.
    __burin_install() {
        local code=$?
        precmd_functions=(${precmd_functions:#__burin_install})
        if [[ $PS1 == *'133;'* || -n ${functions[__vsc_precmd]} || -n ${functions[iterm2_precmd]} ]]; then
            return
        fi
        precmd_functions+=(__burin_precmd)
        preexec_functions+=(__burin_preexec)
        # The list that is being run does not contain it yet.
        (exit $code)
        __burin_precmd
    }
    typeset -ga precmd_functions preexec_functions
    precmd_functions+=(__burin_install)
fi
