#!/bin/bash
# Prints this source's version: that of VERSION where its last commit is the one that
# released it, else with how many commits came after it and which is the last
# (0.1.0+12.g8c1f0e2), and .changed where something is not committed. "dev" without git.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(<VERSION)
released=$(git log -1 --format=%H -- VERSION 2>/dev/null) && [ -n "$released" ] || { echo dev; exit; }
since=$(git rev-list --count "$released..HEAD")
[ "$since" = 0 ] || version+=+$since.g$(git rev-parse --short=7 HEAD)
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
    case $version in *+*) version+=.changed ;; *) version+=+changed ;; esac
fi
echo "$version"
