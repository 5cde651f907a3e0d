// Package tune is the loop. It wires the stages and holds no knowledge of its
// own about servers or statistics. One session runs like this:
//
//  1. take a Snapshot of the configuration as found and two scored runs;
//  2. a diagnostic run (statements recorded, score not used) gives Evidence;
//  3. diagnose turns it into Findings with a bound on what each could bring;
//  4. remedy plans changes for them; the regulation removes what is forbidden;
//  5. the plan with the best promise becomes the candidate: change applies it
//     through the journal, experiment alternates it with the baseline;
//  6. improved → kept in the journal; anything else → put back, verified by
//     hash; either way stored;
//  7. again from 2 (or from 4 when nothing changed), until no plan's bound is
//     worth it, or the budget ends;
//  8. every service is restarted and the final score measured again.
//
// Files: bench.go measures one run; switcher.go puts baseline or candidate in
// place; step.go is one turn of the loop; search.go looks for a number;
// session.go is the whole.
package tune
