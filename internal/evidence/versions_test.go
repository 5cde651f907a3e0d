package evidence

import (
	"maps"
	"testing"

	"kasoku/internal/kind/goapp"
)

func TestVersions(t *testing.T) {
	s := &Snapshot{Nginx: map[string]NginxBuild{"web": {Version: "1.22.1"}}, Apache: map[string]ApacheBuild{"old": {PHPVersion: "8.2"}, "plain": {}},
		PHP:       map[string]map[string]string{"php": {"version": "8.2.29"}, "old": {"version": "8.2.29"}, "none": {}},
		Databases: map[string]*Database{"db": {Version: "10.11.6-MariaDB", MariaDB: true}, "my": {Version: "8.0.36"}},
		Apps:      map[string]AppProcess{"api": {Go: &goapp.Build{Version: "go1.22.3"}}, "script": {}}}
	want := map[string]string{"web": "nginx 1.22.1", "old": "Apache with PHP 8.2.29", "php": "PHP 8.2.29", "db": "MariaDB 10.11.6-MariaDB", "my": "MySQL 8.0.36", "api": "built by go1.22.3"}
	if got := s.Versions(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
