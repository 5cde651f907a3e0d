# The play log of an evening: 1,500 visits of players, in nginx's combined format, the
# same on every machine. `kasoku scenario from-log --writes` learns the mix of it.
#   awk -f playlog.awk >play.log && kasoku scenario from-log play.log --writes -o mix
function chance(p) { seed = (seed * 16807) % 2147483647; return seed / 2147483647 < p }
function ask(request, status) {
    at += 2 + seed % 20
    printf "10.%d.%d.%d - - [01/Dec/2025:%02d:%02d:%02d +0000] \"%s HTTP/1.1\" %d %d \"-\" \"Game/1.0\"\n",
        visit / 65536, visit / 256 % 256, visit % 256, 18 + int(at / 3600), int(at / 60) % 60, at % 60, request, status, 9000 + seed % 2000
}
# A play is begun and finished; with a bad network the end is sent twice.
function play() {
    ask("POST /play/start", 200)
    ask("POST /play/finish", 200)
    if (chance(0.5)) ask("POST /play/finish", 409)
}
BEGIN {
    seed = 20251201
    for (visit = 0; visit < 1500; visit++) {
        at = visit * 9
        chance(1)
        kind = seed / 2147483647
        if (kind < 0.04) { # a newcomer
            ask("POST /user", 200)
            if (chance(0.9)) ask("GET /home", 401)
            ask("POST /play/start", 200)
            ask("POST /play/finish", 200)
            ask("POST /gacha", 200)
            continue
        }
        ask("POST /login", 200)
        if (kind < 0.36) {
            ask("GET /home", 200)
            play()
            if (chance(0.7)) play()
            if (chance(0.3)) play()
        } else if (kind < 0.56) {
            ask("POST /battle", 200)
            ask("GET /cards", 200)
            if (chance(0.95)) ask("POST /deck", 200)
            ask("POST /battle", 200)
        } else if (kind < 0.74) {
            ask("GET /home", 200)
            ask("POST /gacha", 200)
            ask("POST /gacha", chance(0.1) ? 200 : 404)
            ask("GET /cards", 200)
        } else if (kind < 0.83) {
            ask("GET /friends", 200)
            ask("POST /friends", 200)
            ask("GET /friends", 200)
        } else if (kind < 0.91) {
            ask("GET /shop", 200)
            ask("POST /shop", 200)
        } else {
            ask("GET /presents", 200)
            ask("POST /presents/receive", 200)
            if (chance(0.9)) ask("POST /presents/receive", 409)
        }
    }
}
