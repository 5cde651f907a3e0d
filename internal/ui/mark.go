package ui

// Loss marks a line of a result that tells of something lost: red where there
// is colour.
func (u *UI) Loss(line string) string { return paint(u.colorOut, red, line) }
