# The table of agents: 1,400 phones of 20 makers, and desktop browsers.
BEGIN {
    for (i = 1; i <= 1400; i++) {
        maker = sprintf("%c%c", 65 + i % 20, 88 - i % 3)
        printf "[Mozilla/5.0 (Linux; Android ?.*; %s-%04d Build/*) AppleWebKit/*Mobile Safari/*]\nname=%s-%04d\nlayout=phone\n\n", maker, i, maker, i
    }
    for (i = 8; i <= 11; i++)
        printf "[Mozilla/5.0 (Windows NT *; Trident/*; rv:%d.0) like Gecko*]\nname=IE %d\nlayout=pc\n\n", i, i
    for (i = 30; i <= 60; i++) {
        printf "[Mozilla/5.0 (*) AppleWebKit/* Chrome/%d.* Safari/*]\nname=Chrome %d\nlayout=pc\n\n", i, i
        printf "[Mozilla/5.0 (*; rv:%d.0) Gecko/* Firefox/%d.0]\nname=Firefox %d\nlayout=pc\n\n", i, i, i
    }
    print "[*]\nname=unknown\nlayout=pc"
}
