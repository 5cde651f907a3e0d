// SPDX-License-Identifier: Apache-2.0

package accelerator

import "embed"

// Source is the library as it is copied, without this file; names are those of the folder.
//
//go:embed accelerator.go check.go conn.go prefetch.go rows.go rules.go shape.go stmt.go words.go
var Source embed.FS
