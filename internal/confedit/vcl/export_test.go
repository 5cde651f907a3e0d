package vcl

// Argv returns the arguments as the program gets them.
func (a *Args) Argv() []string {
	var out []string
	for _, w := range a.words {
		out = append(out, w.value)
	}
	return out
}

// Bytes returns the file's text with all edits so far.
func (f *File) Bytes() []byte { return []byte(f.src) }
