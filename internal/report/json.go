package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes the whole model, indented. Format tells its version.
func JSON(w io.Writer, m *Model) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return fmt.Errorf("report: write JSON: %w", err)
	}
	return nil
}
