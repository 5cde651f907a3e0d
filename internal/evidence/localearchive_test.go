package evidence

import "testing"

func TestParseMapped(t *testing.T) {
	const maps = `55d0c0a00000-55d0c0b00000 r--p 00000000 fe:01 1311 /usr/sbin/php-fpm8.2
7f1c00000000-7f1c0d400000 r--p 00000000 fe:01 4242 /usr/lib/locale/locale-archive
7f1c0e000000-7f1c0e021000 rw-p 00000000 00:00 0
7f1c10000000-7f1c10001000 r--p 00000000 fe:01 99 /srv/not-locale-archive
broken
`
	if got := parseMapped([]byte(maps), "locale-archive"); got != 212<<20 {
		t.Errorf("%d bytes, want %d", got, 212<<20)
	}
}
