package experiment

// slowerBy is the loss, as a share of the score, from which "no difference" would
// mislead whoever reads the effect beside it: it was not looked for as a loss.
const slowerBy = 0.02

// Words are the outcome as people read it beside the effect. An experiment of the loop
// asks only whether a change is better; where it is not, and the effect is a loss, the
// loss itself is not proved, and "no difference" of −79 % is no sentence.
func (v Verdict) Words() string {
	if v.Outcome == NoDifference && v.Effect <= -slowerBy {
		return "not better"
	}
	return string(v.Outcome)
}
