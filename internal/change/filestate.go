package change

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
)

// MarshalJSON writes the mode as people know it from chmod, e.g. "0644".
func (s FileState) MarshalJSON() ([]byte, error) {
	type plain FileState
	return json.Marshal(struct {
		plain
		Mode string `json:"mode,omitempty"`
	}{plain(s), octal(s.Mode)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *FileState) UnmarshalJSON(b []byte) error {
	type plain FileState
	in := struct {
		*plain
		Mode string `json:"mode"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.Mode == "" {
		return nil
	}
	u, err := strconv.ParseUint(in.Mode, 8, 12)
	if err != nil {
		return fmt.Errorf("mode %q is not an octal number up to 7777", in.Mode)
	}
	s.Mode = fs.FileMode(u & 0o777)
	for bit, flag := range special {
		if u&bit != 0 {
			s.Mode |= flag
		}
	}
	return nil
}

// special are the bits of chmod(2) above the permissions.
var special = map[uint64]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky}

// modeBits are the bits of a mode that Kasoku keeps and compares.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func octal(m fs.FileMode) string {
	u := uint64(m.Perm())
	for bit, flag := range special {
		if m&flag != 0 {
			u |= bit
		}
	}
	if u == 0 {
		return ""
	}
	return fmt.Sprintf("%04o", u)
}
