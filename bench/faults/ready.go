package main

import (
	"context"

	"kasoku/internal/change"
	"kasoku/internal/host"
)

// An application's folder, and the products of its build.
const readyDir = "/srv/ready-app"

var readyProducts = []string{"build", "absent", "one.o"}

// readyKind puts the products of a build that was made elsewhere in place.
// Nobody edits them meanwhile: they are the build's, and what somebody else writes
// there goes with them.
var readyKind = &kind{name: "ready", what: "the products of a build that was made elsewhere take the place of an application's.",
	changes: func() []change.Change {
		return []change.Change{{Kind: change.KindReady, Host: hostName, Ready: &change.Ready{Dir: readyDir, Products: readyProducts, From: "new"}}}
	},
	pack: func(ctx context.Context, x *change.Executor) (host.Hash, error) {
		return x.Pack(ctx, hostName, "/srv/ready-new", readyProducts)
	},
	setUp: `
rm -rf ` + readyDir + ` /srv/ready-new; mkdir -p ` + readyDir + ` /srv/ready-new
cd ` + readyDir + `
mkdir -p build/deep; echo old > build/out; ln -s out build/link; echo x > build/deep/file; chmod 600 build/deep/file; echo o > one.o; echo mine > data
cd ../ready-new
mkdir build; echo new > build/out; echo more > build/more; chmod 755 build/more; echo made > absent; echo theirs > data
cd ..
find ready-app ready-new -exec touch -h -d '2011-11-11 11:11:11' {} +
`}
