#!/bin/sh
# A language server whose answers are files. Its argument is a folder: it answers a request with the file there that has the
# name of the method, with dots for slashes, or with null if there is none. It waits for the answer to `initialize`. It
# appends each message to the file `received` there, one in each line, before it answers.

folder=$1

send() {
    length=$(printf %s "$1" | wc -c | tr -d ' ')
    printf 'Content-Length: %d\r\n\r\n%s' "$length" "$1"
}

handle() {
    method=$(printf %s "$body" | grep -o '"method":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
    [ "$method" != exit ] || exit 0
    # Answers to requests of the server have no method.
    case $body in
        '{"jsonrpc":"2.0","id":'*'"method":'*) ;;
        *) return ;;
    esac
    id=$(printf %s "$body" | grep -o '"id":[0-9]*' | head -n 1 | cut -d : -f 2)
    file=$folder/$(printf %s "$method" | tr / .)
    while [ "$method" = initialize ] && [ -d "$folder" ] && [ ! -f "$file" ]; do sleep 0.05; done
    result=null
    [ ! -f "$file" ] || result=$(cat "$file")
    send "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
}

while IFS= read -r line; do
    case $line in
        [Cc]ontent-[Ll]ength:*) length=$(printf %s "${line#*:}" | tr -d ' \r') ;;
        "$(printf '\r')")
            body=$(dd bs=1 count="$length" 2> /dev/null)
            printf '%s\n' "$body" >> "$folder/received"
            handle ;;
    esac
done
