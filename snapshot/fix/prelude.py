"""The part that every script shares: POSIX sh functions that back up, compare, change and read back.

POSIX.1 Shell and Utilities; sha256sum(1), mktemp(1) of coreutils. An edit is worked out beside the file, compared with
it and then written into it, because below /etc/pve owner and mode cannot be set on a new file. A block that cannot be
finished puts back the files that it has changed. What a run changed and has not applied or restarted stays noted below
/var/lib/hostsnap/fix, so that the next run does it.
"""

from __future__ import annotations

PRELUDE = r"""set -u
umask 022
LC_ALL=C
export LC_ALL
state=/var/lib/hostsnap/fix
backup=/var/lib/hostsnap/backup/$(date -u +%Y%m%dT%H%M%SZ)
dry='' id='' verdict='' changed=0 acted=0
n_done=0 n_same=0 n_refused=0 n_failed=0
[ "${1-}" = -n ] && dry=yes

note() { printf '    %s\n' "$*"; }
indent() { sed 's/^/      /'; }
refuse() { note "REFUSED: $*"; verdict=refused; undo; return 3; }
fail() { note "FAILED: $*"; verdict=failed; return 1; }
digest() { sha256sum < "$1" | cut -d ' ' -f 1; }
has() { grep -qxF -e "$2" "$1"; }

# whether FILE is what the snapshot saw, SUM, or what a run of such a script left
seen() {
    now=$(digest "$1")
    [ "$now" = "$2" ] || grep -qxF -e "$now $1" "$state/ours" 2> /dev/null
}

own() { printf '%s %s\n' "$(digest "$1")" "$1" >> "$state/ours"; }

keep() {
    [ ! -e "$backup$1" ] || return 0
    { (umask 077 && mkdir -p "$(dirname "$backup$1")") && cp -p "$1" "$backup$1"; } ||
        fail "no backup of $1 can be made, so it is left as it is"
}

# puts back what this block has changed
undo() {
    [ -s "$work/undo" ] || return 0
    while IFS= read -r path; do
        if [ -e "$work/before$path" ]; then cat "$work/before$path" > "$path"; else rm -f "$path"; fi
        note "$path: put back"
    done < "$work/undo"
    : > "$work/undo"
    changed=0
    rm -f "$state/pending-$id"
}

# replace FILE SUM: it becomes what $work/new holds
replace() {
    if [ -e "$1" ]; then diff "$1" "$work/new" | indent; else indent < "$work/new"; fi
    [ -z "$dry" ] || { note "$1: would be changed"; return 0; }
    mkdir -p "$state" "$(dirname "$1")" "$work/before$(dirname "$1")" || { fail "$1: no directory"; return 1; }
    known=yes
    if [ -e "$1" ]; then
        seen "$1" "$2" || known=''
        keep "$1" || return 1
        [ -e "$work/before$1" ] || cp "$1" "$work/before$1"
    fi
    : > "$state/pending-$id"
    printf '%s\n' "$1" >> "$work/undo"
    if ! { cat "$work/new" > "$1" && cmp -s "$work/new" "$1"; }; then
        fail "$1 cannot be written"
        undo
        return 1
    fi
    changed=1
    [ -z "$known" ] || own "$1"
    note "$1: changed"
}

# what SCRIPT makes of line NUMBER, TEXT
made_of() {
    { awk -v n="$1" 'BEGIN { while (--n > 0) print "" }'; printf '%s\n' "$2"; } |
        sed --sandbox -e "$3" | sed -n "$1,\$p"
}

# whether line NUMBER, TEXT of FILE is by now what SCRIPT makes of it
made() {
    ! has "$1" "$3" || return 1
    made=$(made_of "$2" "$3" "$4")
    [ -z "$made" ] || has "$1" "$made"
}

# edit FILE SUM SCRIPT [NUMBER TEXT]... : by sed; lines named by number have to be as the snapshot saw them
edit() {
    file=$1 sum=$2 script=$3
    shift 3
    [ -f "$file" ] || { refuse "$file is not there"; return 3; }
    sed --sandbox -e "$script" "$file" > "$work/new" || { fail "$file cannot be read"; return 1; }
    if cmp -s "$file" "$work/new"; then
        while [ $# -gt 0 ]; do
            ! has "$file" "$2" || { refuse "$file: this line is no longer number $1: $2"; return 3; }
            shift 2
        done
        note "$file: so already"
        return 0
    fi
    if [ $# -gt 0 ] && [ "$(digest "$file")" != "$sum" ]; then
        lines=$(($# / 2)) before=0
        while [ $# -gt 0 ]; do
            if [ "$(sed -n "$1p" "$file")" = "$2" ]; then :
            elif made "$file" "$1" "$2" "$script"; then before=$((before + 1))
            else refuse "$file: line $1 is not what the snapshot saw: $2"; return 3
            fi
            shift 2
        done
        [ "$before" -ne "$lines" ] || { note "$file: so already"; return 0; }
        [ "$before" -eq 0 ] || { refuse "$file: some of the lines are changed already"; return 3; }
    elif [ "$sum" != - ] && ! seen "$file" "$sum"; then
        refuse "$file is not what the snapshot saw"
        return 3
    fi
    replace "$file" "$sum"
}

# edit_whole FILE SUM SCRIPT: by line number, where the text of the lines is not known
edit_whole() {
    if [ -f "$1" ] && [ "$(digest "$1")" != "$2" ] && sed --sandbox -e "$3" "$1" | cmp -s "$1" -; then
        note "$1: so already"
        return 0
    fi
    [ -f "$1" ] && [ "$(digest "$1")" = "$2" ] || { refuse "$1 is not what the snapshot saw"; return 3; }
    edit "$1" "$2" "$3"
}

# insert FILE SUM SCRIPT LINE NUMBER [TEXT]: LINE beside line NUMBER, which has to be as the snapshot saw it, but for 0
insert() {
    [ -f "$1" ] || { refuse "$1 is not there"; return 3; }
    ! has "$1" "$4" || { note "$1: so already"; return 0; }
    if [ "$5" != 0 ] && [ "$(digest "$1")" != "$2" ] && { [ $# -lt 6 ] || [ "$(sed -n "$5p" "$1")" != "$6" ]; }; then
        refuse "$1: line $5 is not what the snapshot saw${6+: $6}"
        return 3
    fi
    sed --sandbox -e "$3" "$1" > "$work/new"
    has "$work/new" "$4" || { refuse "$1 has no line $5"; return 3; }
    replace "$1" "$2"
}

# whether LINE stands in FILE and, in sysctl.d(5), is not overruled by a later one
stands() {
    has "$1" "$3" || return 1
    case $2 in
        */sysctl.d/*)
            [ "$(key=${3%%=*}= awk 'index($0, ENVIRON["key"]) == 1 { last = $0 } END { print last }' "$1")" = "$3" ] ;;
    esac
}

# add FILE SUM: the lines of standard input that it has not yet go to its end
add() {
    cat > "$work/lines"
    if [ -e "$1" ]; then cat "$1" > "$work/new"; else : > "$work/new"; fi
    missing=0
    while IFS= read -r line; do
        if ! stands "$work/new" "$1" "$line"; then
            [ -z "$(tail -c 1 "$work/new")" ] || printf '\n' >> "$work/new"
            printf '%s\n' "$line" >> "$work/new"
            missing=1
        fi
    done < "$work/lines"
    [ "$missing" = 1 ] || { note "$1: so already"; return 0; }
    replace "$1" "$2"
}

# put FILE SUM [MODE]: standard input; what stands there has to be what the snapshot saw
put() {
    cat > "$work/new"
    [ -s "$work/new" ] || { fail "nothing to write to $1"; return 1; }
    if [ -e "$1" ] && cmp -s "$work/new" "$1"; then
        note "$1: so already"
    elif [ -e "$1" ] && ! seen "$1" "$2"; then
        refuse "$1 is there and not what the snapshot saw"
        return 3
    else
        replace "$1" "$2" || return
    fi
    [ -z "${3-}" ] || [ -n "$dry" ] || chmod "$3" "$1" || fail "chmod $3 $1"
}

act() {
    note "\$ $*"
    [ -z "$dry" ] || return 0
    acted=1
    code=0
    "$@" < /dev/null > "$work/out" 2>&1 || code=$?
    indent < "$work/out"
    [ "$code" -eq 0 ] || fail "it ended with $code"
}

# what makes a change take effect: only if there was one
apply() { if [ "$changed" = 1 ] || [ -n "$dry" ]; then act "$@"; else note "not needed: $*"; fi; }

write() {
    note "\$ echo $1 > $2"
    [ -z "$dry" ] || return 0
    acted=1
    { printf '%s\n' "$1" > "$2"; } 2> /dev/null || fail "$2 does not take it"
}

plain() { printf '%s' "$*" | tr -s '\t ' '  '; }

# setting KEY VALUE: a sysctl, read back
setting() {
    if [ "$(plain "$(sysctl -n "$1" 2> /dev/null)")" = "$(plain "$2")" ]; then note "$1 = $2 already"; return 0; fi
    act sysctl -w "$1=$2" || return
    [ -n "$dry" ] || [ "$(plain "$(sysctl -n "$1")")" = "$(plain "$2")" ] || fail "$1 is not $2"
}

holds() {
    value=$(setpci -s "$1" "$2" 2> /dev/null)
    case $value in '' | *[!0-9a-fA-F]*) return 1 ;; esac
    [ $((0x$value & 0x$4)) -eq $((0x$3 & 0x$4)) ]
}

# register DEVICE REGISTER VALUE MASK: setpci(8) exits 0 when nothing was written, so it is read back
register() {
    if holds "$@"; then note "$1 $2 holds $3:$4 already"; return 0; fi
    act setpci -s "$1" "$2=$3:$4" || return
    [ -n "$dry" ] || holds "$@" || fail "$1 $2 does not hold $3:$4"
}

parts() { printf '%s\n' "$1" | tr , '\n' | sort; }

# pct_set ID -OPTION VALUE ... : pct(1); a devN that somebody has taken since is not overwritten
pct_set() {
    conf=/etc/pve/lxc/$1.conf ct=$1
    [ -f "$conf" ] || { refuse "$conf is not there"; return 3; }
    shift
    same=yes count=$#
    while [ "$count" -gt 0 ]; do
        key=${1#-}
        [ "$key" != delete ] || key=$2
        have=$(sed '/^\[/,$d' "$conf" | sed -n "s/^$key: *//p")
        case $1 in
            -delete) [ -z "$have" ] || same=no ;;
            -dev[0-9]*)
                if [ -z "$have" ]; then same=no
                elif [ "$(parts "$have")" != "$(parts "$2")" ]; then
                    refuse "$conf has another $key by now: $have"
                    return 3
                fi ;;
            *) [ "$(parts "$have")" = "$(parts "$2")" ] || same=no ;;
        esac
        set -- "$@" "$1" "$2"
        shift 2
        count=$((count - 2))
    done
    [ "$same" = no ] || { note "$conf: so already"; return 0; }
    [ -n "$dry" ] || { mkdir -p "$state" && keep "$conf"; } || return
    act pct set "$ct" "$@" || { undo; return 1; }
    [ -n "$dry" ] || { changed=1; : > "$state/pending-$id"; }
}

running() {
    case $1 in
        pct) [ "$(pct status "$2" 2> /dev/null)" = "status: running" ] ;;
        lxc) lxc-info -s -n "$2" 2> /dev/null | grep -q RUNNING ;;
    esac
}

# want NAME [yes]: a restart, once, behind all blocks
want() {
    [ -z "$dry" ] || { note "would be restarted, behind all blocks: $1"; return 0; }
    if [ "$changed" = 1 ] || [ "${2-}" = yes ]; then mkdir -p "$state" && : > "$state/restart-$1" && acted=1; fi
}

check() {
    [ -z "$dry" ] || return 0
    if "$@" < /dev/null > /dev/null 2>&1; then note "verified: $*"; else fail "not mended: $* fails"; fi
}

works() {
    running pct "$1" || return 1
    ct=$1
    shift
    pct exec "$ct" -- "$@" < /dev/null > /dev/null 2>&1
}

# within ID COMMAND...: checks in a container that runs
within() {
    [ -z "$dry" ] || return 0
    if ! running pct "$1"; then note "not verified: container $1 does not run"
    elif works "$@"; then note "verified: $*"
    else fail "not mended: in container $*"
    fi
}

begin() {
    id=$1 verdict='' changed=0 acted=0
    : > "$work/undo"
    rm -rf "$work/before"
}

# block NUMBER ID TITLE
block() {
    begin "$2"
    printf '\n[%s] %s\n' "$1" "$3"
    [ ! -e "$state/pending-$2" ] || changed=1
    "block_$1" || [ -n "$verdict" ] || verdict=failed
    finish "$state/pending-$2"
}

finish() {
    case $verdict in
        refused) n_refused=$((n_refused + 1)) ;;
        failed) n_failed=$((n_failed + 1)) ;;
        *)
            [ -n "$dry" ] || rm -f "$1"
            if [ "$changed$acted" = 00 ]; then n_same=$((n_same + 1)); else n_done=$((n_done + 1)); fi ;;
    esac
}

# restart NUMBER MANAGER ID: if a block wants it, and then what that block checks
restart() {
    [ -e "$state/restart-$2-$3" ] || return 0
    begin "restart-$2-$3"
    printf '\nRestart of container %s\n' "$3"
    if ! running "$2" "$3"; then
        note "it does not run: its next start reads the configuration anew"
        rm -f "$state/restart-$2-$3"
    elif "restart_$1"; then
        rm -f "$state/restart-$2-$3"
        "checks_$1" || verdict=failed
    fi
    [ -z "$verdict" ] || n_failed=$((n_failed + 1))
}
"""
