package stack

import (
	"strings"

	"kasoku/internal/lazyregexp"
)

// In a program's text, a variable of the environment that is read with a default: the
// variable's name, then the default.
var envDefaults = []*lazyregexp.Regexp{
	// getenv('DB_HOST', 'localhost'), os.environ.get("DB_HOST", "localhost"), ENV.fetch('DB_PORT', 3306), getEnv("DB_HOST", "127.0.0.1").
	lazyregexp.New(`(?i)\w*env\w*(?:\.\w+)?\(\s*["']([A-Za-z]\w*)["']\s*,\s*["'\x60]?([\w.:-]+)["'\x60]?\s*\)`),
	// getenv('DB_HOST') ?: 'localhost', $_ENV['DB_HOST'] ?? 'localhost', ENV['DB_HOST'] || 'localhost', $ENV{DB_HOST} // 'localhost'.
	lazyregexp.New(`(?i)\w*env\w*(?:\.get)?\s*[(\[{]\s*["']?([A-Za-z]\w*)["']?\s*[)\]}]\s*(?:\?:|\?\?|\|\||//|or\b)\s*["'\x60]?([\w.:-]+)`),
	// process.env.DB_HOST || 'localhost'.
	lazyregexp.New(`(?i)process\.env\.([A-Za-z]\w*)\s*(?:\?\?|\|\|)\s*["'\x60]?([\w.:-]+)`),
	// ENV.fetch('DB_HOST') { 'localhost' }.
	lazyregexp.New(`ENV\.fetch\(\s*["']([A-Za-z]\w*)["']\s*\)\s*\{\s*["']?([\w.:-]+)["']?\s*\}`),
	// ${DB_HOST:-localhost} of a shell, ${DB_HOST:localhost} of Spring.
	lazyregexp.New(`\$\{([A-Za-z]\w*):-?([\w.:-]+)\}`),
	// host := os.Getenv("DB_HOST"); if host == "" { host = "localhost" }.
	lazyregexp.New(`os\.Getenv\("([A-Za-z]\w*)"\)\s*;?\s*if\s+\w+\s*==\s*""\s*\{\s*\w+\s*=\s*"([\w.:-]+)"`),
}

// defaultsOf is a text of NAME=VALUE lines: what a program takes where its environment says
// nothing.
func defaultsOf(text string) string {
	var out strings.Builder
	for _, form := range envDefaults {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			out.WriteString(m[1] + "=" + m[2] + "\n")
		}
	}
	return out.String()
}
