package report

import (
	"strings"

	"kasoku/internal/ui"
)

// Annotation is a workflow command of GitHub Actions: a line that its runner
// shows at the job and the pull request. kind is error, warning or notice.
// Escapes are those of its toolkit (packages/core/src/command.ts): % and line
// breaks, and in a property also : and ,.
func Annotation(kind, title, text string) string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	return "::" + kind + " title=" + property.Replace(ui.Clean(title)) + "::" + data.Replace(ui.Clean(text))
}
