package ini

import "strings"

// Dialect is a family of files with one reader.
type Dialect int

const (
	// MySQL is the option files of MariaDB and MySQL (manual, "Configuring
	// MariaDB with Option Files"; mysys/my_default.c): # and ; start a comment
	// line, # a comment behind a value, an option may have no value, - and _
	// in names are the same, !include FILE and !includedir DIR (*.cnf, sorted).
	MySQL Dialect = iota
	// PHP is php.ini (Zend/zend_ini_scanner.l): sections do not matter to
	// values, except that what stands under [PATH=…] and [HOST=…] counts only
	// there; those are neither read nor changed here.
	PHP
	// FPM is php-fpm.conf and its pools (sapi/fpm/fpm/fpm_conf.c): PHP's
	// syntax line by line, sections [global] and one per pool, include=GLOB.
	// A later line wins, but of php_value[x], php_admin_value[x] and env[x] the
	// first does: FPM keeps them in a list that it applies from its end.
	FPM
)

// serverGroups are the sections that a MariaDB server reads as one, whatever
// their order; `mariadbd --help --verbose` names them. Sections with a version
// ([mariadb-10.11]) are among them if Config.Version says so.
var serverGroups = []string{"mysqld", "server", "mariadb", "mariadbd", "client-server", "galera"}

// canonicalKey brings spellings that mean the same key together.
func (d Dialect) canonicalKey(key string) string {
	switch d {
	case MySQL:
		key = strings.ReplaceAll(key, "-", "_")
		return strings.TrimPrefix(key, "loose_") // known or not, the value counts
	case FPM: // option names ignore case, what stands in brackets does not
		if name, index, ok := strings.Cut(key, "["); ok {
			// A flag and a value of the same setting are in one list.
			name = strings.Replace(strings.ToLower(strings.TrimSpace(name)), "_flag", "_value", 1)
			return name + "[" + index
		}
		return strings.ToLower(key)
	}
	return key
}

// firstWins reports whether of several lines with that key the first counts.
func (d Dialect) firstWins(key string) bool { return d == FPM && strings.Contains(key, "[") }

// forms returns the canonical keys that set key, with the value that each
// has when none is written. MySQL's options have opposites: skip-x and
// disable-x are x=0, enable-x is x=1 (my_getopt.c, special_opt_prefix).
func (d Dialect) forms(key string) map[string]string {
	key = d.canonicalKey(key)
	out := map[string]string{key: ""}
	if d == MySQL {
		out["skip_"+key], out["disable_"+key], out["enable_"+key] = "0", "0", "1"
	}
	return out
}

// sameSection reports whether a value in section have counts for section want.
func (d Dialect) sameSection(have, want string) bool {
	switch d {
	case PHP:
		return true
	case FPM:
		if strings.EqualFold(want, "global") || want == "" {
			return have == "" || strings.EqualFold(have, "global")
		}
		return have == want
	}
	return have == want || isServer(have) && isServer(want)
}

func isServer(section string) bool {
	for _, g := range serverGroups {
		if g == section {
			return true
		}
	}
	return false
}

// elsewhere reports whether a PHP section's values count only for some
// requests.
func (d Dialect) elsewhere(section string) bool {
	if d != PHP || len(section) < 4 {
		return false
	}
	rest := strings.TrimLeft(section[4:], " \t")
	head := strings.ToUpper(section[:4])
	return (head == "PATH" || head == "HOST") && strings.HasPrefix(rest, "=")
}
