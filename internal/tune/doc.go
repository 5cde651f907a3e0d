// Package tune is the loop. It wires the stages and holds no knowledge of its
// own about servers or statistics. One session runs like this:
//
//  1. take a Snapshot of the configuration as found and two scored runs;
//  2. a diagnostic run (statements and access log recorded, score not used)
//     gives Evidence; the session's first and last also take profiles and
//     follow single requests;
//  3. diagnose turns it, with throughput and CPU of the last scored run, into
//     Findings with a bound on what each could bring;
//  4. remedy plans changes for them; the regulation removes what is forbidden;
//  5. the plan, or the group of independent plans, with the best promise per
//     time becomes the candidate (schedule.go): change applies it
//     through the journal, experiment alternates it with the baseline; pages
//     that it keeps are compared with the application's own (fresh.go);
//  6. improved → kept in the journal; anything else → put back, verified by
//     hash; either way stored; a group that was put back is tried in halves
//     (split.go);
//  7. again from 2 (or from 4 when nothing changed), until no plan's bound is
//     worth it, or the budget ends;
//  8. every service is restarted and the final score measured again;
//  9. the regulation checks are made on what is in place (checks.go): answers
//     as found, writes that are seen in time and outlive a crash and a reboot.
//
// Files: tuner.go holds what a session is made of, session.go is the whole, step.go one turn
// of the loop. schedule.go chooses what is tried next and is pure (its comment names
// the files that belong to it): next.go asks it in the loop, ahead.go beforehand. bench.go
// measures one run; observe.go makes a diagnostic one with the instruments of
// instrument*.go, walk.go and spans.go; switcher.go puts baseline or candidate in place;
// search.go looks for a number; resume.go takes up an interrupted session. try*.go
// judge what somebody proposes, judge*.go watch what it must leave alone; prove.go makes
// the regulation checks; compare*.go judge two versions of an application (checkout.go).
package tune
