package accesslog

import (
	"path"
	"slices"
	"strings"
)

// assetTypes are the extensions of what browsers fetch for a page.
var assetTypes = []string{".css", ".js", ".mjs", ".map", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".ico", ".bmp",
	".woff", ".woff2", ".ttf", ".otf", ".eot", ".webmanifest"}

// IsAsset reports whether a target or a route is of a file that browsers fetch for a
// page, by its name.
func IsAsset(target string) bool {
	return slices.Contains(assetTypes, strings.ToLower(path.Ext(PathOf(target))))
}
