package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// isuconJSON is the result that ISUCON benchmarkers print: catatsuy/private-isu
// (pass, score, success, fail, messages), isucon9-qualify cmd/bench/main.go and
// isucon13 bench/cmd/bench/bench.go (pass, score, messages).
type isuconJSON struct {
	Pass     *bool    `json:"pass"`
	Score    *float64 `json:"score"`
	Success  *float64 `json:"success"`
	Fail     *float64 `json:"fail"`
	Messages []string `json:"messages"`
	// Message and Errors are those of isucon7-qualify, bench/src/cmd/bench/bench.go.
	Message string   `json:"message"`
	Errors  []string `json:"error"`
}

// Log lines. Sources:
//
//	RESULT: success / SCORE: 268.9            karupanerura/isucon5-benchmarker, README.md
//	score: 1710, suceess: 1434, fail: 0       catatsuy/private-isu at 016a8e6, benchmarker/cli.go (so spelled)
//	score: 1234(1300 - 66) : pass             isucon11-qualify, bench/main.go
//	deduction: 3 / timeout: 12                the same
//	score: 1234 (= 1300 - 66) : passed        isucon11-final, benchmarker/main.go
//	deductionCount: 3, timeoutCount: 12       the same
//	PASSED: true / SCORE: 990 (+1000 -10(1%)) isucon12-qualify, bench/cmd/bench/main.go
//	Error 3 (Critical:1), ERROR[0] …          the same
//	スコア: 1234                               isucon13, bench/cmd/bench/bench.go
//	msg=結果 pass=true スコア=1234 種別エラー数=map[]   isucon14, bench/benchmarker/scenario/validation.go
//	SCORE: 2851 (+2861 -10)                   isucon/isucandar programs, whose next line is
//	RESULT: score.ScoreTable{"GET /": 860}    the count of each kind of request, and no judgement
//
// The last is a line of log/slog, whose fields may come as JSON as well.
//
// isucon11 also prints "SCORE: <tag>: <count>", which is no score.
var (
	isuconScore = lazyregexp.New(`(?im)(?:\bscore|スコア|得点)"?\s*[:=：]\s*"?([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\s*(?:$|["(,}]|\s[^\s=:]+=)`)
	isuconRaw   = lazyregexp.New(`(?m)\bscore: -?\d+ ?\((?:= )?-?\d+ - -?\d+\) : (.+?)\s*$`)
	isuconPass  = lazyregexp.New(`(?i)\bpass(?:ed)?"?\s*[:=]\s*(true|false)\b`)
	isuconRes   = lazyregexp.New(`(?m)\bRESULT: (?:([A-Za-z]+)\s*$|((?i:fail|error|invalid|ng\b)\w*))`)
	isuconCount = lazyregexp.New(`(?m)\bscore: -?\d+, suc+e+s+: (\d+), fail: (\d+)`)
	isuconMinus = lazyregexp.New(`(?m)\bdeduction(?:Count)?: (\d+)(?: /|,) timeout(?:Count)?: (\d+)`)
	isuconError = lazyregexp.New(`(?m)\bError (\d+) \(Critical:\d+\)`)
	isuconLine  = lazyregexp.New(`(?m)\b(?:ERR|ERROR\[\d+\]):? (.+)$`)
)

// passWords are what follows "RESULT:" of a benchmark that found nothing wrong.
var passWords = []string{"success", "succeeded", "pass", "passed", "ok", "true"}

func (o *output) isucon() *isuconJSON {
	judged := func(j *isuconJSON) bool { return j.Pass != nil && j.Score != nil }
	if j := decode(o, judged); j != nil {
		return j
	}
	// The result as the end of a line of a log.
	lines := strings.Split(o.text, "\n")
	for _, line := range slices.Backward(lines) {
		at := strings.Index(line, `{"`)
		if at <= 0 {
			continue
		}
		j := &isuconJSON{}
		if json.Unmarshal([]byte(line[at:]), j) == nil && judged(j) {
			return j
		}
	}
	return nil
}

func isISUCON(o *output) bool { return o.isucon() != nil || isuconScore.MatchString(o.text) }

func readISUCON(o *output) (*report, error) {
	r := &report{}
	if j := o.isucon(); j != nil {
		r.isuconResult(j)
		return r, nil
	}
	if r.score, r.scored = lastNumber(isuconScore, o.text); !r.scored {
		return nil, errNoSummary
	}
	if m := last(isuconCount, o.text); m != nil {
		success, _ := parseNumber(m[1])
		fail, _ := parseNumber(m[2])
		r.counts(count(success), count(fail))
	}
	if m := last(isuconMinus, o.text); m != nil {
		wrong, _ := parseNumber(m[1])
		late, _ := parseNumber(m[2])
		r.mismatches, r.timeouts = count(wrong), count(late)
	}
	r.mismatches = max(r.mismatches, lastCount(isuconError, o.text))
	for _, m := range isuconLine.FindAllStringSubmatch(o.text, -1) {
		kind := "mismatch"
		if kindOf(m[1]) == "timeout" {
			kind = "timeout"
		}
		r.complain(kind, m[1])
	}
	why := ""
	if m := last(isuconRaw, o.text); m != nil && m[1] != "pass" && m[1] != "passed" {
		why = m[1]
	}
	if m := last(isuconPass, o.text); m != nil && strings.EqualFold(m[1], "false") {
		why = m[0]
	}
	// One word by itself is a judgement, and so is a word of failure with a reason behind it.
	if m := last(isuconRes, o.text); m != nil && !slices.Contains(passWords, strings.ToLower(m[1])) {
		why = strings.TrimSpace(m[0])
	}
	if why != "" {
		r.failed = "the benchmark did not pass: " + why
	}
	return r, nil
}

func (r *report) isuconResult(j *isuconJSON) {
	r.score, r.scored = *j.Score, true
	if j.Success != nil {
		fail := 0.0
		if j.Fail != nil {
			fail = *j.Fail
		}
		r.counts(count(*j.Success), count(fail))
	}
	for _, m := range slices.Concat(j.Messages, j.Errors) {
		kind := "mismatch"
		if kindOf(m) == "timeout" {
			kind = "timeout"
		}
		r.complain(kind, m)
	}
	if !*j.Pass {
		r.failed = "the benchmark did not pass"
		if why := append(slices.Clone(j.Messages), j.Message); why[0] != "" {
			r.failed = fmt.Sprintf("the benchmark did not pass: %s", shorten(why[0], 200))
		}
	}
}

func (r *report) counts(success, fail int64) {
	r.succeeded, r.mismatches, r.requests, r.counted = success, fail, success+fail, true
}
