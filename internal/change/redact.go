package change

import "kasoku/internal/redact"

// mask stands in the place of a secret.
const mask = redact.Mask

// Redact masks values that look like passwords, tokens or keys, for text that
// people see. It errs on the side of masking; what it has masked it leaves as
// it is.
func Redact(text string) string { return redact.Text(text) }
