package record

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// logins are fields that name who logs in, without what stands around them: user[email],
// auth.login.
var logins = []string{"account", "account_name", "accountname", "email", "log", "login", "login_id", "loginid", "mail", "name", "nickname",
	"phone", "uname", "user", "user_id", "user_name", "userid", "username"}

var (
	lastWord = lazyregexp.New(`([A-Za-z_]+)[^A-Za-z_]*$`)
	passWord = lazyregexp.New(`(?i)^(?:passwd|password|pass|pwd|pw|user_pass|userpassword|login_password)$`)
)

// fieldWord is the last word of a field's name, in small letters: email of user[email].
func fieldWord(name string) string {
	if m := lastWord.FindStringSubmatch(name); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

func isLogin(name string) bool    { return slices.Contains(logins, fieldWord(name)) }
func isPassword(name string) bool { return passWord.MatchString(fieldWord(name)) }

// accounts has logins draw who logs in from a pool, one line for an account: users of a
// load who all are the same person meet limits, locks and caches that real ones do not.
// A form or JSON object with one name and one password is a login; one with two passwords
// registers somebody or changes one.
func (h *harDraft) accounts() {
	var files []string
	for i := range h.out.sessions {
		s := &h.out.sessions[i]
		for j := range s.steps {
			p, who := h.account(&s.steps[j])
			if p == "" {
				continue
			}
			for k := range s.steps[j+1:] {
				who.in(&s.steps[j+1+k])
			}
			if draw := (pair{"account", p}); !slices.Contains(s.draw, draw) {
				s.draw = append(s.draw, draw)
			}
			if file := "pools/" + p + ".csv"; !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	if len(files) > 0 {
		h.notes = append(h.notes, fmt.Sprintf("Logins take accounts from %s in turn: put test accounts there, one a line, about as many as the load has users; those who share one share its limits, locks and caches.", strings.Join(files, ", ")))
	}
}

// account has one step draw; the pool's name, "" if the step is no login, and the field
// that names who it is.
func (h *harDraft) account(st *step) (string, drawn) {
	if len(st.form) > 0 {
		return h.accountOfForm(st.form)
	}
	return h.accountOfJSON(st)
}

func (h *harDraft) accountOfForm(form []pair) (string, drawn) {
	who, pass := loginFields(form)
	if who < 0 {
		return "", drawn{}
	}
	d := drawn{value: form[who].value, field: fieldWord(form[who].key)}
	p, login, password := h.accountPool(form[who], form[pass])
	form[who].value, form[pass].value = login, password
	return p, d
}

// loginFields are who logs in and the password among the fields of a form or object; -1 if it
// is no login. A field of another name is who logs in if it is the only one that could be.
func loginFields(fields []pair) (who, pass int) {
	who, pass = -1, -1
	var could []int
	for i, f := range fields {
		switch {
		case isPassword(f.key) && pass >= 0, isLogin(f.key) && who >= 0:
			return -1, -1
		case isPassword(f.key):
			pass = i
		case isLogin(f.key):
			who = i
		case couldLogin(f):
			could = append(could, i)
		}
	}
	if who < 0 && len(could) == 1 {
		who = could[0]
	}
	if who < 0 || pass < 0 || strings.Contains(fields[who].value+fields[pass].value, "${") || fields[who].value == "" {
		return -1, -1
	}
	return who, pass
}

// couldLogin: a value like a name, and no word that says what a form does.
func couldLogin(f pair) bool {
	return accountName.MatchString(f.value) && !notLogin.MatchString(f.key) && !slices.Contains(operationFields, f.key) && !slices.Contains(formWords, strings.ToLower(f.value))
}

var (
	accountName = lazyregexp.New(`^[A-Za-z][\w.+-]{2,63}(?:@[\w.-]+)?$`)
	// notLogin are fields for the password once more, and for what proves who one is.
	notLogin = lazyregexp.New(`(?i)confirm|repeat|again|verif|new|old|code|token|csrf|xsrf|nonce|captcha|otp|hash|key|secret|redirect|return|next|lang|locale`)
	// formWords are values of fields beside a login: what its button says, and flags.
	formWords = []string{"true", "false", "yes", "forever", "login", "log-in", "log_in", "signin", "sign-in", "sign_in", "submit", "session", "web", "password", "normal", "default"}
)

// jsonField is a text of a JSON object as it was rendered.
var jsonField = regexp.MustCompile(`"([^"\\]+)": "([^"\\]*)"`)

func (h *harDraft) accountOfJSON(st *step) (string, drawn) {
	var fields []pair
	places := jsonField.FindAllStringSubmatchIndex(st.json, -1)
	for _, at := range places {
		fields = append(fields, pair{st.json[at[2]:at[3]], st.json[at[4]:at[5]]})
	}
	who, pass := loginFields(fields)
	if who < 0 {
		return "", drawn{}
	}
	p, login, password := h.accountPool(fields[who], fields[pass])
	first, second := places[who], places[pass]
	values := []string{login, password}
	if pass < who {
		first, second = second, first
		values = []string{password, login}
	}
	st.json = st.json[:first[4]] + values[0] + st.json[first[5]:second[4]] + values[1] + st.json[second[5]:]
	return p, drawn{value: fields[who].value, field: fieldWord(fields[who].key)}
}

// accountPool adds an account to the pool of those with such fields, and returns its name
// and the templates of both.
func (h *harDraft) accountPool(who, pass pair) (name, login, password string) {
	header := []string{fieldWord(who.key), fieldWord(pass.key)}
	row := []string{strings.ReplaceAll(who.value, "$${", "${"), strings.ReplaceAll(pass.value, "$${", "${")}
	at := slices.IndexFunc(h.out.pools, func(p pool) bool { return strings.HasPrefix(p.name, "accounts") && slices.Equal(p.header, header) })
	if at < 0 {
		name := "accounts"
		if n := len(h.out.pools); n > 0 {
			name = fmt.Sprintf("accounts%d", n+1)
		}
		at = len(h.out.pools)
		h.out.pools = append(h.out.pools, pool{name: name, header: header})
	}
	p := &h.out.pools[at]
	if !slices.ContainsFunc(p.rows, func(r []string) bool { return slices.Equal(r, row) }) {
		p.rows = append(p.rows, row)
	}
	return p.name, "${account." + header[0] + "}", "${account." + header[1] + "}"
}
