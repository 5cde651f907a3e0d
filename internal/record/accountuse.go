package record

import (
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// drawn is the recorded name of who logs in, and the field of the pool that stands for it.
type drawn struct{ value, field string }

var (
	// ownName is long enough, or odd enough, not to stand in an address by chance.
	ownName = lazyregexp.New(`^(?:[A-Za-z_][\w.-]*\d[\w.-]*|[A-Za-z_][\w.-]{5,})$`)
	// roleNames are accounts that are called like a part of many addresses.
	roleNames = []string{"account", "accounts", "administrator", "customer", "default", "manager", "member", "members", "nobody", "profile", "public", "system", "username"}
)

// in has a later step ask for what belongs to who is logged in (/users/anna17/orders), not
// to who was recorded: the name as a whole part of the address, a value of a form, or a text
// of a JSON body.
func (d drawn) in(st *step) {
	if !ownName.MatchString(d.value) || slices.Contains(roleNames, strings.ToLower(d.value)) || len(d.value) < 4 {
		return
	}
	variable := "${account." + d.field + "}"
	part := regexp.MustCompile(`([/=])[@~]?` + regexp.QuoteMeta(d.value) + `([/?&#]|$)`)
	swap := func(text, with string) string {
		return part.ReplaceAllStringFunc(text, func(found string) string { return strings.Replace(found, d.value, with, 1) })
	}
	if asked := swap(st.request, variable); asked != st.request {
		if st.route == "" {
			st.route, _, _ = strings.Cut(st.request, "?")
		}
		st.request, st.route = asked, swap(st.route, ":"+d.field)
	}
	for i := range st.form {
		if st.form[i].value == d.value {
			st.form[i].value = variable
		}
	}
	st.json = strings.ReplaceAll(st.json, `"`+d.value+`"`, `"`+variable+`"`)
}
