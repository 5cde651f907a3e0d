package prove

import (
	"regexp"
	"strings"
)

// Pages tell how long ago something was: "5 minutes ago", "about 1 hour ago", "1 hour, 46
// minutes", "3h 12m", "vor 2 Stunden", "3 分前". That is another text a minute later, in
// another number of words. A number of seconds, minutes or hours is never compared; one of
// days and more only where no word of the past or the future stands beside it and no
// smaller unit: such a text changes once a day.
var ages = ageForms()

func ageForms() []*regexp.Regexp {
	const (
		blank  = `(?:[ \t\x{a0}\x{202f}]|&nbsp;|&#160;|\\u00a0)`
		number = `(?:\d+(?:[.,]\d+)?|an?|one|a` + blank + `few|half` + blank + `an?)`
		hedge  = `(?:(?:about|almost|over|around|nearly|less` + blank + `than|more` + blank + `than)` + blank + `)?`
	)
	// count is a number of units, and more of them behind it.
	count := func(first, all string) string {
		return number + blank + `?(?:` + first + `)\b(?:,?` + blank + `(?:and` + blank + `)?` + number + blank + `?(?:` + all + `)\b)*`
	}
	short, long := `seconds?|secs?|minutes?|mins?|hours?|hrs?`, `days?|weeks?|months?|years?|yrs?`
	all := short + `|` + long
	past := blank + `(?:ago|from` + blank + `now|later|left)\b`
	letters := `(?:\d+(?:y|mo|w|d|h|m|s|ms)` + blank + `?)`
	forms := []string{
		`\b(?:just` + blank + `now|(?:a` + blank + `)?moments?` + blank + `ago)\b`,
		`\b` + hedge + count(all, all) + past,
		// German, French, Spanish, Portuguese
		`\bvor` + blank + `(?:etwa` + blank + `|ca\.` + blank + `)?(?:\d+|einer?|einem)` + blank + `(?:Sekunden?|Minuten?|Stunden?|Tag(?:en|e)?|Wochen?|Monat(?:en|e)?|Jahr(?:en|e)?)\b`,
		`\bil` + blank + `y` + blank + `a` + blank + `(?:environ` + blank + `)?(?:\d+|une?)` + blank + `(?:secondes?|minutes?|heures?|jours?|semaines?|mois|ans?)\b`,
		`\b[Hh](?:ace|á)` + blank + `(?:unos?` + blank + `)?(?:\d+|una?|uma?)` + blank + `(?:segundos?|minutos?|horas?|d[ií]as?|semanas?|m[eê]s(?:es)?|a[nñ]os?|anos?)(?:\b|$)`,
		// English, and the short forms
		`\bin` + blank + hedge + count(all, all),
		`\b(?:` + count(long, long) + `,?` + blank + `(?:and` + blank + `)?)?` + hedge + count(short, all),
		`\b` + letters + `+` + past,
		`\b` + letters + `{1,5}\d+(?:h|m|s|ms)\b`,
		// Japanese, Chinese
		`(?:約|约)?` + `\d+` + blank + `?(?:秒|分|分钟|分鐘|時間|小时|小時|日|天|週間|周|ヶ月|か月|カ月|个月|年)` + blank + `?(?:前|後|后)`,
	}
	out := make([]*regexp.Regexp, 0, len(forms))
	for _, f := range forms {
		out = append(out, regexp.MustCompile(f))
	}
	return out
}

// maskAges hides how long ago, or how long until, something is.
func maskAges(body []byte) []byte {
	for _, re := range ages {
		body = re.ReplaceAllFunc(body, func(match []byte) []byte {
			// The blank in front of what follows stays.
			end := len(strings.TrimRight(string(match), " \t"))
			return append([]byte(timeToken), match[end:]...)
		})
	}
	return body
}
