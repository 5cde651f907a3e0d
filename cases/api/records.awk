# Records of 200 plays, as pools of the scenario take them: how long a play takes is
# skewed, most have 40 to 80 moves and some 600. The same on every machine.
function next_number(n) { seed = (seed * 16807) % 2147483647; return seed % n }
BEGIN {
    seed = 20250101
    print "score,moves"
    for (i = 0; i < 200; i++) {
        n = int(40 * (1 - i / 200) ^ -0.6)
        if (n > 600) n = 600
        score = 0; moves = ""
        for (j = 0; j < n; j++) {
            p = next_number(5) ? next_number(90) : 0
            score += p
            moves = moves sprintf("%s{\"\"at\"\":%d,\"\"kind\"\":\"\"%s\"\",\"\"x\"\":%.2f,\"\"y\"\":%.2f,\"\"points\"\":%d}", j ? "," : "",
                j * 800 + next_number(700), p ? "hit" : "tap", next_number(108000) / 100, next_number(192000) / 100, p)
        }
        printf "%d,\"%s\"\n", score, moves
    }
}
