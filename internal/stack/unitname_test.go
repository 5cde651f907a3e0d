package stack

import "testing"

func TestUnitName(t *testing.T) {
	for name, want := range map[string]string{"api": "api.service", "php8.2-fpm": "php8.2-fpm.service", "nginx.service": "nginx.service", "app@1": "app@1.service", "x.socket": "x.socket"} {
		if got := UnitName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
