package stack

import (
	"path"
	"slices"
)

// unitTypes are the endings that a unit's name can have (systemd.unit(5)).
var unitTypes = []string{".service", ".socket", ".device", ".mount", ".automount", ".swap", ".target", ".path", ".timer", ".slice", ".scope"}

// UnitName is a unit's full name: systemctl adds .service where no type is
// given, as in php8.2-fpm.
func UnitName(name string) string {
	if slices.Contains(unitTypes, path.Ext(name)) {
		return name
	}
	return name + ".service"
}
