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
			p := h.account(&s.steps[j])
			if p == "" {
				continue
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

// account has one step draw; the pool's name, "" if the step is no login.
func (h *harDraft) account(st *step) string {
	if len(st.form) > 0 {
		return h.accountOfForm(st.form)
	}
	return h.accountOfJSON(st)
}

func (h *harDraft) accountOfForm(form []pair) string {
	who, pass := -1, -1
	for i, f := range form {
		switch {
		case isPassword(f.key) && pass >= 0, isLogin(f.key) && who >= 0:
			return ""
		case isPassword(f.key):
			pass = i
		case isLogin(f.key):
			who = i
		}
	}
	if who < 0 || pass < 0 || strings.Contains(form[who].value+form[pass].value, "${") || form[who].value == "" {
		return ""
	}
	p, login, password := h.accountPool(form[who], form[pass])
	form[who].value, form[pass].value = login, password
	return p
}

// jsonField is a text of a JSON object as it was rendered.
var jsonField = regexp.MustCompile(`"([^"\\]+)": "([^"\\]*)"`)

func (h *harDraft) accountOfJSON(st *step) string {
	var who, pass []int
	for _, at := range jsonField.FindAllStringSubmatchIndex(st.json, -1) {
		switch name := st.json[at[2]:at[3]]; {
		case isPassword(name) && pass != nil, isLogin(name) && who != nil:
			return ""
		case isPassword(name):
			pass = at
		case isLogin(name):
			who = at
		}
	}
	if who == nil || pass == nil {
		return ""
	}
	field := func(at []int) pair { return pair{st.json[at[2]:at[3]], st.json[at[4]:at[5]]} }
	if strings.Contains(field(who).value+field(pass).value, "${") || field(who).value == "" {
		return ""
	}
	p, login, password := h.accountPool(field(who), field(pass))
	first, second := who, pass
	values := []string{login, password}
	if pass[0] < who[0] {
		first, second = pass, who
		values = []string{password, login}
	}
	st.json = st.json[:first[4]] + values[0] + st.json[first[5]:second[4]] + values[1] + st.json[second[5]:]
	return p
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
