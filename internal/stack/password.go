package stack

import (
	"fmt"
	"os"
	"sync"
)

// takenEnv holds the passwords that TakePasswords moved out of the
// environment, by the variable's name.
var takenEnv = struct {
	sync.Mutex
	byName map[string]secret
}{byName: map[string]secret{}}

// TakePasswords moves the passwords that logins name by password_env from
// Kasoku's environment into its memory, so that no command that it runs, and
// no service that it starts, inherits them. Commands of kasoku.yaml that need
// such a variable must read the password from elsewhere.
func (s *Stack) TakePasswords() error {
	takenEnv.Lock()
	defer takenEnv.Unlock()
	for i := range s.Services {
		l := s.Services[i].Login
		if l == nil || l.PasswordEnv == "" {
			continue
		}
		v, ok := os.LookupEnv(l.PasswordEnv)
		if !ok {
			continue // taken before, or missing: the login tells
		}
		takenEnv.byName[l.PasswordEnv] = newSecret(v)
		if err := os.Unsetenv(l.PasswordEnv); err != nil {
			return fmt.Errorf("take %s out of the environment: %w", l.PasswordEnv, err)
		}
	}
	return nil
}

// passwordFromEnv is the password that the variable holds or held.
func passwordFromEnv(name string) (secret, bool) {
	if v, ok := os.LookupEnv(name); ok {
		return newSecret(v), true
	}
	takenEnv.Lock()
	defer takenEnv.Unlock()
	s, ok := takenEnv.byName[name]
	return s, ok
}

// AskPasswords calls ask for every login with "ask: true" whose password is
// not there yet, and keeps what it returns in memory.
func (s *Stack) AskPasswords(ask func(service, user string) (string, error)) error {
	for i := range s.Services {
		l := s.Services[i].Login
		if l == nil || !l.Ask || l.asked.reveal != nil {
			continue
		}
		password, err := ask(s.Services[i].Name, l.User)
		if err != nil {
			return fmt.Errorf("ask for the password of %s: %w", s.Services[i].Name, err)
		}
		l.asked = newSecret(password)
	}
	return nil
}
