#!/bin/sh
# A scripted language server. Its behaviour is its first argument:
#   push        publishes one error for each opened document; its second row is the definition of everything
#   edit        pushes, renames the second row of the document and of its neighbour `b.sql`, fixes the error, and formats
#   late        publishes no errors at once, then works before it publishes one
#   tacit       publishes nothing, and answers requests
#   pull        answers requests for diagnostics with one warning
#   echo        answers requests for diagnostics with the first word of the document
#   silent      publishes nothing
#   crash       exits with code 3 when a document is opened
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
        push | edit | stubborn) publish "$(diagnostic 1 'it is wrong')" ;;
        late) publish; sleep 2; publish "$(diagnostic 1 'it is wrong')" ;;
        crash) echo 'fatal: it fell over' >&2; exit 3 ;;
        crash-once)
            if [ -e crashed ]; then publish "$(diagnostic 1 'it is wrong')"; else : > crashed; exit 3; fi ;;
    esac
}

handle() {
    id=$(printf %s "$body" | grep -o '"id":[0-9]*' | head -n 1 | cut -d : -f 2)
    method=$(printf %s "$body" | grep -o '"method":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
    case $method in
        initialize)
            pull=
            [ "$behaviour" = pull ] || [ "$behaviour" = echo ] &&
                pull=',"diagnosticProvider":{"interFileDependencies":false,"workspaceDiagnostics":false}'
            [ "$behaviour" = edit ] &&
                pull=',"renameProvider":true,"codeActionProvider":true,"documentFormattingProvider":true'
            answer "{\"capabilities\":{\"textDocumentSync\":1,\"definitionProvider\":true$pull}}" ;;
        textDocument/didOpen) word=$(text text | grep -o '^[a-z]*'); opened ;;
        textDocument/didChange) word=$(text text | grep -o '^[a-z]*') ;;
        textDocument/diagnostic)
            message='it is odd'
            [ "$behaviour" = echo ] && message=$word
            answer "{\"kind\":\"full\",\"items\":[$(diagnostic 2 "$message")]}" ;;
        textDocument/definition)
            range='{"start":{"line":1,"character":0},"end":{"line":1,"character":0}}'
            if [ "$behaviour" = push ]; then answer "{\"uri\":\"$uri\",\"range\":$range}"; else answer null; fi ;;
        textDocument/rename)
            edit=$(edit_of 1 0 6 "$(text newName)")
            answer "{\"changes\":{\"$uri\":[$edit],\"${uri%/*}/b.sql\":[$edit]}}" ;;
        textDocument/codeAction)
            fix="{\"title\":\"Write an e\",\"kind\":\"quickfix\",\"edit\":{\"changes\":{\"$uri\":[$(edit_of 0 1 2 e)]}}}"
            answer "[$fix]" ;;
        textDocument/formatting) answer "[$(edit_of 1 0 0 '  ')]" ;;
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
