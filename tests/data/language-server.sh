#!/bin/sh
# A scripted language server. Its behaviour is its first argument:
#   push        publishes one error for each opened document; its second row is the definition of everything
#   edit        pushes, renames the second row of the document and of its neighbour `b.sql`, fixes the error, and formats,
#               also after a typed semicolon; its fix of all errors writes an x before the second row
#   hint        as push, with a hint as well
#   late        publishes no errors at once, then works before it publishes one
#   tacit       publishes nothing, and answers requests
#   pull        answers requests for diagnostics with one warning
#   workspace   as pull, and answers requests for the diagnostics of all files with one error in the neighbour `b.sql`,
#               which has the number of the request
#   batch       as pull, once 32 requests or those for all documents wait; writes how many waited at most to `server-held`
#               in its working directory
#   echo        answers requests for diagnostics with the first word of the document
#   watch       watches all .sql files, says so in a diagnostic, and publishes how many changes of files it received
#   folders     as push, and writes the messages about folders to `server-folders` in its working directory
#   types       answers requests: a document has one error if it contains "wrong", in the row of the word; renames and
#               actions replace the first row
#   reads       watches all .sql files; a document has one error that quotes `b.sql`, as it was at the last event about a file
#   silent      publishes nothing
#   hang        answers nothing once it is asked for a definition
#   crash       exits with code 3 when a document is opened
#   brood       as crash, after it started a process that ignores its end
#   family      as push, after it started such a process
#   crash-once  crashes the first time, then pushes
#   stubborn    pushes, and ignores `shutdown`, `exit` and the end of its input
# It appends its process id to `server-pids` in its working directory.

behaviour=$1
echo $$ >> server-pids
echo "started as $behaviour" >&2

send() {
    length=$(printf %s "$1" | wc -c | tr -d ' ')
    printf 'Content-Length: %d\r\n\r\n%s' "$length" "$1"
}

answer() {
    send "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"
}

# The first text member with a name.
text() {
    printf %s "$body" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1
}

diagnostic() {
    range='{"start":{"line":0,"character":1},"end":{"line":0,"character":2}}'
    printf '{"range":%s,"severity":%d,"message":"%s","source":"script","code":"S1"}' "$range" "$1" "$2"
}

# The edit of a row from one character to another.
edit_of() {
    range="{\"start\":{\"line\":$1,\"character\":$2},\"end\":{\"line\":$1,\"character\":$3}}"
    printf '{"range":%s,"newText":"%s"}' "$range" "$4"
}

publish() {
    params="{\"uri\":\"$uri\",\"diagnostics\":[$1]}"
    send "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\",\"params\":$params}"
}

opened() {
    uri=$(printf %s "$body" | grep -o '"uri":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
    case $behaviour in
        push | edit | stubborn | folders) publish "$(diagnostic 1 'it is wrong')" ;;
        hint) publish "$(diagnostic 1 'it is wrong'),$(diagnostic 4 'it is long')" ;;
        late) publish; sleep 2; publish "$(diagnostic 1 'it is wrong')" ;;
        brood | family)
            sh -c 'trap "" TERM HUP; while :; do sleep 1; done' &
            echo $! >> server-pids
            [ "$behaviour" = family ] || exit 3 ;;
        crash) echo 'fatal: it fell over' >&2; exit 3 ;;
        crash-once)
            if [ -e crashed ]; then publish "$(diagnostic 1 'it is wrong')"; else : > crashed; exit 3; fi ;;
    esac
}

# Reads a file that is not open, at the start and after an event about a file.
read_file() {
    read_text=$(cat b.sql 2> /dev/null)
}

first_row='{"start":{"line":0,"character":0},"end":{"line":0,"character":999}}'

# The address of the document that the message names.
document() {
    printf %s "$body" | grep -o '"uri":"[^"]*"' | head -n 1 | cut -d '"' -f 4
}

# The name of the variable with the text of that document.
variable() {
    printf 'text_%s' "$(document | sed 's/.*\///' | tr -dc 'a-z')"
}

remember() {
    eval "$(variable)=\$(text text)"
}

type_error() {
    eval "content=\$$(variable)"
    case $content in
        *wrong*) ;;
        *) return ;;
    esac
    # Line feeds are escaped in JSON.
    row=$(printf %s "${content%%wrong*}" | grep -o '\\n' | wc -l | tr -d ' ')
    range="{\"start\":{\"line\":$row,\"character\":0},\"end\":{\"line\":$row,\"character\":1}}"
    printf '{"range":%s,"severity":1,"message":"mismatched types","source":"script"}' "$range"
}

# Lets a request for diagnostics wait. Before the answers, the client has to respond to a request, which follows all
# requests that it has sent.
hold() {
    held="$id $held"
    waiting=$((waiting + 1))
    requests=$((requests + 1))
    if [ "$waiting" -gt "${most:-0}" ]; then most=$waiting; echo "$most" > server-held; fi
    if [ "$waiting" = 32 ] || [ "$requests" = "$documents" ]; then
        send '{"jsonrpc":"2.0","id":901,"method":"workspace/workspaceFolders"}'
    fi
}

# Answers the requests that wait, the latest first.
release() {
    for id in $held; do answer "{\"kind\":\"full\",\"items\":[$(diagnostic 2 'it is odd')]}"; done
    held=
    waiting=0
}

handle() {
    id=$(printf %s "$body" | grep -o '"id":[0-9]*' | head -n 1 | cut -d : -f 2)
    method=$(printf %s "$body" | grep -o '"method":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
    case $method in
        initialize)
            pull=
            [ "$behaviour" = reads ] && read_file
            case $behaviour in
                pull | batch | echo | types | reads)
                    pull=',"diagnosticProvider":{"interFileDependencies":false,"workspaceDiagnostics":false}' ;;
                workspace)
                    pull=',"diagnosticProvider":{"interFileDependencies":false,"workspaceDiagnostics":true}' ;;
                edit) pull=',"renameProvider":true,"codeActionProvider":true,"documentFormattingProvider":true'
                    pull="$pull,\"documentOnTypeFormattingProvider\":{\"firstTriggerCharacter\":\";\"}" ;;
            esac
            [ "$behaviour" = types ] && pull="$pull,\"renameProvider\":true,\"hoverProvider\":true" &&
                pull="$pull,\"referencesProvider\":true,\"codeActionProvider\":true"
            workspace=
            [ "$behaviour" = folders ] &&
                workspace='"workspace":{"workspaceFolders":{"supported":true,"changeNotifications":"f"}},'
            info='"serverInfo":{"name":"scripted","version":"1.2"}'
            answer "{\"capabilities\":{$workspace\"textDocumentSync\":1,\"definitionProvider\":true$pull},$info}" ;;
        textDocument/didOpen) documents=$((documents + 1)); remember; word=$(text text | grep -o '^[a-z]*'); opened ;;
        textDocument/didChange) remember; word=$(text text | grep -o '^[a-z]*') ;;
        textDocument/diagnostic)
            if [ "$behaviour" = types ]; then answer "{\"kind\":\"full\",\"items\":[$(type_error)]}"; return; fi
            if [ "$behaviour" = reads ]; then
                items=
                [ -z "$read_text" ] || items=$(diagnostic 1 "b.sql has $read_text")
                answer "{\"kind\":\"full\",\"items\":[$items]}"
                return
            fi
            if [ "$behaviour" = batch ]; then hold; return; fi
            message='it is odd'
            [ "$behaviour" = echo ] && message=$word
            answer "{\"kind\":\"full\",\"items\":[$(diagnostic 2 "$message")]}" ;;
        workspace/diagnostic)
            requests=$((requests + 1))
            items="[$(diagnostic 1 "request $requests")]"
            report="{\"kind\":\"full\",\"uri\":\"${uri%/*}/b.sql\",\"version\":null,\"items\":$items}"
            answer "{\"items\":[$report]}" ;;
        textDocument/definition)
            if [ "$behaviour" = hang ]; then while :; do sleep 1; done; fi
            range='{"start":{"line":1,"character":0},"end":{"line":1,"character":0}}'
            if [ "$behaviour" = push ]; then answer "{\"uri\":\"$uri\",\"range\":$range}"; else answer null; fi ;;
        textDocument/references) answer "[{\"uri\":\"$(document)\",\"range\":$first_row}]" ;;
        textDocument/hover) answer '{"contents":{"kind":"plaintext","value":"a word"}}' ;;
        textDocument/rename)
            if [ "$behaviour" = types ]; then
                answer "{\"changes\":{\"$(document)\":[{\"range\":$first_row,\"newText\":\"$(text newName)\"}]}}"
            else
                uri=$(document)
                edit=$(edit_of 1 0 6 "$(text newName)")
                answer "{\"changes\":{\"$uri\":[$edit],\"${uri%/*}/b.sql\":[$edit]}}"
            fi ;;
        textDocument/codeAction)
            if [ "$behaviour" = types ]; then
                edit="{\"changes\":{\"$(document)\":[{\"range\":$first_row,\"newText\":\"right\"}]}}"
                answer "[{\"title\":\"Put it right\",\"kind\":\"quickfix\",\"isPreferred\":true,\"edit\":$edit}]"
            elif printf %s "$body" | grep -q '"only":\["source.fixAll"\]'; then
                edit="{\"changes\":{\"$(document)\":[$(edit_of 1 0 0 x)]}}"
                answer "[{\"title\":\"Fix all\",\"kind\":\"source.fixAll\",\"edit\":$edit}]"
            else
                edit="{\"changes\":{\"$(document)\":[$(edit_of 0 1 2 e)]}}"
                answer "[{\"title\":\"Write an e\",\"kind\":\"quickfix\",\"edit\":$edit}]"
            fi ;;
        textDocument/formatting | textDocument/onTypeFormatting) answer "[$(edit_of 1 0 0 '  ')]" ;;
        initialized)
            if [ "$behaviour" = watch ] || [ "$behaviour" = reads ]; then
                options='{"watchers":[{"globPattern":"**/*.sql"}]}'
                registration="{\"id\":\"w\",\"method\":\"workspace/didChangeWatchedFiles\",\"registerOptions\":$options}"
                send "{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"client/registerCapability\",\"params\":{\"registrations\":[$registration]}}"
            fi ;;
        '') [ "$id" = 901 ] && release
            [ "$id" = 900 ] && [ "$behaviour" = watch ] && publish "$(diagnostic 3 'it watches')" ;;
        workspace/didChangeWorkspaceFolders) printf '%s\n' "$body" >> server-folders ;;
        workspace/didChangeWatchedFiles)
            count=$(printf %s "$body" | grep -o '"type":' | wc -l | tr -d ' ')
            if [ "$behaviour" = reads ]; then read_file; else publish "$(diagnostic 3 "changes: $count")"; fi ;;
        shutdown) [ "$behaviour" = stubborn ] || answer null ;;
        exit) [ "$behaviour" = stubborn ] || exit 0 ;;
    esac
}

while IFS= read -r line; do
    case $line in
        [Cc]ontent-[Ll]ength:*) length=$(printf %s "${line#*:}" | tr -d ' \r') ;;
        "$(printf '\r')")
            body=$(dd bs=1 count="$length" 2> /dev/null)
            handle ;;
    esac
done
while [ "$behaviour" = stubborn ]; do sleep 1; done
