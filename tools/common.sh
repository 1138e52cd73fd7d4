# shellcheck shell=bash
# common.sh: what the scripts of tools/ share. Sourced, never run.
#
# One form of error (what is wrong, then what to do about it), with the exit
# codes of `tollfree`, and one answer to where built PostgreSQL servers are
# kept. Does nothing by itself.

# The constants are for the scripts that source this file.
# shellcheck disable=SC2034

set -euo pipefail

readonly OLDEST_MAJOR=15
readonly NEWEST_MAJOR=19
readonly EXIT_USAGE=2
readonly EXIT_ENVIRONMENT=3

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly checkout

say() {
	printf '%s: %s\n' "${0##*/}" "$*"
}

# fail CODE MESSAGE REMEDY
fail() {
	printf '%s: error: %s\n  %s\n' "${0##*/}" "$2" "$3" >&2
	exit "$1"
}

# record_pass NAME: notes which commit has passed, for tools/release; nothing if
# files differ from it.
record_pass() {
	local head
	if head=$(git -C "$checkout" rev-parse HEAD 2>/dev/null) &&
		[ -z "$(git -C "$checkout" status --porcelain)" ]; then
		mkdir -p "$checkout/build/passed"
		echo "$head" >"$checkout/build/passed/$1"
	fi
}

# The folder that holds one PostgreSQL per name, such as 18 or 18-assert.
# Root's is outside its private home: its servers run as another user, who
# must be able to read them.
cache_dir() {
	if [ "$(id -u)" -eq 0 ]; then
		echo /var/cache/tollfree
	else
		echo "${XDG_CACHE_HOME:-$HOME/.cache}/tollfree"
	fi
}
