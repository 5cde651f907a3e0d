#!/bin/bash
# Builds what is released, for Linux on each architecture named, amd64 and arm64
# without a name:
#   scripts/release.sh [ARCH …]
# into $OUT, dist/ if it is not set:
#   kasoku-VERSION-linux-ARCH.tar.gz   program, manual pages, completions
#   kasoku_VERSION_ARCH.deb            the same as a package
#   kasoku-VERSION-linux-ARCH.cdx.json what the program is made of (SBOM, CycloneDX)
#   SHA256SUMS
# The same commit gives the same bytes, wherever it is built with the same Go: nothing
# holds a path, a time of today or who built it. CHECK=1 shows that: it builds all a second time from
# a fresh clone in another folder, compares, and runs each program, of another
# architecture by qemu-user-static. SBOM=0 leaves the SBOM out; COMPRESS=none and LEVEL=1
# are quicker than the package's xz and the archive's gzip -9.
# A source that is not committed is refused (exit status 3).
set -euo pipefail
cd "$(dirname "$0")/.."
tell() { printf 'release.sh: %s\n' "$*" >&2; }
fail() { tell "$*"; exit 3; }

out=${OUT:-dist}
arches=("$@")
[ $# -gt 0 ] || arches=(amd64 arm64)
for arch in "${arches[@]}"; do
    case $arch in amd64 | arm64) ;; *) fail "\"$arch\" is not built; there are amd64 and arm64" ;; esac
done
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "the source has changes that are not committed; commit them, or git stash"
mkdir -p "$out"
out=$(realpath "$out")
version=$(scripts/version.sh)
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)
export SOURCE_DATE_EPOCH CGO_ENABLED=0 GOOS=linux GOFLAGS= TZ=UTC LC_ALL=C
umask 022

stage=$(mktemp -d)
trap 'rm -rf -- "$stage"' EXIT

# compile ARCH FILE
compile() {
    GOARCH=$1 go build -trimpath -buildvcs=false -o "$2" \
        -ldflags "-s -w -buildid= -X main.Version=$version -X main.Commit=$commit -X main.Date=$date" ./cmd/kasoku
}

# share DIR fills usr/share of a package: pages and completions, written by the program of this machine.
share() {
    mkdir -p "$1"/{man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
    "$stage/here" man --all "$1/man/man1"
    "$stage/here" completion bash >"$1/bash-completion/completions/kasoku"
    "$stage/here" completion zsh >"$1/zsh/vendor-completions/_kasoku"
    "$stage/here" completion fish >"$1/fish/vendor_completions.d/kasoku.fish"
}

settle() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

archive() {
    local arch=$1 name=kasoku-$version-linux-$1
    mkdir -p "$stage/$name"
    cp "$stage/kasoku-$arch" "$stage/$name/kasoku"
    cp -r README.md LICENSE CHANGELOG.md "$stage/share" "$stage/$name/"
    settle "$stage/$name"
    tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --format=gnu -cf - "$name" | gzip -n"${LEVEL:-9}" >"$out/$name.tar.gz"
}

package() {
    local arch=$1 root=$stage/deb-$1
    mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/share/doc/kasoku"
    cp "$stage/kasoku-$arch" "$root/usr/bin/kasoku"
    cp -r "$stage/share/." "$root/usr/share/"
    gzip -n9 "$root"/usr/share/man/man1/*.1
    { sed '/^$/q' scripts/release-copyright; sed 's/^$/./; s/^/ /' LICENSE; } >"$root/usr/share/doc/kasoku/copyright"
    gzip -n9 <CHANGELOG.md >"$root/usr/share/doc/kasoku/changelog.gz"
    (cd "$root" && find usr -type f | sort | xargs md5sum) >"$root/DEBIAN/md5sums"
    {
        echo "Package: kasoku"
        echo "Version: $version"
        echo "Architecture: $arch"
        echo "Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)"
        cat scripts/release-control
    } >"$root/DEBIAN/control"
    settle "$root"
    dpkg-deb --root-owner-group --threads-max=1 -Z"${COMPRESS:-xz}" --build "$root" "$out/kasoku_${version}_$arch.deb" >/dev/null
}

# bill ARCH writes the SBOM. The tool itself is one of this machine's, whatever it writes of.
bill() {
    [ -x "$stage/sbom" ] || go build -modfile=release.mod -o "$stage/sbom" github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
    GOARCH=$1 "$stage/sbom" app -json -licenses -std -noserial -notimestamp -main cmd/kasoku \
        -output "$out/kasoku-$version-linux-$1.cdx.json" . 2>"$stage/bill" || { cat "$stage/bill" >&2; return 1; }
}

# runs PROGRAM ARCH runs a program of an architecture here.
runs() {
    local qemu=
    if [ "$2" != "$host" ]; then
        case $2 in arm64) qemu=qemu-aarch64-static ;; amd64) qemu=qemu-x86_64-static ;; esac
        command -v "$qemu" >/dev/null || fail "a program of $2 runs here with $qemu only: apt-get install qemu-user-static"
    fi
    $qemu "$1" version
}

check() {
    local arch other=$stage/elsewhere
    git clone -q . "$other/clone"
    (cd "$other/clone" && CHECK='' OUT=$other/dist SBOM=${SBOM:-1} scripts/release.sh "${arches[@]}")
    diff "$out/SHA256SUMS" "$other/dist/SHA256SUMS" || { tell "another clone gives other bytes"; exit 1; }
    for arch in "${arches[@]}"; do
        runs "$stage/kasoku-$arch" "$arch" | grep -F "kasoku $version (commit ${commit:0:12} $date, " >&2
    done
    tell "another clone gives the same bytes, and every program runs"
}

tell "$version, $date"
host=$(go env GOHOSTARCH)
compile "$host" "$stage/here"
share "$stage/share"
rm -f "$out"/kasoku[-_]*.{tar.gz,deb,cdx.json} "$out/SHA256SUMS"
for arch in "${arches[@]}"; do
    tell "$arch"
    if [ "$arch" = "$host" ]; then cp "$stage/here" "$stage/kasoku-$arch"; else compile "$arch" "$stage/kasoku-$arch"; fi
    archive "$arch"
    package "$arch"
    [ "${SBOM:-1}" = 0 ] || bill "$arch"
done
(cd "$out" && sha256sum kasoku[-_]* >SHA256SUMS)
[ "$(git rev-parse HEAD)" = "$commit" ] && [ -z "$(git status --porcelain --untracked-files=no)" ] || fail "the source was changed while it was built; build it again"
[ -z "${CHECK:-}" ] || check
tell "in $out:"
(cd "$out" && ls -l kasoku[-_]* SHA256SUMS | awk '{ print $5, $9 }')
