package record

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// UnmarshalJSON reads an answer whose status some tools write as a text.
func (a *harAnswer) UnmarshalJSON(data []byte) error {
	type plain harAnswer
	in := struct {
		*plain
		Status json.RawMessage `json:"status"`
	}{plain: (*plain)(a)}
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &in); err != nil && !errors.As(err, &wrongType) {
		return err
	}
	text := strings.Trim(strings.TrimSpace(string(in.Status)), `" `)
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n < 1000 {
		a.Status = int(n)
	}
	return nil
}
