package ui

import "errors"

// Exit codes. They are part of the command line's interface and stand in the
// help text; a number is never used for something else.
const (
	OK            = 0   // done
	Failure       = 1   // a failure that no other code describes
	Usage         = 2   // wrong command line
	BadInput      = 3   // kasoku.yaml, a scenario or another given file is wrong
	Target        = 4   // a target is unreachable, unhealthy or does not permit it
	Busy          = 5   // another Kasoku holds the lease
	NeedsRecovery = 6   // the target is not as the journal says: kasoku recover
	NoDifference  = 10  // try: the change makes no difference
	Regressed     = 11  // try: the change makes it slower
	Inconclusive  = 12  // try, tune: too noisy to tell
	WrongAnswers  = 13  // try: the change breaks answers
	Refused       = 14  // try: the change touches what judges it
	Broken        = 15  // tune, prove: a regulation check failed
	Interrupted   = 130 // by a signal; the target has been put back (128 + SIGINT)
)

// CodedError is an error with the exit code it ends the program with and what
// the person can do about it.
type CodedError struct {
	Code int
	Err  error
	Hint string // "" = none
}

func (e *CodedError) Error() string { return e.Err.Error() }

// Unwrap returns the error within.
func (e *CodedError) Unwrap() error { return e.Err }

// Coded gives err an exit code and a hint. A nil err stays nil.
func Coded(code int, err error, hint string) error {
	if err == nil {
		return nil
	}
	return &CodedError{Code: code, Err: err, Hint: hint}
}

// Code returns the exit code of err: OK for nil, Failure for an error without
// one. Of nested codes the outermost counts.
func Code(err error) int {
	var c *CodedError
	switch {
	case err == nil:
		return OK
	case errors.As(err, &c):
		return c.Code
	}
	return Failure
}

// Hint returns the outermost hint that is not empty, "" if there is none.
func Hint(err error) string {
	var c *CodedError
	for errors.As(err, &c) {
		if c.Hint != "" {
			return c.Hint
		}
		err = c.Err
	}
	return ""
}
