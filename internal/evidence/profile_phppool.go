package evidence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/confedit/ini"
)

// PHPPool says whether and how the PHP functions of one pool can be sampled.
type PHPPool struct {
	Name string
	// Key of the pool's configuration that names the file to run before each
	// script: the pool's own one if it has one. It is a php_value, so that a
	// .user.ini or the web server's PHP_VALUE still wins: what they name is part
	// of the application.
	Key string
	// Prepend is the file that is run before each script now; "" if none.
	Prepend string
	// Refused says why it is not sampled; "" if it can be.
	Refused string
	// NoProfiler: it is refused only because PHP has no sampling profiler.
	NoProfiler bool
	// SlowTimeout and SlowLog are the pool's request_slowlog_timeout ("0", "0s" or ""
	// is off) and slowlog.
	SlowTimeout, SlowLog string
	// Children is pm.max_children.
	Children int
}

// phpNeeds are the functions that the file of PHPProfileFile calls.
var phpNeeds = []string{"register_shutdown_function", "getmypid", "fopen", "fstat", "fwrite", "fclose", "strtr"}

// leastRequests is the least pm.max_requests of a pool that is sampled:
// Excimer 1.0.4 now and then crashes a process that ends, and one in a hundred
// requests is the most that may meet that.
const leastRequests = 100

// PHPProfilePools looks at the pools of a php-fpm service. values are its
// effective settings (Snapshot.PHP), user is whom its workers run as.
func PHPProfilePools(values map[string]string, conf *ini.Config, user ProcessUser) []PHPPool {
	var out []PHPPool
	for _, pool := range fpmPools(conf) {
		get := func(key string) string {
			v, _ := conf.Get(pool.Name, key)
			return strings.ReplaceAll(v.Text, "$pool", pool.Name)
		}
		setting := func(directive string) string {
			if v, own := values["pool."+pool.Name+"."+directive]; own {
				return v
			}
			return values[directive]
		}
		p := PHPPool{Name: pool.Name, Key: "php_value[auto_prepend_file]", Prepend: setting("auto_prepend_file"),
			SlowTimeout: get("request_slowlog_timeout"), SlowLog: get("slowlog")}
		if strings.EqualFold(p.Prepend, "none") {
			p.Prepend = "" // PHP manual, "auto_prepend_file": none turns it off
		}
		if admin := "php_admin_value[auto_prepend_file]"; slices.Contains(conf.Keys(pool.Name), admin) {
			p.Key = admin
		}
		p.Children, _ = strconv.Atoi(get("pm.max_children"))
		p.Refused = phpRefused(get, setting, user)
		if p.Refused == "" && values["excimer.version"] == "" {
			p.NoProfiler, p.Refused = true, "PHP has no sampling profiler (apt-get install php-excimer)"
		}
		out = append(out, p)
	}
	return out
}

// phpRefused says why a pool's scripts must not be made to run one more file.
func phpRefused(get, setting func(string) string, user ProcessUser) string {
	requests, _ := strconv.Atoi(get("pm.max_requests"))
	disabled := strings.FieldsFunc(setting("disable_functions"), func(r rune) bool { return r == ',' || r == ' ' })
	owner := get("user")
	switch {
	case requests > 0 && requests < leastRequests:
		return fmt.Sprintf("its processes end after %d requests (pm.max_requests), and the profiler may crash one that ends; from %d on it is used", requests, leastRequests)
	case setting("open_basedir") != "":
		return "open_basedir keeps its scripts from files elsewhere, so from the profiler's too"
	case get("chroot") != "":
		return "it runs in a chroot and would not see the profiler's file"
	case owner != "" && owner != user.Name && owner != strconv.Itoa(user.UID):
		return fmt.Sprintf("it runs as %s, other pools as %s", owner, user.Name)
	}
	for _, f := range phpNeeds {
		if slices.Contains(disabled, f) {
			return "disable_functions has " + f + ", which the profiler's file needs"
		}
	}
	return ""
}

// phpPrefix begins the name of the files that PHPProfileFile is written to.
const phpPrefix = "kasoku-prepend"

// PHPProfileName is the file name for the n-th text of PHPProfileFile in a
// folder; collectors know the instrument by it.
func PHPProfileName(n int) string { return fmt.Sprintf("%s-%d.php", phpPrefix, n) }

const (
	// phpPeriod of samples: 10 ms of elapsed time, and 10 ms of CPU time, which
	// tells working from waiting. Excimer begins each request at a random point
	// of the period, so that short requests are sampled as often as their time
	// is worth.
	phpPeriod = 10_000_000 // nanoseconds
	// phpAllFiles and phpMostFile bound what all processes, and one, write:
	// half of the room that SharedMemory was found to have.
	phpAllFiles = shmRoom / 2
	phpMostFile = 4 << 20
	// phpDepth is the deepest stack that is kept: frameworks have up to 60.
	phpDepth = 200
)

// PHPProfileFile is the text of a PHP file that samples where a request's time
// goes and adds the stacks to a file of its process in folder; parseStacks
// reads them. chained is the file that was run before each script so far.
// children is how many processes may write.
func PHPProfileFile(folder, chained string, children int) []byte {
	most := min(phpMostFile, phpAllFiles/max(children, 1))
	text := strings.NewReplacer("@FOLDER@", phpQuote(folder), "@MOST@", strconv.Itoa(most),
		"@DEPTH@", strconv.Itoa(phpDepth), "@PERIOD@", strconv.FormatFloat(float64(phpPeriod)/1e9, 'f', -1, 64)).Replace(phpProfiler)
	if chained != "" {
		text += "require " + phpQuote(chained) + ";\n"
	}
	return []byte(text)
}

// phpQuote is a PHP string (PHP manual, "Strings, single quoted").
func phpQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// phpProfiler hands its work to the end of the request: the function that is
// registered first adds another one behind those of the application. Whatever
// goes wrong in it is swallowed; a profile is not worth a wrong answer.
const phpProfiler = `<?php
// Written by Kasoku for a diagnostic run, after which it is taken away again.
(static function (): void {
    if (!class_exists('ExcimerProfiler', false)) {
        return;
    }
    $profilers = [];
    foreach ([EXCIMER_REAL, EXCIMER_CPU] as $type) {
        $profiler = new ExcimerProfiler();
        $profiler->setEventType($type);
        $profiler->setPeriod(@PERIOD@);
        $profiler->setMaxDepth(@DEPTH@);
        $profiler->start();
        $profilers[] = $profiler;
    }
    $write = static function () use ($profilers): void {
        try {
            $stacks = [];
            foreach ($profilers as $i => $profiler) {
                $profiler->stop();
                foreach ($profiler->getLog() as $entry) {
                    $stack = [];
                    foreach ($entry->getTrace() as $f) {
                        $name = isset($f['function']) ? (isset($f['class']) ? $f['class'] . '::' : '') . $f['function'] : '{main}';
                        array_unshift($stack, strtr($name, ";\t\n\0", ":   ") . "\t" . strtr($f['file'] ?? '', ";\t\n\0", ":   ") . ':' . (int) ($f['line'] ?? 0));
                    }
                    if ($stack !== []) {
                        $key = implode(';', $stack);
                        $stacks[$key] ??= [0, 0];
                        $stacks[$key][$i] += $entry->getEventCount();
                    }
                }
            }
            if ($stacks === []) {
                return;
            }
            $file = @fopen(@FOLDER@ . '/' . getmypid() . '.stacks', 'ab');
            if ($file && fstat($file)['size'] < @MOST@) {
                $text = '';
                foreach ($stacks as $stack => $counts) {
                    $text .= $stack . ' ' . implode(' ', $counts) . "\n";
                }
                fwrite($file, $text);
            }
            if ($file) {
                fclose($file);
            }
        } catch (\Throwable $e) {
        }
    };
    register_shutdown_function(static function () use ($write): void {
        register_shutdown_function($write);
    });
})();
`
