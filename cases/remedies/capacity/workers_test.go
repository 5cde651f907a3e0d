// Package capacity proves a prediction of `kasoku capacity` on the real programs:
// nginx in front of PHP-FPM with one to ten processes.
package capacity

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/capacity"
	"kasoku/internal/load"
)

// mostWorkers have a pool of their own, each at /wN.
const mostWorkers = 10

// page waits 36 ms by itself and 4 ms while it holds a lock, as a service does
// that asks another one and shares something. Waiting costs hardly any CPU, so
// that what N processes bring does not depend on the machine's processors.
const page = `<?php
usleep(36000);
$lock = fopen('%DIR%/app/lock' . $_SERVER['POOL'], 'c');
flock($lock, LOCK_EX);
usleep(4000);
flock($lock, LOCK_UN);
echo 'done';
`

const nginxHead = `user www-data;
pid %DIR%/nginx.pid;
error_log %DIR%/nginx.log;
worker_processes 1;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path %DIR%/body;
    fastcgi_temp_path %DIR%/fastcgi;
    server {
        listen 127.0.0.1:PORT;
`

// pools starts the servers and returns the URL.
func pools(t *testing.T) string {
	dir := bed.Folder(t)
	fpm := bed.PHPFPM(t)
	port := fmt.Sprint(bed.FreePort(t))
	conf := "[global]\npid = %DIR%/fpm.pid\nerror_log = %DIR%/fpm.log\n"
	nginx := strings.ReplaceAll(nginxHead, "PORT", port)
	for n := 1; n <= mostWorkers; n++ {
		conf += fmt.Sprintf("[w%[1]d]\nuser = www-data\ngroup = www-data\nlisten = %%DIR%%/w%[1]d.sock\nlisten.owner = www-data\npm = static\npm.max_children = %[1]d\n", n)
		nginx += fmt.Sprintf("location = /w%[1]d { fastcgi_pass unix:%%DIR%%/w%[1]d.sock; fastcgi_param SCRIPT_FILENAME %%DIR%%/app/index.php;\n"+
			"fastcgi_param REQUEST_METHOD $request_method; fastcgi_param POOL %[1]d; }\n", n)
		// Its own lock, which PHP-FPM's user may open.
		bed.Write(t, dir, fmt.Sprintf("app/lock%d", n), "")
	}
	bed.Write(t, dir, "app/index.php", page)
	bed.Write(t, dir, "fpm.conf", conf)
	bed.Write(t, dir, "nginx.conf", nginx+"}\n}\n")
	bed.Output(t, "chown", "-R", "www-data", filepath.Join(dir, "app"))
	bed.StopByPIDFile(t, filepath.Join(dir, "fpm.pid"))
	bed.StopByPIDFile(t, filepath.Join(dir, "nginx.pid"))
	bed.Output(t, fpm, "-y", filepath.Join(dir, "fpm.conf"), "-n", "-D")
	bed.Output(t, "/usr/sbin/nginx", "-c", filepath.Join(dir, "nginx.conf"))
	bed.Await(t, "127.0.0.1:"+port)
	return "http://127.0.0.1:" + port
}

// carried is what pools of so many processes answer per second when there is
// always a request for each. All are measured at the same time: what else the
// machine does then slows them alike.
func carried(t *testing.T, url string, pools ...int) []float64 {
	t.Helper()
	out, errs := make([]float64, len(pools)), make([]error, len(pools))
	var all sync.WaitGroup
	for i, n := range pools {
		all.Go(func() { out[i], errs[i] = one(url, n) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return out
}

func one(url string, n int) (float64, error) {
	s := &load.Simple{URL: fmt.Sprintf("%s/w%d", url, n), Contains: []string{"done"}, Size: -1}
	sc, err := s.Scenario()
	if err != nil {
		return 0, err
	}
	res, err := load.Run(context.Background(), load.Options{Scenario: sc, URL: url, Workload: 2 * n, Warmup: 200 * time.Millisecond, FixedWarmup: true, Window: 1200 * time.Millisecond})
	if err == nil && (res.Succeeded == 0 || res.Mismatches > 0) {
		err = fmt.Errorf("%d workers: %+v", n, res.Samples)
	}
	if err != nil {
		return 0, err
	}
	return capacity.LevelOf(res, "").PerSecond, nil
}

// From one to four processes it is predicted how many carry five times what one
// does; so many are run, and do. A stall while one holds the lock spoils a try.
func TestPredictionHolds(t *testing.T) {
	url := pools(t)
	var wrong string
	for range 3 {
		if wrong = predicted(t, url); wrong == "" {
			return
		}
		t.Log(wrong)
	}
	t.Error(wrong)
}

// predicted returns what was wrong with a prediction.
func predicted(t *testing.T, url string) string {
	t.Helper()
	table := "workers,rate\n"
	for range 2 {
		for i, x := range carried(t, url, 1, 2, 3, 4) {
			table += fmt.Sprintf("%d,%.2f\n", i+1, x)
		}
	}
	m, err := capacity.ReadTable(strings.NewReader(table), "levels.csv")
	if err != nil {
		t.Fatal(err)
	}
	p, err := capacity.Make(m, capacity.Question{Confidence: 0.95})
	if err != nil {
		t.Fatal(err)
	}
	alone := p.Law.At(1)
	if p, err = capacity.Make(m, capacity.Question{Rate: 5 * alone, Confidence: 0.95}); err != nil {
		t.Fatal(err)
	}
	n := p.Need.N
	t.Logf("%s%d needed (%+v) for %.0f/s, law %+v", table, n, p.Need.Interval, p.Rate, p.Law.Scaling)
	if n < 5 || n > mostWorkers {
		return fmt.Sprintf("%d workers are predicted; the page shares a tenth of its time, so it must be five to %d", n, mostWorkers)
	}
	// Against one, which the machine slows as much meanwhile.
	now := carried(t, url, 1, n)
	got, predicted := now[1]/now[0], p.Need.PerSecond/alone
	t.Logf("%d workers: predicted %.2f times what one does, measured %.2f (%.0f/s)", n, predicted, got, now[1])
	if got < 0.75*predicted || got > 1.3*predicted {
		return fmt.Sprintf("%d workers: predicted %.2f times what one does, measured %.2f", n, predicted, got)
	}
	return ""
}
